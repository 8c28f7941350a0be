//! Values that many records share, each with a number.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::{Code, UNKNOWN};

/// The values that a column has ever had, each held once, by number.
#[derive(Debug)]
pub(crate) struct Interned<T: ?Sized> {
    values: Vec<Arc<T>>,
    codes: HashMap<Arc<T>, Code, RandomState>,
    bytes: usize,
    last: Code,
}

/// The texts of a column.
pub(crate) type Dictionary = Interned<str>;

impl<T: ?Sized> Default for Interned<T> {
    fn default() -> Self {
        Self { values: Vec::new(), codes: HashMap::default(), bytes: 0, last: 0 }
    }
}

impl<T: ?Sized + Eq + Hash> Interned<T>
where
    for<'v> Arc<T>: From<&'v T>,
{
    /// The number of a value, which is given one where it has none.
    pub(crate) fn add(&mut self, value: &T) -> Code {
        // Neighbours are often alike.
        if self.get(self.last).is_some_and(|last| last == value) {
            return self.last;
        }
        self.last = if let Some(code) = self.codes.get(value) {
            *code
        } else {
            let code = Code::try_from(self.values.len()).unwrap_or(UNKNOWN);
            // The value with its two counters, a pointer in the list, and pointer and number in the map.
            self.bytes += size_of_val(value) + 64;
            let value: Arc<T> = value.into();
            self.values.push(Arc::clone(&value));
            self.codes.insert(value, code);
            code
        };
        self.last
    }

    /// The number of a value; [`UNKNOWN`] where no record ever had it.
    pub(crate) fn code(&self, value: &T) -> Code {
        self.codes.get(value).copied().unwrap_or(UNKNOWN)
    }
}

impl<T: ?Sized> Interned<T> {
    /// The value of a number.
    pub(crate) fn get(&self, code: Code) -> Option<&T> {
        self.values.get(code as usize).map(|value| &**value)
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
