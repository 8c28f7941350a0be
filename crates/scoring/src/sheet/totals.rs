//! What an entry's counted sheets come to.
//!
//! A change of a sheet changes its entry's totals by two integers: what the sheet was is taken away, what it is now is
//! added. Totals that are kept so equal those that are made from all sheets.

use std::cmp::Ordering;

use num::Zero;

use super::{Scale, Units};
use crate::rational::{Fraction, fraction, whole};

/// The counted sheets of an entry, added up. The same scale stands behind all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The units of the sheets that have a whole number of them.
    pub sum: i64,
    /// How many sheets count.
    pub sheets: u32,
    /// The units of the other sheets; none where they come to nothing.
    pub parts: Option<Box<Fraction>>,
}

/// A mean as it is compared: exactly, by cross-multiplication.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    sum: i64,
    sheets: u32,
}

impl Ord for Mean {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |sum: i64, sheets: u32| i128::from(sum) * i128::from(sheets);
        product(self.sum, other.sheets).cmp(&product(other.sum, self.sheets))
    }
}

impl PartialOrd for Mean {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Mean {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Mean {}

impl<'a> FromIterator<&'a Units> for Totals {
    fn from_iter<I: IntoIterator<Item = &'a Units>>(sheets: I) -> Self {
        let mut totals = Self::default();
        for sheet in sheets {
            totals.add(sheet);
        }
        totals
    }
}

impl Totals {
    /// Adds a sheet.
    pub fn add(&mut self, sheet: &Units) {
        self.sheets = self.sheets.saturating_add(1);
        match sheet {
            Units::Whole(units) => self.sum += units,
            Units::Part(units) => self.add_part(units.clone()),
        }
    }

    /// Takes away a sheet that was added.
    pub fn remove(&mut self, sheet: &Units) {
        self.sheets = self.sheets.saturating_sub(1);
        match sheet {
            Units::Whole(units) => self.sum -= units,
            Units::Part(units) => self.add_part(-units.clone()),
        }
    }

    fn add_part(&mut self, units: Fraction) {
        let parts = self.parts.take().map_or_else(Fraction::zero, |parts| *parts) + units;
        self.parts = (!parts.is_zero()).then(|| Box::new(parts));
    }

    /// The mean of units over the counted sheets, to compare entries by, where every sheet has a whole number of units.
    /// None without sheets.
    pub fn mean(&self) -> Option<Mean> {
        (self.sheets > 0 && self.parts.is_none()).then_some(Mean { sum: self.sum, sheets: self.sheets })
    }

    /// The mean of units over the counted sheets. None without sheets.
    pub fn exact_mean(&self) -> Option<Fraction> {
        let mean = fraction(self.sum, self.sheets)?;
        Some(self.parts.as_deref().map_or_else(|| mean.clone(), |parts| &mean + parts / whole(self.sheets)))
    }

    /// The entry's score in points or in per cent: the mean over the counted sheets. None without sheets.
    pub fn score(&self, scale: &Scale) -> Option<Fraction> {
        Some(scale.value(&self.exact_mean()?))
    }
}

impl Scale {
    /// Adds many sheets to the totals of their entries. A sheet has a score for every criterion, one after the other in
    /// `scores`, each within its maximum; `entries` has the index of each sheet's entry in `totals`. A sheet of an
    /// entry that is not in `totals` is left out.
    pub fn add_sheets<T: Copy + Into<i64>>(&self, entries: &[u32], scores: &[T], totals: &mut [Totals]) {
        for (entry, scores) in entries.iter().zip(scores.chunks_exact(self.criteria())) {
            if let Some(totals) = totals.get_mut(*entry as usize) {
                totals.sum += self.units_of_all(scores);
                totals.sheets += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Criterion, Method};
    use super::*;

    fn scale() -> Scale {
        let criteria = [Criterion::points("a", 10, 5), Criterion::points("b", 7, 3), Criterion::points("c", 20, 2)];
        Scale::new(&criteria, Method::Percent).unwrap()
    }

    fn sheet() -> impl Strategy<Value = Vec<Option<u32>>> {
        let score = |maximum: u32| prop::option::weighted(0.8, 0..=maximum);
        (score(10), score(7), score(20)).prop_map(|(a, b, c)| vec![a, b, c])
    }

    fn full(sheets: &[Vec<Option<u32>>]) -> Totals {
        let units: Vec<Units> = sheets.iter().filter_map(|scores| scale().units(scores)).collect();
        units.iter().collect()
    }

    proptest! {
        #[test]
        fn incremental_totals_equal_full_ones(
            mut sheets in prop::collection::vec(sheet(), 1..8),
            changes in prop::collection::vec((any::<prop::sample::Index>(), sheet()), 0..40),
        ) {
            let mut totals = full(&sheets);
            for (index, scores) in changes {
                let sheet = index.get_mut(&mut sheets);
                if let Some(before) = scale().units(sheet) {
                    totals.remove(&before);
                }
                if let Some(after) = scale().units(&scores) {
                    totals.add(&after);
                }
                *sheet = scores;
                prop_assert_eq!(&totals, &full(&sheets));
            }
        }

        #[test]
        fn the_score_is_the_mean_of_the_sheets(sheets in prop::collection::vec(sheet(), 0..8)) {
            let exact = |scores: &Vec<Option<u32>>| Some(scale().units(scores)?.exact());
            let units: Vec<Fraction> = sheets.iter().filter_map(exact).collect();
            let expected = fraction(1, units.len()).map(|share| scale().value(&units.iter().sum()) * share);
            prop_assert_eq!(full(&sheets).score(&scale()), expected);
        }

        #[test]
        fn means_are_compared_exactly(one in (any::<i64>(), 1..u32::MAX), other in (any::<i64>(), 1..u32::MAX)) {
            let totals = |(sum, sheets)| Totals { sum, sheets, parts: None };
            let (one, other) = (totals(one), totals(other));
            prop_assert_eq!(one.mean().cmp(&other.mean()), one.exact_mean().cmp(&other.exact_mean()));
        }

        #[test]
        fn many_sheets_at_once_equal_one_after_the_other(
            sheets in prop::collection::vec((0..4_u32, 0..=10_u32, 0..=7_u32, 0..=20_u32), 0..30)
        ) {
            let mut expected = vec![Totals::default(); 3];
            for (entry, a, b, c) in &sheets {
                let units = scale().units(&[Some(*a), Some(*b), Some(*c)]).unwrap();
                if let Some(totals) = expected.get_mut(*entry as usize) {
                    totals.add(&units);
                }
            }
            let entries: Vec<u32> = sheets.iter().map(|sheet| sheet.0).collect();
            let scores: Vec<u32> = sheets.iter().flat_map(|(_, a, b, c)| [*a, *b, *c]).collect();
            let mut totals = vec![Totals::default(); 3];
            scale().add_sheets(&entries, &scores, &mut totals);
            prop_assert_eq!(totals, expected);
        }
    }
}
