//! JSON as people send it: request bodies and lines of an import, read strictly and without loss.
//!
//! The parser refuses what a lenient one would decide silently: a member that comes twice, text that is not
//! UTF-8, a byte order mark, anything after the value. Numbers keep their text, so that amounts of money and
//! long integers never pass through a binary fraction.

mod parser;
mod raw;

use std::borrow::Cow;
use std::fmt;

use crate::text::{parse_scaled, write_json_string};

pub use raw::RawMembers;

/// How deep arrays and objects may be nested; the outermost one is the first level.
pub const MAXIMUM_DEPTH: usize = 64;

/// A JSON value. Texts without escapes are parts of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'s> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as its text in the source.
    Number(Cow<'s, str>),
    /// A string, its escapes resolved.
    String(Cow<'s, str>),
    /// An array.
    Array(Vec<Json<'s>>),
    /// An object.
    Object(Object<'s>),
}

/// A JSON object: its members in the order of the source, no two of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<'s> {
    members: Vec<(Cow<'s, str>, Json<'s>)>,
}

/// Reads a JSON object, the form of every request body.
///
/// ```text
/// {"status": "active", "status": "inactive"}
///                      ^ line 1, column 22: the member `status` is given twice
/// ```
pub fn parse_object(bytes: &[u8]) -> Result<Object<'_>, BodyError> {
    object_of(parse_value(bytes)?)
}

/// Reads a JSON object that this program has written, so that no member comes twice.
pub fn parse_own(text: &str) -> Result<Object<'_>, BodyError> {
    object_of(parser::parse_own(text)?)
}

fn object_of(value: Json<'_>) -> Result<Object<'_>, BodyError> {
    match value {
        Json::Object(object) => Ok(object),
        other => Err(BodyError { line: 1, column: 1, problem: Problem::NotAnObject(other.type_name()) }),
    }
}

/// Reads a JSON value of any type.
pub fn parse_value(bytes: &[u8]) -> Result<Json<'_>, BodyError> {
    parser::parse(bytes)
}

/// Why bytes are not the JSON that is wanted, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct BodyError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing but blanks.
    #[error("there is no JSON value")]
    Empty,
    /// A byte that is not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// U+FEFF at the beginning.
    #[error("the text begins with a byte order mark")]
    ByteOrderMark,
    /// Something else was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Characters that begin like a number and are none.
    #[error("this is not a number")]
    Number,
    /// A backslash that JSON does not know.
    #[error("this is not an escape sequence")]
    Escape,
    /// Half of a surrogate pair.
    #[error("this escape sequence is half a character")]
    LoneSurrogate,
    /// A raw control character in a string.
    #[error("a control character in a string must be escaped")]
    ControlCharacter,
    /// A string without its closing quote.
    #[error("the string has no end")]
    EndlessString,
    /// Two members of one name.
    #[error("the member `{0}` is given twice")]
    DuplicateName(String),
    /// Text after the value.
    #[error("nothing may follow the value")]
    TrailingData,
    /// Arrays and objects nested beyond [`MAXIMUM_DEPTH`].
    #[error("values are nested more than {MAXIMUM_DEPTH} deep")]
    TooDeep,
    /// A value of another type where an object is wanted.
    #[error("expected an object, not {0}")]
    NotAnObject(&'static str),
}

impl<'s> Json<'s> {
    /// What the value is, with its article, for messages: `a string`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Whether the value is `null`.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value of a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a number as it stood in the source.
    pub fn as_number(&self) -> Option<&str> {
        match self {
            Self::Number(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number that is exactly an integer of 64 bits; `1.0` and `1e2` are.
    pub fn as_i64(&self) -> Option<i64> {
        parse_scaled(self.as_number()?, 0).ok()
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Json<'s>]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The object, when the value is one.
    pub const fn as_object(&self) -> Option<&Object<'s>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Json<'s>> {
        self.as_object()?.get(name)
    }

    /// The value with texts of its own, for what outlives the source.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(text) => Json::Number(Cow::Owned(text.into_owned())),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(elements) => Json::Array(elements.into_iter().map(Json::into_owned).collect()),
            Self::Object(object) => Json::Object(object.into_owned()),
        }
    }

    /// How many bytes its texts, names and numbers have together, without what stands around them.
    pub fn length(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 0,
            Self::Number(text) | Self::String(text) => text.len(),
            Self::Array(elements) => elements.iter().map(Json::length).sum(),
            Self::Object(object) => object.iter().map(|(name, value)| name.len() + value.length()).sum(),
        }
    }

    /// Appends the value as compact JSON, numbers as their text (see [`write_json_string`] for strings).
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(text) => out.extend_from_slice(text.as_bytes()),
            Self::String(text) => write_json_string(text, out),
            Self::Array(elements) => {
                out.push(b'[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    element.write_json(out);
                }
                out.push(b']');
            }
            Self::Object(object) => object.write_json(out),
        }
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write_json(&mut out);
        formatter.write_str(&String::from_utf8_lossy(&out))
    }
}

impl<'s> From<Object<'s>> for Json<'s> {
    fn from(object: Object<'s>) -> Self {
        Self::Object(object)
    }
}

impl<'s> Object<'s> {
    /// The empty object.
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// The object of members that are known to have names of their own.
    pub fn of_distinct(members: impl IntoIterator<Item = (Cow<'s, str>, Json<'s>)>) -> Self {
        Self { members: members.into_iter().collect() }
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Json<'s>> {
        self.members.iter().find(|(held, _)| held == name).map(|(_, value)| value)
    }

    /// Sets a member in its place, or at the end when its name is new; gives back the value it had.
    pub fn set(&mut self, name: impl Into<Cow<'s, str>>, value: Json<'s>) -> Option<Json<'s>> {
        let name = name.into();
        if let Some((_, held)) = self.members.iter_mut().find(|(held, _)| *held == name) {
            return Some(std::mem::replace(held, value));
        }
        self.members.push((name, value));
        None
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json<'s>> {
        let index = self.members.iter().position(|(held, _)| held == name)?;
        Some(self.members.remove(index).1)
    }

    /// The names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json<'s>)> + '_ {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the object has no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The member in this place; nothing behind the last.
    pub fn at(&self, index: usize) -> Option<(&str, &Json<'s>)> {
        self.members.get(index).map(|(name, value)| (&**name, value))
    }

    /// The object with texts of its own, for what outlives the source.
    pub fn into_owned(self) -> Object<'static> {
        let owned = |(name, value): (Cow<'_, str>, Json<'_>)| (Cow::Owned(name.into_owned()), value.into_owned());
        Object { members: self.members.into_iter().map(owned).collect() }
    }

    /// Appends the object as compact JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (name, value)) in self.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_json_string(name, out);
            out.push(b':');
            value.write_json(out);
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests;
