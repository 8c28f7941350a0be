//! Deliveries that are made once more: of one change, or of a stretch of time by a job.

use serde::{Deserialize, Serialize};

use super::endpoint::Key;
use super::matching;
use super::store::{self, Delivery};
use crate::jobs::{JobError, Patience, Run, Step, Work};
use crate::leases::{LeaseName, store as lease_store};
use crate::log::Event;
use crate::log::feed::{self, Of};
use db::{AccountId, DbError, Source, Tx};
use kernel::text::Slug;

/// The job that delivers a stretch of time again.
pub const WORK: Work = Work { kind: "webhook_replay", patience: Patience::MINUTES, run: |run| Box::pin(replay(run)) };

/// The most bytes of documents that are read at once.
const STRETCH_BYTES: usize = 256 << 10;

/// How far the times of changes may be out of the order of their numbers, in microseconds: clocks of nodes differ, and are set.
const SLACK: i64 = 3_600_000_000;

/// What the job is told.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Input {
    /// The slug of the webhook.
    pub webhook: String,
    /// The time from which on changes are delivered again, in microseconds since 1970-01-01 UTC.
    pub after: i64,
    /// The time before which they are.
    pub before: i64,
    /// The events alone that are; every one that the webhook is told of where there are none.
    pub events: Vec<String>,
}

impl Input {
    /// As a job is told.
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

/// Has deliveries that are stored attempted anew.
pub async fn again(tx: &mut Tx, account: AccountId, webhook: Slug, keys: &[Key], now: i64) -> Result<(), DbError> {
    // Turns lock the lease before deliveries: so does this.
    lease_store::lock(tx, account, LeaseName::Webhook(webhook)).await?;
    for key in keys {
        store::begin_anew(tx, account, webhook, (*key, now)).await?;
    }
    lease_store::signal(tx, account, LeaseName::Webhook(webhook), now).await
}

async fn replay(run: &mut Run) -> Result<(), JobError> {
    let broken = |what: &str| JobError::Failed(format!("The {what} of the job cannot be read."));
    let input: Input = serde_json::from_str(&run.input).map_err(|_| broken("input"))?;
    let slug = Slug::parse(&input.webhook).ok_or_else(|| broken("webhook"))?;
    let account = run.account();
    let db = run.app.db.clone();
    let end = store::first_at(account, &db, input.before.saturating_add(SLACK)).await?;
    // What the endpoint has not read yet comes by itself.
    let Some(position) = lease_store::position(account, &db, LeaseName::Webhook(slug)).await? else {
        return tell_not_sent_to(run).await;
    };
    let to = position.min(end - 1);
    let mut from = match run.checkpoint() {
        "" => store::first_at(account, &db, input.after.saturating_sub(SLACK)).await? - 1,
        checkpoint => checkpoint.parse().map_err(|_| broken("checkpoint"))?,
    };
    while from < to {
        let program = run.app.programs.reload(account).await?;
        let found = program.and_then(|program| super::sent_to(&program, slug).map(|webhook| (program, webhook)));
        let Some((program, webhook)) = found else {
            return tell_not_sent_to(run).await;
        };
        let documents = webhook.form.is_some().then_some(STRETCH_BYTES);
        let (mut changes, reached) =
            feed::stretch(account, &mut Source::Db(&db), Of::All, (from, to), documents).await?;
        let now = run.app.database_clock.now();
        let mut wanted = Vec::new();
        changes.retain(|change| (input.after..input.before).contains(&change.at.as_microseconds()));
        let of_webhook = matching::wanted(account, &mut Source::Db(&db), (&program, &webhook), &changes).await?;
        for (change, events) in of_webhook {
            let is_asked =
                |event: Event| input.events.is_empty() || input.events.iter().any(|name| name == event.name());
            let asked = events.into_iter().filter(|(_, event)| is_asked(*event));
            wanted.extend(asked.map(|(place, event)| Delivery::new(change, (place, event), now)));
        }
        from = reached;
        run.step(Stretch { webhook: slug, wanted, reached, now }, |tx, stretch, step| Box::pin(stretch.put(tx, step)))
            .await?;
        if run.checkpoint() != from.to_string() {
            // It was disabled meanwhile.
            break;
        }
        run.app.wakes.add(account);
    }
    run.step((), |_, (), step| {
        step.report.progress.total = Some(step.report.progress.done);
        Box::pin(async { Ok(()) })
    })
    .await
}

/// Ends the job with why the rest is not delivered.
async fn tell_not_sent_to(run: &mut Run) -> Result<(), JobError> {
    run.step((), |_, (), step| {
        not_sent_to(step);
        Box::pin(async { Ok(()) })
    })
    .await
}

/// Tells once why the rest is not delivered.
fn not_sent_to(step: &mut Step) {
    step.report.failed("", "The webhook is disabled or in the trash.");
}

/// Deliveries of a stretch of the log.
struct Stretch {
    webhook: Slug,
    wanted: Vec<Delivery>,
    reached: i64,
    now: i64,
}

impl Stretch {
    async fn put(&self, tx: &mut Tx, step: &mut Step) -> Result<(), JobError> {
        // Where it is disabled meanwhile, nothing may be left pending.
        let name = LeaseName::Webhook(self.webhook);
        lease_store::lock(tx, step.account, name).await?;
        if !lease_store::exists(tx, step.account, name).await? {
            not_sent_to(step);
            return Ok(());
        }
        for delivery in &self.wanted {
            store::insert(tx, step.account, self.webhook, delivery).await?;
        }
        let keys: Vec<Key> = self.wanted.iter().map(Delivery::key).collect();
        again(tx, step.account, self.webhook, &keys, self.now).await?;
        step.report.done(i64::try_from(keys.len()).unwrap_or(i64::MAX));
        step.checkpoint = self.reached.to_string();
        Ok(())
    }
}
