//! Who goes on after a cut.
//!
//! - A cut is a number of places, a share of the entries that have a place, or a score that has to be reached.
//! - A share is rounded up: a part of an entry is an entry.
//! - Where entries on both sides of the line are tied, all of them go on, none of them does, or somebody is asked.
//! - A cut within each category or chapter is one call for each.

use super::Ranking;

/// Where the line is.
#[derive(Clone, Copy)]
pub enum Cut<'a> {
    /// So many entries go on.
    Places(u32),
    /// So many per cent of the ranked entries go on, rounded up.
    SharePercent(u32),
    /// Those go on for which this holds, as a rule that their score is at least some minimum.
    MinScore(&'a dyn Fn(u32) -> bool),
}

/// What happens to a tie across the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutTies {
    /// All of it goes on.
    #[default]
    Include,
    /// None of it goes on.
    Exclude,
    /// None of it goes on until somebody has decided.
    Ask,
}

/// The result of a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advanced {
    /// Who goes on, best first.
    pub advanced: Vec<u32>,
    /// The entries that are tied across the line.
    pub tied: Vec<u32>,
    /// How many of `tied` there is room for.
    pub room: usize,
}

/// Cuts a ranking.
pub fn advance(ranking: &Ranking, cut: Cut, ties: CutTies) -> Advanced {
    let entries = ranking.entries();
    let line = match cut {
        Cut::Places(places) => places as usize,
        Cut::SharePercent(share) => entries.len().saturating_mul(share as usize).div_ceil(100),
        Cut::MinScore(reaches) => {
            let advanced = entries.iter().copied().filter(|entry| reaches(*entry)).collect();
            return Advanced { advanced, ..Advanced::default() };
        }
    };
    let mut result = Advanced::default();
    for group in ranking.groups() {
        let room = line.saturating_sub(result.advanced.len());
        if room >= group.len() {
            result.advanced.extend(group);
            continue;
        }
        if room > 0 {
            result.tied = group.to_vec();
            result.room = room;
            if ties == CutTies::Include {
                result.advanced.extend(group);
            }
        }
        break;
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranking() -> Ranking {
        Ranking::of([(90, 0), (85, 1), (85, 2), (85, 3), (70, 4)])
    }

    #[test]
    fn ties_at_the_line_go_as_configured() {
        let cut = |places, ties| advance(&ranking(), Cut::Places(places), ties);
        assert_eq!(cut(4, CutTies::Ask), Advanced { advanced: vec![0, 1, 2, 3], tied: vec![], room: 0 });
        assert_eq!(cut(2, CutTies::Include), Advanced { advanced: vec![0, 1, 2, 3], tied: vec![1, 2, 3], room: 1 });
        assert_eq!(cut(3, CutTies::Exclude), Advanced { advanced: vec![0], tied: vec![1, 2, 3], room: 2 });
        assert_eq!(cut(2, CutTies::Ask), Advanced { advanced: vec![0], tied: vec![1, 2, 3], room: 1 });
        assert_eq!(cut(9, CutTies::Ask).advanced, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_share_is_rounded_up_and_a_score_is_inclusive() {
        let share = |percent| advance(&ranking(), Cut::SharePercent(percent), CutTies::Include).advanced.len();
        assert_eq!([0, 1, 20, 21, 80, 81, 100, u32::MAX].map(share), [0, 1, 1, 4, 4, 5, 5, 5]);
        let reached = |entry: u32| [90, 85, 85, 85, 70][entry as usize] >= 85;
        assert_eq!(advance(&ranking(), Cut::MinScore(&reached), CutTies::Ask).advanced, [0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn only_a_tie_makes_the_number_differ(keys in prop::collection::vec(0..5_i32, 0..15), places in 0..16_u32) {
            let ranking = Ranking::of(keys.iter().copied().zip(0..));
            let cut = |ties| advance(&ranking, Cut::Places(places), ties);
            let (include, exclude, ask) = (cut(CutTies::Include), cut(CutTies::Exclude), cut(CutTies::Ask));
            let full = keys.len().min(places as usize);
            prop_assert_eq!(&exclude, &ask);
            prop_assert!(exclude.advanced.len() <= full && include.advanced.len() >= full);
            prop_assert_eq!(exclude.advanced.len() + exclude.room, full);
            prop_assert!(ranking.entries().starts_with(&include.advanced));
            prop_assert_eq!(include.advanced.len(), exclude.advanced.len() + include.tied.len());
        }
    }
}
