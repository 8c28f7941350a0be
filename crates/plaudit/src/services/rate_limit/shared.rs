//! The windows of keys where several nodes serve one database: counted there, so that a key has one window and not one a node.
//!
//! - A node takes requests of a window out of the database ahead of its callers: one at a time where the limit is small, so that
//!   the nodes together let through exactly the limit, and up to a thousandth of it where it is large. What a node has taken
//!   and not used when the window ends is lost, so that the nodes never let through more.
//! - A window that is known to be full is asked for no more, so that refused requests cost the database nothing.
//! - Time is that of the database's server, which the nodes ask for it now and then: their own clocks may differ.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{MAX_WINDOWS, Standing, WINDOW, ceiling_seconds, store};
use crate::services::database_clock::DatabaseClock;
use db::{AccountId, Db, DbError};
use kernel::text::Slug;

/// How many statements a key costs a node in a window at the most, beside one for each of its first two thousand requests.
const LEASES: i64 = 1_000;

/// A window as a node knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lease {
    /// When it ends, in microseconds since 1970-01-01 UTC by the time of the database.
    pub(super) ends: i64,
    /// What the nodes together have taken of it.
    pub(super) taken: i64,
    /// What this node has taken and not used yet.
    pub(super) left: i64,
}

impl Lease {
    /// Counts a request, or refuses it as [`super::RateLimiter::count`] does. `None` where the database has to be asked.
    fn count(&mut self, limit: i64, now: i64) -> Option<Result<Standing, i64>> {
        if !(now + 1..=latest_end(now)).contains(&self.ends) {
            return None;
        }
        let used = self.taken - self.left;
        if used >= limit {
            return Some(Err(ceiling_seconds(self.ends - now).max(1)));
        }
        self.left = self.left.checked_sub(1).filter(|left| *left >= 0)?;
        Some(Ok(Standing { limit, remaining: limit - used - 1, reset: ceiling_seconds(self.ends) }))
    }
}

/// The end of a window that is later than this is from a clock that was set back since, and counts for nothing.
pub(super) fn latest_end(now: i64) -> i64 {
    now + 2 * WINDOW
}

/// A window that one request at a time asks the database for.
type SharedLease = Arc<tokio::sync::Mutex<Lease>>;

/// The windows of keys that this node has taken requests of.
#[derive(Debug, Default)]
pub struct SharedWindows {
    leases: Mutex<HashMap<(AccountId, Slug), SharedLease>>,
}

impl SharedWindows {
    /// Forgets the windows in the database that ended a while ago; `now` is the database's time.
    pub async fn tidy_up(db: &Db, now: i64) -> Result<(), DbError> {
        store::forget(db, now - WINDOW).await
    }

    /// Counts a request of a key at this time of the database, or refuses it, as [`super::RateLimiter::count`] does.
    pub async fn count(
        &self,
        db: &Db,
        (account, key): (AccountId, Slug),
        limit: i64,
        clock: &DatabaseClock,
    ) -> Result<Result<Standing, i64>, DbError> {
        let lease = {
            let mut leases = self.leases.lock();
            // What is forgotten is asked for again.
            if leases.len() >= MAX_WINDOWS {
                leases.clear();
            }
            Arc::clone(leases.entry((account, key)).or_default())
        };
        // Of many requests that come at once, one asks, and takes no more than is needed.
        let mut lease = lease.lock().await;
        let now = clock.now();
        if let Some(counted) = lease.count(limit, now) {
            return Ok(counted);
        }
        *lease = store::take(db, account, key, (limit / LEASES).max(1), limit, now).await?;
        Ok(lease.count(limit, now).unwrap_or(Err(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::rate_limit::SECOND;

    const NOW: i64 = 1_000 * SECOND;

    #[test]
    fn what_is_left_of_a_lease_is_used_up_before_the_database_is_asked_and_a_full_window_refuses() {
        let mut lease = Lease { ends: NOW + WINDOW, taken: 60, left: 2 };
        assert_eq!(lease.count(60, NOW).unwrap().unwrap().remaining, 1);
        assert_eq!(lease.count(60, NOW), Some(Ok(Standing { limit: 60, remaining: 0, reset: 1_060 })));
        assert_eq!(lease.count(60, NOW + 1), Some(Err(60)));
        assert_eq!(lease.count(61, NOW), None, "a limit that was raised is asked for");
        assert_eq!(lease.count(60, NOW + WINDOW), None, "a window that has ended is asked for");
    }

    #[test]
    fn a_window_from_a_clock_that_was_set_back_counts_for_nothing() {
        let mut lease = Lease { ends: NOW + 24 * 60 * WINDOW, taken: 60, left: 0 };
        assert_eq!(lease.count(60, NOW), None);
    }

    #[test]
    fn a_limit_that_was_lowered_below_what_is_used_refuses_in_spite_of_a_lease() {
        let mut lease = Lease { ends: NOW + WINDOW, taken: 2_000, left: 10 };
        assert_eq!(lease.count(1_000, NOW), Some(Err(60)));
    }
}
