//! The arithmetic: one rule of rounding, and the spreading of an amount that loses nothing.
//!
//! **Rounding** is half up: to the nearest minor unit, and exactly half a unit goes up. Only amounts of nothing or more are
//! rounded; credit notes are negated afterwards, so that they mirror what they credit. It is the rule of [`Rate::of`], and
//! that of tax authorities: "if the VAT comes to 0.5 of one penny or more, it should be rounded up" (HM Revenue & Customs,
//! VATREC12030, which names Council Regulation (EC) 1103/97 for euros); "only fractions equal to or greater than one-half of a
//! cent are counted as a whole cent" (Revenu Québec); "rounds up to the next cent whenever the third decimal place is greater
//! than four" (Streamlined Sales and Use Tax Agreement, section 324).
//!
//! **Spreading** is by largest remainders: every part is its exact share rounded down, and the units that are then missing go
//! one by one to the largest remainders; of equal ones to the larger weight, then to the smaller key. The parts sum to the
//! amount, and where the amount is at most the sum of the weights, no part exceeds its weight.

use std::cmp::Reverse;

use crate::error::PricingError;
use kernel::text::Rate;

/// All of an amount, in the unit of rates: ten-thousandths of a per cent.
pub(crate) const WHOLE: i128 = 1_000_000;

/// The amount, where it fits in 64 bits.
pub(crate) fn narrow(amount: i128) -> Result<i64, PricingError> {
    i64::try_from(amount).map_err(|_| PricingError::Overflow)
}

/// The sum, where it fits in 64 bits.
pub(crate) fn sum(amounts: impl IntoIterator<Item = i64>) -> Result<i64, PricingError> {
    narrow(amounts.into_iter().map(i128::from).sum())
}

/// The amount, where it is not below nothing.
pub(crate) fn not_negative(amount: i64) -> Result<i64, PricingError> {
    if amount < 0 { Err(PricingError::Negative) } else { Ok(amount) }
}

/// `amount * numerator / denominator`, rounded half up. The fraction is at most one, and nothing is below zero.
pub(crate) fn part(amount: i64, numerator: i128, denominator: i128) -> i64 {
    let rounded = (i128::from(amount) * numerator * 2 + denominator) / (denominator * 2);
    // A part is at most the whole, so the conversion never fails.
    i64::try_from(rounded).unwrap_or(amount)
}

/// So many per cent of an amount of nothing or more, rounded half up.
pub(crate) fn percentage(rate: Rate, amount: i64) -> i64 {
    part(amount, i128::from(rate.ten_thousandths()), WHOLE)
}

/// Spreads an amount over weights, in proportion; each weight comes with a key that no other has, or nothing tells them apart.
///
/// An amount or a weight below nothing is [`PricingError::Negative`]; weights that are all zero can only take zero.
pub fn spread<K: Ord>(amount: i64, weights: &[(i64, K)]) -> Result<Vec<i64>, PricingError> {
    not_negative(amount)?;
    weights.iter().try_for_each(|(weight, _)| not_negative(*weight).map(drop))?;
    let whole: i128 = weights.iter().map(|(weight, _)| i128::from(*weight)).sum();
    if amount == 0 || whole == 0 {
        return if amount == 0 { Ok(vec![0; weights.len()]) } else { Err(PricingError::NothingToSpreadOver) };
    }
    let product = |weight: i64| i128::from(amount) * i128::from(weight);
    let floors = weights.iter().map(|(weight, _)| narrow(product(*weight) / whole));
    let mut parts = floors.collect::<Result<Vec<i64>, _>>()?;
    let missing = i128::from(amount) - parts.iter().map(|part| i128::from(*part)).sum::<i128>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&index| {
        let (weight, key) = &weights[index];
        (Reverse(product(*weight) % whole), Reverse(*weight), key)
    });
    // Fewer units are missing than there are remainders above zero.
    for &index in order.iter().take(usize::try_from(missing).unwrap_or_default()) {
        parts[index] += 1;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use kernel::text::{Currency, Money};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exactly_half_a_unit_goes_up() {
        let rate = |text| Rate::parse(text).unwrap();
        for (percent, amount, rounded) in
            [("9.975", 10_000, 998), ("50", 1, 1), ("10", 4, 0), ("100", i64::MAX, i64::MAX)]
        {
            assert_eq!(percentage(rate(percent), amount), rounded, "{percent} of {amount}");
        }
    }

    #[test]
    fn missing_units_go_to_the_largest_remainders() {
        assert_eq!(spread(100, &[(1, 'a'), (1, 'b'), (1, 'c')]), Ok(vec![34, 33, 33]));
        assert_eq!(spread(100, &[(1, 'c'), (1, 'b'), (1, 'a')]), Ok(vec![33, 33, 34]));
        assert_eq!(spread(5, &[(1, 'a'), (3, 'b'), (0, 'c')]), Ok(vec![1, 4, 0]));
        assert_eq!(spread(4, &[(7, 'a'), (2, 'b')]), Ok(vec![3, 1]));
        assert_eq!(spread(0, &[(0, 'a')]), Ok(vec![0]));
        assert_eq!(spread(1, &[(0, 'a')]), Err(PricingError::NothingToSpreadOver));
        assert_eq!(spread(1, &[(-1, 'a'), (2, 'b')]), Err(PricingError::Negative));
        assert_eq!(spread(i64::MAX, &[(i64::MAX, 'a'), (i64::MAX, 'b')]).unwrap().iter().sum::<i64>(), i64::MAX);
    }

    proptest! {
        #[test]
        fn a_percentage_is_that_of_the_kernel(value in 0_i64..=1_000_000, amount in 0..=i64::MAX) {
            let rate = Rate::from_ten_thousandths(value).unwrap();
            let money = Money::new(amount, Currency::parse("EUR").unwrap());
            prop_assert_eq!(percentage(rate, amount), rate.of(money).minor());
        }

        #[test]
        fn parts_sum_to_the_amount_and_stay_below_their_weights(
            weights in prop::collection::vec(prop_oneof![0..=9_i64, 0..=i64::MAX / 40], 1..40),
            share in 0..=1_000_000_i128,
        ) {
            let whole: i64 = weights.iter().sum();
            let amount = i64::try_from(i128::from(whole) * share / 1_000_000).unwrap();
            let keyed: Vec<_> = weights.iter().copied().zip(0..).collect();
            let parts = spread(amount, &keyed).unwrap();
            prop_assert_eq!(parts.iter().sum::<i64>(), amount);
            for (part, weight) in parts.iter().zip(&weights) {
                prop_assert!(0 <= *part && part <= weight);
                let distance = i128::from(*part) * i128::from(whole) - i128::from(amount) * i128::from(*weight);
                prop_assert!(whole == 0 || distance.abs() < i128::from(whole));
            }
        }
    }
}
