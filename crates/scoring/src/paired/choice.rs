//! Choices among alternatives whose log-odds are sums of parameters (conditional logit; `McFadden` 1974), by Newton's
//! method.

use super::existence::{DifferenceBound, Existence, can_be_met};
use crate::ModelError;
use crate::numeric::matrix::{Cholesky, Matrix};
use crate::numeric::newton::{Local, minimise};
use crate::numeric::real;

/// One alternative of a choice.
pub(crate) struct Alternative {
    /// Which parameters its log-odds are made of, and how often each: the items first, then the further parameter.
    pub(crate) features: Vec<(usize, f64)>,
    /// How often it was chosen.
    pub(crate) chosen: f64,
}

impl Alternative {
    /// The alternative that this item wins.
    pub(crate) fn item(item: usize, chosen: f64) -> Self {
        Self { features: vec![(item, 1.0)], chosen }
    }
}

/// A fit to be made.
pub(crate) struct Choices {
    /// How many items there are.
    pub(crate) items: usize,
    /// The name of the one further parameter, nothing where there is none.
    pub(crate) further: Option<&'static str>,
    /// The alternatives of each choice.
    pub(crate) alternatives: Vec<Vec<Alternative>>,
    /// The factor of the sum of squared log abilities in the penalty.
    pub(crate) ridge: f64,
}

/// Fitted abilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Abilities {
    /// The logarithm of each item's ability; they sum to zero.
    pub log_ability: Vec<f64>,
    /// The further parameter of the model, if it has one: the log advantage of the first, or nu of ties.
    pub further: Option<f64>,
    /// The logarithm of the likelihood, without a penalty.
    pub log_likelihood: f64,
    /// Twice the logarithm by which a model that fits every count exactly is better.
    pub deviance: f64,
    /// Counts that could differ less parameters.
    pub degrees_of_freedom: usize,
    pub(super) covariance: Matrix,
}

impl Abilities {
    /// Log abilities with that of `reference` at zero.
    pub fn relative_to(&self, reference: usize) -> Vec<f64> {
        self.log_ability.iter().map(|ability| ability - self.log_ability[reference]).collect()
    }

    /// The standard error of each log ability less that of `reference`.
    pub fn standard_errors(&self, reference: usize) -> Vec<f64> {
        (0..self.log_ability.len()).map(|item| self.variance_of_difference(item, reference).sqrt()).collect()
    }

    /// The variance of the difference of two log abilities.
    pub fn variance_of_difference(&self, first: usize, second: usize) -> f64 {
        let at = |row, column| self.covariance.at(row, column);
        (at(first, first) + at(second, second) - 2.0 * at(first, second)).max(0.0)
    }

    /// Abilities that sum to one.
    pub fn worth(&self) -> Vec<f64> {
        let largest = self.log_ability.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let abilities: Vec<f64> = self.log_ability.iter().map(|ability| libm::exp(ability - largest)).collect();
        let sum: f64 = abilities.iter().sum();
        abilities.iter().map(|ability| ability / sum).collect()
    }

    /// The probability that the first of two items wins, where there is neither a tie nor an advantage.
    pub fn probability(&self, first: usize, second: usize) -> f64 {
        1.0 / (1.0 + libm::exp(self.log_ability[second] - self.log_ability[first]))
    }
}

impl Choices {
    /// The best parameters, searched from `start` or from zero.
    pub(crate) fn fit(&self, start: Option<Vec<f64>>) -> Result<Abilities, ModelError> {
        if self.items == 0 || self.alternatives.is_empty() {
            return Err(ModelError::Empty);
        }
        if !(self.ridge >= 0.0 && self.ridge.is_finite()) {
            return Err(ModelError::InvalidValue("the ridge"));
        }
        self.require_maximum()?;
        let size = self.items + usize::from(self.further.is_some());
        let start = start.unwrap_or_else(|| vec![0.0; size]);
        let (mut log_ability, local) = minimise(start, (f64::MIN, f64::MAX), |point| Some(self.around(point)))?;
        let log_likelihood = self.log_likelihood(&log_ability);
        let further = log_ability.get(self.items).copied();
        log_ability.truncate(self.items);
        let counts: usize = self.alternatives.iter().map(|alternatives| alternatives.len() - 1).sum();
        Ok(Abilities {
            log_ability,
            further,
            log_likelihood,
            deviance: 2.0 * (self.largest_log_likelihood() - log_likelihood),
            degrees_of_freedom: (counts + 1).saturating_sub(size),
            covariance: Cholesky::of(local.hessian).ok_or(ModelError::NotConverged)?.inverse(),
        })
    }

    /// Refuses parameters without a finite best value.
    fn require_maximum(&self) -> Result<(), ModelError> {
        let mut bounds = Vec::new();
        for alternatives in &self.alternatives {
            for better in alternatives.iter().filter(|alternative| alternative.chosen > 0.0) {
                bounds.extend(alternatives.iter().filter_map(|other| self.bound(better, other)));
            }
        }
        if self.ridge <= 0.0 {
            let wins: Vec<(usize, usize)> = bounds.iter().map(|bound| (bound.above, bound.item)).collect();
            Existence::of(self.items, &wins).required()?;
        }
        let Some(name) = self.further else { return Ok(()) };
        for sign in [1.0, -1.0] {
            let of_sign = |bound: &DifferenceBound| DifferenceBound { bound: sign * bound.bound, ..*bound };
            let signed: Vec<DifferenceBound> = bounds.iter().map(of_sign).collect();
            // A ridge holds the abilities, so that only the further parameter itself can run away.
            let free = if self.ridge > 0.0 {
                signed.iter().all(|bound| bound.bound >= 0.0)
            } else {
                can_be_met(self.items, &signed)
            };
            if free {
                return Err(ModelError::Unbounded(name));
            }
        }
        Ok(())
    }

