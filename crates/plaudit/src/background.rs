//! Every kind of work in the background, once.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::assigning::{linking, panels, planning, reassigning, reminders};
use crate::deliveries;
use crate::document_flow;
use crate::expiring_keys;
use crate::http::idempotency;
use crate::jobs;
use crate::leases::{self, Held, LeaseName, NEVER, store};
use crate::log::forms::FORMS;
use crate::records::{files, rewriting};
use crate::review_flow::follow_up;
use crate::services::App;
use crate::services::rate_limit::shared::SharedWindows;
use crate::transfer::remove_abandoned;
use db::{AccountId, BoxFuture, Db, DbError, Tx};
use kernel::text::Timestamp;

/// How long it is from one upkeep to the next, in microseconds.
const UPKEEP: i64 = 600_000_000;

/// How many documents of an older form one upkeep rewrites before its other work is due again.
const REWRITE_BATCH: u64 = 8_192;

/// What nodes do in the background.
#[derive(Clone, Copy, Debug)]
pub struct Works {
    /// The kinds of jobs.
    pub jobs: &'static [jobs::Work],
}

impl Works {
    /// What a node of this version does.
    pub const ALL: Self = Self {
        jobs: &[deliveries::replay::WORK, jobs::mail::WORK, linking::WORK, reassigning::WORK, document_flow::WORK],
    };
}

impl leases::Works for Works {
    fn work(&self, app: App, held: Held) -> Option<leases::Work> {
        Some(match held.name {
            LeaseName::Webhook(slug) => Box::pin(deliveries::work(app, held, slug)),
            LeaseName::Jobs => Box::pin(jobs::work(app, self.jobs, held)),
            LeaseName::Panels => Box::pin(panels::work(app, held)),
            LeaseName::Reminders => Box::pin(reminders::work(app, held)),
            LeaseName::Upkeep => Box::pin(upkeep(app, held)),
        })
    }
}

/// To be called in each transaction that may have changed the set-up of an account, after that: leases follow it.
pub fn follow(tx: &mut Tx, account: AccountId) -> BoxFuture<'_, Result<(), DbError>> {
    Box::pin(async move {
        deliveries::reconcile(tx, account).await?;
        panels::follow(tx, account).await?;
        reminders::follow(tx, account).await
    })
}

/// Works in the background until `stop` is sent or dropped.
pub async fn run(app: App, works: Works, stop: oneshot::Receiver<()>) {
    if let Err(error) = begin_upkeep(&app).await {
        tracing::warn!(%error, "the upkeep of the installation waits for the next start");
    }
    leases::run(app, Arc::new(works), stop).await;
}

/// Has the installation's upkeep done soon.
pub async fn begin_upkeep(app: &App) -> Result<(), DbError> {
    app.db
        .write(AccountId::NONE, (), |tx, ()| {
            Box::pin(store::put(tx, AccountId::NONE, LeaseName::Upkeep, (NEVER, 0, "{}")))
        })
        .await
}

/// Does everything that is due in the background, until nothing is due any more; for tests, whose clock stands still.
pub async fn settle(app: &App, works: Works) -> Result<(), DbError> {
    leases::settle(app, &works).await
}

/// Notes for measurements what webhooks, deliveries and jobs are and wait for.
pub async fn measure(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    app.metrics.note(deliveries::store::usage(&app.db).await?.gauges(now));
    app.metrics.note(jobs::store::usage(&app.db, jobs::overdue(now)).await?.gauges());
    Ok(())
}

/// Forgets what is kept for a time: answers to idempotency keys, windows of the rate limit, deliveries, jobs, plans of
/// assignments, and what uploads left that nobody recorded. Looks after notices of expiring keys, and after
/// the reminders and deadlines of reviews.
async fn upkeep(app: App, held: Held) -> Result<(), DbError> {
    let now = app.clock.now();
    let before = |seconds: i64| Timestamp::from_seconds(now.as_seconds().saturating_sub(seconds));
    if let Err(error) = idempotency::store::forget(&app.db, before(app.settings.idempotency_seconds)).await {
        tracing::warn!(%error, "old answers to idempotency keys could not be forgotten");
    }
    if let Err(error) = SharedWindows::tidy_up(&app.db, app.database_clock.now()).await {
        tracing::warn!(%error, "ended windows of the rate limit could not be forgotten");
    }
    let kept_since = before(i64::from(app.settings.webhooks.keep_days) * 86_400);
    if let Err(error) = deliveries::store::forget(&app.db, kept_since).await {
        tracing::warn!(%error, "old deliveries could not be forgotten");
    }
    if let Err(error) = jobs::store::forget(&app.db, before(i64::from(app.settings.jobs_keep_days) * 86_400)).await {
        tracing::warn!(%error, "old jobs could not be forgotten");
    }
    if let Err(error) = planning::store::forget(&app.db, now).await {
        tracing::warn!(%error, "old plans of assignments could not be forgotten");
    }
    if let Err(error) = expiring_keys::notify(&app).await {
        tracing::warn!(%error, "notices of expiring keys wait for the next upkeep");
    }
    if let Err(error) = follow_up(&app).await {
        tracing::warn!(%error, "reminders and deadlines of reviews wait for the next upkeep");
    }
    match remove_abandoned(&app.db, now).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "abandoned imports were removed"),
        Err(error) => tracing::warn!(%error, "abandoned imports could not be removed"),
    }
    match files::sweep(&app.db, &app.storage, now).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed what uploads left that were not finished"),
        Err(error) => tracing::warn!(%error, "what uploads left could not be removed"),
    }
    let pause = if rewrite_documents(&app.db, &held).await { 0 } else { UPKEEP };
    let state = (held.account, held.name, held.owner, app.database_clock.now(), pause);
    app.db
        .write(held.account, state, |tx, (account, name, owner, now, pause)| {
            Box::pin(async move {
                if store::hold(tx, *account, *name, owner).await?.is_some() {
                    store::give_back(tx, *account, *name, now.saturating_add(*pause), *now).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Rewrites some documents that have an older form; returns whether there are more.
async fn rewrite_documents(db: &Db, held: &Held) -> bool {
    match rewriting::rewrite(db, (&FORMS, FORMS.written), |count| count < REWRITE_BATCH && !held.ends()).await {
        Ok(rewritten) => {
            if rewritten.documents > 0 {
                tracing::info!(documents = rewritten.documents, form = FORMS.written, "documents were rewritten");
            }
            if let Some(fault) = rewritten.first_fault {
                tracing::error!(faults = rewritten.faults, fault, "documents could not be rewritten");
            }
            rewritten.is_cut_off
        }
        Err(error) => {
            tracing::warn!(%error, "documents of an older form wait for the next upkeep");
            false
        }
    }
}
