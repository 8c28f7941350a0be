//! The file of a backup: a SQLite database with every table, the bytes of all stored files, and a manifest.
//!
//! - It says nothing of the engine that it came from: columns have no types, and values are integers, texts and bytes.
//! - The manifest tells the schema and, for every table and for the files, how many there are and the SHA-256 of all of
//!   their values in the order of the file. Reading computes both again.

mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use db::Value;

pub(super) use store::{Reader, StoredFile, Writer};

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
struct Tally {
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

    /// Begins a file, whose bytes follow.
    fn file(&mut self, account: &str, token: &str, size: u64) {
        self.count += 1;
        self.part(2, account.as_bytes());
        self.part(2, token.as_bytes());
        self.hash.update(size.to_be_bytes());
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
