//! The table of contributors.

use crate::program::{self, Context};
use crate::records::entries::contributors::Contributor;
use crate::records::store::SetTable;
use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// The answers of contributors as lists sort by them.
pub(super) const ANSWERS: SetTable =
    SetTable { table: "contributor_answers", key: "slug", columns: &["field", "sort_key"], identifying: 1 };

/// The contributors of an entry that are not in the trash, by slug.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<Contributor>, DbError> {
    tx.all(
        "SELECT doc FROM contributors WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY slug",
        &[account.into(), entry.into()],
        |row| program::store::parse(row.text(0)?, context),
    )
    .await
}
