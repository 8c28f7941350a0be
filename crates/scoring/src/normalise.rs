//! Normalisations judge by judge, for comparison with [`crate::correction`].
//!
//! Each takes a judge's scores alone and brings them to a common scale; an entry has the mean over its judges. They
//! assume that all judges saw entries of equal strength, which only assignment at random gives: where strong categories
//! have judges of their own, normalising removes the strength of the category.
//!
//! - z-score: (x - mean of the judge) / standard deviation of the judge, over the judge's scores as a whole population.
//! - z-score, refitted: the z-scores of entries, stretched so that the lowest and highest equal those of the
//!   uncorrected means.
//! - Common mean and deviation: (x - mean of the judge) x deviation of all scores / deviation of the judge + mean of
//!   all scores, with deviations of samples.
//! - Minimum and maximum: (x - lowest of the judge) / (highest - lowest).
//! - Percentile: the share of the judge's scores that are lower, and half of those that are equal.
//!
//! A judge whose scores are all equal, or who has only one, says nothing about differences: the judge is flagged, and
//! the scores count as being in the middle (z-score 0, the common mean, 0.5).

use crate::ScoreTable;
use crate::numeric::{mean, midranks, real, squared_deviations};

/// A way to bring judges to one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalisation {
    /// Deviations from the judge's mean in the judge's population standard deviations.
    ZScore,
    /// Mean z-scores on the range of the uncorrected means.
    ZScoreRefitted,
    /// Every judge gets the mean and the sample standard deviation of all scores.
    CommonMeanAndDeviation,
    /// From 0 for the judge's lowest score to 1 for the highest.
    MinimumMaximum,
    /// Midranks as shares, from 0 to 1.
    Percentile,
}

/// Normalised means.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// Each entry's mean of normalised scores.
    pub entries: Vec<f64>,
    /// The judges without any spread, in ascending order.
    pub flagged: Vec<usize>,
}

/// Normalises the scores of each judge and takes the mean of each entry.
pub fn normalise(table: &ScoreTable, normalisation: Normalisation) -> Normalised {
    let by_judge = table.by_judge();
    let (common_mean, common_deviation) = (mean(table.values()), sample_deviation(table.values()));
    let scales: Vec<Option<Scale>> = by_judge.iter().map(|scores| Scale::of(scores)).collect();
    let change = |judge: usize, value: f64| match (normalisation, &scales[judge]) {
        (Normalisation::ZScore | Normalisation::ZScoreRefitted, Some(scale)) => (value - scale.mean) / scale.deviation,
        (Normalisation::ZScore | Normalisation::ZScoreRefitted, None) => 0.0,
        (Normalisation::CommonMeanAndDeviation, Some(scale)) => {
            (value - scale.mean) * common_deviation / scale.sample_deviation + common_mean
        }
        (Normalisation::CommonMeanAndDeviation, None) => common_mean,
        (Normalisation::MinimumMaximum, Some(scale)) => (value - scale.low) / (scale.high - scale.low),
        (Normalisation::Percentile, Some(scale)) => scale.percentile(value),
        (Normalisation::MinimumMaximum | Normalisation::Percentile, None) => 0.5,
    };
    let mut entries = table.entry_means(change);
    if normalisation == Normalisation::ZScoreRefitted {
        refit(&mut entries, &table.entry_means(|_, value| value));
    }
    let flagged = (0..scales.len()).filter(|judge| scales[*judge].is_none()).collect();
    Normalised { entries, flagged }
}

/// Stretches values to the range of others; values without a range go to the middle of it.
fn refit(values: &mut [f64], others: &[f64]) {
    let ((low, high), (other_low, other_high)) = (range(values), range(others));
    let middle = f64::midpoint(other_low, other_high);
    for value in values {
        let share = (*value - low) / (high - low);
        *value = if high > low { other_low + share * (other_high - other_low) } else { middle };
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

/// Zero for a single value.
fn sample_deviation(values: &[f64]) -> f64 {
    (squared_deviations(values) / real(values.len().max(2) - 1)).sqrt()
}

/// How a judge uses the scale.
struct Scale {
    mean: f64,
    deviation: f64,
    sample_deviation: f64,
    low: f64,
    high: f64,
    /// The judge's scores in ascending order, each with its percentile.
    percentiles: Vec<(f64, f64)>,
}

impl Scale {
    /// Nothing where the judge's scores are all equal.
    fn of(scores: &[f64]) -> Option<Self> {
        let (low, high) = range(scores);
        let count = real(scores.len());
        let shares = midranks(scores).0.into_iter().map(|rank| (rank - 0.5) / count);
        let mut percentiles: Vec<(f64, f64)> = scores.iter().copied().zip(shares).collect();
        percentiles.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
        (low < high).then(|| Self {
            mean: mean(scores),
            deviation: (squared_deviations(scores) / count).sqrt(),
            sample_deviation: sample_deviation(scores),
            low,
            high,
            percentiles,
        })
    }

    fn percentile(&self, value: f64) -> f64 {
        let position = self.percentiles.partition_point(|(score, _)| score.total_cmp(&value).is_lt());
        self.percentiles.get(position).map_or(1.0, |(_, share)| *share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    #[test]
    fn a_judge_without_spread_is_flagged_and_counts_in_the_middle() {
        let scores = [(0, 0, 3.0), (1, 0, 3.0), (0, 1, 1.0), (1, 1, 5.0)];
        let scores = scores.map(|(entry, judge, value)| Score { entry, judge, value });
        let table = ScoreTable::new(scores.to_vec()).unwrap();
        let expected = [
            (Normalisation::ZScore, [-0.5, 0.5]),
            (Normalisation::ZScoreRefitted, [2.0, 4.0]),
            (Normalisation::MinimumMaximum, [0.25, 0.75]),
            (Normalisation::Percentile, [0.375, 0.625]),
        ];
        for (normalisation, entries) in expected {
            assert_eq!(normalise(&table, normalisation), Normalised { entries: entries.to_vec(), flagged: vec![0] });
        }
        let single = ScoreTable::new(vec![Score { entry: 0, judge: 0, value: 7.0 }]).unwrap();
        let refitted = normalise(&single, Normalisation::ZScoreRefitted);
        assert_eq!(refitted, Normalised { entries: vec![7.0], flagged: vec![0] });
        assert_eq!(normalise(&single, Normalisation::CommonMeanAndDeviation).entries, [7.0]);
    }
}
