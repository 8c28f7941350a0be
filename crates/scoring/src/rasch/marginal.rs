//! Marginal maximum likelihood: the integral over abilities is a sum over 161 points from -8 to 8, a tenth apart. For a
//! smooth function under the normal curve that is exact to rounding, far beyond Gauss-Hermite rules of common size.

use super::{Pattern, Totals};
use crate::ModelError;
use crate::numeric::newton::{Local, minimise};
use crate::numeric::real;

/// How far from the mean abilities are summed, in tenths of a standard deviation.
const FARTHEST: usize = 80;

/// The slopes between which a best one is looked for: below, answers say nothing about ability, and above, the sum over
/// abilities is no longer exact to nine digits.
const SLOPES: std::ops::Range<f64> = 1e-4..10.0;

/// What the slope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slope {
    /// One for all items, estimated.
    Common,
    /// One.
    One,
}

/// The fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal {
    /// The ability at which each item is answered rightly half the time, in standard deviations of ability.
    pub difficulty: Vec<f64>,
    /// The common slope.
    pub discrimination: f64,
    /// The logarithm of the likelihood of the answers.
    pub log_likelihood: f64,
}

/// Fits the model to answers.
pub fn marginal(patterns: &[Pattern], slope: Slope) -> Result<Marginal, ModelError> {
    let totals = Totals::of(patterns)?;
    // Intercepts: the log-odds at average ability; behind them the slope where it is estimated.
    let mut start: Vec<f64> = totals.shares()?.iter().map(|share| libm::log(share / (1.0 - share))).collect();
    start.extend((slope == Slope::Common).then_some(1.0));
    let items = totals.right.len();
    let slope_of = |point: &[f64]| point.get(items).copied().unwrap_or(1.0);
    let evaluate = |point: &[f64]| SLOPES.contains(&slope_of(point)).then(|| around(&totals, point));
    let (point, local) = minimise(start, (f64::MIN, f64::MAX), evaluate)?;
    let discrimination = slope_of(&point);
    // A search that ends at either end has found no best slope.
    if !(1.01 * SLOPES.start..0.99 * SLOPES.end).contains(&discrimination) {
        return Err(ModelError::Unbounded("the slope"));
    }
    let difficulty = point[..items].iter().map(|intercept| -intercept / discrimination).collect();
    Ok(Marginal { difficulty, discrimination, log_likelihood: -local.value })
}

/// The negative logarithm of the likelihood, with its derivatives by intercepts and slope.
///
/// With h the logarithm of what is integrated, the first derivative is the mean of h' over the posterior of ability,
/// and the second one the mean of h'' plus the covariance of h' (Louis, Journal of the Royal Statistical Society B 44,
/// 1982).
fn around(totals: &Totals, point: &[f64]) -> Local {
    let items = totals.right.len();
    let slope = point.get(items).copied().unwrap_or(1.0);
    let abilities: Vec<f64> = (0..=2 * FARTHEST).map(|step| (real(step) - real(FARTHEST)) / 10.0).collect();
    let mut local = Local::zero(point.len());
    for (right, (intercept, gradient)) in totals.right.iter().zip(point.iter().zip(&mut local.gradient)) {
        local.value -= right * intercept;
        *gradient -= right;
    }
    for group in &totals.groups {
        let log_odds = |ability: f64| group.items.iter().map(move |item| slope * ability + point[*item]);
        let heights: Vec<f64> = (abilities.iter())
            .map(|ability| {
                let wrong: f64 = log_odds(*ability).map(log_one_plus_exp).sum();
                slope * ability * group.right() - wrong - ability * ability / 2.0
            })
            .collect();
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = heights.iter().map(|height| libm::exp(height - highest)).sum();
        let step_of_density = 0.1 / (2.0 * std::f64::consts::PI).sqrt();
        local.value -= group.persons * (highest + libm::log(sum * step_of_density));
        let mut parameters = group.items.clone();
        parameters.extend((point.len() > items).then_some(items));
        let mut mean = vec![0.0; parameters.len()];
        for (ability, height) in abilities.iter().zip(&heights) {
            let weight = libm::exp(height - highest) / sum * group.persons;
            let probabilities: Vec<f64> = log_odds(*ability).map(|odds| 1.0 / (1.0 + libm::exp(-odds))).collect();
            let mut slopes: Vec<f64> = probabilities.iter().map(|probability| -probability).collect();
            slopes.push(ability * (group.right() - probabilities.iter().sum::<f64>()));
            for (row, parameter) in parameters.iter().enumerate() {
                mean[row] += weight / group.persons * slopes[row];
                for (column, other) in parameters.iter().enumerate() {
                    local.hessian.add(*parameter, *other, -weight * slopes[row] * slopes[column]);
                }
            }
            for (item, probability) in group.items.iter().zip(&probabilities) {
                let curvature = weight * probability * (1.0 - probability);
                local.hessian.add(*item, *item, curvature);
                if point.len() > items {
                    local.hessian.add(items, *item, curvature * ability);
                    local.hessian.add(*item, items, curvature * ability);
                    local.hessian.add(items, items, curvature * ability * ability);
                }
            }
        }
        for (row, parameter) in parameters.iter().enumerate() {
            local.gradient[*parameter] -= group.persons * mean[row];
            for (column, other) in parameters.iter().enumerate() {
                local.hessian.add(*parameter, *other, group.persons * mean[row] * mean[column]);
            }
        }
    }
    local
}

/// ln(1 + e^x) without overflow.
fn log_one_plus_exp(value: f64) -> f64 {
    value.max(0.0) + libm::log1p(libm::exp(-value.abs()))
}
