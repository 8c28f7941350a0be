//! Points in time and calendar dates.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::slug::excerpt;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// The days of 400 years of the calendar.
const DAYS_OF_ERA: i64 = 146_097;
/// The days from 1 March of the year 0 to 1 January 1970.
const EPOCH_FROM_MARCH: i64 = 719_468;

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
    #[must_use]
    pub fn from_microseconds(microseconds: i64) -> Self {
        Self(microseconds).clamp(Self::EARLIEST, Self::LATEST)
    }

    /// The time this many seconds after 1970 began, bounded like [`Timestamp::from_microseconds`].
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Self {
        Self::from_microseconds(seconds.saturating_mul(SECOND))
    }

    /// The time that an ISO 8601 text with an offset from UTC names; digits below a microsecond are cut off.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        // What this program writes itself needs no library.
        if let Some(time) = Self::parse_plain(text.as_bytes()) {
            return Ok(time);
        }
        let invalid = || InvalidTimestamp(excerpt(text));
        // Time zone annotations in brackets would make the answer depend on a time zone database.
        if text.contains('[') {
            return Err(invalid());
        }
        let parsed: jiff::Timestamp = text.parse().map_err(|_| invalid())?;
        let microseconds = parsed.as_nanosecond().div_euclid(1000);
        let time = Self(i64::try_from(microseconds).map_err(|_| invalid())?);
        if (Self::EARLIEST..=Self::LATEST).contains(&time) { Ok(time) } else { Err(invalid()) }
    }

    /// A time in UTC as it is written, to the last one there is, of which the library does not know the last day.
    fn parse_plain(text: &[u8]) -> Option<Self> {
        let (date, time) = text.split_at_checked(10)?;
        let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2, ref fraction @ .., b'Z'] = time else { return None };
        let number = |tens: u8, ones: u8, below: i64| {
            let number = i64::from(tens.wrapping_sub(b'0')) * 10 + i64::from(ones.wrapping_sub(b'0'));
            (tens.is_ascii_digit() && ones.is_ascii_digit() && number < below).then_some(number)
        };
        let seconds = number(h1, h2, 24)? * 3600 + number(m1, m2, 60)? * 60 + number(s1, s2, 60)?;
        let date = Date::parse(std::str::from_utf8(date).ok()?)?;
        Some(Self((date.days() * DAY + seconds) * SECOND + Self::parse_fraction(fraction)?))
    }

    /// The microseconds of a fraction of a second; digits below are cut off.
    fn parse_fraction(text: &[u8]) -> Option<i64> {
        let digits = match text {
            [] => return Some(0),
            [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => digits,
            _ => return None,
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digit = |place: usize| digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
        Some((0..6).fold(0, |number, place| number * 10 + digit(place)))
    }

    /// Microseconds since 1970 began.
    #[must_use]
    pub const fn as_microseconds(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970 began, rounded down.
    #[must_use]
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }

    /// The time this much later, at most the latest there is.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self::from_microseconds(self.0.saturating_add(microseconds_of(duration)))
    }

    /// The time this much earlier, at least the earliest there is.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self::from_microseconds(self.0.saturating_sub(microseconds_of(duration)))
    }

    /// The time that passed since `earlier`; nothing when that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// The calendar date in UTC.
    #[must_use]
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

/// A part of a date as the small number that it is.
fn small<T: TryFrom<i64> + Default>(part: i64) -> T {
    T::try_from(part).unwrap_or_default()
}

/// A text that is no point in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an ISO 8601 time with an offset, such as 2026-01-31T08:30:00Z")]
pub struct InvalidTimestamp(pub String);

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        Self::parse(text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(27);
        self.write(&mut out);
        formatter.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::json_string::deserialize_parsed(deserializer, "a time such as \"2026-01-31T08:30:00Z\"")
    }
}

