//! What people make: a folder for each kind of record, with its types, rules, documents, store and the declaration of its
//! list. Nothing here knows of HTTP.

pub mod answers;
pub mod assignments;
pub mod casting_votes;
mod check;
pub mod conflicts;
pub mod documents;
pub mod entries;
pub mod files;
pub mod lots;
pub mod orders;
pub mod people;
pub mod publications;
pub mod recusals;
pub mod review_tasks;
pub mod rewriting;
pub(crate) mod slots;
pub mod standings;
pub mod store;
pub mod users;

use db::DbError;
use kernel::input::Violations;

pub use store::{Rows, StoredRow};

/// Why a change of a record is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Members break rules.
    Invalid(Violations),
    /// The members are right, and the record cannot be changed as it is.
    State(String),
    /// The database failed.
    Db(DbError),
    /// What cannot be has happened.
    Failed(String),
}

impl From<Violations> for Refusal {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}
