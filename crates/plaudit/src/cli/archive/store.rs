//! The tables of a backup's file.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, OpenFlags, params, params_from_iter};

use db::Value;

/// A stored file in a backup.
pub(in crate::cli) struct StoredFile {
    /// Its place in the backup.
    pub(in crate::cli) place: i64,
    /// The slug of its account.
    pub(in crate::cli) account: String,
    /// Its token.
    pub(in crate::cli) token: String,
    /// Its bytes.
    pub(in crate::cli) bytes: Vec<u8>,
}

/// Begins a file. Nothing of it counts before it is whole, so that it needs no journal.
pub(super) fn create(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; \
         CREATE TABLE manifest (text TEXT NOT NULL, sha256 TEXT NOT NULL); \
         CREATE TABLE stored_files (account TEXT NOT NULL, token TEXT NOT NULL, bytes BLOB NOT NULL);",
    )?;
    Ok(connection)
}

/// Makes a table without types, and gives the statement that fills it.
pub(super) fn begin_table(connection: &Connection, table: &str, columns: &[String]) -> rusqlite::Result<String> {
    connection.execute_batch(&format!("CREATE TABLE {table} ({})", columns.join(", ")))?;
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    Ok(format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", ")))
}

pub(super) fn insert(connection: &Connection, sql: &str, values: &[Value<'_>]) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute(params_from_iter(values)).map(drop)
}

/// Makes room for a file's bytes.
pub(super) fn make_room(connection: &Connection, account: &str, token: &str, size: u64) -> rusqlite::Result<i64> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    connection
        .prepare_cached("INSERT INTO stored_files (account, token, bytes) VALUES (?1, ?2, zeroblob(?3))")?
        .execute(params![account, token, size])?;
    Ok(connection.last_insert_rowid())
}

/// Writes a piece into the room of a file.
pub(super) fn write_piece(connection: &Connection, file: i64, offset: usize, bytes: &[u8]) -> rusqlite::Result<()> {
    connection.blob_open(MAIN_DB, "stored_files", "bytes", file, false)?.write_at(bytes, offset)
}

/// Writes the manifest and ends the only transaction.
pub(super) fn finish(connection: &Connection, text: &str, hash: &str) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO manifest (text, sha256) VALUES (?1, ?2)", params![text, hash])?;
    connection.execute_batch("COMMIT")
}

/// Opens a file for reading alone.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// The manifest and its hash.
pub(super) fn manifest(connection: &Connection) -> rusqlite::Result<(String, String)> {
    connection.query_row("SELECT text, sha256 FROM manifest", [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// At most `limit` rows after a place, each with its place.
pub(super) fn rows(
    connection: &Connection,
    table: &str,
    columns: &[String],
    after: i64,
    limit: usize,
) -> rusqlite::Result<Vec<(i64, Vec<Value<'static>>)>> {
    let columns_and_place = columns.join(", ");
    let sql = format!("SELECT rowid, {columns_and_place} FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![after, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (1..=columns.len()).map(|column| row.get_ref(column).map(owned));
        found.push((row.get(0)?, values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

fn owned(value: ValueRef<'_>) -> Value<'static> {
    match value {
        // No table of the schema has a fraction, so that one here fails the comparison with the manifest.
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::from(bytes.to_vec()),
    }
}

/// The first file after a place.
pub(super) fn file(connection: &Connection, after: i64) -> rusqlite::Result<Option<StoredFile>> {
    let mut statement = connection.prepare_cached(
        "SELECT rowid, account, token, bytes FROM stored_files WHERE rowid > ?1 ORDER BY rowid LIMIT 1",
    )?;
    let mut rows = statement.query([after])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(StoredFile { place: row.get(0)?, account: row.get(1)?, token: row.get(2)?, bytes: row.get(3)? }))
}
