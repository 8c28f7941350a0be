//! Review stages: who has to agree to an entry, outside of judging: a supervisor, a referee, a committee.
//!
//! - A review stage belongs to a season and a form of that season. Where it names categories or chapters it is for their
//!   entries only.
//! - `timing` says whether it is before or after the submission. An entry is submitted only when every stage before the
//!   submission that is for it has ended with `proceed`.
//! - The stages of a form and a timing are ordered by `order`. Those of the lowest order begin when an entry is handed in,
//!   the first or another time; before the submission nothing but a request begins them. Those of the next order begin when all
//!   those before them have ended with `proceed`. A stage whose `start` is `manual` waits in its place for a request.
//! - Its reviewers are the people that it names, those whose e-mail address an entry gives in one of `reviewer_fields`, which are
//!   fields of the type email and of the form, and those that `reviewer_kinds` tell: the entrant, and the managers of the
//!   entry's chapter.
//! - A reviewer decides to `proceed` or to `stop`. Before the submission, stopping an entry makes it
//!   `not_approved_for_submission`. After it, `on_proceed` and `on_stop` say what the decision does to the entry.
//! - A task that has waited `reminder_days` is brought to mind. One that has waited `deadline_days` ends as `on_deadline` says.
//! - Review stages are set up by program files; review tasks show them.

pub(crate) mod reviewers;
mod rules;

pub use reviewers::Reviewer;

use super::choice::choices;
use super::tabs::ORDER;
use super::{DESCRIPTION_LENGTH, NAME_LENGTH, Record};
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The most reviewers, and the most fields that name some.
pub const REVIEWERS: usize = 1_000;
/// The most categories, or chapters, that a stage names.
pub const PLACES: usize = 10_000;
/// The most days until a reminder, or until a task ends by itself.
pub const DAYS: i64 = 3_650;

choices! {
    /// When the tasks of a stage are made.
    pub enum Timing {
        /// Before an entry is submitted.
        BeforeSubmission "before_submission",
        /// When an entry has been submitted.
        AfterSubmission "after_submission",
    }
}

choices! {
    /// Who makes the tasks of a stage.
    pub enum Start {
        /// The service, when it is the stage's turn.
        Automatic "automatic",
        /// A request.
        Manual "manual",
    }
}

choices! {
    /// Who reviews an entry beside the people that are named.
    pub enum ReviewerKind {
        /// Whom the entry belongs to.
        Entrant "entrant",
        /// The managers of its chapter.
        Manager "manager",
    }
}

choices! {
    /// What is decided on an entry.
    pub enum Decision {
        /// It may go on.
        Proceed "proceed",
        /// It may not.
        Stop "stop",
    }
}

choices! {
    /// What an entry becomes when it may proceed.
    pub enum OnProceed {
        /// Nothing.
        Nothing "none",
        /// Its moderation status is approved.
        Approved "approved",
    }
}

choices! {
    /// What an entry becomes when it is stopped.
    pub enum OnStop {
        /// Nothing.
        Nothing "none",
        /// Its moderation status is rejected.
        Rejected "rejected",
        /// It has to be submitted again.
        ResubmissionRequired "resubmission_required",
    }
}

/// A review stage.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link()), check = check_stage(reviewer_fields, reviewer_kinds, timing, on_proceed, on_stop))]
pub struct ReviewStage {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// The form of its entries.
    #[member(Ref(Kind::Form), required, identifying)]
    pub form: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What reviewers are told.
    #[member(Translated(DESCRIPTION_LENGTH))]
    pub instructions: Translated,
    /// Its place among the stages of the form.
    #[member(Integer(0, ORDER))]
    pub order: i64,
    /// When its tasks are made.
    #[member(required)]
    pub timing: Timing,
    /// Whether its tasks are made by the service or by a request; automatic where it is left out.
    #[member(default = Start::Automatic)]
    pub start: Start,
    /// Who reviews every entry; at least these, `reviewer_fields` or `reviewer_kinds` are needed.
    #[member(List(&reviewers::REVIEWER, REVIEWERS), with = reviewers, default = Vec::new())]
    pub reviewers: Vec<Reviewer>,
    /// The fields of the type email in which an entry says who reviews it.
    #[member(Set(&Shape::Ref(Kind::Field), REVIEWERS))]
    pub reviewer_fields: Vec<Slug>,
    /// Who else reviews an entry: its entrant, the managers of its chapter.
    #[member(Set(&ReviewerKind::SHAPE, ReviewerKind::CHOICES.len()))]
    pub reviewer_kinds: Vec<ReviewerKind>,
    /// The categories of the entries that it is for; none means every one.
    #[member(Set(&Shape::Ref(Kind::Category), PLACES))]
    pub categories: Vec<Slug>,
    /// The chapters of the entries that it is for; none means every one.
    #[member(Set(&Shape::Ref(Kind::Chapter), PLACES))]
    pub chapters: Vec<Slug>,
    /// What an entry becomes that may proceed; only after the submission.
    #[member(default = OnProceed::Nothing)]
    pub on_proceed: OnProceed,
    /// What an entry becomes that is stopped; only after the submission.
    #[member(default = OnStop::Nothing)]
    pub on_stop: OnStop,
    /// What the decision to proceed is called; `Proceed` where it has no text.
    #[member(Translated(NAME_LENGTH))]
    pub proceed_label: Translated,
    /// What the decision to stop is called; `Stop` where it has no text.
    #[member(Translated(NAME_LENGTH))]
    pub stop_label: Translated,
    /// After how many days a task is brought to mind.
    #[member(Integer(1, DAYS))]
    pub reminder_days: Option<i64>,
    /// After how many days a task ends by itself, as `on_deadline` says.
    #[member(Integer(1, DAYS))]
    pub deadline_days: Option<i64>,
    /// What is decided on an entry whose task has waited `deadline_days`.
    pub on_deadline: Option<Decision>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// Somebody reviews, a decision does something only after the submission, and a deadline says what comes of it.
fn check_stage(
    members: &mut Members<'_>,
    reviewer_fields: Option<&Vec<Slug>>,
    reviewer_kinds: Option<&Vec<ReviewerKind>>,
    timing: Option<&Timing>,
    on_proceed: Option<&OnProceed>,
    on_stop: Option<&OnStop>,
) {
    let names_none = members.get("reviewers").is_none_or(|json| json.as_array().is_some_and(<[_]>::is_empty));
    if names_none && reviewer_fields.is_none_or(Vec::is_empty) && reviewer_kinds.is_none_or(Vec::is_empty) {
        members.fault("reviewers", "is required, unless reviewer_fields or reviewer_kinds are given");
    }
    for (member, does_something) in [
        ("on_proceed", on_proceed.is_some_and(|on_proceed| *on_proceed != OnProceed::Nothing)),
        ("on_stop", on_stop.is_some_and(|on_stop| *on_stop != OnStop::Nothing)),
    ] {
        if does_something && timing == Some(&Timing::BeforeSubmission) {
            members.fault(member, "must be none or left out where the timing is before_submission");
        }
    }
    let mut is_given = |member| members.get(member).is_some_and(|json| !json.is_null());
    if is_given("deadline_days") != is_given("on_deadline") {
        members.fault("on_deadline", "must be given with deadline_days, and with that alone");
    }
}
