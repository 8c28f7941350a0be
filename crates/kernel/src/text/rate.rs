//! Percentages: taxes, fees and discounts.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Money;
use super::decimal::{DecimalError, parse_scaled, write_scaled};
use super::slug::excerpt;

/// A percentage from 0 to 100 with up to 4 decimals, exact.
///
/// The upper bound makes [`Rate::of`] total: a part of an amount always fits where the amount does.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    ten_thousandths: u32,
}

/// Why there is no such percentage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The text is not a number.
    #[error("`{0}` is not a percentage")]
    Malformed(String),
    /// The percentage has more than 4 decimals.
    #[error("a percentage has at most 4 decimals")]
    TooManyDecimals,
    /// The percentage is below 0 or above 100.
    #[error("a percentage is from 0 to 100")]
    OutOfRange,
}

impl Rate {
    /// No percent at all.
    pub const ZERO: Self = Self { ten_thousandths: 0 };

    const DECIMALS: u32 = 4;
    const MAXIMUM: u32 = 1_000_000;

    /// The exact percentage that `text` writes as a JSON number or as a decimal string of the same form.
    pub fn parse(text: &str) -> Result<Self, RateError> {
        match parse_scaled(text, Self::DECIMALS) {
            Ok(value) => Self::from_ten_thousandths(value).ok_or(RateError::OutOfRange),
            Err(DecimalError::Malformed) => Err(RateError::Malformed(excerpt(text))),
            Err(DecimalError::TooManyDecimals) => Err(RateError::TooManyDecimals),
            Err(DecimalError::TooLarge) => Err(RateError::OutOfRange),
        }
    }

    /// The percentage of this many ten-thousandths of a percent, when it is from 0 to 100 percent.
    #[must_use]
    pub fn from_ten_thousandths(value: i64) -> Option<Self> {
        let ten_thousandths = u32::try_from(value).ok().filter(|value| *value <= Self::MAXIMUM)?;
        Some(Self { ten_thousandths })
    }

    /// The percentage in ten-thousandths of a percent.
    #[must_use]
    pub const fn ten_thousandths(self) -> u32 {
        self.ten_thousandths
    }

    /// Whether the percentage is nothing.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.ten_thousandths == 0
    }

    /// This many percent of an amount, rounded half up to the minor unit.
    ///
    /// The magnitude is rounded, so the part of a refund is always the negative of the part of what it refunds.
    #[must_use]
    pub fn of(self, amount: Money) -> Money {
        let divisor = i128::from(Self::MAXIMUM);
        let product = i128::from(amount.minor()) * i128::from(self.ten_thousandths);
        let magnitude = (product.abs() + divisor / 2) / divisor;
        let rounded = if product < 0 { -magnitude } else { magnitude };
        // At most the whole amount is taken, so the conversion never fails.
        Money::new(i64::try_from(rounded).unwrap_or(amount.minor()), amount.currency())
    }

    /// Appends the percentage as a JSON number without zeros at its end: `10`, `8.25`.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let (mut value, mut decimals) = (self.ten_thousandths, Self::DECIMALS);
        while decimals > 0 && value.is_multiple_of(10) {
            value /= 10;
            decimals -= 1;
        }
        write_scaled(i64::from(value), decimals, out);
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        Self::parse(text)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(8);
        self.write_json(&mut out);
        formatter.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self} %")
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.ten_thousandths.is_multiple_of(10_000) {
            return serializer.serialize_u32(self.ten_thousandths / 10_000);
        }
        // Seven digits survive a double exactly, and the shortest text of the double is the percentage again.
        serializer.serialize_f64(f64::from(self.ten_thousandths) / 10_000.0)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Percent;

        impl Visitor<'_> for Percent {
            type Value = Rate;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a percentage: a number from 0 to 100")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Rate, E> {
                Rate::parse(itoa::Buffer::new().format(value)).map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Rate, E> {
                Rate::parse(itoa::Buffer::new().format(value)).map_err(E::custom)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Rate, E> {
                Rate::parse(&value.to_string()).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Percent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Currency;
    use super::*;

    fn of(rate: &str, minor: i64) -> i64 {
        Rate::parse(rate).unwrap().of(Money::new(minor, Currency::parse("USD").unwrap())).minor()
    }

    #[test]
    fn a_percentage_is_written_without_zeros_at_its_end() {
        for (text, shown) in
            [("10", "10"), ("8.25", "8.25"), ("8.2500", "8.25"), ("0", "0"), ("100.0", "100"), ("0.0001", "0.0001")]
        {
            let rate = Rate::parse(text).unwrap();
            assert_eq!(rate.to_string(), shown);
            assert_eq!(serde_json::to_string(&rate).unwrap(), shown);
        }
    }

    #[test]
    fn what_is_no_percentage_is_an_error() {
        assert_eq!(Rate::parse("8.25001"), Err(RateError::TooManyDecimals));
        assert_eq!(Rate::parse("100.0001"), Err(RateError::OutOfRange));
        assert_eq!(Rate::parse("-1"), Err(RateError::OutOfRange));
        assert_eq!(Rate::parse("1e30"), Err(RateError::OutOfRange));
        assert_eq!(Rate::parse("10%"), Err(RateError::Malformed("10%".into())));
        assert!(serde_json::from_str::<Rate>("-1").is_err());
        assert!(serde_json::from_str::<Rate>("\"10\"").is_err());
    }

    #[test]
    fn half_a_minor_unit_is_rounded_up_in_magnitude() {
        assert_eq!(of("10", 1005), 101);
        assert_eq!(of("10", 1004), 100);
        assert_eq!(of("10", -1005), -101);
        assert_eq!(of("8.25", 10_000), 825);
        assert_eq!(of("50", 1), 1);
        assert_eq!(of("0", 12_345), 0);
        assert_eq!(of("100", i64::MAX), i64::MAX);
        assert_eq!(of("100", i64::MIN), i64::MIN);
    }

    proptest! {
        #[test]
        fn every_percentage_reads_back(value in 0_i64..=1_000_000) {
            let rate = Rate::from_ten_thousandths(value).unwrap();
            prop_assert_eq!(Rate::parse(&rate.to_string()), Ok(rate));
            let json = serde_json::to_string(&rate).unwrap();
            prop_assert_eq!(&json, &rate.to_string());
            prop_assert_eq!(serde_json::from_str::<Rate>(&json).unwrap(), rate);
        }

        #[test]
        fn a_part_is_the_nearest_minor_unit(value in 0_i64..=1_000_000, minor: i64) {
            let part = Rate::from_ten_thousandths(value).unwrap().of(Money::new(minor, Currency::parse("USD").unwrap()));
            let distance = i128::from(part.minor()) * 1_000_000 - i128::from(minor) * i128::from(value);
            prop_assert!(distance.abs() <= 500_000);
            prop_assert!(part.minor().unsigned_abs() <= minor.unsigned_abs());
        }
    }
}
