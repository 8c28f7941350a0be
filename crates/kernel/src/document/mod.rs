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
//!
//! The same writer makes the program-file form of a record, which has no slots: bare slugs and whole maps.

mod slot;
mod write;

pub use slot::{MARKER, ShownAs, Slot, Slots, people_of, slots};
pub use write::{List, Object, extended, object};

/// A whole document: the first one, with the members of the second one in their place.
#[must_use]
pub fn whole(doc: &str, detail: &str) -> String {
    let splice = format!("\"{MARKER}p\":0");
    let members = detail.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let Some(at) = memchr::memmem::find(doc.as_bytes(), splice.as_bytes()) else { return doc.to_owned() };
    [&doc[..at], members, &doc[at + splice.len()..]].concat()
}

/// What stands between the tags in XML for an object without slots.
#[must_use]
pub fn inner_xml(json: &str) -> Vec<u8> {
    let mut xml = Vec::with_capacity(json.len() * 2);
    xml_envelope::members(&mut xml, json, &xml_envelope::NoSlots);
    xml
}
