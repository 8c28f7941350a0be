//! Pure rules of sheets: where they stand, and what they come to.

use super::{Assignment, Decision, Score, Status};
use crate::program::Program;
use crate::program::criteria::Criterion;
use crate::program::score_sets::{Aggregation, Mode, Rules, ScoreSet};
use crate::records::assignments::fraction::Fraction;
use kernel::input::Violations;
use kernel::text::{Points, Slug};

/// The criteria of a score set that are not in the trash, in their order.
pub fn criteria(program: &Program, score_set: Slug) -> Vec<&Criterion> {
    let mut criteria: Vec<_> =
        program.criteria.all_live().filter(|criterion| criterion.score_set == score_set).collect();
    criteria.sort_by_key(|criterion| (criterion.order, criterion.slug));
    criteria
}

/// The points that a sheet has for a criterion.
pub fn points(scores: &[Score], criterion: Slug) -> Option<Points> {
    scores.iter().find(|score| score.criterion == criterion)?.value
}

/// Where a sheet stands.
pub fn status(assignment: &Assignment, program: &Program) -> Status {
    if assignment.abstention.is_some() {
        return Status::Abstained;
    }
    let Some(score_set) = program.score_sets.any(assignment.score_set) else { return Status::None };
    let is_complete = match score_set.mode() {
        Mode::VipJudging => return status_of_scores(&assignment.scores, &criteria(program, score_set.slug)),
        Mode::Qualifying => assignment.decision.is_some(),
        Mode::TopPick => assignment.preference.is_some(),
        Mode::Voting => assignment.votes > 0,
        Mode::Gallery => false,
    };
    if is_complete { Status::Complete } else { Status::None }
}

/// Where a sheet of points stands.
pub fn status_of_scores(scores: &[Score], criteria: &[&Criterion]) -> Status {
    let has = |criterion: &&Criterion| points(scores, criterion.slug).is_some();
    let is_whole = criteria.iter().all(|criterion| has(criterion) || !criterion.required);
    match (criteria.iter().any(has), is_whole) {
        (false, _) => Status::None,
        (true, false) => Status::InProgress,
        (true, true) => Status::Complete,
    }
}

/// The points of a sheet and of how many that is: the weighted sum, or mean, over the criteria. A criterion without points is
/// left out with its weight: what is there is the share that was reached of what could be reached by it. Nothing where no
/// criterion has points, or a number is too large.
pub fn value(scores: &[Score], aggregation: Aggregation, criteria: &[&Criterion]) -> Option<Fraction> {
    let weighted = |criterion: &Criterion, points: Points| {
        i128::from(points.ten_thousandths()).checked_mul(i128::from(criterion.weight))
    };
    let (mut reached, mut reachable) = (0_i128, 0_i128);
    for criterion in criteria {
        if let Some(points) = points(scores, criterion.slug) {
            reached = reached.checked_add(weighted(criterion, points)?)?;
            reachable = reachable.checked_add(weighted(criterion, criterion.maximum)?)?;
        }
    }
    Fraction::new(reached, reachable)?.checked_mul(maximum(aggregation, criteria)?)
}

/// The most points of a sheet.
pub fn maximum(aggregation: Aggregation, criteria: &[&Criterion]) -> Option<Fraction> {
    let mut sum = 0_i128;
    for criterion in criteria {
        let most = i128::from(criterion.maximum.ten_thousandths()).checked_mul(i128::from(criterion.weight))?;
        sum = sum.checked_add(most)?;
    }
    let weights: i128 = criteria.iter().map(|criterion| i128::from(criterion.weight)).sum();
    let parts = if aggregation == Aggregation::Mean { weights } else { 1 };
    Fraction::new(sum, parts.checked_mul(i128::from(Points::ONE.ten_thousandths()))?)
}

/// What of a sheet does not fit the score set.
pub fn check(assignment: &Assignment, program: &Program) -> Violations {
    let mut violations = Violations::default();
    let Some(score_set) = program.score_sets.any(assignment.score_set) else { return violations };
    let is_for = |mode| score_set.mode() == mode && assignment.role.is_none();
    let members = [
        ("scores", !assignment.scores.is_empty(), is_for(Mode::VipJudging)),
        ("decision", assignment.decision.is_some(), is_for(Mode::Qualifying)),
        ("preference", assignment.preference.is_some(), is_for(Mode::TopPick)),
        ("votes", assignment.votes > 0 || assignment.votes_of_period > 0, is_for(Mode::Voting)),
        ("comment", assignment.comment.is_some(), assignment.role.is_none() && score_set.mode() != Mode::Gallery),
        ("abstention", assignment.abstention.is_some(), assignment.role.is_none()),
        ("conflict", !assignment.conflict.is_empty(), assignment.role.is_none()),
    ];
    for (name, _, _) in members.into_iter().filter(|(_, has, may)| *has && !may) {
        violations.add(name, format!("is for no such assignment: the mode of the score set is {}", score_set.mode()));
    }
    for (number, score) in (1..).zip(&assignment.scores) {
        if let Some(criterion) = program.criteria.any(score.criterion)
            && let Err(message) = check_score(score_set, criterion, score.value)
        {
            violations.add(format!("scores.{number}"), message);
        }
    }
    if assignment.votes_of_period > assignment.votes {
        violations.add("votes_of_period", "must not be more than all votes");
    }
    violations
}

/// Whether a score set takes these points for a criterion.
pub fn check_score(score_set: &ScoreSet, criterion: &Criterion, value: Option<Points>) -> Result<(), String> {
    if criterion.score_set != score_set.slug {
        return Err(format!("{} is no criterion of the score set", criterion.slug));
    }
    let Criterion { minimum, maximum, step, .. } = criterion;
    match value {
        Some(value) if !(*minimum..=*maximum).contains(&value) => Err(format!("must be from {minimum} to {maximum}")),
        Some(value) if (value.ten_thousandths() - minimum.ten_thousandths()) % step.ten_thousandths() != 0 => {
            Err(format!("must be a whole number of steps of {step} above {minimum}"))
        }
        _ => Ok(()),
    }
}

/// Whether a score set takes a decision.
pub fn takes(rules: Rules, decision: Decision) -> bool {
    match rules {
        Rules::Qualifying(rules) => decision != Decision::Unsure || rules.unsure_allowed,
        _ => false,
    }
}
