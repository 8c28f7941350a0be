//! Reads JSON text and writes XML as it goes.

use crate::Slots;
use crate::escape;
use crate::scan::Ends;
use crate::sink::{Piece, Sink};
use crate::string;

/// What marks a slot.
const MARKER: u8 = 0x7f;

/// The bytes of numbers, true and false.
static IN_SCALAR: [bool; 256] = in_scalar();

const fn in_scalar() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'+');
        byte += 1;
    }
    table
}

/// An element name, escaped already.
#[derive(Clone, Copy)]
pub(crate) struct Name<'n> {
    /// Text that begins with the name; what follows it helps to copy the name quickly.
    text: &'n str,
    length: usize,
}

impl<'n> Name<'n> {
    pub(crate) fn new(name: &'n str) -> Self {
        Self { text: name, length: name.len() }
    }

    fn as_str(self) -> &'n str {
        &self.text[..self.length]
    }

    #[inline]
    fn piece(self) -> Piece<'n> {
        Piece::new(self.text.as_bytes(), self.length)
    }
}

/// JSON text and the output. Positions in the text are passed and returned, so that they stay in registers.
pub(crate) struct Transcoder<'a, S> {
    json: &'a str,
    ends: Ends,
    sink: Sink<'a>,
    slots: &'a S,
}

impl<'a, S: Slots> Transcoder<'a, S> {
    pub(crate) fn new(sink: Sink<'a>, json: &'a str, slots: &'a S) -> Self {
        Self { json, ends: Ends::of(json.as_bytes()), sink, slots }
    }

    pub(crate) fn finish(self) {
        self.sink.finish();
    }

    /// Writes the value at the position as the element or elements of a name; returns the position after it.
    #[inline(never)]
    pub(crate) fn element(&mut self, at: usize, name: Name<'_>) -> usize {
        let (byte, at) = self.token(at);
        match byte {
            b'"' if S::MARKED && self.peek(at + 1) == MARKER => {
                let (slot, at) = self.after_marker(at + 2);
                let slots = self.slots;
                self.sink.outside(|out| slots.value(out, name.as_str(), slot));
                at
            }
            b'"' => self.text_element(at + 1, name),
            b'{' => {
                let (byte, at) = self.token(at + 1);
                if S::MARKED && byte == b'"' && self.peek(at + 1) == MARKER {
                    return self.object_slot(at + 2, name);
                }
                self.open(name);
                let at = self.object(at);
                self.close(name);
                at
            }
            b'[' => self.list(at + 1, name),
            b'n' => {
                self.lone(name, b" xsi:nil=\"true\"/>");
                at + "null".len()
            }
            _ => self.scalar_element(at, name),
        }
    }

    /// Writes an object, whose brace is still to come, without an element around it.
    pub(crate) fn bare_object(&mut self) {
        if let (b'{', at) = self.token(0) {
            self.object(at + 1);
        }
    }

    #[inline]
    fn peek(&self, at: usize) -> u8 {
        string::peek(self.json, at)
    }

