//! Values that many records share, each with a number.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::{Code, UNKNOWN};

/// The values that a column has ever had, each held once, by number.
#[derive(Debug)]
pub(crate) struct Interned<T: ?Sized> {
    values: IndexSet<Box<T>, RandomState>,
    bytes: usize,
    last: Code,
}

/// The texts of a column.
pub(crate) type Dictionary = Interned<str>;

impl<T: ?Sized> Default for Interned<T> {
    fn default() -> Self {
        Self { values: IndexSet::default(), bytes: 0, last: 0 }
    }
}

impl<T: ?Sized + Eq + Hash> Interned<T>
where
    for<'v> Box<T>: From<&'v T>,
{
    /// The number of a value, which is given one where it has none.
    pub(crate) fn add(&mut self, value: &T) -> Code {
        // Neighbours are often alike.
        if self.get(self.last).is_some_and(|last| last == value) {
            return self.last;
        }
        self.last = self.code(value);
        if self.last == UNKNOWN {
            // The value, and in the set its pointer with its length, its hash and its number.
            self.bytes += size_of_val(value) + 48;
            let (at, _) = self.values.insert_full(value.into());
            self.last = Code::try_from(at).unwrap_or(UNKNOWN);
        }
        self.last
    }

    /// The number of a value; [`UNKNOWN`] where no record ever had it.
    pub(crate) fn code(&self, value: &T) -> Code {
        self.values.get_index_of(value).and_then(|at| Code::try_from(at).ok()).unwrap_or(UNKNOWN)
    }
}

impl<T: ?Sized> Interned<T> {
    /// The value of a number.
    pub(crate) fn get(&self, code: Code) -> Option<&T> {
        self.values.get_index(code as usize).map(|value| &**value)
    }

    /// The values in the order of their numbers.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|value| &**value)
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Dictionary {
    /// The value of a number; empty where there is none.
    pub(crate) fn text(&self, code: Code) -> &str {
        self.get(code).unwrap_or_default()
    }
}
