//! Everything that is wrong with a query.

use std::fmt;

use kernel::document::Object;
use kernel::text::excerpt;

/// How many unknown names, and how many other complaints, an answer repeats. The rest is counted.
const MAXIMUM_REPORTED: usize = 32;

/// Everything that is wrong with the query of a list.
///
/// Its text is the message of the answer; [`ListQueryError::write`] writes the answer's member `errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQueryError {
    /// The names that are no filters of the list.
    pub(super) names: Reported,
    /// Each filter with a wrong value, and a text that names the allowed values.
    pub(super) values: Vec<(String, String)>,
    /// What is wrong with parameters that are no filters: whole sentences without a full stop.
    pub(super) parameters: Reported,
}

/// Different texts, the first [`MAXIMUM_REPORTED`] of them, and how many came behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reported {
    pub(super) texts: Vec<String>,
    more: usize,
}

impl Reported {
    fn add(&mut self, text: String) {
        if self.texts.contains(&text) {
            return;
        }
        if self.texts.len() < MAXIMUM_REPORTED {
            self.texts.push(text);
        } else {
            self.more += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The texts in one, and the number of those that are not among them.
    fn joined(&self, separator: &str) -> String {
        let more = if self.more == 0 { String::new() } else { format!(" and {} more", self.more) };
        self.texts.join(separator) + &more
    }
}

impl ListQueryError {
    /// What is wrong with a parameter that is no filter, alone.
    pub fn of(complaint: &str) -> Self {
        let mut error = Self::default();
        error.parameter(complaint);
        error
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.values.is_empty() && self.parameters.is_empty()
    }

    /// Writes the member `errors`, unless no filter is wrong.
    pub fn write(&self, object: &mut Object<'_>) {
        if self.names.is_empty() && self.values.is_empty() {
            return;
        }
        object.object("errors", |errors| {
            if !self.names.is_empty() {
                errors.text("invalid_filter_names", &self.names.texts.join(","));
            }
            if !self.values.is_empty() {
                errors.object("invalid_filter_values", |values| {
                    self.values.iter().for_each(|(name, allowed)| values.text(name, allowed));
                });
            }
        });
    }

    /// Notes a name that is no filter, once; of a long name its beginning.
    pub(super) fn name(&mut self, name: &str) {
        self.names.add(excerpt(name));
    }

    /// Notes a wrong value of a filter; the first complaint about a filter stands, so that names stay single.
    pub(super) fn value(&mut self, name: &str, allowed: impl Into<String>) {
        if !self.values.iter().any(|(held, _)| held == name) {
            self.values.push((name.to_owned(), allowed.into()));
        }
    }

    /// Notes what is wrong with a parameter that is no filter.
    pub(super) fn parameter(&mut self, complaint: impl Into<String>) {
        self.parameters.add(complaint.into());
    }
}

impl fmt::Display for ListQueryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = (!self.parameters.is_empty()).then(|| self.parameters.joined("; "));
        let unknown = (!self.names.is_empty()).then(|| format!("unknown filters: {}", self.names.joined(",")));
        let values = self.values.iter().map(|(name, allowed)| format!("{name} {allowed}"));
        let complaints: Vec<String> = parameters.into_iter().chain(unknown).chain(values).collect();
        write!(formatter, "The query is not valid: {}.", complaints.join("; "))
    }
}

impl std::error::Error for ListQueryError {}
