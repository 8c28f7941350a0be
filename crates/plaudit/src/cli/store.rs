//! What the operator's commands read across the tables.

use crate::records::{Rows, StoredRow};
use db::tables::TABLES;
use db::{AccountId, DbError, Row, Tx, Value};
use kernel::kind::Kind;
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
    /// The account's document.
    pub(super) doc: String,
}

/// Every account, by slug.
// tidy: every account -- a check or a backup is of the whole database
pub(super) async fn heads(tx: &mut Tx) -> Result<Vec<Head>, DbError> {
    tx.all("SELECT id, slug, sequence, hash, doc, version FROM accounts ORDER BY slug", &[], |row| {
        Ok(Head {
            account: AccountId(row.integer(0)?),
            slug: row.slug(1)?,
            sequence: row.integer(2)?,
            hash: row.bytes(3)?.to_vec(),
            doc: row.text(4)?.to_owned(),
            version: row.integer(5)?,
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

/// A record with the change that its revision names.
#[derive(Debug)]
pub(super) struct Logged<'r> {
    /// Its slug or token.
    pub(super) name: String,
    /// Its row.
    pub(super) row: StoredRow,
    /// The number of the last change of the record.
    pub(super) last: Option<i64>,
    /// What the change did to the record.
    pub(super) action: Option<&'r str>,
    /// The hash of the document after the change.
    pub(super) document_hash: Option<&'r [u8]>,
}

/// Every record of a kind with the change that its revision names.
pub(super) async fn each_logged(
    tx: &mut Tx,
    account: AccountId,
    (kind, rows): (Kind, &Rows),
    mut each: impl FnMut(&Logged<'_>) + Send,
) -> Result<(), DbError> {
    let sql = format!(
        "SELECT r.*, (SELECT max(m.sequence) FROM changes m WHERE m.account = $1 AND m.kind = '{kind}' AND m.slug = r.name), \
         c.action, c.doc_hash FROM ({}) AS r LEFT JOIN changes c ON c.account = $1 AND c.sequence = r.revision",
        rows.select(kind)
    );
    tx.each(&sql, &[account.into()], |row| {
        let (name, stored) = StoredRow::read(row)?;
        let (last, action) = (row.optional_integer(6)?, row.optional_text(7)?);
        each(&Logged { name, row: stored, last, action, document_hash: row.bytes(8).ok() });
        Ok(())
    })
    .await
}

/// How many records of a kind the account's log tells of.
pub(super) async fn count_logged(tx: &mut Tx, account: AccountId, kind: Kind) -> Result<i64, DbError> {
    let sql = "SELECT count(*) FROM (SELECT DISTINCT slug FROM changes WHERE account = $1 AND kind = $2) AS logged";
    Ok(tx.first(sql, &[account.into(), kind.name().into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// The hash of the document of the last change of the account itself, if one is logged.
pub(super) async fn last_of_account(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Vec<u8>>, DbError> {
    tx.first(
        "SELECT doc_hash FROM changes WHERE account = $1 AND kind = 'account' AND slug = $2 \
         ORDER BY sequence DESC LIMIT 1",
        &[account.into(), slug.into()],
        |row| Ok(row.bytes(0)?.to_vec()),
    )
    .await
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
    Ok(tx.first("SELECT 1 FROM accounts LIMIT 1", &[], |_| Ok(())).await?.is_none())
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
