//! The single transferable vote.
//!
//! - The Droop quota is `floor(votes / (seats + 1)) + 1`, over the ballots that name an entry.
//! - In a round all who reach the quota are elected. Their surpluses are transferred together, so that no order among
//!   them is to be decided: each paper goes on to the next entry that it names and that is still in the count, at its
//!   value times surplus over votes (the weighted inclusive Gregory method), in exact fractions.
//! - Where nobody reaches it the entry with the fewest votes goes out, and its papers go on at their value. Entries
//!   without any vote go out together.
//! - Once no more are left than there are seats, all of them are elected.
//! - Without a single ballot nobody is elected.
//!
//! Source: Scottish Local Government Elections Order 2007, schedule 1, rules 45 to 52, without its truncation and with
//! all surpluses of a round at once.

use std::collections::BTreeMap;

use num::Zero;

use super::Election;
use super::count::{Count, Decision, Tie, TieRule};
use crate::places::Ranking;
use crate::rational::{Fraction, whole};

/// The result of a single transferable vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stv {
    /// How many votes elect.
    pub quota: u64,
    /// Who is elected, in order.
    pub elected: Vec<u32>,
    /// All entries: who is elected, who was still in the count at the end by votes, who was eliminated, the last first.
    pub ranking: Ranking,
    /// How the count went.
    pub rounds: Vec<StvRound>,
}

/// A round of the count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StvRound {
    /// The votes of the entries that are still in the count, by their numbers; those that are not named have none.
    pub tally: BTreeMap<u32, Fraction>,
    /// The votes of papers that name nobody who is still in the count.
    pub exhausted: Fraction,
    /// What the round decides.
    pub decision: Decision,
    /// The tie that was broken to decide it.
    pub tie: Option<Tie>,
}

/// The Droop quota, `floor(votes / (seats + 1)) + 1`.
pub fn droop_quota(votes: u64, seats: u32) -> u64 {
    votes / (u64::from(seats) + 1) + 1
}

/// A ballot on its way: what it still names, and what it is worth.
struct Paper<'a> {
    rest: &'a [u32],
    value: Fraction,
}

/// The papers that lie with each entry.
struct Piles<'a> {
    papers: BTreeMap<u32, Vec<Paper<'a>>>,
    tally: BTreeMap<u32, Fraction>,
    exhausted: Fraction,
    /// The order by votes of the rounds before, by entry: a later round counts more. Who has no votes has no rank.
    ranks: BTreeMap<u32, usize>,
}

impl<'a> Piles<'a> {
    /// Lays a paper with the next entry that it names and that is in the count.
    fn lay(&mut self, mut paper: Paper<'a>, count: &Count) {
        while let Some((next, rest)) = paper.rest.split_first() {
            paper.rest = rest;
            if count.hopeful.contains(next) {
                *self.tally.entry(*next).or_insert_with(Fraction::zero) += &paper.value;
                self.papers.entry(*next).or_default().push(paper);
                return;
            }
        }
        self.exhausted += paper.value;
    }

    /// Lays the papers of entries that left the count with others, at their value times a factor.
    fn transfer(&mut self, from: &[u32], factor: impl Fn(&Fraction) -> Fraction, count: &Count) {
        let leaving: Vec<_> = from.iter().map(|entry| (self.tally.remove(entry), self.papers.remove(entry))).collect();
        for (votes, papers) in leaving {
            let factor = factor(&votes.unwrap_or_else(Fraction::zero));
            for Paper { rest, value } in papers.unwrap_or_default() {
                let value = value * &factor;
                if !value.is_zero() {
                    self.lay(Paper { rest, value }, count);
                }
            }
        }
    }

