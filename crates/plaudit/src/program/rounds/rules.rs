//! Pure rules of rounds.

use jiff::tz::TimeZone;

use super::Round;
use crate::program::Program;
use crate::program::checks::Checks;
use kernel::document;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// What is wrong with a round among the records that it refers to.
pub(super) fn check(round: &Round, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::Round, round.season);
    checks.form(round.form);
    checks.chapters(&round.chapters);
    checks.finish()
}

impl Round {
    /// The moments at which it begins and ends, by the clocks of the account's zone.
    pub fn moments(&self, zone: &TimeZone) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.start_date.map(|start| start.earliest(zone)), self.end_date.map(|end| end.latest(zone)))
    }

    /// When judges are reminded, which is never before its start, and its end; nothing where they never are.
    pub fn reminder(&self, zone: &TimeZone) -> Option<(Timestamp, Timestamp)> {
        let (start, end) = self.moments(zone);
        let (days, end) = self.reminder_days.zip(end)?;
        let at = Timestamp::from_microseconds(end.as_microseconds().saturating_sub(days.saturating_mul(DAY)));
        Some((start.map_or(at, |start| at.max(start)), end))
    }

    /// Whether it is open at a moment, by the clocks of the account's zone.
    pub fn is_open(&self, now: Timestamp, zone: &TimeZone) -> bool {
        let (start, end) = self.moments(zone);
        start.is_none_or(|start| start <= now) && end.is_none_or(|end| now < end)
    }
}

/// The round as it is shown (contract, section 6).
pub fn document(round: &Round, program: &Program) -> String {
    document::object(|object| {
        object.list("chapters", |list| {
            for chapter in round.chapters.iter().filter(|chapter| program.chapters.any(**chapter).is_some()) {
                list.reference(Kind::Chapter, *chapter);
            }
        });
        object.time("created", round.created);
        object.optional_local_time("end_date", round.end_date);
        object.optional_local_time("start_date", round.start_date);
        object.slug("form", round.form);
        object.translated("name", &round.name);
        object.reference("season", Kind::Season, round.season);
        object.slug("slug", round.slug);
        object.text("type", round.kind.name());
        object.time("updated", round.updated);
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::rounds::RoundType;
    use crate::program::testing::{self, program, read};
    use kernel::text::{LocalTime, Slug};

    fn round(members: &str) -> Result<Round, String> {
        read("RoundAAA", &format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"One"}},{members}"#))
    }

    #[test]
    fn a_round_is_open_from_its_start_and_no_longer_at_its_end() {
        let round = round(r#""type":"entry","start_date":"2026-03-01 09:00:00","end_date":"2026-10-25 02:30:00""#);
        let (round, zone) = (round.unwrap(), TimeZone::get("Europe/Berlin").unwrap());
        let open = |text| round.is_open(Timestamp::parse(text).unwrap(), &zone);
        assert!(!open("2026-03-01T07:59:59.000000Z"));
        assert!(open("2026-03-01T08:00:00.000000Z"));
        // 02:30 comes twice that night; the round ends the second time.
        assert!(open("2026-10-25T00:30:00.000000Z"));
        assert!(open("2026-10-25T01:29:59.000000Z"));
        assert!(!open("2026-10-25T01:30:00.000000Z"));
    }

    #[test]
    fn a_round_without_bounds_is_open_and_for_every_chapter() {
        let round = round(r#""type":"judge","start_date":null,"link":"https://a.example/round/RoundAAA""#).unwrap();
        assert_eq!(round.moments(&TimeZone::UTC), (None, None));
        assert!(round.is_open(Timestamp::EARLIEST, &TimeZone::UTC) && round.is_for(Slug::parse("ChapterA").unwrap()));
    }

    #[test]
    fn judges_are_reminded_so_many_days_before_the_end_and_not_before_the_start() {
        let at = |members: &str| {
            let round = round(&format!(r#""type":"judge","reminder_days":2{members}"#)).unwrap();
            round.reminder(&TimeZone::UTC).map(|(at, end)| format!("{at} {end}"))
        };
        assert_eq!(at(""), None);
        let (end, start) = (r#","end_date":"2026-03-09 10:00:00""#, r#","start_date":"2026-03-08 10:00:00""#);
        assert_eq!(at(end).unwrap(), "2026-03-07T10:00:00.000000Z 2026-03-09T10:00:00.000000Z");
        assert_eq!(at(&format!("{start}{end}")).unwrap(), "2026-03-08T10:00:00.000000Z 2026-03-09T10:00:00.000000Z");
        assert_eq!(round(r#""type":"judge","end_date":"2026-03-09 10:00:00""#).unwrap().reminder(&TimeZone::UTC), None);
    }

    #[test]
    fn what_is_no_round_is_named() {
        for (wrong, member) in [
            (r#""type":"entries""#, "type"),
            (r#""type":"entry","start_date":"2026-03-01T09:00:00.000000Z""#, "start_date"),
            (r#""type":"entry","start_date":"2026-03-01 09:00:00","end_date":"2026-03-01 09:00:00""#, "end_date"),
            (r#""type":"entry","chapters":["ChapterA","ChapterA"]"#, "ChapterA twice"),
            (r#""type":"judge","reminder_days":0"#, "reminder_days"),
            (r#""type":"entry","reminder_days":3"#, "reminder_days"),
            (r#""type":"entry","open":true"#, "open"),
        ] {
            let error = round(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_between_members_is_told_where_another_is_missing_too() {
        let error = read::<Round>(
            "RoundAAA",
            r#""season":"SeasonAA","form":"FormAAAA","type":"judge","start_date":"2026-02-02 00:00:00","end_date":"2026-01-01 00:00:00""#,
        );
        let error = error.unwrap_err();
        assert!(error.contains("is required") && error.contains("must be behind start_date"), "{error}");
    }

    #[test]
    fn form_and_chapters_are_of_the_season_of_the_round() {
        let program = program(&[
            ("chapter", "ChapterA", r#""season":"SeasonAA","name":{}"#),
            ("chapter", "ChapterB", r#""season":"SeasonBB","name":{}"#),
            ("form", "FormAAAA", r#""season":"SeasonBB","name":{}"#),
            ("form", "FormBBBB", r#""name":{}"#),
        ]);
        let wrong = round(r#""type":"entry","chapters":["ChapterA","ChapterB"]"#).unwrap();
        let members: Vec<_> = check(&wrong, &program).iter().map(|(member, _)| member.to_owned()).collect();
        assert_eq!(members, ["form", "chapters"]);
        let right = Round { form: Slug::parse("FormBBBB").unwrap(), chapters: Vec::new(), ..wrong };
        assert!(check(&right, &program).is_empty());
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, season, form) in (testing::slug(), testing::slug(), testing::slug()),
            name in testing::translated(),
            kind in testing::choice(RoundType::CHOICES),
            chapters in testing::slugs(),
            start in testing::maybe(testing::local_time()),
            (length, reminder_days) in (testing::maybe(1_i64..100_000_000), testing::maybe(1_i64..100)),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            let later = |start: LocalTime, seconds: i64| {
                let moment = start.earliest(&TimeZone::UTC).as_seconds() + seconds;
                LocalTime::of(Timestamp::from_seconds(moment), &TimeZone::UTC)
            };
            let end_date = start.zip(length).map(|(start, length)| later(start, length));
            let reminder_days = reminder_days.filter(|_| kind == RoundType::Judge);
            let round = Round {
                slug, season, form, name, kind, chapters, start_date: start, end_date, reminder_days, created, updated,
            };
            testing::reads_back(&round);
        }
    }
}
