//! What counting rounds have in common: who is elected, who is eliminated, and in which order all entries end.

use std::collections::BTreeSet;

use super::Election;
use crate::places::Ranking;

/// What a round decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// These reach the quota, the one with the most votes first.
    Elected(Vec<u32>),
    /// These go out: the one with the fewest votes, or at once those that have none.
    Eliminated(Vec<u32>),
    /// No more are left than there are seats, so that all are elected; the one with the most votes first.
    Filled(Vec<u32>),
}

/// How a tie for elimination is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieRule {
    /// Who had fewer votes in the latest round in which the tied differ goes out, as in rule 51 of the Scottish Local
    /// Government Elections Order 2007; then the lot.
    EarlierRounds,
    /// Who comes last in the lot goes out.
    Lot,
}

/// A tie for elimination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// Who was tied.
    pub entries: Vec<u32>,
    /// What broke the tie.
    pub broken_by: TieRule,
}

/// The state of a count.
pub(super) struct Count<'a> {
    pub(super) election: &'a Election,
    pub(super) seats: usize,
    pub(super) hopeful: BTreeSet<u32>,
    pub(super) elected: Vec<u32>,
    eliminated: Vec<Vec<u32>>,
}

impl<'a> Count<'a> {
    pub(super) fn new(election: &'a Election, seats: u32) -> Self {
        let hopeful = election.standing.iter().copied().collect();
        Self { election, seats: seats as usize, hopeful, elected: Vec::new(), eliminated: Vec::new() }
    }

    pub(super) fn seats_left(&self) -> usize {
        self.seats.saturating_sub(self.elected.len())
    }

    /// Sorts entries by a key, the highest first, then by lot.
    pub(super) fn sort_highest_first<K: Ord>(&self, entries: &mut [u32], key: impl Fn(u32) -> K) {
        entries.sort_by(|one, other| {
            let by_lot = self.lot(*one).cmp(&self.lot(*other));
            key(*other).cmp(&key(*one)).then(by_lot)
        });
    }

    /// Who goes out when these are tied at the bottom without any vote: as many as may, the last in the lot first,
    /// since no vote moves when they go.
    pub(super) fn without_votes(&self, mut entries: Vec<u32>) -> (Vec<u32>, Option<Tie>) {
        self.sort_highest_first(&mut entries, |_| ());
        let spare = self.hopeful.len() - self.seats_left();
        let out = entries.split_off(entries.len().saturating_sub(spare));
        let tie = (!entries.is_empty()).then(|| [entries, out.clone()].concat());
        (out, tie.map(|entries| Tie { entries, broken_by: TieRule::Lot }))
    }

    /// Carries out a decision. Says whether seats are left that somebody can still win.
    pub(super) fn carry_out(&mut self, decision: &Decision) -> bool {
        let (Decision::Elected(entries) | Decision::Eliminated(entries) | Decision::Filled(entries)) = decision;
        for entry in entries {
            self.hopeful.remove(entry);
        }
        match decision {
            Decision::Eliminated(_) => self.eliminated.push(entries.clone()),
            Decision::Elected(_) | Decision::Filled(_) => self.elected.extend(entries),
        }
        self.seats_left() > 0 && !self.hopeful.is_empty()
    }

    /// All entries in order: who was elected first, who was still hopeful by a key, who was eliminated last.
    pub(super) fn ranking<K: Ord>(&self, key: impl Fn(u32) -> K) -> Ranking {
        let mut ranking = Ranking::default();
        self.elected.iter().for_each(|entry| ranking.push_group([*entry]));
        let hopeful = Ranking::of(self.hopeful.iter().map(|entry| (key(*entry), *entry)));
        hopeful.groups().for_each(|group| ranking.push_group(group.iter().copied()));
        self.eliminated.iter().rev().for_each(|group| ranking.push_group(group.iter().copied()));
        ranking
    }

    fn lot(&self, entry: u32) -> u32 {
        self.election.lot[entry as usize]
    }
}
