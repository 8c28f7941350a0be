//! Draws that everybody can repeat.
//!
//! - Before the draw the list of who takes part is published, numbered from 1, and the public sources of randomness are
//!   named, such as the lottery of a coming day. Nobody knows their numbers yet, and afterwards everybody does.
//! - The key is the text of the numbers: each without leading zeros and followed by `.`, those of one source in
//!   ascending order and followed by `/`.
//! - For the draw with index i (from 0), i is written as two bytes, the higher first, before and after the key, and all
//!   is hashed. The hash as a big-endian number, modulo the number of those who are left, says which of them is drawn.
//!
//! Source: RFC 3797, "Publicly Verifiable Nominations Committee Random Selection", which hashes with MD5. New draws use
//! SHA-256.

use md5::{Digest, Md5};
use sha2::Sha256;

/// The hash of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// As RFC 3797 has it.
    Md5,
    /// For new draws.
    #[default]
    Sha256,
}

/// One draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The hash, in upper-case hex.
    pub hash: String,
    /// How many were left before the draw.
    pub left: u16,
    /// The number of who was drawn, from 1.
    pub selected: u16,
}

/// The key of a draw: the numbers of each source.
pub fn key(sources: &[Vec<u64>]) -> String {
    let source = |numbers: &Vec<u64>| {
        let mut numbers = numbers.clone();
        numbers.sort_unstable();
        numbers.iter().map(|number| format!("{number}.")).chain(["/".to_owned()]).collect::<String>()
    };
    sources.iter().map(source).collect()
}

/// Draws so many from numbers 1 to `pool`, all where there are no more.
pub fn draw(key: &str, pool: u16, select: u16, hash: Hash) -> Vec<Drawn> {
    let mut left: Vec<u16> = (1..=pool).collect();
    let draw = |index: u16| {
        let bytes = [&index.to_be_bytes(), key.as_bytes(), &index.to_be_bytes()].concat();
        let digest = match hash {
            Hash::Md5 => Md5::digest(&bytes).to_vec(),
            Hash::Sha256 => Sha256::digest(&bytes).to_vec(),
        };
        let count = u16::try_from(left.len()).unwrap_or(u16::MAX);
        let remainder = |so_far: u32, byte: &u8| (so_far * 256 + u32::from(*byte)) % u32::from(count);
        let position = digest.iter().fold(0, remainder);
        Drawn { hash: hex::encode_upper(&digest), left: count, selected: left.remove(position as usize) }
    };
    (0..select.min(pool)).map(draw).collect()
}

/// The published lot of a score set: the entries 0 to `entries - 1` in the order in which they are drawn with SHA-256.
pub fn lot(key: &str, entries: u16) -> Vec<u32> {
    draw(key, entries, entries, Hash::Sha256).iter().map(|drawn| u32::from(drawn.selected) - 1).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_key_is_sorted_within_a_source_and_ends_each_source() {
        let sources = [vec![9319], vec![2, 12, 5, 8, 10], vec![45, 41, 34, 26, 18, 9]];
        assert_eq!(key(&sources), "9319./2.5.8.10.12./9.18.26.34.41.45./");
    }

    proptest! {
        #[test]
        fn a_lot_has_everybody_once(key in "[0-9./]{0,30}", entries in 0..200_u16) {
            let mut drawn = lot(&key, entries);
            drawn.sort_unstable();
            prop_assert!(drawn.into_iter().eq(0..u32::from(entries)));
        }
    }
}
