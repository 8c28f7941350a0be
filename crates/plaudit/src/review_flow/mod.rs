//! The flow of reviews: one transaction over review tasks, the entry that they are about, and the stages that come next.
//!
//! - Submitting an entry begins the first stages after the submission ([`Flow::begin_after_submission`]), a request any stage
//!   ([`Flow::ask`]). A stage that waits already is asked once more: its reviewers are looked up again.
//! - A decision is made once ([`check_decidable`]). It does to the entry what the stage says, begins the stages that come next
//!   while the entry is at that point of its way, and is an event of the task; what it changes of the entry are events of the entry.
//! - The review status of an entry is `pending` while a task waits, else what was decided last. It changes in the transaction
//!   that changes its tasks.
//! - Reminders and deadlines are looked after by the upkeep of the installation ([`follow_up()`]).

mod follow_up;
mod rules;

pub use follow_up::follow_up;

use std::collections::BTreeSet;

use crate::log::{Action, Event, Origin};
use crate::program::review_stages::{Decision, ReviewStage, Reviewer, ReviewerKind, Timing};
use crate::program::{NAME_LENGTH, Program, Record};
use crate::records::entries::rules::check_season;
use crate::records::entries::{self, COMMENTS_LENGTH, Entry};
use crate::records::review_tasks::{ReviewTask, rules as tasks_rules, store};
use crate::records::{Refusal, people, users};
use db::{DbError, Tx};
use kernel::ids::Ids;
use kernel::input;
use kernel::text::{Slug, Timestamp};

/// What changes of reviews are made with.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'f> {
    /// The account's program, fresh within the transaction.
    pub program: &'f Program,
    /// Who acts, and when.
    pub origin: &'f Origin,
    /// Where tokens come from.
    pub ids: &'f Ids,
}

/// A decision on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What was decided.
    pub decision: Decision,
    /// What was said of it; empty for nothing.
    pub comment: String,
}

/// The stage of a task on which can be decided now; otherwise why not.
pub fn check_decidable<'p>(program: &'p Program, task: &ReviewTask, entry: &Entry) -> Result<&'p ReviewStage, Refusal> {
    if let Some(decision) = task.decision {
        return Err(Refusal::State(format!("The review task was decided already: {decision}.")));
    }
    check_season(program, entry.season)?;
    let gone = || Refusal::State("The review stage is in the trash, so that nothing can be decided.".to_owned());
    program.review_stages.live(task.review_stage).ok_or_else(gone)
}

