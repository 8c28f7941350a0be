//! Reads members of stored documents whose form is one of these: slots, and exact JSON text.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use kernel::document::{MARKER, Slot};
use kernel::text::Slug;

/// The slug of the record that a string of a stored document refers to.
fn reference_of(text: &str) -> Option<Slug> {
    match Slot::of_string(text.strip_prefix(MARKER)?)? {
        Slot::Reference(_, slug) => Slug::parse(slug),
        _ => None,
    }
}

/// What a slot refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Referred(pub(crate) Slug);

impl<'de> Deserialize<'de> for Referred {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A slot has no escapes, so that it is borrowed.
        let text = <&str>::deserialize(deserializer)?;
        reference_of(text).map(Self).ok_or_else(|| D::Error::custom("expected a slot with a slug"))
    }
}

/// Reads a member that is the slot of a record.
pub(crate) fn reference<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slug, D::Error> {
    Referred::deserialize(deserializer).map(|referred| referred.0)
}

/// Reads a member that is the slot of a person.
pub(crate) fn person<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Slug, D::Error> {
    let text = <&str>::deserialize(deserializer)?;
    let slug = match text.strip_prefix(MARKER).and_then(Slot::of_string) {
        Some(Slot::Person { slug, .. }) => Slug::parse(slug),
        _ => None,
    };
    slug.ok_or_else(|| D::Error::custom("expected the slot of a person"))
}

/// Reads a member that is a list of slots.
pub(crate) fn references<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Slug>, D::Error> {
    let referred: Vec<Referred> = Deserialize::deserialize(deserializer)?;
    Ok(referred.into_iter().map(|referred| referred.0).collect())
}

/// Reads a member as it is written.
pub(crate) fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    <&RawValue>::deserialize(deserializer).map(|raw| raw.get().to_owned())
}
