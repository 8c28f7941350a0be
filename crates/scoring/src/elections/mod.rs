//! `top_pick`: judges put entries in order, and the orders are combined.
//!
//! - A ballot names entries, best first, as many as the judge likes. Those it does not name are below all that it
//!   names.
//! - Withdrawn entries are taken out of every ballot, and a ballot that names nobody else does not count.
//! - Entries are numbers from 0. Every method gives all that were not withdrawn in order, in a [`Ranking`] in which
//!   only exact ties are tied, and no result depends on the order of the ballots.
//! - Where a rule needs a lot, the order of the lot is given by the caller; see [`crate::draw`].

mod borda;
mod count;
mod kemeny;
mod meek;
mod pairwise;
mod schulze;
mod stv;

use std::collections::{BTreeMap, BTreeSet};

pub use borda::points_by_preference;
pub use count::{Decision, Tie, TieRule};
pub use kemeny::{Kemeny, MAX_EXACT};
pub use meek::{DECIMALS, Meek, MeekRound, OMEGA};
pub use pairwise::{MAX_PAIRWISE, Pairwise, TooManyEntries};
pub use schulze::Schulze;
pub use stv::{Stv, StvRound, droop_quota};

use crate::places::Ranking;

/// Up to how many entries [`Election::without_lot`] tries a lot for each.
pub const MOST_LOTS: usize = 64;

/// An order that so many judges or voters gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ballot {
    /// How many gave it.
    pub count: u32,
    /// The entries that it names, best first.
    pub order: Vec<u32>,
}

/// Entries and the ballots about them.
#[derive(Clone, Debug)]
pub struct Election {
    entries: u32,
    standing: Vec<u32>,
    ballots: Vec<(Vec<u32>, u32)>,
    /// The position of each entry in the lot.
    lot: Vec<u32>,
}

/// Why ballots make no election.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidElection {
    /// There is no entry with this number.
    #[error("there is no entry {0}")]
    UnknownEntry(u32),
    /// A ballot or the lot names this entry twice.
    #[error("entry {0} is named twice")]
    NamedTwice(u32),
    /// More votes than 32 bits hold.
    #[error("there are more than {} votes", u32::MAX)]
    TooManyVotes,
}

impl Election {
    /// An election over entries 0 to `entries - 1`. The lot names entries in the order in which it prefers them; those
    /// that it does not name follow in the order of their numbers.
    pub fn new(
        entries: u32,
        withdrawn: &[u32],
        lot: &[u32],
        ballots: impl IntoIterator<Item = Ballot>,
    ) -> Result<Self, InvalidElection> {
        once_each(withdrawn, entries)?;
        once_each(lot, entries)?;
        let mut positions: Vec<u32> = (0..entries).map(|entry| entries.saturating_add(entry)).collect();
        for (entry, position) in lot.iter().zip(0..) {
            positions[*entry as usize] = position;
        }
        let mut merged: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut total = 0_u32;
        for Ballot { count, mut order } in ballots {
            once_each(&order, entries)?;
            order.retain(|entry| !withdrawn.contains(entry));
            if count > 0 && !order.is_empty() {
                total = total.checked_add(count).ok_or(InvalidElection::TooManyVotes)?;
                *merged.entry(order).or_default() += count;
            }
        }
        let standing = (0..entries).filter(|entry| !withdrawn.contains(entry)).collect();
        Ok(Self { entries, standing, ballots: merged.into_iter().collect(), lot: positions })
    }

    /// The ranking that a method makes, with those tied whom only the lot tells apart: a group ends where the orders of all lots that are
    /// tried have the same entries before it.
    ///
    /// These are the lot and the lot turned around; and where they differ, for each of up to [`MOST_LOTS`] entries, one in which that entry
    /// comes last.
    pub fn without_lot(&self, method: impl Fn(&Self) -> Ranking) -> Ranking {
        let under = |lot: Vec<u32>| method(&Self { lot, ..self.clone() });
        let first = method(self);
        let mut others = vec![under(self.lot.iter().map(|position| u32::MAX - position).collect())];
        if others[0] != first && self.standing.len() <= MOST_LOTS {
            others.extend(self.standing.iter().map(|entry| {
                let mut lot = self.lot.clone();
                lot[*entry as usize] = u32::MAX;
                under(lot)
            }));
        }
        let mut ends = ends(&first);
        for other in &others {
            let common = common_beginnings(first.entries(), other.entries());
            let of_other = self::ends(other);
            ends.retain(|end| common.contains(end) && of_other.contains(end));
        }
        let (mut ranking, mut begin) = (Ranking::default(), 0);
        for end in ends {
            let mut group = first.entries()[begin..end].to_vec();
            group.sort_unstable();
            ranking.push_group(group);
            begin = end;
        }
        ranking
    }

    /// The entries that were not withdrawn.
    pub fn standing(&self) -> &[u32] {
        &self.standing
    }

    /// How many ballots count.
    pub fn votes(&self) -> u32 {
        self.ballots.iter().map(|(_, count)| count).sum()
    }

    /// How often each entry, by its number, is named first, second and so on.
    pub fn preference_counts(&self) -> Vec<Vec<u64>> {
        let preferences = self.ballots.iter().map(|(order, _)| order.len()).max().unwrap_or(0);
        let mut counts = vec![vec![0; preferences]; self.entries as usize];
        for (order, count) in &self.ballots {
            for (preference, entry) in order.iter().enumerate() {
                counts[*entry as usize][preference] += u64::from(*count);
            }
        }
        counts
    }
}

/// After how many entries each group ends.
fn ends(ranking: &Ranking) -> BTreeSet<usize> {
    let lengths = ranking.groups().map(<[u32]>::len);
    lengths
        .scan(0, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect()
}

/// After how many entries two orders have had the same ones.
fn common_beginnings(one: &[u32], other: &[u32]) -> BTreeSet<usize> {
    // Those that came in one of the orders and have not come in the other.
    let mut open = BTreeSet::new();
    let mut common = BTreeSet::new();
    for (at, pair) in (1..).zip(one.iter().zip(other)) {
        for entry in [pair.0, pair.1] {
            if !open.remove(entry) {
                open.insert(entry);
            }
        }
        if open.is_empty() {
            common.insert(at);
        }
    }
    common
}

fn once_each(named: &[u32], entries: u32) -> Result<(), InvalidElection> {
    let mut sorted = named.to_vec();
    sorted.sort_unstable();
    if let Some(unknown) = sorted.last().filter(|last| **last >= entries) {
        return Err(InvalidElection::UnknownEntry(*unknown));
    }
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(InvalidElection::NamedTwice(pair[0])))
}

#[cfg(test)]
mod tests;
