//! Points: what judges give.

use std::fmt;

use super::decimal::{DecimalError, parse_scaled, write_shortest};
use super::parsed::show;

/// A number of points with up to 4 decimals, exact, between minus and plus a thousand million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Points(i64);

impl Points {
    /// No points.
    pub const ZERO: Self = Self(0);
    /// The smallest difference between two numbers of points.
    pub const SMALLEST: Self = Self(1);
    /// One point.
    pub const ONE: Self = Self(10_i64.pow(Self::DECIMALS));
    /// The most points.
    pub const MAXIMUM: Self = Self(1_000_000_000 * Self::ONE.0);

    const DECIMALS: u32 = 4;

    /// The number of points that `text` writes as a JSON number.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        Self::from_ten_thousandths(parse_scaled(text, Self::DECIMALS)?).ok_or(DecimalError::TooLarge)
    }

    /// This many ten-thousandths of a point, where that is within the bounds.
    pub const fn from_ten_thousandths(value: i64) -> Option<Self> {
        if value.unsigned_abs() <= Self::MAXIMUM.0.unsigned_abs() { Some(Self(value)) } else { None }
    }

    /// The ten-thousandths of a point.
    pub const fn ten_thousandths(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Points {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(formatter, |out| write_shortest(self.0, Self::DECIMALS, out))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn points_are_written_without_zeros_at_their_end() {
        for (text, shown) in [("10", "10"), ("0.50", "0.5"), ("-2.5", "-2.5"), ("0", "0"), ("1e3", "1000")] {
            assert_eq!(Points::parse(text).unwrap().to_string(), shown);
        }
        assert_eq!(Points::parse("1").unwrap(), Points::ONE);
        assert_eq!(Points::parse("0.00001"), Err(DecimalError::TooManyDecimals));
        assert_eq!(Points::parse("1000000000.0001"), Err(DecimalError::TooLarge));
        assert_eq!(Points::parse("ten"), Err(DecimalError::Malformed));
    }

    proptest! {
        #[test]
        fn points_read_back(value in -Points::MAXIMUM.0..=Points::MAXIMUM.0) {
            let points = Points::from_ten_thousandths(value).unwrap();
            prop_assert_eq!(Points::parse(&points.to_string()), Ok(points));
        }
    }
}
