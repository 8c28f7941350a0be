//! Entries in order, with their ties, and the places that follow.

use std::fmt;

use crate::rational::{Fraction, fraction};

/// Entries in order, best first, in groups that are tied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    entries: Vec<u32>,
    /// Where each group ends in `entries`.
    ends: Vec<u32>,
}

/// How places are counted where entries are tied (<https://en.wikipedia.org/wiki/Ranking>).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// 1-2-2-4: a tie takes the best of its places.
    #[default]
    Competition,
    /// 1-3-3-4: a tie takes the last of its places.
    Modified,
    /// 1-2-2-3: the place after a tie is the next number.
    Dense,
    /// 1-2.5-2.5-4: a tie takes the mean of its places.
    Fractional,
}

/// A place: a whole number, or halfway between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    halves: u64,
}

impl Place {
    /// The place as a number; halves are exact.
    #[expect(clippy::cast_precision_loss, reason = "twice the number of entries is far below 2 to the power of 53")]
    pub fn number(self) -> f64 {
        self.halves as f64 / 2.0
    }

    /// The place, where it is a whole number.
    pub fn whole(self) -> Option<u64> {
        self.halves.is_multiple_of(2).then_some(self.halves / 2)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.number().fmt(formatter)
    }
}

impl Ranking {
    /// Ranks entries by their keys, the highest first; equal keys are tied, and stand in the order of their numbers.
    /// Where the lowest is best, the key is a [`std::cmp::Reverse`].
    pub fn of<K: Ord>(keys: impl IntoIterator<Item = (K, u32)>) -> Self {
        let mut keyed: Vec<(K, u32)> = keys.into_iter().collect();
        keyed.sort_unstable_by(|one, other| other.0.cmp(&one.0));
        let mut ranking = Self::default();
        ranking.entries.reserve(keyed.len());
        ranking.ends.reserve(keyed.len());
        for group in keyed.chunk_by(|one, other| one.0 == other.0) {
            let start = ranking.entries.len();
            ranking.entries.extend(group.iter().map(|(_, entry)| entry));
            if group.len() > 1 {
                ranking.entries[start..].sort_unstable();
            }
            ranking.end_group();
        }
        ranking
    }

    /// Entries in order, best first, and where each group of them ends; groups without entries are left out.
    pub(crate) fn of_groups(entries: Vec<u32>, ends: &[usize]) -> Self {
        let mut ranking = Self { entries, ends: Vec::new() };
        for end in ends {
            ranking.end_group_at(*end);
        }
        ranking
    }

    /// Puts tied entries below all others.
    pub fn push_group(&mut self, entries: impl IntoIterator<Item = u32>) {
        self.entries.extend(entries);
        self.end_group();
    }

    fn end_group(&mut self) {
        self.end_group_at(self.entries.len());
    }

    fn end_group_at(&mut self, end: usize) {
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        if self.ends.last().copied().unwrap_or(0) < end {
            self.ends.push(end);
        }
    }

    /// The entries, best first.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The entries in groups that are tied, best first. A group of one is no tie.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, end)| self.entries.get(start as usize..*end as usize))
    }

    /// Every entry with its place, best first.
    pub fn places(&self, style: Style) -> impl Iterator<Item = (u32, Place)> {
        let mut before: u64 = 0;
        self.groups().zip(1_u64..).flat_map(move |(group, number)| {
            let (first, last) = (before + 1, before + group.len() as u64);
            before = last;
            let halves = match style {
                Style::Competition => 2 * first,
                Style::Modified => 2 * last,
                Style::Dense => 2 * number,
                Style::Fractional => first + last,
            };
            group.iter().map(move |entry| (*entry, Place { halves }))
        })
    }
}

/// The percentile of a rank among so many: `100 (rank - 1/2) / count`, as review panels of the NIH state it. None where
/// there is nothing to compare.
pub fn percentile(rank: u32, count: u32) -> Option<Fraction> {
    fraction(100 * (2 * i64::from(rank) - 1), 2 * i64::from(count))
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lowest_can_be_best() {
        let ranking = Ranking::of([(Reverse(3), 0), (Reverse(1), 1), (Reverse(3), 2)]);
        assert_eq!(ranking.groups().collect::<Vec<_>>(), [&[1][..], &[0, 2]]);
        assert_eq!(
            ranking.places(Style::Fractional).map(|(_, place)| place.to_string()).collect::<Vec<_>>(),
            ["1", "2.5", "2.5"]
        );
    }

    proptest! {
        #[test]
        fn places_are_those_of_counting_who_is_better(keys in prop::collection::vec(0..6_i32, 0..20)) {
            let ranking = Ranking::of(keys.iter().copied().zip(0..));
            let count = |holds: &dyn Fn(i32) -> bool| keys.iter().filter(|key| holds(**key)).count();
            for style in [Style::Competition, Style::Modified, Style::Dense, Style::Fractional] {
                let places: Vec<(u32, Place)> = ranking.places(style).collect();
                prop_assert_eq!(places.len(), keys.len());
                for (entry, place) in places {
                    let key = keys[entry as usize];
                    let (better, equal) = (count(&|other| other > key), count(&|other| other == key));
                    let mut levels: Vec<i32> = keys.iter().copied().filter(|other| *other > key).collect();
                    levels.sort_unstable();
                    levels.dedup();
                    let doubled = match style {
                        Style::Competition => 2 * (better + 1),
                        Style::Modified => 2 * (better + equal),
                        Style::Dense => 2 * (levels.len() + 1),
                        Style::Fractional => 2 * better + equal + 1,
                    };
                    prop_assert_eq!(place.halves, doubled as u64);
                    prop_assert_eq!(place.whole(), doubled.is_multiple_of(2).then_some(doubled as u64 / 2));
                }
            }
        }
    }
}
