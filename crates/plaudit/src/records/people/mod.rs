//! People's records whose rows hold their program-file form: one store for every such kind.
//!
//! - A kind has a table with `account`, its slug or token, the columns of its lists, `deleted`, `list_revision`, `revision` and
//!   `doc`. The declaration of its [`Table`] says how they are called.
//! - A record is written by its change alone, so that the row and the log cannot disagree.

mod store;

pub use store::{
    ShownRow, all_of, change, change_causing, count_of_entry, find_for_update, find_shown, find_shown_in, free_slug,
    of_judge, of_score_set, put, rows,
};

use crate::lists::Table;
use crate::program::StoredRecord;
use crate::records::store::SetTable;
use db::Value;
use kernel::input::Violations;
use kernel::text::Slug;

/// A kind of people's record whose rows hold its program-file form.
pub trait PeopleRecord: StoredRecord + PartialEq {
    /// Its table, as lists know it.
    const TABLE: &'static Table;

    /// The values of the columns of its table in their order, without `deleted`.
    fn columns(&self) -> Vec<Value<'static>>;

    /// The tables that hold values of it.
    const SETS: &'static [SetTable] = &[];

    /// The rows of these tables, without the account and the record.
    fn sets(&self) -> Vec<Vec<Vec<Value<'static>>>> {
        Vec::new()
    }
}

/// A kind of which a score set has at most one record that is not in the trash.
pub trait OfScoreSet: PeopleRecord<Key = Slug> {
    /// The score set.
    fn score_set(&self) -> Slug;

    /// What is wrong with the record by itself that takes too long to be asked whenever it is read.
    fn check(&self) -> Violations {
        Violations::default()
    }

    /// The record as it is shown.
    fn document(&self) -> String;
}
