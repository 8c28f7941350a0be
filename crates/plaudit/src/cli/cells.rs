//! Cells of spreadsheets.

use std::borrow::Cow;

/// A text of people as a cell that is no formula: one that a spreadsheet would take for one begins with an apostrophe.
pub(super) fn cell(text: &str) -> Cow<'_, str> {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}").into(),
        _ => text.into(),
    }
}
