//! How an attempt ended, and whether its endpoint is still sent to.

use std::time::{Duration, UNIX_EPOCH};

/// How long attempts at an endpoint usually fail, and none succeeds, before it is disabled: 5 days.
pub const DISABLE_AFTER: Duration = Duration::from_hours(5 * 24);

/// The longest that an answer can put the next attempt off.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Failures that are further apart than this, and than half of the time after which an endpoint is disabled, do not belong
/// together. Attempts at one delivery are never so far apart.
const APART: Duration = Duration::from_hours(36);

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint has taken the delivery.
    Delivered,
    /// The endpoint wants no more deliveries.
    Gone,
    /// The endpoint has not taken it, or has not answered.
    Failed {
        /// How long it asks to be left alone, at most 24 hours.
        retry_after: Option<Duration>,
    },
}

impl Outcome {
    /// What a status means, and the header `Retry-After` beside it; no status where no answer came. 2xx alone is success;
    /// a redirect is a failure.
    pub fn of(status: Option<u16>, retry_after: Option<&str>, now_unix: i64) -> Self {
        match status {
            Some(200..=299) => Self::Delivered,
            Some(410) => Self::Gone,
            _ => Self::Failed { retry_after: retry_after.and_then(|text| delay(text, now_unix)) },
        }
    }
}

/// The delay that a header `Retry-After` asks for, in seconds or until a date (RFC 9110, section 10.2.3); none where it
/// cannot be read.
fn delay(text: &str, now_unix: i64) -> Option<Duration> {
    let text = text.trim_ascii();
    let seconds = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than the number takes are more than the most.
        text.parse().unwrap_or(u64::MAX)
    } else {
        let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(date.as_secs()).ok()?.saturating_sub(now_unix).try_into().unwrap_or(0)
    };
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// What is known of an endpoint from the attempts at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endpoint {
    /// No attempt has failed since the last that succeeded, or since it was enabled.
    #[default]
    Healthy,
    /// Attempts have failed, and none has succeeded since.
    Failing {
        /// When the first of them failed, in seconds since 1970 began.
        since_unix: i64,
        /// When the last of them failed.
        last_unix: i64,
    },
    /// Nothing is sent to it until somebody enables it.
    Disabled(Reason),
}

/// Why an endpoint was disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It answered 410.
    Gone,
    /// Attempts failed for so long that it was given up.
    Failing,
}

impl Endpoint {
    /// What is known after one more attempt, which ended now. Failures for as long as `disable_after` disable it,
    /// unless nothing was attempted for long in between.
    pub fn after(self, outcome: Outcome, now_unix: i64, disable_after: Duration) -> Self {
        match (self, outcome) {
            // An attempt that was on its way does not enable what has been disabled.
            (Self::Disabled(_), _) => self,
            (_, Outcome::Delivered) => Self::Healthy,
            (_, Outcome::Gone) => Self::Disabled(Reason::Gone),
            (Self::Healthy, Outcome::Failed { .. }) => Self::Failing { since_unix: now_unix, last_unix: now_unix },
            (Self::Failing { since_unix, last_unix }, Outcome::Failed { .. }) => {
                let span = |from| Duration::from_secs(now_unix.saturating_sub(from).try_into().unwrap_or(0));
                let is_apart = span(last_unix) > APART.max(disable_after / 2);
                if !is_apart && span(since_unix) >= disable_after {
                    return Self::Disabled(Reason::Failing);
                }
                Self::Failing { since_unix: if is_apart { now_unix } else { since_unix }, last_unix: now_unix }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 6 November 1994, 08:49:37.
    const NOW: i64 = 784_111_777;
    const FAILED: Outcome = Outcome::Failed { retry_after: None };

    #[test]
    fn only_2xx_is_success() {
        for status in [200, 202, 204, 299] {
            assert_eq!(Outcome::of(Some(status), None, NOW), Outcome::Delivered);
        }
        for status in [100, 199, 300, 301, 307, 400, 404, 409, 411, 429, 500, 503, 999] {
            assert_eq!(Outcome::of(Some(status), None, NOW), FAILED, "{status}");
        }
        assert_eq!(Outcome::of(None, None, NOW), FAILED);
        assert_eq!(Outcome::of(Some(410), Some("5"), NOW), Outcome::Gone);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_up_to_a_day() {
        let asked = |text| match Outcome::of(Some(503), Some(text), NOW) {
            Outcome::Failed { retry_after } => retry_after.map(|delay| delay.as_secs()),
            other => panic!("{other:?}"),
        };
        for (text, seconds) in [
            ("0", 0),
            ("120", 120),
            (" 120 ", 120),
            ("86400", 86_400),
            ("86401", 86_400),
            ("99999999999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
            ("Sun Nov  6 08:50:37 1994", 60),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
            ("Fri, 06 Nov 2099 08:49:37 GMT", 86_400),
        ] {
            assert_eq!(asked(text), Some(seconds), "{text}");
        }
        for wrong in ["", " ", "-1", "+1", "1.5", "soon", "1 2", "Sun, 06 Nov 1994 08:49:37 CET", "١"] {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn failures_only_disable_an_endpoint_after_the_given_time() {
        for (disable_after, seconds) in [(DISABLE_AFTER, 432_000), (Duration::from_hours(1), 3600)] {
            let after = |endpoint: Endpoint, outcome, now| endpoint.after(outcome, now, disable_after);
            let failed = |last_unix| Endpoint::Failing { since_unix: NOW, last_unix };
            let mut failing = after(Endpoint::default(), FAILED, NOW);
            assert_eq!(failing, failed(NOW));
            for now in [NOW + seconds / 2, NOW + seconds - 1] {
                failing = after(failing, FAILED, now);
                assert_eq!(failing, failed(now));
            }
            // A clock that was set back disables nothing.
            assert_eq!(after(failing, FAILED, NOW - seconds), failed(NOW - seconds));
            let disabled = after(failing, FAILED, NOW + seconds);
            assert_eq!(disabled, Endpoint::Disabled(Reason::Failing));
            assert_eq!(after(disabled, Outcome::Delivered, NOW), disabled);
        }
    }

    #[test]
    fn failures_with_nothing_attempted_for_long_in_between_do_not_belong_together() {
        let failing = Endpoint::default().after(FAILED, NOW, DISABLE_AFTER);
        let later = NOW + 6 * 24 * 3600;
        let again = failing.after(FAILED, later, DISABLE_AFTER);
        assert_eq!(again, Endpoint::Failing { since_unix: later, last_unix: later });
        let soon = failing.after(FAILED, NOW + 36 * 3600, Duration::from_hours(1));
        assert_eq!(soon, Endpoint::Disabled(Reason::Failing));
    }

    #[test]
    fn one_success_starts_the_time_again() {
        let after = |endpoint: Endpoint, outcome, now| endpoint.after(outcome, now, DISABLE_AFTER);
        let healthy = after(after(Endpoint::default(), FAILED, NOW), Outcome::Delivered, NOW + 1);
        assert_eq!(healthy, Endpoint::Healthy);
        let later = NOW + 432_000;
        assert_eq!(after(healthy, FAILED, later), Endpoint::Failing { since_unix: later, last_unix: later });
    }

    #[test]
    fn an_endpoint_that_is_gone_is_disabled_at_once() {
        for endpoint in [Endpoint::Healthy, Endpoint::Failing { since_unix: NOW, last_unix: NOW }] {
            assert_eq!(endpoint.after(Outcome::Gone, NOW, DISABLE_AFTER), Endpoint::Disabled(Reason::Gone));
        }
    }
}
