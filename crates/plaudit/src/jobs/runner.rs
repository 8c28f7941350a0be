//! The work of the lease `jobs`: one job of an account, and then the lease is given back.

use std::sync::Arc;

use tracing::Instrument as _;

use super::rules::{self, Patience};
use super::store::{self, Begun};
use super::{JobError, Report, State, Work};
use crate::leases::store::{self as lease_store, Turn};
use crate::leases::{self, Held, LeaseName, NEVER};
use crate::services::App;
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::clock::Stopwatch;
use kernel::text::{Slug, Timestamp};

/// What a job has failed with that its starts did not survive, or that is the service's own affair.
const FAULT: &str = "The service has failed; the fault has been recorded.";

/// A part of a job's work, in a transaction of its account.
pub type StepWork<S> = for<'a> fn(&'a mut Tx, &'a S, &'a mut Step) -> BoxFuture<'a, Result<(), JobError>>;

/// A job that is done.
pub struct Run {
    /// The server.
    pub app: App,
    /// What the job is to do it with, as JSON.
    pub input: String,
    held: Held,
    step: Step,
}

/// What a step leaves behind.
#[derive(Clone, Debug)]
pub struct Step {
    /// The account.
    pub account: AccountId,
    /// The job.
    pub job: Slug,
    /// When the step is done.
    pub now: Timestamp,
    /// Where the next one goes on, in words of the job's own; empty at the beginning.
    pub checkpoint: String,
    /// What is told of the job.
    pub report: Report,
}

/// Who holds the jobs of an account.
#[derive(Clone, Debug)]
struct Holder {
    account: AccountId,
    owner: Arc<str>,
    /// The time of the database, and until when the lease is renewed.
    now: i64,
    until: i64,
    /// The time that is shown.
    at: Timestamp,
}

impl Holder {
    fn new(app: &App, held: &Held) -> Self {
        let (account, owner) = (held.account, Arc::clone(&held.owner));
        let (now, until, at) = (app.database_clock.now(), leases::until(app), app.clock.now());
        Self { account, owner, now, until, at }
    }

    async fn holds(&self, tx: &mut Tx) -> Result<bool, DbError> {
        Ok(lease_store::hold(tx, self.account, LeaseName::Jobs, &self.owner).await?.is_some())
    }

    async fn give_back(&self, tx: &mut Tx) -> Result<(), DbError> {
        let due = store::next_due(tx, self.account).await?.unwrap_or(NEVER);
        lease_store::give_back(tx, self.account, LeaseName::Jobs, due, self.now).await
    }
}

/// Does the job of an account whose turn it is.
pub async fn work(app: App, works: &'static [Work], held: Held) -> Result<(), DbError> {
    let account = held.account;
    let holder = Holder::new(&app, &held);
    let state = (holder, works);
    let begun = app.db.write(account, state, |tx, (holder, works)| Box::pin(begin(tx, holder, works))).await?;
    let Some(Begun { slug, kind, input, checkpoint, report, .. }) = begun else { return Ok(()) };
    let step = Step { account, job: slug, now: app.clock.now(), checkpoint, report };
    let mut run = Run { app, input, held, step };
    let patience = patience(works, &kind);
    let program = run.app.programs.get(account).await?;
    let span = tracing::error_span!("job", account = program.map(|program| tracing::field::display(program.account.slug)), job = %slug, kind);
    tracing::info!(parent: &span, "a job begins");
    let stopwatch = Stopwatch::start();
    let outcome = match works.iter().find(|work| work.kind == kind) {
        Some(work) => (work.run)(&mut run).instrument(span.clone()).await,
        None => {
            Err(JobError::Failed(format!("No version of the service that runs now knows jobs of the kind {kind}.")))
        }
    };
    let milliseconds = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (done, failed) = (run.step.report.progress.done, run.step.report.progress.failed);
    match &outcome {
        Ok(()) => tracing::info!(parent: &span, milliseconds, done, failed, "a job has ended"),
        Err(JobError::Stopped) => tracing::info!(parent: &span, milliseconds, "a job was stopped"),
        Err(error) => tracing::warn!(parent: &span, %error, milliseconds, "a job has failed"),
    }
    let ended = ((Holder::new(&run.app, &run.held), patience), slug, run.step.report, outcome);
    run.app.db.write(account, ended, |tx, ended| Box::pin(finish(tx, ended))).await
}

