//! Verifies result bundles without a database: the same inputs must come to the same result, and the signature must be its own.

use serde_json::Value;

use super::bundle::{Content, FORM, Signed, text};
use super::results;
use crate::signing::results::{ALGORITHM, is_signed};
use kernel::json;

/// What a bundle that is right says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many entries have a place or none.
    pub entries: usize,
    /// The public key by which it was signed.
    pub public_key: String,
}

/// Verifies the text of a bundle; the first thing that is wrong, in a sentence. With a `key` it must be signed by that one.
pub fn verify(bundle: &[u8], key: Option<&str>) -> Result<Verified, String> {
    // Names that are there twice are refused, because one reader would take the first and another the last.
    json::parse_value(bundle).map_err(|error| format!("the file is no JSON: {error}"))?;
    let unreadable = |error: serde_json::Error| format!("the file is no result bundle: {error}");
    let Signed { bundle, signature } = serde_json::from_slice(bundle).map_err(unreadable)?;
    let signed = text(&bundle)?;
    let content: Content = serde_json::from_value(bundle.clone()).map_err(unreadable)?;
    if content.form != FORM {
        return Err(format!("form is {} and this program knows form {FORM}", content.form));
    }
    let records = content.inputs.records().map_err(|error| format!("inputs cannot be taken: {error}"))?;
    let results = results::of(&records)?;
    if let Some(difference) = of_results(&content.results, &results) {
        return Err(difference);
    }
    let entries = results.as_array().map_or(0, Vec::len);
    let made = serde_json::to_value(Content { results, ..content }).map_err(|error| error.to_string())?;
    if let Some(difference) = difference("", &bundle, &made) {
        return Err(difference);
    }
    if signature.algorithm != ALGORITHM {
        return Err(format!("signature.algorithm is {} and must be {ALGORITHM}", signature.algorithm));
    }
    if !is_signed(&signature.public_key, &signed, &signature.value) {
        return Err("signature.value is not the signature of the bundle by signature.public_key".to_owned());
    }
    if let Some(key) = key.filter(|key| !key.eq_ignore_ascii_case(&signature.public_key)) {
        return Err(format!("signature.public_key is {} and must be {key}", signature.public_key));
    }
    Ok(Verified { entries, public_key: signature.public_key })
}

/// The first difference of results, with the entry that it is about.
fn of_results(stated: &Value, made: &Value) -> Option<String> {
    let empty = Vec::new();
    let (Some(stated), made) = (stated.as_array(), made.as_array().unwrap_or(&empty)) else {
        return Some("results must be a list".to_owned());
    };
    for (number, (stated, made)) in (1..).zip(stated.iter().zip(made)) {
        let name = made.get("entry").and_then(Value::as_str).unwrap_or_default();
        let at = format!("results.{number} (entry {name})");
        if let Some(difference) = difference(&at, stated, made) {
            return Some(difference);
        }
    }
    (stated.len() != made.len()).then(|| format!("results has {} entries and must have {}", stated.len(), made.len()))
}

/// The first difference of two values below a path.
fn difference(path: &str, stated: &Value, made: &Value) -> Option<String> {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (stated, made) {
        (Value::Object(stated), Value::Object(made)) => {
            let of_made = made.iter().find_map(|(name, made)| match stated.get(name) {
                Some(stated) => difference(&below(name), stated, made),
                None => Some(format!("{} is missing and must be {made}", below(name))),
            });
            let more = || stated.keys().find(|name| !made.contains_key(*name));
            of_made.or_else(|| more().map(|name| format!("{} must not be there", below(name))))
        }
        (Value::Array(stated), Value::Array(made)) if stated.len() == made.len() => (1..)
            .zip(stated.iter().zip(made))
            .find_map(|(number, (stated, made))| difference(&below(&number.to_string()), stated, made)),
        (stated, made) if stated == made => None,
        (stated, made) => Some(format!("{path} is {stated} and must be {made}")),
    }
}
