//! Reads JSON strings.

use crate::escape;
use crate::scan::{self, WORD};
use crate::sink::{BLOCK, Room};

/// The room that a step of writing a string needs.
pub(crate) const STEP: usize = Room::REPLACED;

/// How much of a string has been written.
pub(crate) enum Progress {
    /// The position after the closing quotation mark.
    Ended(usize),
    /// The position to go on from, with more room.
    Stopped(usize),
}

/// The byte at a position; zero, which no token begins with, beyond the end.
#[inline]
pub(crate) fn peek(json: &str, at: usize) -> u8 {
    json.as_bytes().get(at).copied().unwrap_or(0)
}

/// Writes the string that goes on at a position as far as it can be copied, for so many words.
#[inline]
pub(crate) fn copy(json: &str, mut at: usize, words: usize, room: &mut Room<'_>) -> Progress {
    for _ in 0..words {
        let word = scan::word(json.as_bytes(), at);
        let special = scan::ends_copy(word);
        if special == 0 {
            room.word(word, WORD);
            at += WORD;
            continue;
        }
        let clean = scan::before_first(special);
        room.word(word, clean);
        at += clean;
        if word >> (8 * clean) & 0xff == u64::from(b'"') {
            return Progress::Ended(at + 1);
        }
        break;
    }
    Progress::Stopped(at)
}

/// Writes the string that goes on at a position as far as there is room.
pub(crate) fn write(json: &str, mut at: usize, room: &mut Room<'_>) -> Progress {
    while room.left() >= STEP {
        let word = scan::word(json.as_bytes(), at);
        if scan::ends_copy(word) == 0 {
            room.word(word, WORD);
            at += WORD;
            at += copy_blocks(json.as_bytes(), at, room);
            continue;
        }
        let stop = scan::ends_replacement(word);
        let count = scan::before_first(stop);
        room.replaced(word, count, &escape::IN_TEXT);
        at += count;
        if stop == 0 {
            continue;
        }
        match peek(json, at) {
            b'\\' => at = write_escape(json, at + 1, room),
            0xef => at += escape::perhaps_noncharacter(room, json.as_bytes(), at),
            _ => return Progress::Ended(at + 1),
        }
    }
    Progress::Stopped(at)
}

/// Copies blocks as long as they are clean and there is room, which is worth trying after a clean word.
#[inline]
fn copy_blocks(bytes: &[u8], at: usize, room: &mut Room<'_>) -> usize {
    let mut copied = 0;
    while room.left() >= STEP
        && let Some(block) = bytes.get(at + copied..).and_then(<[u8]>::first_chunk)
        && scan::is_clean(block)
    {
        room.start_of(block, BLOCK);
        copied += BLOCK;
    }
    copied
}

/// Writes the character of the escape sequence after a backslash, and returns the position after it.
#[inline]
fn write_escape(json: &str, at: usize, room: &mut Room<'_>) -> usize {
    let byte = match peek(json, at) {
        byte @ (b'"' | b'\\' | b'/') => byte,
        b'n' => b'\n',
        _ => return write_rare_escape(json, at, room),
    };
    room.byte(byte);
    at + 1
}

fn write_rare_escape(json: &str, at: usize, room: &mut Room<'_>) -> usize {
    let (unit, at) = escape_unit(json, at);
    if matches!(unit, 0xd800..0xdc00) && peek(json, at) == b'\\' && peek(json, at + 1) == b'u' {
        let (low, after) = escape_unit(json, at + 1);
        if let Some(Ok(character)) = char::decode_utf16([unit, low]).next() {
            escape::character(room, Some(character));
            return after;
        }
    }
    escape::character(room, char::from_u32(u32::from(unit)));
    at
}

/// Reads the escape sequence after a backslash as one UTF-16 code unit; returns the position after it too.
fn escape_unit(json: &str, at: usize) -> (u16, usize) {
    let byte = peek(json, at);
    if byte == b'u'
        && let Some(digits) = json.get(at + 1..at + 5)
        && let Ok(unit) = u16::from_str_radix(digits, 16)
    {
        return (unit, at + 5);
    }
    let unit = match byte {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => 0x0a,
        b'r' => 0x0d,
        b't' => 0x09,
        b'"' | b'\\' | b'/' => u16::from(byte),
        _ => 0xfffd,
    };
    let character = json.get(at..).and_then(|rest| rest.chars().next());
    (unit, at + character.map_or(1, char::len_utf8))
}

/// Reads the string after a quotation mark as UTF-16; returns the position after the closing one too.
pub(crate) fn units(json: &str, mut at: usize) -> (Vec<u16>, usize) {
    let mut units = Vec::new();
    while let Some(character) = json.get(at..).and_then(|rest| rest.chars().next()) {
        at += character.len_utf8();
        match character {
            '"' => break,
            '\\' => {
                let (unit, after) = escape_unit(json, at);
                units.push(unit);
                at = after;
            }
            _ => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
        }
    }
    (units, at)
}
