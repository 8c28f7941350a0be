//! The judges of a panel: begun sheets stay while they fit, free places are filled in the order of a hash.
//!
//! The order is that of the first eight bytes, big endian, of SHA-256 over panel, entry and judge, each after its length
//! as eight bytes, big endian; equal hashes go by entry and judge. So who judges what follows from who is there, and not
//! from the order in which they came.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// An entry or a judge of a panel, by the bytes of its key, and how many of the other it can have.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// What it is known by.
    pub key: &'a [u8],
    /// The most that it can have.
    pub cap: usize,
}

/// An entry's key and a judge's key.
pub type Keys<'a> = (&'a [u8], &'a [u8]);

/// Who judges what in the panel, ascending by keys; begun sheets that no longer fit are left out, the last by hash first.
pub fn panel<'a>(
    panel: &[u8],
    entries: &[Member<'a>],
    judges: &[Member<'a>],
    begun: &[Keys<'a>],
    permitted: impl Fn(&[u8], &[u8]) -> bool,
) -> Vec<Keys<'a>> {
    let mut entry_room: BTreeMap<&[u8], usize> = entries.iter().map(|entry| (entry.key, entry.cap)).collect();
    let mut judge_room: BTreeMap<&[u8], usize> = judges.iter().map(|judge| (judge.key, judge.cap)).collect();
    let by_hash = |pairs: Vec<Keys<'a>>| {
        let mut pairs: Vec<(u64, Keys<'a>)> =
            pairs.into_iter().map(|(entry, judge)| (hash([panel, entry, judge]), (entry, judge))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.into_iter().map(|(_, pair)| pair)
    };
    let all = entries.iter().flat_map(|entry| judges.iter().map(|judge| (entry.key, judge.key)));
    let mut chosen = std::collections::BTreeSet::new();
    for (entry, judge) in by_hash(begun.to_vec()).chain(by_hash(all.collect())) {
        let (Some(places), Some(room)) = (entry_room.get_mut(entry), judge_room.get_mut(judge)) else { continue };
        if *places > 0 && *room > 0 && permitted(entry, judge) && chosen.insert((entry, judge)) {
            *places -= 1;
            *room -= 1;
        }
    }
    chosen.into_iter().collect()
}

fn hash(parts: [&[u8]; 3]) -> u64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte))
}
