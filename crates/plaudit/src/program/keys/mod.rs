//! API keys.
//!
//! - A key is `plaudit_` and 40 letters. It is shown once, when it is made; what is kept is its SHA-256, which is enough
//!   because a key is random and long.
//! - A key reads, or reads and writes. It can expire and be revoked; then it is refused like one that never existed.
//! - Every change of a key is in the account's log, without the secret and without its hash.

pub mod store;

use sha2::{Digest, Sha256};

use super::{Context, SetupRecord};
use kernel::document::Object;
use kernel::ids::Ids;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// What a key begins with, so that a leaked one is recognised.
const PREFIX: &str = "plaudit_";
/// The letters after the prefix: 228 bits.
const LETTERS: usize = 40;

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reading.
    Read,
    /// Reading and writing.
    ReadWrite,
}

impl Scope {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[("read", Self::Read), ("read_write", Self::ReadWrite)];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read_write",
        }
    }
}

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its slug, by which the operator speaks of it.
    pub slug: Slug,
    /// What the operator called it.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// When it stops being good.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// When it got the secret that it has, where that is not its first.
    pub rotated: Option<Timestamp>,
    /// Whom to tell before it expires.
    pub notify: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
}

impl ApiKey {
    /// Whether it is good at a time.
    #[must_use]
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// A new secret.
#[must_use]
pub fn new_secret(ids: &Ids) -> String {
    format!("{PREFIX}{}", ids.secret(LETTERS))
}

/// What is kept of a secret; `None` for a text that cannot be a key, which then needs no look into the database.
#[must_use]
pub fn hash(secret: &[u8]) -> Option<[u8; 32]> {
    let letters = secret.strip_prefix(PREFIX.as_bytes())?;
    (letters.len() == LETTERS && letters.iter().all(u8::is_ascii_alphabetic)).then(|| Sha256::digest(secret).into())
}

impl SetupRecord for ApiKey {
    const KIND: Kind = Kind::ApiKey;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name = members.required("name", input::text(255));
        let scope = members.required("scope", input::one_of(Scope::CHOICES));
        let expires = members.nullable("expires", input::time);
        let revoked = members.nullable("revoked", input::time);
        let rotated = members.nullable("rotated", input::time);
        let notify = members.optional("notify", input::list(100, input::text(255)));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            name: name?,
            scope: scope?,
            expires: expires.flatten(),
            revoked: revoked.flatten(),
            rotated: rotated.flatten(),
            notify: notify.unwrap_or_default(),
            created,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.text("name", &self.name);
        object.text("scope", self.scope.name());
        object.optional_time("expires", self.expires);
        object.optional_time("revoked", self.revoked);
        object.optional_time("rotated", self.rotated);
        object.texts("notify", &self.notify);
        object.time("created", self.created);
    }

    fn slug(&self) -> Slug {
        self.slug
    }
}
