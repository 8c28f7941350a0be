//! The table of API keys.

use super::ApiKey;
use crate::db::{AccountId, Db, DbError, Row, Tx};
use crate::program::{Context, store};
use crate::text::Slug;

/// The account and slug of the key with this hash.
// tidy: every account -- the key tells which account asks
pub async fn find_by_hash(db: &Db, hash: &[u8; 32]) -> Result<Option<(AccountId, Slug)>, DbError> {
    let found = db
        .first("SELECT account, slug FROM api_keys WHERE hash = $1", &[hash.as_slice().into()], |row| {
            Ok((AccountId(row.integer(0)?), Slug::parse(row.text(1)?)))
        })
        .await?;
    Ok(found.and_then(|(account, slug)| Some((account, slug?))))
}

/// Adds a key, or replaces what is known of it; `hash` is that of a new secret. Raises the version of the program.
pub async fn save(tx: &mut Tx, account: AccountId, key: &ApiKey, hash: &[u8; 32]) -> Result<(), DbError> {
    store::raise_version(tx, account).await?;
    tx.execute(
        "INSERT INTO api_keys (account, slug, hash, doc) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account, slug) DO UPDATE SET hash = $3, doc = $4",
        &[account.into(), key.slug.into(), hash.as_slice().into(), store::stored(key).into()],
    )
    .await?;
    Ok(())
}

/// A key with the hash of its secret, locked until the end of the transaction.
pub async fn find_for_update(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<(ApiKey, [u8; 32])>, DbError> {
    tx.first_for_update(
        "SELECT hash, doc FROM api_keys WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        |row| read(row, context),
    )
    .await
}

/// Every key of the account with the hash of its secret, by slug.
pub async fn each(
    db: &Db,
    account: AccountId,
    context: &Context,
    mut each: impl FnMut(ApiKey, [u8; 32]) + Send,
) -> Result<(), DbError> {
    db.each("SELECT hash, doc FROM api_keys WHERE account = $1 ORDER BY slug", &[account.into()], |row| {
        let (key, hash) = read(row, context)?;
        each(key, hash);
        Ok(())
    })
    .await
}

fn read(row: &Row<'_>, context: &Context) -> Result<(ApiKey, [u8; 32]), DbError> {
    let hash = row.bytes(0)?.try_into().map_err(|_| DbError::Failed("a key's hash is broken".to_owned()))?;
    Ok((store::parse(row.text(1)?, context)?, hash))
}
