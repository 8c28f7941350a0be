//! Users: the people of an account, whatever they do in it.
//!
//! - A **person** is one in the whole installation, known by a `global_id`, and reached by an e-mail address, a mobile
//!   number or both, which reach nobody else; of an address, case is no part. A person has one password. A **user** is a
//!   person in an account: the name, the roles and everything else is what that account says of the person, and no other
//!   account sees any of it.
//! - A user shows the address and the number that the account has given, never one that the person has elsewhere.
//! - The address, the number and the password of a person who is in one account are that account's to change. Those of a
//!   person who is in several, in the trash of one or not, are the person's own: no account may change for the others by
//!   what the person signs in.
//! - The name is the first and the last name, and is never given on its own.
//! - A user is invited until confirmed; a confirmed one may have the time of it. A user is confirmed in each account on
//!   its own.
//! - Entries, orders and chapters show a user by name. Their documents have a slot for the user, which is filled when they
//!   are shown ([`Person`]).
//! - A user in the trash keeps the records, and keeps the name in them, but manages nothing.
//! - In which seasons a user has entries is kept for the filters of the list ([`store::note_seasons`]).
//! - The list without `order` shows what was changed last first; `dir=asc` turns it around. A named `order` begins with
//!   the smallest value, and `dir=desc` turns it around. Ties go by slug, ascending in both directions.

pub(crate) mod body;
mod document;
pub(crate) mod identity;
pub mod links;
pub mod list;
mod members;
pub mod password;
mod person;
mod record;
mod rules;
pub mod store;
pub(crate) mod writing;

pub use document::{ExtraColumns, detail, extra_columns, logged, read_extra_columns, shown};
pub use list::LISTED;
pub use members::MEMBERS;
pub use password::{PasswordHash, Passwords};
pub use person::{Person, names};
pub use rules::{Summary, full_name, normal_email};

use crate::records::answers::Answers;
use kernel::text::{Locale, Slug, Timestamp};

/// The most characters of a first or last name.
pub const NAME_LENGTH: usize = 255;
/// The most characters of comments.
pub const COMMENTS_LENGTH: usize = 65_536;
/// The most roles of a user.
pub const ROLES: usize = 1_000;

/// What a user has agreed to, each on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Each is a member of its own, and none follows from another.
#[allow(clippy::struct_excessive_bools)]
pub struct Consents {
    /// Cookies that measure use.
    pub analytics_cookies: bool,
    /// Mail to everybody.
    pub broadcast_emails: bool,
    /// Cookies of advertisers.
    pub marketing_cookies: bool,
    /// Cookies without which nothing works.
    pub necessary_cookies: bool,
    /// Mail about the user's own records.
    pub notification_emails: bool,
    /// Text messages about the user's own records.
    pub notification_sms: bool,
}

impl Default for Consents {
    fn default() -> Self {
        Self {
            analytics_cookies: false,
            broadcast_emails: false,
            marketing_cookies: false,
            necessary_cookies: true,
            notification_emails: true,
            notification_sms: false,
        }
    }
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's slug.
    pub slug: Slug,
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The e-mail address, as this account has given it.
    pub email: Option<String>,
    /// The mobile number, E.164, where this account has given it.
    pub mobile: Option<String>,
    /// The person: a UUID that is the same in every account and wherever the user is imported. Empty only between the
    /// reading of a record that states none and its writing.
    pub global_id: String,
    /// The season that was active when the user was added, if there was one.
    pub season_joined: Option<Slug>,
    /// The language in which the user is addressed.
    pub language: Locale,
    /// The user's roles, in the order in which they were named.
    pub roles: Vec<Slug>,
    /// What the user has agreed to.
    pub consents: Consents,
    /// What managers note about the user.
    pub comments: String,
    /// Whether the user is confirmed; else invited.
    pub confirmed: bool,
    /// When the user was confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// `manual`, `registration`, `invited` or `api`.
    pub created_by: &'static str,
    /// The user's preferences: the canonical text of a JSON object.
    pub preferences: String,
    /// What the user shares elsewhere: the canonical text of a JSON object.
    pub social_sharing: String,
    /// The user's answers to the fields of users.
    pub user_fields: Answers,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When the user was last changed.
    pub updated: Timestamp,
}

impl User {
    /// The first and the last name.
    #[must_use]
    pub fn name(&self) -> String {
        full_name(&self.first_name, &self.last_name)
    }

    /// What reaches the person, as far as this account knows, each as it is compared.
    #[must_use]
    pub fn contacts(&self) -> Vec<String> {
        self.email.as_deref().map(normal_email).into_iter().chain(self.mobile.clone()).collect()
    }

    /// What other records show of the user.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            slug: self.slug,
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            email: self.email.clone(),
            global_id: self.global_id.clone(),
        }
    }
}
