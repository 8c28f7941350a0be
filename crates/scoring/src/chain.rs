//! A chain of records by which a change of any of them is found.
//!
//! - Each record carries the hash of the one before it as `prev`; the first carries 64 zeros.
//! - A record's hash is the SHA-256 of its canonical JSON after RFC 8785, in lower-case hex. The last hash stands for
//!   the whole chain.
//! - Records have no fractions, and integers only up to 2^53 - 1 on either side, so that canonical numbers are their
//!   digits.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What stands before the first record.
pub const START: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const MAX_INTEGER: u64 = (1 << 53) - 1;

/// A number that has no canonical form here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not an integer of at most 53 bits")]
pub struct NotAnInteger(String);

/// A record in its chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The record, `prev` included.
    pub record: Map<String, Value>,
    /// Its hash.
    pub hash: String,
}

/// The canonical JSON of a value (RFC 8785): no blanks, members sorted by the UTF-16 units of their names.
pub fn canonical(value: &Value) -> Result<String, NotAnInteger> {
    let text = match value {
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
        Value::Number(number) => {
            let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            let fits = magnitude.is_some_and(|magnitude| magnitude <= MAX_INTEGER);
            fits.then(|| number.to_string()).ok_or_else(|| NotAnInteger(number.to_string()))?
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(canonical).collect::<Result<Vec<_>, _>>()?.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            let member =
                |(name, value): (&String, &Value)| Ok(format!("{}:{}", Value::from(name.as_str()), canonical(value)?));
            format!("{{{}}}", members.into_iter().map(member).collect::<Result<Vec<_>, _>>()?.join(","))
        }
    };
    Ok(text)
}

/// Puts a record behind the one with this hash, or behind [`START`].
pub fn link(mut record: Map<String, Value>, previous: &str) -> Result<Link, NotAnInteger> {
    record.insert("prev".to_owned(), Value::from(previous));
    let hash = hex::encode(Sha256::digest(canonical(&Value::Object(record.clone()))?));
    Ok(Link { record, hash })
}

/// The index of the first record that does not follow from the one before it and have the hash that stands with it.
pub fn first_broken(links: &[Link]) -> Option<usize> {
    let previous = std::iter::once(START).chain(links.iter().map(|link| link.hash.as_str()));
    links
        .iter()
        .zip(previous)
        .position(|(stored, previous)| link(stored.record.clone(), previous).as_ref() != Ok(stored))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_canonical_form_is_sorted_and_escapes_as_little_as_it_can() {
        let sorted = canonical(&json!({"\u{fb33}": -7, "\u{1f600}": {}, "\u{20ac}": [1, null], "\r": true}));
        assert_eq!(sorted.as_deref(), Ok("{\"\\r\":true,\"\u{20ac}\":[1,null],\"\u{1f600}\":{},\"\u{fb33}\":-7}"));
        let escaped = canonical(&json!("a/\"\\\n\u{1f}\u{7f}é"));
        assert_eq!(escaped.as_deref(), Ok("\"a/\\\"\\\\\\n\\u001f\u{7f}é\""));
        assert!(canonical(&json!([0.5])).is_err());
        assert!(canonical(&json!(1_u64 << 53)).is_err());
    }

    proptest! {
        #[test]
        fn any_change_is_found_at_its_record(
            values in prop::collection::vec(0..9, 1..6),
            at: prop::sample::Index,
            what in 0..4,
        ) {
            let mut links: Vec<Link> = Vec::new();
            for value in &values {
                let previous = links.last().map_or(START, |link| &link.hash).to_owned();
                links.push(link(json!({"value": value}).as_object().unwrap().clone(), &previous).unwrap());
            }
            prop_assert_eq!(first_broken(&links), None);
            let at = at.index(links.len());
            match what {
                0 => drop(links[at].record.insert("value".to_owned(), json!(10))),
                1 => drop(links[at].record.remove("prev")),
                2 => links[at].hash.replace_range(..1, "x"),
                _ => {
                    let previous = if at == 0 { "x" } else { START };
                    links[at] = link(links[at].record.clone(), previous).unwrap();
                }
            }
            prop_assert_eq!(first_broken(&links), Some(at));
        }
    }
}
