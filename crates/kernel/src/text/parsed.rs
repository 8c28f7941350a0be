//! What the types have in common that are written as texts.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, Visitor};

/// A text that does not say what was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct Malformed {
    text: String,
    wanted: &'static str,
}

impl Malformed {
    pub(super) fn new(text: &str, wanted: &'static str) -> Self {
        Self { text: excerpt(text), wanted }
    }
}

/// The beginning of a text that is repeated in an error message, so that the message stays short.
pub fn excerpt(text: &str) -> String {
    cut(text, 64).into_owned()
}

/// A text of at most so many characters, and a sign where more followed.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Shows what a function writes, which is ASCII.
pub(super) fn show(formatter: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut out = Vec::with_capacity(32);
    write(&mut out);
    formatter.pad(&String::from_utf8_lossy(&out))
}

/// Reads a string and parses it, so that the error of the parser is the error of the deserialisation.
pub(super) struct Parsed<T>(pub(super) PhantomData<T>);

impl<T: FromStr<Err = Malformed>> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Implements `FromStr` and `Deserialize` by the function `parse` of a type, `Debug` and `Serialize` by its `Display`.
macro_rules! written_as_text {
    ($type:ident, $wanted:literal) => {
        impl std::str::FromStr for $type {
            type Err = crate::text::Malformed;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text).ok_or_else(|| crate::text::Malformed::new(text, $wanted))
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, formatter)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(crate::text::parsed::Parsed(std::marker::PhantomData))
            }
        }
    };
}
pub(super) use written_as_text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_cuts_between_characters() {
        assert_eq!(excerpt(&"é".repeat(65)), format!("{}…", "é".repeat(64)));
        assert_eq!(excerpt(&"é".repeat(64)), "é".repeat(64));
    }
}
