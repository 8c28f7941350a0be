//! The parts of a content that tell its type, so that the type of a content of any length is found in bounded memory.

use std::ops::Range;

/// The most bytes at the beginning that are looked at.
pub const HEAD: usize = 4 << 20;
/// The most bytes at the end that are looked at: a ZIP archive has its directory there.
pub const TAIL: usize = 1 << 20;

/// The beginning and the end of a content.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'b> {
    /// The first [`HEAD`] bytes, or all there are.
    pub head: &'b [u8],
    /// The last [`TAIL`] bytes, or all there are.
    pub tail: &'b [u8],
    /// The number of all bytes.
    pub size: u64,
}

impl<'b> Sample<'b> {
    /// The sample of a content that is at hand.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self {
            head: &bytes[..bytes.len().min(HEAD)],
            tail: &bytes[bytes.len().saturating_sub(TAIL)..],
            size: bytes.len() as u64,
        }
    }

    /// Whether the head is the whole content.
    pub fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.size
    }

    /// What is known of the content from a place on, the longer of what head and tail have.
    pub(super) fn starting_at(&self, start: usize) -> Option<&'b [u8]> {
        let skipped = usize::try_from(self.size).ok()?.checked_sub(self.tail.len())?;
        match start.checked_sub(skipped) {
            Some(within) => self.tail.get(within..),
            None => self.head.get(start..),
        }
    }

    /// A part of the content, where it is known.
    pub(super) fn part(&self, range: Range<usize>) -> Option<&'b [u8]> {
        self.starting_at(range.start)?.get(..range.end.checked_sub(range.start)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_known_where_it_is_at_the_beginning_or_at_the_end() {
        let bytes: Vec<u8> = (0..HEAD + 3 * TAIL + 5).map(|at| u8::try_from(at % 253).unwrap()).collect();
        let sample = Sample::of(&bytes);
        let end = bytes.len();
        assert_eq!(sample.part(5..9), Some(&bytes[5..9]));
        assert_eq!(sample.part(end - 9..end), Some(&bytes[end - 9..]));
        assert_eq!(sample.part(HEAD + TAIL..HEAD + TAIL + 1), None, "it is in neither");
        assert_eq!(sample.part(end - 1..end + 1), None);
    }
}
