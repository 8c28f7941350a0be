#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! - A [`View`] has tables, one for each kind of record. A record is a name, a locator that says where its document lies,
//!   and the cells of the columns that the table declares.
//! - A [`Path`] names a column of the record, or one of the record that a reference column points to. So children filter
//!   and sort by their parent, and a change of the parent moves them in their lists, for which their table is looked through
//!   once.
//! - A [`Filter`] is a set of conditions that all hold. A [`Sort`] is one key; ties go by name, ascending in both
//!   directions.
//! - The list of a filter and a sort is made when it is first asked for, and then kept: a record that changes is taken
//!   out by its old cells and put in by its new ones. It holds slots in chunks of at most 512, so that a page costs the
//!   same at any depth, and a change costs the same however long the list is.

mod column;
mod dictionary;
mod filter;
mod names;
mod ordered;
mod page;
mod sort;
mod table;
mod view;

pub use column::{Cell, Column, Holds};
pub use filter::{Condition, Filter};
pub use page::{Direction, From, Page, Tie};
pub use sort::{Key, Ranks, Sort};
pub use view::{Made, View};

/// The number of a record in its table.
pub type Slot = u32;

/// The slot of a record that is not there.
pub const NOBODY: Slot = Slot::MAX;

/// The number of a value in its column.
pub type Code = u32;

/// The code of a value that no record has.
pub const UNKNOWN: Code = Code::MAX;

/// A column of a record, or of the record that one of its reference columns points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The reference column; none where the column is the record's own.
    pub via: Option<u16>,
    /// The column, in the table of the record or in that of the reference.
    pub column: u16,
}

impl Path {
    /// A column of the record itself.
    pub const fn own(column: u16) -> Self {
        Self { via: None, column }
    }

    /// A column of the record that a reference column points to.
    pub const fn via(reference: u16, column: u16) -> Self {
        Self { via: Some(reference), column }
    }
}
