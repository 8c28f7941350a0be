//! `plaudit key`: the API keys of an account.
//!
//! A key is shown once, when it is made, alone on standard output. Running servers know of every change with the next
//! request.

use std::time::Duration;

use super::table::{ListOptions, Table};
use super::{Failure, account_of, operator, say};
use serde_json::json;

use crate::log::Action;
use crate::program::keys::{self, ApiKey, NOTIFIED, Scope};
use crate::program::{Context, NAME_LENGTH};
use crate::records::users;
use crate::services;
use db::{AccountId, Db};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::input;
use kernel::json::Json;
use kernel::text::{Slug, Timestamp};

/// What to do with keys.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a key; prints it alone, once
    Create(Create),
    /// Print the keys of an account, without their secrets
    List {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        #[command(flatten)]
        options: ListOptions,
    },
    /// Refuse a key from now on
    Revoke {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        /// The key's slug or name
        key: String,
    },
    /// Print the public key with which the results that this installation publishes are verified
    Public,
    /// Replace the secret of a key; prints the new one alone, once, and refuses the old one from now on
    Rotate {
        /// The account's slug
        #[arg(long)]
        account: Slug,
        /// The key's slug or name
        key: String,
    },
}

/// A new key.
#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// The account's slug
    #[arg(long)]
    account: Slug,
    /// What the key is for
    #[arg(long, value_parser = name)]
    name: String,
    /// What it allows: read or `read_write`, which a key of a person has unless it is said
    #[arg(long, value_parser = scope, value_name = "read|read_write", required_unless_present = "user")]
    scope: Option<Scope>,
    /// The slug or e-mail address of the person whose roles it acts by; without one it acts for the account
    #[arg(long)]
    user: Option<String>,
    /// When it stops being good: a time such as 2027-01-31T00:00:00Z, or after so many hours, days or weeks: 12h, 90d, 4w
    #[arg(long, value_parser = end, value_name = "TIME|DURATION")]
    expires: Option<End>,
    /// Whom to tell before it expires
    #[arg(long, value_delimiter = ',', value_parser = email, value_name = "EMAIL,...")]
    notify: Vec<String>,
}

/// When a key stops being good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    At(Timestamp),
    After(Duration),
}

fn name(text: &str) -> Result<String, String> {
    input::filled_text(NAME_LENGTH)(&Json::String(text.into()))
}

fn scope(text: &str) -> Result<Scope, String> {
    let found = Scope::CHOICES.iter().find(|(name, _)| *name == text);
    found.map(|(_, scope)| *scope).ok_or_else(|| "must be read or read_write".to_owned())
}

fn end(text: &str) -> Result<End, String> {
    const HOUR: u64 = 3600;
    let unit = match text.as_bytes().last() {
        Some(b'h') => Some(HOUR),
        Some(b'd') => Some(24 * HOUR),
        Some(b'w') => Some(7 * 24 * HOUR),
        _ => None,
    };
    if let (Some(unit), Ok(count)) = (unit, text.get(..text.len().saturating_sub(1)).unwrap_or_default().parse::<u32>())
    {
        return Ok(End::After(Duration::from_secs(u64::from(count) * unit)));
    }
    let time = Timestamp::parse(text);
    time.map(End::At).ok_or_else(|| "must be a time such as 2027-01-31T00:00:00Z or a duration such as 90d".to_owned())
}

fn email(text: &str) -> Result<String, String> {
    input::email(&Json::String(text.into()))
}

/// Runs the command.
pub(super) async fn run(db: &Db, command: Command) -> Result<(), Failure> {
    let account = async |slug| account_of(&mut db.snapshot().await?, slug).await;
    match command {
        Command::Create(create) => {
            let id = account(create.account).await?;
            let now = Clock::system().now();
            let expires = create.expires.map(|end| match end {
                End::At(time) => time,
                End::After(duration) => now.plus(duration),
            });
            if expires == Some(Timestamp::LATEST) {
                return Err(Failure::Usage("--expires: is after the year 9999; leave it out".to_owned()));
            }
            if expires.is_some_and(|expires| expires <= now) {
                return Err(Failure::Usage("--expires: the key would never be good".to_owned()));
            }
            if create.notify.len() > NOTIFIED {
                return Err(Failure::Usage(format!("--notify: names at most {NOTIFIED} addresses")));
            }
            let user = match &create.user {
                Some(user) => Some(find_user(db, id, user).await?),
                None => None,
            };
            let named = Named { name: &create.name, scope: create.scope.unwrap_or(Scope::ReadWrite), user };
            say(&self::create(db, id, named, (expires, create.notify)).await?)
        }
        Command::Public => say(&services::store::result_signer(db, &Ids::random()).await?.public_key()),
        Command::List { account: slug, options } => list(db, account(slug).await?, options).await,
        Command::Revoke { account: slug, key } => {
            let id = account(slug).await?;
            let key = find_key(db, id, &key).await?;
            change(db, id, key, None).await?;
            say(&format!("key {key} is revoked"))
        }
        Command::Rotate { account: slug, key } => {
            let secret = keys::new_secret(&Ids::random());
            let id = account(slug).await?;
            change(db, id, find_key(db, id, &key).await?, Some(hash_of(&secret)?)).await?;
            say(&secret)
        }
    }
}

/// The user of this slug or address.
async fn find_user(db: &Db, account: AccountId, user: &str) -> Result<Slug, Failure> {
    let found = users::store::live_of(&mut db.snapshot().await?, account, user).await?;
    found.ok_or_else(|| {
        Failure::Failed(format!("the account has no user {user}; `plaudit user list` shows those it has"))
    })
}

