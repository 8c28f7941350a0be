//! Why there is no document.

use std::fmt;

/// What is missing or wrong, by the business term of EN 16931 that needs it, and what to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The business term or group, such as `BT-40`.
    pub term: &'static str,
    /// What is missing or wrong and what to do about it.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(term: &'static str, message: impl Into<String>) -> Self {
        Self { term, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.term, self.message)
    }
}

impl std::error::Error for Fault {}
