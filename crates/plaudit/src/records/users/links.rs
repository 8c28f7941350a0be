//! Links by which a user confirms or signs in.
//!
//! - A link is `/confirm/{account}/{token}?expires={seconds}&signature={signature}`, or `/sign-in/…` likewise. The signature
//!   is the HMAC-SHA256 of everything before `&signature=`, under the secret of the deployment, and is checked before the
//!   database is asked; the path is part of it, so that a link is good for one thing alone.
//! - A link is good once, until it ends: following it takes away the row that was kept with the hash of its token. What is
//!   kept tells nobody a link.
//! - Following either link confirms a user who is not confirmed yet. The account must be open and the user not in the
//!   trash.
//! - A link is followed with GET, or by POST where a program does it; HEAD does nothing.

use sha2::{Digest, Sha256};

use crate::log::{Action, Actor, Event, Origin};
use crate::program::Programs;
use crate::records::users::store::{self, Stored, links};
use crate::records::users::writing::write;
use crate::records::users::{Confirmation, User};
use crate::signing::DownloadSigner;
use db::{AccountId, Db, DbError, Tx};
use kernel::text::{Slug, Timestamp};

/// What a link is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Confirming.
    Confirm,
    /// Signing in.
    SignIn,
}

impl Purpose {
    /// The first segment of the path.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::SignIn => "sign-in",
        }
    }

    /// How long a link is good, in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Confirm => 7 * 86_400,
            Self::SignIn => 60,
        }
    }
}

/// A link that is being made.
#[derive(Clone)]
pub struct Link {
    /// What it is good for.
    pub purpose: Purpose,
    /// The secret part of it.
    pub token: String,
    /// When it ends.
    pub expires: Timestamp,
}

impl Link {
    /// A link that is good from now on; `token` are random letters.
    pub fn new(purpose: Purpose, token: String, now: Timestamp) -> Self {
        let expires = Timestamp::from_seconds(now.as_seconds().saturating_add(purpose.seconds()));
        Self { purpose, token, expires }
    }

    /// The address, from its first slash on.
    pub fn address(&self, signer: &DownloadSigner, account: Slug) -> String {
        let path = signed(self.purpose, account.as_str(), &self.token, self.expires.as_seconds());
        let signature = signer.signature_of(&path);
        format!("{path}&signature={signature}")
    }

    /// The hash of the token, which is kept.
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.token)
    }

    /// Keeps the link, which a user may follow then.
    pub async fn keep(&self, tx: &mut Tx, account: AccountId, user: Slug, now: Timestamp) -> Result<(), DbError> {
        links::add(tx, account, self.purpose.name(), &self.hash(), (user, self.expires), now).await
    }
}

fn signed(purpose: Purpose, account: &str, token: &str, expires: i64) -> String {
    format!("/{}/{account}/{token}?expires={expires}", purpose.name())
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The parts of an address that was followed.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// What it is said to be good for.
    pub purpose: Purpose,
    /// The account's slug.
    pub account: &'a str,
    /// The token.
    pub token: &'a str,
    /// When it ends, in seconds.
    pub expires: &'a str,
    /// The signature.
    pub signature: &'a str,
}

impl Followed<'_> {
    /// The account, where the address is as it was made and still good.
    fn verified(&self, signer: &DownloadSigner, now: Timestamp) -> Option<Slug> {
        let expires: i64 = self.expires.parse().ok()?;
        let is_token = !self.token.is_empty() && self.token.bytes().all(|byte| byte.is_ascii_alphabetic());
        let account = Slug::parse(self.account).filter(|_| is_token && expires.to_string() == self.expires)?;
        let path = signed(self.purpose, self.account, self.token, expires);
        let is_good = signer.is_signature_of(&path, self.signature) && now.as_seconds() < expires;
        is_good.then_some(account)
    }
}

/// Who followed a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// The account.
    pub account: Slug,
    /// The user.
    pub user: Slug,
}

