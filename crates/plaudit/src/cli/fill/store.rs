//! The counts of a synthetic account's orders.

use std::collections::BTreeMap;

use crate::db::{AccountId, DbError, Tx};
use crate::text::Slug;

/// Adds to the kept counts, which are by season and segment.
pub(super) async fn add_counts(
    tx: &mut Tx,
    account: AccountId,
    counts: &BTreeMap<(Slug, i64), i64>,
    revision: i64,
) -> Result<(), DbError> {
    for ((season, segment), count) in counts {
        tx.execute(
            "INSERT INTO order_counts (account, season, segment, total, changed) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (account, season, segment) DO UPDATE SET total = order_counts.total + $4, changed = $5",
            &[account.into(), season.into(), (*segment).into(), (*count).into(), revision.into()],
        )
        .await?;
    }
    Ok(())
}
