//! Kemeny's method.
//!
//! - The score of an order is the number of preferences that it agrees with, over all pairs and ballots; the distance
//!   is the number that it disagrees with. The order with the highest score is the result.
//! - Up to 12 entries it is found exactly, by dynamic programming over subsets. Beyond that a local search moves single
//!   entries from the order of Borda's count while the score rises, and the result says that it is not exact.
//! - Of several best orders the one is taken that is earliest by the lot, and the result says that there are others.
//!
//! Source: J. G. Kemeny, "Mathematics without numbers", Daedalus 88 (1959).

use super::{Election, Pairwise, TooManyEntries};

/// The most entries for which the best order is found exactly.
pub const MAX_EXACT: usize = 12;

/// The result of Kemeny's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kemeny {
    /// All entries in order, best first.
    pub order: Vec<u32>,
    /// How many preferences the order agrees with.
    pub score: u64,
    /// How many preferences it disagrees with.
    pub distance: u64,
    /// How many orders have this score, where it is known to be the highest; none where the order was found by a local
    /// search.
    pub best_orders: Option<u64>,
}

impl Election {
    /// Ranks by Kemeny's method.
    pub fn kemeny(&self) -> Result<Kemeny, TooManyEntries> {
        let preferences = self.pairwise()?;
        let mut by_lot = self.standing.clone();
        by_lot.sort_by_key(|entry| self.lot[*entry as usize]);
        let (order, best_orders) = if by_lot.len() <= MAX_EXACT {
            best_order(&by_lot, &preferences)
        } else {
            let (points, _) = self.borda();
            by_lot.sort_by_key(|entry| std::cmp::Reverse(points[*entry as usize]));
            (improved(by_lot, &preferences), None)
        };
        let pairs =
            || order.iter().enumerate().flat_map(|(at, one)| order[at + 1..].iter().map(move |other| (*one, *other)));
        let score = pairs().map(|(one, other)| preferences.get(one, other)).sum();
        let distance = pairs().map(|(one, other)| preferences.get(other, one)).sum();
        Ok(Kemeny { order, score, distance, best_orders })
    }
}

/// The first best order of these entries, and how many best orders there are.
fn best_order(entries: &[u32], preferences: &Pairwise) -> (Vec<u32>, Option<u64>) {
    let members = |set: usize| (0..entries.len()).filter(move |member| set & (1 << member) != 0);
    // What the set scores with this member put first, given the best scores of smaller sets.
    let score = |set: usize, first: usize, best: &[(u64, u64)]| {
        let others = members(set & !(1 << first));
        best[set & !(1 << first)].0 + others.map(|other| preferences.get(entries[first], entries[other])).sum::<u64>()
    };
    // The best score of each set of entries, and how many orders have it.
    let mut best = vec![(0, 1)];
    for set in 1..1 << entries.len() {
        let highest = members(set).map(|first| score(set, first, &best)).max().unwrap_or(0);
        let firsts = members(set).filter(|first| score(set, *first, &best) == highest);
        let orders = firsts.map(|first| best[set & !(1 << first)].1).sum();
        best.push((highest, orders));
    }
    let mut left = best.len() - 1;
    let orders = best[left].1;
    let mut order = Vec::with_capacity(entries.len());
    while let Some(first) = members(left).find(|first| score(left, *first, &best) == best[left].0) {
        order.push(entries[first]);
        left &= !(1 << first);
    }
    (order, Some(orders))
}

/// Moves single entries to where the score is highest until no move raises it.
fn improved(mut order: Vec<u32>, preferences: &Pairwise) -> Vec<u32> {
    let mut since_last_move = 0;
    let mut at = 0;
    while since_last_move < order.len() {
        let entry = order[at];
        let gain = |other: u32| i128::from(preferences.get(entry, other)) - i128::from(preferences.get(other, entry));
        let (mut best, mut to) = (0, at);
        let mut sum = 0;
        for earlier in (0..at).rev() {
            sum += gain(order[earlier]);
            if sum > best {
                (best, to) = (sum, earlier);
            }
        }
        sum = 0;
        for (later, other) in order.iter().enumerate().skip(at + 1) {
            sum -= gain(*other);
            if sum > best {
                (best, to) = (sum, later);
            }
        }
        since_last_move = if best > 0 { 0 } else { since_last_move + 1 };
        let entry = order.remove(at);
        order.insert(to, entry);
        at = (at + 1) % order.len();
    }
    order
}
