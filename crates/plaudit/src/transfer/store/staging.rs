//! Removing a staged account.

use crate::records::users::store::people;
use db::{AccountId, DbError, Tx, tables};

/// The most rows that are removed together.
const ROWS: i64 = 500;

/// Removes some rows of an account, its own row last; gives whether there may be more.
pub(in crate::transfer) async fn remove_some(tx: &mut Tx, account: AccountId) -> Result<bool, DbError> {
    if remove_users(tx, account).await? {
        return Ok(true);
    }
    for table in tables::of_accounts() {
        if remove_rows(tx, account, table).await? {
            return Ok(true);
        }
    }
    tx.execute("DELETE FROM accounts WHERE id = $1", &[account.into()]).await?;
    Ok(false)
}

/// Removes the first rows by the column that follows the account in the key; gives whether there were any.
async fn remove_rows(tx: &mut Tx, account: AccountId, table: &str) -> Result<bool, DbError> {
    let columns = tx.columns(table).await?;
    let column = columns.iter().find(|column| *column != "account").map_or("account", String::as_str);
    let sql = format!(
        "SELECT {column} FROM (SELECT {column} FROM {table} WHERE account = $1 ORDER BY {column} LIMIT $2) AS removed \
         ORDER BY {column} DESC LIMIT 1"
    );
    let last = tx.first(&sql, &[account.into(), ROWS.into()], |row| row.value(0)).await?;
    let Some(last) = last else { return Ok(false) };
    let sql = format!("DELETE FROM {table} WHERE account = $1 AND {column} <= $2");
    Ok(tx.execute(&sql, &[account.into(), last]).await? > 0)
}

/// Removes some users, and the people who are in no account any more; gives whether there were any.
async fn remove_users(tx: &mut Tx, account: AccountId) -> Result<bool, DbError> {
    let sql = "SELECT slug, person, email, mobile FROM users WHERE account = $1 ORDER BY slug LIMIT $2";
    let read: Vec<[String; 4]> = tx
        .all(sql, &[account.into(), ROWS.into()], |row| {
            let text = |column| row.optional_text(column).map(|text| text.unwrap_or_default().to_owned());
            Ok([text(0)?, text(1)?, text(2)?, text(3)?])
        })
        .await?;
    let Some([last, ..]) = read.last() else { return Ok(false) };
    tx.execute("DELETE FROM users WHERE account = $1 AND slug <= $2", &[account.into(), last.into()]).await?;
    for [_, person, email, mobile] in &read {
        people::forget_if_nowhere(tx, person).await?;
        // Somebody who is in another account by now keeps what is shown there alone.
        for contact in [email, mobile].into_iter().filter(|contact| !contact.is_empty()) {
            people::release_if_unknown(tx, person, contact).await?;
        }
    }
    Ok(true)
}
