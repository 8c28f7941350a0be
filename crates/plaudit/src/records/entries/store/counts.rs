//! The table of the counts of divisions.

use std::collections::BTreeMap;

use crate::records::entries::CountChanges;
use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Writes what was noted of the counts.
pub async fn write_counts(tx: &mut Tx, account: AccountId, changes: CountChanges) -> Result<(), DbError> {
    for ((category, division), change) in changes.into_changes() {
        tx.enqueue(
            "INSERT INTO entry_counts (account, category, division, total) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (account, category, division) DO UPDATE SET total = entry_counts.total + excluded.total",
            vec![account.into(), category.into(), division.into(), change.into()],
        )
        .await?;
    }
    Ok(())
}

/// How many entries a category has, those in the trash left out.
pub async fn of_category(tx: &mut Tx, account: AccountId, category: Slug) -> Result<i64, DbError> {
    Ok(divisions(tx, account, category).await?.values().sum())
}

/// How many entries each division of a category has, those in the trash left out; 0 is no division.
pub(crate) async fn divisions(tx: &mut Tx, account: AccountId, category: Slug) -> Result<BTreeMap<i64, i64>, DbError> {
    tx.all(
        "SELECT division, total FROM entry_counts WHERE account = $1 AND category = $2 AND total > 0",
        &[account.into(), category.into()],
        |row| Ok((row.integer(0)?, row.integer(1)?)),
    )
    .await
}
