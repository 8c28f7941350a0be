//! Pure rules of panels.

use super::Panel;
use crate::program::Program;
use crate::program::checks::Checks;
use crate::program::rounds::RoundType;
use crate::program::score_sets::Mode;
use kernel::input::Violations;
use kernel::kind::Kind;

/// What is wrong with a panel among the records that it refers to.
pub(super) fn check(panel: &Panel, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::Panel, panel.season);
    let score_set = program.score_sets.any(panel.score_set);
    checks.season_of("score_set", panel.score_set, score_set.map(|score_set| score_set.season));
    if score_set.is_some_and(|score_set| score_set.mode() == Mode::Gallery) {
        checks.fault("score_set", "must be one that is judged, which a gallery is not");
    }
    let form = score_set.map(|score_set| score_set.form);
    for slug in &panel.rounds {
        let Some(round) = program.rounds.any(*slug) else { continue };
        checks.season_of("rounds", *slug, Some(round.season));
        if round.kind != RoundType::Judge {
            checks.fault("rounds", format!("{slug} must be a round of the type judge"));
        }
        if form.is_some_and(|form| form != round.form) {
            checks.fault("rounds", format!("{slug} must be on the form of the score set"));
        }
    }
    for slug in &panel.roles {
        if program.roles.any(*slug).is_some_and(|role| !role.kind.is_judging()) {
            checks.fault("roles", format!("{slug} must be a role that judges: a judge, a lead judge or a voter"));
        }
    }
    checks.categories(&panel.categories, form);
    checks.chapters(&panel.chapters);
    checks.finish()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::program::chapters::Status;
    use crate::program::panels::{COUNT, EntryStatus, Moderation};
    use crate::program::testing::{self, program, read};

    fn panel(members: &str) -> Result<Panel, String> {
        let least = r#""season":"SeasonAA","score_set":"ScoreAAA","name":{"en_GB":"Jury"}"#;
        read("PanelAAA", &format!("{least}{members}"))
    }

    #[test]
    fn a_panel_is_of_submitted_entries_unless_it_says_otherwise() {
        let least = panel(r#","judges":["UserAAAA"],"rounds":["RoundAAA"]"#).unwrap();
        assert_eq!(least.statuses, [EntryStatus::Submitted, EntryStatus::Resubmitted]);
        assert_eq!(least.moderation, [Moderation::Approved, Moderation::Undecided]);
        assert_eq!((least.judges_per_entry, least.entries_per_judge), (None, None));
        let any = panel(r#","roles":["RoleAAAA"],"rounds":["RoundAAA"],"statuses":[],"moderation":[]"#).unwrap();
        assert!(any.statuses.is_empty() && any.moderation.is_empty());
    }

    #[test]
    fn what_is_no_panel_is_named() {
        for (wrong, member) in [
            (r#","rounds":["RoundAAA"]"#, "judges"),
            (r#","judges":["UserAAAA"]"#, "rounds"),
            (r#","judges":["UserAAAA"],"rounds":[]"#, "rounds"),
            (r#","judges":["UserAAAA","UserAAAA"],"rounds":["RoundAAA"]"#, "judges"),
            (r#","judges":["UserAAAA"],"rounds":["RoundAAA"],"tags":["a,b"]"#, "tags"),
            (r#","judges":["UserAAAA"],"rounds":["RoundAAA"],"statuses":["done"]"#, "statuses"),
            (r#","judges":["UserAAAA"],"rounds":["RoundAAA"],"divisions":[0]"#, "divisions"),
            (r#","judges":["UserAAAA"],"rounds":["RoundAAA"],"judges_per_entry":0"#, "judges_per_entry"),
        ] {
            let error = panel(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    #[test]
    fn what_a_panel_names_belongs_together() {
        let set = r#""season":"SeasonAA","form":"FormAAAA","name":{},"mode":"gallery""#;
        let program = program(&[
            ("score_set", "ScoreAAA", set),
            ("round", "RoundAAA", r#""season":"SeasonBB","form":"FormBBBB","name":{},"type":"entry""#),
            ("round", "RoundBBB", r#""season":"SeasonAA","form":"FormAAAA","name":{},"type":"judge""#),
            ("role", "RoleAAAA", r#""name":{},"type":"entrant""#),
            ("role", "RoleBBBB", r#""name":{},"type":"lead_judge""#),
            ("category", "CategAAA", r#""season":"SeasonAA","form":"FormBBBB","name":{}"#),
            ("category", "CategBBB", r#""season":"SeasonAA","name":{}"#),
            ("chapter", "ChapterA", r#""season":"SeasonBB","name":{}"#),
        ]);
        let panel = panel(
            r#","roles":["RoleAAAA","RoleBBBB"],"rounds":["RoundAAA","RoundBBB"],"categories":["CategAAA","CategBBB"],"chapters":["ChapterA"]"#,
        )
        .unwrap();
        let violations = check(&panel, &program);
        let reported: Vec<_> = violations.iter().map(|(member, message)| format!("{member}: {message}")).collect();
        assert_eq!(
            reported,
            [
                "score_set: must be one that is judged, which a gallery is not",
                "rounds: RoundAAA must belong to the season of the panel",
                "rounds: RoundAAA must be a round of the type judge",
                "rounds: RoundAAA must be on the form of the score set",
                "roles: RoleAAAA must be a role that judges: a judge, a lead judge or a voter",
                "categories: CategAAA must be on the form FormAAAA",
                "chapters: ChapterA must belong to the season of the panel",
            ]
        );
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, season, score_set) in (testing::slug(), testing::slug(), testing::slug()),
            (name, status) in (testing::translated(), testing::choice(Status::CHOICES)),
            (judges, roles) in (testing::slugs().prop_filter("none", |judges| !judges.is_empty()), testing::slugs()),
            rounds in testing::slugs().prop_filter("none", |rounds| !rounds.is_empty()),
            (categories, chapters) in (testing::slugs(), testing::slugs()),
            (divisions, tags) in (0_i64..4, vec("[a-z]{3}", 0..2)),
            (statuses, moderation) in (testing::some_of(EntryStatus::CHOICES), testing::some_of(Moderation::CHOICES)),
            (judges_per_entry, entries_per_judge) in (testing::maybe(1_i64..=COUNT), testing::maybe(1_i64..=COUNT)),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            testing::reads_back(&Panel {
                slug, season, score_set, name, status, judges, roles, rounds, categories, chapters,
                divisions: (1..=divisions).collect(), tags: tags.into_iter().take(1).collect(), statuses, moderation,
                judges_per_entry, entries_per_judge, created, updated,
            });
        }
    }
}
