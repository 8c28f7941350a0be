//! Points in time and calendar dates.

use std::fmt;
use std::time::Duration;

use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::{SignedDuration, civil};

use super::parsed::{show, written_as_text};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400;
const HOURS_OF_DAY: i64 = 24;

/// The first day of what is counted from 1970.
const FIRST_DAY: civil::Date = civil::date(1970, 1, 1);

/// A point in time: microseconds since 1970, UTC, between the years 0 and 9999.
///
/// Written `2026-01-31T08:30:00.000000Z`: always with six decimals, so that times sort as texts (contract, section 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The beginning of the year 0.
    pub const EARLIEST: Self = Self(-62_167_219_200 * SECOND);
    /// The last microsecond of the year 9999.
    pub const LATEST: Self = Self(253_402_300_800 * SECOND - 1);

    /// The time this many microseconds after 1970 began; a time outside the years 0 to 9999 is moved to the nearest.
    pub fn from_microseconds(microseconds: i64) -> Self {
        Self(microseconds).clamp(Self::EARLIEST, Self::LATEST)
    }

    /// The time this many seconds after 1970 began, bounded like [`Timestamp::from_microseconds`].
    pub fn from_seconds(seconds: i64) -> Self {
        Self::from_microseconds(seconds.saturating_mul(SECOND))
    }

    /// The time that an ISO 8601 text with an offset from UTC names; digits below a microsecond are cut off.
    pub fn parse(text: &str) -> Option<Self> {
        let pieces = Pieces::parse(text).ok()?;
        // A time zone in brackets would make the answer depend on a time zone database.
        if pieces.time_zone_annotation().is_some() {
            return None;
        }
        let offset = match pieces.offset()? {
            PiecesOffset::Numeric(offset) => i64::from(offset.offset().seconds()),
            _ => 0,
        };
        let time = pieces.time()?;
        let minutes = i64::from(time.hour()) * 60 + i64::from(time.minute());
        let seconds = Date(pieces.date()).days() * DAY + minutes * 60 + i64::from(time.second()) - offset;
        let time = Self(seconds * SECOND + i64::from(time.subsec_nanosecond() / 1000));
        (Self::EARLIEST..=Self::LATEST).contains(&time).then_some(time)
    }

    /// Microseconds since 1970 began.
    pub const fn as_microseconds(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970 began, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }

    /// The time this much later, at most the latest there is.
    pub fn plus(self, duration: Duration) -> Self {
        Self::from_microseconds(self.0.saturating_add(microseconds_of(duration)))
    }

    /// The time that passed since `earlier`; nothing when that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// The calendar date in UTC.
    pub fn date(self) -> Date {
        Date::from_days(self.as_seconds().div_euclid(DAY))
    }

    /// Appends the text of the time, without quotes.
    pub fn write(self, out: &mut Vec<u8>) {
        let (date, second_of_day) = (self.date(), self.as_seconds().rem_euclid(DAY));
        date.write(out);
        for (separator, value) in
            [(b'T', second_of_day / 3600), (b':', second_of_day / 60 % 60), (b':', second_of_day % 60)]
        {
            out.push(separator);
            push_digits(value, 2, out);
        }
        out.push(b'.');
        push_digits(self.0.rem_euclid(SECOND), 6, out);
        out.push(b'Z');
    }

    /// Appends the time as a JSON string.
    pub fn write_json(self, out: &mut Vec<u8>) {
        out.push(b'"');
        self.write(out);
        out.push(b'"');
    }
}

fn microseconds_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Appends the last `count` decimal digits of a number that is not negative.
fn push_digits(value: i64, count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + count, b'0');
    let mut rest = value;
    for digit in out[start..].iter_mut().rev() {
        // The remainder is one digit.
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(formatter, |out| self.write(out))
    }
}

written_as_text!(Timestamp, "an ISO 8601 time with an offset, such as 2026-01-31T08:30:00Z");

/// A calendar date of the years 0 to 9999, written `2026-01-31`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(civil::Date);

impl Date {
    /// The date that a text of the form `2026-01-31` names, when the calendar has it.
    pub fn parse(text: &str) -> Option<Self> {
        let date = Self(text.parse().ok()?);
        // The library knows other ways to write a date.
        (date.to_string() == text).then_some(date)
    }

    /// A date of the calendar.
    pub(super) fn of(date: civil::Date) -> Self {
        Self(date)
    }

    /// The Monday of its week (ISO 8601).
    pub fn monday(self) -> Self {
        // 1970 began on a Thursday.
        Self::from_days(self.days() - (self.days() + 3).rem_euclid(7))
    }

    /// The date this many days after 1970 began.
    fn from_days(days: i64) -> Self {
        Self(FIRST_DAY.saturating_add(SignedDuration::from_hours(days * HOURS_OF_DAY)))
    }

