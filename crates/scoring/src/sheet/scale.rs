//! What a sheet's scores come to.
//!
//! - Scores are whole steps: a criterion in half points has two steps a point. Weights are whole numbers.
//! - By `Sum` a sheet is the sum of weight times score, by `Mean` that sum divided by the sum of the weights, by
//!   `Percent` 100 times the weighted mean of the shares that were reached of each maximum.
//! - All of these are whole units over one denominator that follows from the criteria alone, so that the totals of an
//!   entry are kept by adding and subtracting integers.
//! - A criterion without a score is left out with its weight: the sheet is then the share that was reached of what the
//!   scored criteria could have given, on the full scale. Where the maxima are equal that is the mean over the weights
//!   that were scored.

use num::Integer;

use crate::rational::{Fraction, fraction, whole};

/// The most units of a sheet: the sum of eight million sheets still fits 64 bits.
const MAX_UNITS: i64 = 1 << 40;

/// What is scored from 0 to a maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// Its name to others, such as a slug.
    pub id: String,
    /// The highest score, in steps.
    pub maximum: u32,
    /// How many steps make a point: 1 for whole points, 2 for halves.
    pub steps_per_point: u32,
    /// How much it counts beside the others; 0 for one that is only shown.
    pub weight: u32,
    /// Whether a sheet without it is incomplete.
    pub required: bool,
}

/// How a sheet's value is made from its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sum of weight times score.
    Sum,
    /// That sum divided by the sum of the weights.
    Mean,
    /// 100 times the weighted mean of score divided by maximum.
    Percent,
}

/// Why criteria make no scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScale {
    /// Nothing counts.
    #[error("no criterion has a weight")]
    NoWeight,
    /// This criterion has a maximum of 0, or no steps.
    #[error("the criterion `{0}` has no score above 0")]
    NoScores(String),
    /// The exact sums would not fit 64 bits.
    #[error("maxima and weights are too large to be added up exactly")]
    TooLarge,
}

/// A sheet in units of its scale; see [`Scale::value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Units {
    /// A whole number, as that of every sheet with all criteria scored.
    Whole(i64),
    /// No whole number, because criteria were left out.
    Part(Fraction),
}

/// How sheets are added up under criteria and a method. Units of one scale mean nothing under another: when criteria change,
/// totals are made from all sheets again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Units a step, by criterion.
    coefficients: Vec<i64>,
    /// The most units that each criterion gives.
    reach: Vec<i64>,
    required: Vec<bool>,
    full: i64,
    denominator: i64,
}

impl Criterion {
    /// A required criterion that is scored in whole points.
    pub fn points(id: &str, maximum: u32, weight: u32) -> Self {
        Self { id: id.to_owned(), maximum, steps_per_point: 1, weight, required: true }
    }
}

impl Units {
    /// The number of units.
    pub fn exact(&self) -> Fraction {
        match self {
            Self::Whole(units) => whole(*units),
            Self::Part(units) => units.clone(),
        }
    }
}

impl Ord for Units {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(other),
            _ => self.exact().cmp(&other.exact()),
        }
    }
}

impl PartialOrd for Units {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Scale {
    /// The scale of these criteria.
    pub fn new(criteria: &[Criterion], method: Method) -> Result<Self, InvalidScale> {
        if let Some(none) = criteria.iter().find(|criterion| criterion.maximum == 0 || criterion.steps_per_point == 0) {
            return Err(InvalidScale::NoScores(none.id.clone()));
        }
        let weights: i64 = criteria.iter().map(|criterion| i64::from(criterion.weight)).sum();
        if weights == 0 {
            return Err(InvalidScale::NoWeight);
        }
        Self::fitting(criteria, method, weights).ok_or(InvalidScale::TooLarge)
    }

    fn fitting(criteria: &[Criterion], method: Method, weights: i64) -> Option<Self> {
        let divisor = |criterion: &Criterion| match method {
            Method::Sum | Method::Mean => i64::from(criterion.steps_per_point),
            Method::Percent => i64::from(criterion.maximum),
        };
        let common = criteria
            .iter()
            .map(divisor)
            .try_fold(1_i64, |common, divisor| (common / common.gcd(&divisor)).checked_mul(divisor))?;
        let factor = if method == Method::Percent { 100 } else { 1 };
        let coefficient = |criterion: &Criterion| {
            i64::from(criterion.weight).checked_mul(factor)?.checked_mul(common / divisor(criterion))
        };
        let coefficients: Vec<i64> = criteria.iter().map(coefficient).collect::<Option<_>>()?;
        let denominator = common.checked_mul(if method == Method::Sum { 1 } else { weights })?;
        let shared = coefficients.iter().fold(denominator, |shared, coefficient| shared.gcd(coefficient));
        let coefficients: Vec<i64> = coefficients.iter().map(|coefficient| coefficient / shared).collect();
        let reach = criteria.iter().zip(&coefficients);
        let reach: Vec<i64> =
            reach.map(|(criterion, units)| units.checked_mul(criterion.maximum.into())).collect::<Option<_>>()?;
        let full = reach.iter().try_fold(0_i64, |full, reach| full.checked_add(*reach))?;
        let required = criteria.iter().map(|criterion| criterion.required).collect();
        (full <= MAX_UNITS).then_some(Self { coefficients, reach, required, full, denominator: denominator / shared })
    }

    /// Whether every required criterion is scored.
    pub fn is_complete(&self, scores: &[Option<u32>]) -> bool {
        let mut scores = scores.iter();
        self.required.iter().all(|required| scores.next().is_some_and(Option::is_some) || !required)
    }

