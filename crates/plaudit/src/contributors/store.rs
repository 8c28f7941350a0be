//! The table of contributors.

use super::Contributor;
use crate::db::{AccountId, DbError, Tx};
use crate::program::{self, Context, Record};
use crate::text::Slug;

/// Adds or replaces a contributor.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<Contributor>) -> Result<(), DbError> {
    tx.later(
        "INSERT INTO contributors (account, slug, entry, deleted, revision, doc) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (account, slug) DO UPDATE SET entry = $3, deleted = $4, revision = $5, doc = $6",
        vec![
            account.into(),
            record.value.slug.into(),
            record.value.entry.into(),
            record.deleted.into(),
            record.revision.into(),
            program::store::stored(&record.value).into(),
        ],
    )
    .await
}

/// The entry that a contributor belongs to now, for those who are about to give it to another.
pub async fn entry_of(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Slug>, DbError> {
    tx.first("SELECT entry FROM contributors WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        Ok(Slug::parse(row.text(0)?))
    })
    .await
    .map(Option::flatten)
}

/// The contributors of an entry that are not in the trash, by slug.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<Contributor>, DbError> {
    let mut found = Vec::new();
    tx.each(
        "SELECT doc FROM contributors WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY slug",
        &[account.into(), entry.into()],
        |row| {
            found.push(program::store::parse(row.text(0)?, context)?);
            Ok(())
        },
    )
    .await?;
    Ok(found)
}

/// Every contributor by slug: the program-file form without its kind, and whether it is in the trash.
pub async fn each_for_export(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&str, bool) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each("SELECT doc, deleted FROM contributors WHERE account = $1 ORDER BY slug", &[account.into()], |row| {
        each(row.text(0)?, row.flag(1)?)
    })
    .await
}
