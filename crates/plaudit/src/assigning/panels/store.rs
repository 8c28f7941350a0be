//! What panels read.

use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Whether an account has panels, those in the trash included.
pub async fn has_panels(tx: &mut Tx, account: AccountId) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM setup_records WHERE account = $1 AND kind = 'panel' LIMIT 1";
    Ok(tx.first(sql, &[account.into()], |_| Ok(())).await?.is_some())
}

/// Whether a score set has assignments that panels made.
pub async fn has_automatic(tx: &mut Tx, account: AccountId, score_set: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM assignments WHERE account = $1 AND score_set = $2 AND deleted = 0 AND method = 'automatic' LIMIT 1";
    Ok(tx.first(sql, &[account.into(), score_set.into()], |_| Ok(())).await?.is_some())
}

/// The account's last change, and whether there is one after this on which depends who judges what. What is scored decides
/// nothing: a sheet that is begun is where it was. Nor does what panels do. A link that was deleted and left its sheet is a change.
pub async fn since(tx: &mut Tx, account: AccountId, position: i64) -> Result<(i64, bool), DbError> {
    let sql = "SELECT sequence FROM accounts WHERE id = $1";
    let sequence = tx.first(sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(position);
    let sql = "SELECT 1 FROM changes WHERE account = $1 AND sequence > $2 AND kind NOT IN \
               ('order', 'attachment', 'file', 'webhook', 'review_task', 'tax', 'price', 'discount') \
               AND NOT (kind = 'assignment' AND (actor = 'system' OR (action = 'updated' AND NOT EXISTS (SELECT 1 FROM \
               assignments a WHERE a.account = changes.account AND a.slug = changes.slug AND a.method = 'stray')))) LIMIT 1";
    let found = tx.first(sql, &[account.into(), position.into()], |_| Ok(())).await?;
    Ok((sequence, found.is_some() || position == 0))
}
