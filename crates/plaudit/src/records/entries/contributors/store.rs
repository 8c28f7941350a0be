//! The table of contributors.

use crate::program::{self, Context};
use crate::records::Rows;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::contributors::rules::sort_key;
use db::{AccountId, DbError, Tx, Value};
use kernel::text::Slug;

/// Contributors have their entry beside the document.
pub const ROWS: Rows = Rows { extra_columns: "entry", ..Rows::of("contributors", "slug") };

/// The statements that keep the answers of a contributor as lists sort by them.
pub(super) fn answers(contributor: &Contributor, account: AccountId) -> Vec<(&'static str, Vec<Value<'static>>)> {
    let forget = "DELETE FROM contributor_answers WHERE account = $1 AND slug = $2";
    let answer = "INSERT INTO contributor_answers (account, slug, field, sort_key) VALUES ($1, $2, $3, $4)";
    let answers = contributor.fields.iter().map(|(field, value)| {
        (answer, vec![account.into(), contributor.slug.into(), field.into(), sort_key(value).into()])
    });
    std::iter::once((forget, vec![account.into(), contributor.slug.into()])).chain(answers).collect()
}

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
