//! Pure rules of links.

use std::collections::BTreeMap;

use super::facts::Facts;
use crate::program::Program;
use crate::program::rounds::RoundType;
use crate::program::score_sets::ScoreSet;
use crate::program::seasons::Status;
use kernel::input::Violations;
use kernel::text::Slug;

/// The score set, where anybody can be linked in it; what is wrong with it is added.
pub fn check_score_set<'p>(program: &'p Program, slug: Slug, violations: &mut Violations) -> Option<&'p ScoreSet> {
    let Some(score_set) = program.score_sets.live(slug) else {
        violations.add("score_set", format!("{slug} is no score set of the account"));
        return None;
    };
    let status = program.seasons.any(score_set.season).map(|season| season.status);
    if !matches!(status, Some(Status::Active | Status::Draft)) {
        violations.add("score_set", format!("{slug} must be of a season that is active or draft"));
    }
    if score_set.archived {
        violations.add("score_set", format!("{slug} is archived"));
    }
    Some(score_set)
}

/// Adds what is wrong with rounds in which is to be judged. A score set that is not known says nothing of their form.
pub fn check_rounds(program: &Program, rounds: &[Slug], score_set: Option<&ScoreSet>, violations: &mut Violations) {
    if rounds.is_empty() {
        violations.add("rounds", "must have at least 1 item");
    }
    for slug in rounds {
        let message = match program.rounds.live(*slug) {
            None => format!("{slug} is no round of the account"),
            Some(round) if round.kind != RoundType::Judge => format!("{slug} must be a round of the type judge"),
            Some(round) if score_set.is_some_and(|score_set| score_set.form != round.form) => {
                format!("{slug} must be on the form of the score set")
            }
            Some(_) => continue,
        };
        violations.add("rounds", message);
    }
}

/// Why an entry cannot be judged in a score set.
pub fn check_entry(facts: &Facts, entry: Slug, score_set: Option<&ScoreSet>) -> Result<(), String> {
    match facts.entries.get(&entry) {
        None => Err(format!("{entry} is no entry of the account")),
        Some(facts) if score_set.is_some_and(|score_set| score_set.form != facts.form) => {
            Err(format!("{entry} must be on the form of the score set"))
        }
        Some(_) => Ok(()),
    }
}

/// Why somebody cannot judge.
pub fn check_judge(facts: &Facts, program: &Program, judge: Slug) -> Result<(), String> {
    let judges = |role: &Slug| program.roles.live(*role).is_some_and(|role| role.kind.is_judging());
    match facts.judges.get(&judge) {
        None => Err(format!("{judge} is no user of the account")),
        Some(facts) if !facts.roles.iter().any(judges) => Err(format!("{judge} must have a judging role")),
        Some(_) => Ok(()),
    }
}

/// Who takes over an open sheet: of those who may, whoever has the fewest entries, and the first by slug among equals.
pub fn replacement(loads: &BTreeMap<Slug, i64>, may: impl Fn(Slug) -> bool) -> Option<Slug> {
    loads
        .iter()
        .filter(|(judge, _)| may(**judge))
        .min_by_key(|(judge, load)| (**load, **judge))
        .map(|(judge, _)| *judge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_fewest_entries_takes_over() {
        let slug = |text: &str| Slug::parse(text).unwrap();
        let loads = [("UserAAAA", 3), ("UserBBBB", 1), ("UserCCCC", 1), ("UserDDDD", 0)];
        let loads: BTreeMap<Slug, i64> = loads.into_iter().map(|(judge, load)| (slug(judge), load)).collect();
        assert_eq!(replacement(&loads, |judge| judge != slug("UserDDDD")), Some(slug("UserBBBB")));
        assert_eq!(replacement(&loads, |judge| judge == slug("UserAAAA")), Some(slug("UserAAAA")));
        assert_eq!(replacement(&loads, |_| false), None);
    }
}
