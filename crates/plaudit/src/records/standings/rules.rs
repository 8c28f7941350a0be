//! Which sheets count, and what those of an entry come to, exactly.
//!
//! | sheet | counts |
//! |---|---|
//! | complete | yes |
//! | in progress | where the score set takes partial sheets (`renormalise`), by what is scored |
//! | none, abstained | no |
//! | its judge has a conflict of interest | where the score set says so |
//! | stray, recused, in the trash | no |
//!
//! Nothing that is missing counts as nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::program::score_sets::{Conflicts, Rules, ScoreSet, Sheets};
use crate::records::assignments::fraction::Fraction;
use crate::records::assignments::rules::{criteria, points, value};
use crate::records::assignments::{Assignment, Decision, Status};
use kernel::text::Slug;

/// What a sheet that counts adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Points: those of the sheet, and those of each criterion that has some, in ten-thousandths.
    Points(Fraction, Vec<(Slug, i64)>),
    /// A decision.
    Decision(Decision),
    /// A place.
    Preference(i64),
    /// Votes.
    Votes(i64),
}

/// What the points of a criterion come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionTotal {
    /// Their sum, in ten-thousandths of a point.
    pub sum: i64,
    /// How many sheets have some.
    pub count: i64,
}

/// What the sheets of an entry come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Assignments outside the trash.
    pub links: i64,
    /// Sheets that count.
    pub sheets: i64,
    /// The sum of their points.
    pub sum: Fraction,
    /// Their points one by one in order, where the score set drops some at each end.
    pub values: Vec<Fraction>,
    /// By criterion.
    pub criteria: BTreeMap<Slug, CriterionTotal>,
    /// How many let the entry pass.
    pub passes: i64,
    /// How many do not.
    pub fails: i64,
    /// How many cannot tell.
    pub unsure: i64,
    /// How often the entry has each place.
    pub preferences: BTreeMap<i64, i64>,
    /// Votes.
    pub votes: i64,
}

/// What a sheet adds; nothing where it does not count.
pub fn counted(assignment: &Assignment, program: &Program) -> Option<Counted> {
    let score_set = program.score_sets.any(assignment.score_set)?;
    let is_counted = match assignment.status {
        Status::Complete => true,
        Status::InProgress => {
            matches!(score_set.rules, Rules::VipJudging(rules) if rules.sheets == Sheets::Renormalise)
        }
        Status::None | Status::Abstained => false,
    };
    let is_free = !assignment.is_conflicted || score_set.conflicts == Conflicts::Counted;
    if !is_counted || !is_free || !assignment.is_linked() {
        return None;
    }
    match score_set.rules {
        Rules::VipJudging(rules) => {
            let criteria = criteria(program, score_set.slug);
            let value = value(&assignment.scores, rules.aggregation, &criteria)?;
            let of = |slug| points(&assignment.scores, slug).map(|points| (slug, points.ten_thousandths()));
            Some(Counted::Points(value, criteria.iter().filter_map(|criterion| of(criterion.slug)).collect()))
        }
        Rules::Qualifying(_) => assignment.decision.map(Counted::Decision),
        Rules::TopPick(_) => assignment.preference.map(Counted::Preference),
        Rules::Voting(_) => Some(Counted::Votes(assignment.votes)),
        Rules::Gallery => None,
    }
}

