//! Scores of judges for entries, in the fixed order in which every model adds them up.
//!
//! - Entries and judges are positions from zero. Who numbers them by slug gets results that depend on the slugs alone.
//! - Scores are kept by entry, then judge, then value, whatever order they come in.
//! - Every entry and every judge has a score; a judge may have several for one entry, each of which counts.

use crate::ModelError;
use crate::numeric::matrix::Matrix;
use crate::numeric::{is_usable, real};

/// A judge's score for an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The position of the entry, from zero.
    pub entry: usize,
    /// The position of the judge, from zero.
    pub judge: usize,
    /// The score, on any scale, of at most 1e100.
    pub value: f64,
}

/// Scores by entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTable {
    /// Where the scores of each entry begin, and the end of the last.
    starts: Vec<usize>,
    judges: Vec<usize>,
    values: Vec<f64>,
    judge_count: usize,
}

impl ScoreTable {
    /// The table of these scores, or what is missing or invalid in them.
    pub fn new(mut scores: Vec<Score>) -> Result<Self, ModelError> {
        if scores.is_empty() {
            return Err(ModelError::Empty);
        }
        for score in &mut scores {
            if !is_usable(score.value) {
                return Err(ModelError::InvalidValue("a score"));
            }
            // Zero has one sign, so that equal scores are the same score.
            score.value += 0.0;
        }
        let order = |left: &Score, right: &Score| {
            (left.entry, left.judge).cmp(&(right.entry, right.judge)).then(left.value.total_cmp(&right.value))
        };
        if !scores.is_sorted_by(|left, right| order(left, right).is_le()) {
            scores.sort_unstable_by(order);
        }
        let mut starts = Vec::new();
        for (position, score) in scores.iter().enumerate() {
            if score.entry > starts.len() {
                return Err(ModelError::EntryWithoutScores(starts.len()));
            }
            if score.entry == starts.len() {
                starts.push(position);
            }
        }
        starts.push(scores.len());
        let judges: Vec<usize> = scores.iter().map(|score| score.judge).collect();
        let mut present = vec![false; scores.len()];
        judges.iter().filter(|judge| **judge < scores.len()).for_each(|judge| present[*judge] = true);
        let judge_count = present.iter().position(|judge| !judge).unwrap_or(present.len());
        if judges.iter().any(|judge| *judge >= judge_count) {
            return Err(ModelError::JudgeWithoutScores(judge_count));
        }
        Ok(Self { starts, judges, values: scores.iter().map(|score| score.value).collect(), judge_count })
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many judges there are.
    pub fn judges(&self) -> usize {
        self.judge_count
    }

    /// How many scores there are.
    pub fn scores(&self) -> usize {
        self.values.len()
    }

    /// The judges of an entry in ascending order, and beside them its scores.
    pub fn row(&self, entry: usize) -> (&[usize], &[f64]) {
        let range = self.starts[entry]..self.starts[entry + 1];
        (&self.judges[range.clone()], &self.values[range])
    }

    /// What [`ScoreTable::row`] gives, entry by entry.
    pub fn rows(&self) -> impl Iterator<Item = (&[usize], &[f64])> {
        (0..self.entries()).map(|entry| self.row(entry))
    }

    /// All scores, entry by entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Each judge's scores in the order of the entries.
    pub fn by_judge(&self) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); self.judge_count];
        self.judges.iter().zip(&self.values).for_each(|(judge, value)| values[*judge].push(*value));
        values
    }

    /// The mean of each entry's scores after `change` was applied to the judge and the value of each.
    pub fn entry_means(&self, change: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let mean = |(judges, values): (&[usize], &[f64])| {
            judges.iter().zip(values).map(|(judge, value)| change(*judge, *value)).sum::<f64>() / real(values.len())
        };
        self.rows().map(mean).collect()
    }

    /// The table without a judge, and the entries that still have scores: they are renumbered in this order. Later
    /// judges move up by one.
    pub fn without_judge(&self, left_out: usize) -> Result<(Self, Vec<usize>), ModelError> {
        let mut entries = Vec::new();
        let mut scores = Vec::with_capacity(self.scores());
        for (entry, (judges, values)) in self.rows().enumerate() {
            if judges.iter().all(|judge| *judge == left_out) {
                continue;
            }
            for (judge, value) in judges.iter().zip(values).filter(|(judge, _)| **judge != left_out) {
                let judge = judge - usize::from(*judge > left_out);
                scores.push(Score { entry: entries.len(), judge, value: *value });
            }
            entries.push(entry);
        }
        Ok((Self::new(scores)?, entries))
    }

    /// The sum of squared differences between scores and what entries and judges add up to.
    pub(crate) fn squared_residuals(&self, entries: &[f64], judges: &[f64]) -> f64 {
        let of_row = |((row, values), entry): ((&[usize], &[f64]), &f64)| {
            let residuals = row.iter().zip(values).map(|(judge, value)| value - entry - judges[*judge]);
            residuals.map(|residual| residual * residual).sum::<f64>()
        };
        self.rows().zip(entries).map(of_row).sum()
    }

    /// The normal equations of judges after entries are eliminated: `D_J - N' W N` and `s_J - N' W s_E`, where N counts
    /// scores by entry and judge, `D_J` by judge, `s` are sums, and W is `weight` of an entry's number of scores (its
    /// inverse where entries are free). Of the matrix, the lower triangle is filled.
    pub(crate) fn judge_equations(&self, weight: impl Fn(f64) -> f64) -> (Matrix, Vec<f64>) {
        let mut matrix = Matrix::zero(self.judge_count);
        let mut totals = vec![0.0; self.judge_count];
        for (judges, values) in self.rows() {
            let weight = weight(real(judges.len()));
            let share = weight * values.iter().sum::<f64>();
            for (position, (judge, value)) in judges.iter().zip(values).enumerate() {
                totals[*judge] += value - share;
                let row = matrix.row_mut(*judge);
                row[*judge] += 1.0;
                judges[..position].iter().for_each(|other| row[*other] -= weight);
                row[*judge] -= weight;
                // Two scores of one judge for one entry meet in both orders.
                let again = judges[..position].iter().rev().take_while(|other| *other == judge).count();
                row[*judge] -= weight * real(again);
            }
        }
        (matrix, totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(entry: usize, judge: usize, value: f64) -> Score {
        Score { entry, judge, value }
    }

    #[test]
    fn the_order_of_scores_does_not_matter() {
        let scores = vec![score(1, 0, 4.0), score(0, 1, 2.0), score(0, 0, 3.0), score(0, 1, 1.0)];
        let mut reversed = scores.clone();
        reversed.reverse();
        let table = ScoreTable::new(scores).unwrap();
        assert_eq!(table, ScoreTable::new(reversed).unwrap());
        assert_eq!(table.row(0), (&[0, 1, 1][..], &[3.0, 1.0, 2.0][..]));
    }

    #[test]
    fn an_entry_or_judge_without_scores_is_named() {
        let table = |scores: &[Score]| ScoreTable::new(scores.to_vec()).err();
        assert_eq!(table(&[]), Some(ModelError::Empty));
        assert_eq!(table(&[score(0, 0, 1.0), score(2, 0, 1.0)]), Some(ModelError::EntryWithoutScores(1)));
        assert_eq!(table(&[score(0, 0, 1.0), score(0, 2, 1.0)]), Some(ModelError::JudgeWithoutScores(1)));
        assert_eq!(table(&[score(0, usize::MAX, 1.0)]), Some(ModelError::JudgeWithoutScores(0)));
        assert_eq!(table(&[score(0, 0, f64::NAN)]), Some(ModelError::InvalidValue("a score")));
    }

    #[test]
    fn without_a_judge_the_entries_that_nobody_else_scored_are_gone() {
        let table = ScoreTable::new(vec![score(0, 0, 1.0), score(1, 0, 2.0), score(1, 1, 3.0)]).unwrap();
        let (rest, entries) = table.without_judge(0).unwrap();
        assert_eq!((rest.row(0), entries), ((&[0][..], &[3.0][..]), vec![1]));
        assert_eq!(rest.without_judge(0).err(), Some(ModelError::Empty));
    }
}