/// Follows a link; `None` where it is not good, whatever the cause.
/// `region` is the one that is served.
pub async fn follow(
    (db, programs): (&Db, &Programs),
    (signer, region): (&DownloadSigner, &str),
    followed: Followed<'_>,
    now: Timestamp,
) -> Result<Option<Follower>, DbError> {
    let Some(account) = followed.verified(signer, now) else { return Ok(None) };
    let hash = hash(followed.token);
    let Some(id) = links::find(db, account, followed.purpose.name(), &hash).await? else { return Ok(None) };
    let Some(program) = programs.reload(id).await? else { return Ok(None) };
    let is_served = program.account.region.as_ref().is_none_or(|own| own == region);
    if !(program.account.is_open() && is_served) {
        return Ok(None);
    }
    let state = Following { account: id, purpose: followed.purpose, hash, now };
    let user = db.write(id, state, |tx, state| Box::pin(take(tx, state))).await?;
    Ok(user.map(|user| Follower { account, user }))
}

struct Following {
    account: AccountId,
    purpose: Purpose,
    hash: [u8; 32],
    now: Timestamp,
}

/// Takes a link away and confirms its user.
async fn take(tx: &mut Tx, state: &Following) -> Result<Option<Slug>, DbError> {
    let account = state.account;
    if tx.head(account).await?.is_none() {
        return Ok(None);
    }
    let Some(slug) = links::take(tx, account, state.purpose.name(), &state.hash, state.now).await? else {
        return Ok(None);
    };
    let found = store::find_for_update(tx, account, slug).await?;
    let Some(Stored { user, .. }) = found.filter(|found| !found.deleted) else { return Ok(None) };
    if user.confirmation == Confirmation::Invited {
        let confirmed = User {
            confirmation: Confirmation::Confirmed,
            confirmed_at: Some(state.now),
            updated: state.now,
            ..user.clone()
        };
        let origin = Origin { actor: Actor::User(slug), source: "ui", at: state.now };
        let events = [Event::UserConfirmed, Event::UserUpdated];
        write(tx, account, &origin, &confirmed, Action::Updated, &events).await?;
    }
    Ok(Some(slug))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_for_one_thing_until_it_ends() {
        let signer = DownloadSigner::new(&[7; 32]);
        let (account, now) = (Slug::parse("AccountA").unwrap(), Timestamp::from_seconds(1_000));
        let link = Link::new(Purpose::SignIn, "TokenABC".to_owned(), now);
        let address = link.address(&signer, account);
        let (path, signature) = address.split_once("&signature=").unwrap();
        assert_eq!(path, "/sign-in/AccountA/TokenABC?expires=1060");
        let good =
            Followed { purpose: Purpose::SignIn, account: "AccountA", token: "TokenABC", expires: "1060", signature };
        let at = |seconds| Timestamp::from_seconds(seconds);
        assert_eq!(good.verified(&signer, at(1_059)), Some(account));
        assert_eq!(good.verified(&signer, at(1_060)), None);
        let other = DownloadSigner::new(&[8; 32]);
        assert_eq!(good.verified(&other, at(1_000)), None);
        for wrong in [
            Followed { purpose: Purpose::Confirm, ..good },
            Followed { account: "AccountB", ..good },
            Followed { token: "TokenABD", ..good },
            Followed { token: "", ..good },
            Followed { expires: "1061", ..good },
            Followed { expires: "+1060", ..good },
            Followed { expires: "01060", ..good },
            Followed { signature: "", ..good },
            Followed { signature: &signature[1..], ..good },
        ] {
            assert_eq!(wrong.verified(&signer, at(1_000)), None, "{wrong:?}");
        }
        let mut tampered = signature.to_owned();
        for position in 0..tampered.len() {
            let with = if tampered.as_bytes()[position] == b'A' { "B" } else { "A" };
            tampered.replace_range(position..=position, with);
            let wrong = Followed { signature: &tampered, ..good };
            // The last letter holds two bits that are not part of the signature, and must be none.
            assert_eq!(wrong.verified(&signer, at(1_000)), None, "{tampered}");
            tampered = signature.to_owned();
        }
    }
}
