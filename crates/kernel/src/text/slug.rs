//! Identifiers: the slug of a record, the token of a file, an attachment or a review task.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::parsed::written_as_text;

/// The identifier of a record: exactly 8 ASCII letters, upper and lower case being different.
///
/// Slugs are ordered as their text is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slug([u8; Slug::LENGTH]);

/// As one number and not byte by byte: a page of a list looks up hundreds.
impl Hash for Slug {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(self.0));
    }
}

impl Slug {
    /// The number of letters of every slug.
    pub const LENGTH: usize = 8;

    /// The slug with this text, or nothing when the text is not 8 ASCII letters.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_letters(text.as_bytes().try_into().ok()?)
    }

    /// The slug of these 8 bytes, or nothing when one of them is not an ASCII letter.
    pub fn from_letters(letters: [u8; Self::LENGTH]) -> Option<Self> {
        letters.iter().all(u8::is_ascii_alphabetic).then_some(Self(letters))
    }

    /// The text of the slug.
    pub fn as_str(&self) -> &str {
        // The letters are ASCII by construction, so the default is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The letters of the slug.
    pub fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

written_as_text!(Slug, "a slug: a slug is exactly 8 letters from A to Z or a to z");

/// The identifier of a file, an attachment or a review task: 9 to 64 ASCII letters.
///
/// A token is never as short as a slug, so a path segment can be only one of the two.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(Box<str>);

impl Token {
    /// The token with this text, or nothing when the text is not 9 to 64 ASCII letters.
    pub fn parse(text: &str) -> Option<Self> {
        ((9..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic()))
            .then(|| Self(text.into()))
    }

    /// The text of the token.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

written_as_text!(Token, "a token: a token is 9 to 64 letters from A to Z or a to z");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slug_is_exactly_eight_letters() {
        assert_eq!(Slug::parse("AbCdEfGh").unwrap().as_str(), "AbCdEfGh");
        for wrong in ["", "AbCdEfG", "AbCdEfGhI", "AbCdEfG1", "AbCdEfG ", "AbCdEfÄ", "AbCd-fGh"] {
            assert_eq!(Slug::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_malformed_slug_is_named() {
        let error = serde_json::from_str::<Slug>("\"AbC\"").unwrap_err().to_string();
        assert!(error.starts_with("`AbC` is not a slug: a slug is exactly 8 letters"), "{error}");
        let error = serde_json::from_str::<Slug>("12").unwrap_err().to_string();
        assert!(error.contains("expected a string"), "{error}");
    }

    #[test]
    fn a_token_is_longer_than_a_slug() {
        assert_eq!(Token::parse("AbCdEfGh"), None);
        assert_eq!(Token::parse("AbCdEfGhI").unwrap().as_str(), "AbCdEfGhI");
        assert!(Token::parse(&"a".repeat(64)).is_some());
        assert_eq!(Token::parse(&"a".repeat(65)), None);
        assert_eq!(Token::parse("AbCdEfGh1"), None);
        assert!(serde_json::from_str::<Token>("\"short\"").is_err());
    }

    proptest! {
        #[test]
        fn letters_round_trip(text in "[A-Za-z]{8}") {
            let slug = Slug::parse(&text).unwrap();
            prop_assert_eq!(slug.to_string(), text.clone());
            prop_assert_eq!(serde_json::from_str::<Slug>(&format!("\"{text}\"")).unwrap(), slug);
            prop_assert_eq!(text.parse::<Slug>().unwrap(), slug);
        }

        #[test]
        fn slugs_are_ordered_as_their_text(left in "[A-Za-z]{8}", right in "[A-Za-z]{8}") {
            let order = Slug::parse(&left).cmp(&Slug::parse(&right));
            prop_assert_eq!(order, left.cmp(&right));
        }
    }
}
