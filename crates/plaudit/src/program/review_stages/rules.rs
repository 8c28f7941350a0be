//! Pure rules of review stages.

use super::ReviewStage;
use crate::program::Program;
use crate::program::checks::Checks;
use crate::program::fields::{FieldType, Resource, form_of};
use kernel::input::Violations;
use kernel::kind::Kind;

/// What is wrong with a review stage among the records that it refers to.
pub(super) fn check(stage: &ReviewStage, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::ReviewStage, stage.season);
    checks.form(stage.form);
    for slug in &stage.reviewer_fields {
        let Some(field) = program.fields.any(*slug) else { continue };
        if field.kind != FieldType::Email || field.resource != Resource::Entries {
            checks.fault("reviewer_fields", format!("{slug} must be a field of the type email about entries"));
        }
        if form_of(field, program).is_some_and(|form| form != stage.form) {
            checks.fault("reviewer_fields", format!("{slug} must be a field of the form {}", stage.form));
        }
    }
    checks.categories(&stage.categories, Some(stage.form));
    checks.chapters(&stage.chapters);
    checks.finish()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::program::review_stages::{Decision, OnProceed, OnStop, Reviewer, ReviewerKind, Start, Timing};
    use crate::program::testing::{self, program, read};

    fn stage(members: &str) -> Result<ReviewStage, String> {
        read("StageAAA", &format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"Consent"}},{members}"#))
    }

    #[test]
    fn what_is_no_review_stage_is_named() {
        let reviewers = r#""reviewers":[{"name":"Ada","email":"ada@example.org"}]"#;
        assert!(stage(&format!(r#""timing":"before_submission",{reviewers}"#)).is_ok());
        assert!(stage(r#""timing":"after_submission","reviewer_fields":["FieldAAA"],"on_stop":"rejected""#).is_ok());
        assert!(stage(r#""timing":"after_submission","reviewer_kinds":["entrant","manager"]"#).is_ok());
        for (wrong, member) in [
            (reviewers.to_owned(), "timing"),
            (r#""timing":"before_submission""#.to_owned(), "reviewers"),
            (r#""timing":"before_submission","reviewers":[{"name":"Ada"}]"#.to_owned(), "reviewers.1.email"),
            (r#""timing":"before_submission","reviewers":[{"email":"ada"}]"#.to_owned(), "reviewers.1.email"),
            (format!(r#""timing":"before_submission","on_stop":"rejected",{reviewers}"#), "on_stop"),
            (format!(r#""timing":"after_submission","reminder_days":0,{reviewers}"#), "reminder_days"),
            (format!(r#""timing":"after_submission","deadline_days":3,{reviewers}"#), "on_deadline"),
            (format!(r#""timing":"after_submission","on_deadline":"stop",{reviewers}"#), "on_deadline"),
            (r#""timing":"after_submission","reviewer_kinds":["judge"]"#.to_owned(), "reviewer_kinds"),
        ] {
            let error = stage(&wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
        let twice = r#"{"email":"ada@example.org"},{"email":"ADA@example.org"}"#;
        assert!(stage(&format!(r#""timing":"after_submission","reviewers":[{twice}]"#)).unwrap_err().contains("twice"));
    }

    #[test]
    fn reviewers_are_named_by_fields_of_the_form() {
        let program = program(&[
            ("tab", "TabAAAAA", r#""form":"FormAAAA","type":"General""#),
            ("field", "FieldAAA", r#""tab":"TabAAAAA","type":"email","title":{}"#),
            ("field", "FieldBBB", r#""tab":"TabAAAAA","type":"text","title":{}"#),
            ("field", "FieldCCC", r#""form":"FormBBBB","type":"email","title":{}"#),
        ]);
        let stage =
            stage(r#""timing":"after_submission","reviewer_fields":["FieldAAA","FieldBBB","FieldCCC"]"#).unwrap();
        let violations = check(&stage, &program);
        let reported: Vec<_> = violations.iter().map(|(_, message)| message.to_owned()).collect();
        let expected = [
            "FieldBBB must be a field of the type email about entries",
            "FieldCCC must be a field of the form FormAAAA",
        ];
        assert_eq!(reported, expected);
    }

    fn reviewers() -> impl Strategy<Value = Vec<Reviewer>> {
        vec(testing::text(), 1..4).prop_map(|names| {
            let reviewer = |(place, name)| Reviewer { name, email: format!("reviewer{place}@example.org") };
            names.into_iter().enumerate().map(reviewer).collect()
        })
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, season, form) in (testing::slug(), testing::slug(), testing::slug()),
            (name, instructions) in (testing::translated(), testing::translated()),
            (order, is_before) in (0_i64..100, any::<bool>()),
            (reviewers, reviewer_fields) in (reviewers(), testing::slugs()),
            (categories, chapters) in (testing::slugs(), testing::slugs()),
            (on_proceed, on_stop) in (testing::choice(OnProceed::CHOICES), testing::choice(OnStop::CHOICES)),
            (proceed_label, stop_label) in (testing::translated(), testing::translated()),
            reminder_days in testing::maybe(1_i64..100),
            (start, kind) in (testing::choice(Start::CHOICES), testing::choice(ReviewerKind::CHOICES)),
            deadline in testing::maybe((1_i64..100, testing::choice(Decision::CHOICES))),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            testing::reads_back(&ReviewStage {
                slug, season, form, name, instructions, order, reviewers, reviewer_fields, categories, chapters,
                timing: if is_before { Timing::BeforeSubmission } else { Timing::AfterSubmission },
                on_proceed: if is_before { OnProceed::Nothing } else { on_proceed },
                on_stop: if is_before { OnStop::Nothing } else { on_stop },
                proceed_label, stop_label, reminder_days, created, updated,
                start, reviewer_kinds: vec![kind],
                deadline_days: deadline.map(|(days, _)| days), on_deadline: deadline.map(|(_, decision)| decision),
            });
        }
    }
}
