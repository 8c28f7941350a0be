//! The change log: one for every account, and the only way in which its records change, API keys included.
//!
//! - A transaction that changes a record appends a change: sequence number without gaps, time, actor, source, kind and
//!   slug of the record, what was done, the events that it causes, and the document after it.
//! - A change carries a hash over itself and the hash before it, so that nothing can be altered or left out unseen.
//!   The chain begins with the hash of the account's slug.
//! - Of the document the chain has the hash alone, which stands in the change as well. So a document can be erased, and
//!   the chain proves the rest. Whoever reads the log passes over what was erased.
//! - What was appended last is followed by the [`Tails`](crate::streams::Tails), a view of the log in memory from which streams are served.
//! - The account's head ([`db::Head`]) holds the last sequence number and hash; it is locked by whoever appends.
//! - The head's version is the name of the last change of what the account's program shows. A name is part of a hash, so
//!   that the change of the same number in another history, such as that of a restored backup, has another one.

mod event;
pub mod feed;
pub mod forms;
mod rules;
mod store;

pub use event::Event;
pub use forms::FORM;
pub use rules::{hash_of, name_of, origin};
pub use store::{append, each_of_account, each_of_record, erase_documents, outdate_program};

use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Who changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// An API key, by its slug.
    Key(Slug),
    /// A user, by the slug.
    User(Slug),
    /// The operator, by a command.
    Operator,
    /// The service itself.
    System,
}

impl std::fmt::Display for Actor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.slug() {
            Some(slug) => write!(formatter, "{}:{slug}", self.kind()),
            None => formatter.write_str(self.kind()),
        }
    }
}

impl Actor {
    /// What kind of actor it is, as the log and the feed of events call it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::User(_) => "user",
            Self::Operator => "operator",
            Self::System => "system",
        }
    }

    /// The slug of the key or of the user.
    pub fn slug(&self) -> Option<Slug> {
        match self {
            Self::Key(slug) | Self::User(slug) => Some(*slug),
            Self::Operator | Self::System => None,
        }
    }

    /// The actor that the log names so.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some(("key", slug)) => Slug::parse(slug).map(Self::Key),
            Some(("user", slug)) => Slug::parse(slug).map(Self::User),
            _ => [Self::Operator, Self::System].into_iter().find(|actor| actor.kind() == text),
        }
    }
}

/// What was done to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It was made.
    Created,
    /// Its members changed.
    Updated,
    /// It went to the trash.
    Trashed,
    /// It came back from the trash.
    Restored,
    /// An import added or replaced it.
    Imported,
}

impl Action {
    /// Everything that can be done.
    pub const ALL: [Self; 5] = [Self::Created, Self::Updated, Self::Trashed, Self::Restored, Self::Imported];

    /// The name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Trashed => "trashed",
            Self::Restored => "restored",
            Self::Imported => "imported",
        }
    }
}

/// Who acts, when and through what: the same for every change of a request or command.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Who acts.
    pub actor: Actor,
    /// `api`, `ui` or `system`.
    pub source: &'static str,
    /// The time of the change.
    pub at: Timestamp,
}

/// A change that is about to be logged.
#[derive(Debug)]
pub struct Change<'c> {
    /// The kind of the record.
    pub kind: Kind,
    /// The record's slug or token.
    pub slug: &'c str,
    /// What was done.
    pub action: Action,
    /// The events that it causes.
    pub events: &'c [Event],
    /// The document after the change.
    pub document: String,
}
