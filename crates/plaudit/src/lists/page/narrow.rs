//! What the filters of a list ask of its records.

use sha2::{Digest as _, Sha256};

use crate::lists::page::{FilterValue, ListQuery, ListSpec};
use crate::program::Program;
use kernel::text::{Timestamp, folded};

/// What stands in a set where it stands for every slug.
pub const EVERY: &str = "*";

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
    /// The same of a set: what has [`EVERY`] serves all seasons, and so is in the list of each that there is.
    SeasonOrEvery(&'static str),
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// One of these holds.
    Any(Vec<Ask>),
    /// It is the record of this name.
    Named(String),
    /// Whether a record of the table of this number for which these hold points to it by this column.
    Pointed(usize, &'static str, Vec<Ask>, bool),
    /// These hold, and the record has the values in these two columns that another record of its table has for which those hold.
    Alike([&'static str; 2], Vec<Ask>, Vec<Ask>),
    /// The set has something, and nothing but these.
    Only(&'static str, Vec<String>),
}

impl Ask {
    /// The numbers of other tables that it looks at.
    pub fn tables(&self) -> Vec<usize> {
        match self {
            Self::Any(asks) => asks.iter().flat_map(Self::tables).collect(),
            Self::Pointed(table, ..) => vec![*table],
            _ => Vec::new(),
        }
    }
}

impl ListSpec {
    /// What a query asks of the records, by all filters and always.
    pub fn asks(&self, query: &ListQuery, program: &Program) -> Vec<Ask> {
        let always = self.always.iter().map(|(column, value)| Ask::Is(column, (*value).to_owned()));
        let mut asks: Vec<Ask> = always.collect();
        for filter in self.filters {
            filter.narrow.asks(filter.name, query, program, &mut asks);
        }
        asks
    }
}

impl Narrow {
    /// What a query asks by a filter of this name.
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
            Self::Season(column) | Self::SeasonOrEvery(column) => {
                let season = query.slug(name).or_else(|| program.active_season().map(|season| season.slug));
                match season {
                    _ if query.is_all(name) => {}
                    Some(season) if matches!(self, Self::SeasonOrEvery(_)) => {
                        let every = program.seasons.any(season).map(|_| EVERY.to_owned());
                        asks.push(Ask::Has(column, every.into_iter().chain([season.to_string()]).collect()));
                    }
                    Some(season) => asks.push(Ask::Is(column, season.to_string())),
                    None => asks.push(Ask::Never),
                }
            }
            Self::Is(column) => asks.extend(value.map(|value| Ask::Is(column, bounded(&text_of(value))))),
            Self::Has(column) => {
                asks.extend(value.map(|value| Ask::Has(column, vec![text_of(value).trim().to_owned()])));
            }
            Self::Stands(column, words) => {
                let stored = words.iter().find(|(word, _)| Some(*word) == query.word(name));
                asks.extend(stored.map(|(_, stored)| Ask::Is(column, (*stored).to_owned())));
            }
            Self::Contains(column) => {
                asks.extend(value.map(|value| Ask::Contains(column, folded(&text_of(value)))));
            }
            Self::Within(column) => asks.extend(query.range(name).map(|range| {
                let bound = |time: Option<Timestamp>, none| time.map_or(none, Timestamp::as_microseconds);
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
        FilterValue::Number(number) => number.to_string(),
        FilterValue::Time(time) => time.to_string(),
        FilterValue::Words(_) | FilterValue::Range(_) => String::new(),
    }
}

/// The longest text that stands in an index whole, in bytes.
const BOUND: usize = 200;

/// A text as a column has it that is compared and not sorted: a long one is its beginning and its hash, because an index of
/// PostgreSQL takes no long texts.
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
