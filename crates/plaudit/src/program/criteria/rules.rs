//! Pure rules of criteria.

use super::{Criterion, STEPS};
use crate::program::Program;
use crate::program::score_sets::{Mode, ScoreSet};
use kernel::input::{Members, Violations};
use kernel::text::Points;

/// Adds what is wrong with the points that a criterion allows.
pub(super) fn check_range(
    members: &mut Members<'_>,
    minimum: Option<&Points>,
    maximum: Option<&Points>,
    step: Option<&Points>,
) {
    let (Some(minimum), Some(maximum), Some(step)) = (minimum, maximum, step) else { return };
    let range = maximum.ten_thousandths() - minimum.ten_thousandths();
    let step = step.ten_thousandths();
    if range <= 0 {
        members.fault("maximum", "must be above the minimum");
    } else if range % step != 0 {
        members.fault("step", "must lead from the minimum to the maximum in whole steps");
    } else if range / step > STEPS {
        members.fault("step", format!("must lead from the minimum to the maximum in at most {STEPS} steps"));
    }
}

/// What is wrong with a criterion among the records that it refers to.
pub(super) fn check(criterion: &Criterion, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let mode = program.score_sets.any(criterion.score_set).map(ScoreSet::mode);
    if mode.is_some_and(|mode| mode != Mode::VipJudging) {
        violations.add("score_set", "must be a score set of the mode vip_judging; others have no criteria");
    }
    violations
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::{self, program, read};

    fn criterion(members: &str) -> Result<Criterion, String> {
        read("CritAAAA", &format!(r#""score_set":"ScoreAAA","name":{{"en_GB":"Craft"}},{members}"#))
    }

    #[test]
    fn what_is_no_criterion_is_named() {
        for (wrong, member) in [
            (r#""weight":1"#, "maximum"),
            (r#""maximum":0"#, "maximum"),
            (r#""maximum":10,"minimum":10"#, "maximum"),
            (r#""maximum":10,"step":3"#, "whole steps"),
            (r#""maximum":10,"step":0"#, "step"),
            (r#""maximum":1000000,"step":0.0001"#, "at most 1000000 steps"),
            (r#""maximum":10,"weight":0"#, "weight"),
            (r#""maximum":10,"weight":0.5"#, "weight"),
            (r#""maximum":"10""#, "maximum"),
        ] {
            let error = criterion(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    #[test]
    fn only_score_sets_with_points_have_criteria() {
        let set = |mode| format!(r#""season":"SeasonAA","form":"FormAAAA","name":{{}},"mode":"{mode}""#);
        for (mode, faults) in [("vip_judging", 0), ("voting", 1)] {
            let set = set(mode);
            let program = program(&[("score_set", "ScoreAAA", &set)]);
            assert_eq!(check(&criterion(r#""maximum":10"#).unwrap(), &program).iter().count(), faults);
        }
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, score_set) in (testing::slug(), testing::slug()),
            (name, description) in (testing::translated(), testing::translated()),
            minimum in testing::points(0..1_000_000),
            (step, steps) in (1_i64..100_000, 1_i64..1_000),
            (weight, required, order) in (1_i64..=super::super::WEIGHT, any::<bool>(), 0_i64..1_000),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            let points = |value| Points::from_ten_thousandths(value).unwrap();
            testing::reads_back(&Criterion {
                slug, score_set, name, description, minimum,
                maximum: points(minimum.ten_thousandths() + step * steps),
                step: points(step), weight, required, order, created, updated,
            });
        }
    }
}
