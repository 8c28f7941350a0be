//! The table of contributors.

use crate::program::{self, Context};
use crate::records::Rows;
use crate::records::entries::contributors::Contributor;
use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Contributors have their entry beside the document.
pub const ROWS: Rows = Rows { extra_columns: "entry", ..Rows::of("contributors", "slug") };

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
