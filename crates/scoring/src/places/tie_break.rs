//! Breaking ties by a configured chain of steps.
//!
//! - A step gives every entry of a tie a value. Entries with equal values stay tied, and the next step is about them
//!   alone.
//! - An entry to which a step gives no value (no score on that criterion, not named in the casting vote) comes after
//!   those that have one.
//! - Every step that a tie went through is recorded for each of its entries, also one that decided nothing.
//! - What the chain does not break stays a tie.

use std::collections::BTreeMap;

use super::Ranking;
use crate::rational::{Fraction, fraction, whole};
use crate::sheet::Units;

/// Ties of more entries are not compared head to head, which takes the square of their number.
pub const MAX_HEAD_TO_HEAD: usize = 1_000;

/// A step of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The mean of the entry's counted scores on the criterion with this index, in steps; the higher is better.
    Criterion(usize),
    /// The median of the entry's counted sheets, in units; between the two in the middle where their number is even.
    Median,
    /// On how many counted sheets no other entry of that judge has more; see [`first_places`].
    FirstPlaces,
    /// How many others of the tie it beats, less how many beat it: over the judges who scored both, the one is better
    /// that more of them gave more (Copeland's rule).
    HeadToHead,
    /// The position that the chair's casting vote gave it, from 1.
    CastingVote,
    /// The position in the published lot, from 1; see [`crate::draw`].
    Lot,
}

/// A counted sheet, as ties are broken by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The number of the judge.
    pub judge: u32,
    /// What the sheet came to.
    pub units: Units,
    /// The scores in the order of the criteria.
    pub scores: Vec<Option<u32>>,
}

/// What ties are decided by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The counted sheets of each entry, by its number; those of entries that are tied are enough.
    pub sheets: &'a [Vec<Marks>],
    /// What [`first_places`] counts, by the entry's number.
    pub first_places: &'a [u32],
    /// The entries in the order of the casting vote.
    pub casting_vote: &'a [u32],
    /// The entries in the order of the lot.
    pub lot: &'a [u32],
}

/// A step that an entry went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TieStep {
    /// The step.
    pub step: Step,
    /// What decided: the entry's mean, median, count, balance or position.
    pub value: Option<Fraction>,
    /// How many entries were still tied after the step, this one included; 1 where it broke the tie for this entry.
    pub tied: usize,
}

/// Breaks the ties of a ranking. Gives the new ranking, and the steps of each entry that was tied.
pub fn break_ties(ranking: &Ranking, chain: &[Step], evidence: &Evidence) -> (Ranking, BTreeMap<u32, Vec<TieStep>>) {
    let mut broken = (Ranking::default(), BTreeMap::new());
    for group in ranking.groups() {
        split(group, chain, evidence, &mut broken);
    }
    broken
}

fn split(group: &[u32], chain: &[Step], evidence: &Evidence, broken: &mut (Ranking, BTreeMap<u32, Vec<TieStep>>)) {
    let Some((step, rest)) = chain.split_first().filter(|_| group.len() > 1) else {
        broken.0.push_group(group.iter().copied());
        return;
    };
    let values: BTreeMap<u32, Option<Fraction>> = group.iter().copied().zip(step.values(group, evidence)).collect();
    let lower_is_better = matches!(step, Step::CastingVote | Step::Lot);
    let key = |value: &Option<Fraction>| value.clone().map(|value| if lower_is_better { -value } else { value });
    let split_group = Ranking::of(values.iter().map(|(entry, value)| (key(value), *entry)));
    for tied in split_group.groups() {
        for entry in tied {
            let value = values.get(entry).cloned().flatten();
            broken.1.entry(*entry).or_default().push(TieStep { step: *step, value, tied: tied.len() });
        }
        split(tied, rest, evidence, broken);
    }
}

impl Step {
    /// The value of each entry of a tie.
    fn values(self, group: &[u32], evidence: &Evidence) -> Vec<Option<Fraction>> {
        let sheets = |entry: u32| evidence.sheets.get(entry as usize).map_or(&[][..], Vec::as_slice);
        let each = |value: &dyn Fn(u32) -> Option<Fraction>| group.iter().map(|entry| value(*entry)).collect();
        let position = |list: &[u32]| {
            let positions: BTreeMap<u32, u32> = list.iter().copied().zip(1..).collect();
            each(&|entry| positions.get(&entry).map(|position| whole(*position)))
        };
        match self {
            Self::Criterion(index) => each(&|entry| criterion_mean(sheets(entry), index)),
            Self::Median => each(&|entry| median(sheets(entry))),
            Self::FirstPlaces => each(&|entry| evidence.first_places.get(entry as usize).map(|count| whole(*count))),
            Self::HeadToHead if group.len() > MAX_HEAD_TO_HEAD => vec![None; group.len()],
            Self::HeadToHead => head_to_head(&group.iter().map(|entry| sheets(*entry)).collect::<Vec<_>>()),
            Self::CastingVote => position(evidence.casting_vote),
            Self::Lot => position(evidence.lot),
        }
    }
}

