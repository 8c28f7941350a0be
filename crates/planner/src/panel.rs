//! The judges of a panel: begun sheets stay while they fit, free places are filled in the order of a hash.
//!
//! The order is that of the first eight bytes, big endian, of SHA-256 over panel, entry and judge, each after its length
//! as eight bytes, big endian; equal hashes go by entry and judge. So who judges what follows from who is there, and not
//! from the order in which they came.

use std::collections::{BTreeMap, BTreeSet};

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

/// How many pairs are put in order at a time: of 40 bytes each.
const PAIRS: usize = 4_000_000;

/// Who judges what in the panel, ascending by keys; begun sheets that no longer fit are left out, the last by hash first.
pub fn panel<'a>(
    panel: &[u8],
    entries: &[Member<'a>],
    judges: &[Member<'a>],
    begun: &[Keys<'a>],
    permitted: impl Fn(&[u8], &[u8]) -> bool,
) -> Vec<Keys<'a>> {
    in_parts(panel, (entries, judges), begun, permitted, PAIRS)
}

/// The same, with so many pairs in memory at a time.
fn in_parts<'a>(
    panel: &[u8],
    (entries, judges): (&[Member<'a>], &[Member<'a>]),
    begun: &[Keys<'a>],
    permitted: impl Fn(&[u8], &[u8]) -> bool,
    at_a_time: usize,
) -> Vec<Keys<'a>> {
    let mut entry_room: BTreeMap<&[u8], usize> = entries.iter().map(|entry| (entry.key, entry.cap)).collect();
    let mut judge_room: BTreeMap<&[u8], usize> = judges.iter().map(|judge| (judge.key, judge.cap)).collect();
    let mut chosen = BTreeSet::new();
    let mut choose = |mut pairs: Vec<(u64, Keys<'a>)>| {
        pairs.sort_unstable();
        for (_, (entry, judge)) in pairs {
            let (Some(places), Some(room)) = (entry_room.get_mut(entry), judge_room.get_mut(judge)) else { continue };
            if *places > 0 && *room > 0 && permitted(entry, judge) && chosen.insert((entry, judge)) {
                *places -= 1;
                *room -= 1;
            }
        }
        entry_room.values().any(|places| *places > 0) && judge_room.values().any(|room| *room > 0)
    };
    let hashed = |(entry, judge): Keys<'a>| (hash([panel, entry, judge]), (entry, judge));
    let mut has_room = choose(begun.iter().copied().map(hashed).collect());
    // The lowest hashes first, then those behind them.
    let parts = entries.len().saturating_mul(judges.len()).div_ceil(at_a_time) as u128;
    let mut part = 0;
    while has_room && part < parts {
        let all = entries.iter().flat_map(|entry| judges.iter().map(|judge| hashed((entry.key, judge.key))));
        has_room = choose(all.filter(|(hash, _)| (u128::from(*hash) * parts) >> 64 == part).collect());
        part += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_parts_a_panel_is_the_same() {
        let keys: Vec<[u8; 2]> = (0..40u8).map(|number| [b'k', number]).collect();
        let member = |cap| move |key: &'static [u8; 2]| Member { key, cap };
        let keys: &'static [[u8; 2]] = keys.leak();
        let entries: Vec<_> = keys.iter().map(member(3)).collect();
        let judges: Vec<_> = keys.iter().take(12).map(member(9)).collect();
        let permitted = |entry: &[u8], judge: &[u8]| entry != judge;
        let whole = panel(b"north", &entries, &judges, &[], permitted);
        assert_eq!(whole.len(), 108);
        for at_a_time in [1, 7, 100] {
            assert_eq!(in_parts(b"north", (&entries, &judges), &[], permitted, at_a_time), whole, "{at_a_time}");
        }
    }
}
