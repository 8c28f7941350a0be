//! How the lists of people's records are declared: columns, filters, sorts and what is shown. What is asked of any view,
//! also of one of set-up records, is put into its numbers here ([`filter`]).
//!
//! - A [`Table`] names the columns that a view holds of a kind of record: those by which its lists filter and sort, under
//!   the names that they have in the database. An index of the table begins with `account, list_revision` and has them all.
//! - `list_revision` is the number of the change by which a column of the record, or a set beside it, last became another
//!   one. Whoever changes what a column is derived from raises it in the same transaction.
//! - A [`List`] says which columns its filters look at and which its sorts follow. A column of the record that a reference
//!   points to is `reference.column`.
//! - A sort is one key. Ties go by slug, ascending in both directions (contract, section 4).

pub mod page;
mod start;

pub use self::start::{Start, position};

use std::collections::HashSet;

use list_view::{Column, Condition, Filter, Holds, Key, Path, View};

use self::page::{Ask, ListSpec};
use crate::program::Program;
use kernel::text::Slug;

/// The numbers of the tables of a view. What is referred to has a lower number than what refers to it.
pub const USERS: usize = 0;
/// Entries.
pub const ENTRIES: usize = 1;
/// Contributors.
pub const CONTRIBUTORS: usize = 2;
/// Attachments.
pub const ATTACHMENTS: usize = 3;
/// Orders.
pub const ORDERS: usize = 4;
/// Assignments.
pub const ASSIGNMENTS: usize = 5;
/// What the sheets of entries come to.
pub const STANDINGS: usize = 6;
/// Review tasks.
pub const REVIEW_TASKS: usize = 7;
/// Publications.
pub const PUBLICATIONS: usize = 8;
/// Documents.
pub const DOCUMENTS: usize = 9;
/// How many tables a view has.
pub const TABLES: usize = 10;

/// So many records with one value are told one by one; with more they share their place.
pub const MOST_TIED: usize = 1_000;

/// The longest text of a column that lists sort by, in bytes: a row of an index of PostgreSQL has about 2,700 at most.
const LONGEST_KEY: usize = 400;

/// The beginning of a text that a column has room for which lists sort by.
pub fn sort_key(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_KEY)]
}

/// A number as an integer, so that integers are in the order of their numbers.
pub fn number_key(number: f64) -> u64 {
    // The bits of positive numbers are in the order of the numbers, those of negative ones against it.
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// A kind of record as views hold it.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its table of the database.
    pub sql: &'static str,
    /// The column of its slug or token.
    pub name: &'static str,
    /// The columns; what a reference column names in the database is a slug.
    pub columns: &'static [Column],
    /// Where the columns of sets have their values that stand in tables of their own.
    pub sets: &'static [Values],
}

/// A set column whose values stand in a table of their own.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// The column of the view.
    pub column: &'static str,
    /// The table of the database.
    pub sql: &'static str,
    /// Its column of the record's slug.
    pub record: &'static str,
    /// Its column of the value.
    pub value: &'static str,
    /// The flag of the rows that do not count; empty where all do.
    pub unless: &'static str,
}

/// A list of people's records.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Its path.
    pub path: &'static str,
    /// What its query may say.
    pub spec: ListSpec,
    /// The number of its table.
    pub table: usize,
    /// What each order follows.
    pub sorts: &'static [(&'static str, By)],
    /// What the list follows without one.
    pub default_sort: By,
    /// What is read of each record.
    pub shown: Shown,
}

/// What is read of the records of a page.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// What the view has of it, by the names of columns: cheaper than a join.
    pub held: &'static [&'static str],
    /// The columns; `r` is the table of the record.
    pub columns: &'static [&'static str],
    /// What is joined to each record.
    pub joins: &'static str,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// A number or a time.
    Number(&'static str),
    /// A text.
    Text(&'static str),
    /// A value of which there are few, in the order of the values themselves.
    Value(&'static str),
    /// A record of the set-up, in the order of what it is called; the function gives that of a slug.
    Named(&'static str, fn(&Program, Slug) -> String),
    /// The answers to the field that the order names.
    Answers,
}

impl By {
    /// Whether a cursor of such a sort holds such a key.
    pub fn takes(self, key: &Key) -> bool {
        match self {
            Self::Number(_) => matches!(key, Key::Number(_)),
            Self::Text(_) | Self::Value(_) | Self::Named(..) | Self::Answers => matches!(key, Key::Text(_)),
        }
    }
}

/// The names of sorts, for the query.
pub const fn names<const N: usize>(sorts: &[(&'static str, By); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = sorts[at].0;
        at += 1;
    }
    names
}

/// A column of a table.
pub const fn column(name: &'static str, holds: Holds) -> Column {
    Column { name, holds }
}

/// A column by its name. The names are those of the table: a test asks every list for everything.
pub fn path(view: &View, table: usize, name: &str) -> Path {
    view.path(table, name).unwrap_or(Path::own(u16::MAX))
}

/// What is asked, in the numbers of a view.
pub fn filter(view: &View, table: usize, asks: &[Ask]) -> Filter {
    Filter::of(asks.iter().map(|ask| condition(view, table, ask)).collect())
}

fn condition(view: &View, table: usize, ask: &Ask) -> Condition {
    let path = |name: &str| path(view, table, name);
    let code = |path, value: &String| view.code(table, path, value);
    let codes = |path, values: &[String]| values.iter().map(|value| code(path, value)).collect();
    match ask {
        Ask::Is(column, value) => Condition::Is(path(column), code(path(column), value)),
        Ask::Has(column, values) => Condition::Has(path(column), codes(path(column), values)),
        Ask::Lacks(column, values) => Condition::Lacks(path(column), codes(path(column), values)),
        Ask::Only(column, values) => Condition::Only(path(column), codes(path(column), values)),
        Ask::IsEmpty(column) => Condition::IsEmpty(path(column)),
        Ask::Within(column, from, until) => Condition::Within(path(column), *from, *until),
        Ask::Contains(column, text) => Condition::Contains(path(column), text.clone()),
        Ask::Never => Condition::Never,
        Ask::Any(asks) => Condition::Any(asks.iter().map(|ask| condition(view, table, ask)).collect()),
        Ask::Named(name) => Condition::Among(vec![view.slot(table, name)]),
        Ask::Pointed(other, column, asks, is_pointed) => {
            let (by, mut found) = (self::path(view, *other, column), vec![false; view.len(table)]);
            for slot in view.select(*other, &filter(view, *other, asks)) {
                let pointed = view.slot(table, view.text(*other, slot, by));
                if let Some(found) = found.get_mut(pointed as usize) {
                    *found = true;
                }
            }
            Condition::Among((0..).zip(found).filter(|(_, found)| found == is_pointed).map(|(slot, _)| slot).collect())
        }
        Ask::Alike(columns, asks, others) => {
            let columns = columns.map(path);
            let select = |asks| view.select(table, &filter(view, table, asks)).into_iter();
            let values = |slot| columns.map(|path| view.text(table, slot, path));
            let others: HashSet<[&str; 2]> = select(others).map(values).collect();
            Condition::Among(select(asks).filter(|slot| others.contains(&values(*slot))).collect())
        }
    }
}