/// The mean of the scores on the criterion with this index, in steps, over the sheets that score it.
pub fn criterion_mean(sheets: &[Marks], index: usize) -> Option<Fraction> {
    let scores = sheets.iter().filter_map(|marks| marks.scores.get(index).copied().flatten());
    let (sum, count) = scores.fold((0_u64, 0_u64), |(sum, count), score| (sum + u64::from(score), count + 1));
    fraction(sum, count)
}

fn median(sheets: &[Marks]) -> Option<Fraction> {
    let mut units: Vec<&Units> = sheets.iter().map(|marks| &marks.units).collect();
    units.sort_unstable();
    let upper = units.get(units.len() / 2)?.exact();
    let lower = units.get((units.len() - 1) / 2)?.exact();
    Some((lower + upper) / whole(2))
}

/// Wins less defeats of each entry against the others of a tie.
fn head_to_head(sheets: &[&[Marks]]) -> Vec<Option<Fraction>> {
    let by_judge: Vec<BTreeMap<u32, &Units>> =
        sheets.iter().map(|sheets| sheets.iter().map(|marks| (marks.judge, &marks.units)).collect()).collect();
    let beats = |one: &BTreeMap<u32, &Units>, other: &BTreeMap<u32, &Units>| {
        let common = one.iter().filter_map(|(judge, units)| Some(units.cmp(other.get(judge)?) as i64));
        common.sum::<i64>().signum()
    };
    by_judge.iter().map(|one| Some(whole(by_judge.iter().map(|other| beats(one, other)).sum::<i64>()))).collect()
}