/// A calendar date of the years 0 to 9999, written `2026-01-31`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The date that a text of the form `2026-01-31` names, when the calendar has it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
        let number = |digits: &[u8]| {
            let digit = |digit: &u8| digit.is_ascii_digit().then(|| u16::from(digit - b'0'));
            digits.iter().map(digit).try_fold(0_u16, |value, digit| Some(value * 10 + digit?))
        };
        let date = Self {
            year: number(&[y1, y2, y3, y4])?,
            month: small(i64::from(number(&[m1, m2])?)),
            day: small(i64::from(number(&[d1, d2])?)),
        };
        // A day that the calendar does not have comes back as another one.
        (date.month != 0 && date.month <= 12 && Self::from_days(date.days()) == date).then_some(date)
    }

    /// The date this many days after 1970 began: the civil calendar in eras of 400 years that begin in March,
    /// so that the leap day is the last of its year.
    fn from_days(days: i64) -> Self {
        let since_march = days + EPOCH_FROM_MARCH;
        let era = since_march.div_euclid(DAYS_OF_ERA);
        let day_of_era = since_march.rem_euclid(DAYS_OF_ERA);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = (month_from_march + 2) % 12 + 1;
        Self {
            year: small(era * 400 + year_of_era + i64::from(month <= 2)),
            month: small(month),
            day: small(day_of_year - (153 * month_from_march + 2) / 5 + 1),
        }
    }

    /// The inverse of [`Date::from_days`].
    fn days(self) -> i64 {
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let month_from_march = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(self.day) - 1;
        let year_of_era = year.rem_euclid(400);
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        year.div_euclid(400) * DAYS_OF_ERA + day_of_era - EPOCH_FROM_MARCH
    }

    /// The year.
    #[must_use]
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1.
    #[must_use]
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.day
    }

    /// The first moment of the day in UTC.
    #[must_use]
    pub fn start(self) -> Timestamp {
        Timestamp::from_seconds(self.days().saturating_mul(DAY))
    }

    /// The first moment after the day in UTC.
    #[must_use]
    pub fn end(self) -> Timestamp {
        Timestamp::from_seconds(self.days().saturating_add(1).saturating_mul(DAY))
    }

    /// Appends the text of the date, without quotes.
    pub fn write(self, out: &mut Vec<u8>) {
        push_digits(i64::from(self.year()), 4, out);
        out.push(b'-');
        push_digits(i64::from(self.month()), 2, out);
        out.push(b'-');
        push_digits(i64::from(self.day()), 2, out);
    }
}

/// A text that is no calendar date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date such as 2026-01-31")]
pub struct InvalidDate(pub String);

impl FromStr for Date {
    type Err = InvalidDate;

    fn from_str(text: &str) -> Result<Self, InvalidDate> {
        Self::parse(text).ok_or_else(|| InvalidDate(excerpt(text)))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(10);
        self.write(&mut out);
        formatter.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::json_string::deserialize_parsed(deserializer, "a date such as \"2026-01-31\"")
    }
}

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
            assert!(Timestamp::parse(wrong).is_err(), "{wrong}");
        }
        let error = serde_json::from_str::<Timestamp>("\"soon\"").unwrap_err().to_string();
        assert!(error.starts_with("`soon` is not an ISO 8601 time"), "{error}");
    }

    #[test]
    fn the_bounds_are_the_years_of_four_digits() {
        assert_eq!(Timestamp::EARLIEST.to_string(), "0000-01-01T00:00:00.000000Z");
        assert_eq!(Timestamp::LATEST.to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59.999999Z"), Ok(Timestamp::LATEST));
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
        assert_eq!(later.minus(Duration::from_mins(1)), start);
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
        assert_eq!((date.year(), date.month(), date.day()), (2026, 1, 31));
        assert_eq!(date.start().to_string(), "2026-01-31T00:00:00.000000Z");
        assert_eq!(date.end().to_string(), "2026-02-01T00:00:00.000000Z");
    }

    proptest! {
        #[test]
        fn plain_times_are_those_of_the_library(
            seconds in Timestamp::EARLIEST.as_seconds()..=Timestamp::LATEST.as_seconds(),
            changed in 0_usize..20, to in "[0-9TZ:. -]",
        ) {
            let text = Timestamp::from_seconds(seconds).to_string();
            prop_assert_eq!(Timestamp::parse_plain(text.as_bytes()), Some(Timestamp::from_seconds(seconds)));
            let mut wrong = text;
            wrong.replace_range(changed..=changed, &to);
            let library = wrong.parse::<jiff::Timestamp>().ok().map(|time| Timestamp::from_seconds(time.as_second()));
            let plain = Timestamp::parse_plain(wrong.as_bytes());
            prop_assert!(plain.is_none() || plain == library, "{} {:?} {:?}", wrong, plain, library);
        }

        #[test]
        fn every_time_reads_back(microseconds in Timestamp::EARLIEST.0..=Timestamp::LATEST.0) {
            let time = Timestamp::from_microseconds(microseconds);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
            let json = serde_json::to_string(&time).unwrap();
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
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
