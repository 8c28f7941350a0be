//! Messages to whom an API key names, before it ends: a week and a day before.
//!
//! - The upkeep looks which keys end. Each of the two times lasts a day, in which the same is told once ([`notify`]); so a service that
//!   was stopped for a day at the one still tells at the other.
//! - Nobody is told of a key that was revoked, and nobody of a suspended account is.

use std::time::Duration;

use crate::jobs::mail::{Notice, notify};
use crate::log::{Actor, Origin};
use crate::mail::notice::{EndingKey, key_ends};
use crate::program::keys::{self, ApiKey};
use crate::program::{Context, accounts};
use crate::services::App;
use db::{AccountId, DbError, Tx};
use kernel::text::Timestamp;

const DAY: Duration = Duration::from_hours(24);
/// How long before its end a key is told of.
const BEFORE: [Duration; 2] = [Duration::from_hours(7 * 24), DAY];

/// Has those told whose keys end soon.
pub(crate) async fn tell(app: &App) -> Result<(), DbError> {
    let now = app.clock.now();
    for (account, key) in keys::store::that_notify(&app.db, &Context::any_language(now)).await? {
        if key.is_good(now) && key.expires.is_some_and(|end| is_due(end, now)) {
            app.db.write(account, (app.clone(), account, key, now), |tx, told| Box::pin(tell_of(tx, told))).await?;
        }
    }
    Ok(())
}

fn is_due(end: Timestamp, now: Timestamp) -> bool {
    let left = end.since(now);
    BEFORE.iter().any(|before| left <= *before && left > before.saturating_sub(DAY))
}

async fn tell_of(tx: &mut Tx, (app, account, key, now): &(App, AccountId, ApiKey, Timestamp)) -> Result<(), DbError> {
    let owner = accounts::store::read(tx, *account, &Context::any_language(*now)).await?;
    let (Some(owner), Some(end)) = (owner.filter(|owner| !owner.suspended), key.expires) else { return Ok(()) };
    let about = EndingKey { account: owner.slug, account_name: &owner.name, slug: key.slug, name: &key.name, end };
    let notice = Notice { message: key_ends(&about, key.notify.clone()), about: format!("key_ends:{}", key.slug) };
    notify(tx, *account, &notice, &Origin { actor: Actor::System, source: "system", at: *now }, &app.ids).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_told_of_on_the_day_a_week_before_its_end_and_on_the_last() {
        let now = Timestamp::from_seconds(0);
        let told = |hours: i64| is_due(Timestamp::from_seconds(hours * 3600), now);
        for hours in [1, 24, 6 * 24 + 1, 7 * 24] {
            assert!(told(hours), "{hours}");
        }
        for hours in [-1, 0, 25, 6 * 24, 7 * 24 + 1] {
            assert!(!told(hours), "{hours}");
        }
    }
}
