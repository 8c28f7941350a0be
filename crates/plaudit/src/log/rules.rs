//! The hash chain. It goes over the hashes of documents, so that a document can be erased and the chain proves the rest.

use sha2::{Digest, Sha256};

use kernel::text::Slug;

/// The hash before the first change of an account.
pub fn origin(account: Slug) -> [u8; 32] {
    Sha256::new().chain_update("plaudit change log 2\n").chain_update(account.as_str()).finalize().into()
}

/// The hash of a document.
pub fn hash_of(document: &str) -> [u8; 32] {
    Sha256::digest(document).into()
}

/// The hash of a change: over the hash before it, its number, time and form, its texts, each with its length before it,
/// and the hash of its document, so that no two different changes are hashed over the same bytes.
pub(super) fn chained(before: &[u8; 32], numbers: [i64; 3], texts: &[&str; 6], document: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new().chain_update(before);
    for number in numbers {
        hash.update(number.to_be_bytes());
    }
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.chain_update(document).finalize().into()
}

/// The name of the change of a hash, never a negative number.
pub fn name_of(hash: &[u8; 32]) -> i64 {
    hash.iter().take(size_of::<i64>()).fold(0, |name, byte| name << 8 | i64::from(*byte)) & i64::MAX
}

#[cfg(test)]
mod tests {
    use super::{chained, hash_of, name_of};

    #[test]
    fn a_name_is_what_a_hash_begins_with() {
        let mut hash = [0; 32];
        hash[6..9].copy_from_slice(&[1, 2, 3]);
        assert_eq!(name_of(&hash), 0x0102);
        assert_eq!(name_of(&[0xff; 32]), i64::MAX);
    }

    #[test]
    fn the_hash_changes_with_everything_that_it_covers() {
        let texts = ["ab", "c", "", "", "", ""];
        let document = hash_of("{}");
        let start = chained(&[0; 32], [1, 2, 3], &texts, &document);
        assert_ne!(start, chained(&[1; 32], [1, 2, 3], &texts, &document));
        for numbers in [[2, 2, 3], [1, 3, 3], [1, 2, 4]] {
            assert_ne!(start, chained(&[0; 32], numbers, &texts, &document));
        }
        let moved = ["a", "bc", "", "", "", ""];
        assert_ne!(start, chained(&[0; 32], [1, 2, 3], &moved, &document), "a boundary that moves is a change");
        assert_ne!(start, chained(&[0; 32], [1, 2, 3], &texts, &hash_of("{ }")));
    }
}