    /// What must hold of abilities so that `better` gains on `other`, or loses nothing, when the further parameter
    /// grows by one.
    fn bound(&self, better: &Alternative, other: &Alternative) -> Option<DifferenceBound> {
        let mut differences: Vec<(usize, f64)> = better.features.clone();
        for (parameter, factor) in &other.features {
            match differences.iter_mut().find(|(known, _)| known == parameter) {
                Some((_, difference)) => *difference -= factor,
                None => differences.push((*parameter, -factor)),
            }
        }
        let further =
            differences.iter().find(|(parameter, _)| *parameter >= self.items).map_or(0.0, |(_, factor)| *factor);
        let of_items = || differences.iter().filter(|(parameter, _)| *parameter < self.items);
        let (above, scale) = of_items().find(|(_, factor)| *factor > 0.0)?;
        let (item, _) = of_items().find(|(_, factor)| *factor < 0.0)?;
        Some(DifferenceBound { item: *item, above: *above, bound: further / scale })
    }

    /// The log-odds of each alternative.
    fn scores(alternatives: &[Alternative], point: &[f64]) -> Vec<f64> {
        let score = |alternative: &Alternative| {
            alternative.features.iter().map(|(parameter, factor)| factor * point[*parameter]).sum()
        };
        alternatives.iter().map(score).collect()
    }

    fn log_likelihood(&self, point: &[f64]) -> f64 {
        let of_choice = |alternatives: &Vec<Alternative>| {
            let scores = Self::scores(alternatives, point);
            let total = log_sum_exp(&scores);
            alternatives
                .iter()
                .zip(scores)
                .map(|(alternative, score)| alternative.chosen * (score - total))
                .sum::<f64>()
        };
        self.alternatives.iter().map(of_choice).sum()
    }

    /// The logarithm of the likelihood of the observed shares.
    fn largest_log_likelihood(&self) -> f64 {
        let of_choice = |alternatives: &Vec<Alternative>| {
            let total: f64 = alternatives.iter().map(|alternative| alternative.chosen).sum();
            let chosen = alternatives.iter().map(|alternative| alternative.chosen).filter(|chosen| *chosen > 0.0);
            chosen.map(|chosen| chosen * libm::log(chosen / total)).sum::<f64>()
        };
        self.alternatives.iter().map(of_choice).sum()
    }

    /// The negative logarithm of the likelihood with its derivatives, the penalty, and half the square of the sum of
    /// abilities, which makes the sum zero and changes nothing else.
    fn around(&self, point: &[f64]) -> Local {
        let mut local = Local::zero(point.len());
        for alternatives in &self.alternatives {
            let scores = Self::scores(alternatives, point);
            let total = log_sum_exp(&scores);
            let chosen: f64 = alternatives.iter().map(|alternative| alternative.chosen).sum();
            let mut expected: Vec<(usize, f64)> = Vec::new();
            for (alternative, score) in alternatives.iter().zip(&scores) {
                let probability = libm::exp(score - total);
                local.value -= alternative.chosen * (score - total);
                for (parameter, factor) in &alternative.features {
                    local.gradient[*parameter] += (chosen * probability - alternative.chosen) * factor;
                    for (other, other_factor) in &alternative.features {
                        local.hessian.add(*parameter, *other, chosen * probability * factor * other_factor);
                    }
                    match expected.iter_mut().find(|(known, _)| known == parameter) {
                        Some((_, mean)) => *mean += probability * factor,
                        None => expected.push((*parameter, probability * factor)),
                    }
                }
            }
            for (parameter, mean) in &expected {
                for (other, other_mean) in &expected {
                    local.hessian.add(*parameter, *other, -chosen * mean * other_mean);
                }
            }
        }
        let sum: f64 = point[..self.items].iter().sum();
        local.value += sum * sum / 2.0;
        for (item, ability) in point[..self.items].iter().enumerate() {
            local.value += self.ridge * ability * ability;
            local.gradient[item] += 2.0 * self.ridge * ability + sum;
            local.hessian.add(item, item, 2.0 * self.ridge);
            local.hessian.row_mut(item)[..self.items].iter_mut().for_each(|cell| *cell += 1.0);
        }
        local
    }
}

/// The logarithm of a sum of exponentials.
fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + libm::log(values.iter().map(|value| libm::exp(value - largest)).sum())
}

/// Errors of a number of wins or of an item beyond the last.
pub(crate) fn validate(items: usize, named: &[usize], counts: &[f64]) -> Result<(), ModelError> {
    let distinct = named.iter().enumerate().all(|(position, item)| *item < items && !named[..position].contains(item));
    if !distinct {
        return Err(ModelError::InvalidValue("an item"));
    }
    // A total that is finite too, so that nothing overflows later.
    let most = f64::MAX / real(counts.len().max(1)) * 1e-200;
    let valid = counts.iter().all(|count| *count >= 0.0 && *count <= most);
    if valid { Ok(()) } else { Err(ModelError::InvalidValue("a count")) }
}