/// How long is tried what a kind of job does.
fn patience(works: &[Work], kind: &str) -> Patience {
    works.iter().find(|work| work.kind == kind).map_or(Patience::MINUTES, |work| work.patience)
}

/// Begins the next job of an account; where there is none to begin, gives the lease back.
async fn begin(tx: &mut Tx, holder: &Holder, works: &[Work]) -> Result<Option<Begun>, DbError> {
    let account = holder.account;
    if !holder.holds(tx).await? {
        return Ok(None);
    }
    if let Some(mut begun) = store::next(tx, account, holder.now).await? {
        if begun.starts < patience(works, &begun.kind).most_starts {
            store::begin(tx, account, begun.slug, (begun.starts + 1, holder.at)).await?;
            return Ok(Some(begun));
        }
        begun.report.error("", FAULT);
        store::tell(tx, account, begun.slug, &begun.report).await?;
        store::end(tx, account, begun.slug, (State::Failed, holder.at)).await?;
    }
    holder.give_back(tx).await?;
    Ok(None)
}

/// Writes down how a run ended, and gives the lease back.
async fn finish(
    tx: &mut Tx,
    ((holder, patience), slug, report, outcome): &((Holder, Patience), Slug, Report, Result<(), JobError>),
) -> Result<(), DbError> {
    let account = holder.account;
    if !holder.holds(tx).await? {
        return Ok(());
    }
    if store::state_for_update(tx, account, *slug).await? == Some(State::Running) {
        match outcome {
            Ok(()) => store::end(tx, account, *slug, (State::Done, holder.at)).await?,
            // It is left running, for whoever takes the lease next.
            Err(JobError::Stopped) => {}
            Err(error) => {
                let starts = store::starts(tx, account, *slug).await?;
                if starts < patience.most_starts {
                    store::wait(tx, account, *slug, holder.now + rules::pause(starts, *patience)).await?;
                } else {
                    let mut report = report.clone();
                    report.error("", if let JobError::Failed(message) = error { message } else { FAULT });
                    store::tell(tx, account, *slug, &report).await?;
                    store::end(tx, account, *slug, (State::Failed, holder.at)).await?;
                }
            }
        }
    }
    holder.give_back(tx).await
}

impl Run {
    /// The account.
    pub fn account(&self) -> AccountId {
        self.step.account
    }

    /// The job, which names what it does outside of the database.
    pub fn job(&self) -> Slug {
        self.step.job
    }

    /// Where the job goes on: what its last step left, empty at the beginning.
    pub fn checkpoint(&self) -> &str {
        &self.step.checkpoint
    }

    /// Does a part of the work in one transaction, together with the checkpoint and the report that it leaves. It fails where
    /// the job was cancelled or is done elsewhere, and where the node ends.
    pub async fn step<S>(&mut self, state: S, work: StepWork<S>) -> Result<(), JobError>
    where
        S: Send + Sync + 'static,
    {
        if self.held.ends() {
            return Err(JobError::Stopped);
        }
        let holder = Holder::new(&self.app, &self.held);
        let step = Step { now: holder.at, ..self.step.clone() };
        let part = Part { holder, step, state, work };
        self.step = self.app.db.write(self.step.account, part, |tx, part| Box::pin(part.run(tx))).await?;
        Ok(())
    }
}

/// A step that is to be done.
struct Part<S> {
    holder: Holder,
    step: Step,
    state: S,
    work: StepWork<S>,
}

impl<S: Send + Sync> Part<S> {
    async fn run(&self, tx: &mut Tx) -> Result<Step, JobError> {
        let (&Holder { account, until, .. }, job) = (&self.holder, self.step.job);
        // Requests lock the account's head before they touch leases and jobs: so does this.
        tx.head(account).await?;
        if !self.holder.holds(tx).await? || store::state_for_update(tx, account, job).await? != Some(State::Running) {
            return Err(JobError::Stopped);
        }
        let mut step = self.step.clone();
        (self.work)(tx, &self.state, &mut step).await?;
        store::step(tx, account, job, (&step.checkpoint, &step.report)).await?;
        // It is due as soon as its node is gone.
        let turn = Turn { position: NEVER, due: 0, state: "{}".to_owned(), until };
        lease_store::end_turn(tx, account, LeaseName::Jobs, turn).await?;
        Ok(step)
    }
}
