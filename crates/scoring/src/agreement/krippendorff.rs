//! Krippendorff's alpha: 1 - observed / expected disagreement (Krippendorff, Content Analysis, 2004; Hayes &
//! Krippendorff 2007).
//!
//! - Only units with at least two values count; their values are the pairable ones.
//! - Observed is the disagreement of pairs within units, weighted by 1 / (values of the unit - 1); expected is that of
//!   all pairs of pairable values.
//! - The disagreement of two values is 0 or 1 (nominal), the squared difference (interval), the squared difference of
//!   their average ranks among pairable values (ordinal), or the square of difference by sum (ratio).

use crate::ModelError;
use crate::numeric::{is_usable, midranks, real, squared_deviations};

/// What differences of values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Values are names.
    Nominal,
    /// Only the order of values counts.
    Ordinal,
    /// Differences count.
    Interval,
    /// Ratios count; values are not negative. It takes time by the square of the number of different values.
    Ratio,
}

/// The coefficient and what it is based on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KrippendorffAlpha {
    /// 1 for perfect agreement, 0 for chance, below 0 for less than chance.
    pub alpha: f64,
    /// How many values stand in units with at least two.
    pub pairable_values: usize,
    /// How many units have at least two values.
    pub units: usize,
}

/// The coefficient of units, each with the values that it has; the values' order within a unit does not count.
pub fn krippendorff_alpha(units: &[Vec<f64>], scale: Scale) -> Result<KrippendorffAlpha, ModelError> {
    let invalid = |value: &f64| !is_usable(*value) || (scale == Scale::Ratio && *value < 0.0);
    if units.iter().flatten().any(invalid) {
        return Err(ModelError::InvalidValue("a unit"));
    }
    let paired: Vec<&Vec<f64>> = units.iter().filter(|values| values.len() > 1).collect();
    // Zero has one sign, so that equal values are the same value.
    let mut all: Vec<f64> = paired.iter().flat_map(|values| values.iter().map(|value| value + 0.0)).collect();
    if all.is_empty() {
        return Err(ModelError::Empty);
    }
    if scale == Scale::Ordinal {
        all = midranks(&all).0;
    }
    let mut rest = all.as_slice();
    let mut observed = 0.0;
    for values in &paired {
        let (unit, others) = rest.split_at(values.len());
        observed += disagreement(unit, scale) / real(unit.len() - 1);
        rest = others;
    }
    let expected = disagreement(&all, scale) / real(all.len() - 1);
    if expected <= 0.0 {
        return Err(ModelError::NoVariation);
    }
    Ok(KrippendorffAlpha { alpha: 1.0 - observed / expected, pairable_values: all.len(), units: paired.len() })
}

/// The sum over ordered pairs of values.
fn disagreement(values: &[f64], scale: Scale) -> f64 {
    if matches!(scale, Scale::Interval | Scale::Ordinal) {
        return 2.0 * real(values.len()) * squared_deviations(values);
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let groups: Vec<(f64, f64)> = (sorted.chunk_by(|left, right| left.total_cmp(right).is_eq()))
        .map(|group| (group[0], real(group.len())))
        .collect();
    if scale == Scale::Nominal {
        let count = real(values.len());
        return groups.iter().map(|(_, size)| size * (count - size)).sum();
    }
    let mut sum = 0.0;
    for (position, (value, size)) in groups.iter().enumerate() {
        for (other, other_size) in &groups[..position] {
            // Sorted and not negative: the larger of two different values is above zero.
            let ratio = (value - other) / (value + other);
            sum += 2.0 * size * other_size * ratio * ratio;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn units() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec((1_u8..6).prop_map(f64::from), 0..5), 2..9)
    }

    /// The definition by the coincidence matrix, pair by pair.
    fn by_definition(units: &[Vec<f64>], scale: Scale) -> Option<f64> {
        let paired: Vec<&Vec<f64>> = units.iter().filter(|unit| unit.len() > 1).collect();
        let all: Vec<f64> = paired.iter().flat_map(|unit| unit.iter().copied()).collect();
        let count =
            |below: f64, above: f64| real(all.iter().filter(|value| **value >= below && **value <= above).count());
        let distance = |left: f64, right: f64| match scale {
            Scale::Nominal => f64::from(u8::from((left - right).abs() > 0.5)),
            Scale::Interval => (left - right).powi(2),
            Scale::Ratio => ((left - right) / (left + right)).powi(2),
            Scale::Ordinal => {
                let (low, high) = (left.min(right), left.max(right));
                (count(low, high) - f64::midpoint(count(low, low), count(high, high))).powi(2)
            }
        };
        let pairs = |values: &[f64]| -> f64 {
            values
                .iter()
                .flat_map(|left| values.iter().map(move |right| (left, right)))
                .map(|(l, r)| distance(*l, *r))
                .sum()
        };
        let observed: f64 = paired.iter().map(|unit| pairs(unit) / real(unit.len() - 1)).sum();
        let expected = pairs(&all) / (real(all.len()) - 1.0);
        (expected > 0.0).then(|| 1.0 - observed / expected)
    }

    proptest! {
        #[test]
        fn alpha_is_what_its_definition_says(units in units()) {
            for scale in [Scale::Nominal, Scale::Ordinal, Scale::Interval, Scale::Ratio] {
                let alpha = krippendorff_alpha(&units, scale).ok().map(|found| found.alpha);
                let expected = by_definition(&units, scale);
                prop_assert_eq!(alpha.is_some(), expected.is_some());
                prop_assert!(alpha.zip(expected).is_none_or(|(found, expected)| (found - expected).abs() < 1e-11));
            }
        }

        #[test]
        fn nominal_alpha_does_not_depend_on_labels_and_ordinal_alpha_only_on_their_order(units in units()) {
            let relabelled = |change: fn(f64) -> f64| -> Vec<Vec<f64>> {
                units.iter().map(|unit| unit.iter().rev().map(|value| change(*value)).collect()).collect()
            };
            let mixed = relabelled(|value| (value * 3.0) % 7.0 - 2.0);
            let stretched = relabelled(|value| value * value * value);
            let alpha = |units: &[Vec<f64>], scale| krippendorff_alpha(units, scale).map(|found| found.alpha);
            for (other, scale) in [(mixed, Scale::Nominal), (stretched, Scale::Ordinal)] {
                match (alpha(&units, scale), alpha(&other, scale)) {
                    (Ok(left), Ok(right)) => prop_assert!((left - right).abs() < 1e-12),
                    (left, right) => prop_assert_eq!(left, right),
                }
            }
        }
    }

    #[test]
    fn units_without_pairs_or_without_variation_are_refused() {
        let alpha = |units: &[Vec<f64>], scale| krippendorff_alpha(units, scale).err();
        assert_eq!(alpha(&[vec![1.0], vec![]], Scale::Nominal), Some(ModelError::Empty));
        assert_eq!(alpha(&[vec![0.0, -0.0]], Scale::Nominal), Some(ModelError::NoVariation));
        assert_eq!(alpha(&[vec![-1.0, 2.0]], Scale::Ratio), Some(ModelError::InvalidValue("a unit")));
    }
}