/// On how many of its counted sheets each of so many `entries` has the most units that the judge gave to any entry. A
/// sheet is the number of the judge, that of the entry, and what it came to.
pub fn first_places<'a, S>(entries: usize, sheets: S) -> Vec<u32>
where
    S: Iterator<Item = (u32, u32, &'a Units)> + Clone,
{
    let mut most: BTreeMap<u32, &Units> = BTreeMap::new();
    for (judge, _, units) in sheets.clone() {
        most.entry(judge).and_modify(|most| *most = units.max(*most)).or_insert(units);
    }
    let mut counts = vec![0; entries];
    for (judge, entry, units) in sheets {
        if let Some(count) = counts.get_mut(entry as usize).filter(|_| most.get(&judge) == Some(&units)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Three judges; entries 0 to 3 have equal means of 6 on two criteria of equal weight.
    fn sheets() -> Vec<Vec<Marks>> {
        let marks = |judge: u32, one: u32, other: u32| Marks {
            judge,
            units: Units::Whole(i64::from(one + other)),
            scores: vec![Some(one), Some(other)],
        };
        vec![
            vec![marks(0, 5, 7), marks(1, 6, 6), marks(2, 7, 5)],
            vec![marks(0, 8, 6), marks(1, 5, 7), marks(2, 5, 5)],
            vec![marks(0, 7, 7), marks(1, 6, 6), marks(2, 5, 5)],
            vec![marks(0, 5, 7), marks(1, 6, 6), marks(2, 7, 5)],
        ]
    }

    fn tie() -> Ranking {
        Ranking::of([0, 1, 2, 3].map(|entry| (0, entry)))
    }

    fn groups(chain: &[Step], evidence: &Evidence) -> Vec<Vec<u32>> {
        break_ties(&tie(), chain, evidence).0.groups().map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn each_step_decides_by_its_own_value() {
        let sheets = sheets();
        let marks = sheets.iter().zip(0..).flat_map(|(sheets, entry)| sheets.iter().map(move |marks| (marks, entry)));
        let first_places = first_places(4, marks.map(|(marks, entry)| (marks.judge, entry, &marks.units)));
        assert_eq!(first_places, [2, 2, 2, 2]);
        let evidence =
            Evidence { sheets: &sheets, first_places: &[2, 0, 1, 2], casting_vote: &[2, 1], lot: &[3, 1, 0, 2] };
        assert_eq!(groups(&[Step::Criterion(1)], &evidence), [vec![0, 1, 2, 3]]);
        assert_eq!(groups(&[Step::Criterion(5)], &evidence), [vec![0, 1, 2, 3]]);
        assert_eq!(groups(&[Step::Median], &evidence), [vec![0, 1, 2, 3]]);
        assert_eq!(groups(&[Step::FirstPlaces], &evidence), [vec![0, 3], vec![2], vec![1]]);
        assert_eq!(groups(&[Step::CastingVote], &evidence), [vec![2], vec![1], vec![0, 3]]);
        assert_eq!(groups(&[Step::Lot], &evidence), [vec![3], vec![1], vec![0], vec![2]]);
        assert_eq!(groups(&[Step::CastingVote, Step::Lot], &evidence), [vec![2], vec![1], vec![3], vec![0]]);
    }

    #[test]
    fn the_steps_of_an_entry_say_what_decided() {
        let sheets = sheets();
        let evidence =
            Evidence { sheets: &sheets, lot: &[1, 0, 2, 3], first_places: &[0, 0, 0, 1], ..Evidence::default() };
        let (_, steps) = break_ties(&tie(), &[Step::Median, Step::FirstPlaces, Step::Lot], &evidence);
        let step = |step, value: u32, tied| TieStep { step, value: Some(whole(value)), tied };
        assert_eq!(steps[&3], [step(Step::Median, 12, 4), step(Step::FirstPlaces, 1, 1)]);
        assert_eq!(steps[&1], [step(Step::Median, 12, 4), step(Step::FirstPlaces, 0, 3), step(Step::Lot, 1, 1)]);
    }

    #[test]
    fn head_to_head_is_over_common_judges() {
        let marks = |judge, units| Marks { judge, units: Units::Whole(units), scores: Vec::new() };
        let sheets = [
            vec![marks(0, 9), marks(1, 5), marks(2, 7)],
            vec![marks(0, 8), marks(1, 4), marks(3, 9)],
            vec![marks(0, 1), marks(1, 9), marks(4, 9)],
        ];
        let evidence = Evidence { sheets: &sheets, ..Evidence::default() };
        let tie = Ranking::of([(0, 0), (0, 1), (0, 2)]);
        let (ranking, steps) = break_ties(&tie, &[Step::HeadToHead], &evidence);
        assert_eq!(ranking.groups().collect::<Vec<_>>(), [[0], [2], [1]]);
        assert_eq!([0, 1, 2].map(|entry| steps[&entry][0].value.clone()), [1, -1, 0].map(|net| Some(whole(net))));
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..2_usize).prop_map(Step::Criterion),
            Just(Step::Median),
            Just(Step::FirstPlaces),
            Just(Step::CastingVote),
            Just(Step::Lot),
        ]
    }

    proptest! {
        #[test]
        fn the_chain_equals_an_order_by_all_its_values(
            scores in prop::collection::vec(prop::collection::vec((0..3_u32, 0..3_u32), 0..4), 5),
            first in prop::collection::vec(0..2_u32, 5),
            vote in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
            named in 0..5_usize,
            chain in prop::collection::vec(step(), 0..5),
        ) {
            let marks = |(judge, (one, other)): (u32, &(u32, u32))| Marks {
                judge,
                units: Units::Whole(i64::from(one + other)),
                scores: vec![Some(*one), Some(*other)],
            };
            let sheets: Vec<Vec<Marks>> = scores.iter().map(|scores| (0..).zip(scores).map(marks).collect()).collect();
            let evidence = Evidence { sheets: &sheets, first_places: &first, casting_vote: &vote[..named], lot: &vote };
            let all = [0, 1, 2, 3, 4];
            let (ranking, steps) = break_ties(&Ranking::of(all.map(|entry| (0, entry))), &chain, &evidence);
            let key = |entry: u32| -> Vec<Option<Fraction>> {
                let sign = |step: &Step| whole(if matches!(step, Step::CastingVote | Step::Lot) { -1 } else { 1 });
                let value = |step: &Step| step.values(&[entry], &evidence).pop().flatten();
                chain.iter().map(|step| value(step).map(|value| value * sign(step))).collect()
            };
            prop_assert_eq!(&ranking, &Ranking::of(all.map(|entry| (key(entry), entry))));
            for group in ranking.groups() {
                for entry in group {
                    let last = steps.get(entry).and_then(|steps| steps.last());
                    prop_assert_eq!(last.map_or(all.len(), |step| step.tied), group.len());
                }
            }
        }
    }
}