impl Flow<'_> {
    /// Begins the first stages after the submission of an entry that is about to be written as submitted.
    pub async fn begin_after_submission(&self, tx: &mut Tx, entry: &mut Entry) -> Result<(), DbError> {
        let Self { program, .. } = self;
        if !tasks_rules::has_stages(program, entry.place(), Timing::AfterSubmission) {
            return Ok(());
        }
        let mut tasks = store::of_entry(tx, program.id, entry.slug, &program.context).await?;
        for stage in tasks_rules::first(program, entry.place(), &tasks) {
            tasks.push(self.make(tx, stage, entry).await?.value);
        }
        tasks_rules::review_status(&tasks).clone_into(&mut entry.review_status);
        Ok(())
    }

    /// Asks the reviewers of a stage about an entry, whose row is locked; gives the task that waits then.
    pub async fn ask(
        &self,
        tx: &mut Tx,
        stage: &ReviewStage,
        stored: &entries::store::Stored,
    ) -> Result<Record<ReviewTask>, Refusal> {
        let (program, entry) = (self.program, stored.entry()?);
        let mut tasks = store::of_entry(tx, program.id, entry.slug, &program.context).await?;
        if let Some(open) = tasks_rules::open_of(&tasks, stage.slug) {
            let found = people::find_for_update::<ReviewTask>(tx, program.id, &open.token, &program.context).await?;
            let found = found.ok_or_else(|| Refusal::Failed(format!("there is no review task {}", open.token)))?;
            let reviewer = self.reviewers(tx, stage, &entry).await?;
            if reviewer == found.value.reviewer {
                return Ok(found);
            }
            let value = ReviewTask { reviewer, updated: self.origin.at, ..found.value };
            return Ok(self.write(tx, (Action::Updated, &[]), value).await?);
        }
        let made = self.make(tx, stage, &entry).await?;
        tasks.push(made.value.clone());
        self.write_entry(tx, stored, (&entry, entry.clone()), &tasks).await?;
        Ok(made)
    }

    /// Writes a decision on a task of a stage, and what comes of it.
    pub async fn decide(
        &self,
        tx: &mut Tx,
        (task, stage): (ReviewTask, &ReviewStage),
        stored: &entries::store::Stored,
        decided: Decided,
    ) -> Result<Record<ReviewTask>, Refusal> {
        let (program, at) = (self.program, self.origin.at);
        let before = stored.entry()?;
        let mut tasks = store::of_entry(tx, program.id, before.slug, &program.context).await?;
        let Decided { decision, comment } = decided;
        let task = ReviewTask {
            action_at: Some(at),
            decision: Some(decision),
            updated: at,
            comment,
            remind_at: None,
            deadline_at: None,
            ..task
        };
        let events = &[Event::ReviewTaskSubmitted];
        let written = self.write(tx, (Action::Updated, events), task.clone()).await?;
        let mut entry = before.clone();
        rules::apply(stage, decision, &mut entry);
        add_comment(program, stage, &task, &mut entry);
        if let Some(place) = tasks.iter().position(|other| other.token == task.token) {
            tasks[place] = task;
        }
        if decision == Decision::Proceed && rules::is_time_of(stage.timing, entry.status) {
            for next in tasks_rules::next(program, entry.place(), stage, &tasks, entry.submitted) {
                tasks.push(self.make(tx, next, &entry).await?.value);
            }
        }
        self.write_entry(tx, stored, (&before, entry), &tasks).await?;
        Ok(written)
    }

    /// Puts a task into the trash, which does not count any more then.
    pub async fn trash(&self, tx: &mut Tx, task: ReviewTask, stored: &entries::store::Stored) -> Result<(), Refusal> {
        let (program, head) = (self.program, stored.head()?);
        let mut tasks = store::of_entry(tx, program.id, head.slug, &program.context).await?;
        tasks.retain(|other| other.token != task.token);
        let value = ReviewTask { remind_at: None, deadline_at: None, ..task };
        self.write(tx, (Action::Trashed, &[]), value).await?;
        self.write_entry(tx, stored, (&head, head.clone()), &tasks).await
    }

    /// Makes a task of a stage.
    async fn make(&self, tx: &mut Tx, stage: &ReviewStage, entry: &Entry) -> Result<Record<ReviewTask>, DbError> {
        let at = self.origin.at;
        let after =
            |days: Option<i64>| days.map(|days| Timestamp::from_microseconds(at.as_microseconds() + days * DAY));
        let task = ReviewTask {
            token: store::free_token(tx, self.program.id, self.ids).await?,
            action_at: None,
            created: at,
            decision: None,
            entry: entry.slug,
            review_stage: stage.slug,
            reviewer: self.reviewers(tx, stage, entry).await?,
            updated: at,
            comment: String::new(),
            remind_at: after(stage.reminder_days),
            deadline_at: after(stage.deadline_days),
        };
        self.write(tx, (Action::Created, &[Event::ReviewTaskCreated]), task).await
    }

    async fn write(
        &self,
        tx: &mut Tx,
        done: (Action, &[Event]),
        value: ReviewTask,
    ) -> Result<Record<ReviewTask>, DbError> {
        let deleted = done.0 == Action::Trashed;
        let revision = people::change_causing(tx, self.program.id, self.origin, done, value.clone()).await?;
        Ok(Record { value, revision, deleted })
    }

    /// Writes what became of an entry whose tasks are these.
    async fn write_entry(
        &self,
        tx: &mut Tx,
        stored: &entries::store::Stored,
        (before, after): (&Entry, Entry),
        tasks: &[ReviewTask],
    ) -> Result<(), Refusal> {
        let after = Entry { review_status: tasks_rules::review_status(tasks).to_owned(), ..after };
        entries::store::write_head(tx, self.program, self.origin, (stored, before), after, stored.deleted).await?;
        Ok(())
    }

    /// Whom a stage asks about an entry, each once.
    async fn reviewers(&self, tx: &mut Tx, stage: &ReviewStage, entry: &Entry) -> Result<Vec<Reviewer>, DbError> {
        let program = self.program;
        let mut reviewers = stage.reviewers.clone();
        for field in stage.reviewer_fields.iter().filter(|field| program.fields.live(**field).is_some()) {
            let email = entry.entry_fields.get(*field).and_then(|answer| input::email(answer).ok());
            reviewers.extend(email.map(|email| Reviewer { name: String::new(), email }));
        }
        let of_kind = |kind: &ReviewerKind| match kind {
            ReviewerKind::Entrant => vec![entry.entrant],
            ReviewerKind::Manager => {
                program.chapters.any(entry.chapter).map_or_else(Vec::new, |chapter| chapter.managers.clone())
            }
        };
        let users: Vec<Slug> = stage.reviewer_kinds.iter().flat_map(of_kind).collect();
        for user in users::store::summaries(tx, program.id, &users).await? {
            let name = user.name().chars().take(NAME_LENGTH).collect();
            reviewers.extend(user.email.map(|email| Reviewer { name, email }));
        }
        let mut seen = BTreeSet::new();
        reviewers.retain(|reviewer| seen.insert(reviewer.email.to_lowercase()));
        Ok(reviewers)
    }
}

/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;

/// Adds what was said of a decision to the comments of an entry, where these have room for it. The author is the reviewer, or
/// the stage where it asks several.
fn add_comment(program: &Program, stage: &ReviewStage, task: &ReviewTask, entry: &mut Entry) {
    if task.comment.is_empty() {
        return;
    }
    let author = match &*task.reviewer {
        [one] if !one.name.is_empty() => &one.name,
        [one] => &one.email,
        _ => stage.name.in_locale(program.account.default_language),
    };
    let comments = tasks_rules::commented(&entry.comments, author, task.updated, &task.comment);
    if comments.chars().count() <= COMMENTS_LENGTH {
        entry.comments = comments;
    }
}
