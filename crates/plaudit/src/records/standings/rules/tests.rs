use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::program::testing::program;
use crate::records::assignments::{AssignmentSlug, Cause, Method, Score, rules as sheets};
use kernel::text::Timestamp;

const CRITERIA: [&str; 2] = ["CritAAAA", "CritBBBB"];

/// A score set of the mode `vip_judging` with these members, and two criteria.
fn judged(members: &str) -> Program {
    let set = format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{}},{members}"#);
    program(&[
        ("score_set", "ScoreAAA", &set),
        ("criterion", CRITERIA[0], r#""score_set":"ScoreAAA","name":{},"maximum":10,"weight":3"#),
        ("criterion", CRITERIA[1], r#""score_set":"ScoreAAA","name":{},"maximum":7"#),
    ])
}

fn sheet(judge: usize, points: [Option<i64>; 2], program: &Program) -> Assignment {
    let [entry, score_set] = ["EntryAAA", "ScoreAAA"].map(|slug| Slug::parse(slug).unwrap());
    let judge = Slug::parse(&crate::program::testing::numbered("UserAA", judge)).unwrap();
    let slug = AssignmentSlug::of_judge(entry, judge, score_set);
    let mut assignment = Assignment::new(slug, Cause::Manual, Timestamp::from_seconds(0));
    for (criterion, value) in CRITERIA.into_iter().zip(points) {
        let value = value.and_then(|value| kernel::text::Points::from_ten_thousandths(value * 10_000));
        let criterion = Slug::parse(criterion).unwrap();
        assignment.scores.push(Score { criterion, value, comment: None });
    }
    assignment.status = sheets::status(&assignment, program);
    assignment
}

fn score(members: &str, sheets: &[[Option<i64>; 2]]) -> Option<String> {
    let program = judged(members);
    let set = program.score_sets.any(Slug::parse("ScoreAAA").unwrap()).unwrap();
    let sheets: Vec<_> = sheets.iter().enumerate().map(|(judge, points)| sheet(judge, *points, &program)).collect();
    totals(&sheets, &program, set).unwrap().score(set).map(Fraction::rounded)
}

#[test]
fn an_entry_has_the_mean_of_the_sheets_that_count() {
    let mode = r#""mode":"vip_judging""#;
    assert_eq!(score(mode, &[]), None);
    assert_eq!(score(mode, &[[Some(8), Some(4)], [Some(9), Some(7)]]).unwrap(), "31");
    assert_eq!(score(mode, &[[Some(8), Some(4)], [Some(9), None]]).unwrap(), "28", "what is incomplete does not count");
    let partial = r#""mode":"vip_judging","vip_judging":{"sheets":"renormalise"}"#;
    assert_eq!(score(partial, &[[Some(10), None], [Some(0), Some(0)]]).unwrap(), "18.5");
}

#[test]
fn a_share_of_the_sheets_is_dropped_at_each_end() {
    let mode = r#""mode":"vip_judging","vip_judging":{"trim":25,"min_kept":2}"#;
    let points = |values: &[i64]| values.iter().map(|value| [Some(*value), Some(0)]).collect::<Vec<_>>();
    assert_eq!(score(mode, &points(&[1, 5, 7, 10])).unwrap(), "18");
    assert_eq!(score(mode, &points(&[1])), None, "fewer are left than must be");
}

#[test]
fn what_does_not_count_changes_no_score() {
    let program = judged(r#""mode":"vip_judging""#);
    let whole = sheet(0, [Some(8), Some(4)], &program);
    assert!(counted(&whole, &program).is_some());
    for method in [Method::Stray, Method::Recused] {
        assert_eq!(counted(&Assignment { method, ..whole.clone() }, &program), None);
    }
    let conflicted = Assignment { is_conflicted: true, ..whole.clone() };
    assert_eq!(counted(&conflicted, &program), None);
    let counting = judged(r#""mode":"vip_judging","conflicts":"counted""#);
    assert!(counted(&conflicted, &counting).is_some());
    assert_eq!(counted(&Assignment { status: Status::Abstained, ..whole }, &program), None);
}

proptest! {
    #[test]
    fn totals_that_are_kept_are_those_that_are_computed(
        trim in prop_oneof![Just(0), Just(20)],
        changes in vec((0_usize..5, proptest::option::of((0_i64..=10, proptest::option::of(0_i64..=7)))), 0..60),
    ) {
        let members = format!(r#""mode":"vip_judging","vip_judging":{{"sheets":"renormalise","aggregation":"mean","trim":{trim}}}"#);
        let program = judged(&members);
        let set = program.score_sets.any(Slug::parse("ScoreAAA").unwrap()).unwrap();
        let mut kept = Totals::default();
        let mut sheets: [Option<Assignment>; 5] = [const { None }; 5];
        for (judge, change) in changes {
            let after = change.map(|(first, second)| sheet(judge, [Some(first), second], &program));
            for (assignment, sign) in [(&sheets[judge], -1), (&after, 1)] {
                if let Some(assignment) = assignment {
                    kept = kept.changed(counted(assignment, &program).as_ref(), sign, set).unwrap();
                }
            }
            sheets[judge] = after;
            prop_assert_eq!(&kept, &totals(sheets.iter().flatten(), &program, set).unwrap());
        }
    }
}
