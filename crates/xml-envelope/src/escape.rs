//! What XML does not allow as it stands, in text and in names.

use crate::names;
use crate::sink::Sink;

/// What a character becomes that XML forbids.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Appends one character as text; where there is none, or XML forbids it, its replacement.
pub(crate) fn character(sink: &mut Sink<'_>, character: Option<char>) {
    match character {
        Some('&') => sink.bytes(b"&amp;"),
        Some('<') => sink.bytes(b"&lt;"),
        Some('>') => sink.bytes(b"&gt;"),
        Some('\r') => sink.bytes(b"&#13;"),
        Some(character @ ('\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..)) => {
            sink.bytes(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        None | Some('\0'..' ' | '\u{fffe}' | '\u{ffff}') => sink.bytes(REPLACEMENT),
    }
}

/// Appends the character that begins with the byte 0xEF at a position, and returns its length.
pub(crate) fn perhaps_noncharacter(sink: &mut Sink<'_>, bytes: &[u8], at: usize) -> usize {
    let bytes = &bytes[at..];
    let bytes = &bytes[..bytes.len().min(3)];
    sink.bytes(if matches!(bytes, [0xef, 0xbf, 0xbe | 0xbf]) { REPLACEMENT } else { bytes });
    bytes.len()
}

/// Whether text can stand as it is, as far as a quick look can tell; written so that the compiler makes vector instructions
/// of it.
pub(crate) fn is_plain_text(bytes: &[u8]) -> bool {
    let needs_care = bytes.iter().fold(0, |found, &byte| {
        let is_special = u8::from(byte | 0x02 == b'>') | u8::from(byte == b'&') | u8::from(byte == 0xef);
        found | is_special | u8::from(byte < b' ')
    });
    needs_care == 0
}

/// Whether a name can stand as it is, as far as a quick look can tell; one with letters beyond ASCII is told as if it cannot.
pub(crate) fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|&first| first >= b'A')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !bytes.windows(2).any(|pair| matches!(pair, [b'_', b'x' | b'X']))
}

/// The escaped form of a name, given as UTF-16.
pub(crate) fn escaped(name: impl Iterator<Item = u16>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let units: Vec<u16> = name.collect();
    if units.is_empty() {
        return "_x_".to_owned();
    }
    let mut escaped = String::with_capacity(units.len() * 7);
    for (index, &unit) in units.iter().enumerate() {
        let character = name_character(unit).filter(|&character| {
            (index > 0 || can_start(unit)) && (character != '_' || !begins_sequence(&units, index))
        });
        if let Some(character) = character {
            escaped.push(character);
            continue;
        }
        escaped.push_str("_x");
        for shift in [12, 8, 4, 0] {
            escaped.push(char::from(DIGITS[usize::from(unit >> shift & 0xf)]));
        }
        escaped.push('_');
    }
    escaped
}

fn name_character(unit: u16) -> Option<char> {
    let character = char::from_u32(unit.into())?;
    let is_of_ascii = character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
    (is_of_ascii || names::continues(unit)).then_some(character)
}

fn can_start(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') || names::starts(unit)
}

/// Whether a reader of the escaped name would take the underscore at a position for the start of a sequence.
fn begins_sequence(units: &[u16], underscore: usize) -> bool {
    let is_x = |unit: u16| matches!(name_character(unit), Some('x' | 'X'));
    let is_digit = |unit: u16| name_character(unit).is_some_and(|character| character.is_ascii_hexdigit());
    let Some((x, rest)) = units[underscore + 1..].split_first() else {
        return false;
    };
    if !is_x(*x) {
        return false;
    }
    match rest.split_at_checked(4) {
        // What is escaped begins with an underscore too.
        Some((digits, [last, ..])) if digits.iter().all(|&unit| is_digit(unit)) => {
            name_character(*last).is_none_or(|character| character == '_')
        }
        // The whole name is what stands for the empty name.
        _ => underscore == 0 && matches!(rest, [unit] if name_character(*unit) == Some('_')),
    }
}
