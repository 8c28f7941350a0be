use crate::program::{store, testing};
use crate::records::review_tasks::OfEntry;
use crate::records::review_tasks::rules::*;
use kernel::json::parse_object;

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

const PLACE: [&str; 4] = ["SeasonAA", "FormAAAA", "CategAAA", "ChapteAA"];

fn place() -> EntryPlace {
    let [season, form, category, chapter] = PLACE.map(slug);
    EntryPlace { season, form, category, chapter }
}

/// A program with these stages: the slug, the timing and the order, and what else there is.
fn program(stages: &[(&str, &str, i64, &str)]) -> Program {
    let members = |(_, timing, order, more): &(&str, &str, i64, &str)| {
        format!(
            r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"S"}},"reviewer_kinds":["entrant"],"timing":"{timing}_submission","order":{order}{more}"#
        )
    };
    let stages: Vec<(&str, String)> = stages.iter().map(|stage| (stage.0, members(stage))).collect();
    let records: Vec<_> = stages.iter().map(|(slug, members)| ("review_stage", *slug, members.as_str())).collect();
    testing::program(&records)
}

/// Tasks in the order in which they were made, each a second behind the one before: the stage and the decision.
fn tasks(made: &[(&str, &str)]) -> Vec<ReviewTask> {
    let task = |(second, (stage, decision)): (i64, &(&str, &str))| {
        let at = Timestamp::from_seconds(second);
        let decided = match *decision {
            "" => String::new(),
            decision => format!(r#""decision":"{decision}","action_at":"{at}","#),
        };
        let token = testing::numbered("TokenOfTask", usize::try_from(second).unwrap());
        let doc = format!(
            r#"{{"token":"{token}",{decided}"entry":"EntryAAA","review_stage":"{stage}","created":"{at}","updated":"{at}"}}"#
        );
        store::parse(&doc, &testing::context()).unwrap()
    };
    (1..).zip(made).map(task).collect()
}

fn slugs(stages: &[&ReviewStage]) -> Vec<String> {
    stages.iter().map(|stage| stage.slug.to_string()).collect()
}

/// What begins when this stage has ended with `proceed`.
fn next_of(program: &Program, ended: &str, made: &[(&str, &str)], submitted: Option<i64>) -> Vec<String> {
    let ended = program.review_stages.live(slug(ended)).unwrap();
    slugs(&next(program, place(), ended, &tasks(made), submitted.map(Timestamp::from_seconds)))
}

#[test]
fn everything_that_keeps_a_stage_from_an_entry_is_told() {
    let limited = r#","categories":["CategAAA"],"chapters":["ChapteAA"]"#;
    let program = program(&[("StageAAA", "after", 0, limited)]);
    let stage = program.review_stages.live(slug("StageAAA")).unwrap();
    assert!(mismatches(stage, place()).is_empty());
    let [season, form, category, chapter] = ["SeasonBB", "FormBBBB", "CategBBB", "ChapteBB"].map(slug);
    let found = mismatches(stage, EntryPlace { season, form, category, chapter });
    let messages: Vec<_> = found.iter().map(|(_, message)| message.to_owned()).collect();
    assert_eq!(
        messages,
        ["season", "form", "category", "chapter"].map(|what| format!("is not for the {what} of the entry"))
    );
}

#[test]
fn every_stage_before_the_submission_has_to_agree() {
    let program = program(&[
        ("StageAAA", "before", 0, ""),
        ("StageBBB", "before", 1, r#","start":"manual""#),
        ("StageCCC", "after", 0, ""),
        ("StageDDD", "before", 0, r#","categories":["CategBBB"]"#),
    ]);
    for (made, lacks) in [
        (&[][..], Some("StageAAA")),
        (&[("StageAAA", "proceed")][..], Some("StageBBB")),
        (&[("StageAAA", "proceed"), ("StageBBB", "")][..], Some("StageBBB")),
        (&[("StageAAA", "proceed"), ("StageBBB", "stop")][..], Some("StageBBB")),
        (&[("StageAAA", "proceed"), ("StageBBB", "stop"), ("StageBBB", "proceed")][..], None),
        (&[("StageAAA", "proceed"), ("StageBBB", "proceed"), ("StageAAA", "")][..], Some("StageAAA")),
    ] {
        let found = missing(&program, place(), &tasks(made)).map(|stage| stage.slug.to_string());
        assert_eq!(found.as_deref(), lacks, "{made:?}");
    }
}

#[test]
fn handing_in_begins_the_stages_of_the_lowest_order_that_do_not_wait() {
    let stages = [
        ("StageAAA", "after", 1, ""),
        ("StageBBB", "after", 1, ""),
        ("StageCCC", "after", 1, r#","start":"manual""#),
        ("StageDDD", "after", 2, ""),
        ("StageEEE", "before", 0, ""),
        ("StageFFF", "after", 0, r#","chapters":["ChapteBB"]"#),
    ];
    let program = program(&stages);
    let begun = |made: &[(&str, &str)]| slugs(&first(&program, place(), &tasks(made)));
    assert_eq!(begun(&[]), ["StageAAA", "StageBBB"]);
    assert_eq!(begun(&[("StageAAA", ""), ("StageBBB", "stop")]), ["StageBBB"]);
}

#[test]
fn a_stage_begins_when_all_before_it_have_ended_with_proceed() {
    let program = program(&[
        ("StageAAA", "after", 0, ""),
        ("StageBBB", "after", 0, ""),
        ("StageCCC", "after", 5, ""),
        ("StageDDD", "after", 5, r#","start":"manual""#),
        ("StageEEE", "after", 7, ""),
        ("StageFFF", "before", 6, ""),
    ]);
    let both = [("StageAAA", "proceed"), ("StageBBB", "proceed")];
    assert!(next_of(&program, "StageAAA", &both[..1], None).is_empty(), "another one of its order is missing");
    assert!(next_of(&program, "StageAAA", &[both[0], ("StageBBB", "stop")], None).is_empty());
    assert_eq!(next_of(&program, "StageBBB", &both, None), ["StageCCC"]);
    let with = |more: &[(&'static str, &'static str)]| [&both[..], more].concat();
    assert!(next_of(&program, "StageBBB", &with(&[("StageCCC", "")]), None).is_empty(), "it waits already");
    assert!(next_of(&program, "StageBBB", &with(&[("StageCCC", "proceed")]), None).is_empty());
    assert_eq!(next_of(&program, "StageBBB", &with(&[("StageCCC", "stop")]), None), ["StageCCC"]);
    let manual = with(&[("StageCCC", "proceed")]);
    assert!(next_of(&program, "StageCCC", &manual, None).is_empty(), "a manual stage waits in its place");
    let all = with(&[("StageCCC", "proceed"), ("StageDDD", "proceed")]);
    assert_eq!(next_of(&program, "StageDDD", &all, None), ["StageEEE"]);
    assert!(next_of(&program, "StageEEE", &all, None).is_empty());
}

#[test]
fn what_was_decided_before_an_entry_was_handed_in_again_does_not_count() {
    let program = program(&[("StageAAA", "after", 0, ""), ("StageBBB", "after", 1, "")]);
    let made = [("StageAAA", "proceed"), ("StageBBB", "proceed"), ("StageAAA", "proceed")];
    assert!(next_of(&program, "StageAAA", &made, Some(1)).is_empty());
    assert_eq!(next_of(&program, "StageAAA", &made, Some(3)), ["StageBBB"]);
    assert!(next_of(&program, "StageAAA", &made[..2], Some(3)).is_empty());
}

#[test]
fn a_review_is_pending_while_a_task_waits_and_else_what_was_decided_last() {
    for (made, status) in [
        (&[][..], ""),
        (&[("StageAAA", "")][..], "pending"),
        (&[("StageAAA", "proceed")][..], "proceed"),
        (&[("StageAAA", "proceed"), ("StageBBB", "stop")][..], "stop"),
        (&[("StageAAA", "stop"), ("StageBBB", "")][..], "pending"),
    ] {
        assert_eq!(review_status(&tasks(made)), status, "{made:?}");
    }
}

#[test]
fn a_decision_and_its_time_stand_together() {
    for wrong in [r#""decision":"stop""#, r#""action_at":"2026-01-31T08:30:00Z""#] {
        let doc = format!(r#"{{"token":"TokenOfATask","entry":"EntryAAA","review_stage":"StageAAA",{wrong}}}"#);
        let error = store::parse::<ReviewTask>(&doc, &testing::context()).unwrap_err().to_string();
        assert!(error.contains("must be given with a decision"), "{error}");
    }
}

#[test]
fn bodies_are_closed_and_their_faults_are_told_at_once() {
    let names = |violations: &Violations| violations.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let (stage, entry, violations) = read_create(&parse_object(br#"{"entry":"x","colour":1}"#).unwrap());
    assert_eq!((stage, entry), (None, None));
    assert_eq!(names(&violations), ["review_stage", "entry", "colour"]);
    let decided = |body: &str| read_decision(&parse_object(body.as_bytes()).unwrap());
    assert_eq!(decided(r#"{"decision":"stop"}"#), Ok((Decision::Stop, String::new())));
    assert_eq!(decided(r#"{"decision":"proceed","comment":null}"#), Ok((Decision::Proceed, String::new())));
    assert_eq!(
        names(&decided(r#"{"decision":"maybe","comment":1,"by":"me"}"#).unwrap_err()),
        ["decision", "comment", "by"]
    );
}

#[test]
fn a_comment_has_its_author_and_time() {
    let at = Timestamp::parse("2026-01-31T08:30:00Z").unwrap();
    let first = commented("", "Ada", at, "Fine.");
    assert_eq!(first, "Ada (2026-01-31T08:30:00.000000Z): Fine.");
    assert_eq!(commented(&first, "Ben", at, "No."), format!("{first}\nBen (2026-01-31T08:30:00.000000Z): No."));
}

#[test]
fn a_task_shows_its_members_in_the_order_of_the_contract() {
    let task = tasks(&[("StageAAA", "stop")]).remove(0);
    let shown = task.document(&OfEntry { title: "T".to_owned(), category: slug("CategAAA"), season: slug("SeasonAA") });
    let names = [
        "action_at",
        "category",
        "created",
        "decision",
        "entry",
        "review_stage",
        "reviewer",
        "season",
        "token",
        "updated",
    ];
    let places: Vec<_> = names.iter().map(|name| shown.find(&format!("\"{name}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{shown}");
}
