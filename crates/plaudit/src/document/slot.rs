//! Finds the slots of a document.

use memchr::memchr;

/// What marks a slot.
pub const MARKER: char = '\u{7f}';

/// A place of a document that is filled when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot<'d> {
    /// A reference to a record of the program; the letter of its kind, and its slug.
    Reference(char, &'d str),
    /// A path below the deployment's base address.
    Link(&'d str),
    /// The token of a file.
    Download(&'d str),
    /// The category whose parent is shown.
    Parent(&'d str),
    /// The JSON text of a translated map.
    Translated(&'d str),
    /// The JSON text of an answer map.
    Answers(&'d str),
    /// The members of the second document.
    Splice,
}

impl<'d> Slot<'d> {
    /// A slot that is a string: what stands between the marker and the closing quotation mark.
    #[must_use]
    pub fn of_string(inside: &'d str) -> Option<Self> {
        match inside.as_bytes().first()? {
            b'r' => Some(Self::Reference(char::from(*inside.as_bytes().get(1)?), inside.get(2..)?)),
            b'l' => Some(Self::Link(&inside[1..])),
            b'd' => Some(Self::Download(&inside[1..])),
            b'c' => Some(Self::Parent(&inside[1..])),
            _ => None,
        }
    }

    /// A slot that is a member: what its name holds after the marker, and the JSON text of its value.
    #[must_use]
    pub fn of_member(name: &str, json: &'d str) -> Option<Self> {
        match name.as_bytes().first()? {
            b't' => Some(Self::Translated(json)),
            b'a' => Some(Self::Answers(json)),
            b'p' => Some(Self::Splice),
            _ => None,
        }
    }
}

/// The slots of a document in order: for each, the text before it and the slot; at last the rest, without a slot.
pub struct Slots<'d> {
    document: &'d str,
    done: bool,
}

/// Walks through a document from slot to slot.
#[must_use]
pub fn slots(document: &str) -> Slots<'_> {
    Slots { document, done: false }
}

impl<'d> Iterator for Slots<'d> {
    type Item = (&'d str, Option<Slot<'d>>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let found = memchr(MARKER as u8, self.document.as_bytes()).and_then(|at| self.slot_at(at));
        let Some((before, slot, rest)) = found else {
            self.done = true;
            return Some((self.document, None));
        };
        self.document = rest;
        Some((before, Some(slot)))
    }
}

impl<'d> Slots<'d> {
    /// What follows the last slot that was given.
    #[must_use]
    pub fn rest(&self) -> &'d str {
        self.document
    }

    fn slot_at(&self, marker: usize) -> Option<(&'d str, Slot<'d>, &'d str)> {
        let inside = self.document.get(marker + 1..)?;
        let end = memchr(b'"', inside.as_bytes())?;
        let head = &inside[..end];
        let after = &inside[end + 1..];
        if let Some(slot) = Slot::of_string(head) {
            return Some((self.document.get(..marker - 1)?, slot, after));
        }
        // What follows the name is the colon, and for an object slot the brace that closes it.
        if head == "p" {
            return Some((self.document.get(..marker - 1)?, Slot::Splice, after.get(2..)?));
        }
        let length: usize = head.get(1..)?.parse().ok()?;
        let slot = Slot::of_member(head, after.get(1..=length)?)?;
        Some((self.document.get(..marker - 2)?, slot, after.get(length + 2..)?))
    }
}
