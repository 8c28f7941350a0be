//! Validates answers (contract, section 6).
//!
//! - [`check_answer`] asks for the shape alone. Whatever is stored has it, so that an export always is a good import,
//!   whatever options and limits have changed since.
//! - [`validate_answer`] is for what people give: it asks for options that the field has and for a length within its limits
//!   as well. Files are uploaded; content and formulas take no answer.
//! - An answer that is empty is none ([`is_answered`]), and no limit speaks of it. Whether a field needs one is asked when
//!   a record is submitted, of the fields that are shown.
//! - Characters are what a reader takes for one (grapheme clusters), words are those of Unicode's UAX 29.
//! - A table is changed cell by cell ([`merged`]); every other answer is replaced.
//! - How long answers and the records that have them may be is a setting ([`Lengths`]): what is stored is shown in one piece.

use std::borrow::Cow;
use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{Field, FieldType, Limits, file_types};
use kernel::input::{self, Wrong, all_well};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Date, Money, Timestamp, excerpt, is_country, is_email, is_phone, is_web_address};

/// The most characters of a text that has no smaller limit, and of a cell.
const ANSWER_LENGTH: usize = 1_048_576;
/// The most names in a message.
const NAMED: usize = 20;
/// The most cells of a table.
const CELLS: usize = 100_000;

/// The most bytes of what people write.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    /// The most bytes of an answer to a field.
    pub answer: usize,
    /// The most bytes of an entry with all that it shows.
    pub entry: usize,
}

impl Default for Lengths {
    /// Those of a deployment that sets nothing.
    fn default() -> Self {
        Self { answer: 1 << 20, entry: 8 << 20 }
    }
}

impl Lengths {
    /// Whether an answer is no longer than it may be.
    pub fn check_answer(&self, answer: &Json) -> Result<(), String> {
        check_length(answer.length(), self.answer)
    }

    /// The same of an entry, or of the answers of something else.
    pub fn check_entry(&self, length: usize) -> Result<(), String> {
        check_length(length, self.entry)
    }
}

fn check_length(length: usize, most: usize) -> Result<(), String> {
    if length <= most { Ok(()) } else { Err(format!("must have at most {most} bytes in all, and has {length}")) }
}

/// Whether an answer says anything. Nobody has ticked a checkbox that is false.
pub fn is_answered(kind: FieldType, value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(ticked) => *ticked || kind != FieldType::Checkbox,
        Json::Number(_) => true,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(cells) => cells.iter().any(|(_, text)| text.as_str() != Some("")),
    }
}

/// Whether a value has the shape of an answer to a field; null is no answer and always has it.
pub fn check_answer(field: &Field, value: &Json) -> Result<(), Wrong<()>> {
    if value.is_null() {
        return Ok(());
    }
    let checked = match field.kind {
        FieldType::Checkbox => input::flag(value).map(drop),
        FieldType::CheckboxList => {
            let chosen = input::list(super::OPTIONS, input::text(super::TEXT_LENGTH))(value);
            return chosen.map(drop).map_err(Wrong::of_part);
        }
        FieldType::Content => Err("must be left out: content has no answer".to_owned()),
        FieldType::Formula => Err("must be left out: a formula is computed".to_owned()),
        FieldType::Country => shaped(value, is_country, "the code of a country, as in ISO 3166-1 alpha-2"),
        FieldType::Currency | FieldType::Numeric => number(field, value),
        FieldType::Date => input::date(value).map(drop),
        FieldType::DateTime => {
            shaped(value, is_date_time, "a date and time such as 2026-01-31 08:30 or 2026-01-31T08:30:00Z")
        }
        FieldType::Time => shaped(value, is_time, "a time such as 08:30"),
        FieldType::Radio | FieldType::DropDownList => shaped(value, |_| true, "the value of an option"),
        FieldType::Email => shaped(value, is_email, "an e-mail address"),
        FieldType::Phone => shaped(value, is_phone, "a telephone number as in E.164, such as +441632960123"),
        FieldType::Url => shaped(value, is_web_address, "an address that begins with https://"),
        FieldType::Table => return table(value),
        FieldType::File => input::token(value).map(drop),
        FieldType::Text | FieldType::Textarea | FieldType::Lookup => input::text(ANSWER_LENGTH)(value).map(drop),
    };
    Ok(checked?)
}

