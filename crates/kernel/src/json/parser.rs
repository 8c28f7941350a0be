//! The recursive-descent parser behind [`super::parse_value`].

use std::borrow::Cow;
use std::collections::HashSet;

use super::{BodyError, Json, MAXIMUM_DEPTH, Object, Problem};
use crate::text::{excerpt, is_number};

/// The room for members of a record that this program has written, and for those of an object in it.
const OWN_MEMBERS: [usize; 2] = [40, 4];

/// The number of members from which an object's names are kept in a set rather than compared one by one.
const MANY_MEMBERS: usize = 16;

pub(super) fn parse(bytes: &[u8]) -> Result<Json<'_>, BodyError> {
    let text = std::str::from_utf8(bytes).map_err(|error| locate(bytes, error.valid_up_to(), Problem::NotUtf8))?;
    Parser { text, bytes, position: 0, is_own: false }.whole()
}

/// Text that this program has written: names are not compared with each other.
pub(super) fn parse_own(text: &str) -> Result<Json<'_>, BodyError> {
    Parser { text, bytes: text.as_bytes(), position: 0, is_own: true }.whole()
}

/// The error with the line and the column of a position.
fn locate(bytes: &[u8], position: usize, problem: Problem) -> BodyError {
    let before = &bytes[..position.min(bytes.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    BodyError {
        line: memchr::memchr_iter(b'\n', before).count() + 1,
        column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
        problem,
    }
}

/// A problem and its offset; lines and columns are counted only when there is one.
struct Fault {
    position: usize,
    problem: Problem,
}

struct Parser<'source> {
    text: &'source str,
    bytes: &'source [u8],
    position: usize,
    is_own: bool,
}

impl<'source> Parser<'source> {
    fn whole(mut self) -> Result<Json<'source>, BodyError> {
        self.document().map_err(|fault| locate(self.bytes, fault.position, fault.problem))
    }

    fn document(&mut self) -> Result<Json<'source>, Fault> {
        if self.text.starts_with('\u{feff}') {
            return self.fault(Problem::ByteOrderMark);
        }
        self.skip_blanks();
        if self.peek().is_none() {
            return self.fault(Problem::Empty);
        }
        let value = self.value(1)?;
        self.skip_blanks();
        if self.peek().is_some() {
            return self.fault(Problem::TrailingData);
        }
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn fault<T>(&self, problem: Problem) -> Result<T, Fault> {
        Err(Fault { position: self.position, problem })
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.position += 1;
        }
    }

    /// The next byte that is not blank, taken when it is this one.
    fn take(&mut self, wanted: u8) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.position += 1;
        }
        is_there
    }

    /// A value; an array or object would be on this level.
    fn value(&mut self, level: usize) -> Result<Json<'source>, Fault> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{' | b'[') if level > MAXIMUM_DEPTH => self.fault(Problem::TooDeep),
            Some(b'{') => self.object(level).map(Json::Object),
            Some(b'[') => self.array(level).map(Json::Array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => self.fault(Problem::Expected("a value")),
        }
    }

    fn word(&mut self, word: &str, value: Json<'source>) -> Result<Json<'source>, Fault> {
        if !self.bytes[self.position..].starts_with(word.as_bytes()) {
            return self.fault(Problem::Expected("a value"));
        }
        self.position += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Cow<'source, str>, Fault> {
        let whole = self.text;
        let rest = &whole[self.position..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let text = &rest[..rest.bytes().take_while(is_part).count()];
        if !is_number(text) {
            return self.fault(Problem::Number);
        }
        self.position += text.len();
        Ok(Cow::Borrowed(text))
    }

    fn array(&mut self, level: usize) -> Result<Vec<Json<'source>>, Fault> {
        self.position += 1;
        let mut elements = Vec::new();
        if self.take(b']') {
            return Ok(elements);
        }
        loop {
            elements.push(self.value(level + 1)?);
            if self.take(b']') {
                return Ok(elements);
            }
            if !self.take(b',') {
                return self.fault(Problem::Expected("a comma or `]`"));
            }
        }
    }

    fn object(&mut self, level: usize) -> Result<Object<'source>, Fault> {
        self.position += 1;
        let mut object = Object::new();
        let mut names = None;
        if self.take(b'}') {
            return Ok(object);
        }
        if self.is_own {
            object.members.reserve_exact(OWN_MEMBERS[usize::from(level > 1)]);
        }
        loop {
            self.skip_blanks();
            let start = self.position;
            if self.peek() != Some(b'"') {
                return self.fault(Problem::Expected("the name of a member in quotes"));
            }
            let name = self.string()?;
            if !self.is_own && is_repeated(&name, &object, &mut names) {
                return Err(Fault { position: start, problem: Problem::DuplicateName(excerpt(&name)) });
            }
            if !self.take(b':') {
                return self.fault(Problem::Expected("a colon"));
            }
            let value = self.value(level + 1)?;
            object.members.push((name, value));
            if self.take(b'}') {
                return Ok(object);
            }
            if !self.take(b',') {
                return self.fault(Problem::Expected("a comma or `}`"));
            }
        }
    }

    /// A string: a part of the source where it has no escapes.
    fn string(&mut self) -> Result<Cow<'source, str>, Fault> {
        let start = self.position;
        self.position += 1;
        let text = self.plain(start)?;
        if self.bytes[self.position] == b'"' {
            self.position += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut out = text.to_owned();
        loop {
            out.push(self.escape()?);
            out.push_str(self.plain(start)?);
            if self.bytes[self.position] == b'"' {
                self.position += 1;
                return Ok(Cow::Owned(out));
            }
        }
    }

    /// The text up to the next quotation mark or backslash, of a string that began at `start`.
    fn plain(&mut self, start: usize) -> Result<&'source str, Fault> {
        let (text, bytes) = (self.text, self.bytes);
        let from = self.position;
        let Some(length) = special(&bytes[from..]) else {
            return Err(Fault { position: start, problem: Problem::EndlessString });
        };
        self.position += length;
        if bytes[self.position] < b' ' {
            return self.fault(Problem::ControlCharacter);
        }
        Ok(&text[from..self.position])
    }

    /// The character of the escape sequence that begins here.
    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.bytes.get(self.position + 1) {
            Some(b'u') => return self.unicode_escape(),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return self.fault(Problem::Escape),
        };
        self.position += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let Some(unit) = self.code_unit(self.position) else { return self.fault(Problem::Escape) };
        let (code, length) = match unit {
            0xd800..0xdc00 => match self.code_unit(self.position + 6) {
                Some(low @ 0xdc00..0xe000) => (0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12),
                _ => return self.fault(Problem::LoneSurrogate),
            },
            _ => (unit, 6),
        };
        let Some(character) = char::from_u32(code) else { return self.fault(Problem::LoneSurrogate) };
        self.position += length;
        Ok(character)
    }

    /// The value of the `\uXXXX` at a position.
    fn code_unit(&self, position: usize) -> Option<u32> {
        let digits = self.bytes.get(position..position + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
    }
}

