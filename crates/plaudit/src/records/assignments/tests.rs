use proptest::prelude::*;

use super::fraction::Fraction;
use super::*;
use crate::program::Program;
use crate::program::score_sets::Aggregation;
use crate::program::store::{parse, stored};
use crate::program::testing::{self, program};
use kernel::text::Points;

const SLUG: &str = "EntryAAAUserAAAAScoreAAAJ";

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn read(members: &str) -> Result<Assignment, String> {
    let least = r#""entry":"EntryAAA","judge":"UserAAAA","score_set":"ScoreAAA""#;
    parse(&format!(r#"{{"slug":"{SLUG}",{least}{members}}}"#), &testing::context()).map_err(|error| error.to_string())
}

/// A score set of a mode, with a criterion that is required and one that is not.
fn judged(mode: &str) -> Program {
    let set = format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{}},"mode":"{mode}""#);
    let criteria = [
        ("criterion", "CritAAAA", r#""score_set":"ScoreAAA","name":{},"maximum":10,"weight":3"#),
        ("criterion", "CritBBBB", r#""score_set":"ScoreAAA","name":{},"maximum":5,"step":0.5,"required":false"#),
    ];
    let mut records = vec![("score_set", "ScoreAAA", set.as_str())];
    records.extend(criteria.into_iter().filter(|_| mode == "vip_judging"));
    program(&records)
}

fn points(text: &str) -> Option<Points> {
    Points::parse(text).ok()
}

fn scored(values: &[(&str, Option<Points>)]) -> Vec<Score> {
    values.iter().map(|(criterion, value)| Score { criterion: slug(criterion), value: *value, comment: None }).collect()
}

#[test]
fn what_is_linked_is_what_the_slug_says() {
    assert_eq!(read("").unwrap().judge, Some(slug("UserAAAA")));
    let wrong = parse::<Assignment>(
        r#"{"slug":"EntryAAARoleAAAAScoreAAAR","entry":"EntryBBB","judge":"UserAAAA","score_set":"ScoreAAA"}"#,
        &testing::context(),
    );
    let wrong = wrong.unwrap_err().to_string();
    for told in ["must be EntryAAA", "must be null", "must be RoleAAAA"] {
        assert!(wrong.contains(told), "{wrong}");
    }
}

#[test]
fn a_sheet_is_complete_when_every_required_criterion_has_points() {
    let program = judged("vip_judging");
    let mut assignment = read("").unwrap();
    for (scores, status) in [
        (scored(&[]), Status::None),
        (scored(&[("CritAAAA", None)]), Status::None),
        (scored(&[("CritBBBB", points("2.5"))]), Status::InProgress),
        (scored(&[("CritAAAA", points("7"))]), Status::Complete),
        (scored(&[("CritAAAA", points("7")), ("CritBBBB", points("2.5"))]), Status::Complete),
    ] {
        assignment.scores = scores;
        assert_eq!(rules::status(&assignment, &program), status);
    }
    assignment.abstention = Some(Comment {
        slug: slug("CommentA"),
        comment: "Ill".to_owned(),
        user: None,
        created_at: assignment.created,
        updated_at: assignment.created,
    });
    assert_eq!(rules::status(&assignment, &program), Status::Abstained);
}

#[test]
fn a_decision_a_preference_or_a_vote_completes_a_sheet() {
    for (mode, members) in
        [("qualifying", r#","decision":"unsure""#), ("top_pick", r#","preference":2"#), ("voting", r#","votes":1"#)]
    {
        let program = judged(mode);
        assert_eq!(rules::status(&read("").unwrap(), &program), Status::None);
        let assignment = read(members).unwrap();
        assert_eq!(rules::status(&assignment, &program), Status::Complete);
        assert!(rules::check(&assignment, &program).is_empty());
        assert_eq!(rules::check(&assignment, &judged("gallery")).iter().count(), 1);
    }
}

#[test]
fn points_are_within_the_bounds_and_steps_of_their_criterion() {
    let program = judged("vip_judging");
    let criteria = rules::criteria(&program, slug("ScoreAAA"));
    let set = program.score_sets.any(slug("ScoreAAA")).unwrap();
    for (value, is_right) in [("0", true), ("0.5", true), ("5", true), ("5.5", false), ("0.25", false)] {
        assert_eq!(rules::check_score(set, criteria[1], points(value)).is_ok(), is_right, "{value}");
    }
    assert!(rules::check_score(set, criteria[1], None).is_ok());
}

#[test]
fn a_sheet_comes_to_the_weighted_sum_or_mean_of_what_it_has() {
    let program = judged("vip_judging");
    let criteria = rules::criteria(&program, slug("ScoreAAA"));
    let all = scored(&[("CritAAAA", points("8")), ("CritBBBB", points("2.5"))]);
    let some = scored(&[("CritAAAA", points("8"))]);
    let rounded = |scores: &[Score], aggregation| rules::value(scores, aggregation, &criteria).map(Fraction::rounded);
    assert_eq!(rounded(&all, Aggregation::Sum).unwrap(), "26.5");
    assert_eq!(rounded(&all, Aggregation::Mean).unwrap(), "6.625");
    assert_eq!(rounded(&some, Aggregation::Sum).unwrap(), "28", "four fifths of 35");
    assert_eq!(rounded(&[], Aggregation::Sum), None);
    assert_eq!(rules::maximum(Aggregation::Mean, &criteria).unwrap().rounded(), "8.75");
}

proptest! {
    #[test]
    fn read_of_write_is_the_same(
        (method, cause) in (testing::choice(Method::CHOICES), testing::choice(Cause::CHOICES)),
        (panels, rounds) in (testing::slugs(), testing::slugs()),
        (criterion, value) in (testing::slug(), testing::maybe(testing::points(0..1_000_000))),
        (decision, preference) in (testing::maybe(testing::choice(Decision::CHOICES)), testing::maybe(1_i64..=3)),
        (votes, text) in (0_i64..9, "[a-z]{1,9}"),
        (created, updated) in (testing::time(), testing::time()),
    ) {
        let comment = Comment { slug: criterion, comment: text, user: Some(criterion), created_at: created, updated_at: updated };
        let assignment = Assignment {
            method, panels, rounds, decision, preference, votes, updated,
            scores: vec![Score { criterion, value, comment: Some(comment.clone()) }],
            conflict: vec![comment.clone()],
            comment: Some(comment),
            ..Assignment::new(AssignmentSlug::parse(SLUG).unwrap(), cause, created)
        };
        let stored = stored(&assignment);
        prop_assert_eq!(parse::<Assignment>(&stored, &testing::context()).unwrap(), assignment);
    }
}
