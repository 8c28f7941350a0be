//! Conditional requests (RFC 9110, section 13).
//!
//! The `ETag` of a record is `"<revision>.<version of the program>.<hash of the document>.<representation>"`, with the
//! names of others and the end of addresses behind it where it shows some. `If-None-Match` compares all of it, because all of it decides the bytes. `If-Match` compares the revision alone: it asks whether somebody else
//! changed the record, in whatever language or format its tag was read.
//!
//! For the key of a person who does not see everything the tag of a record is `"<hash of what is shown of it, whatever the
//! format and languages>.<hash of the answer>"`, and `If-Match` compares the first: neither tells of what is not shown.

use axum::http::{HeaderMap, HeaderValue, header};

/// The condition of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IfMatch {
    /// `*`: any record that exists.
    Any,
    /// The states of the tags that were named; tags that are not ours match nothing.
    States(Vec<String>),
}

impl IfMatch {
    /// The condition that a request carries, if it carries one.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(header::IF_MATCH).iter().peekable();
        values.peek()?;
        let tags: Vec<&str> = tags(values).collect();
        if tags == ["*"] {
            return Some(Self::Any);
        }
        // A weak tag never matches (RFC 9110, section 13.1.1); it does not begin with a quotation mark.
        let state = |tag: &&str| Some(tag.strip_prefix('"')?.split('.').next()?.to_owned());
        Some(Self::States(tags.iter().filter_map(state).collect()))
    }

    /// Whether a record fulfils the condition whose tag begins with this: its revision, or the hash of what is shown of it.
    pub(super) fn holds(&self, state: &str) -> bool {
        match self {
            Self::Any => true,
            Self::States(states) => states.iter().any(|named| named == state),
        }
    }
}

/// Whether the client has the representation with this tag (without quotes) already.
pub(super) fn none_match(known: &[HeaderValue], etag: &str) -> bool {
    // The comparison is weak (RFC 9110, section 13.1.2).
    tags(known).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"') == etag)
}

fn tags<'h>(values: impl IntoIterator<Item = &'h HeaderValue>) -> impl Iterator<Item = &'h str> {
    // Our tags hold no comma, so that a list can be split at commas.
    values.into_iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn if_match(value: &'static str) -> Option<IfMatch> {
        IfMatch::of(&HeaderMap::from_iter([(header::IF_MATCH, HeaderValue::from_static(value))]))
    }

    #[test]
    fn if_match_compares_the_revision_alone() {
        let condition = if_match("\"6.1.j\", \"7.2.x\"").unwrap();
        assert!(condition.holds("7") && condition.holds("6"));
        assert!(!condition.holds("8"));
        assert!(!if_match("W/\"7.1.j\"").unwrap().holds("7"));
        assert!(!if_match("\"other\"").unwrap().holds("7"));
        assert!(if_match("*").unwrap().holds("7"));
        assert_eq!(IfMatch::of(&HeaderMap::new()), None);
    }

    #[test]
    fn if_none_match_compares_the_whole_tag() {
        assert!(none_match(&[HeaderValue::from_static("\"7.1.j\"")], "7.1.j"));
        assert!(none_match(&[HeaderValue::from_static("W/\"7.1.j\"")], "7.1.j"));
        assert!(!none_match(&[HeaderValue::from_static("\"7.2.j\"")], "7.1.j"));
        assert!(!none_match(&[], "7.1.j"));
    }
}
