//! How sure corrected scores, severities and places are.
//!
//! - The covariance is the inverse of the mixed model equations times sigma^2: of judges `sigma^2 S^-1`, where S is
//!   their matrix, and of entries `sigma^2 (D_E^-1 + D_E^-1 N S^-1 N' D_E^-1)`.
//! - Intervals of scores and severities are symmetric, with a quantile of the t distribution at the residual degrees of
//!   freedom.
//! - Intervals of places come from draws of all corrected scores together: severities first, then for each entry an
//!   error of variance `sigma^2 / n_i` around the mean that these severities give. That has the covariance above
//!   without ever holding it.

use super::Correction;
use crate::ModelError;
use crate::numeric::distribution::t_quantile;
use crate::numeric::random::NormalDraws;
use crate::numeric::{Interval, descending, published, real, tail};

/// Intervals of scores and severities, rounded to 1e-6.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Of each entry's corrected score.
    pub entries: Vec<Interval>,
    /// Of each judge's severity.
    pub judges: Vec<Interval>,
}

/// The places that an entry may have, the better one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankInterval {
    /// The best place.
    pub best: usize,
    /// The worst place.
    pub worst: usize,
}

impl Correction<'_> {
    /// The intervals at a level such as 0.95.
    pub fn intervals(&self, level: f64) -> Result<Intervals, ModelError> {
        let quantile = -t_quantile(tail(level)?, real(self.residual_degrees_of_freedom));
        let around = |centre: f64, variance: f64| {
            let half = quantile * (variance * self.residual_variance).sqrt();
            Interval { low: published(centre - half), high: published(centre + half) }
        };
        let inverse = self.factor.as_ref().map(crate::numeric::matrix::Cholesky::inverse);
        let variance = |judges: &[usize]| {
            let scores = real(judges.len());
            let of_judges = inverse.as_ref().map_or(0.0, |inverse| {
                judges.iter().map(|judge| judges.iter().map(|other| inverse.row(*judge)[*other]).sum::<f64>()).sum()
            });
            1.0 / scores + of_judges / (scores * scores)
        };
        let rows = self.table.rows().zip(self.exact_means());
        let judges = self.judge_effects.iter().enumerate();
        Ok(Intervals {
            entries: rows.map(|((judges, _), mean)| around(mean, variance(judges))).collect(),
            judges: judges
                .map(|(judge, effect)| {
                    around(*effect, inverse.as_ref().map_or(0.0, |inverse| inverse.at(judge, judge)))
                })
                .collect(),
        })
    }

    /// The places at a level such as 0.95, from this many draws with this seed: of each entry's drawn places, as many
    /// are left out at either end as the level permits. A thousand draws take as long as a thousand sorts of all
    /// entries.
    pub fn rank_intervals(&self, level: f64, draws: usize, seed: [u8; 32]) -> Result<Vec<RankInterval>, ModelError> {
        let tail = tail(level)?;
        if draws == 0 {
            return Err(ModelError::TooFew("draws"));
        }
        let left_out = (0..draws).take_while(|count| real(count + 1) <= tail * real(draws) + 1e-9).count();
        let deviation = self.residual_variance.sqrt();
        let means = self.exact_means();
        let mut random = NormalDraws::new(seed);
        let mut extremes = Extremes::new(means.len(), left_out + 1);
        let mut judges = vec![0.0; self.judge_effects.len()];
        let mut order: Vec<(i64, usize)> = Vec::with_capacity(means.len());
        for _ in 0..draws {
            if let Some(factor) = &self.factor {
                judges.fill_with(|| deviation * random.draw());
                factor.solve_transposed(&mut judges);
            }
            order.clear();
            for (entry, ((row, _), mean)) in self.table.rows().zip(&means).enumerate() {
                let scores = real(row.len());
                let severity = row.iter().map(|judge| judges[*judge]).sum::<f64>() / scores;
                let score = mean - severity + deviation / scores.sqrt() * random.draw();
                order.push((descending(score), entry));
            }
            order.sort_unstable();
            let mut place = (i64::MIN, 0);
            for (position, (score, entry)) in order.iter().enumerate() {
                // Equal scores share the best of their places.
                if position == 0 || *score != place.0 {
                    place = (*score, position + 1);
                }
                extremes.add(*entry, place.1);
            }
        }
        Ok(extremes.inner())
    }

    /// Corrected scores before they are rounded.
    fn exact_means(&self) -> Vec<f64> {
        self.table.entry_means(|judge, value| value - self.judge_effects[judge])
    }
}

/// The few best and worst places of each entry, so that memory does not grow with the number of draws.
struct Extremes {
    kept: usize,
    /// For each entry the lowest places seen, ascending.
    best: Vec<usize>,
    /// For each entry the highest places seen, descending.
    worst: Vec<usize>,
}

impl Extremes {
    fn new(entries: usize, kept: usize) -> Self {
        Self { kept, best: vec![usize::MAX; entries * kept], worst: vec![0; entries * kept] }
    }

    fn add(&mut self, entry: usize, place: usize) {
        let range = entry * self.kept..(entry + 1) * self.kept;
        insert(&mut self.best[range.clone()], place, |new, old| new < old);
        insert(&mut self.worst[range], place, |new, old| new > old);
    }

    /// The innermost of the places kept.
    fn inner(&self) -> Vec<RankInterval> {
        let ends = self.best.chunks_exact(self.kept).zip(self.worst.chunks_exact(self.kept));
        ends.map(|(best, worst)| RankInterval { best: best[self.kept - 1], worst: worst[self.kept - 1] }).collect()
    }
}

/// Puts a place where it belongs in a list of fixed length, of which the last falls out.
fn insert(list: &mut [usize], place: usize, before: impl Fn(usize, usize) -> bool) {
    if list.last().is_some_and(|last| before(place, *last)) {
        let position = list.iter().position(|other| before(place, *other)).unwrap_or(0);
        list[position..].rotate_right(1);
        list[position] = place;
    }
}