    /// The inverse of [`Date::from_days`].
    fn days(self) -> i64 {
        self.0.duration_since(FIRST_DAY).as_hours() / HOURS_OF_DAY
    }

    /// The first moment of the day in UTC.
    pub fn start(self) -> Timestamp {
        Timestamp::from_seconds(self.days().saturating_mul(DAY))
    }

    /// The first moment after the day in UTC.
    pub fn end(self) -> Timestamp {
        Timestamp::from_seconds(self.days().saturating_add(1).saturating_mul(DAY))
    }

    /// Appends the text of the date, without quotes.
    pub fn write(self, out: &mut Vec<u8>) {
        push_digits(i64::from(self.0.year()), 4, out);
        out.push(b'-');
        push_digits(i64::from(self.0.month()), 2, out);
        out.push(b'-');
        push_digits(i64::from(self.0.day()), 2, out);
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(formatter, |out| self.write(out))
    }
}

written_as_text!(Date, "a date such as 2026-01-31");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_of_any_offset_are_read_and_written_in_utc() {
        for (text, shown) in [
            ("2026-01-31T08:30:00Z", "2026-01-31T08:30:00.000000Z"),
            ("2026-01-31T10:30:00+02:00", "2026-01-31T08:30:00.000000Z"),
            ("2026-01-31 08:30:00z", "2026-01-31T08:30:00.000000Z"),
            ("2026-01-31T08:30:00.120Z", "2026-01-31T08:30:00.120000Z"),
            ("2026-01-31T08:30:00.000001999Z", "2026-01-31T08:30:00.000001Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_an_error() {
        for wrong in [
            "",
            "2026-01-31",
            "2026-01-31T08:30:00",
            "2026-02-30T00:00:00Z",
            "1769848200",
            "2026-01-31T08:30:00+02:00[Europe/Paris]",
        ] {
            assert_eq!(Timestamp::parse(wrong), None, "{wrong}");
        }
        let error = serde_json::from_str::<Timestamp>("\"soon\"").unwrap_err().to_string();
        assert!(error.starts_with("`soon` is not an ISO 8601 time"), "{error}");
    }

    #[test]
    fn the_bounds_are_the_years_of_four_digits() {
        assert_eq!(Timestamp::EARLIEST.to_string(), "0000-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::LATEST.to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59.999999Z"), Some(Timestamp::LATEST));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-00:01"), None);
        assert_eq!(Timestamp::parse("-000001-12-31T23:59:59Z"), None);
        assert_eq!(Timestamp::from_microseconds(i64::MAX), Timestamp::LATEST);
        assert_eq!(Timestamp::from_seconds(i64::MIN), Timestamp::EARLIEST);
        assert_eq!(Timestamp::LATEST.plus(Duration::MAX), Timestamp::LATEST);
        assert_eq!(Timestamp::LATEST.date().end(), Timestamp::LATEST);
    }

    #[test]
    fn time_passes() {
        let start = Timestamp::from_seconds(100);
        let later = start.plus(Duration::from_mins(1));
        assert_eq!(later.as_seconds(), 160);
        assert_eq!(later.since(start), Duration::from_mins(1));
        assert_eq!(start.since(later), Duration::ZERO);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for text in ["2026-01-31", "2024-02-29", "0000-01-01", "9999-12-31"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for wrong in
            ["", "2026-1-31", "2026-02-29", "2026-13-01", "2026-00-10", "20260131", "2026-01-31T", "+026-01-01"]
        {
            assert_eq!(Date::parse(wrong), None, "{wrong}");
        }
        let date = Date::parse("2026-01-31").unwrap();
        assert_eq!(date.start().to_string(), "2026-01-31T00:00:00.000000Z");
        assert_eq!(date.end().to_string(), "2026-02-01T00:00:00.000000Z");
    }

    proptest! {
        #[test]
        fn every_time_reads_back(microseconds in Timestamp::EARLIEST.0..=Timestamp::LATEST.0) {
            let time = Timestamp::from_microseconds(microseconds);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&format!("\"{time}\"")).unwrap(), time);
            prop_assert_eq!(Date::parse(&time.date().to_string()), Some(time.date()));
            prop_assert!(time.date().start() <= time && time < time.date().end() || time.date().end() == Timestamp::LATEST);
        }

        #[test]
        fn the_calendar_is_that_of_the_library(days in -719_528_i64..2_932_896) {
            let expected = jiff::Timestamp::from_second(days * DAY).unwrap().strftime("%Y-%m-%d").to_string();
            let date = Date::from_days(days);
            prop_assert_eq!(date.to_string(), expected);
            prop_assert_eq!(date.days(), days);
        }

        #[test]
        fn text_is_ordered_as_time_without_fractions(left in 0_i64..4_000_000_000, right in 0_i64..4_000_000_000) {
            let (left, right) = (Timestamp::from_seconds(left), Timestamp::from_seconds(right));
            prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
        }
    }
}
