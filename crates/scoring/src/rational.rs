//! Exact fractions, and the one place where they are rounded.
//!
//! - Scores, tallies and means are integers, or fractions of integers of any size. A tie is exact equality.
//! - Rounding is for display alone and is half up: what lies exactly halfway goes to the greater number.

use num::{BigInt, Integer, Signed, ToPrimitive, Zero};

/// An exact fraction, always reduced.
pub type Fraction = num::BigRational;

/// `numerator / denominator`, or none where the denominator is zero.
pub fn fraction(numerator: impl Into<BigInt>, denominator: impl Into<BigInt>) -> Option<Fraction> {
    let denominator = denominator.into();
    (!denominator.is_zero()).then(|| Fraction::new(numerator.into(), denominator))
}

/// A whole number as a fraction.
pub fn whole(number: impl Into<BigInt>) -> Fraction {
    Fraction::from_integer(number.into())
}

/// The decimal text of a fraction with exactly so many `places` after the point, rounded half up.
pub fn decimal(value: &Fraction, places: u16) -> String {
    let small = value.numer().to_i128().zip(value.denom().to_i128());
    if let Some(shown) = small.and_then(|(numerator, denominator)| small_decimal(numerator, denominator, places)) {
        return shown;
    }
    let doubled: BigInt = value.numer() * BigInt::from(10).pow(u32::from(places)) * 2;
    let rounded: BigInt = (doubled + value.denom()).div_floor(&(value.denom() * BigInt::from(2)));
    with_point(rounded.is_negative(), rounded.abs().to_string(), places)
}

/// The same of `numerator / denominator`, which need not be reduced; none where the denominator is not above zero, or where 128 bits
/// are too few.
pub fn small_decimal(numerator: i128, denominator: i128, places: u16) -> Option<String> {
    let scale = 10_i128.checked_pow(u32::from(places))?.checked_mul(2)?;
    let halved = denominator.checked_mul(2).filter(|halved| *halved > 0)?;
    let rounded = numerator.checked_mul(scale)?.checked_add(denominator)?.div_euclid(halved);
    Some(with_point(rounded.is_negative(), rounded.unsigned_abs().to_string(), places))
}

fn with_point(is_negative: bool, mut digits: String, places: u16) -> String {
    let places = usize::from(places);
    if digits.len() <= places {
        digits.insert_str(0, &"0".repeat(places + 1 - digits.len()));
    }
    if places > 0 {
        digits.insert(digits.len() - places, '.');
    }
    if is_negative {
        digits.insert(0, '-');
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(numerator: i64, denominator: i64, places: u16) -> String {
        decimal(&fraction(numerator, denominator).unwrap(), places)
    }

    #[test]
    fn halves_are_rounded_up_and_places_are_kept() {
        assert_eq!(shown(149, 2, 2), "74.50");
        assert_eq!(shown(1, 200, 2), "0.01");
        assert_eq!(shown(-1, 200, 2), "0.00");
        assert_eq!(shown(-3, 2, 0), "-1");
        assert_eq!(shown(80, 3, 0), "27");
        assert_eq!(shown(-2, 3, 3), "-0.667");
        assert_eq!(fraction(1, 0), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_at_most_half_a_step_away(numerator: i64, denominator in 1..i64::MAX, places in 0u16..12) {
            let exact = fraction(numerator, denominator).unwrap();
            let step = fraction(1, BigInt::from(10).pow(u32::from(places))).unwrap();
            let digits: BigInt = decimal(&exact, places).replace('.', "").parse().unwrap();
            if let Some(small) = small_decimal(numerator.into(), denominator.into(), places) {
                prop_assert_eq!(small, decimal(&exact, places));
            }
            let over = whole(digits) * &step - exact;
            let half = step / whole(2);
            prop_assert!(over <= half && over > -half);
        }
    }
}
