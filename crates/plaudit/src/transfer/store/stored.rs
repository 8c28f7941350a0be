//! What the account has already.

use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Whether a season of the account has any entry, even in the trash.
pub(in crate::transfer) async fn has_entries(tx: &mut Tx, account: AccountId, season: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND season = $2 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), season.into()], |_| Ok(())).await?.is_some())
}

/// Whether anything that belongs to an entry may have an answer to a field: what has its slug in quotes.
pub(in crate::transfer) async fn is_answered(tx: &mut Tx, account: AccountId, field: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND detail LIKE $2 \
               UNION ALL SELECT 1 FROM contributors WHERE account = $1 AND doc LIKE $2 \
               UNION ALL SELECT 1 FROM attachments WHERE account = $1 AND doc LIKE $2 LIMIT 1";
    let quoted = format!("%\"{field}\"%");
    Ok(tx.first(sql, &[account.into(), quoted.into()], |_| Ok(())).await?.is_some())
}

/// Whether a contributor or an attachment stands on a tab, even one in the trash.
pub(in crate::transfer) async fn is_stood_on(tx: &mut Tx, account: AccountId, tab: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM contributors WHERE account = $1 AND tab = $2 \
               UNION ALL SELECT 1 FROM attachments WHERE account = $1 AND tab = $2 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), tab.into()], |_| Ok(())).await?.is_some())
}

/// Which member of a record is unique beside its slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transfer) enum Unique {
    LocalId,
    Invoice,
}

/// Takes a unique value away from a record that is about to be replaced, so that another one can have it.
pub(in crate::transfer) async fn withdraw(
    tx: &mut Tx,
    account: AccountId,
    unique: Unique,
    slug: Slug,
) -> Result<(), DbError> {
    let sql = match unique {
        Unique::LocalId => "UPDATE entries SET local_id = -local_id WHERE account = $1 AND slug = $2",
        // Neither a number nor any other text has a key that begins so.
        Unique::Invoice => "UPDATE orders SET invoice_number = '!' || slug WHERE account = $1 AND slug = $2",
    };
    tx.enqueue(sql, vec![account.into(), slug.into()]).await
}

/// The order that has the invoice number with this sort key, even one in the trash.
pub(in crate::transfer) async fn order_of_invoice(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT slug FROM orders WHERE account = $1 AND invoice_number = $2",
        &[account.into(), key.into()],
        |row| row.slug(0),
    )
    .await
}
