//! When a delivery is attempted.

use std::str::FromStr;
use std::time::Duration;

use crate::Outcome;

/// The most attempts of a schedule.
const MAX_ATTEMPTS: usize = 100;

/// The longest delay of a schedule.
const MAX_DELAY: Duration = Duration::from_hours(30 * 24);

/// The delays before each attempt, counted from the failure of the one before it, before jitter.
///
/// As a text it is `0s,5s,5m,30m,2h,5h,10h,14h,20h,24h`, which is also the default: 10 attempts over 75 hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(Vec<Duration>);

/// Why a text is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSchedule {
    /// This part is not a delay.
    #[error("`{0}` is not a whole number of seconds, minutes or hours, such as 30s, 5m or 2h, up to 30 days")]
    Delay(String),
    /// There are so many attempts.
    #[error("{0} attempts are more than {MAX_ATTEMPTS}")]
    TooMany(usize),
}

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It has arrived.
    Delivered,
    /// It is attempted again after this time.
    Retry(Duration),
    /// It has failed for good.
    Failed,
}

impl Default for Schedule {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        let seconds = [0, 5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
        Self(seconds.map(Duration::from_secs).to_vec())
    }
}

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let count = text.split(',').count();
        if count > MAX_ATTEMPTS {
            return Err(InvalidSchedule::TooMany(count));
        }
        let delays = text.split(',').map(|part| delay(part).ok_or_else(|| InvalidSchedule::Delay(part.to_owned())));
        delays.collect::<Result<_, _>>().map(Self)
    }
}

/// `30s`, `5m` or `2h`.
fn delay(part: &str) -> Option<Duration> {
    let unit = match part.bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 60 * 60,
        _ => return None,
    };
    let count = &part[..part.len() - 1];
    let seconds = count.parse::<u64>().ok().filter(|_| !count.starts_with('+'))?.checked_mul(unit)?;
    Some(Duration::from_secs(seconds)).filter(|delay| *delay <= MAX_DELAY)
}

impl Schedule {
    /// The time from the event to the first attempt.
    pub fn first(&self, jitter: u32) -> Duration {
        self.0.first().map_or(Duration::ZERO, |delay| spread(*delay, jitter))
    }

    /// What becomes of a delivery after this many attempts, the last of which ended so.
    ///
    /// The number `jitter` is random, any number as likely as any other: it moves the next attempt by up to 20 % either way,
    /// so that deliveries that failed together do not come back together. No attempt is made before the time that the
    /// endpoint asked for, and none is added because of it.
    pub fn next(&self, attempts: usize, outcome: Outcome, jitter: u32) -> Next {
        match outcome {
            Outcome::Delivered => Next::Delivered,
            Outcome::Gone => Next::Failed,
            Outcome::Failed { retry_after } => self
                .0
                .get(attempts)
                .map_or(Next::Failed, |delay| Next::Retry(spread(*delay, jitter).max(retry_after.unwrap_or_default()))),
        }
    }
}

/// From 80 % to 120 % of a delay.
fn spread(delay: Duration, jitter: u32) -> Duration {
    delay * 4 / 5 + (delay * 2 / 5).mul_f64(f64::from(jitter) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FAILED: Outcome = Outcome::Failed { retry_after: None };
    const MIDDLE: u32 = u32::MAX / 2;

    fn seconds(next: Next) -> Option<u64> {
        match next {
            // No number is exactly in the middle.
            Next::Retry(delay) => Some((delay + Duration::from_millis(1)).as_secs()),
            _ => None,
        }
    }

    #[test]
    fn ten_attempts_are_made_over_75_hours() {
        let schedule = Schedule::default();
        assert_eq!(schedule, "0s,5s,5m,30m,2h,5h,10h,14h,20h,24h".parse().unwrap());
        assert_eq!(schedule.first(u32::MAX), Duration::ZERO);
        let delays: Vec<u64> = (1..).map_while(|attempts| seconds(schedule.next(attempts, FAILED, MIDDLE))).collect();
        assert_eq!(delays, [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        assert_eq!(delays.iter().sum::<u64>() / 3600, 75);
        assert_eq!(schedule.next(10, FAILED, MIDDLE), Next::Failed);
        assert_eq!(schedule.next(usize::MAX, FAILED, MIDDLE), Next::Failed);
    }

    #[test]
    fn a_delivery_ends_when_it_arrives_or_the_endpoint_is_gone() {
        assert_eq!(Schedule::default().next(1, Outcome::Delivered, 0), Next::Delivered);
        assert_eq!(Schedule::default().next(1, Outcome::Gone, 0), Next::Failed);
    }

    #[test]
    fn an_endpoint_can_put_an_attempt_off_but_not_hasten_it() {
        let schedule: Schedule = "0s,1m".parse().unwrap();
        let after = |asked, attempts| {
            let outcome = Outcome::Failed { retry_after: Some(Duration::from_secs(asked)) };
            schedule.next(attempts, outcome, 0)
        };
        assert_eq!(after(0, 1), Next::Retry(Duration::from_secs(48)));
        assert_eq!(after(49, 1), Next::Retry(Duration::from_secs(49)));
        assert_eq!(after(86_400, 1), Next::Retry(Duration::from_hours(24)));
        assert_eq!(after(86_400, 2), Next::Failed);
    }

    #[test]
    fn what_is_not_a_schedule_is_named() {
        let wrong = |part: &str| Err(InvalidSchedule::Delay(part.to_owned()));
        for (text, part) in [
            ("", ""),
            ("0s,", ""),
            ("0s,5", "5"),
            ("0s,5x,6y", "5x"),
            ("s", "s"),
            ("0s, 5s", " 5s"),
            ("+5s", "+5s"),
            ("-5s", "-5s"),
            ("1.5h", "1.5h"),
            ("5µ", "5µ"),
            ("721h", "721h"),
            ("18446744073709551615h", "18446744073709551615h"),
        ] {
            assert_eq!(text.parse::<Schedule>(), wrong(part), "{text}");
        }
        assert_eq!(["0s"; 101].join(",").parse::<Schedule>(), Err(InvalidSchedule::TooMany(101)));
        assert!(["720h"; 100].join(",").parse::<Schedule>().is_ok());
    }

    #[test]
    fn jitter_goes_from_80_to_120_percent() {
        let schedule: Schedule = "100s".parse().unwrap();
        assert_eq!(schedule.first(0), Duration::from_secs(80));
        assert_eq!(schedule.first(MIDDLE).as_millis(), 99_999);
        assert_eq!(schedule.first(u32::MAX), Duration::from_mins(2));
    }

    proptest! {
        #[test]
        fn a_larger_number_is_a_later_attempt_within_20_percent(delay in 0_u64..=30 * 86_400, jitter: u32, other: u32) {
            let schedule: Schedule = format!("{delay}s").parse().unwrap();
            let (early, late) = (schedule.first(jitter.min(other)), schedule.first(jitter.max(other)));
            prop_assert!(Duration::from_millis(delay * 800) <= early);
            prop_assert!(early <= late);
            prop_assert!(late <= Duration::from_millis(delay * 1200));
        }
    }
}
