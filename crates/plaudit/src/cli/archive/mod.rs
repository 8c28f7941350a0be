//! The file of a backup: a SQLite database with every table, the bytes of all stored files, and a manifest.
//!
//! - It says nothing of the engine that it came from: columns have no types, and values are integers, texts and bytes.
//! - The manifest tells the schema and, for every table and for the files, how many there are and the SHA-256 of all of
//!   their values in the order of the file. Reading computes both again.

mod store;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Failure;
use db::{DbError, Row, Value};

/// The form of the file; another one needs another reader.
const FORMAT: u32 = 1;

/// The name under which the manifest counts the files.
pub(super) const FILES: &str = "stored files";

/// What a backup holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    /// When its snapshot was taken.
    pub(super) created: String,
    /// The steps of the schema.
    pub(super) schema: Vec<String>,
    /// What there is of each table, and of the files.
    pub(super) contents: BTreeMap<String, Content>,
}

impl Manifest {
    /// How many files are named by records without being there.
    pub(super) fn missing_files(&self) -> u64 {
        let count = |name: &str| self.contents.get(name).map_or(0, |content| content.count);
        count("files").saturating_sub(count(FILES))
    }
}

/// How many values there are, and their hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    /// Rows or files.
    pub(super) count: u64,
    sha256: String,
}

/// Counts and hashes rows or files.
#[derive(Default)]
pub(super) struct Tally {
    count: u64,
    hash: Sha256,
}

impl Tally {
    fn add(&mut self, values: &[Value<'_>]) {
        self.count += 1;
        for value in values {
            match value {
                Value::Null => self.part(0, b""),
                Value::Integer(integer) => self.part(1, &integer.to_be_bytes()),
                Value::Text(text) => self.part(2, text.as_bytes()),
                Value::Bytes(bytes) => self.part(3, bytes),
            }
        }
    }

    fn part(&mut self, kind: u8, bytes: &[u8]) {
        self.hash.update([kind]);
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
    }

    fn finish(self) -> Content {
        Content { count: self.count, sha256: hex::encode(self.hash.finalize()) }
    }
}

/// Where the backup that gets a name is written until it is whole.
pub(super) fn partial(path: &Path) -> PathBuf {
    sibling(path, ".partial")
}

/// The name of a backup that lacks files, beside that which it would have.
pub(super) fn incomplete(path: &Path) -> PathBuf {
    sibling(path, ".incomplete")
}

fn sibling(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Writes a backup beside its place, and puts it there when it is whole.
pub(super) struct Writer {
    connection: Connection,
    partial: PathBuf,
    manifest: Manifest,
    insert: String,
    tally: Tally,
}

impl Writer {
    /// Begins a file of which only the owner can read anything: it holds all secrets of the database.
    pub(super) fn create(path: &Path, created: String, schema: Vec<String>) -> Result<Self, Failure> {
        let partial = partial(path);
        let named = |error: std::io::Error| Failure::Failed(format!("{}: {error}", partial.display()));
        if partial.exists() {
            fs::remove_file(&partial).map_err(named)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        drop(options.open(&partial).map_err(named)?);
        let connection = store::create(&partial)?;
        let manifest = Manifest { format: FORMAT, created, schema, contents: BTreeMap::new() };
        Ok(Self { connection, partial, manifest, insert: String::new(), tally: Tally::default() })
    }

    /// Begins a table.
    pub(super) fn begin(&mut self, table: &str, columns: &[String]) -> Result<(), Failure> {
        self.insert = store::begin_table(&self.connection, table, columns)?;
        self.tally = Tally::default();
        Ok(())
    }

    /// Adds a row to the table that was begun.
    pub(super) fn row(&mut self, row: &Row<'_>, columns: usize) -> Result<(), DbError> {
        let values: Vec<Value<'_>> = (0..columns).map(|column| row.value(column)).collect::<Result<_, _>>()?;
        self.tally.add(&values);
        store::insert(&self.connection, &self.insert, &values)?;
        Ok(())
    }

    /// Notes in the manifest what was begun and filled.
    pub(super) fn end(&mut self, name: &str) -> u64 {
        let content = std::mem::take(&mut self.tally).finish();
        let count = content.count;
        self.manifest.contents.insert(name.to_owned(), content);
        count
    }

    /// Begins the files.
    pub(super) fn begin_files(&mut self) {
        self.tally = Tally::default();
    }

    /// Makes room for a file; its pieces follow with [`Writer::piece`].
    pub(super) fn file(&mut self, account: &str, token: &str, size: u64) -> Result<i64, Failure> {
        self.tally.count += 1;
        self.tally.part(2, account.as_bytes());
        self.tally.part(2, token.as_bytes());
        self.tally.hash.update(size.to_be_bytes());
        Ok(store::make_room(&self.connection, account, token, size)?)
    }

    /// Writes a piece of the file that was begun last.
    pub(super) fn piece(&mut self, file: i64, offset: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.tally.hash.update(bytes);
        Ok(store::write_piece(&self.connection, file, offset, bytes)?)
    }

    /// Writes the manifest, makes everything durable, and gives the file this name, which is in the same folder.
    pub(super) fn finish(self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string(&self.manifest).map_err(|error| Failure::Failed(error.to_string()))?;
        store::finish(&self.connection, &text, &hex::encode(Sha256::digest(&text)))?;
        self.connection.close().map_err(|(_, error)| error)?;
        File::open(&self.partial)?.sync_all()?;
        fs::rename(&self.partial, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(())
    }
}

/// Reads a backup.
pub(super) struct Reader {
    connection: Connection,
    /// What it holds, by its own account.
    pub(super) manifest: Manifest,
    tally: Tally,
}

impl Reader {
    /// Opens a backup whose manifest is whole.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let named = |what: &dyn std::fmt::Display| Failure::Failed(format!("{}: {what}", path.display()));
        let connection = store::open(path).map_err(|error| named(&error))?;
        let (text, hash) = store::manifest(&connection).map_err(|_| named(&"is no backup of plaudit"))?;
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
    pub(super) fn rows(
        &mut self,
        table: &str,
        columns: &[String],
        after: i64,
        limit: usize,
    ) -> Result<Vec<(i64, Vec<Value<'static>>)>, Failure> {
        let rows = store::rows(&self.connection, table, columns, after, limit)?;
        for (_, values) in &rows {
            self.tally.add(values);
        }
        Ok(rows)
    }

    /// The file after a place: its place, account, token and bytes.
    pub(super) fn file(&mut self, after: i64) -> Result<Option<store::StoredFile>, Failure> {
        let found = store::file(&self.connection, after)?;
        if let Some(file) = &found {
            self.tally.count += 1;
            self.tally.part(2, file.account.as_bytes());
            self.tally.part(2, file.token.as_bytes());
            self.tally.hash.update((file.bytes.len() as u64).to_be_bytes());
            self.tally.hash.update(&file.bytes);
        }
        Ok(found)
    }

    /// Holds what was read since the last call against the manifest.
    pub(super) fn verify(&mut self, name: &str) -> Result<u64, Failure> {
        let content = std::mem::take(&mut self.tally).finish();
        if self.manifest.contents.get(name) != Some(&content) {
            return Err(Failure::Failed(format!("the backup is damaged: {name} is not what the manifest tells")));
        }
        Ok(content.count)
    }
}
