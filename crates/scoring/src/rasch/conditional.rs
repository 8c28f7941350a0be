//! Conditional maximum likelihood, by elementary symmetric functions of the items' easiness (Gustafsson 1980).
//!
//! The likelihood has a maximum where every item, directly or through others, was answered rightly by somebody who had
//! each other item wrong (Fischer, Psychometrika 46, 1981).

use super::{Pattern, Totals};
use crate::ModelError;
use crate::numeric::newton::{Local, minimise};
use crate::paired::existence::Existence;

/// The fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The difficulty of each item; they sum to zero.
    pub difficulty: Vec<f64>,
    /// The logarithm of the likelihood, given each person's number of right answers.
    pub log_likelihood: f64,
}

/// Fits the model to answers.
pub fn conditional(patterns: &[Pattern]) -> Result<Conditional, ModelError> {
    let totals = Totals::of(patterns)?;
    let mut wins = Vec::new();
    for pattern in patterns.iter().filter(|pattern| pattern.persons > 0) {
        let with = |answer: bool| (0..pattern.answers.len()).filter(move |item| pattern.answers[*item] == Some(answer));
        wins.extend(with(true).flat_map(|right| with(false).map(move |wrong| (right, wrong))));
    }
    wins.sort_unstable();
    wins.dedup();
    Existence::of(totals.right.len(), &wins).required()?;
    let start = vec![0.0; totals.right.len()];
    let (easiness, local) = minimise(start, (f64::MIN, f64::MAX), |point| Some(around(&totals, point)))?;
    let difficulty = easiness.iter().map(|easiness| -easiness).collect();
    Ok(Conditional { difficulty, log_likelihood: -local.value })
}

/// The negative logarithm of the likelihood, with its derivatives by easiness, and half the square of the sum of
/// easiness, which makes the sum zero and changes nothing else.
fn around(totals: &Totals, point: &[f64]) -> Local {
    let mut local = Local::zero(point.len());
    let sum: f64 = point.iter().sum();
    local.value = sum * sum / 2.0;
    for (item, (right, easiness)) in totals.right.iter().zip(point).enumerate() {
        local.value -= right * easiness;
        local.gradient[item] = sum - right;
        local.hessian.row_mut(item).iter_mut().for_each(|cell| *cell += 1.0);
    }
    for group in &totals.groups {
        let odds: Vec<f64> = group.items.iter().map(|item| libm::exp(point[*item])).collect();
        let all = symmetric(&odds, &[], group.right);
        local.value += group.persons * libm::log(all);
        let with = |included: &[usize]| {
            let Some(rest) = group.right.checked_sub(included.len()) else { return 0.0 };
            included.iter().map(|position| odds[*position]).product::<f64>() * symmetric(&odds, included, rest) / all
        };
        let right: Vec<f64> = (0..odds.len()).map(|position| with(&[position])).collect();
        for (row, item) in group.items.iter().enumerate() {
            local.gradient[*item] += group.persons * right[row];
            for (column, other) in group.items.iter().enumerate() {
                let both = if row == column { right[row] } else { with(&[row, column]) };
                local.hessian.add(*item, *other, group.persons * (both - right[row] * right[column]));
            }
        }
    }
    local
}

/// The sum over all choices of `size` of the values of their products, values at `left_out` aside.
fn symmetric(values: &[f64], left_out: &[usize], size: usize) -> f64 {
    let mut sums = vec![0.0; size + 1];
    sums[0] = 1.0;
    for (position, value) in values.iter().enumerate() {
        if !left_out.contains(&position) {
            for taken in (0..size).rev() {
                sums[taken + 1] += sums[taken] * value;
            }
        }
    }
    sums[size]
}
