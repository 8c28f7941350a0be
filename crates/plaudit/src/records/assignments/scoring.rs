//! Pure rules of what a judge gives: what a body makes of a sheet, and what keeps it from being changed.
//!
//! - Points: a criterion that is left out keeps its points, null takes them away. A comment that is null or empty goes.
//! - A preference is one that the judge has given to no other entry of the score set.
//! - Votes are those of the current period; those of earlier periods stay. They are within what a voter has for the
//!   score set, for an entry and for the entries of a category.
//! - A sheet is changed while a judging round of the assignment is open; with no round of its own, any judging round of the form
//!   that is for the chapter of the entry.

use super::{Assignment, AssignmentSlug, Comment, Decision, Score, Status, rules};
use crate::program::Program;
use crate::program::criteria::Criterion;
use crate::program::rounds::RoundType;
use crate::program::score_sets::{Mode, Reset, Rules, ScoreSet, Voting};
use crate::records::assignments::COMMENT_LENGTH;
use kernel::input::{self, Members, Violations};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Date, LocalTime, Points, Slug, Timestamp};

/// What a sheet is changed with.
pub struct ScoringContext<'d> {
    /// The program.
    pub program: &'d Program,
    /// The score set.
    pub score_set: &'d ScoreSet,
    /// The time.
    pub now: Timestamp,
    /// Gives slugs of comments.
    pub slug: &'d (dyn Fn() -> Slug + Sync),
    /// The complete sheets of the judge in the score set, each with the category of its entry; of preferences and votes alone.
    pub others: &'d [(Assignment, Slug)],
    /// The category of the entry.
    pub category: Slug,
}

/// Why a sheet cannot be changed at all; nothing where it can.
pub fn check_sheet(assignment: &Assignment, score_set: Option<&ScoreSet>) -> Result<(), String> {
    let refused = match score_set {
        None => "The score set is gone.",
        Some(_) if assignment.role.is_some() => "An assignment of a role has no sheet.",
        Some(set) if set.mode() == Mode::Gallery => "A gallery is not judged.",
        Some(_) => return Ok(()),
    };
    Err(refused.to_owned())
}

/// Why a sheet cannot be changed any more; nothing where it can.
pub fn check_link(assignment: &Assignment) -> Result<(), String> {
    if assignment.is_linked() { Ok(()) } else { Err("The judge is not assigned to the entry any more.".to_owned()) }
}

/// Why nothing can be given now; nothing where it can.
pub fn check_scoring(
    assignment: &Assignment,
    score_set: &ScoreSet,
    chapter: Slug,
    program: &Program,
    now: Timestamp,
) -> Result<(), String> {
    let refused = if assignment.is_conflicted {
        "The judge has a conflict of interest with the entry."
    } else if assignment.abstention.is_some() {
        "The judge has abstained; the sheet has to be reopened before it is changed."
    } else if score_set.archived {
        "The score set is archived."
    } else if !is_open(assignment, score_set, chapter, program, now) {
        "No judging round of the assignment is open."
    } else {
        return Ok(());
    };
    Err(refused.to_owned())
}

/// Whether a judging round of an assignment is open.
fn is_open(assignment: &Assignment, score_set: &ScoreSet, chapter: Slug, program: &Program, now: Timestamp) -> bool {
    let zone = program.account.zone();
    program.rounds.all_live().any(|round| {
        let is_its = if assignment.rounds.is_empty() {
            round.form == score_set.form && round.season == score_set.season && round.is_for(chapter)
        } else {
            assignment.rounds.contains(&round.slug)
        };
        is_its && round.kind == RoundType::Judge && round.is_open(now, &zone)
    })
}

