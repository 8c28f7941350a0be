//! Pure rules of criteria.

use super::{Criterion, STEPS};
use crate::program::Program;
use crate::program::score_sets::{Mode, ScoreSet};
use kernel::input::{Members, Violations};
use kernel::text::{Points, Slug};

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

impl Criterion {
    /// Whether judges can give so many points.
    #[must_use]
    pub fn allows(&self, points: Points) -> bool {
        (self.minimum..=self.maximum).contains(&points)
            && (points.ten_thousandths() - self.minimum.ten_thousandths()) % self.step.ten_thousandths() == 0
    }
}

/// The live criteria of a score set, in their order.
#[must_use]
pub fn of_score_set(program: &Program, score_set: Slug) -> Vec<&Criterion> {
    let mut criteria: Vec<_> =
        program.criteria.all_live().filter(|criterion| criterion.score_set == score_set).collect();
    criteria.sort_by_key(|criterion| (criterion.order, criterion.slug));
    criteria
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
    fn points_are_whole_steps_above_the_minimum() {
        let criterion = criterion(r#""minimum":1,"maximum":5,"step":0.5"#).unwrap();
        for (points, is_allowed) in
            [("1", true), ("2.5", true), ("5", true), ("0.5", false), ("5.5", false), ("2.25", false)]
        {
            assert_eq!(criterion.allows(Points::parse(points).unwrap()), is_allowed, "{points}");
        }
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
        let one = |slug, order| (slug, format!(r#""score_set":"ScoreAAA","name":{{}},"maximum":10,"order":{order}"#));
        let criteria = [one("CritAAAA", 2), one("CritBBBB", 1), one("CritCCCC", 1)];
        for (mode, faults) in [("vip_judging", 0), ("voting", 1)] {
            let set = set(mode);
            let mut records = vec![("score_set", "ScoreAAA", set.as_str())];
            records.extend(criteria.iter().map(|(slug, members)| ("criterion", *slug, members.as_str())));
            let program = program(&records);
            let found = of_score_set(&program, Slug::parse("ScoreAAA").unwrap());
            let order: Vec<_> = found.iter().map(|criterion| criterion.slug.as_str()).collect();
            assert_eq!(order, ["CritBBBB", "CritCCCC", "CritAAAA"]);
            assert_eq!(check(found[0], &program).iter().count(), faults);
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
            let criterion = Criterion {
                slug, score_set, name, description, minimum,
                maximum: points(minimum.ten_thousandths() + step * steps),
                step: points(step), weight, required, order, created, updated,
            };
            testing::reads_back(&criterion);
            prop_assert!(criterion.allows(criterion.minimum) && criterion.allows(criterion.maximum));
        }
    }
}
