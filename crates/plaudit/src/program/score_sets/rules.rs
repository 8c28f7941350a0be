//! Pure rules of score sets.

use super::{ScoreSet, Step};
use crate::program::Program;
use crate::program::checks::Checks;
use crate::program::fields::Resource;
use kernel::document;
use kernel::input::Violations;
use kernel::kind::Kind;

/// What is wrong with a score set among the records that it refers to.
pub(super) fn check(score_set: &ScoreSet, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::ScoreSet, score_set.season);
    checks.form(score_set.form);
    for step in &score_set.tie_break {
        if let Step::Criterion(criterion) = step
            && program.criteria.any(*criterion).is_some_and(|criterion| criterion.score_set != score_set.slug)
        {
            checks.fault("tie_break", format!("{criterion} must be a criterion of the score set"));
        }
    }
    let field = score_set.organisation_field.and_then(|field| program.fields.any(field));
    if field.is_some_and(|field| field.resource != Resource::Users) {
        checks.fault("organisation_field", "must be a field about users");
    }
    checks.finish()
}

/// The score set as it is shown (contract, section 6).
pub fn document(score_set: &ScoreSet) -> String {
    document::object(|object| {
        object.time("created", score_set.created);
        object.slug("form", score_set.form);
        object.text("mode", score_set.mode().name());
        object.translated("name", &score_set.name);
        object.optional_integer("order", score_set.order);
        object.reference("season", Kind::Season, score_set.season);
        object.slug("slug", score_set.slug);
        object.time("updated", score_set.updated);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::program;
    use kernel::text::Slug;

    #[test]
    fn a_score_set_is_of_its_forms_season_and_breaks_ties_by_its_own_criteria() {
        let set = r#""season":"SeasonAA","form":"FormAAAA","name":{},"mode":"vip_judging","tie_break":[{"by":"criterion","criterion":"CritAAAA"},{"by":"criterion","criterion":"CritBBBB"}]"#;
        let program = program(&[
            ("form", "FormAAAA", r#""season":"SeasonBB","name":{}"#),
            ("score_set", "ScoreAAA", set),
            ("criterion", "CritAAAA", r#""score_set":"ScoreAAA","name":{},"maximum":10"#),
            ("criterion", "CritBBBB", r#""score_set":"ScoreBBB","name":{},"maximum":10"#),
        ]);
        let score_set = program.score_sets.any(Slug::parse("ScoreAAA").unwrap()).unwrap();
        let violations = check(score_set, &program);
        let reported: Vec<_> = violations.iter().map(|(member, message)| format!("{member}: {message}")).collect();
        assert_eq!(
            reported,
            [
                "form: FormAAAA must belong to the season of the score set",
                "tie_break: CritBBBB must be a criterion of the score set",
            ]
        );
    }
}