impl ScoringContext<'_> {
    /// The assignment after a body was given; all that is wrong with it otherwise. What changes nothing leaves it as it was.
    pub fn scored(&self, before: &Assignment, body: &JsonObject<'_>) -> Result<Assignment, Violations> {
        let mut members = Members::closed(body);
        let mut after = before.clone();
        match self.score_set.rules {
            Rules::VipJudging(_) => self.read_points(&mut members, &mut after),
            Rules::Qualifying(_) => self.read_decision(&mut members, &mut after),
            Rules::TopPick(rules) => self.read_preference(&mut members, rules.preferences, &mut after),
            Rules::Voting(rules) => self.read_votes(&mut members, rules, &mut after),
            Rules::Gallery => {}
        }
        if !matches!(self.score_set.rules, Rules::Voting(_) | Rules::Gallery)
            && let Some(text) = members.nullable("comment", input::text(COMMENT_LENGTH))
        {
            after.comment = self.comment(before.comment.as_ref(), text, before.judge);
        }
        members.finish().or(Some(()))?;
        if after != *before {
            after.updated = self.now;
            after.reopening = None;
        }
        after.status = rules::status(&after, self.program);
        Ok(after)
    }

    /// A comment after a text was given: nothing where that is empty, as it was where it is the same.
    pub fn comment(&self, before: Option<&Comment>, text: Option<String>, user: Option<Slug>) -> Option<Comment> {
        let comment = text.filter(|text| !text.is_empty())?;
        Some(match before {
            Some(before) if before.comment == comment => before.clone(),
            Some(before) => Comment { comment, updated_at: self.now, ..before.clone() },
            None => Comment { slug: (self.slug)(), comment, user, created_at: self.now, updated_at: self.now },
        })
    }

    fn read_points(&self, members: &mut Members<'_>, after: &mut Assignment) {
        let criteria = rules::criteria(self.program, self.score_set.slug);
        for (name, is_points) in [("criteria", true), ("comments", false)] {
            let given = match members.get(name) {
                None => continue,
                Some(Json::Object(given)) => given,
                Some(_) => {
                    members.fault(name, "must be an object");
                    continue;
                }
            };
            for (key, value) in given.iter() {
                let member = format!("{name}.{key}");
                let found = criteria.iter().find(|criterion| criterion.slug.as_str() == key);
                let Some(criterion) = found else {
                    members.fault(&member, format!("{key} is no criterion of the score set"));
                    continue;
                };
                let read = if is_points {
                    self.read_value(value, criterion).map(|value| score_of(after, criterion.slug).value = value)
                } else {
                    read_text(value).map(|text| {
                        let user = after.judge;
                        let score = score_of(after, criterion.slug);
                        score.comment = self.comment(score.comment.as_ref(), text, user);
                    })
                };
                if let Err(message) = read {
                    members.fault(&member, message);
                }
            }
        }
        after.scores.retain(|score| score.value.is_some() || score.comment.is_some());
    }

    fn read_value(&self, json: &Json<'_>, criterion: &Criterion) -> Result<Option<Points>, String> {
        let value = match json {
            Json::Null => return Ok(None),
            json => input::points(criterion.minimum..=criterion.maximum)(json)?,
        };
        rules::check_score(self.score_set, criterion, Some(value))?;
        Ok(Some(value))
    }

    fn read_decision(&self, members: &mut Members<'_>, after: &mut Assignment) {
        let Some(decision) = members.required("decision", input::one_of(Decision::CHOICES)) else { return };
        if rules::takes(self.score_set.rules, decision) {
            after.decision = Some(decision);
        } else {
            members.fault("decision", "must be pass or fail, because the score set takes no unsure");
        }
    }

    fn read_preference(&self, members: &mut Members<'_>, most: i64, after: &mut Assignment) {
        let read = members.required("preference", |json| match json {
            Json::Null => Ok(None),
            json => input::integer(1..=most)(json).map(Some),
        });
        let Some(preference) = read else { return };
        match entry_with_preference(self.others, after.slug, preference) {
            Some(other) => members.fault("preference", format!("is that of the entry {other} already")),
            None => after.preference = preference,
        }
    }

    fn read_votes(&self, members: &mut Members<'_>, rules: Voting, after: &mut Assignment) {
        let Some(votes) = members.required("votes", input::integer(0..=super::VOTES)) else { return };
        let period = period(rules.reset, self.now, self.program);
        for message in exceeded_quotas(self.others, self.category, rules, (after.slug, votes, period)) {
            members.fault("votes", message);
        }
        let earlier = after.votes - if after.period == period { after.votes_of_period } else { 0 };
        if votes != after.votes_of_period || after.period != period {
            after.votes = earlier.saturating_add(votes);
            after.votes_of_period = votes;
            after.period = period;
        }
    }
}

