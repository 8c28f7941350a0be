//! Sorts.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::table::Rows;
use crate::{Code, Path, Slot};

/// What a list is sorted by, ascending; ties go by name.
#[derive(Clone, Debug)]
pub enum Sort {
    /// The name alone, ascending in both directions.
    Name,
    /// A number; a record whose reference points to nobody comes first.
    Number(Path),
    /// A text, byte by byte.
    Text(Path),
    /// A code, in the order of what its values are called, see [`crate::View::ranks`]; a record whose reference points to
    /// nobody comes first.
    Ranked(Path, Arc<Ranks>),
    /// Texts that are told with the sort, by slot; a record without one comes first. Its list is not kept longer than
    /// until the next change.
    Told(u64, Arc<std::collections::HashMap<Slot, Box<str>>>),
}

/// What tells the sorts of a table apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SortName {
    Name,
    Number(Path),
    Text(Path),
    Ranked(Path, &'static str),
    Told(u64),
}

impl Sort {
    pub(crate) fn name(&self) -> SortName {
        match self {
            Self::Name => SortName::Name,
            Self::Number(path) => SortName::Number(*path),
            Self::Text(path) => SortName::Text(*path),
            Self::Ranked(path, ranks) => SortName::Ranked(*path, ranks.way),
            Self::Told(number, _) => SortName::Told(*number),
        }
    }

    /// Whether a list that was built by another sort of the same name is in the order of this one.
    pub(crate) fn orders_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ranked(_, one), Self::Ranked(_, other)) => Arc::ptr_eq(one, other) || one == other,
            (Self::Told(_, one), Self::Told(_, other)) => Arc::ptr_eq(one, other),
            _ => self.name() == other.name(),
        }
    }

    /// Whether it looks at a column.
    pub(crate) fn asks(&self, is_meant: impl Fn(Path) -> bool) -> bool {
        match self {
            Self::Number(path) | Self::Text(path) | Self::Ranked(path, _) => is_meant(*path),
            Self::Name | Self::Told(..) => false,
        }
    }

    /// What a record is sorted by.
    pub(crate) fn key<'r>(&'r self, rows: &Rows<'r>, table: usize, slot: Slot) -> KeyRef<'r> {
        match self {
            Self::Name => KeyRef::Nothing,
            Self::Number(path) => KeyRef::Number(number(rows, table, slot, *path)),
            Self::Text(path) => KeyRef::Text(rows.text(table, slot, *path)),
            Self::Ranked(path, ranks) => KeyRef::Rank(ranks.of(rows.code(table, slot, *path))),
            Self::Told(_, texts) => KeyRef::Text(texts.get(&slot).map_or("", |text| text)),
        }
    }

    /// What a record is sorted by, as a cursor holds it.
    pub(crate) fn told(&self, rows: &Rows<'_>, table: usize, slot: Slot) -> Key {
        match self.key(rows, table, slot) {
            KeyRef::Nothing => Key::Nothing,
            KeyRef::Number(number) => Key::Number(number),
            KeyRef::Text(text) => Key::Text(text.to_owned()),
            KeyRef::Rank(rank) => match self {
                Self::Ranked(_, ranks) => Key::Text(ranks.text(rank).to_owned()),
                _ => Key::Nothing,
            },
        }
    }

    /// How a record stands to the key of a cursor.
    pub(crate) fn compare(&self, rows: &Rows<'_>, table: usize, slot: Slot, key: &Key) -> Ordering {
        match (self.key(rows, table, slot), key, self) {
            (KeyRef::Number(held), Key::Number(number), _) => held.cmp(number),
            (KeyRef::Text(held), Key::Text(text), _) => held.cmp(text.as_str()),
            (KeyRef::Rank(rank), Key::Text(text), Self::Ranked(_, ranks)) => ranks.text(rank).cmp(text.as_str()),
            _ => Ordering::Equal,
        }
    }

    /// Whether cursors of this sort hold such a key.
    pub fn takes(&self, key: &Key) -> bool {
        matches!(
            (self, key),
            (Self::Name, Key::Nothing)
                | (Self::Number(_), Key::Number(_))
                | (Self::Text(_) | Self::Ranked(..) | Self::Told(..), Key::Text(_))
        )
    }

    /// Sorts records.
    pub(crate) fn sort(&self, rows: &Rows<'_>, table: usize, slots: Vec<Slot>) -> Vec<Slot> {
        match self {
            Self::Name => by(rows, table, slots, |_| ()),
            Self::Number(path) => by(rows, table, slots, |slot| number(rows, table, slot, *path)),
            Self::Text(_) | Self::Told(..) => by(rows, table, slots, |slot| self.key(rows, table, slot)),
            Self::Ranked(path, ranks) => by(rows, table, slots, |slot| ranks.of(rows.code(table, slot, *path))),
        }
    }
}

/// A number as it is sorted: one that is not there comes first.
fn number(rows: &Rows<'_>, table: usize, slot: Slot, path: Path) -> i64 {
    rows.number(table, slot, path).unwrap_or(i64::MIN)
}

/// Sorts by a key, which is asked for once, and then by name, of which the first bytes are at hand.
fn by<K: Ord>(rows: &Rows<'_>, table: usize, slots: Vec<Slot>, key: impl Fn(Slot) -> K) -> Vec<Slot> {
    let beginning = |slot: Slot| {
        let name = rows.name(table, slot);
        let mut first = [0; 8];
        let length = name.len().min(8);
        first[..length].copy_from_slice(&name[..length]);
        u64::from_be_bytes(first)
    };
    let mut keyed: Vec<(K, u64, Slot)> = slots.into_iter().map(|slot| (key(slot), beginning(slot), slot)).collect();
    keyed.sort_unstable_by(|one, other| {
        (&one.0, one.1).cmp(&(&other.0, other.1)).then_with(|| rows.name(table, one.2).cmp(rows.name(table, other.2)))
    });
    keyed.into_iter().map(|(_, _, slot)| slot).collect()
}

/// What a record is sorted by, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyRef<'k> {
    Nothing,
    Number(i64),
    Rank(u32),
    Text(&'k str),
}

/// What a record is sorted by, as a cursor holds it: good on every node and after a restart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The name alone.
    Nothing,
    /// A number.
    Number(i64),
    /// A text, or what a value is called.
    Text(String),
}

/// The order of the values of a column by what they are called; values that are called alike are equal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    way: &'static str,
    /// What the values are called, ascending. The first is empty: so is called what has no value.
    texts: Vec<Box<str>>,
    of: Vec<u32>,
}

impl Ranks {
    /// The ranks of values, in the order of their codes.
    pub(crate) fn new(way: &'static str, called: impl Iterator<Item = String>) -> Self {
        let called: Vec<String> = called.collect();
        let mut texts: Vec<&str> = called.iter().map(String::as_str).chain([""]).collect();
        texts.sort_unstable();
        texts.dedup();
        let rank = |text: &String| {
            let at = texts.binary_search(&text.as_str()).unwrap_or_default();
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        Self { way, of: called.iter().map(rank).collect(), texts: texts.into_iter().map(Box::from).collect() }
    }

    fn of(&self, code: Code) -> u32 {
        self.of.get(code as usize).copied().unwrap_or(0)
    }

    fn text(&self, rank: u32) -> &str {
        self.texts.get(rank as usize).map_or("", |text| text)
    }

    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.of.capacity() * 4 + self.texts.iter().map(|text| text.len() + 16).sum::<usize>()
    }
}