    /// The units of these scores, or none where no criterion that has a weight is scored. Every score is within its
    /// maximum.
    pub fn units(&self, scores: &[Option<u32>]) -> Option<Units> {
        let (mut sum, mut reached) = (0, 0);
        for ((score, coefficient), reach) in scores.iter().zip(&self.coefficients).zip(&self.reach) {
            if let Some(score) = score {
                sum += coefficient * i64::from(*score);
                reached += reach;
            }
        }
        if reached == self.full {
            return Some(Units::Whole(sum));
        }
        let units = fraction(i128::from(sum) * i128::from(self.full), reached)?;
        let integer = units.is_integer().then(|| units.to_integer().try_into().ok()).flatten();
        Some(integer.map_or(Units::Part(units), Units::Whole))
    }

    /// The units of a sheet on which every criterion is scored. Every score is within its maximum.
    pub fn units_of_all<T: Copy + Into<i64>>(&self, scores: &[T]) -> i64 {
        scores.iter().zip(&self.coefficients).map(|(score, coefficient)| (*score).into() * coefficient).sum()
    }

    /// How many criteria there are.
    pub fn criteria(&self) -> usize {
        self.coefficients.len()
    }

    /// What so many units are worth, in points or in per cent.
    pub fn value(&self, units: &Fraction) -> Fraction {
        units / whole(self.denominator)
    }

    /// The highest value of a sheet, as in "7 out of 10".
    pub fn maximum(&self) -> Fraction {
        self.value(&whole(self.full))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn worth(criteria: &[Criterion], method: Method, scores: &[Option<u32>]) -> Option<Fraction> {
        let scale = Scale::new(criteria, method).unwrap();
        scale.units(scores).map(|units| scale.value(&units.exact()))
    }

    #[test]
    fn steps_of_different_sizes_are_added_up_in_points() {
        let halves = Criterion { steps_per_point: 2, ..Criterion::points("halves", 20, 1) };
        let tenths = Criterion { steps_per_point: 10, ..Criterion::points("tenths", 100, 3) };
        let scores = [Some(15), Some(73)];
        assert_eq!(worth(&[halves.clone(), tenths.clone()], Method::Sum, &scores), fraction(294, 10));
        assert_eq!(worth(&[halves, tenths], Method::Mean, &scores), fraction(294, 40));
    }

    #[test]
    fn a_criterion_without_a_score_is_left_out_with_its_weight() {
        let criteria = [Criterion::points("a", 10, 1), Criterion::points("b", 10, 2), Criterion::points("c", 5, 1)];
        let scores = [Some(8), None, Some(3)];
        assert_eq!(worth(&criteria[..2], Method::Mean, &scores[..2]), fraction(8, 1));
        assert_eq!(worth(&criteria, Method::Percent, &scores), fraction(70, 1));
        assert_eq!(worth(&criteria, Method::Sum, &scores), fraction(11 * 35, 15));
        assert_eq!(worth(&criteria, Method::Sum, &[None, None, None]), None);
    }

    #[test]
    fn what_cannot_be_added_up_is_refused() {
        let points = Criterion::points;
        let new = |criteria: &[Criterion]| Scale::new(criteria, Method::Percent);
        assert_eq!(new(&[points("a", 10, 0)]), Err(InvalidScale::NoWeight));
        assert_eq!(new(&[points("a", 0, 1)]), Err(InvalidScale::NoScores("a".to_owned())));
        let primes = [4_294_967_291, 4_294_967_279, 4_294_967_231].map(|maximum| points("a", maximum, u32::MAX));
        assert_eq!(new(&primes), Err(InvalidScale::TooLarge));
    }

    fn sheets() -> impl Strategy<Value = (Vec<Criterion>, Vec<Option<u32>>)> {
        let criterion = (1..40_u32, 1..4_u32, 0..100_u32, any::<bool>());
        prop::collection::vec((criterion, prop::option::of(0..40_u32)), 1..6).prop_map(|both| {
            let parts = both.into_iter().map(|((maximum, steps_per_point, weight, required), score)| {
                let id = String::new();
                let criterion = Criterion { id, maximum, steps_per_point, weight: weight + 1, required };
                (criterion, score.map(|score| score.min(maximum)))
            });
            parts.unzip()
        })
    }

    proptest! {
        #[test]
        fn a_sheet_equals_its_definition((criteria, scores) in sheets()) {
            let scored = || criteria.iter().zip(&scores).filter_map(|(criterion, score)| Some((criterion, (*score)?)));
            let total = |term: &dyn Fn(&Criterion) -> Fraction, of: &mut dyn Iterator<Item = &Criterion>| {
                of.map(|criterion| whole(criterion.weight) * term(criterion)).sum::<Fraction>()
            };
            let points = |criterion: &Criterion| fraction(criterion.maximum, criterion.steps_per_point).unwrap();
            let one = |_: &Criterion| whole(1);
            for (method, term, factor) in [
                (Method::Sum, &points as &dyn Fn(&Criterion) -> Fraction, whole(1)),
                (Method::Mean, &points, total(&one, &mut criteria.iter()).recip()),
                (Method::Percent, &one, whole(100) / total(&one, &mut criteria.iter())),
            ] {
                let share = |(criterion, score): (&Criterion, u32)| {
                    whole(criterion.weight) * term(criterion) * fraction(score, criterion.maximum).unwrap()
                };
                let reached = scored().map(share).sum::<Fraction>();
                let full = total(term, &mut criteria.iter());
                let expected = (scored().count() > 0)
                    .then(|| reached * &full / total(term, &mut scored().map(|(criterion, _)| criterion)) * &factor);
                prop_assert_eq!(worth(&criteria, method, &scores), expected);
                let maximum = Scale::new(&criteria, method).unwrap().maximum();
                prop_assert_eq!(maximum, full * factor);
            }
        }
    }
}