/// Whether a sheet that comes back can count among the other complete sheets of its judge in the score set, each with the category of
/// its entry: they may have been given the same preference, or the votes of the period.
pub fn check_returning(
    (program, score_set, now): (&Program, &ScoreSet, Timestamp),
    (sheet, category): (&Assignment, Slug),
    others: &[(Assignment, Slug)],
) -> Result<(), String> {
    let entry = sheet.entry;
    match score_set.rules {
        Rules::TopPick(_) => match entry_with_preference(others, sheet.slug, sheet.preference) {
            Some(other) => Err(format!(
                "The judge has given the preference of the entry {entry} in {} to {other} meanwhile; take it back there first.",
                score_set.slug
            )),
            None => Ok(()),
        },
        Rules::Voting(rules) if sheet.period == period(rules.reset, now, program) => {
            match exceeded_quotas(others, category, rules, (sheet.slug, sheet.votes_of_period, sheet.period)).first() {
                Some(message) => {
                    let set = score_set.slug;
                    Err(format!("With those of the entry {entry} the votes of the judge in {set} {message}."))
                }
                None => Ok(()),
            }
        }
        Rules::Voting(_) | Rules::VipJudging(_) | Rules::Qualifying(_) | Rules::Gallery => Ok(()),
    }
}

/// The entry of another sheet that has the preference.
fn entry_with_preference(others: &[(Assignment, Slug)], slug: AssignmentSlug, preference: Option<i64>) -> Option<Slug> {
    let has_it = |(other, _): &&(Assignment, Slug)| other.slug != slug && other.preference == preference;
    preference.and(others.iter().find(has_it)).map(|(other, _)| other.entry)
}

/// The quotas that votes of a sheet in a period would exceed.
fn exceeded_quotas(
    others: &[(Assignment, Slug)],
    category: Slug,
    rules: Voting,
    (slug, votes, period): (AssignmentSlug, i64, Option<Date>),
) -> Vec<String> {
    let (mut of_voter, mut of_category) = (votes, votes);
    for (other, of) in others.iter().filter(|(other, _)| other.slug != slug && other.period == period) {
        of_voter = of_voter.saturating_add(other.votes_of_period);
        if *of == category {
            of_category = of_category.saturating_add(other.votes_of_period);
        }
    }
    let quotas = [
        (votes, rules.votes_per_entry, "of a voter for an entry"),
        (of_voter, rules.votes_per_voter, "of a voter"),
        (of_category, rules.votes_per_category, "of a voter for the entries of a category"),
    ];
    let exceeded =
        quotas.into_iter().filter_map(|(given, most, of)| Some((given, most.filter(|most| given > *most)?, of)));
    exceeded
        .map(|(given, most, of)| format!("would be {given} {of}{}, and {most} is the most", until(rules.reset)))
        .collect()
}

fn read_text(json: &Json<'_>) -> Result<Option<String>, String> {
    if json.is_null() { Ok(None) } else { input::text(COMMENT_LENGTH)(json).map(Some) }
}

/// What the sheet says of a criterion, added where it says nothing.
fn score_of(assignment: &mut Assignment, criterion: Slug) -> &mut Score {
    let at = match assignment.scores.binary_search_by_key(&criterion, |score| score.criterion) {
        Ok(at) => at,
        Err(at) => {
            assignment.scores.insert(at, Score { criterion, value: None, comment: None });
            at
        }
    };
    &mut assignment.scores[at]
}

/// The first day of the period of votes at a time, by the clocks of the account; nothing where votes are never reset.
fn period(reset: Reset, now: Timestamp, program: &Program) -> Option<Date> {
    let today = LocalTime::of(now, &program.account.zone()).date();
    match reset {
        Reset::Never => None,
        Reset::Daily => Some(today),
        Reset::Weekly => Some(today.monday()),
    }
}

fn until(reset: Reset) -> &'static str {
    match reset {
        Reset::Never => "",
        Reset::Daily => " today",
        Reset::Weekly => " this week",
    }
}

/// Whether an assignment became complete.
pub fn is_completed(before: Status, after: Status) -> bool {
    before != Status::Complete && after == Status::Complete
}
