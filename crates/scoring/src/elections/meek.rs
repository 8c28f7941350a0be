//! Meek's method of the single transferable vote.
//!
//! - Every entry keeps a factor of each vote that reaches it and passes on the rest: hopeful entries keep all, those
//!   that are out keep nothing, and elected ones keep as much as leaves them with the quota. The quota follows from the
//!   votes that are still held by somebody.
//! - Votes, factors and quota are integers in units of 1e-9. What an entry keeps is rounded up, the quota is rounded
//!   down and one unit is added.
//! - A round ends when somebody is elected, or when the surplus is below omega or no longer falls; then the entry with
//!   the fewest votes goes out. Entries within the surplus of the fewest votes are tied, and the lot decides.
//! - Entries without any vote go out together. Without a single ballot nobody is elected.
//!
//! Sources: I. D. Hill, B. A. Wichmann and D. R. Woodall, "Algorithm 123: single transferable vote by Meek's method",
//! The Computer Journal 30 (1987); the step letters are those of the Reference Meek Rule,
//! <https://prfound.org/resources/reference/reference-meek-rule/>.

use std::collections::BTreeMap;

use super::Election;
use super::count::{Count, Decision, Tie, TieRule};
use crate::places::Ranking;

/// The decimals of votes, factors and quota.
pub const DECIMALS: u32 = 9;

/// The surplus below which a round ends, in units of 1e-9.
pub const OMEGA: u128 = 1_000;

/// One vote.
const ONE: u128 = 10_u128.pow(DECIMALS);

/// The result of a count by Meek's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meek {
    /// Who is elected, in order.
    pub elected: Vec<u32>,
    /// All entries: who is elected, who was still hopeful at the end by votes, who was eliminated, the last first.
    pub ranking: Ranking,
    /// How the count went.
    pub rounds: Vec<MeekRound>,
}

/// A round of the count, as it stood when it was decided. All numbers are in units of 1e-9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeekRound {
    /// How many votes elect.
    pub quota: u128,
    /// The votes of hopeful and elected entries, by their numbers; those that are not named have none.
    pub votes: BTreeMap<u32, u128>,
    /// What elected entries have above the quota.
    pub surplus: u128,
    /// What the round decides.
    pub decision: Decision,
    /// The tie that was broken to decide it.
    pub tie: Option<Tie>,
}

impl Election {
    /// Counts by Meek's method. `omega` is in units of 1e-9; see [`OMEGA`].
    pub fn meek(&self, seats: u32, omega: u128) -> Meek {
        let mut count = Count::new(self, seats);
        let mut factors = vec![ONE; self.entries as usize];
        let mut rounds = Vec::new();
        let mut goes_on = count.seats > 0 && !self.ballots.is_empty();
        while goes_on {
            let round = self.meek_round(&count, &mut factors, omega);
            goes_on = count.carry_out(&round.decision);
            if let Decision::Eliminated(entries) = &round.decision {
                for entry in entries {
                    factors[*entry as usize] = 0;
                }
            }
            rounds.push(round);
        }
        let votes = rounds.last().map(|round: &MeekRound| round.votes.clone()).unwrap_or_default();
        let ranking = count.ranking(|entry| votes.get(&entry));
        Meek { elected: count.elected, ranking, rounds }
    }

    /// Step B: iterates until the round is decided.
    fn meek_round(&self, count: &Count, factors: &mut [u128], omega: u128) -> MeekRound {
        let mut before = None;
        loop {
            let all = self.distribute(factors);
            let quota = all.iter().sum::<u128>() / (count.seats as u128 + 1) + 1;
            let above = |entry: &u32| all[*entry as usize].saturating_sub(quota);
            let surplus: u128 = count.elected.iter().map(above).sum();
            let decided = decide(count, &all, quota, surplus);
            let is_stable = surplus < omega || before.is_some_and(|before| surplus >= before);
            if is_stable || !matches!(decided.0, Decision::Eliminated(_)) {
                let votes = (0..).zip(all).filter(|(_, votes)| *votes > 0).collect();
                return MeekRound { quota, votes, surplus, decision: decided.0, tie: decided.1 };
            }
            for entry in &count.elected {
                let factor = &mut factors[*entry as usize];
                *factor = ((*factor * quota).div_ceil(ONE) * ONE).div_ceil(all[*entry as usize].max(1)).min(ONE);
            }
            before = Some(surplus);
        }
    }

    /// Step B.2.a: the votes of every entry under these factors.
    fn distribute(&self, factors: &[u128]) -> Vec<u128> {
        let mut votes = vec![0; factors.len()];
        for (order, ballots) in &self.ballots {
            let mut weight = ONE;
            for entry in order {
                let kept = (weight * factors[*entry as usize]).div_ceil(ONE);
                votes[*entry as usize] += kept * u128::from(*ballots);
                weight -= kept;
                if weight == 0 {
                    break;
                }
            }
        }
        votes
    }
}

/// Steps B.1, B.2.c and B.3: what these votes decide, once they are stable.
fn decide(count: &Count, votes: &[u128], quota: u128, surplus: u128) -> (Decision, Option<Tie>) {
    let votes = |entry: u32| votes[entry as usize];
    let with = |holds: &dyn Fn(u128) -> bool| -> Vec<u32> {
        let mut entries: Vec<u32> = count.hopeful.iter().copied().filter(|entry| holds(votes(*entry))).collect();
        count.sort_highest_first(&mut entries, votes);
        entries
    };
    if count.hopeful.len() <= count.seats_left() {
        return (Decision::Filled(with(&|_| true)), None);
    }
    let mut reached = with(&|votes| votes >= quota);
    if !reached.is_empty() {
        reached.truncate(count.seats_left());
        return (Decision::Elected(reached), None);
    }
    let without = with(&|votes| votes == 0);
    if !without.is_empty() {
        let (out, tie) = count.without_votes(without);
        return (Decision::Eliminated(out), tie);
    }
    let fewest = count.hopeful.iter().map(|entry| votes(*entry)).min().unwrap_or(0);
    let mut tied = with(&|votes| votes <= fewest + surplus);
    count.sort_highest_first(&mut tied, |_| ());
    let out = tied.last().copied().into_iter().collect();
    let tie = (tied.len() > 1).then_some(Tie { entries: tied, broken_by: TieRule::Lot });
    (Decision::Eliminated(out), tie)
}
