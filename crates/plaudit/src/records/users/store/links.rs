//! The table of links by which users confirm or sign in.

use db::{AccountId, Db, DbError, Tx};
use kernel::text::{Slug, Timestamp};

/// Keeps a link, and forgets those of the account that have ended.
pub async fn add(
    tx: &mut Tx,
    account: AccountId,
    purpose: &'static str,
    hash: &[u8; 32],
    (user, expires): (Slug, Timestamp),
    now: Timestamp,
) -> Result<(), DbError> {
    tx.enqueue("DELETE FROM one_time_links WHERE account = $1 AND expires <= $2", vec![account.into(), now.into()])
        .await?;
    tx.enqueue(
        "INSERT INTO one_time_links (account, hash, purpose, holder, expires) VALUES ($1, $2, $3, $4, $5)",
        vec![account.into(), hash.to_vec().into(), purpose.into(), user.into(), expires.into()],
    )
    .await
}

/// Forgets all links of a user.
pub async fn forget_of(tx: &mut Tx, account: AccountId, user: Slug) -> Result<(), DbError> {
    let sql = "DELETE FROM one_time_links WHERE account = $1 AND holder = $2";
    tx.enqueue(sql, vec![account.into(), user.into()]).await
}

/// The account of this slug, where it has such a link.
// tidy: every account -- the link tells which account is meant
pub async fn find(db: &Db, account: Slug, purpose: &str, hash: &[u8; 32]) -> Result<Option<AccountId>, DbError> {
    let values = [account.into(), hash.as_slice().into(), purpose.into()];
    db.fetch_pipelined(
        "SELECT a.id FROM accounts a, one_time_links l \
         WHERE a.slug = $1 AND l.account = a.id AND l.hash = $2 AND l.purpose = $3",
        &values,
        |row| Ok(AccountId(row.integer(0)?)),
    )
    .await
}

/// Takes a link away and gives its user; `None` where there is none, or it has ended. Of two who try, one gets it.
pub async fn take(
    tx: &mut Tx,
    account: AccountId,
    purpose: &str,
    hash: &[u8; 32],
    now: Timestamp,
) -> Result<Option<Slug>, DbError> {
    let values = [account.into(), hash.as_slice().into(), purpose.into(), now.into()];
    let user = tx
        .first_for_update(
            "SELECT holder FROM one_time_links WHERE account = $1 AND hash = $2 AND purpose = $3 AND expires > $4",
            &values,
            |row| row.slug(0),
        )
        .await?;
    if user.is_some() {
        let sql = "DELETE FROM one_time_links WHERE account = $1 AND hash = $2";
        tx.execute(sql, &[account.into(), hash.as_slice().into()]).await?;
    }
    Ok(user)
}
