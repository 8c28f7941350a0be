//! Times of a clock on a wall: a date and a time of day without a zone.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::{Date, Timestamp};

/// A date and a time of day as the clocks of some place show them, to the second: `2026-01-31 08:30:00`.
///
/// Which moment that is depends on the time zone. Where clocks are put back a time comes twice, so that it has an
/// earliest and a latest moment; where they are put forward it is skipped, and means as much later as the clocks were
/// moved (RFC 5545, section 3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTime(DateTime);

impl LocalTime {
    /// The time that a text of the form `2026-01-31 08:30:00` names, when calendar and clock have it.
    pub fn parse(text: &str) -> Option<Self> {
        let time = Self(text.parse().ok()?);
        // The library knows other ways to write a time, and leap seconds, which have no local time of their own.
        (time.to_string() == text).then_some(time)
    }

    /// What the clocks of a zone show at a moment.
    pub fn of(moment: Timestamp, zone: &TimeZone) -> Self {
        let moment = jiff::Timestamp::from_second(moment.as_seconds()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(zone.to_datetime(moment))
    }

    /// Its date.
    pub fn date(self) -> Date {
        Date::of(self.0.date())
    }

    /// The first moment at which the clocks of a zone show it.
    pub fn earliest(self, zone: &TimeZone) -> Timestamp {
        self.moments(zone).0
    }

    /// The last moment at which the clocks of a zone show it.
    pub fn latest(self, zone: &TimeZone) -> Timestamp {
        self.moments(zone).1
    }

    fn moments(self, zone: &TimeZone) -> (Timestamp, Timestamp) {
        let ambiguous = zone.to_ambiguous_timestamp(self.0);
        let both = match ambiguous.offset() {
            AmbiguousOffset::Fold { .. } => (ambiguous.earlier(), ambiguous.later()),
            AmbiguousOffset::Gap { .. } | AmbiguousOffset::Unambiguous { .. } => {
                (ambiguous.compatible(), ambiguous.compatible())
            }
        };
        // Only a time at the very end of the calendar has no moment.
        let moment = |found: Result<jiff::Timestamp, _>| {
            found.map_or(Timestamp::LATEST, |moment| Timestamp::from_seconds(moment.as_second()))
        };
        (moment(both.0), moment(both.1))
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.0.date(), self.0.time())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moments(text: &str, zone: &str) -> (String, String) {
        let zone = TimeZone::get(zone).unwrap();
        let time = LocalTime::parse(text).unwrap();
        assert_eq!(time.to_string(), text);
        (time.earliest(&zone).to_string(), time.latest(&zone).to_string())
    }

    fn both(moment: &str) -> (String, String) {
        (moment.to_owned(), moment.to_owned())
    }

    #[test]
    fn a_time_is_a_moment_of_its_zone() {
        assert_eq!(moments("2026-01-31 08:30:00", "UTC"), both("2026-01-31T08:30:00.000000Z"));
        assert_eq!(moments("2026-01-31 08:30:00", "Europe/Berlin"), both("2026-01-31T07:30:00.000000Z"));
        assert_eq!(moments("2026-07-31 08:30:00", "Europe/Berlin"), both("2026-07-31T06:30:00.000000Z"));
        assert_eq!(moments("2026-01-01 00:00:00", "Asia/Kathmandu"), both("2025-12-31T18:15:00.000000Z"));
    }

    #[test]
    fn a_time_that_comes_twice_has_two_moments_and_a_skipped_one_comes_later() {
        let twice = ("2026-10-25T00:30:00.000000Z".to_owned(), "2026-10-25T01:30:00.000000Z".to_owned());
        assert_eq!(moments("2026-10-25 02:30:00", "Europe/Berlin"), twice);
        assert_eq!(moments("2026-03-29 02:30:00", "Europe/Berlin"), both("2026-03-29T01:30:00.000000Z"));
    }

    #[test]
    fn what_is_no_local_time_is_nothing() {
        for wrong in [
            "",
            "2026-01-31",
            "2026-01-31T08:30:00",
            "2026-01-31 08:30",
            "2026-02-30 08:30:00",
            "2026-01-31 24:00:00",
            "2026-01-31 08:30:60",
            "2026-01-31 08:30:00Z",
            "2026-01-31 8:30:00",
            "2026-01-31 0x:30:00",
            "2026-01-3ä 08:30:00",
        ] {
            assert_eq!(LocalTime::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_the_clocks_show_is_read_back(seconds in 0_i64..4_000_000_000, zone in 0_usize..3) {
            let zone = TimeZone::get(["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"][zone]).unwrap();
            let moment = Timestamp::from_seconds(seconds);
            let shown = LocalTime::of(moment, &zone);
            prop_assert_eq!(LocalTime::parse(&shown.to_string()), Some(shown));
            prop_assert!(moment == shown.earliest(&zone) || moment == shown.latest(&zone));
            prop_assert!(shown.earliest(&zone) <= shown.latest(&zone));
        }

        #[test]
        fn text_is_ordered_as_time(left in 0_i64..4_000_000_000, right in 0_i64..4_000_000_000) {
            let time = |seconds| LocalTime::of(Timestamp::from_seconds(seconds), &TimeZone::UTC);
            let (left, right) = (time(left), time(right));
            prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
        }
    }
}
