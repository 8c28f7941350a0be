//! The filters of a list and their values.

use crate::lists::page::Narrow;
use crate::lists::page::query::whole_number;
use kernel::text::{Date, Locale, Slug, Timestamp};

/// The word for all slugs.
pub(super) const ALL: &str = "all";

/// A filter of a list: its query is read by it, and the OpenAPI document describes it.
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    /// The name of the parameter.
    pub name: &'static str,
    /// What its value may be.
    pub kind: FilterKind,
    /// What it selects, for readers: a sentence without its full stop.
    pub about: &'static str,
    /// What applies where it is left out, for readers: one of its words, or a text; nothing where it restricts nothing.
    pub default: Option<&'static str>,
    /// Whether a query must have it.
    pub is_required: bool,
    /// What it asks of a record.
    pub narrow: Narrow,
}

impl Filter {
    /// A filter that may be left out.
    pub const fn new(name: &'static str, kind: FilterKind, about: &'static str) -> Self {
        Self { name, kind, about, default: None, is_required: false, narrow: Narrow::Nothing }
    }

    /// The same filter, which a query must have.
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// The same filter with what it asks of a record.
    pub const fn by(self, narrow: Narrow) -> Self {
        Self { narrow, ..self }
    }

    /// The same filter with what applies where it is left out.
    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// `season`: a season or all of them; the active one where it is left out.
    pub const fn season(about: &'static str) -> Self {
        Self::new("season", FilterKind::SlugOr(&[ALL]), about).with_default("the active season")
    }

    /// `deleted`: whether what is in the trash is in the list.
    pub const fn deleted() -> Self {
        let words = FilterKind::OneOf(&["only", "included", "none"]);
        let about = "What is in the trash: `only` that, `included` with the rest, or `none` of it";
        Self::new("deleted", words, about).with_default("none")
    }

    /// `trashed`: the same in other words.
    pub const fn trashed() -> Self {
        let words = FilterKind::OneOf(&["only", "all", "none"]);
        let about = "What is in the trash: `only` that, `all` with the rest, or `none` of it";
        Self::new("trashed", words, about).with_default("none")
    }

    /// `archived`: whether what is archived is in the list.
    pub const fn archived() -> Self {
        let words = FilterKind::OneOf(&["only", "all", "none"]);
        let about = "What is archived: `only` that, `all` with the rest, or `none` of it";
        Self::new("archived", words, about).with_default("none")
    }

    /// What its value may be, in words that follow the name: `must be one of: paid, awaiting_payment`.
    pub fn allowed(&self) -> String {
        match self.kind {
            FilterKind::OneOf(words) => format!("must be one of: {}", words.join(", ")),
            FilterKind::ManyOf(words) => format!("must be one or more, between commas, of: {}", words.join(", ")),
            FilterKind::Slug => "must be a slug of 8 letters".to_owned(),
            FilterKind::SlugOr([word]) => format!("must be a slug of 8 letters, or {word}"),
            FilterKind::SlugOr(words) => format!("must be a slug of 8 letters, or one of: {}", words.join(", ")),
            FilterKind::Letters { count } => format!("must be a slug of {count} letters"),
            FilterKind::Text { max } => {
                format!("must be a text of 1 to {max} characters, none of them a control character")
            }
            FilterKind::Number { min, max } => format!("must be a whole number from {min} to {max}"),
            FilterKind::Time => "must be a time such as 2026-01-31T08:30:00Z".to_owned(),
            FilterKind::Locale => "must be a locale code such as en_GB".to_owned(),
            FilterKind::Date => {
                let [before, after, on, between] = Bracket::ALL.map(|bracket| bracket.of(self.name));
                format!(
                    "must be given as {before}, {after}, {on} or {between}=a,b, each once, with dates such as \
                     2026-01-31 or, on aside, times such as 2026-01-31T08:30:00Z"
                )
            }
        }
    }

    /// The value that a text is; nothing when it is none. Dates come in brackets and have no value of this form.
    pub(super) fn value(&self, text: &str) -> Option<FilterValue> {
        match self.kind {
            FilterKind::OneOf(words) => word(words, text).map(FilterValue::Word),
            FilterKind::ManyOf(words) => {
                let mut chosen = Vec::new();
                for text in text.split(',') {
                    let word = word(words, text.trim())?;
                    if !chosen.contains(&word) {
                        chosen.push(word);
                    }
                }
                Some(FilterValue::Words(chosen))
            }
            FilterKind::Slug => Slug::parse(text).map(FilterValue::Slug),
            FilterKind::SlugOr(words) => {
                word(words, text).map(FilterValue::Word).or_else(|| Slug::parse(text).map(FilterValue::Slug))
            }
            FilterKind::Letters { count } => {
                let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_alphabetic());
                fits.then(|| FilterValue::Text(text.to_owned()))
            }
            FilterKind::Text { max } => {
                let fits = !text.is_empty() && text.chars().count() <= max && !text.contains(char::is_control);
                fits.then(|| FilterValue::Text(text.to_owned()))
            }
            FilterKind::Number { min, max } => {
                let number = whole_number(text).and_then(|number| u32::try_from(number).ok());
                number.filter(|number| (min..=max).contains(number)).map(FilterValue::Number)
            }
            FilterKind::Time => Timestamp::parse(text).map(FilterValue::Time),
            FilterKind::Locale => Locale::parse(text).map(|locale| FilterValue::Word(locale.code())),
            FilterKind::Date => None,
        }
    }
}

