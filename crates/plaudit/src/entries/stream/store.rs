//! Where the streams of entries begin.

use db::{AccountId, Committed, Db, DbError};
use kernel::text::Slug;

/// Where the account stands, and whether it has an entry that is not in the trash.
pub(super) async fn standing(
    db: &Db,
    account: AccountId,
    entry: Option<Slug>,
) -> Result<Option<(Committed, bool)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, a.sequence, a.hash, \
         (SELECT count(*) FROM entries e WHERE e.account = a.id AND e.slug = $2 AND e.deleted = 0) \
         FROM accounts a WHERE a.id = $1",
        &[account.into(), entry.into()],
        |row| Ok((Committed::read(row, 0)?, row.flag(3)?)),
    )
    .await
}
