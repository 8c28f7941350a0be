//! Until when an entry can be submitted.
//!
//! - While an entry round of its season and form is open that is for its chapter, or until its custom deadline, whichever
//!   is the longer. Rounds and deadlines are times of the account's clocks.
//! - A minute that comes twice, because clocks are put back, is over when it is over for the second time.
//! - The moment of the end is too late.

use jiff::tz::TimeZone;

use crate::program::Program;
use crate::program::rounds::RoundType;
use crate::records::entries::NO_DEADLINE;
use kernel::input;
use kernel::json::Json;
use kernel::text::{LocalTime, Slug, Timestamp};

/// A custom deadline, `YYYY-MM-DD HH:MM`; null or [`NO_DEADLINE`] is none.
pub(in crate::records::entries) fn read(json: &Json) -> Result<String, String> {
    if json.is_null() {
        return Ok(NO_DEADLINE.to_owned());
    }
    let text = input::text(16)(json).unwrap_or_default();
    if text == NO_DEADLINE || local_time(&text).is_some() {
        Ok(text)
    } else {
        Err("must be YYYY-MM-DD HH:MM, or - for none".to_owned())
    }
}

fn local_time(text: &str) -> Option<LocalTime> {
    LocalTime::parse(&format!("{text}:00"))
}

/// The moment of a custom deadline by the clocks of a zone.
fn moment(deadline: &str, zone: &TimeZone) -> Option<Timestamp> {
    local_time(deadline).map(|time| time.latest(zone))
}

/// Where an entry is and what deadline it has of its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::records::entries) struct DeadlineScope<'e> {
    pub(in crate::records::entries) season: Slug,
    pub(in crate::records::entries) form: Slug,
    pub(in crate::records::entries) chapter: Slug,
    pub(in crate::records::entries) custom_deadline: &'e str,
}

/// Whether an entry can be submitted now.
pub(in crate::records::entries) fn is_open(program: &Program, place: DeadlineScope<'_>, now: Timestamp) -> bool {
    let zone = program.account.zone();
    let is_in_time = moment(place.custom_deadline, &zone).is_some_and(|deadline| now < deadline);
    is_in_time
        || program.rounds.all_live().any(|round| {
            round.kind == RoundType::Entry
                && (round.season, round.form) == (place.season, place.form)
                && round.is_for(place.chapter)
                && round.is_open(now, &zone)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing;

    /// An account in Berlin with these rounds: a slug, and members behind season and form.
    fn program(rounds: &[(&str, &str)]) -> Program {
        let members = |more: &&str| {
            let place = r#""season":"SeasonAA","form":"FormAAAA","name":{"en_GB":"R"}"#;
            format!("{place},{more}")
        };
        let rounds: Vec<(&str, String)> = rounds.iter().map(|(slug, more)| (*slug, members(more))).collect();
        let rounds: Vec<(&str, &str, &str)> =
            rounds.iter().map(|(slug, members)| ("round", *slug, members.as_str())).collect();
        testing::program(&rounds)
    }

    fn opens(program: &Program, custom_deadline: &str, chapter: &str, now: &str) -> bool {
        let slug = |text| Slug::parse(text).unwrap();
        let place =
            DeadlineScope { season: slug("SeasonAA"), form: slug("FormAAAA"), chapter: slug(chapter), custom_deadline };
        is_open(program, place, Timestamp::parse(now).unwrap())
    }

    #[test]
    fn a_round_is_one_of_entries_and_of_the_chapter() {
        let end = r#""end_date":"2026-03-01 12:00:00""#;
        let entry = program(&[("RoundAAA", &format!(r#""type":"entry","chapters":["ChapterA"],{end}"#))]);
        assert!(opens(&entry, NO_DEADLINE, "ChapterA", "2026-03-01T10:59:59.999999Z"));
        assert!(!opens(&entry, NO_DEADLINE, "ChapterA", "2026-03-01T11:00:00.000000Z"));
        assert!(!opens(&entry, NO_DEADLINE, "ChapterB", "2026-03-01T10:00:00.000000Z"));
        let judge = program(&[("RoundAAA", &format!(r#""type":"judge",{end}"#))]);
        assert!(!opens(&judge, NO_DEADLINE, "ChapterA", "2026-03-01T10:00:00.000000Z"));
        assert!(!opens(&program(&[]), NO_DEADLINE, "ChapterA", "2026-03-01T10:00:00.000000Z"));
    }

    #[test]
    fn any_open_round_will_do() {
        let program = program(&[
            ("RoundAAA", r#""type":"entry","end_date":"2026-03-01 12:00:00""#),
            ("RoundBBB", r#""type":"entry","start_date":"2026-04-01 00:00:00","end_date":"2026-04-02 00:00:00""#),
        ]);
        for (now, is_open) in [
            ("2026-02-01T00:00:00.000000Z", true),
            ("2026-03-15T00:00:00.000000Z", false),
            ("2026-03-31T21:59:59.000000Z", false),
            ("2026-03-31T22:00:00.000000Z", true),
            ("2026-04-01T22:00:00.000000Z", false),
        ] {
            assert_eq!(opens(&program, NO_DEADLINE, "ChapterA", now), is_open, "{now}");
        }
    }

    #[test]
    fn a_custom_deadline_is_kept_when_every_round_has_ended() {
        let program = program(&[]);
        assert!(opens(&program, "2026-03-01 12:00", "ChapterA", "2026-03-01T10:59:59.000000Z"));
        assert!(!opens(&program, "2026-03-01 12:00", "ChapterA", "2026-03-01T11:00:00.000000Z"));
    }

    #[test]
    fn deadlines_in_the_nights_when_clocks_are_moved() {
        let program = program(&[("RoundAAA", r#""type":"entry","end_date":"2026-03-29 02:30:00""#)]);
        // 02:30 is skipped in the night of 29 March, and means 03:30 by the clocks that were put forward.
        assert!(opens(&program, NO_DEADLINE, "ChapterA", "2026-03-29T01:29:59.000000Z"));
        assert!(!opens(&program, NO_DEADLINE, "ChapterA", "2026-03-29T01:30:00.000000Z"));
        // 02:30 comes twice in the night of 25 October.
        for (now, is_open) in [
            ("2026-10-25T00:29:59.000000Z", true),
            ("2026-10-25T00:30:00.000000Z", true),
            ("2026-10-25T01:29:59.000000Z", true),
            ("2026-10-25T01:30:00.000000Z", false),
        ] {
            assert_eq!(opens(&program, "2026-10-25 02:30", "ChapterA", now), is_open, "{now}");
        }
    }

    #[test]
    fn a_deadline_is_a_minute_of_the_calendar_or_none() {
        for right in ["-", "2026-01-31 00:00", "2024-02-29 23:59"] {
            assert_eq!(read(&Json::String(right.into())), Ok(right.to_owned()));
        }
        assert_eq!(read(&Json::Null), Ok(NO_DEADLINE.to_owned()));
        for wrong in ["", "2026-02-29 00:00", "2026-01-31 24:00", "2026-01-31 00:60", "2026-01-31T00:00", "2026-01-31"]
        {
            assert!(read(&Json::String(wrong.into())).is_err(), "{wrong}");
        }
        assert!(read(&Json::Bool(true)).is_err());
    }
}