fn word(words: &'static [&'static str], text: &str) -> Option<&'static str> {
    words.iter().copied().find(|word| *word == text)
}

/// What the value of a filter may be. An empty value is never one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words, between commas.
    ManyOf(&'static [&'static str]),
    /// A slug.
    Slug,
    /// A slug, or one of these words, none of which has 8 letters.
    SlugOr(&'static [&'static str]),
    /// A slug that is made of others.
    Letters {
        /// How many letters it has.
        count: usize,
    },
    /// A text without control characters.
    Text {
        /// The number of characters of the longest text.
        max: usize,
    },
    /// A whole number.
    Number {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// A time.
    Time,
    /// A locale code.
    Locale,
    /// A range of time in brackets: `[before]`, `[after]`, `[on]`, `[between]=a,b`; several of them all hold.
    Date,
}

/// A way to give the range of [`FilterKind::Date`], in brackets behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Bracket {
    /// Before a date or time.
    Before,
    /// After a date or time.
    After,
    /// On a date.
    On,
    /// Between two dates or times, both included.
    Between,
}

impl Bracket {
    /// All of them, in the order in which the documentation lists them.
    pub(super) const ALL: [Self; 4] = [Self::Before, Self::After, Self::On, Self::Between];

    /// The name of the parameter: `updated_at[before]`.
    pub(super) fn of(self, filter: &str) -> String {
        format!("{filter}[{self}]")
    }

    /// The name of the filter and the bracket that the name of a parameter consists of.
    pub(super) fn split(parameter: &str) -> Option<(&str, Self)> {
        let (filter, word) = parameter.strip_suffix(']')?.split_once('[')?;
        Some((filter, word.parse().ok()?))
    }
}

/// The value of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterValue {
    /// The word of [`FilterKind::OneOf`] or [`FilterKind::SlugOr`], or the code of a locale.
    Word(&'static str),
    /// The words of [`FilterKind::ManyOf`], each once.
    Words(Vec<&'static str>),
    /// A slug.
    Slug(Slug),
    /// A text.
    Text(String),
    /// A number.
    Number(u32),
    /// A time.
    Time(Timestamp),
    /// The range of [`FilterKind::Date`].
    Range(TimeRange),
}

/// The times from `from` on and before `until`; a bound that is missing does not bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time that is in the range.
    pub from: Option<Timestamp>,
    /// The first time that is in the range no longer.
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// The times that are in both ranges.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            from: self.from.max(other.from),
            until: match (self.until, other.until) {
                (Some(left), Some(right)) => Some(left.min(right)),
                (left, right) => left.or(right),
            },
        }
    }

    /// The range of a bracket and its value; nothing when it has none.
    ///
    /// A date is its whole day in UTC: what is before it is before its first moment, what is after it is after its
    /// last. A time is its microsecond. `between` includes both its ends, the first of which is not the later one.
    pub(super) fn parse(bracket: Bracket, value: &str) -> Option<Self> {
        match bracket {
            Bracket::Before => Some(Self { from: None, until: Some(moment(value)?.0) }),
            Bracket::After => Some(Self { from: Some(moment(value)?.1), until: None }),
            Bracket::On => Date::parse(value).map(|date| Self { from: Some(date.start()), until: Some(date.end()) }),
            Bracket::Between => {
                let (first, last) = value.split_once(',')?;
                let (from, until) = (moment(first.trim())?.0, moment(last.trim())?.1);
                (from < until).then_some(Self { from: Some(from), until: Some(until) })
            }
        }
    }
}

/// The first time that a date or a time includes, and the first that it does not.
fn moment(text: &str) -> Option<(Timestamp, Timestamp)> {
    if let Some(date) = Date::parse(text) {
        return Some((date.start(), date.end()));
    }
    let time = Timestamp::parse(text)?;
    Some((time, Timestamp::from_microseconds(time.as_microseconds().saturating_add(1))))
}
