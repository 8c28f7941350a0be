//! How many prefer one entry to another.

use super::Election;

/// The most entries that are compared pair by pair, which takes the cube of their number.
pub const MAX_PAIRWISE: usize = 1_000;

/// More entries than can be compared pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} entries are more than {MAX_PAIRWISE}, the most that are compared pair by pair")]
pub struct TooManyEntries(pub usize);

/// A number for every ordered pair of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairwise {
    entries: usize,
    counts: Vec<u32>,
}

impl Pairwise {
    /// The number for this pair; 0 for entries that there are not.
    pub fn get(&self, one: u32, other: u32) -> u64 {
        self.at(one, other).into()
    }

    pub(super) fn at(&self, one: u32, other: u32) -> u32 {
        self.row(one).get(other as usize).copied().unwrap_or(0)
    }

    pub(super) fn row(&self, one: u32) -> &[u32] {
        let start = one as usize * self.entries;
        self.counts.get(start..start + self.entries).unwrap_or_default()
    }

    /// A number for every pair that follows from those of the pair, forth and back.
    pub(super) fn map(&self, number: impl Fn(u32, u32) -> u32) -> Self {
        let all = || (0..).take(self.entries);
        let pairs = all().flat_map(|one| all().map(move |other| (one, other)));
        let counts = pairs.map(|(one, other)| number(self.at(one, other), self.at(other, one))).collect();
        Self { entries: self.entries, counts }
    }

    pub(super) fn row_mut(&mut self, one: u32) -> &mut [u32] {
        let start = one as usize * self.entries;
        self.counts.get_mut(start..start + self.entries).unwrap_or_default()
    }
}

impl Election {
    /// How many ballots prefer the first of a pair to the second: they name it, and the second later or not at all.
    pub fn pairwise(&self) -> Result<Pairwise, TooManyEntries> {
        let entries = self.entries as usize;
        if entries > MAX_PAIRWISE {
            return Err(TooManyEntries(entries));
        }
        let mut pairwise = Pairwise { entries, counts: vec![0; entries * entries] };
        for (order, count) in &self.ballots {
            let mut below = vec![false; entries];
            self.standing.iter().for_each(|entry| below[*entry as usize] = true);
            for entry in order {
                below[*entry as usize] = false;
                for (number, below) in pairwise.row_mut(*entry).iter_mut().zip(&below) {
                    *number += u32::from(*below) * count;
                }
            }
        }
        Ok(pairwise)
    }
}
