//! Writes JSON text as XML, without a tree in between.
//!
//! The input is JSON that this program wrote itself, hence valid, compact and of bounded depth (a nested value costs a
//! stack frame; 128 levels, the most that our reader of request bodies admits, are far from any limit). White space
//! between tokens is tolerated. Text that is no JSON gives output of no use, but neither a panic nor an endless loop, as
//! long as its depth is bounded too.
//!
//! # The mapping
//!
//! | JSON | XML |
//! |---|---|
//! | `"a":"text"` | `<a>text</a>`; the empty string is `<a></a>` |
//! | `"a":12.50`, `"a":true` | `<a>12.50</a>`, `<a>true</a>`: digits as they stand |
//! | `"a":null` | `<a xsi:nil="true"/>` |
//! | `"a":{"b":1}` | `<a><b>1</b></a>`; the empty object is `<a></a>` |
//! | `"a":[1,2]` | `<a>1</a><a>2</a>`; the empty list is `<a/>` |
//! | `"a":[[1,2],[]]` | `<a><a>1</a><a>2</a></a><a/>`: an item that is a list is one element that holds its items |
//!
//! What XML cannot tell apart (a list of one from its item, an empty list from an empty string to a parser that does
//! not keep the form of the tag, a number from a string) the documented type of the member does.
//!
//! # Names
//!
//! A name stands as it is when it begins with a letter or `_`, and goes on with these, digits, `-`, `.` and what else
//! every parser accepts in a name, whichever edition of XML 1.0 it follows. Any other UTF-16 code unit is written
//! `_xHHHH_`, with four upper-case hexadecimal digits; the colon is among them, so that no name gains a prefix.
//!
//! An underscore from which a reader would take such a sequence that is none is itself written `_x005F_`. The empty
//! name is `_x_`, and a member that is really called so is `_x005F_x_`. To decode, read `_x_` as the empty name, and
//! in any other name replace each `_xHHHH_` from left to right.
//!
//! # Text
//!
//! `&`, `<` and `>` become entities and a carriage return becomes `&#13;`, since a parser would turn it into a line
//! feed. What XML 1.0 forbids becomes U+FFFD: the control characters below U+0020 except tab, line feed and carriage
//! return; U+FFFE and U+FFFF; and surrogates without their other half, which JSON can spell.
//!
//! # Slots
//!
//! JSON text may have places that are filled only when it is shown, marked by a raw U+007F; see [`Slots`].

mod escape;
mod names;
mod scan;
mod sink;
mod string;
mod transcode;

use sink::Sink;
use transcode::{Name, Transcoder};

/// What fills the places that the JSON text leaves open.
///
/// A raw U+007F marks such a place; as the escape sequence `\u007f` it is ordinary text. What stands after the marker
/// up to the closing quotation mark is handed over as it stands in the JSON text.
pub trait Slots {
    /// Whether raw markers are slots at all; where they are not, they are ordinary text.
    const MARKED: bool = true;

    /// Fills a value: the string `"␡slot"` stands where the member `name` has its value.
    ///
    /// Writes the complete element or elements. `name` is escaped already.
    fn value(&self, out: &mut Vec<u8>, name: &str, slot: &str);

    /// Fills an object: `{"␡key":json}` stands where the member `name` has its value.
    ///
    /// It is the first member's name that makes an object a slot; members after it are left out. Writes the complete
    /// element or elements. `name` is escaped already, and `json` is the text of the marked member's value.
    fn object(&self, out: &mut Vec<u8>, name: &str, key: &str, json: &str);

    /// Fills a place among the members of an ordinary object: `"␡key":json` stands where a later member would.
    ///
    /// Writes any number of members. In [`members`], where the object has no name, this is so for the
    /// first member too.
    fn members(&self, out: &mut Vec<u8>, key: &str, json: &str);
}

/// No slots: a marker is an ordinary character.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSlots;

impl Slots for NoSlots {
    const MARKED: bool = false;

    fn value(&self, _out: &mut Vec<u8>, _name: &str, _slot: &str) {}

    fn object(&self, _out: &mut Vec<u8>, _name: &str, _key: &str, _json: &str) {}

    fn members(&self, _out: &mut Vec<u8>, _key: &str, _json: &str) {}
}

/// Appends the XML declaration and the opening tag of the root element.
pub fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
          <root xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">",
    );
}

/// Appends the closing tag of the root element.
pub fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"</root>");
}

/// Appends a member: its name, not escaped yet, and the JSON text of any value.
///
/// A list becomes one element per item, so this is none, one or many elements.
pub fn member<S: Slots>(out: &mut Vec<u8>, name: &str, json: &str, slots: &S) {
    let escaped;
    let name = if escape::is_plain(name) {
        Name::new(name)
    } else {
        escaped = escape::escaped(name.encode_utf16());
        Name::new(&escaped)
    };
    run(out, json, slots, |transcoder| {
        transcoder.element(0, name);
    });
}

/// Appends the members of an object, given as JSON text, without an element around them.
pub fn members<S: Slots>(out: &mut Vec<u8>, json_object: &str, slots: &S) {
    run(out, json_object, slots, Transcoder::bare_object);
}

/// Appends character data, escaped.
pub fn text(out: &mut Vec<u8>, text: &str) {
    if escape::is_plain_text(text.as_bytes()) {
        return out.extend_from_slice(text.as_bytes());
    }
    let mut sink = Sink::new(out);
    for character in text.chars() {
        escape::character(&mut sink, Some(character));
    }
    sink.finish();
}

fn run<'a, S: Slots>(out: &'a mut Vec<u8>, json: &'a str, slots: &'a S, write: impl FnOnce(&mut Transcoder<'a, S>)) {
    let mut transcoder = Transcoder::new(Sink::new(out), json, slots);
    write(&mut transcoder);
    transcoder.finish();
}
