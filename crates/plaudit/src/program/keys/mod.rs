//! API keys.
//!
//! - A key is `plaudit_` and 40 letters. It is shown once, when it is made; what is kept is its SHA-256, which is enough
//!   because a key is random and long.
//! - A key reads, or reads and writes. It can expire and be revoked; then it is refused like one that never existed.
//! - A key is the account's, or of a person: then it does what the person's roles allow (`access/`).
//! - Every change of a key is in the account's log, without the secret and without its hash.

pub mod store;

use sha2::{Digest, Sha256};

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// What a key begins with, so that a leaked one is recognised.
const PREFIX: &str = "plaudit_";
/// The letters after the prefix: 228 bits.
const LETTERS: usize = 40;
/// The most addresses that are told before it expires.
pub const NOTIFIED: usize = 100;

choices! {
    /// What a key allows.
    pub enum Scope {
        /// Reading.
        Read "read",
        /// Reading and writing.
        ReadWrite "read_write",
    }
}

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
pub struct ApiKey {
    /// Its slug, by which the operator speaks of it.
    pub slug: Slug,
    /// What the operator called it.
    #[member(Text(NAME_LENGTH), required)]
    pub name: String,
    /// What it allows.
    #[member(required)]
    pub scope: Scope,
    /// The person whose roles it acts by; left out, it acts for the account.
    #[member(Ref(Kind::User))]
    pub user: Option<Slug>,
    /// When it stops being good.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// When it got the secret that it has, where that is not its first.
    pub rotated: Option<Timestamp>,
    /// Whom to tell before it expires.
    #[member(List(&Shape::Text(NAME_LENGTH), NOTIFIED))]
    pub notify: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
}

impl ApiKey {
    /// Whether it is good at a time.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// A new secret.
pub fn new_secret(ids: &Ids) -> String {
    format!("{PREFIX}{}", ids.secret(LETTERS))
}

/// What is kept of a secret; `None` for a text that cannot be a key, which then needs no look into the database.
pub fn hash(secret: &[u8]) -> Option<[u8; 32]> {
    let letters = secret.strip_prefix(PREFIX.as_bytes())?;
    (letters.len() == LETTERS && letters.iter().all(u8::is_ascii_alphabetic)).then(|| Sha256::digest(secret).into())
}
