//! Notices to whom an API key names, before it ends: a week and a day before.
//!
//! - The upkeep looks which keys end. Each of the two times lasts a day, in which the same is sent once; so a service that was stopped
//!   for a day at the one still sends it at the other.
//! - Nobody is notified of a key that was revoked, and nobody of a suspended account is. A key that fails keeps no other one back.

use std::time::Duration;

use crate::jobs::mail::{self, Notice};
use crate::log::{Actor, Origin};
use crate::mail::notice::{ExpiringKey, expiring_key};
use crate::program::keys;
use crate::program::{Context, accounts};
use crate::services::App;
use db::{AccountId, DbError, Tx};
use kernel::text::{Slug, Timestamp};

const DAY: Duration = Duration::from_hours(24);
/// How long before the end of a key its notices are sent.
const BEFORE: [Duration; 2] = [Duration::from_hours(7 * 24), DAY];

/// Has the notices sent that are due.
pub(crate) async fn notify(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    for (account, key) in keys::store::that_notify(&app.db, &Context::any_language(now)).await? {
        if key.is_good(now) && key.expires.is_some_and(|end| is_due(end, now)) {
            let state = (app.clone(), account, key.slug, now);
            if let Err(error) = app.db.write(account, state, |tx, state| Box::pin(notify_of(tx, state))).await {
                tracing::warn!(%error, key = %key.slug, "the notice of an expiring key waits for the next upkeep");
            }
        }
    }
    Ok(())
}

fn is_due(end: Timestamp, now: Timestamp) -> bool {
    let left = end.since(now);
    BEFORE.iter().any(|before| left <= *before && left > before.saturating_sub(DAY))
}

async fn notify_of(tx: &mut Tx, (app, account, slug, now): &(App, AccountId, Slug, Timestamp)) -> Result<(), DbError> {
    let context = Context::any_language(*now);
    tx.head(*account).await?;
    let owner = accounts::store::read(tx, *account, &context).await?.filter(|owner| !owner.suspended);
    let key = keys::store::find_for_update(tx, *account, *slug, &context).await?;
    let (Some(owner), Some((key, _))) = (owner, key.filter(|(key, _)| key.is_good(*now))) else { return Ok(()) };
    let Some(end) = key.expires.filter(|_| !key.notify.is_empty()) else { return Ok(()) };
    let about = ExpiringKey {
        account: owner.slug,
        account_name: &owner.name,
        slug: key.slug,
        name: &key.name,
        scope: key.scope.name(),
        user: key.user,
        end,
    };
    let notice = Notice { message: expiring_key(&about, key.notify), about: format!("key_expires:{slug}") };
    let origin = Origin { actor: Actor::System, source: "system", at: *now };
    // Operators alone make keys, so that those of an account are never too many.
    mail::notify(tx, *account, (&notice, i64::MAX), &origin, &app.ids).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_due_on_the_day_a_week_before_the_end_and_on_the_last() {
        let now = Timestamp::from_seconds(0);
        let due = |hours: i64| is_due(Timestamp::from_seconds(hours * 3600), now);
        for hours in [1, 24, 6 * 24 + 1, 7 * 24] {
            assert!(due(hours), "{hours}");
        }
        for hours in [-1, 0, 25, 6 * 24, 7 * 24 + 1] {
            assert!(!due(hours), "{hours}");
        }
    }
}
