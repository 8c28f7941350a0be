//! Looks at eight bytes at a time, as one integer, for those that need care.
//!
//! A mask has the top bit of a byte set where that byte matches. Of the masks made by `equal`, only the lowest match
//! is certain, because the borrow of a match can reach the byte above it; callers use no other.

use crate::sink::BLOCK;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const SEVEN: u64 = !HIGH;

/// How many bytes are looked at together.
pub(crate) const WORD: usize = 8;

/// The word at a position. Beyond the end it is filled with quotation marks, so that every string ends.
#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => last_word(bytes, at),
    }
}

#[cold]
fn last_word(bytes: &[u8], at: usize) -> u64 {
    let mut chunk = [b'"'; WORD];
    let rest = bytes.get(at..).unwrap_or_default();
    chunk[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(chunk)
}

/// The number of bytes below the lowest match.
#[inline]
pub(crate) fn before_first(mask: u64) -> usize {
    mask.trailing_zeros() as usize / 8
}

#[inline]
fn spread(byte: u8) -> u64 {
    u64::from(byte) * LOW
}

#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ spread(byte);
    difference.wrapping_sub(LOW) & !difference & HIGH
}

/// Ends a run of a JSON string that can be copied: `"`, `\`, `&`, `<`, `>`, or the first byte of U+FFFE and U+FFFF.
#[inline]
pub(crate) fn ends_copy(word: u64) -> u64 {
    // One comparison serves two characters that differ in one bit: `"` and `&`, `<` and `>`.
    equal(word | spread(0x04), b'&') | equal(word | spread(0x02), b'>') | equal(word, b'\\') | equal(word, 0xef)
}

/// Whether a run of a JSON string can be copied whole; written so that the compiler makes vector instructions of it.
#[inline]
pub(crate) fn is_clean(block: &[u8; BLOCK]) -> bool {
    let mut found = 0;
    for &byte in block {
        found |= u8::from(byte | 0x04 == b'&') | u8::from(byte | 0x02 == b'>');
        found |= u8::from(byte == b'\\') | u8::from(byte == 0xef);
    }
    found == 0
}

/// Ends a run of a JSON string that can be written by the table of replacements.
#[inline]
pub(crate) fn ends_replacement(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | equal(word, 0xef)
}

/// How a word of a name reads.
pub(crate) struct NameWord {
    /// The bytes that are not ASCII characters of a name; all matches are certain.
    pub(crate) other: u64,
    /// Each `x` or `X` after an underscore, which may begin an escape sequence.
    pub(crate) suspicious: u64,
    /// The underscores.
    pub(crate) underscores: u64,
}

/// Sorts the bytes of a word of a name; `before` are the underscores of the word before it.
#[inline]
pub(crate) fn name_word(word: u64, before: u64) -> NameWord {
    // With the top bits cleared, no addition carries into the next byte.
    let seven = word & SEVEN;
    let folded = seven | spread(0x20);
    let at_least = |value: u64, byte: u8| value + spread(0x80 - byte);
    let differs = |value: u64, byte: u8| (value ^ spread(byte)) + SEVEN;
    let letter = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
    // `-` to `9` are the hyphen, the full stop, the slash and the digits.
    let digit = at_least(seven, b'-') & !at_least(seven, b'9' + 1) & differs(seven, b'/');
    let underscore = !differs(seven, b'_');
    let good = (letter | digit | underscore) & !word;
    let underscores = underscore & HIGH;
    let x = !differs(folded, b'x');
    NameWord { other: !good & HIGH, suspicious: (underscores << 8 | before >> 56) & x & HIGH, underscores }
}
