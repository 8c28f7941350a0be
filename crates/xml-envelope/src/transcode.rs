//! Reads JSON text and writes XML as it goes.

use memchr::memchr2;

use crate::Slots;
use crate::escape;
use crate::scan::{self, WORD};
use crate::sink::{BLOCK, Room, Sink};
use crate::string::{self, Progress};

/// What marks a slot.
const MARKER: u8 = 0x7f;

/// How many bytes of a string are copied together with its tags.
const COPIED: usize = 64;

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

    /// The room that a tag of this name needs.
    #[inline]
    fn room(self) -> usize {
        self.length + BLOCK + WORD
    }

    #[inline]
    fn open(self, room: &mut Room<'_>) {
        room.byte(b'<');
        room.start_of(self.text.as_bytes(), self.length);
        room.byte(b'>');
    }

    #[inline]
    fn close(self, room: &mut Room<'_>) {
        room.bytes(b"</");
        room.start_of(self.text.as_bytes(), self.length);
        room.byte(b'>');
    }
}

/// JSON text and the output. Positions in the text are passed and returned, so that they stay in registers.
pub(crate) struct Transcoder<'a, S> {
    json: &'a str,
    sink: Sink<'a>,
    slots: &'a S,
}

impl<'a, S: Slots> Transcoder<'a, S> {
    pub(crate) fn new(sink: Sink<'a>, json: &'a str, slots: &'a S) -> Self {
        Self { json, sink, slots }
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
        self.sink.fill(name.room(), |room| name.open(room));
    }

    #[inline]
    fn close(&mut self, name: Name<'_>) {
        self.sink.fill(name.room(), |room| name.close(room));
    }

    /// Writes a tag that is the whole element.
    #[inline]
    fn lone(&mut self, name: Name<'_>, rest: &[u8]) {
        self.sink.fill(name.room() + rest.len(), |room| {
            room.byte(b'<');
            room.start_of(name.text.as_bytes(), name.length);
            room.bytes(rest);
        });
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
                let (byte, value) = self.token(self.colon(at + name.length + 1));
                if byte == b'"' && !(S::MARKED && self.peek(value + 1) == MARKER) {
                    self.text_element(value + 1, name)
                } else if byte.is_ascii_digit() {
                    self.scalar_element(value, name)
                } else {
                    self.element(value, name)
                }
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

    /// The name that begins at the position, after the quotation mark, when it needs no escaping.
    #[inline]
    fn plain_name(&self, at: usize) -> Option<Name<'a>> {
        let bytes = self.json.as_bytes();
        if self.peek(at) < b'A' {
            return None;
        }
        let mut underscores = 0;
        let mut end = at;
        loop {
            let word = scan::name_word(scan::word(bytes, end), underscores);
            // What follows the name does no harm: at worst it sends the name the slow way.
            if word.suspicious != 0 {
                return None;
            }
            if word.other != 0 {
                end += scan::before_first(word.other);
                break;
            }
            underscores = word.underscores;
            end += WORD;
        }
        (bytes.get(end) == Some(&b'"')).then(|| Name { text: &self.json[at..], length: end - at })
    }

    /// Writes the member whose name, after the quotation mark, may need escaping.
    #[cold]
    #[inline(never)]
    fn escaped_member(&mut self, at: usize) -> usize {
        let (units, at) = string::units(self.json, at);
        let name = escape::escaped(units.into_iter());
        self.element(self.colon(at), Name::new(&name))
    }

    /// Writes the string after a quotation mark as an element.
    #[inline]
    fn text_element(&mut self, at: usize, name: Name<'_>) -> usize {
        let json = self.json;
        let progress = self.sink.fill(2 * name.room() + COPIED, |room| {
            name.open(room);
            let progress = string::copy(json, at, COPIED / WORD, room);
            if let Progress::Ended(_) = progress {
                name.close(room);
            }
            progress
        });
        match progress {
            Progress::Ended(at) => at,
            Progress::Stopped(at) => {
                let at = self.string(at);
                self.close(name);
                at
            }
        }
    }

    /// Writes the rest of a string from the position; returns the position after the closing quotation mark.
    #[inline(never)]
    fn string(&mut self, mut at: usize) -> usize {
        let json = self.json;
        loop {
            match self.sink.fill(2 * string::STEP, |room| string::write(json, at, room)) {
                Progress::Ended(at) => return at,
                Progress::Stopped(stopped) => at = stopped,
            }
        }
    }

    /// Writes the number, true or false at the position as an element.
    #[inline]
    fn scalar_element(&mut self, at: usize, name: Name<'_>) -> usize {
        let (rest, length) = self.scalar(at);
        self.sink.fill(2 * name.room() + BLOCK.max(length), |room| {
            name.open(room);
            room.start_of(rest, length);
            name.close(room);
        });
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
        let bytes = self.json.as_bytes();
        while let Some(distance) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
            at += distance + 1;
            if bytes[at - 1] == b'"' {
                return at;
            }
            at += 1;
        }
        bytes.len() + 1
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