/// The key of this slug or name. Several keys may have one name, of which those that are revoked do not count.
async fn find_key(db: &Db, account: AccountId, key: &str) -> Result<Slug, Failure> {
    let (mut of_slug, mut of_name) = (None, Vec::new());
    let context = Context::any_language(Clock::system().now());
    keys::store::each(&mut db.snapshot().await?, account, &context, |found, _| {
        if found.slug.as_str() == key {
            of_slug = Some(found.slug);
        } else if found.name == key && found.revoked.is_none() {
            of_name.push(found.slug);
        }
    })
    .await?;
    match (of_slug, &*of_name) {
        (Some(slug), _) => Ok(slug),
        (None, [slug]) => Ok(*slug),
        (None, []) => {
            Err(Failure::Failed(format!("the account has no key {key}; `plaudit key list` shows those it has")))
        }
        (None, several) => {
            let slugs: Vec<&str> = several.iter().map(Slug::as_str).collect();
            Err(Failure::Failed(format!("several keys are called {key}; name one by its slug: {}", slugs.join(", "))))
        }
    }
}

fn hash_of(secret: &str) -> Result<[u8; 32], Failure> {
    keys::hash(secret.as_bytes()).ok_or_else(|| Failure::Failed("a new key is broken".to_owned()))
}

/// What a new key is called, what it allows, and whose it is.
pub(super) struct Named<'n> {
    pub(super) name: &'n str,
    pub(super) scope: Scope,
    pub(super) user: Option<Slug>,
}

/// Makes a key and gives its secret. A person who is not a user of the account is refused.
pub(super) async fn create(
    db: &Db,
    account: AccountId,
    Named { name, scope, user }: Named<'_>,
    (expires, notify): (Option<Timestamp>, Vec<String>),
) -> Result<String, Failure> {
    let ids = Ids::random();
    let secret = keys::new_secret(&ids);
    let origin = operator(&Clock::system());
    let key = ApiKey {
        slug: ids.slug(),
        name: name.to_owned(),
        scope,
        user,
        expires,
        revoked: None,
        rotated: None,
        notify,
        created: origin.at,
    };
    db.write(account, (account, origin, key, hash_of(&secret)?), |tx, (account, origin, key, hash)| {
        Box::pin(async move {
            tx.head(*account).await?;
            if let Some(user) = key.user
                && users::store::live_of(tx, *account, user.as_str()).await?.is_none()
            {
                return Err(Failure::Failed(format!("the account has no user {user}")));
            }
            Ok(keys::store::change(tx, *account, origin, Action::Created, (key, hash)).await?)
        })
    })
    .await?;
    Ok(secret)
}

async fn list(db: &Db, account: AccountId, options: ListOptions) -> Result<(), Failure> {
    let now = Clock::system().now();
    let mut table = Table::new(["slug", "scope", "state", "expires", "user", "name"]);
    keys::store::each(&mut db.snapshot().await?, account, &Context::any_language(now), |key, _| {
        let state = match (key.revoked, key.is_good(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "good",
            (None, false) => "expired",
        };
        let scope = key.scope.name();
        table.add([json!(key.slug), json!(scope), json!(state), json!(key.expires), json!(key.user), json!(key.name)]);
    })
    .await?;
    table.print(options)
}

/// Gives a key this new hash, or revokes it.
async fn change(db: &Db, account: AccountId, slug: Slug, hash: Option<[u8; 32]>) -> Result<(), Failure> {
    let state = (account, slug, hash, operator(&Clock::system()));
    db.write(account, state, |tx, (account, slug, new_hash, origin)| {
        Box::pin(async move {
            tx.head(*account).await?;
            let found = keys::store::find_for_update(tx, *account, *slug, &Context::any_language(origin.at)).await?;
            let (mut key, hash) = found.ok_or_else(|| {
                Failure::Failed(format!("the account has no key {slug}; `plaudit key list` shows those it has"))
            })?;
            if key.revoked.is_some() {
                return match new_hash {
                    None => Ok(()),
                    Some(_) => Err(Failure::Failed(format!("key {slug} is revoked; make a new one"))),
                };
            }
            if new_hash.is_some() && !key.is_good(origin.at) {
                return Err(Failure::Failed(format!("key {slug} has expired; make a new one")));
            }
            match new_hash {
                None => key.revoked = Some(origin.at),
                Some(_) => key.rotated = Some(origin.at),
            }
            let changed = (&key, &new_hash.unwrap_or(hash));
            Ok(keys::store::change(tx, *account, origin, Action::Updated, changed).await?)
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_notified_has_an_address() {
        assert_eq!(email("a@example.org"), Ok("a@example.org".to_owned()));
        for wrong in
            ["a", "a@", "a b@example.org", "a@example.org\nb@example.org", &format!("a@{}.org", "x".repeat(255))]
        {
            assert!(email(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_ends_at_a_time_or_after_one() {
        assert_eq!(end("90d"), Ok(End::After(Duration::from_hours(90 * 24))));
        assert_eq!(end("12h"), Ok(End::After(Duration::from_hours(12))));
        let time = Timestamp::parse("2027-01-31T00:00:00Z").unwrap();
        assert_eq!(end("2027-01-31T00:00:00Z"), Ok(End::At(time)));
        for wrong in ["", "d", "90", "-1d", "90 d", "tomorrow", "é"] {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}