    /// The byte after any white space, and its position.
    #[inline]
    fn token(&self, mut at: usize) -> (u8, usize) {
        loop {
            let byte = self.peek(at);
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return (byte, at);
            }
            at += 1;
        }
    }

    /// After an item of a list or an object: whether another follows, and the position after the comma or the bracket.
    #[inline]
    fn another(&self, at: usize) -> (bool, usize) {
        let (byte, at) = self.token(at);
        (byte == b',', at + 1)
    }

    /// The position after a colon.
    #[inline]
    fn colon(&self, at: usize) -> usize {
        let (byte, at) = self.token(at);
        at + usize::from(byte == b':')
    }

    /// The text between two positions.
    fn between(&self, start: usize, end: usize) -> &'a str {
        self.json.get(start..end).unwrap_or_default()
    }

    #[inline]
    fn open(&mut self, name: Name<'_>) {
        self.sink.tag(b"<", name.piece(), b">");
    }

    #[inline]
    fn close(&mut self, name: Name<'_>) {
        self.sink.tag(b"</", name.piece(), b">");
    }

    /// Writes a tag that is the whole element.
    #[inline]
    fn lone(&mut self, name: Name<'_>, rest: &[u8]) {
        self.sink.tag(b"<", name.piece(), rest);
    }

    /// Writes the members after the opening brace; returns the position after the closing one.
    fn object(&mut self, mut at: usize) -> usize {
        loop {
            let (byte, start) = self.token(at);
            at = start + 1;
            if byte != b'"' {
                return at;
            }
            at = if S::MARKED && self.peek(at) == MARKER {
                let (key, json, after) = self.marked_member(at + 1);
                let slots = self.slots;
                self.sink.outside(|out| slots.members(out, key, json));
                after
            } else if let Some(name) = self.plain_name(at) {
                self.element(self.colon(at + name.length + 1), name)
            } else {
                self.escaped_member(at)
            };
            let (another, after) = self.another(at);
            at = after;
            if !another {
                return at;
            }
        }
    }

    /// Writes the items after the opening bracket as elements of a name; returns the position after the closing one.
    fn list(&mut self, at: usize, name: Name<'_>) -> usize {
        let (byte, mut at) = self.token(at);
        if byte == b']' {
            self.lone(name, b"/>");
            return at + 1;
        }
        loop {
            let (byte, start) = self.token(at);
            if byte == b'[' && self.token(start + 1).0 != b']' {
                self.open(name);
                at = self.list(start + 1, name);
                self.close(name);
            } else {
                at = self.element(start, name);
            }
            let (another, after) = self.another(at);
            at = after;
            if !another {
                return at;
            }
        }
    }

    /// The name that begins at the position, after the quotation mark, when a quick look tells that it needs no escaping.
    #[inline]
    fn plain_name(&self, at: usize) -> Option<Name<'a>> {
        // Neither a digit nor the closing quotation mark begins a name.
        if self.peek(at) < b'A' {
            return None;
        }
        let mut end = self.ends.end_of_name(at);
        // After an underscore it may begin an escape sequence.
        while self.peek(end) | 0x20 == b'x' && self.peek(end - 1) != b'_' {
            end = self.ends.end_of_name(end + 1);
        }
        (self.peek(end) == b'"').then(|| Name { text: &self.json[at..], length: end - at })
    }

    /// Writes the member whose name, after the quotation mark, may need escaping.
    #[cold]
    #[inline(never)]
    fn escaped_member(&mut self, at: usize) -> usize {
        let (units, at) = string::units(self.json, at);
        let name = escape::escaped(units.into_iter());
        self.element(self.colon(at), Name::new(&name))
    }

    /// Writes the string after a quotation mark as an element; returns the position after the closing one.
    #[inline]
    fn text_element(&mut self, at: usize, name: Name<'_>) -> usize {
        let end = self.ends.end_of_text(at);
        if self.peek(end) != b'"' {
            return self.special_element(at, name);
        }
        self.sink.element(name.piece(), Piece::new(&self.json.as_bytes()[at..], end - at));
        end + 1
    }

    /// Writes the string after a quotation mark, which has what cannot be copied, as an element.
    #[inline(never)]
    fn special_element(&mut self, mut at: usize, name: Name<'_>) -> usize {
        self.open(name);
        loop {
            let end = self.ends.end_of_text(at);
            self.sink.bytes(self.json.as_bytes().get(at..end).unwrap_or_default());
            if matches!(self.peek(end), b'"' | 0) {
                self.close(name);
                return end + 1;
            }
            at = string::write_special(self.json, end, &mut self.sink);
        }
    }

    /// Writes the number, true or false at the position as an element.
    #[inline]
    fn scalar_element(&mut self, at: usize, name: Name<'_>) -> usize {
        let (rest, length) = self.scalar(at);
        self.sink.element(name.piece(), Piece::new(rest, length));
        at + length
    }

    /// The text from the number, true or false at the position, and the length that counts.
    #[inline]
    fn scalar(&self, at: usize) -> (&'a [u8], usize) {
        let rest = self.json.as_bytes().get(at..).unwrap_or_default();
        let mut length = 0;
        while rest.get(length).is_some_and(|&byte| IN_SCALAR[usize::from(byte)]) {
            length += 1;
        }
        (rest, length)
    }

    /// Fills the object whose first name goes on, after its marker, at the position.
    #[inline(never)]
    fn object_slot(&mut self, at: usize, name: Name<'_>) -> usize {
        let (key, json, mut at) = self.marked_member(at);
        loop {
            let (another, after) = self.another(at);
            at = after;
            if !another {
                break;
            }
            at = self.skip_value(at);
            at = self.skip_value(self.colon(at));
        }
        let slots = self.slots;
        self.sink.outside(|out| slots.object(out, name.as_str(), key, json));
        at
    }

    /// The name after its marker, the text of the value, and the position after the member.
    fn marked_member(&self, at: usize) -> (&'a str, &'a str, usize) {
        let (key, at) = self.after_marker(at);
        let (_, start) = self.token(self.colon(at));
        let end = self.skip_value(start);
        (key, self.between(start, end), end)
    }

    /// What stands from the position to the closing quotation mark, and the position after that.
    fn after_marker(&self, at: usize) -> (&'a str, usize) {
        let end = self.skip_string(at);
        (self.between(at, end - 1), end)
    }

    /// The position after the string that goes on at the position.
    fn skip_string(&self, mut at: usize) -> usize {
        loop {
            let end = self.ends.end_of_text(at);
            at = end + 1;
            match self.peek(end) {
                b'"' | 0 => return at,
                b'\\' => at += 1,
                _ => {}
            }
        }
    }

    /// The position after the value at the position.
    fn skip_value(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        let (_, mut at) = self.token(at);
        loop {
            match self.peek(at) {
                b'"' => at = self.skip_string(at + 1),
                b'{' | b'[' => {
                    at += 1;
                    depth += 1;
                }
                b'}' | b']' if depth > 0 => {
                    at += 1;
                    depth -= 1;
                }
                0 => return at,
                _ if depth > 0 => {
                    at += 1;
                    continue;
                }
                _ => return at + self.scalar(at).1,
            }
            if depth == 0 {
                return at;
            }
        }
    }
}
