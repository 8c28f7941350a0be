//! The hash chain.

use sha2::{Digest, Sha256};

use kernel::text::Slug;

/// The hash before the first change of an account.
#[must_use]
pub fn origin(account: Slug) -> [u8; 32] {
    Sha256::new().chain_update("plaudit change log 1\n").chain_update(account.as_str()).finalize().into()
}

/// The hash of a change: over the hash before it, its number and time, and its texts, each with its length before it,
/// so that no two different changes are hashed over the same bytes.
#[must_use]
pub fn chained(before: &[u8; 32], sequence: i64, at: i64, texts: &[&str]) -> [u8; 32] {
    let mut hash =
        Sha256::new().chain_update(before).chain_update(sequence.to_be_bytes()).chain_update(at.to_be_bytes());
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// The name of the change of a hash, never a negative number.
#[must_use]
pub fn name_of(hash: &[u8; 32]) -> i64 {
    hash.iter().take(size_of::<i64>()).fold(0, |name, byte| name << 8 | i64::from(*byte)) & i64::MAX
}

#[cfg(test)]
mod tests {
    use super::{chained, name_of};

    #[test]
    fn a_name_is_what_a_hash_begins_with() {
        let mut hash = [0; 32];
        hash[6..9].copy_from_slice(&[1, 2, 3]);
        assert_eq!(name_of(&hash), 0x0102);
        assert_eq!(name_of(&[0xff; 32]), i64::MAX);
    }

    #[test]
    fn the_hash_changes_with_everything_that_it_covers() {
        let start = chained(&[0; 32], 1, 2, &["ab", "c"]);
        assert_ne!(start, chained(&[1; 32], 1, 2, &["ab", "c"]));
        assert_ne!(start, chained(&[0; 32], 2, 2, &["ab", "c"]));
        assert_ne!(start, chained(&[0; 32], 1, 3, &["ab", "c"]));
        assert_ne!(start, chained(&[0; 32], 1, 2, &["a", "bc"]), "a boundary that moves is a change");
        assert_ne!(start, chained(&[0; 32], 1, 2, &["ab", "c", ""]));
    }
}
