//! The values of a column, each with a number.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::{Code, UNKNOWN};

/// The values that a column has ever had, by number.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    texts: Vec<Arc<str>>,
    codes: HashMap<Arc<str>, Code, RandomState>,
    bytes: usize,
    last: Code,
}

impl Dictionary {
    /// The number of a value, which is given one where it has none.
    pub(crate) fn add(&mut self, text: &str) -> Code {
        // Neighbours are often alike.
        if self.texts.get(self.last as usize).is_some_and(|last| **last == *text) {
            return self.last;
        }
        self.last = if let Some(code) = self.codes.get(text) {
            *code
        } else {
            let code = Code::try_from(self.texts.len()).unwrap_or(UNKNOWN);
            let text: Arc<str> = text.into();
            // The text with its two counters, a pointer in the list, and pointer and number in the map.
            self.bytes += text.len() + 64;
            self.texts.push(Arc::clone(&text));
            self.codes.insert(text, code);
            code
        };
        self.last
    }

    /// The number of a value; [`UNKNOWN`] where no record ever had it.
    pub(crate) fn code(&self, text: &str) -> Code {
        self.codes.get(text).copied().unwrap_or(UNKNOWN)
    }

    /// The value of a number.
    pub(crate) fn text(&self, code: Code) -> &str {
        self.texts.get(code as usize).map_or("", |text| text)
    }

    /// The values in the order of their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
