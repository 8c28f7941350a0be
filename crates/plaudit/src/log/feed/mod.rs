//! The one reader of stretches of the change log: streams, `GET /event` and the endpoints of webhooks read it by this.
//!
//! - A stretch begins after a sequence number, and tells up to which change it has read. Nothing in between is left out.
//! - It is short, so that a reader is bounded in what it holds and others find the database free in between.

mod store;

pub use store::{standing, stretch};

use super::{Actor, Event, name_of};
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// What of the log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of<'o> {
    /// Every change.
    All,
    /// Those of records of one kind; the others are passed over, and none of them is missing.
    Kind(Kind),
    /// Those of one record, which are found without reading those in between.
    Record(Kind, &'o str),
}

/// What tells a change from the one of the same number in another history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The sequence number.
    pub sequence: i64,
    /// The name of the change ([`name_of`]).
    pub name: i64,
}

impl Mark {
    /// Before the first change.
    pub const START: Self = Self { sequence: 0, name: 0 };

    /// That of the change of this number and hash.
    pub fn of(sequence: i64, hash: &[u8; 32]) -> Self {
        Self { sequence, name: name_of(hash) }
    }
}

/// A change as the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The sequence number.
    pub sequence: i64,
    /// The time.
    pub at: Timestamp,
    /// Who changed the record.
    pub actor: Actor,
    /// `api`, `ui` or `system`.
    pub source: String,
    /// The kind of the record.
    pub kind: Kind,
    /// The record's slug or token.
    pub slug: String,
    /// What was done.
    pub action: String,
    /// The events that it causes; one that only a newer version knows is passed over.
    pub events: Vec<Event>,
    /// The document after the change, where documents are read and it was not erased.
    pub document: Option<String>,
    /// How many bytes that has, whether it is read or not.
    pub length: usize,
    /// The hash that chains it to the change before it.
    pub hash: [u8; 32],
}
