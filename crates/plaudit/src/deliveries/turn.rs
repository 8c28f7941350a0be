//! What one turn of an endpoint writes, in one transaction.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::endpoint::Key;
use super::store::{self, Delivery, Settled};
use crate::jobs;
use crate::jobs::mail::{MOST_NOTICES, Notice};
use crate::leases::{LeaseName, store as lease_store};
use crate::log::{Action, Actor, Origin};
use crate::program::Program;
use crate::program::webhooks::{Status, WEBHOOKS, Webhook};
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::ids::Ids;
use kernel::text::{Slug, Timestamp};
use webhook_signing::Reason;

/// What one turn writes.
pub(super) struct Turn {
    pub account: AccountId,
    pub webhook: Slug,
    pub owner: Arc<str>,
    /// Outcomes of attempts.
    pub settled: Vec<Settled>,
    /// Deliveries that are new.
    pub fresh: Vec<Delivery>,
    /// What deliveries send that begin for the first time.
    pub bodies: Vec<(Key, Bytes)>,
    /// Deliveries that were there and are attempted again: when, and the attempts before.
    pub starts: Vec<(Key, i64, String)>,
    /// How far the log was read.
    pub position: i64,
    /// When the endpoint is to be looked at again, whatever happens.
    pub due: i64,
    /// What is remembered of the endpoint.
    pub state: String,
    /// When the lease ends unless it is renewed.
    pub until: i64,
    /// Why the endpoint is disabled, if it is.
    pub disabled: Option<String>,
    /// Messages to whom the webhook names.
    pub messages: Vec<Notice>,
    /// The account's program.
    pub program: Arc<Program>,
    /// Where the slugs of jobs come from.
    pub ids: Ids,
    /// The time that is shown.
    pub at: Timestamp,
}

/// Writes it; gives the signal of the lease, or nothing where the lease is another's, and then nothing was written but
/// what became of attempts at deliveries that had failed meanwhile, because the webhook was disabled.
pub(super) fn write<'t>(tx: &'t mut Tx, turn: &'t Turn) -> BoxFuture<'t, Result<Option<i64>, DbError>> {
    Box::pin(async move {
        let (account, webhook) = (turn.account, turn.webhook);
        let name = LeaseName::Webhook(webhook);
        // Requests lock the account's head before they touch leases: so does this.
        if turn.disabled.is_some() || !turn.messages.is_empty() {
            tx.head(account).await?;
        }
        let disabled = match &turn.disabled {
            Some(reason) => {
                let found =
                    crate::program::store::find_for_update::<Webhook>(tx, account, webhook, &turn.program.context)
                        .await?;
                let failed = turn.program.webhooks.live(webhook).map(|webhook| &webhook.url);
                let is_disabled =
                    |value: &Webhook| value.status == Status::Enabled && failed.is_some_and(|url| *url == value.url);
                found.map(|record| record.value).filter(is_disabled).map(|value| (value, reason))
            }
            None => None,
        };
        let Some((signal, _)) = lease_store::hold(tx, account, name, &turn.owner).await? else {
            for settled in &turn.settled {
                store::settle_late(tx, account, webhook, settled).await?;
            }
            return Ok(None);
        };
        for delivery in &turn.fresh {
            store::insert(tx, account, webhook, delivery).await?;
        }
        for settled in &turn.settled {
            store::settle(tx, account, webhook, settled).await?;
        }
        store::insert_bodies(tx, account, webhook, &turn.bodies).await?;
        for (key, started, attempts) in &turn.starts {
            store::start(tx, account, webhook, (*key, *started, attempts)).await?;
        }
        let origin = Origin { actor: Actor::System, source: "system", at: turn.at };
        // Nothing is sent to a webhook that is disabled until somebody knows of it: that is told of as many as an account has.
        let most = if disabled.is_some() { i64::try_from(WEBHOOKS).unwrap_or(i64::MAX) } else { MOST_NOTICES };
        for message in turn.messages.iter().filter(|_| turn.disabled.is_none() || disabled.is_some()) {
            jobs::mail::notify(tx, account, (message, most), &origin, &turn.ids).await?;
        }
        if let Some((value, reason)) = disabled {
            let after = value.with_status(Status::Disabled, Some(reason.as_str()), turn.at);
            crate::program::store::change(tx, account, &origin, Action::Updated, after).await?;
            store::fail_pending(tx, account, webhook).await?;
            lease_store::remove(tx, account, name).await?;
            return Ok(None);
        }
        let Turn { position, due, until, .. } = *turn;
        let end = lease_store::Turn { position, due, state: turn.state.clone(), until };
        lease_store::end_turn(tx, account, name, end).await?;
        Ok(Some(signal))
    })
}

/// Why an endpoint was disabled, as the interface tells it. After how long with nothing but failures is a setting.
pub(super) fn reason_text(reason: Reason, disable_after: Duration) -> String {
    let hours = disable_after.as_secs() / 3_600;
    match reason {
        Reason::Gone => "The endpoint answered 410.".to_owned(),
        Reason::Failing if hours.is_multiple_of(24) => format!("Every attempt has failed for {} days.", hours / 24),
        Reason::Failing => format!("Every attempt has failed for {hours} hours."),
    }
}

/// A lease that is given back.
pub(super) struct GivenBack {
    pub account: AccountId,
    pub name: LeaseName,
    pub owner: Arc<str>,
    /// The signal as it was seen last.
    pub signal: i64,
    /// When the work is to be done again.
    pub due: i64,
    pub now: i64,
}

/// Gives a lease back, to be done again at once where it has a signal that was not seen.
pub(super) async fn give_back(tx: &mut Tx, lease: &GivenBack) -> Result<(), DbError> {
    let GivenBack { account, name, signal, due, now, .. } = *lease;
    if let Some((latest, _)) = lease_store::hold(tx, account, name, &lease.owner).await? {
        let due = if latest == signal { due } else { now };
        lease_store::give_back(tx, account, name, due, now).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_failures_is_told_as_it_is_set() {
        let told = |hours| reason_text(Reason::Failing, Duration::from_hours(hours));
        assert_eq!(told(120), "Every attempt has failed for 5 days.");
        assert_eq!(told(36), "Every attempt has failed for 36 hours.");
        assert_eq!(reason_text(Reason::Gone, Duration::from_hours(36)), "The endpoint answered 410.");
    }
}