/// Where the first quotation mark, backslash or control character is. Most strings are short, so that eight bytes at a
/// time are looked at here: a library would take longer to begin.
pub(super) fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The top bit of each byte that is below the bound; above the first one it may be wrong.
        let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
        let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let found = (equal(b'"') | equal(b'\\') | below(word, b' ')) & TOPS;
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(is_special).map(|index| words.len() * 8 + index)
}

/// Whether the object has a member of this name already; a large object is asked through the set of its names.
fn is_repeated(name: &str, object: &Object<'_>, names: &mut Option<HashSet<String>>) -> bool {
    if object.len() < MANY_MEMBERS {
        return object.get(name).is_some();
    }
    let names = names.get_or_insert_with(|| object.iter().map(|(name, _)| name.to_owned()).collect());
    !names.insert(name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::special;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(bytes in vec(prop_oneof![any::<u8>(), b' '..b'~', Just(b'"'), 0x7f_u8..=0x81], 0..40)) {
            let expected = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\') || *byte < b' ');
            prop_assert_eq!(special(&bytes), expected);
        }

        #[test]
        fn a_special_byte_behind_others_is_found(length in 0_usize..40, byte in prop_oneof![Just(b'"'), Just(b'\\'), 0_u8..b' ']) {
            let mut bytes = vec![0xc3_u8; length];
            bytes.extend([byte, b'"', 0]);
            prop_assert_eq!(special(&bytes), Some(length));
        }
    }
}
