//! Staging: an import that makes its account commits it in steps. A transaction as long as the import would keep everybody
//! else from writing on SQLite, and PostgreSQL from removing old versions of rows, through which every change of theirs
//! would go.
//!
//! - Nobody finds a staged account before its import has ended. Others write between two steps.
//! - Whoever stages an account, or removes one, has claimed it: each step changes the claim in the account's row, and only from
//!   what the step before has left there.
//! - With a fault the account is removed again, some rows at a time. So is an abandoned one, whose import was cut off: by the
//!   next import of it, or else by the upkeep.

use std::time::Duration;

use super::Error;
use super::import::Import;
use super::store;
use crate::program::accounts::{self, store::Staged};
use db::{AccountId, Db, DbError, Engine, Tx};
use kernel::clock::Stopwatch;
use kernel::text::{Slug, Timestamp};

/// How long a claim lasts that is not renewed: an import may have to wait while others write. In microseconds.
const CLAIM_LASTS: i64 = 30_000_000;

/// How old a claim is when the upkeep takes its account for abandoned, in microseconds.
const ABANDONED_AFTER: i64 = 600_000_000;

/// The claim to a staged account: the time in its row, which is that of its latest step.
#[derive(Debug)]
pub(super) struct Claim {
    account: AccountId,
    /// What the row says in this transaction.
    seen: Timestamp,
    /// What it says outside of it, where anything is committed.
    committed: Option<Timestamp>,
}

impl Import<'_> {
    /// Stages the account, which is new.
    pub(super) async fn stage_account(&mut self) -> Result<(), Error> {
        let (account, seen) = (self.id, self.deployment.clock.now());
        accounts::store::claim(&mut self.tx, account, (None, Some(seen))).await?;
        self.claim = Some(Claim { account, seen, committed: None });
        Ok(())
    }

    /// Gives up the claim: the account is whole, and is found when this transaction is committed.
    pub(super) async fn finish_staging(&mut self) -> Result<(), Error> {
        let Some(Claim { account, seen, .. }) = self.claim else { return Ok(()) };
        if accounts::store::claim(&mut self.tx, account, (Some(seen), None)).await? {
            Ok(())
        } else {
            Err(claim_lost())
        }
    }

    /// Lets others write where this import has kept them from it for long: between two steps, or where nothing is to be
    /// written, or was yet.
    pub(super) async fn give_way(&mut self) -> Result<(), Error> {
        let longest = self.deployment.longest_write;
        if self.begun.elapsed() < longest {
            return Ok(());
        }
        if self.claim.is_some() {
            self.commit_step().await?;
            pause(self.tx.engine(), longest).await;
            self.begin_step().await?;
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

    /// Commits a step where an account is staged; nothing is read or written before [`Import::begin_step`].
    pub(super) async fn commit_step(&mut self) -> Result<(), Error> {
        if let Some(claim) = &mut self.claim {
            self.tx.suspend().await?;
            claim.committed = Some(claim.seen);
        }
        Ok(())
    }

    /// Begins the next step, with the claim renewed.
    pub(super) async fn begin_step(&mut self) -> Result<(), Error> {
        let Some(claim) = &mut self.claim else { return Ok(()) };
        self.tx.resume().await?;
        let after_it = claim.seen.as_microseconds().saturating_add(1);
        let seen = self.deployment.clock.now().max(Timestamp::from_microseconds(after_it));
        let noted = (Some(claim.seen), Some(seen));
        if !accounts::store::claim(&mut self.tx, claim.account, noted).await? {
            return Err(claim_lost());
        }
        claim.seen = seen;
        Ok(())
    }

    /// Removes what an import of the account has left staged; false where that import may be at work still.
    pub(super) async fn take_over_staged(&mut self, slug: Slug) -> Result<bool, Error> {
        let found = accounts::store::staged(&mut self.tx).await?;
        let Some(Staged { account, seen, .. }) = found.into_iter().find(|found| found.slug == slug) else {
            return Ok(true);
        };
        let now = self.deployment.clock.now();
        let is_silent = seen.as_microseconds() <= now.as_microseconds().saturating_sub(CLAIM_LASTS);
        if !is_silent || self.apply.is_some_and(|mode| mode.dry_run) {
            return Ok(is_silent);
        }
        if !accounts::store::claim(&mut self.tx, account, (Some(seen), Some(now))).await? {
            return Ok(false);
        }
        self.claim = Some(Claim { account, seen: now, committed: None });
        self.remove_staged().await?;
        Ok(true)
    }

    /// Removes the staged account.
    pub(super) async fn remove_staged(&mut self) -> Result<(), Error> {
        let Some(account) = self.claim.as_ref().map(|claim| claim.account) else { return Ok(()) };
        while store::remove_some(&mut self.tx, account).await? {
            self.give_way().await?;
        }
        self.claim = None;
        // Others see it too: host names are looked up outside of this transaction.
        self.tx.suspend().await?;
        self.tx.resume().await?;
        Ok(())
    }

    /// Lets the next import take over the account at once, because this one has failed.
    pub(super) async fn release_claim(self) {
        let Some(Claim { account, committed: Some(seen), .. }) = self.claim else { return };
        let db = self.deployment.db;
        drop(self.tx);
        let noted = (Some(seen), Some(Timestamp::from_microseconds(1)));
        let noted: Result<bool, DbError> = db
            .write(account, (account, noted), |tx, (account, noted)| {
                Box::pin(accounts::store::claim(tx, *account, *noted))
            })
            .await;
        // Where this fails as well, the next import waits until this one was silent for long enough.
        drop(noted);
    }

    /// Whether anything of a staged account is committed.
    pub(super) fn has_committed(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.committed.is_some())
    }
}

/// On SQLite others are given time. Who waits for its lock asks for it a hundred milliseconds apart when that took half a
/// second.
async fn pause(engine: Engine, longest: Duration) {
    if engine == Engine::Sqlite {
        tokio::time::sleep(longest / 5).await;
    }
}

fn claim_lost() -> Error {
    let text = "the account was taken over while the import was silent: by another import, a restore or the upkeep";
    DbError::Failed(text.to_owned()).into()
}

/// Whether a staged account with this claim is abandoned.
pub fn is_abandoned(seen: Timestamp, now: Timestamp) -> bool {
    seen.as_microseconds() < now.as_microseconds().saturating_sub(ABANDONED_AFTER)
}

/// Removes abandoned accounts; gives how many.
// tidy: every account -- nobody finds these
pub async fn remove_abandoned(db: &Db, now: Timestamp) -> Result<usize, DbError> {
    let mut found = accounts::store::staged(&mut db.snapshot().await?).await?;
    found.retain(|found| is_abandoned(found.seen, now));
    for Staged { account, seen, .. } in &found {
        while db.write(*account, (*account, *seen), |tx, left| Box::pin(remove_some_abandoned(tx, left))).await? {}
    }
    Ok(found.len())
}

/// Removes some of an abandoned account, unless an import has taken it over; gives whether there may be more.
pub(super) async fn remove_some_abandoned(
    tx: &mut Tx,
    (account, seen): &(AccountId, Timestamp),
) -> Result<bool, DbError> {
    let is_claimed = accounts::store::claim(tx, *account, (Some(*seen), Some(*seen))).await?;
    if is_claimed { store::remove_some(tx, *account).await } else { Ok(false) }
}
