//! The stored document: a record as JSON, in the order in which it is shown, with slots for what depends on the
//! program, the languages asked for and the address of the deployment.
//!
//! A slot is marked by a raw U+007F. The writer escapes that character in ordinary text, so a raw one is always a slot,
//! and finding all slots of a document is one `memchr`. The forms, with `␡` for the marker:
//!
//! | form | stands for |
//! |---|---|
//! | `"␡r<kind letter><slug>"` | a reference to a record of the program: `{slug, link, name}` |
//! | `"␡l<path>"` | an absolute address: the deployment's base address and the path |
//! | `"␡d<token>"` | a signed address of a file, good for a while |
//! | `"␡c<slug>"` | a reference to the parent of this category, or null |
//! | `"␡e<slug>"` | the entrant: `{slug, link, name, first_name, last_name, email, global_id}` of a user |
//! | `"␡u<slug>"` | the user of an order: the same without `global_id` |
//! | `"␡m<slug>"` | a manager of a chapter: `{slug, link, first_name, last_name}` of a user |
//! | `{"␡t<length>":{…}}` | a translated map, of which the locales asked for are shown; the length is that of the map |
//! | `{"␡a<length>":{…}}` | an answer map by field slug, shown as the array of answers; trashed fields are left out |
//! | `"␡p":0` as a member | the members of the record's second document, which only single reads show |
//! | `"␡h<length>":{…}` as the last member | what is stored of the record and never shown; nothing in an answer |
//!
//! The same writer makes the program-file form of a record, which has no slots: bare slugs and whole maps.

mod slot;
mod write;

use std::borrow::Cow;

pub use slot::{MARKER, ShownAs, Slot, Slots, people_of, slots};
pub use write::{List, Object, extended, object};

/// A whole document: the first one, with the members of the second one in their place.
pub fn whole(doc: &str, detail: &str) -> String {
    let splice = format!("\"{MARKER}p\":0");
    let members = detail.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let Some(at) = memchr::memmem::find(doc.as_bytes(), splice.as_bytes()) else { return doc.to_owned() };
    [&doc[..at], members, &doc[at + splice.len()..]].concat()
}

/// What is hidden in a document: where its slot begins, and the JSON text of the hidden members.
fn hidden_at(doc: &str) -> Option<(usize, &str)> {
    // Neither what is hidden nor what closes it has a marker, so that the last slot tells.
    let marker = memchr::memrchr(MARKER as u8, doc.as_bytes())?;
    let (head, hidden) = doc.get(marker + 1..)?.split_once("\":")?;
    head.starts_with('h').then_some((marker.checked_sub(1)?, hidden.strip_suffix('}')?))
}

/// The JSON text of the members that are hidden in a document, where there are any.
pub fn hidden(doc: &str) -> Option<&str> {
    hidden_at(doc).map(|(_, hidden)| hidden)
}

/// A document with its hidden members at its end, as if they were shown.
pub fn revealed(doc: &str) -> Cow<'_, str> {
    match hidden_at(doc) {
        Some((at, hidden)) => Cow::Owned([&doc[..at], hidden.strip_prefix('{').unwrap_or(hidden)].concat()),
        None => Cow::Borrowed(doc),
    }
}

/// What stands between the tags in XML for an object without slots.
pub fn inner_xml(json: &str) -> Vec<u8> {
    let mut xml = Vec::with_capacity(json.len() * 2);
    xml_envelope::members(&mut xml, json, &xml_envelope::NoSlots);
    xml
}

#[cfg(test)]
mod tests {
    use super::{hidden, object, revealed, whole};

    #[test]
    fn what_is_hidden_is_read_with_the_members_that_are_shown() {
        let made = object(|members| {
            members.text("title", "a \u{7f}h2\":{}");
            members.splice();
            members.hidden(|members| {
                members.flag("deleted", true);
                members.text("note", "}\u{7f}\"");
            });
        });
        let read = r#"{"title":"a \u007fh2\":{}","answer":{"a":{}},"deleted":true,"note":"}\u007f\""}"#;
        assert_eq!(revealed(&whole(&made, r#"{"answer":{"a":{}}}"#)), read);
        assert_eq!(hidden(&made), Some(r#"{"deleted":true,"note":"}\u007f\""}"#));
    }

    #[test]
    fn where_nothing_is_hidden_a_document_is_read_as_it_stands() {
        let made = object(|members| {
            members.splice();
            members.hidden(|_| ());
        });
        assert_eq!((revealed(&made).as_ref(), hidden(&made)), (made.as_str(), None));
        assert!(matches!(revealed(""), std::borrow::Cow::Borrowed("")));
    }
}
