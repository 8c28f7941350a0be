//! Exact fractions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fraction in lowest terms, exact. What does not fit into 128 bits is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Default for Fraction {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Fraction {
    /// Nothing.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// The fraction of two numbers; nothing where the second is zero.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator, denominator)?;
        let sign = denominator.signum();
        Some(Self {
            numerator: numerator.checked_div(divisor)?.checked_mul(sign)?,
            denominator: denominator.checked_div(divisor)?.checked_mul(sign)?,
        })
    }

    /// What is above the line.
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    /// What is below it, which is positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// A whole number.
    pub fn whole(number: i64) -> Self {
        Self { numerator: number.into(), denominator: 1 }
    }

    /// The sum.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let shared = greatest_common_divisor(self.denominator, other.denominator)?;
        let (left, right) = (other.denominator / shared, self.denominator / shared);
        let numerator = self.numerator.checked_mul(left)?.checked_add(other.numerator.checked_mul(right)?)?;
        Self::new(numerator, self.denominator.checked_mul(left)?)
    }

    /// The difference.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(Self { numerator: other.numerator.checked_neg()?, ..other })
    }

    /// The product.
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        Self::new(left.numerator.checked_mul(right.numerator)?, left.denominator.checked_mul(right.denominator)?)
    }

    /// The quotient; nothing where it would be one by zero.
    pub fn checked_div(self, other: Self) -> Option<Self> {
        self.checked_mul(Self::new(other.denominator, other.numerator)?)
    }

    /// As a number with at most 4 decimals, rounded half up on its magnitude, without zeros at its end: the one place in which a
    /// score is rounded.
    pub fn rounded(self) -> String {
        const STEPS: i128 = 10_000;
        let magnitude = self.numerator.unsigned_abs();
        let denominator = self.denominator.unsigned_abs();
        let (whole, rest) = (magnitude / denominator, magnitude % denominator);
        let steps = STEPS.unsigned_abs();
        // A denominator that leaves no room for the steps is so large that the digits behind are nothing to the rest.
        let scaled =
            rest.checked_mul(steps * 2).map_or_else(|| rest / (denominator / (steps * 2)), |rest| rest / denominator);
        let rounded = whole.saturating_mul(steps).saturating_add(scaled.div_ceil(2));
        let sign = if self.numerator < 0 && rounded > 0 { "-" } else { "" };
        let decimals = format!("{:04}", rounded % steps);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{decimals}", rounded / steps)
    }

    /// A text of always the same length by which fractions that are not negative are ordered: 20 hexadecimal digits
    /// before the point and 16 behind it, without the point. Nothing for others.
    pub fn ordered(self) -> Option<String> {
        const DIGITS: usize = 16;
        let numerator = u128::try_from(self.numerator).ok()?;
        let denominator = self.denominator.unsigned_abs();
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

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    /// By whole parts, and then by what is left, turned over, as in Euclid's algorithm, so that nothing overflows.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (mut left, mut right) = ((self.numerator, self.denominator), (other.numerator, other.denominator));
        loop {
            let (whole_left, whole_right) = (left.0.div_euclid(left.1), right.0.div_euclid(right.1));
            let (rest_left, rest_right) = (left.0.rem_euclid(left.1), right.0.rem_euclid(right.1));
            match (whole_left.cmp(&whole_right), rest_left, rest_right) {
                (std::cmp::Ordering::Equal, 0, _) | (std::cmp::Ordering::Equal, _, 0) => {
                    return rest_left.cmp(&rest_right);
                }
                (std::cmp::Ordering::Equal, ..) => (left, right) = ((right.1, rest_right), (left.1, rest_left)),
                (unequal, ..) => return unequal,
            }
        }
    }
}

fn greatest_common_divisor(left: i128, right: i128) -> Option<i128> {
    let (mut left, mut right) = (left.checked_abs()?, right.checked_abs()?);
    while right != 0 {
        (left, right) = (right, left % right);
    }
    Some(left.max(1))
}

impl fmt::Display for Fraction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.numerator, self.denominator)
    }
}

impl From<Fraction> for String {
    fn from(fraction: Fraction) -> Self {
        fraction.to_string()
    }
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(over, under)| Some((over.parse().ok()?, under.parse().ok()?)));
        parts.and_then(|(over, under)| Self::new(over, under)).ok_or_else(|| format!("{text} is no fraction"))
    }
}

impl TryFrom<String> for Fraction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
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
            prop_assert_eq!(left.to_string().parse::<Fraction>(), Ok(left));
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
