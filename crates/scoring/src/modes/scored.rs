//! `vip_judging`: judges score criteria.
//!
//! - An entry's score is the exact mean over its counted sheets.
//! - Trimmed, it is the mean of what is left after `floor(trim x n)` sheets were dropped from each end of the sorted
//!   sheets.
//! - An entry with fewer counted sheets than the score set asks for, or with too few left after trimming, has no place.

use num::Integer;

use crate::places::Ranking;
use crate::sheet::{Totals, Units};

/// How a mean is trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// What share of the sheets is dropped from each end, in per cent.
    pub percent: u32,
    /// How many sheets have to be left.
    pub min_kept: u32,
}

/// What is left of a sorted list after so many were dropped from each end.
pub fn without_ends<T>(sorted: &[T], low: usize, high: usize) -> &[T] {
    sorted.get(low..sorted.len().saturating_sub(high)).unwrap_or_default()
}

/// The totals of the sheets that trimming leaves, or none where too few are left.
pub fn trimmed(mut sheets: Vec<Units>, trim: Trim) -> Option<Totals> {
    sheets.sort_unstable();
    let dropped = sheets.len().saturating_mul(trim.percent as usize) / 100;
    let kept = without_ends(&sheets, dropped, dropped);
    let totals: Totals = kept.iter().collect();
    (totals.sheets > 0 && totals.sheets >= trim.min_kept).then_some(totals)
}

/// Ranks the entries of a board, which are the indexes of `totals`, by their scores. Entries with fewer sheets than
/// `min_judges`, or with none, are left out: they have no place.
pub fn rank(totals: &[Totals], min_judges: u32) -> Ranking {
    let placed = || (0..).zip(totals).filter(|(_, totals)| totals.sheets >= min_judges.max(1));
    if let Some(ranking) = rank_whole(placed()) {
        ranking
    } else if placed().all(|(_, totals)| totals.parts.is_none()) {
        Ranking::of(placed().filter_map(|(entry, totals)| Some((totals.mean()?, entry))))
    } else {
        Ranking::of(placed().map(|(entry, totals)| (totals.exact_mean(), entry)))
    }
}

/// Ranks by the means times the least common multiple of all numbers of sheets. None where these numbers are not whole, or do not
/// fit.
fn rank_whole<'a>(placed: impl Iterator<Item = (u32, &'a Totals)> + Clone) -> Option<Ranking> {
    let (mut common, mut last) = (1_u32, 0);
    for (entry, totals) in placed.clone() {
        if !common.is_multiple_of(totals.sheets) {
            common = (common / common.gcd(&totals.sheets)).checked_mul(totals.sheets)?;
        }
        last = entry;
    }
    let mean = |totals: &Totals| {
        let factor = i64::from(common / totals.sheets);
        totals.sum.checked_mul(factor).filter(|_| totals.parts.is_none())
    };
    let means: Vec<i64> = placed.clone().map(|(_, totals)| mean(totals)).collect::<Option<_>>()?;
    let highest = means.iter().copied().max().unwrap_or(0);
    let lowest = means.iter().copied().min().unwrap_or(0);
    let below = means.iter().map(|mean| highest.abs_diff(*mean));
    let keyed = below.zip(placed.map(|(entry, _)| entry));
    match usize::try_from(highest.abs_diff(lowest)) {
        Ok(range) if range <= means.len() => Some(rank_counted(keyed, range)),
        _ => rank_packed(keyed, u32::BITS - last.leading_zeros()),
    }
}

/// Ranks by how far below the highest mean each is, at most `range`, by counting: few values are sorted in linear time.
fn rank_counted(keyed: impl Iterator<Item = (u64, u32)> + Clone, range: usize) -> Ranking {
    let at = |below: u64| usize::try_from(below).unwrap_or(range);
    let mut ends = vec![0_usize; range + 2];
    for (below, _) in keyed.clone() {
        ends[at(below) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; ends[range + 1]];
    // Each start moves on to the end of its group.
    for (below, entry) in keyed {
        let next = &mut ends[at(below)];
        sorted[*next] = entry;
        *next += 1;
    }
    Ranking::of_groups(sorted, &ends[..=range])
}

/// Ranks by how far below the highest mean each is, packed with its entry, of so many bits, into 64: that is sorted twice as fast
/// as fractions.
fn rank_packed(keyed: impl Iterator<Item = (u64, u32)>, bits: u32) -> Option<Ranking> {
    let pack = |(below, entry): (u64, u32)| Some(below.checked_mul(1 << bits)? | u64::from(entry));
    let mut packed: Vec<u64> = keyed.map(pack).collect::<Option<_>>()?;
    packed.sort_unstable();
    let mut ranking = Ranking::default();
    let mask = (1 << bits) - 1;
    for group in packed.chunk_by(|one, other| one >> bits == other >> bits) {
        ranking.push_group(group.iter().filter_map(|packed| u32::try_from(packed & mask).ok()));
    }
    Some(ranking)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rational::fraction;

    fn totals(sum: i64, sheets: u32) -> Totals {
        Totals { sum, sheets, parts: None }
    }

    #[test]
    fn trimming_drops_the_floor_from_each_end() {
        let sheets = [3, 9, 1, 7, 5].map(Units::Whole).to_vec();
        let trimmed = |percent, min_kept| trimmed(sheets.clone(), Trim { percent, min_kept });
        assert_eq!(trimmed(19, 0), Some(totals(25, 5)));
        assert_eq!(trimmed(20, 3), Some(totals(15, 3)));
        assert_eq!(trimmed(20, 4), None);
        assert_eq!(trimmed(40, 1), Some(totals(5, 1)));
        assert_eq!(trimmed(60, 0), None);
    }

    #[test]
    fn an_entry_with_too_few_sheets_has_no_place() {
        let board = [totals(10, 2), totals(9, 1), totals(0, 0), totals(20, 3)];
        assert_eq!(rank(&board, 2).entries(), [3, 0]);
        assert_eq!(rank(&board, 0).entries(), [1, 3, 0]);
    }

    fn sum() -> impl Strategy<Value = i64> {
        prop_oneof![9 => -9..9_i64, 1 => any::<i64>()]
    }

    proptest! {
        #[test]
        fn boards_are_ranked_by_exact_means(
            board in prop::collection::vec((sum(), 0..5_u32, prop::option::weighted(0.1, 1..4_i64)), 0..12)
        ) {
            let totals = board.iter().map(|(sum, sheets, third)| {
                let parts = third.and_then(|third| fraction(third, 3)).map(Box::new);
                Totals { sum: *sum, sheets: *sheets, parts }
            });
            let totals: Vec<Totals> = totals.collect();
            let with_sheets = (0..).zip(&totals).filter(|(_, totals)| totals.sheets > 0);
            let expected = Ranking::of(with_sheets.map(|(entry, totals)| (totals.exact_mean(), entry)));
            prop_assert_eq!(rank(&totals, 1), expected);
        }
    }
}