/// Whether a value can be given as the answer to a field now. The empty string and null take an answer back.
pub fn validate_answer(field: &Field, value: &Json) -> Result<(), Wrong<()>> {
    if value.as_str() == Some("") && !matches!(field.kind, FieldType::Content | FieldType::Formula) {
        return Ok(());
    }
    if field.is_file() {
        return if value.is_null() { Ok(()) } else { Err("must be uploaded as a file".to_owned().into()) };
    }
    match field.kind {
        FieldType::CheckboxList => input::both(check_answer(field, value), is_option(field, value))?,
        _ => check_answer(field, value).and_then(|()| is_option(field, value))?,
    }
    match value {
        Json::String(text) if field.kind.has_limits() => within(&field.limits, text),
        Json::Object(cells) => columns(field, cells),
        _ => Ok(()),
    }
}

/// Whether what is chosen is among the options of a field, each of them once; nothing is asked of fields that take none, or any text.
pub(super) fn is_option(field: &Field, value: &Json) -> Result<(), Wrong<()>> {
    if !field.kind.has_options() || (field.kind == FieldType::Lookup && field.options.is_empty()) {
        return Ok(());
    }
    let chosen: Vec<&str> = match value {
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let mut messages = Vec::new();
    if !chosen.iter().all(|value| field.options.iter().any(|option| option.value == *value)) {
        messages.push(format!(
            "must be of the field's options: {}",
            some(field.options.iter().map(|option| &option.value))
        ));
    }
    for twice in input::twice(chosen.into_iter()) {
        messages.push(format!("names {} twice", excerpt(twice)));
    }
    all_well(messages)
}

/// The first of these, and whether there are more.
fn some<T: AsRef<str>>(mut names: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for (index, name) in names.by_ref().take(NAMED).enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        text.push_str(&excerpt(name.as_ref()));
    }
    if names.next().is_some() { text + ", …" } else { text }
}

fn shaped(value: &Json, is: fn(&str) -> bool, what: &str) -> Result<(), String> {
    if value.as_str().is_some_and(is) { Ok(()) } else { Err(format!("must be {what}")) }
}

fn number(field: &Field, value: &Json) -> Result<(), String> {
    let text = value.as_number().ok_or_else(|| "must be a number".to_owned())?;
    match field.currency {
        Some(currency) if field.kind == FieldType::Currency => {
            Money::parse(text, currency).map(drop).map_err(|error| format!("is wrong: {error}"))
        }
        // Beyond that the number of a client would be none.
        _ if text.parse::<f64>().is_ok_and(f64::is_finite) && text.len() <= 400 => Ok(()),
        _ => Err("must be a number that is not as large".to_owned()),
    }
}

fn table(value: &Json) -> Result<(), Wrong<()>> {
    let cells = value.as_object().ok_or_else(|| "must be a map of cells such as A1 to strings".to_owned())?;
    if cells.len() > CELLS {
        return Err(format!("must have at most {CELLS} cells").into());
    }
    let mut messages = Vec::new();
    for (reference, text) in cells.iter() {
        if cell(reference).is_none() {
            let reference = excerpt(reference);
            messages.push(format!("has the cell {reference}, which is no column's key and the number of a row"));
        } else if let Err(message) = input::text(ANSWER_LENGTH)(text) {
            messages.push(format!("has the cell {}, which {message}", excerpt(reference)));
        }
    }
    all_well(messages)
}

/// Whether every cell is one of a column. A cell of a column that is no more can still be cleared.
fn columns(field: &Field, cells: &JsonObject) -> Result<(), Wrong<()>> {
    let is_of_none = |reference: &str| {
        let key = cell(reference).map(|(key, _)| key);
        !field.columns.iter().any(|column| Some(column.key.as_str()) == key)
    };
    let filled = cells.iter().filter(|(_, text)| text.as_str() != Some(""));
    let mut wrong = filled.map(|(reference, _)| reference).filter(|reference| is_of_none(reference)).peekable();
    if wrong.peek().is_none() {
        return Ok(());
    }
    let keys = some(field.columns.iter().map(|column| &column.key));
    Err(format!("has cells of no column: {}; the columns are {keys}", some(wrong)).into())
}

/// Whether cells can begin with a key: it must not end in a digit, or the row's number would have no beginning.
pub(super) fn is_column_key(key: &str) -> bool {
    key.bytes().last().is_some_and(|byte| !byte.is_ascii_digit())
}

