//! Removes what uploads have stored that nobody got to record: the process ended in between, or the storage did not
//! answer when a refused file was to be removed.
//!
//! A file that was recorded and erased ([`store::empty`]) is announced as well: its bytes are replaced by none. Where they are
//! not in the storage, it may be another storage than that of the service: they are looked for again after a day.
//!
//! An upload that is being removed cannot be recorded any more, and one that is recorded is not found here. So a record
//! never lacks its bytes, whatever runs at the same time on whatever node.

use std::time::Duration;

use bytes::Bytes;

use crate::records::files::store::{self, ERASED, Orphan};
use crate::storage::{Storage, StorageError};
use db::{AccountId, Db, DbError};
use kernel::text::{Timestamp, Token};

/// How long an upload may take, from its first stored byte to its record.
pub(super) const PATIENCE: Duration = Duration::from_hours(24);
/// How many are looked up at once.
const BATCH_SIZE: i64 = 100;

/// Why a sweep ended early.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many uploads were removed, and how many files emptied.
    pub removed: usize,
    /// How many files were erased and are not in the storage.
    pub missing: usize,
}

/// Removes every upload that was announced too long ago, and empties the files that were erased.
pub async fn sweep(db: &Db, storage: &Storage, now: Timestamp) -> Result<Swept, SweepError> {
    let patience = i64::try_from(PATIENCE.as_secs()).unwrap_or(i64::MAX);
    sweep_until(db, storage, Timestamp::from_seconds(now.as_seconds().saturating_sub(patience)), now).await
}

/// Empties the files that were just erased, and leaves uploads alone.
pub async fn empty_erased(db: &Db, storage: &Storage, now: Timestamp) -> Result<Swept, SweepError> {
    sweep_until(db, storage, Timestamp::from_microseconds(ERASED), now).await
}

async fn sweep_until(db: &Db, storage: &Storage, until: Timestamp, now: Timestamp) -> Result<Swept, SweepError> {
    let mut swept = Swept::default();
    loop {
        let orphans = store::orphans(db, until, BATCH_SIZE).await?;
        if orphans.is_empty() {
            return Ok(swept);
        }
        for Orphan { account, slug, token } in orphans {
            if !store::is_recorded(db, account, &token).await? {
                doom(db, account, &token).await?;
                storage.discard(&slug, token.as_str()).await?;
            } else if storage.exists(&slug, token.as_str()).await? {
                storage.put(&slug, token.as_str(), Bytes::new()).await?;
            } else {
                tracing::warn!(account = account.0, %token, "an erased file is not in the storage");
                put_off(db, account, &token, now).await?;
                swept.missing += 1;
                continue;
            }
            forget(db, account, &token).await?;
            swept.removed += 1;
        }
    }
}

async fn put_off(db: &Db, account: AccountId, token: &Token, now: Timestamp) -> Result<(), DbError> {
    let state = (account, token.clone(), now);
    db.write(account, state, |tx, (account, token, now)| Box::pin(store::put_off(tx, *account, token, *now))).await
}

async fn doom(db: &Db, account: AccountId, token: &Token) -> Result<(), DbError> {
    let state = (account, token.clone());
    db.write(account, state, |tx, (account, token)| Box::pin(store::doom(tx, *account, token))).await
}

async fn forget(db: &Db, account: AccountId, token: &Token) -> Result<(), DbError> {
    let state = (account, token.clone());
    db.write(account, state, |tx, (account, token)| Box::pin(store::forget(tx, *account, token))).await
}
