//! The hash chain.

use sha2::{Digest, Sha256};

use crate::text::Slug;

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

#[cfg(test)]
mod tests {
    use super::chained;

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
