//! Removes what uploads have stored that nobody got to record: the process ended in between, or the storage did not
//! answer when a refused file was to be removed.
//!
//! A file that was recorded and erased ([`store::empty`]) is announced as well: its bytes are replaced by none.
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

/// Removes every upload that was announced too long ago, empties the files that were erased, and tells how many there were.
pub async fn sweep(db: &Db, storage: &Storage, now: Timestamp) -> Result<usize, SweepError> {
    let patience = i64::try_from(PATIENCE.as_secs()).unwrap_or(i64::MAX);
    let until = Timestamp::from_seconds(now.as_seconds().saturating_sub(patience));
    let mut removed = 0;
    loop {
        let orphans = store::orphans(db, until, (BATCH_SIZE, 0)).await?;
        if orphans.is_empty() {
            return Ok(removed);
        }
        for Orphan { account, slug, token } in orphans {
            doom(db, account, &token).await?;
            if store::is_recorded(db, account, &token).await? {
                storage.put(&slug, token.as_str(), Bytes::new()).await?;
            } else {
                storage.discard(&slug, token.as_str()).await?;
            }
            forget(db, account, &token).await?;
            removed += 1;
        }
    }
}

/// Empties the erased files that are in this storage, which may be another one than that of the service, and leaves uploads alone.
/// Returns how many are not in it: the service empties them.
pub async fn empty_erased(db: &Db, storage: &Storage) -> Result<i64, SweepError> {
    let mut missing = 0;
    loop {
        let orphans = store::orphans(db, Timestamp::from_microseconds(ERASED), (BATCH_SIZE, missing)).await?;
        if orphans.is_empty() {
            return Ok(missing);
        }
        for Orphan { account, slug, token } in orphans {
            if storage.exists(&slug, token.as_str()).await? {
                storage.put(&slug, token.as_str(), Bytes::new()).await?;
                forget(db, account, &token).await?;
            } else {
                missing += 1;
            }
        }
    }
}

async fn doom(db: &Db, account: AccountId, token: &Token) -> Result<(), DbError> {
    let state = (account, token.clone());
    db.write(account, state, |tx, (account, token)| Box::pin(store::doom(tx, *account, token))).await
}

async fn forget(db: &Db, account: AccountId, token: &Token) -> Result<(), DbError> {
    let state = (account, token.clone());
    db.write(account, state, |tx, (account, token)| Box::pin(store::forget(tx, *account, token))).await
}