/// The parts of a cell's reference: the key of the column, and the number of the row from 1.
pub(super) fn cell(reference: &str) -> Option<(&str, u32)> {
    let key = reference.trim_end_matches(|character: char| character.is_ascii_digit());
    let row = &reference[key.len()..];
    if key.is_empty() || row.starts_with('0') { None } else { Some((key, row.parse().ok()?)) }
}

fn is_date_time(text: &str) -> bool {
    let written = text.split_once(' ').is_some_and(|(date, time)| Date::parse(date).is_some() && is_time(time));
    // Times with another offset, or with a blank before it, are no form of the contract (section 6).
    let is_time_stamp = text.as_bytes().get(10) == Some(&b'T') && text.ends_with('Z');
    written || (is_time_stamp && Timestamp::parse(text).is_some())
}

fn is_time(text: &str) -> bool {
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':')
        .is_some_and(|(hours, minutes)| two_digits(hours) && two_digits(minutes) && hours < "24" && minutes < "60")
}

/// The number of characters that a reader counts.
pub(super) fn characters(text: &str) -> usize {
    text.graphemes(true).count()
}

/// The number of words.
pub(super) fn words(text: &str) -> usize {
    text.unicode_words().count()
}

/// Whether a text that is not empty is as long as it must be and no longer.
fn within(limits: &Limits, text: &str) -> Result<(), Wrong<()>> {
    let mut wrong = Vec::new();
    let Limits { maximum_characters, maximum_words, minimum_characters, minimum_words } = *limits;
    for (minimum, maximum, count, what) in [
        (minimum_characters, maximum_characters, characters as fn(&str) -> usize, "characters"),
        (minimum_words, maximum_words, words, "words"),
    ] {
        if minimum.is_none() && maximum.is_none() {
            continue;
        }
        let count = i64::try_from(count(text)).unwrap_or(i64::MAX);
        if let Some(minimum) = minimum.filter(|minimum| count < *minimum) {
            wrong.push(format!("must have at least {minimum} {what}, and has {count}"));
        }
        if let Some(maximum) = maximum.filter(|maximum| count > *maximum) {
            wrong.push(format!("must have at most {maximum} {what}, and has {count}"));
        }
    }
    all_well(wrong)
}

/// The answer to a field after another one was given; nothing where that takes it back. The cells of a table are merged:
/// `""` clears one.
pub fn merged<'a>(kind: FieldType, before: Option<&'a Json<'a>>, given: &'a Json<'a>) -> Option<Json<'static>> {
    match (before, given) {
        (Some(Json::Object(before)), Json::Object(given)) if kind == FieldType::Table => {
            cells(before.iter().chain(given.iter()))
        }
        (_, Json::Object(given)) if kind == FieldType::Table => cells(given.iter()),
        (_, Json::Null) => None,
        (_, Json::String(text)) if text.is_empty() => None,
        (_, given) => Some(given.clone().into_owned()),
    }
}

/// A table of these cells, later ones in place of earlier ones, in the order in which it is read.
fn cells<'c>(cells: impl Iterator<Item = (&'c str, &'c Json<'c>)>) -> Option<Json<'static>> {
    let mut filled = BTreeMap::new();
    for (reference, text) in cells {
        filled.insert((cell(reference).map(|(_, row)| row), reference), text);
    }
    filled.retain(|_, text| text.as_str() != Some(""));
    let members =
        filled.into_iter().map(|((_, reference), text)| (Cow::Owned(reference.to_owned()), text.clone().into_owned()));
    let table = JsonObject::of_distinct(members);
    if table.is_empty() { None } else { Some(Json::Object(table)) }
}

/// Whether a file can be given as the answer to a field: its name, the type that its content tells, its number of bytes.
/// Everything that is wrong with it.
pub fn validate_file(field: &Field, filename: &str, mime: &str, size: i64) -> Result<(), Wrong<()>> {
    let mut wrong = Vec::new();
    if !file_types::takes(&field.file_types, filename, mime) {
        wrong.push(format!("must be a file of one of the types {}, and is {mime}", field.file_types.join(", ")));
    }
    if let Some(maximum) = field.max_file_size.filter(|maximum| size > *maximum) {
        wrong.push(format!("must have at most {maximum} bytes, and has {size}"));
    }
    all_well(wrong)
}

#[cfg(test)]
mod tests;
