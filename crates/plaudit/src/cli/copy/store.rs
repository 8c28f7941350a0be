//! Statements over whole tables of the schema, made from their names.

use std::borrow::Borrow;

use db::tables::TABLES;
use db::{DbError, Row, Tx, Value};

/// Every row of a table, with these columns.
// tidy: every account -- a backup is of the whole database
pub(in crate::cli) async fn each_row(
    tx: &mut Tx,
    table: &str,
    columns: &[String],
    each: impl FnMut(&Row<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(&format!("SELECT {} FROM {table}", columns.join(", ")), &[], each).await
}

/// Whether the database has no account.
// tidy: every account -- a backup is of the whole database
pub(in crate::cli) async fn is_empty(tx: &mut Tx) -> Result<bool, DbError> {
    Ok(tx.first("SELECT 1 FROM accounts LIMIT 1", &[], |_| Ok(())).await?.is_none())
}

/// Empties every table.
// tidy: every account -- a backup is of the whole database
pub(in crate::cli) async fn clear(tx: &mut Tx) -> Result<(), DbError> {
    for table in TABLES.iter().rev() {
        tx.execute(&format!("DELETE FROM {table}"), &[]).await?;
    }
    Ok(())
}

/// Adds rows to a table, all in one statement.
// tidy: every account -- a backup is of the whole database
pub(in crate::cli) async fn fill(
    tx: &mut Tx,
    table: &str,
    columns: &[impl Borrow<str>],
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
