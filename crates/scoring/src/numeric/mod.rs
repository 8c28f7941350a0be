//! Arithmetic that gives the same bits on every machine.
//!
//! - Exponentials and logarithms come from `libm`. Additions, products and square roots are exact to the last bit by
//!   IEEE 754.
//! - Sums are taken in a fixed order. Iterations end after a number of steps, or by a test on values that are
//!   themselves fixed.
//! - What is published is rounded to 1e-6 by [`published`] and by nothing else.

pub(crate) mod distribution;
pub(crate) mod matrix;
pub(crate) mod newton;
pub(crate) mod random;

use crate::ModelError;

/// A range with both ends in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Rounds to 1e-6, half up; zero has no sign.
pub fn published(value: f64) -> f64 {
    (value * 1e6 + 0.5).floor() / 1e6 + 0.0
}

/// A count as a real number.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

/// Whether squares of a value and sums of them stay finite; what is no number is not usable.
pub(crate) fn is_usable(value: f64) -> bool {
    value.abs() <= 1e100
}

/// A whole number that is the smaller, the larger the value is: sorting by it is twice as fast as comparing values.
pub(crate) fn descending(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    // Of negative numbers all bits but the sign are turned around, so that whole numbers have the order of values.
    !(bits ^ (bits >> 63 & i64::MAX))
}

/// The probability outside an interval on each side, where `level` is the probability within.
pub(crate) fn tail(level: f64) -> Result<f64, ModelError> {
    if level > 0.0 && level < 1.0 { Ok((1.0 - level) / 2.0) } else { Err(ModelError::InvalidValue("the level")) }
}

/// The mean, zero where there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len().max(1))
}

/// The sum of squared deviations from the mean.
pub(crate) fn squared_deviations(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

/// Average ranks from 1 in ascending order, equal values sharing the mean of their ranks, and the sizes of the groups
/// of equal values.
pub(crate) fn midranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = Vec::new();
    let mut before = 0;
    for group in order.chunk_by(|left, right| values[*left].total_cmp(&values[*right]).is_eq()) {
        for position in group {
            ranks[*position] = real(before) + real(group.len() + 1) / 2.0;
        }
        before += group.len();
        ties.push(group.len());
    }
    (ranks, ties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_are_rounded_half_up_and_zero_has_no_sign() {
        assert_eq!(published(2.000_000_5).to_bits(), 2.000_001_f64.to_bits());
        assert_eq!(published(-0.000_000_1).to_bits(), 0.0_f64.to_bits());
        assert_eq!(published(-1.5).to_bits(), (-1.5_f64).to_bits());
    }

    #[test]
    fn descending_keys_have_the_opposite_order_of_values() {
        let values = [f64::MAX, 2.0, 1.0, 1e-300, 0.0, -1e-300, -1.0, -2.0, f64::MIN];
        assert!(values.map(descending).is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        assert_eq!(midranks(&[5.0, 1.0, 5.0, 9.0]), (vec![2.5, 1.0, 2.5, 4.0], vec![1, 2, 1]));
    }
}
