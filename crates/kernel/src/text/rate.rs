//! Percentages: taxes, fees and discounts.

use std::fmt;

use super::Money;
use super::decimal::{parse_scaled, write_shortest};
use super::parsed::show;

/// A percentage from 0 to 100 with up to 4 decimals, exact.
///
/// The upper bound makes [`Rate::of`] total: a part of an amount always fits where the amount does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    ten_thousandths: u32,
}

impl Rate {
    /// No percent at all.
    pub const ZERO: Self = Self { ten_thousandths: 0 };

    const DECIMALS: u32 = 4;
    const MAXIMUM: u32 = 1_000_000;

    /// The exact percentage that `text` writes as a JSON number; nothing where there is none.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_ten_thousandths(parse_scaled(text, Self::DECIMALS).ok()?)
    }

    /// The percentage of this many ten-thousandths of a percent, when it is from 0 to 100 percent.
    pub fn from_ten_thousandths(value: i64) -> Option<Self> {
        let ten_thousandths = u32::try_from(value).ok().filter(|value| *value <= Self::MAXIMUM)?;
        Some(Self { ten_thousandths })
    }

    /// The percentage in ten-thousandths of a percent.
    pub const fn ten_thousandths(self) -> u32 {
        self.ten_thousandths
    }

    /// Whether the percentage is nothing.
    pub const fn is_zero(self) -> bool {
        self.ten_thousandths == 0
    }

    /// This many percent of an amount, rounded half up to the minor unit.
    ///
    /// The magnitude is rounded, so the part of a refund is always the negative of the part of what it refunds.
    pub fn of(self, amount: Money) -> Money {
        let divisor = i128::from(Self::MAXIMUM);
        let product = i128::from(amount.minor()) * i128::from(self.ten_thousandths);
        let magnitude = (product.abs() + divisor / 2) / divisor;
        let rounded = if product < 0 { -magnitude } else { magnitude };
        // At most the whole amount is taken, so the conversion never fails.
        Money::new(i64::try_from(rounded).unwrap_or(amount.minor()), amount.currency())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(formatter, |out| write_shortest(self.ten_thousandths.into(), Self::DECIMALS, out))
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
        }
    }

    #[test]
    fn what_is_no_percentage_is_nothing() {
        for wrong in ["8.25001", "100.0001", "-1", "1e30", "10%", ""] {
            assert_eq!(Rate::parse(wrong), None, "{wrong}");
        }
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
            prop_assert_eq!(Rate::parse(&rate.to_string()), Some(rate));
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
