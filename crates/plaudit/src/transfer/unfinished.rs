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
use db::{AccountId, Db, DbError, Engine, Tx};
use kernel::clock::Stopwatch;
use kernel::text::{Slug, Timestamp};

/// How long an import may be silent and go on nevertheless: others may write meanwhile. In microseconds.
const SILENCE: i64 = 30_000_000;

/// How long after an import that was cut off the upkeep removes what it left, in microseconds.
const LEFT_FOR: i64 = 600_000_000;

/// An account that is half made. Whoever has it notes in its row when that was at work last, and has it as long as the row says
/// what was noted: each step begins by looking.
#[derive(Debug)]
pub(super) struct Unmade {
    account: AccountId,
    /// What the row says.
    seen: Timestamp,
    /// What it says outside this transaction, where anything is committed.
    committed: Option<Timestamp>,
}

impl Import<'_> {
    /// The account is made by this import, in steps.
    pub(super) async fn begin_to_make(&mut self) -> Result<(), Error> {
        let (account, seen) = (self.id, self.deployment.clock.now());
        accounts::store::set_importing(&mut self.tx, account, (None, Some(seen))).await?;
        self.unmade = Some(Unmade { account, seen, committed: None });
        Ok(())
    }

    /// The account is whole, and is found when this transaction is committed.
    pub(super) async fn end_making(&mut self) -> Result<(), Error> {
        let Some(Unmade { account, seen, .. }) = self.unmade else { return Ok(()) };
        if accounts::store::set_importing(&mut self.tx, account, (Some(seen), None)).await? {
            Ok(())
        } else {
            Err(lost())
        }
    }

    /// Lets others write where this import has kept them from it for long: between two steps, or where nothing is to be
    /// written, or was yet.
    pub(super) async fn give_way(&mut self) -> Result<(), Error> {
        let longest = self.deployment.longest_write;
        if self.begun.elapsed() < longest {
            return Ok(());
        }
        if self.unmade.is_some() {
            self.step_aside().await?;
            pause(self.tx.engine(), longest).await;
            self.go_on().await?;
        } else if !self.faults.is_empty() {
            // What was written is given up, and nothing is any more.
            self.tx = self.deployment.db.snapshot().await?;
        } else if self.id == AccountId::NONE {
            self.tx.suspend().await?;
            pause(self.tx.engine(), longest).await;
            self.tx.resume().await?;
        }
        self.begun = Stopwatch::start();
        Ok(())
    }

    /// Ends a step of an import that makes its account; nothing is read or written before [`Import::go_on`].
    pub(super) async fn step_aside(&mut self) -> Result<(), Error> {
        if let Some(unmade) = &mut self.unmade {
            self.tx.suspend().await?;
            unmade.committed = Some(unmade.seen);
        }
        Ok(())
    }

    /// Begins the next step, in which the account is this import's still.
    pub(super) async fn go_on(&mut self) -> Result<(), Error> {
        let Some(unmade) = &mut self.unmade else { return Ok(()) };
        self.tx.resume().await?;
        let after_it = unmade.seen.as_microseconds().saturating_add(1);
        let seen = self.deployment.clock.now().max(Timestamp::from_microseconds(after_it));
        let noted = (Some(unmade.seen), Some(seen));
        if !accounts::store::set_importing(&mut self.tx, unmade.account, noted).await? {
            return Err(lost());
        }
        unmade.seen = seen;
        Ok(())
    }

    /// Whether an account that is not there may be made: no other import makes it. What one left is removed.
    pub(super) async fn may_make(&mut self, slug: Slug) -> Result<bool, Error> {
        let found = accounts::store::unfinished(&mut self.tx).await?;
        let Some(Unfinished { account, seen, .. }) = found.into_iter().find(|found| found.slug == slug) else {
            return Ok(true);
        };
        let now = self.deployment.clock.now();
        let is_silent = seen.as_microseconds() <= now.as_microseconds().saturating_sub(SILENCE);
        if !is_silent || self.apply.is_some_and(|mode| mode.dry_run) {
            return Ok(is_silent);
        }
        if !accounts::store::set_importing(&mut self.tx, account, (Some(seen), Some(now))).await? {
            return Ok(false);
        }
        self.unmade = Some(Unmade { account, seen: now, committed: None });
        self.remove().await?;
        Ok(true)
    }

    /// Removes all that was written of the account that is half made.
    pub(super) async fn remove(&mut self) -> Result<(), Error> {
        let Some(account) = self.unmade.as_ref().map(|unmade| unmade.account) else { return Ok(()) };
        while store::remove_some(&mut self.tx, account).await? {
            self.give_way().await?;
        }
        self.unmade = None;
        // Others see it too: host names are looked up outside of this transaction.
        self.tx.suspend().await?;
        self.tx.resume().await?;
        Ok(())
    }

    /// Lets the next import have the account at once, because this one has failed.
    pub(super) async fn let_go(self) {
        let Some(Unmade { account, committed: Some(seen), .. }) = self.unmade else { return };
        let db = self.deployment.db;
        drop(self.tx);
        let noted = (Some(seen), Some(Timestamp::from_microseconds(1)));
        let noted: Result<bool, DbError> = db
            .write(account, (account, noted), |tx, (account, noted)| {
                Box::pin(accounts::store::set_importing(tx, *account, *noted))
            })
            .await;
        // Where this fails as well, the next import waits until this one was silent for long enough.
        drop(noted);
    }

    /// Whether anything of a half-made account is to be removed, because there are faults.
    pub(super) fn has_committed(&self) -> bool {
        self.unmade.as_ref().is_some_and(|unmade| unmade.committed.is_some())
    }
}

/// On SQLite others are given time. Who waits for its lock asks for it a hundred milliseconds apart when that took half a
/// second.
async fn pause(engine: Engine, longest: Duration) {
    if engine == Engine::Sqlite {
        tokio::time::sleep(longest / 5).await;
    }
}

fn lost() -> Error {
    let text = "the account was taken over while the import was silent: by another import, a restore or the upkeep";
    DbError::Failed(text.to_owned()).into()
}

/// Whether an import that was at work then was cut off.
pub fn is_left(seen: Timestamp, now: Timestamp) -> bool {
    seen.as_microseconds() < now.as_microseconds().saturating_sub(LEFT_FOR)
}

/// Removes what imports left that were cut off; gives how many accounts that were.
// tidy: every account -- nobody sees these
pub async fn forget_unfinished(db: &Db, now: Timestamp) -> Result<usize, DbError> {
    let mut found = accounts::store::unfinished(&mut db.snapshot().await?).await?;
    found.retain(|found| is_left(found.seen, now));
    for Unfinished { account, seen, .. } in &found {
        while db.write(*account, (*account, *seen), |tx, left| Box::pin(remove_left(tx, left))).await? {}
    }
    Ok(found.len())
}

/// Removes some of what was left, unless an import has taken it over; gives whether there may be more.
pub(super) async fn remove_left(tx: &mut Tx, (account, seen): &(AccountId, Timestamp)) -> Result<bool, DbError> {
    let is_left = accounts::store::set_importing(tx, *account, (Some(*seen), Some(*seen))).await?;
    if is_left { store::remove_some(tx, *account).await } else { Ok(false) }
}
