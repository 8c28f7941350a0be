//! Finds the bytes of JSON text that need care, before any of it is read: the reader goes from one to the next.

use wide::u8x16;

/// How many bytes a block has, and how many of them are looked at together.
const BLOCK: usize = 64;
const WORD: usize = 16;

/// The bytes of a block that need care; the bit of its first byte is the lowest.
struct Block {
    /// What ends a run of a string that can be copied.
    text: u64,
    /// What ends a run of a name.
    name: u64,
}

impl Block {
    #[inline]
    fn of(bytes: &[u8; BLOCK]) -> Self {
        let (mut text, mut in_name) = (0, 0);
        for (index, word) in bytes.as_chunks::<WORD>().0.iter().enumerate() {
            let bits = |matches: u8x16| u64::from(matches.to_bitmask()) << (WORD * index);
            let word = u8x16::new(*word);
            // One comparison serves two characters that differ in one bit: `"` and `&`, `<` and `>`.
            let quote_or_ampersand = equal(word | u8x16::splat(0x04), b'&');
            let less_or_greater = equal(word | u8x16::splat(0x02), b'>');
            text |= bits(quote_or_ampersand | less_or_greater | equal(word, b'\\') | equal(word, 0xef));
            let folded = word | u8x16::splat(0x20);
            let letter = within(folded, b'a', b'z') & !equal(folded, b'x');
            in_name |= bits(letter | within(word, b'0', b'9') | equal(word, b'_'));
        }
        Self { text, name: !in_name }
    }
}

/// Where names and strings of a text end. After the text stands a quotation mark, so that every string ends. It has a quarter
/// of the length of the text.
pub(crate) struct Ends(Vec<Block>);

impl Ends {
    pub(crate) fn of(text: &[u8]) -> Self {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut last = [b'"'; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        Self(blocks.iter().chain([&last]).map(Block::of).collect())
    }

    /// The position, from this one on, of `"`, `\`, `&`, `<`, `>`, or of 0xEF, with which U+FFFE and U+FFFF begin; without
    /// one, a position that is not before the end.
    #[inline]
    pub(crate) fn end_of_text(&self, at: usize) -> usize {
        self.next(at, |block| block.text)
    }

    /// The position, from this one on, of a byte that is no ASCII letter, digit or underscore, or is `x` or `X`; without one,
    /// a position that is not before the end.
    #[inline]
    pub(crate) fn end_of_name(&self, at: usize) -> usize {
        self.next(at, |block| block.name)
    }

    #[inline]
    fn next(&self, at: usize, of: impl Fn(&Block) -> u64) -> usize {
        let mut block = at / BLOCK;
        let Some(first) = self.0.get(block) else { return at };
        let left = of(first) >> (at % BLOCK);
        if left != 0 {
            return at + left.trailing_zeros() as usize;
        }
        loop {
            block += 1;
            match self.0.get(block).map(&of) {
                Some(0) => {}
                found => return block * BLOCK + found.map_or(0, u64::trailing_zeros) as usize,
            }
        }
    }
}

#[inline]
fn equal(word: u8x16, byte: u8) -> u8x16 {
    word.simd_eq(u8x16::splat(byte))
}

#[inline]
fn within(word: u8x16, first: u8, last: u8) -> u8x16 {
    word.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(word)
}
