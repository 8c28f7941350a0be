//! Documents that take long to work out, kept for the change of their account that they were worked out at. A later change finds
//! nothing here: what is kept is never out of date, and what nobody asks for gives way to what is asked for.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use db::{AccountId, Committed};

/// About how many documents there are.
const DOCUMENTS: usize = 256;

/// What a document is of: the account, where it stood, and what was asked for.
type Key = (AccountId, [u8; 32], i64, String);

/// The documents that are kept.
pub struct Kept(Cache<Key, Arc<str>, Bytes>);

/// Documents weigh their bytes.
#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Arc<str>> for Bytes {
    fn weight(&self, (.., asked): &Key, document: &Arc<str>) -> u64 {
        (asked.len() + document.len()) as u64
    }
}

impl Kept {
    /// Keeps documents of so many bytes together.
    pub fn new(bytes: usize) -> Self {
        Self(Cache::with_weighter(DOCUMENTS, bytes as u64, Bytes))
    }

    /// The document that was worked out of an account that stood here.
    pub fn get(&self, account: AccountId, at: Committed, asked: &str) -> Option<Arc<str>> {
        self.0.get(&key(account, at, asked))
    }

    /// Keeps a document.
    pub fn put(&self, account: AccountId, at: Committed, asked: &str, document: &Arc<str>) {
        self.0.insert(key(account, at, asked), Arc::clone(document));
    }
}

fn key(account: AccountId, at: Committed, asked: &str) -> Key {
    (account, at.hash, at.version, asked.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_where_the_account_stands_as_it_did() {
        let kept = Kept::new(1 << 20);
        let (account, at) = (AccountId(1), Committed { version: 3, sequence: 7, hash: [1; 32] });
        kept.put(account, at, "analysis", &"{}".into());
        assert_eq!(kept.get(account, at, "analysis").as_deref(), Some("{}"));
        assert_eq!(kept.get(AccountId(2), at, "analysis"), None);
        assert_eq!(kept.get(account, Committed { hash: [2; 32], ..at }, "analysis"), None);
        assert_eq!(kept.get(account, at, "another"), None);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let kept = Kept::new(1_000);
        let document: Arc<str> = "x".repeat(100).into();
        for sequence in 0..100 {
            let at = Committed { version: 1, sequence, hash: [u8::try_from(sequence).unwrap(); 32] };
            kept.put(AccountId(1), at, "analysis", &document);
        }
        assert!(kept.0.weight() <= 1_000);
    }
}