impl Totals {
    /// The totals after an assignment outside the trash was added (`sign` 1) or taken away (-1) with what its sheet
    /// adds. Nothing where a number is too large.
    pub fn changed(mut self, added: Option<&Counted>, sign: i64, score_set: &ScoreSet) -> Option<Self> {
        self.links = self.links.checked_add(sign)?;
        let Some(added) = added else { return Some(self) };
        self.sheets = self.sheets.checked_add(sign)?;
        match added {
            Counted::Points(value, criteria) => {
                self.sum = if sign > 0 { self.sum.checked_add(*value)? } else { self.sum.checked_sub(*value)? };
                if is_trimmed(score_set) {
                    change_values(&mut self.values, *value, sign);
                }
                for (criterion, points) in criteria {
                    let total = self.criteria.entry(*criterion).or_default();
                    total.sum = total.sum.checked_add(points.checked_mul(sign)?)?;
                    total.count += sign;
                }
                self.criteria.retain(|_, total| total.count != 0);
            }
            Counted::Decision(decision) => match decision {
                Decision::Pass => self.passes += sign,
                Decision::Fail => self.fails += sign,
                Decision::Unsure => self.unsure += sign,
            },
            Counted::Preference(preference) => {
                *self.preferences.entry(*preference).or_default() += sign;
                self.preferences.retain(|_, count| *count != 0);
            }
            Counted::Votes(votes) => self.votes = self.votes.checked_add(votes.checked_mul(sign)?)?,
        }
        Some(self)
    }

    /// The score: the mean of the sheets in points, the share that lets pass, or the votes. Nothing where it is
    /// undecided, and where entries have places only among others.
    pub fn score(&self, score_set: &ScoreSet) -> Option<Fraction> {
        match score_set.rules {
            Rules::VipJudging(rules) => {
                let values = self.kept(score_set);
                let kept = values.map_or(self.sheets, |values| i64::try_from(values.len()).unwrap_or(i64::MAX));
                let sum = match values {
                    Some(values) => values.iter().try_fold(Fraction::ZERO, |sum, value| sum.checked_add(*value))?,
                    None => self.sum,
                };
                if kept < rules.min_kept { None } else { sum.checked_div(Fraction::whole(kept)) }
            }
            Rules::Qualifying(rules) => {
                let decided = self.passes + self.fails;
                let share = Fraction::new(self.passes.into(), decided.into());
                share.filter(|_| decided >= rules.responses_needed)
            }
            Rules::Voting(_) => Some(Fraction::whole(self.votes)),
            Rules::TopPick(_) | Rules::Gallery => None,
        }
    }

    /// The points that are left when the share of the score set is dropped at each end: the part of a sheet stays.
    fn kept(&self, score_set: &ScoreSet) -> Option<&[Fraction]> {
        let Rules::VipJudging(rules) = score_set.rules else { return None };
        if !is_trimmed(score_set) {
            return None;
        }
        // A rate has four decimals, of per cent.
        let dropped = self.values.len() * usize::try_from(rules.trim.ten_thousandths()).unwrap_or(0) / 1_000_000;
        self.values.get(dropped..self.values.len().saturating_sub(dropped))
    }

    /// As a leaderboard sorts by it: empty where it is undecided, or where too few judges gave it.
    pub fn sort_key(&self, score_set: &ScoreSet) -> String {
        let score = self.score(score_set).filter(|_| self.sheets >= score_set.min_judges);
        score.and_then(Fraction::ordered).unwrap_or_default()
    }
}

fn is_trimmed(score_set: &ScoreSet) -> bool {
    matches!(score_set.rules, Rules::VipJudging(rules) if rules.trim.ten_thousandths() > 0)
}

fn change_values(values: &mut Vec<Fraction>, value: Fraction, sign: i64) {
    match (values.binary_search(&value), sign > 0) {
        (Ok(at) | Err(at), true) => values.insert(at, value),
        (Ok(at), false) => drop(values.remove(at)),
        (Err(_), false) => {}
    }
}

/// The totals of the assignments of an entry, computed from all of them; nothing where a number is too large.
pub fn totals<'a>(
    assignments: impl IntoIterator<Item = &'a Assignment>,
    program: &Program,
    score_set: &ScoreSet,
) -> Option<Totals> {
    assignments.into_iter().try_fold(Totals::default(), |totals, assignment| {
        totals.changed(counted(assignment, program).as_ref(), 1, score_set)
    })
}

#[cfg(test)]
mod tests;
