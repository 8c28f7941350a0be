//! Webhooks: endpoints of others that are told what happens in an account.
//!
//! - A webhook names at least one event, and the address that is called: http or https, without user information and
//!   without a fragment. What is stored and called is the text of the parsed address, never what was typed.
//! - `form` limits it to changes of what has that form, `fields` the answers that a delivery includes; none means all.
//! - Deliveries are signed with its key, letters and digits, which is generated where none is stated. A key that is
//!   replaced stays valid for 24 hours, and at most four are.
//! - Its headers are sent with every delivery. They cannot have the names that the service or the connection uses.
//! - The key and the values of headers are shown to keys that write only.
//! - One that is disabled is told nothing. The service disables one whose endpoint is gone, and says why; enabling it
//!   forgets that.
//! - `plaudit apply` puts into the trash only those that it made.
//! - An account has at most 100.

mod replaced_keys;
mod rules;
mod values;

pub use replaced_keys::ReplacedKey;
pub use rules::{create, document, update};
pub use values::{Headers, SigningKey, normal_url};

use super::choice::choices;
use super::{NAME_LENGTH, Record, Shape};
use crate::log::Event;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};
use webhook_signing::Keys;

/// The most webhooks of an account.
pub const WEBHOOKS: usize = 100;
/// The most fields that one names.
pub const FIELDS: usize = 500;
/// The most bytes of an address.
pub const URL_LENGTH: usize = 2_048;
/// The most headers.
pub const HEADERS: usize = 10;
/// The most characters of the value of a header.
pub const HEADER_LENGTH: usize = 1_024;
/// The most addresses that are notified.
pub const EMAILS: usize = 10;

const EVENT: Shape = Shape::OneOf(|| Event::NAMES.to_vec());
const EMAIL: Shape = Shape::Pattern("^[^@\\s]+@[^@\\s]+$");

choices! {
    /// How the address is called.
    pub enum Method {
        /// With what happened in the query.
        Get "get",
        /// With what happened in the body.
        Post "post",
    }
}

choices! {
    /// Whether a webhook is called.
    pub enum Status {
        /// It is.
        Enabled "enabled",
        /// It is not.
        Disabled "disabled",
    }
}

choices! {
    /// What made a webhook.
    pub enum MadeBy {
        /// The interface, or an import.
        Interface "interface",
        /// A program file that was applied.
        Apply "apply",
    }
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), changes = Changes)]
pub struct Webhook {
    /// Its slug.
    pub slug: Slug,
    /// The events that it is told of.
    #[member(FilledSet(&EVENT, Event::ALL.len()), required, to_create, updatable)]
    pub events: Vec<Event>,
    /// The fields whose answers a delivery includes; none means all.
    #[member(Set(&Shape::Ref(Kind::Field), FIELDS), creatable, updatable)]
    pub fields: Vec<Slug>,
    /// The form of the entries that it is told of; null for every form, and for what has none.
    #[member(Ref(Kind::Form), creatable, updatable)]
    pub form: Option<Slug>,
    /// How the address is called.
    #[member(required, to_create, updatable)]
    pub method: Method,
    /// Its name.
    #[member(FilledText(NAME_LENGTH), required, identifying, to_create, updatable)]
    pub name: String,
    /// The key that signs deliveries, letters and digits; generated where it is left out or, in a body, null. Shown to
    /// keys that write, null to others.
    #[member(given(Option::<SigningKey>, values::given_key), kept, creatable, updatable, nullable_in_bodies, or_withheld, secret,
        example("9fEwyGq2LrV7xTzNb4KdHc8s"))]
    pub signing_key: SigningKey,
    /// The address that is called: http or https, without user information and without a fragment.
    #[member(FilledText(URL_LENGTH), read = values::url, required, to_create, updatable, example("https://example.org/hook"))]
    pub url: String,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
    /// Whether it is called; enabled where it is left out.
    #[member(default = Status::Enabled, kept, updatable)]
    pub status: Status,
    /// Why the service disabled it.
    #[member(Text(NAME_LENGTH), kept)]
    pub disabled_reason: Option<String>,
    /// Headers that are sent with every delivery. Their values are shown to keys that write, empty to others.
    #[member(Texts(HEADERS, HEADER_LENGTH), creatable, updatable, secret, example(r#"{"X-Team":"awards"}"#))]
    pub headers: Headers,
    /// Who is notified when it is disabled or when a delivery failed for good.
    #[member(Set(&EMAIL, EMAILS), read = values::emails, creatable, updatable, hidden)]
    pub notification_emails: Vec<String>,
    /// The keys that were replaced and are still valid, latest first.
    #[member(List(&replaced_keys::REPLACED_KEY, webhook_signing::MAX_REPLACED), with = replaced_keys, default = Vec::new(), kept,
        hidden, secret)]
    pub replaced_keys: Vec<ReplacedKey>,
    /// What made it; `plaudit apply` leaves alone what it did not make.
    #[member(default = MadeBy::Interface, kept, hidden)]
    pub made_by: MadeBy,
}

impl Webhook {
    /// The keys that sign at a time, in seconds since 1970 began.
    pub fn keys(&self, now_unix: i64) -> Keys {
        let valid = self.replaced_keys.iter().filter(|replaced| now_unix < replaced.until.as_seconds());
        Keys { current: self.signing_key.key().clone(), replaced: valid.map(ReplacedKey::as_replaced).collect() }
    }

    /// Whether it is told of an event of what has this form.
    pub fn wants(&self, event: Event, form: Option<Slug>) -> bool {
        self.events.contains(&event) && (self.form.is_none() || self.form == form)
    }
}
