//! What the operator's commands read across the tables.

use std::collections::BTreeSet;

use db::tables::{self, TABLES};
use db::{AccountId, DbError, Row, Tx, Value};
use kernel::text::Slug;

/// Where an account's log stands, by the account's row.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The account.
    pub(super) account: AccountId,
    /// Its slug.
    pub(super) slug: Slug,
    /// The number of its last change.
    pub(super) sequence: i64,
    /// The hash of its last change.
    pub(super) hash: Vec<u8>,
    /// The name of the last change of what its program shows.
    pub(super) version: i64,
    /// The version of the form of the account's document.
    pub(super) form: i64,
    /// The account's document.
    pub(super) doc: String,
}

/// Every account, by slug.
// tidy: every account -- a check or a backup is of the whole database
pub(super) async fn heads(tx: &mut Tx) -> Result<Vec<Head>, DbError> {
    let sql = "SELECT id, slug, sequence, hash, doc, version, doc_form FROM accounts WHERE importing = 0 ORDER BY slug";
    tx.all(sql, &[], |row| {
        Ok(Head {
            account: AccountId(row.integer(0)?),
            slug: row.slug(1)?,
            sequence: row.integer(2)?,
            hash: row.bytes(3)?.to_vec(),
            doc: row.text(4)?.to_owned(),
            version: row.integer(5)?,
            form: row.integer(6)?,
        })
    })
    .await
}

/// The kinds that the rows of set-up records name.
pub(super) async fn setup_kinds(tx: &mut Tx, account: AccountId) -> Result<Vec<String>, DbError> {
    let sql = "SELECT DISTINCT kind FROM setup_records WHERE account = $1";
    tx.all(sql, &[account.into()], |row| Ok(row.text(0)?.to_owned())).await
}

/// The steps of the schema that were applied, in order.
// tidy: every account -- the schema is the database's
pub(super) async fn schema(tx: &mut Tx) -> Result<Vec<String>, DbError> {
    let sql = "SELECT CAST(version AS BIGINT), name FROM refinery_schema_history ORDER BY 1";
    tx.all(sql, &[], |row| Ok(format!("V{}__{}", row.integer(0)?, row.text(1)?))).await
}

/// The form and the hash of the document of the last change of the account itself, if one is logged.
pub(super) async fn last_of_account(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
) -> Result<Option<(i64, Vec<u8>)>, DbError> {
    tx.first(
        "SELECT doc_form, doc_hash FROM changes WHERE account = $1 AND kind = 'account' AND slug = $2 \
         ORDER BY sequence DESC LIMIT 1",
        &[account.into(), slug.into()],
        |row| Ok((row.integer(0)?, row.bytes(1)?.to_vec())),
    )
    .await
}

/// The host names of an account.
pub(super) async fn hosts(tx: &mut Tx, account: AccountId) -> Result<BTreeSet<String>, DbError> {
    tx.all("SELECT name FROM hosts WHERE account = $1", &[account.into()], |row| Ok(row.text(0)?.to_owned())).await
}

/// Tables with rows of an account that there is not, and its number.
// tidy: every account -- a check is of the whole database
pub(super) async fn strays(tx: &mut Tx) -> Result<Vec<(&'static str, i64)>, DbError> {
    let mut found = Vec::new();
    for table in tables::of_accounts() {
        let sql = format!(
            "SELECT DISTINCT account FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = t.account)"
        );
        let accounts: Vec<i64> = tx.all(&sql, &[], |row| row.integer(0)).await?;
        // The installation has leases of its own.
        let is_stray = |account: &i64| table != "leases" || *account != AccountId::NONE.0;
        found.extend(accounts.into_iter().filter(is_stray).map(|account| (table, account)));
    }
    Ok(found)
}

/// Category and division, the count that is kept, and the entries that there are; those that agree are left out.
pub(super) async fn wrong_entry_counts(
    tx: &mut Tx,
    account: AccountId,
) -> Result<Vec<(String, i64, i64, i64)>, DbError> {
    tx.all(
        "SELECT category, division, CAST(sum(kept) AS BIGINT), CAST(sum(there) AS BIGINT) FROM \
         (SELECT category, division, total AS kept, 0 AS there FROM entry_counts WHERE account = $1 \
         UNION ALL SELECT category, division, 0, count(*) FROM entries WHERE account = $1 AND deleted = 0 \
         GROUP BY category, division) AS compared \
         GROUP BY category, division HAVING sum(kept) <> sum(there) ORDER BY category, division",
        &[account.into()],
        |row| Ok((row.text(0)?.to_owned(), row.integer(1)?, row.integer(2)?, row.integer(3)?)),
    )
    .await
}

/// Category and chapter of every entry of a season that is not in the trash, with the entry before both, by slug.
pub(super) async fn entries_of_season(
    tx: &mut Tx,
    account: AccountId,
    season: Slug,
    limit: i64,
) -> Result<Vec<[Slug; 3]>, DbError> {
    tx.all(
        "SELECT slug, category, chapter FROM entries WHERE account = $1 AND season = $2 AND deleted = 0 \
         ORDER BY slug LIMIT $3",
        &[account.into(), season.into(), limit.into()],
        |row| Ok([row.slug(0)?, row.slug(1)?, row.slug(2)?]),
    )
    .await
}

/// Every row of a table, with these columns.
// tidy: every account -- a backup is of the whole database
pub(super) async fn each_row(
    tx: &mut Tx,
    table: &str,
    columns: &[String],
    each: impl FnMut(&Row<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(&format!("SELECT {} FROM {table}", columns.join(", ")), &[], each).await
}

/// Whether the database has no account.
// tidy: every account -- a backup is of the whole database
pub(super) async fn is_empty(tx: &mut Tx) -> Result<bool, DbError> {
    Ok(tx.first("SELECT 1 FROM accounts WHERE importing = 0 LIMIT 1", &[], |_| Ok(())).await?.is_none())
}

/// Empties every table.
// tidy: every account -- a backup is of the whole database
pub(super) async fn clear(tx: &mut Tx) -> Result<(), DbError> {
    for table in TABLES.iter().rev() {
        tx.execute(&format!("DELETE FROM {table}"), &[]).await?;
    }
    Ok(())
}

/// Adds rows to a table, all in one statement.
// tidy: every account -- a backup is of the whole database
pub(super) async fn fill(
    tx: &mut Tx,
    table: &str,
    columns: &[String],
    rows: Vec<Vec<Value<'static>>>,
) -> Result<(), DbError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut sql = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
    for row in 0..rows.len() {
        let places: Vec<String> =
            (1..=columns.len()).map(|column| format!("${}", row * columns.len() + column)).collect();
        sql.push_str(if row == 0 { "(" } else { ", (" });
        sql.push_str(&places.join(", "));
        sql.push(')');
    }
    let values: Vec<Value<'static>> = rows.into_iter().flatten().collect();
    tx.execute(&sql, &values).await.map(drop)
}
