//! Accounts that an import makes. A transaction as long as the import would keep everybody else from writing on SQLite, and
//! PostgreSQL from removing old versions of rows, through which every change of theirs would go.
//!
//! - The account is there for nobody until the import has ended. Until then what was written is committed again and again,
//!   and others write in between.
//! - With a fault everything is removed again, some rows at a time. So is what an import left that was cut off: by the
//!   next import of the account, or else by the upkeep.

use std::time::Duration;

use super::Error;
use super::import::Import;
use super::store;
use crate::program::accounts::{self, store::Unfinished};
use db::{AccountId, Db, DbError};
use kernel::clock::Stopwatch;
use kernel::text::{Slug, Timestamp};

/// How long an import may be silent and go on nevertheless: others may write meanwhile. In microseconds.
const SILENCE: i64 = 30_000_000;

/// How long after an import that was cut off the upkeep removes what it left, in microseconds.
const LEFT_FOR: i64 = 600_000_000;

/// The steps of an import that makes an account.
#[derive(Debug)]
pub(super) struct Steps {
    begun: Stopwatch,
    /// Whether what was written is durable in part.
    pub(super) any_committed: bool,
}

impl Steps {
    /// The first step begins.
    pub(super) fn begin() -> Self {
        Self { begun: Stopwatch::start(), any_committed: false }
    }
}

impl Import<'_> {
    /// Lets others write where this import makes an account and has written for long.
    pub(super) async fn give_way(&mut self) -> Result<(), Error> {
        let longest = self.deployment.longest_write;
        if self.steps.as_ref().is_none_or(|steps| steps.begun.elapsed() < longest) {
            return Ok(());
        }
        if !accounts::store::set_importing(&mut self.tx, self.id, Some(self.deployment.clock.now())).await? {
            let lost = "the import was silent for so long that another one has removed what it wrote";
            return Err(DbError::Failed(lost.to_owned()).into());
        }
        self.tx.renew(pause(longest)).await?;
        self.steps = Some(Steps { begun: Stopwatch::start(), any_committed: true });
        Ok(())
    }

    /// Whether an account that is not there may be made: no other import makes it. What one left is removed.
    pub(super) async fn may_make(&mut self, slug: Slug) -> Result<bool, Error> {
        let found = accounts::store::unfinished(&mut self.tx).await?;
        let Some(found) = found.into_iter().find(|found| found.slug == slug) else { return Ok(true) };
        let silent_since = self.deployment.clock.now().as_microseconds().saturating_sub(SILENCE);
        if self.apply.is_some() || found.seen.as_microseconds() > silent_since {
            return Ok(false);
        }
        self.remove(found.account).await?;
        Ok(true)
    }

    /// Removes all that was written of the account.
    pub(super) async fn remove(&mut self, account: AccountId) -> Result<(), Error> {
        let longest = self.deployment.longest_write;
        let mut begun = Stopwatch::start();
        while store::remove_some(&mut self.tx, account).await? {
            if begun.elapsed() >= longest {
                self.tx.renew(pause(longest)).await?;
                begun = Stopwatch::start();
            }
        }
        Ok(())
    }
}

/// How long others are given: SQLite asks for its lock a hundred milliseconds apart when it has waited for half a second.
fn pause(longest: Duration) -> Duration {
    longest / 5
}

/// Whether an import that was at work then was cut off.
pub fn is_left(seen: Timestamp, now: Timestamp) -> bool {
    seen.as_microseconds() < now.as_microseconds().saturating_sub(LEFT_FOR)
}

/// Removes what imports left that were cut off; gives how many accounts that were.
// tidy: every account -- nobody sees these
pub async fn forget_unfinished(db: &Db, now: Timestamp) -> Result<usize, DbError> {
    let found: Vec<Unfinished> = accounts::store::unfinished(&mut db.snapshot().await?).await?;
    let left = found.into_iter().filter(|found| is_left(found.seen, now));
    let found: Vec<AccountId> = left.map(|found| found.account).collect();
    for account in &found {
        while db.write(*account, *account, |tx, account| Box::pin(store::remove_some(tx, *account))).await? {}
    }
    Ok(found.len())
}
