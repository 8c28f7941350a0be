//! The table of conflicts.

use super::Conflict;
use crate::program::Context;
use crate::program::store::parse;
use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// The conflicts of a judge with an entry that are not in the trash.
pub async fn of_pair(
    tx: &mut Tx,
    account: AccountId,
    (entry, judge): (Slug, Slug),
    context: &Context,
) -> Result<Vec<Conflict>, DbError> {
    let sql =
        "SELECT doc FROM conflicts WHERE account = $1 AND entry = $2 AND judge = $3 AND deleted = 0 ORDER BY slug";
    tx.all(sql, &[account.into(), entry.into(), judge.into()], |row| parse(row.text(0)?, context)).await
}
