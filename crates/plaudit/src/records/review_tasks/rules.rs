//! Pure rules of review tasks: which stages are for an entry, which of them begin, and where its review stands.
//!
//! Tasks are those of one entry that are not in the trash, in the order in which they were made.

use crate::program::Program;
use crate::program::review_stages::{Decision, ReviewStage, Start, Timing};
use crate::records::review_tasks::ReviewTask;
use kernel::input::{Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, Timestamp};

/// The review status of an entry that is under review.
pub(crate) const PENDING: &str = "pending";

/// Where an entry is, as far as stages ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPlace {
    pub(crate) season: Slug,
    pub(crate) form: Slug,
    pub(crate) category: Slug,
    pub(crate) chapter: Slug,
}

/// What a body names: the stage and the entry.
pub(crate) fn read_create(body: &JsonObject) -> (Option<Slug>, Option<Slug>, Violations) {
    let mut members = Members::closed(body);
    let stage = members.required("review_stage", kernel::input::slug);
    let entry = members.required("entry", kernel::input::slug);
    (stage, entry, members.finish())
}

/// The decision that a body states, and what is said of it.
pub(crate) fn read_decision(body: &JsonObject) -> Result<(Decision, String), Violations> {
    let mut members = Members::closed(body);
    let decision = members.required("decision", kernel::input::one_of(Decision::CHOICES));
    let comment = members.nullable("comment", kernel::input::text(super::COMMENT_LENGTH)).flatten();
    members.finish().or(decision.map(|decision| (decision, comment.unwrap_or_default())))
}

/// Why a stage is not for an entry: everything that applies.
pub(crate) fn mismatches(stage: &ReviewStage, place: EntryPlace) -> Violations {
    let mut violations = Violations::default();
    let names = |named: &[Slug], slug| named.is_empty() || named.contains(&slug);
    for (is_right, what) in [
        (stage.season == place.season, "season"),
        (stage.form == place.form, "form"),
        (names(&stage.categories, place.category), "category"),
        (names(&stage.chapters, place.chapter), "chapter"),
    ] {
        if !is_right {
            violations.add("review_stage", format!("is not for the {what} of the entry"));
        }
    }
    violations
}

/// The stages of a timing that are for an entry.
fn stages(program: &Program, place: EntryPlace, timing: Timing) -> impl Iterator<Item = &ReviewStage> {
    let is_asked = move |stage: &&ReviewStage| stage.timing == timing && mismatches(stage, place).is_empty();
    program.review_stages.all_live().filter(is_asked)
}

/// Whether any stage has to agree to an entry before it is submitted.
pub(crate) fn has_stages(program: &Program, place: EntryPlace, timing: Timing) -> bool {
    stages(program, place, timing).next().is_some()
}

/// The task of a stage that counts: the last one that waits or was decided since a time.
fn current(tasks: &[ReviewTask], stage: Slug, since: Option<Timestamp>) -> Option<&ReviewTask> {
    let counts = |task: &&ReviewTask| task.action_at.is_none_or(|at| since.is_none_or(|since| at >= since));
    tasks.iter().filter(|task| task.review_stage == stage).rfind(counts)
}

/// The task of a stage that waits for its decision.
pub(crate) fn open_of(tasks: &[ReviewTask], stage: Slug) -> Option<&ReviewTask> {
    tasks.iter().find(|task| task.review_stage == stage && task.decision.is_none())
}

/// A stage that has to agree before the submission and has not.
pub(crate) fn missing<'p>(program: &'p Program, place: EntryPlace, tasks: &[ReviewTask]) -> Option<&'p ReviewStage> {
    let agrees = |stage: &ReviewStage| {
        current(tasks, stage.slug, None).is_some_and(|task| task.decision == Some(Decision::Proceed))
    };
    stages(program, place, Timing::BeforeSubmission).find(|stage| !agrees(stage))
}

/// The stages that begin when an entry has been handed in.
pub(crate) fn first<'p>(program: &'p Program, place: EntryPlace, tasks: &[ReviewTask]) -> Vec<&'p ReviewStage> {
    let order = stages(program, place, Timing::AfterSubmission).map(|stage| stage.order).min();
    let begins = |stage: &&ReviewStage| {
        Some(stage.order) == order && stage.start == Start::Automatic && open_of(tasks, stage.slug).is_none()
    };
    stages(program, place, Timing::AfterSubmission).filter(begins).collect()
}

/// The stages that begin when this one has ended with `proceed`. `submitted` is when the entry was handed in last: after the
/// submission what was decided before that does not count.
pub(crate) fn next<'p>(
    program: &'p Program,
    place: EntryPlace,
    ended: &ReviewStage,
    tasks: &[ReviewTask],
    submitted: Option<Timestamp>,
) -> Vec<&'p ReviewStage> {
    let since = submitted.filter(|_| ended.timing == Timing::AfterSubmission);
    let decision = |stage: &ReviewStage| current(tasks, stage.slug, since).map(|task| task.decision);
    let all = || stages(program, place, ended.timing);
    let is_over =
        all().filter(|stage| stage.order == ended.order).all(|s| decision(s) == Some(Some(Decision::Proceed)));
    if !is_over || !mismatches(ended, place).is_empty() {
        return Vec::new();
    }
    let order = all().map(|stage| stage.order).filter(|order| *order > ended.order).min();
    let begins = |stage: &&ReviewStage| {
        let is_new = matches!(decision(stage), None | Some(Some(Decision::Stop)));
        Some(stage.order) == order && stage.start == Start::Automatic && is_new
    };
    all().filter(begins).collect()
}

/// Where the review of an entry stands: pending while a task waits, else what was decided last; empty without a task.
pub(crate) fn review_status(tasks: &[ReviewTask]) -> &'static str {
    if tasks.iter().any(|task| task.decision.is_none()) {
        return PENDING;
    }
    let last = tasks.iter().max_by_key(|task| (task.action_at, &task.token));
    last.and_then(|task| task.decision).map_or("", Decision::name)
}

/// The comments of an entry with one more, as `Author (time): text` (contract, section 6).
pub(crate) fn commented(comments: &str, author: &str, at: Timestamp, comment: &str) -> String {
    let separator = if comments.is_empty() { "" } else { "\n" };
    format!("{comments}{separator}{author} ({at}): {comment}")
}

#[cfg(test)]
mod tests;
