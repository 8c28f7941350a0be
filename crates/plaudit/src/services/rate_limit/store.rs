//! The table of the windows of keys, which is filled where several nodes serve one database.

use super::shared::{Lease, latest_end};
use super::{SECOND, WINDOW};
use db::{AccountId, Db, DbError};
use kernel::text::Slug;

/// A window is `granted` what was asked for as far as there is room, whoever else asks at the same time. One that has ended, or
/// is from a clock that was set back, begins again.
const TAKE: &str = "INSERT INTO rate_windows AS held (account, api_key, ends, used, granted) \
    VALUES ($1, $2, $3, 0, $4) ON CONFLICT (account, api_key) DO UPDATE SET \
    ends = CASE WHEN held.ends BETWEEN $5 AND $6 THEN held.ends ELSE excluded.ends END, \
    used = CASE WHEN held.ends BETWEEN $5 AND $6 THEN held.used + held.granted ELSE 0 END, \
    granted = CASE WHEN held.ends NOT BETWEEN $5 AND $6 OR held.used + held.granted + $4 <= $7 THEN $4 \
    WHEN held.used + held.granted < $7 THEN $7 - held.used - held.granted ELSE 0 END \
    RETURNING ends, used, granted";

/// Takes as many requests out of the window of a key as are wanted and left of the limit.
pub(super) async fn take(
    db: &Db,
    account: AccountId,
    key: Slug,
    wanted: i64,
    limit: i64,
    now: i64,
) -> Result<Lease, DbError> {
    // A window begins with the second of its first request, so that it ends exactly when the header says.
    let ends = now - now.rem_euclid(SECOND) + WINDOW;
    let (earliest, latest) = (now + 1, latest_end(now));
    let values = [account.into(), key.into(), ends.into(), wanted.into(), earliest.into(), latest.into(), limit.into()];
    // Sent again after a lost connection, it takes twice, which lets through less and never more.
    let taken = db
        .fetch_pipelined(TAKE, &values, |row| {
            let (used, granted) = (row.integer(1)?, row.integer(2)?);
            Ok(Lease { ends: row.integer(0)?, taken: used + granted, left: granted })
        })
        .await?;
    taken.ok_or_else(|| DbError::Failed("a window of the rate limit is gone".to_owned()))
}

/// Forgets the windows that ended before this time, in microseconds.
// tidy: every account -- the sweep is the deployment's
pub async fn forget(db: &Db, ended: i64) -> Result<(), DbError> {
    db.write(AccountId::NONE, ended, |tx, ended| {
        Box::pin(
            async move { tx.execute("DELETE FROM rate_windows WHERE ends < $1", &[(*ended).into()]).await.map(drop) },
        )
    })
    .await
}
