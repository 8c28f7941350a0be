//! How the lists of people's records are declared: columns, filters, sorts and what is shown.
//!
//! - A [`Table`] names the columns that a view holds of a kind of record: those by which its lists filter and sort, under
//!   the names that they have in the database. An index of the table begins with `account, list_revision` and has them all.
//! - `list_revision` is the number of the change by which a column of the record, or a set beside it, last became another
//!   one. Whoever changes what a column is derived from raises it in the same transaction.
//! - A [`List`] says which columns its filters look at and which its sorts follow. A column of the record that a reference
//!   points to is `reference.column`.
//! - A sort is one key. Ties go by slug, ascending in both directions (contract, section 4).

use list_view::{Column, Holds};
use sha2::{Digest as _, Sha256};

use crate::http::page::{FilterValue, ListQuery, ListSpec};
use crate::kind::Kind;
use crate::program::Program;
use crate::text::Slug;

/// The numbers of the tables of a view. What is referred to has a lower number than what refers to it.
pub const ENTRIES: usize = 0;
/// Contributors.
pub const CONTRIBUTORS: usize = 1;
/// Attachments.
pub const ATTACHMENTS: usize = 2;
/// Orders.
pub const ORDERS: usize = 3;
/// How many tables a view has.
pub const TABLES: usize = 4;

/// A kind of record as views hold it.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The kind.
    pub kind: Kind,
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
    /// What each filter asks of a record.
    pub filters: &'static [(&'static str, Narrow)],
    /// What is asked of every record that it shows.
    pub always: &'static [(&'static str, &'static str)],
    /// What each order follows.
    pub sorts: &'static [(&'static str, By)],
    /// The columns of documents that are read of each record, `r` being its table.
    pub shown: Shown,
}

/// What is read of the records of a page.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The columns, with commas between them; `r` is the table of the record.
    pub columns: &'static str,
    /// How many columns these are.
    pub count: usize,
    /// What is joined to each record.
    pub joins: &'static str,
}

/// What a filter asks of a record.
#[derive(Clone, Copy, Debug)]
pub enum Narrow {
    /// Nothing: it says what is shown.
    Nothing,
    /// That the column is the value.
    Is(&'static str),
    /// That the column is what the word stands for; a word that stands for nothing asks nothing.
    Stands(&'static str, &'static [(&'static str, &'static str)]),
    /// That the flag is set with `only`, may be with `included` or `all`, and is not with `none` or without a word.
    Lifecycle(&'static str),
    /// That the column is this season, the active one without a value, or any with `all`.
    Season(&'static str),
    /// That the set has the value.
    Has(&'static str),
    /// That the text contains the value, both after case folding.
    Contains(&'static str),
    /// That the time is within the range.
    Within(&'static str),
    /// What a function makes of the whole query.
    By(fn(&ListQuery, &Program) -> Vec<Ask>),
}

/// What is asked of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The column has this value; a flag has `1` or `0`.
    Is(&'static str, String),
    /// The set has one of these.
    Has(&'static str, Vec<String>),
    /// The set has none of these.
    Lacks(&'static str, Vec<String>),
    /// The set is empty.
    IsEmpty(&'static str),
    /// The number is from the first on and before the second.
    Within(&'static str, i64, i64),
    /// The text contains this one.
    Contains(&'static str, String),
    /// Nothing is wanted.
    Never,
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

impl Narrow {
    /// What a query asks by a filter.
    pub(crate) fn asks(&self, name: &str, query: &ListQuery, program: &Program, asks: &mut Vec<Ask>) {
        let value = query.filter(name);
        match *self {
            Self::Nothing => {}
            Self::By(function) => asks.extend(function(query, program)),
            Self::Lifecycle(column) => match query.word(name) {
                Some("only") => asks.push(Ask::Is(column, "1".to_owned())),
                Some("included" | "all") => {}
                _ => asks.push(Ask::Is(column, "0".to_owned())),
            },
            Self::Season(column) => {
                let season = query.slug(name).or_else(|| program.active_season().map(|season| season.slug));
                match season {
                    _ if query.is_all(name) => {}
                    Some(season) => asks.push(Ask::Is(column, season.to_string())),
                    None => asks.push(Ask::Never),
                }
            }
            Self::Is(column) => asks.extend(value.map(|value| Ask::Is(column, bounded(&text_of(value))))),
            Self::Has(column) => {
                asks.extend(value.map(|value| Ask::Has(column, vec![text_of(value).trim().to_owned()])))
            }
            Self::Stands(column, words) => {
                let stored = words.iter().find(|(word, _)| Some(*word) == query.word(name));
                asks.extend(stored.map(|(_, stored)| Ask::Is(column, (*stored).to_owned())));
            }
            Self::Contains(column) => {
                asks.extend(value.map(|value| Ask::Contains(column, crate::text::folded(&text_of(value)))));
            }
            Self::Within(column) => asks.extend(query.range(name).map(|range| {
                let bound =
                    |time: Option<crate::text::Timestamp>, none| time.map_or(none, |time| time.as_microseconds());
                Ask::Within(column, bound(range.from, i64::MIN), bound(range.until, i64::MAX))
            })),
        }
    }
}

/// The value of a filter, as columns have it.
fn text_of(value: &FilterValue) -> String {
    match value {
        FilterValue::Word(word) => (*word).to_owned(),
        FilterValue::Slug(slug) => slug.to_string(),
        FilterValue::Text(text) => text.clone(),
        FilterValue::Locale(locale) => locale.code().to_owned(),
        FilterValue::Words(_) | FilterValue::All | FilterValue::Range(_) => String::new(),
    }
}

/// A column of a table.
#[must_use]
pub const fn column(name: &'static str, holds: Holds) -> Column {
    Column { name, holds }
}

/// The longest text that stands in an index whole, in bytes.
const BOUND: usize = 200;

/// A text as a column has it that is compared and not sorted: a long one is its beginning and its hash, because an index of
/// PostgreSQL takes no long texts.
#[must_use]
pub fn bounded(text: &str) -> String {
    if text.len() <= BOUND {
        return text.to_owned();
    }
    let beginning = &text[..text.floor_char_boundary(BOUND - 64)];
    format!("{beginning}{}", hex::encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_text_is_short_and_its_own() {
        let long = "x".repeat(1_000);
        assert_eq!(bounded("short"), "short");
        assert_eq!(bounded(&long).len(), BOUND);
        assert_ne!(bounded(&long), bounded(&format!("{long}y")));
        assert!(bounded(&"ü".repeat(500)).len() <= BOUND);
    }
}
