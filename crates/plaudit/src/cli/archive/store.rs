//! The tables of a backup's file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, params, params_from_iter};
use sha2::{Digest, Sha256};

use super::{FORMAT, Manifest, Tally, partial};
use crate::cli::{Failure, folder_of};
use db::{DbError, Row, Value};

/// Writes a backup beside its place, and puts it there when it is whole.
pub(in crate::cli) struct Writer {
    connection: Connection,
    partial: PathBuf,
    manifest: Manifest,
    insert: String,
    tally: Tally,
}

impl Writer {
    /// Begins a file of which only the owner can read anything: it holds all secrets of the database. Nothing of it counts
    /// before it is whole, so that it needs no journal.
    pub(in crate::cli) fn create(path: &Path, created: String, schema: Vec<String>) -> Result<Self, Failure> {
        let partial = partial(path);
        let named = |error: std::io::Error| Failure::Failed(format!("{}: {error}", partial.display()));
        if partial.exists() {
            if is_held(&partial) {
                return Err(Failure::Failed(format!("another backup is writing {}", partial.display())));
            }
            fs::remove_file(&partial).map_err(named)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        drop(options.open(&partial).map_err(named)?);
        let connection = Connection::open(&partial)?;
        connection.execute_batch(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE; \
             CREATE TABLE manifest (text TEXT NOT NULL, sha256 TEXT NOT NULL); \
             CREATE TABLE stored_files (account TEXT NOT NULL, token TEXT NOT NULL, bytes BLOB NOT NULL);",
        )?;
        let manifest = Manifest { format: FORMAT, created, schema, contents: BTreeMap::new() };
        Ok(Self { connection, partial, manifest, insert: String::new(), tally: Tally::default() })
    }

    /// Begins a table, whose columns have no types.
    pub(in crate::cli) fn begin(&mut self, table: &str, columns: &[String]) -> Result<(), Failure> {
        let names = columns.join(", ");
        self.connection.execute_batch(&format!("CREATE TABLE {table} ({names})"))?;
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        self.insert = format!("INSERT INTO {table} ({names}) VALUES ({})", places.join(", "));
        Ok(())
    }

    /// Adds a row to the table that was begun.
    pub(in crate::cli) fn row(&mut self, row: &Row<'_>, columns: usize) -> Result<(), DbError> {
        let values: Vec<Value<'_>> = (0..columns).map(|column| row.value(column)).collect::<Result<_, _>>()?;
        self.tally.add(&values);
        self.connection.prepare_cached(&self.insert)?.execute(params_from_iter(&values))?;
        Ok(())
    }

    /// Notes in the manifest what was begun and filled; the files come after the tables.
    pub(in crate::cli) fn end(&mut self, name: &str) -> u64 {
        let content = std::mem::take(&mut self.tally).finish();
        let count = content.count;
        self.manifest.contents.insert(name.to_owned(), content);
        count
    }

    /// Makes room for a file; its pieces follow with [`Writer::piece`].
    pub(in crate::cli) fn file(&mut self, account: &str, token: &str, size: u64) -> Result<i64, Failure> {
        self.tally.file(account, token, size);
        self.connection
            .prepare_cached("INSERT INTO stored_files (account, token, bytes) VALUES (?1, ?2, zeroblob(?3))")?
            .execute(params![account, token, size.cast_signed()])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Writes a piece of the file that was begun last.
    pub(in crate::cli) fn piece(&mut self, file: i64, offset: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.tally.hash.update(bytes);
        Ok(self.connection.blob_open(MAIN_DB, "stored_files", "bytes", file, false)?.write_at(bytes, offset)?)
    }

    /// Writes the manifest, makes everything durable, and gives the file this name, which is in the same folder.
    pub(in crate::cli) fn finish(self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string(&self.manifest)?;
        let hash = hex::encode(Sha256::digest(&text));
        self.connection.execute("INSERT INTO manifest (text, sha256) VALUES (?1, ?2)", params![text, hash])?;
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)?;
        File::open(&self.partial)?.sync_all()?;
        fs::rename(&self.partial, path)?;
        Ok(File::open(folder_of(path))?.sync_all()?)
    }
}

/// Whether another backup is writing this file: it holds the lock of it until it ends.
fn is_held(partial: &Path) -> bool {
    let held = Connection::open(partial).and_then(|other| {
        other.busy_timeout(Duration::ZERO)?;
        other.execute_batch("BEGIN EXCLUSIVE")
    });
    held.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
}

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

/// Reads a backup.
pub(in crate::cli) struct Reader {
    connection: Connection,
    /// What it holds, by its own account.
    pub(in crate::cli) manifest: Manifest,
    tally: Tally,
}

impl Reader {
    /// Opens a backup whose manifest is whole.
    pub(in crate::cli) fn open(path: &Path) -> Result<Self, Failure> {
        let named = |what: &dyn std::fmt::Display| Failure::Failed(format!("{}: {what}", path.display()));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| named(&error))?;
        let (text, hash): (String, String) = connection
            .query_row("SELECT text, sha256 FROM manifest", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|_| named(&"is no backup of plaudit"))?;
        if hex::encode(Sha256::digest(&text)) != hash {
            return Err(named(&"the manifest is damaged"));
        }
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| named(&error))?;
        if manifest.format != FORMAT {
            return Err(named(&format!("has the form {}, and this plaudit reads {FORMAT}", manifest.format)));
        }
        Ok(Self { connection, manifest, tally: Tally::default() })
    }

    /// At most `limit` rows of a table after a place, each with its place; from 0 on, in the order of the file.
    pub(in crate::cli) fn rows(
        &mut self,
        table: &str,
        columns: &[String],
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, Vec<Value<'static>>)>, Failure> {
        let names = columns.join(", ");
        let sql = format!("SELECT rowid, {names} FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![after, limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (1..=columns.len()).map(|column| row.get_ref(column).map(owned));
            let values = values.collect::<rusqlite::Result<Vec<_>>>()?;
            self.tally.add(&values);
            found.push((row.get(0)?, values));
        }
        Ok(found)
    }

    /// The file after a place.
    pub(in crate::cli) fn file(&mut self, after: i64) -> Result<Option<StoredFile>, Failure> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid, account, token, bytes FROM stored_files WHERE rowid > ?1 ORDER BY rowid LIMIT 1",
        )?;
        let mut rows = statement.query([after])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let file = StoredFile { place: row.get(0)?, account: row.get(1)?, token: row.get(2)?, bytes: row.get(3)? };
        self.tally.file(&file.account, &file.token, file.bytes.len() as u64);
        self.tally.hash.update(&file.bytes);
        Ok(Some(file))
    }

    /// Holds what was read since the last call against the manifest.
    pub(in crate::cli) fn verify(&mut self, name: &str) -> Result<u64, Failure> {
        let content = std::mem::take(&mut self.tally).finish();
        if self.manifest.contents.get(name) != Some(&content) {
            return Err(Failure::Failed(format!("the backup is damaged: {name} is not what the manifest tells")));
        }
        Ok(content.count)
    }
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
