//! The table of API keys.

use super::ApiKey;
use crate::log::{self, Action, Change, Origin};
use crate::program::{Context, store};
use db::{AccountId, Db, DbError, Row, Tx};
use kernel::kind::Kind;
use kernel::text::Slug;

/// The account and slug of the key with this hash.
// tidy: every account -- the key tells which account asks
pub async fn find_by_hash(db: &Db, hash: &[u8; 32]) -> Result<Option<(AccountId, Slug)>, DbError> {
    let sql = "SELECT account, slug FROM api_keys WHERE hash = $1";
    db.first(sql, &[hash.as_slice().into()], |row| Ok((AccountId(row.integer(0)?), row.slug(1)?))).await
}

/// Logs and saves a key that was made or changed; `hash` is that of its secret, which is in no log.
pub async fn change(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    action: Action,
    (key, hash): (&ApiKey, &[u8; 32]),
) -> Result<(), DbError> {
    let document = store::stored(key);
    let change =
        Change { kind: Kind::ApiKey, slug: key.slug.as_str(), action, events: &[], document: document.clone() };
    let revision = log::append(tx, account, origin, change).await?;
    tx.execute(
        "INSERT INTO api_keys (account, slug, hash, revision, doc_form, doc) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (account, slug) DO UPDATE SET hash = $3, revision = $4, doc_form = $5, doc = $6",
        &[account.into(), key.slug.into(), hash.as_slice().into(), revision.into(), log::FORM.into(), document.into()],
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
    tx: &mut Tx,
    account: AccountId,
    context: &Context,
    mut each: impl FnMut(ApiKey, [u8; 32]) + Send,
) -> Result<(), DbError> {
    tx.each("SELECT hash, doc FROM api_keys WHERE account = $1 ORDER BY slug", &[account.into()], |row| {
        let (key, hash) = read(row, context)?;
        each(key, hash);
        Ok(())
    })
    .await
}

/// Every key that names somebody to be notified before its end, with its account; one that cannot be read is passed over.
// tidy: every account -- the upkeep is the deployment's
pub async fn that_notify(db: &Db, context: &Context) -> Result<Vec<(AccountId, ApiKey)>, DbError> {
    let sql = "SELECT account, doc FROM api_keys WHERE doc LIKE '%\"notify\":[\"%' ORDER BY account, slug";
    let mut found = Vec::new();
    db.each(sql, &[], |row| {
        match store::parse(row.text(1)?, context) {
            Ok(key) => found.push((AccountId(row.integer(0)?), key)),
            Err(error) => tracing::warn!(%error, "nobody is notified of a key"),
        }
        Ok(())
    })
    .await?;
    Ok(found)
}

fn read(row: &Row<'_>, context: &Context) -> Result<(ApiKey, [u8; 32]), DbError> {
    let hash = row.bytes(0)?.try_into().map_err(|_| DbError::Failed("a key's hash is broken".to_owned()))?;
    Ok((store::parse(row.text(1)?, context)?, hash))
}