    /// Takes this round into the order of rounds.
    fn remember(&mut self) {
        let key = |entry: u32, votes: &Fraction| (votes.clone(), self.ranks.get(&entry).copied());
        let ranking = Ranking::of(self.tally.iter().map(|(entry, votes)| (key(*entry, votes), *entry)));
        let groups: Vec<&[u32]> = ranking.groups().collect();
        let ranks = groups.iter().rev().zip(0..);
        self.ranks = ranks.flat_map(|(group, rank)| group.iter().map(move |entry| (*entry, rank))).collect();
    }

    /// Who goes out.
    fn lowest(&self, count: &Count, rule: TieRule) -> (Vec<u32>, Option<Tie>) {
        let without: Vec<u32> = count.hopeful.iter().copied().filter(|entry| !self.tally.contains_key(entry)).collect();
        if !without.is_empty() {
            return count.without_votes(without);
        }
        let fewest = self.tally.values().min();
        let mut tied: Vec<u32> =
            self.tally.iter().filter(|(_, votes)| Some(*votes) == fewest).map(|(entry, _)| *entry).collect();
        let rank = |entry: u32| self.ranks.get(&entry).copied().filter(|_| rule == TieRule::EarlierRounds);
        count.sort_highest_first(&mut tied, rank);
        let (out, others) = match tied.as_slice() {
            [others @ .., out] => (vec![*out], others),
            [] => (Vec::new(), &[][..]),
        };
        let by_lot = out.iter().any(|out| others.iter().any(|other| rank(*other) == rank(*out)));
        let broken_by = if by_lot { TieRule::Lot } else { TieRule::EarlierRounds };
        let tie = (!others.is_empty()).then(|| Tie { entries: tied.clone(), broken_by });
        (out, tie)
    }
}

impl Election {
    /// Counts a single transferable vote.
    pub fn stv(&self, seats: u32, rule: TieRule) -> Stv {
        let quota = droop_quota(self.votes().into(), seats);
        let threshold = whole(quota);
        let mut count = Count::new(self, seats);
        let (papers, tally, ranks) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut piles = Piles { papers, tally, exhausted: Fraction::zero(), ranks };
        for (order, votes) in &self.ballots {
            piles.lay(Paper { rest: order, value: whole(*votes) }, &count);
        }
        let mut rounds = Vec::new();
        let mut goes_on = count.seats > 0 && !self.ballots.is_empty();
        while goes_on {
            let (decision, tie) = decide(&piles, &count, &threshold, rule);
            rounds.push(StvRound {
                tally: piles.tally.clone(),
                exhausted: piles.exhausted.clone(),
                decision: decision.clone(),
                tie,
            });
            goes_on = count.carry_out(&decision);
            if goes_on {
                piles.remember();
                match &decision {
                    Decision::Eliminated(entries) => piles.transfer(entries, |_| whole(1), &count),
                    Decision::Elected(entries) | Decision::Filled(entries) => {
                        piles.transfer(entries, |votes| (votes - &threshold) / votes, &count);
                    }
                }
            }
        }
        let ranking = count.ranking(|entry| (piles.tally.get(&entry), piles.ranks.get(&entry)));
        Stv { quota, elected: count.elected, ranking, rounds }
    }
}

fn decide(piles: &Piles, count: &Count, threshold: &Fraction, rule: TieRule) -> (Decision, Option<Tie>) {
    let by_votes = |mut entries: Vec<u32>| {
        count.sort_highest_first(&mut entries, |entry| (piles.tally.get(&entry), piles.ranks.get(&entry)));
        entries
    };
    if count.hopeful.len() <= count.seats_left() {
        return (Decision::Filled(by_votes(count.hopeful.iter().copied().collect())), None);
    }
    let reached = piles.tally.iter().filter(|(_, votes)| *votes >= threshold);
    let reached: Vec<u32> = reached.map(|(entry, _)| *entry).collect();
    if reached.is_empty() {
        let (out, tie) = piles.lowest(count, rule);
        (Decision::Eliminated(out), tie)
    } else {
        (Decision::Elected(by_votes(reached)), None)
    }
}
