//! Exact fractions, as scores are.

use num::rational::Ratio;
use num::{CheckedAdd as _, CheckedDiv as _, CheckedMul as _, CheckedSub as _, ToPrimitive as _};
use scoring::rational::{decimal, fraction, small_decimal};
use serde::{Deserialize, Serialize};

/// The decimals with which a score is shown.
const DECIMALS: u16 = 4;

/// A fraction in lowest terms, exact. What does not fit into 128 bits is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fraction(Ratio<i128>);

impl Fraction {
    /// Nothing.
    pub const ZERO: Self = Self(Ratio::ZERO);

    /// The fraction of two numbers; nothing where the second is zero.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let is_fit = denominator != 0 && numerator != i128::MIN && denominator != i128::MIN;
        is_fit.then(|| Self(Ratio::new(numerator, denominator)))
    }

    /// What is above the line.
    pub fn numerator(self) -> i128 {
        *self.0.numer()
    }

    /// What is below it, which is positive.
    pub fn denominator(self) -> i128 {
        *self.0.denom()
    }

    /// A whole number.
    pub fn whole(number: i64) -> Self {
        Self(Ratio::from_integer(number.into()))
    }

    /// The sum.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(&other.0).map(Self)
    }

    /// The difference.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(&other.0).map(Self)
    }

    /// The product.
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        self.0.checked_mul(&other.0).map(Self)
    }

    /// The quotient; nothing where it would be one by zero.
    pub fn checked_div(self, other: Self) -> Option<Self> {
        self.0.checked_div(&other.0).map(Self)
    }

    /// The nearest real number, for models that are not exact.
    pub fn approximate(self) -> f64 {
        self.0.to_f64().unwrap_or(f64::NAN)
    }

    /// As a number with at most 4 decimals, rounded half up, without zeros at its end.
    pub fn rounded(self) -> String {
        let large = || decimal(&fraction(self.numerator(), self.denominator()).unwrap_or_default(), DECIMALS);
        let shown = small_decimal(self.numerator(), self.denominator(), DECIMALS).unwrap_or_else(large);
        shown.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// A text of always the same length by which fractions that are not negative are ordered: 20 hexadecimal digits
    /// before the point and 16 behind it, without the point. Nothing for others.
    pub fn ordered(self) -> Option<String> {
        const DIGITS: usize = 16;
        let numerator = u128::try_from(self.numerator()).ok()?;
        let denominator = self.denominator().unsigned_abs();
        let (whole, mut rest) = (numerator / denominator, numerator % denominator);
        let mut text = format!("{whole:020x}");
        for _ in 0..DIGITS {
            rest = rest.checked_mul(16)?;
            text.push(char::from_digit(u32::try_from(rest / denominator).ok()?, 16)?);
            rest %= denominator;
        }
        (text.len() == 20 + DIGITS).then_some(text)
    }
}

impl From<Fraction> for String {
    fn from(fraction: Fraction) -> Self {
        fraction.0.to_string()
    }
}

impl TryFrom<String> for Fraction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text} is no fraction"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fraction(over: i64, under: i64) -> Fraction {
        Fraction::new(over.into(), under.into()).unwrap()
    }

    #[test]
    fn a_score_is_rounded_half_up_to_four_decimals() {
        for (over, under, shown) in [
            (7, 1, "7"),
            (15, 2, "7.5"),
            (1, 3, "0.3333"),
            (2, 3, "0.6667"),
            (1, 20_000, "0.0001"),
            (-1, 4, "-0.25"),
            (-1, 30_000, "0"),
        ] {
            assert_eq!(fraction(over, under).rounded(), shown);
        }
    }

    proptest! {
        #[test]
        fn texts_are_ordered_as_fractions(
            (a, b) in (0_i64..1_000_000, 1_i64..10_000),
            (c, d) in (0_i64..1_000_000, 1_i64..10_000),
        ) {
            let (left, right) = (fraction(a, b), fraction(c, d));
            prop_assert_eq!(left.cmp(&right), (i128::from(a) * i128::from(d)).cmp(&(i128::from(c) * i128::from(b))));
            prop_assert_eq!(left.cmp(&right), left.ordered().unwrap().cmp(&right.ordered().unwrap()));
            prop_assert_eq!(Fraction::try_from(String::from(left)), Ok(left));
        }

        #[test]
        fn what_is_added_can_be_taken_away(
            (a, b) in (-1_000_000_i64..1_000_000, 1_i64..10_000),
            (c, d) in (-1_000_000_i64..1_000_000, 1_i64..10_000),
        ) {
            let (left, right) = (fraction(a, b), fraction(c, d));
            prop_assert_eq!(left.checked_add(right).unwrap().checked_sub(right), Some(left));
            if c != 0 {
                prop_assert_eq!(left.checked_mul(right).unwrap().checked_div(right), Some(left));
            }
        }
    }
}
