//! Everything that is wrong with a query.

use std::fmt;

use kernel::text::{excerpt, write_json_string};

/// How many unknown names, and how many other complaints, an answer repeats. The rest is counted.
const MAXIMUM_REPORTED: usize = 32;

/// Everything that is wrong with the query of a list.
///
/// Its text is the message of the answer; [`ListQueryError::write_errors`] is the answer's member `errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQueryError {
    names: Reported,
    values: Vec<(String, String)>,
    parameters: Reported,
}

/// Different texts, the first [`MAXIMUM_REPORTED`] of them, and how many came behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Reported {
    texts: Vec<String>,
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
    #[must_use]
    pub fn of(complaint: &str) -> Self {
        let mut error = Self::default();
        error.parameter(complaint);
        error
    }

    /// The first names that are no filters of the list, between commas; nothing when there are none.
    #[must_use]
    pub fn invalid_filter_names(&self) -> Option<String> {
        (!self.names.is_empty()).then(|| self.names.texts.join(","))
    }

    /// Each filter with a wrong value, and a text that names the allowed values.
    #[must_use]
    pub fn invalid_filter_values(&self) -> &[(String, String)] {
        &self.values
    }

    /// What is wrong with parameters that are no filters: whole sentences without a full stop.
    #[must_use]
    pub fn parameters(&self) -> &[String] {
        &self.parameters.texts
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.values.is_empty() && self.parameters.is_empty()
    }

    /// Appends the member `errors` as a JSON object; false, with nothing appended, when no filter is wrong.
    pub fn write_errors(&self, out: &mut Vec<u8>) -> bool {
        if self.names.is_empty() && self.values.is_empty() {
            return false;
        }
        out.push(b'{');
        if let Some(names) = self.invalid_filter_names() {
            out.extend_from_slice(b"\"invalid_filter_names\":");
            write_json_string(&names, out);
        }
        if !self.values.is_empty() {
            if !self.names.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(b"\"invalid_filter_values\":{");
            for (index, (name, allowed)) in self.values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_json_string(name, out);
                out.push(b':');
                write_json_string(allowed, out);
            }
            out.push(b'}');
        }
        out.push(b'}');
        true
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
