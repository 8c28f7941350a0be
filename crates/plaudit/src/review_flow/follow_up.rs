//! What is due of review tasks that wait: reminders, and deadlines.
//!
//! - A reminder is a message to each reviewer of the task, once. It is a job of the account, in the transaction that notes that the
//!   task was brought to mind.
//! - At its deadline a task is decided as its stage says then, by the service itself.
//! - Where nothing can be decided, because the season is over or the stage is in the trash or has no deadline any more, both are
//!   dropped.

use std::sync::Arc;

use super::{Decided, Flow, check_decidable};
use crate::jobs;
use crate::log::{Action, Actor, Origin};
use crate::mail::notice::{ReviewReminder, reminder};
use crate::program::Program;
use crate::program::review_stages::ReviewStage;
use crate::records::entries::{self, Entry};
use crate::records::review_tasks::{ReviewTask, store};
use crate::records::{Refusal, people};
use crate::services::App;
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::text::Token;

/// Does everything that is due, account by account. A task that fails is left to the next time.
pub async fn follow_up(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    let mut last = (AccountId(i64::MIN), String::new());
    loop {
        let due = store::due(&app.db, now, (last.0, &last.1)).await?;
        let Some((account, token)) = due.last() else { return Ok(()) };
        last = (*account, token.to_string());
        for (account, token) in due {
            let Some(program) = app.programs.reload(account).await? else { continue };
            let is_here = program.account.region.as_ref().is_none_or(|region| *region == app.settings.region);
            if !is_here || !program.account.is_open() {
                continue;
            }
            let origin = Origin { actor: Actor::System, source: "system", at: now };
            let due = Due { app: app.clone(), program, token: token.clone(), origin };
            match app.db.write(account, due, |tx, due| due.run(tx)).await {
                Ok(()) => app.wakes.add(account),
                Err(error) => {
                    tracing::warn!(?error, account = account.0, %token, "a review task waits for the next upkeep");
                }
            }
        }
    }
}

/// A task for which something is due.
struct Due {
    app: App,
    program: Arc<Program>,
    token: Token,
    origin: Origin,
}

impl Due {
    fn run<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(async move {
            let account = self.program.id;
            let Some(head) = tx.head(account).await? else { return Ok(()) };
            let program = if head.version == self.program.version {
                Arc::clone(&self.program)
            } else {
                let fresh = self.app.programs.in_transaction(tx, account).await?;
                fresh.ok_or_else(|| Refusal::Failed("an account is gone".to_owned()))?
            };
            let found = people::find_for_update::<ReviewTask>(tx, account, &self.token, &program.context).await?;
            let Some(task) = found.map(|found| found.value).filter(|task| task.decision.is_none()) else {
                return Ok(());
            };
            let Some(stored) = entries::store::find_for_update(tx, account, task.entry).await? else { return Ok(()) };
            let flow = Flow { program: &program, origin: &self.origin, ids: &self.app.ids };
            let (head, now) = (stored.head()?, self.origin.at);
            let is_due = |time: Option<_>| time.is_some_and(|time| time <= now);
            let none = ReviewTask { remind_at: None, deadline_at: None, ..task.clone() };
            match check_decidable(&program, &task, &head) {
                Err(Refusal::State(_)) => flow.write(tx, (Action::Updated, &[]), none).await.map(drop)?,
                Err(refusal) => return Err(refusal),
                Ok(stage) if is_due(task.deadline_at) => match stage.on_deadline {
                    Some(decision) => {
                        let decided = Decided { decision, comment: String::new() };
                        flow.decide(tx, (task, stage), &stored, decided).await?;
                    }
                    None => flow.write(tx, (Action::Updated, &[]), none).await.map(drop)?,
                },
                Ok(stage) if is_due(task.remind_at) => self.remind(tx, &flow, (task, stage), &head).await?,
                Ok(_) => {}
            }
            Ok(program.intact()?)
        })
    }

    async fn remind(
        &self,
        tx: &mut Tx,
        flow: &Flow<'_>,
        (task, stage): (ReviewTask, &ReviewStage),
        entry: &Entry,
    ) -> Result<(), DbError> {
        let (account, locale) = (&flow.program.account, flow.program.account.default_language);
        let about = ReviewReminder {
            account_name: &account.name,
            stage: stage.name.in_locale(locale),
            instructions: stage.instructions.in_locale(locale),
            title: &entry.title,
            token: task.token.as_str(),
            deadline: task.deadline_at,
        };
        let to: Vec<String> = task.reviewer.iter().map(|reviewer| reviewer.email.clone()).collect();
        if !to.is_empty() {
            let message = reminder(&about, to).to_json();
            jobs::add(tx, flow.program.id, (jobs::mail::WORK.kind, message), flow.origin, flow.ids).await?;
        }
        flow.write(tx, (Action::Updated, &[]), ReviewTask { remind_at: None, ..task }).await.map(drop)
    }
}
