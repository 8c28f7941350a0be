//! Reads JSON strings.

use crate::escape;
use crate::sink::Sink;

/// The byte at a position; zero, which no token begins with, beyond the end.
#[inline]
pub(crate) fn peek(json: &str, at: usize) -> u8 {
    json.as_bytes().get(at).copied().unwrap_or(0)
}

/// Writes what stands at a position in a string, is not its end, and cannot be copied; returns the position after it.
pub(crate) fn write_special(json: &str, at: usize, sink: &mut Sink<'_>) -> usize {
    match peek(json, at) {
        b'\\' => write_escape(json, at + 1, sink),
        0xef => at + escape::perhaps_noncharacter(sink, json.as_bytes(), at),
        byte => {
            escape::character(sink, Some(char::from(byte)));
            at + 1
        }
    }
}

/// Writes the character of the escape sequence after a backslash, and returns the position after it.
#[inline]
fn write_escape(json: &str, at: usize, sink: &mut Sink<'_>) -> usize {
    let byte = match peek(json, at) {
        byte @ (b'"' | b'\\' | b'/') => byte,
        b'n' => b'\n',
        _ => return write_rare_escape(json, at, sink),
    };
    sink.bytes(&[byte]);
    at + 1
}

fn write_rare_escape(json: &str, at: usize, sink: &mut Sink<'_>) -> usize {
    let (unit, at) = escape_unit(json, at);
    if matches!(unit, 0xd800..0xdc00) && peek(json, at) == b'\\' && peek(json, at + 1) == b'u' {
        let (low, after) = escape_unit(json, at + 1);
        if let Some(Ok(character)) = char::decode_utf16([unit, low]).next() {
            escape::character(sink, Some(character));
            return after;
        }
    }
    escape::character(sink, char::from_u32(u32::from(unit)));
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
