//! Bradley-Terry with judges of different reliability (Chen, Bennett, Collins-Thompson & Horvitz, WSDM 2013).
//!
//! - Judge k reports the comparison as the model draws it with probability `eta_k`, and the opposite otherwise.
//! - Abilities have a ridge, and eta a Beta(10, 2) prior, which also decides that judges are rather right than wrong:
//!   the likelihood alone does not change when all abilities and all judges are turned around.
//! - The fit alternates (expectation and maximisation, from abilities of judges who are all equally reliable): how
//!   likely each report is as drawn, then abilities from these weights, and reliabilities from the prior and the
//!   weights.

use super::choice::{Abilities, Alternative, Choices, validate};
use crate::ModelError;

/// The prior of a judge's reliability: as if this many reports were as drawn, and this many turned around.
const PRIOR: (f64, f64) = (9.0, 1.0);

/// The search ends when nothing changes by more than this, or after so many rounds.
const SHORT: f64 = 1e-10;
const MAX_ROUNDS: usize = 5_000;

/// A judge's report on two items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The judge.
    pub judge: usize,
    /// The item that the judge prefers.
    pub winner: usize,
    /// The other item.
    pub loser: usize,
}

/// Abilities of items and reliabilities of judges.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// The logarithm of each item's ability; they sum to zero.
    pub log_ability: Vec<f64>,
    /// The probability with which each judge reports a comparison as it was drawn: about 0.5 for one who reports at
    /// random.
    pub reliability: Vec<f64>,
}

/// Fits `items` items and `judges` judges; the ridge is above zero.
pub fn crowd_bradley_terry(
    items: usize,
    judges: usize,
    judgements: &[Judgement],
    ridge: f64,
) -> Result<Crowd, ModelError> {
    if ridge <= 0.0 {
        return Err(ModelError::InvalidValue("the ridge"));
    }
    for judgement in judgements {
        validate(items, &[judgement.winner, judgement.loser], &[])?;
        if judgement.judge >= judges {
            return Err(ModelError::InvalidValue("a judge"));
        }
    }
    let mut reliability = vec![PRIOR.0 / (PRIOR.0 + PRIOR.1); judges];
    let mut as_drawn = vec![1.0; judgements.len()];
    let mut log_ability = vec![0.0; items];
    for _ in 0..MAX_ROUNDS {
        let fitted = weighted(items, judgements, &as_drawn, ridge, log_ability.clone())?;
        let before = std::mem::replace(&mut log_ability, fitted.log_ability.clone());
        let mut sums = vec![(0.0, 0.0); judges];
        for (judgement, weight) in judgements.iter().zip(&mut as_drawn) {
            let truly = reliability[judgement.judge] * fitted.probability(judgement.winner, judgement.loser);
            let turned = (1.0 - reliability[judgement.judge]) * fitted.probability(judgement.loser, judgement.winner);
            *weight = truly / (truly + turned);
            sums[judgement.judge].0 += *weight;
            sums[judgement.judge].1 += 1.0;
        }
        let renewed = sums.iter().map(|(drawn, count)| (PRIOR.0 + drawn) / (PRIOR.0 + PRIOR.1 + count));
        let old = std::mem::replace(&mut reliability, renewed.collect());
        let pairs = before.iter().zip(&log_ability).chain(old.iter().zip(&reliability));
        if pairs.map(|(left, right)| (left - right).abs()).fold(0.0, f64::max) < SHORT {
            return Ok(Crowd { log_ability, reliability });
        }
    }
    Err(ModelError::NotConverged)
}

/// Abilities where each report counts as drawn with its weight, and turned around with the rest.
fn weighted(
    items: usize,
    judgements: &[Judgement],
    as_drawn: &[f64],
    ridge: f64,
    start: Vec<f64>,
) -> Result<Abilities, ModelError> {
    let choice = |(judgement, weight): (&Judgement, &f64)| {
        vec![Alternative::item(judgement.winner, *weight), Alternative::item(judgement.loser, 1.0 - weight)]
    };
    let alternatives = judgements.iter().zip(as_drawn).map(choice).collect();
    Choices { items, further: None, alternatives, ridge }.fit(Some(start))
}

#[cfg(test)]
mod tests {
    use super::super::RIDGE;
    use super::*;

    #[test]
    fn a_judge_who_reports_the_opposite_is_found_out() {
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let report = |judge: usize| {
            let judgement = move |(better, worse)| {
                let (winner, loser) = if judge == 4 { (worse, better) } else { (better, worse) };
                Judgement { judge, winner, loser }
            };
            pairs.into_iter().map(judgement)
        };
        let judgements: Vec<Judgement> = (0..5).flat_map(report).collect();
        let crowd = crowd_bradley_terry(4, 5, &judgements, RIDGE).unwrap();
        assert!(crowd.log_ability.is_sorted_by(|left, right| left > right), "{crowd:?}");
        assert!(crowd.reliability[4] < 0.75 && crowd.reliability[..4].iter().all(|value| *value > 0.9), "{crowd:?}");
    }

    #[test]
    fn without_a_ridge_or_judgements_or_with_an_unknown_judge_it_is_refused() {
        let judgement = Judgement { judge: 1, winner: 0, loser: 1 };
        assert_eq!(crowd_bradley_terry(2, 1, &[judgement], RIDGE), Err(ModelError::InvalidValue("a judge")));
        assert_eq!(crowd_bradley_terry(2, 2, &[judgement], 0.0), Err(ModelError::InvalidValue("the ridge")));
        assert_eq!(crowd_bradley_terry(2, 2, &[], RIDGE), Err(ModelError::Empty));
    }
}
