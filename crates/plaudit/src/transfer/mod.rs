//! Program files: import, export and apply (contract, section 9).
//!
//! - A file is JSON Lines, a record a line, in any order, about one account. What a record owns may be nested in it.
//! - An import reads the file once and spools it to disk by kind, then goes through the kinds so that a record comes
//!   after all that it refers to. People's records are never held in memory; the set-up is.
//! - Everything is written in one transaction while it is checked, but where an import makes its account: that is staged,
//!   which is written in steps and seen by nobody before it is whole. With the first fault the writing ends and the checking goes on, so that
//!   every fault is told and nothing is applied.
//! - A record that is what is stored already is neither written nor logged. What it may leave out and the stored one
//!   has (times, numbers) it keeps.
//! - An entry comes after its contributors, files and attachments, so that its documents are made and logged once.
//! - The bytes of files go to the storage last, right before the commit, and are removed again where that fails.
//! - An export reads one state of the database; importing it gives the same bytes again.

mod account;
mod apply;
mod assignments;
mod details;
mod documents;
mod entries;
mod export;
mod fault;
mod files;
mod import;
mod marks;
mod orders;
mod plan;
mod reading;
mod review_tasks;
mod schema;
mod setup;
mod staging;
mod store;
#[cfg(test)]
mod tests;
mod users;
mod webhooks;
mod yaml;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use apply::{Applied, ApplyMode, apply};
pub use export::export;
pub use fault::{Fault, Report};
pub use import::import;
pub use plan::Step;
pub use schema::schema;
pub use staging::{is_abandoned, remove_abandoned};

use crate::program::fields::Lengths;
use crate::records::Refusal;
use crate::storage::{Storage, StorageError};
use db::{AccountId, BoxFuture, Db, DbError, Tx};
use kernel::clock::Clock;
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::Slug;

/// What an import works with.
#[derive(Clone, Copy, Debug)]
pub struct Deployment<'d> {
    /// The database.
    pub db: &'d Db,
    /// The bytes of files.
    pub storage: &'d Storage,
    /// The time, for records that state none.
    pub clock: &'d Clock,
    /// Identifiers, for records that have none.
    pub ids: &'d Ids,
    /// How long what people write may be.
    pub lengths: Lengths,
    /// How long a step of an import that makes an account takes, which on SQLite keeps others from writing.
    pub longest_write: Duration,
    /// Has what is not a record follow the set-up of an account, in the transaction that changes that, after all else.
    pub follow: for<'t> fn(&'t mut Tx, AccountId) -> BoxFuture<'t, Result<(), DbError>>,
}

/// A file that is imported.
#[derive(Debug)]
pub struct Source<'s, R> {
    /// Its lines.
    pub reader: R,
    /// Its name, for messages.
    pub name: &'s str,
    /// Where the bytes are of files whose records name them by a path.
    pub files: FileSource<'s>,
}

/// Where an import finds the bytes of files whose records name them by a path.
#[derive(Clone, Copy, Debug)]
pub struct FileSource<'s> {
    /// The folder that every path leads down from.
    pub folder: &'s Path,
    /// What the service keeps for itself, whole paths without links: nothing of it is taken, and nothing below it.
    pub own: &'s [PathBuf],
}

/// How many records of a kind a file has, and how many of them were not there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The kind.
    pub kind: Kind,
    /// Records in the file.
    pub read: u64,
    /// Records that were added or changed.
    pub changed: u64,
}

/// What came of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The account that the file is about, where that could be told.
    pub account: Option<Slug>,
    /// What the file has, by kind. `changed` is what was applied only where there is no fault.
    pub counts: Vec<Count>,
    /// How many faults were told. With any, nothing was applied.
    pub faults: u64,
}

/// Why an import or an export could not be carried out, beside faults of the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// The file storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// There is no such account.
    #[error("there is no account {0}")]
    NoAccount(Slug),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let failed = match refusal {
            Refusal::Db(error) => error,
            Refusal::State(cause) | Refusal::Failed(cause) => DbError::Failed(cause),
            Refusal::Invalid(violations) => {
                let faults: Vec<String> =
                    violations.iter().map(|(member, fault)| format!("{member} {fault}")).collect();
                DbError::Failed(faults.join("; "))
            }
        };
        Self::Db(failed)
    }
}
