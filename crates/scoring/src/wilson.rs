//! The confidence interval of a share, such as passes among decided responses.
//!
//! Wilson's score interval without correction for continuity (Wilson, JASA 22, 1927; method 3 of Newcombe, Statistics
//! in Medicine 17, 1998). It stays within 0 and 1 and has a width also where all or none passed.

use crate::ModelError;
use crate::numeric::distribution::normal_quantile;
use crate::numeric::{Interval, tail};

/// The interval of `successes` out of `trials` at a level such as 0.95.
pub fn wilson_interval(successes: u32, trials: u32, level: f64) -> Result<Interval, ModelError> {
    if trials == 0 {
        return Err(ModelError::Empty);
    }
    if successes > trials {
        return Err(ModelError::InvalidValue("the number of successes"));
    }
    let quantile = -normal_quantile(tail(level)?);
    let (count, share) = (f64::from(trials), f64::from(successes) / f64::from(trials));
    let squared = quantile * quantile;
    let centre = share + squared / (2.0 * count);
    let spread = quantile * (share * (1.0 - share) / count + squared / (4.0 * count * count)).sqrt();
    let divisor = 1.0 + squared / count;
    Ok(Interval {
        low: if successes == 0 { 0.0 } else { (centre - spread) / divisor },
        high: if successes == trials { 1.0 } else { (centre + spread) / divisor },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_zero_and_one_where_none_or_all_succeed() {
        let none = wilson_interval(0, 7, 0.95).unwrap();
        let all = wilson_interval(7, 7, 0.95).unwrap();
        assert_eq!((none.low.to_bits(), all.high.to_bits()), (0.0_f64.to_bits(), 1.0_f64.to_bits()));
        assert!((none.high - (1.0 - all.low)).abs() < 1e-15);
    }

    #[test]
    fn no_trials_more_successes_than_trials_and_a_level_outside_are_refused() {
        assert_eq!(wilson_interval(0, 0, 0.95), Err(ModelError::Empty));
        assert_eq!(wilson_interval(3, 2, 0.95), Err(ModelError::InvalidValue("the number of successes")));
        assert_eq!(wilson_interval(1, 2, 1.0), Err(ModelError::InvalidValue("the level")));
    }
}
