//! Whether anything was committed to a SQLite database, told without a statement.
//!
//! - The WAL index, the file beside the database whose name ends in `-shm`, begins with a header that every commit
//!   changes before it is acknowledged, whichever process makes it (SQLite, "WAL-mode File Format", section 2.1). The
//!   header stands there twice; while it is being changed, the two differ.
//! - A process that closes a file loses all its locks on it (POSIX, `fcntl`), and SQLite's locks of readers are on this
//!   one. So a process opens it once for all who look at it, and keeps it open for as long as any of its connections.

use std::collections::BTreeMap;
use std::fs::File;
#[cfg(unix)]
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;

/// The bytes of the header.
const HEADER: usize = 48;
/// Where the header says whether it is filled.
const IS_FILLED: usize = 12;

/// Stands for everything that was committed to a database: between two equal ones nothing was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMark([u8; HEADER]);

/// The device and number of a file, which its names share.
type Place = (u64, u64);

/// The files that this process has open, each with the number of those who look at it.
static OPEN: Mutex<BTreeMap<Place, (Arc<File>, usize)>> = Mutex::new(BTreeMap::new());

/// The WAL index of a database; outlives every connection that has it.
#[derive(Debug)]
pub(super) struct WalIndex {
    open: Option<(Place, Arc<File>)>,
}

impl WalIndex {
    /// The index of the database of a connection, which has read from it before. Where it cannot be read, only
    /// statements can tell of commits.
    pub(super) fn of(connection: &Connection) -> Self {
        let open = connection.path().and_then(|path| open(&format!("{path}-shm")));
        Self { open }
    }

    /// What was committed so far; `None` where it cannot be told, as while a commit is on its way.
    pub(super) fn mark(&self) -> Option<CommitMark> {
        let (_, file) = self.open.as_ref()?;
        let mut twice = [0; 2 * HEADER];
        read(file, &mut twice)?;
        let (first, second) = twice.split_at(HEADER);
        let is_whole = first == second && first.get(IS_FILLED) != Some(&0);
        first.try_into().ok().filter(|_| is_whole).map(CommitMark)
    }
}

impl Drop for WalIndex {
    fn drop(&mut self) {
        let mut files = OPEN.lock();
        let Some((place, file)) = self.open.take() else { return };
        drop(file);
        if let Some((_, lookers)) = files.get_mut(&place) {
            *lookers -= 1;
            if *lookers == 0 {
                // Closed under the lock, so that nobody opens it, and locks it, just before.
                files.remove(&place);
            }
        }
    }
}

#[cfg(unix)]
fn open(path: &str) -> Option<(Place, Arc<File>)> {
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let mut files = OPEN.lock();
    let found = place(std::fs::metadata(path).ok()?);
    if let Some((file, lookers)) = files.get_mut(&found) {
        *lookers += 1;
        return Some((found, Arc::clone(file)));
    }
    let file = Arc::new(File::open(path).ok()?);
    files.insert(found, (Arc::clone(&file), 1));
    Some((found, file))
}

#[cfg(unix)]
fn read(file: &File, into: &mut [u8]) -> Option<()> {
    file.read_exact_at(into, 0).ok()
}

#[cfg(not(unix))]
fn open(_: &str) -> Option<(Place, Arc<File>)> {
    None
}

#[cfg(not(unix))]
fn read(_: &File, _: &mut [u8]) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(path: &std::path::Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).unwrap();
        connection
    }

    #[test]
    fn a_mark_stays_while_nothing_is_committed_and_changes_with_every_commit_of_any_connection() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (connect(&folder.path().join("d")), connect(&folder.path().join("d")));
        let index = WalIndex::of(&one);
        one.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let mut before = index.mark().unwrap();
        let sum = |connection: &Connection| {
            connection.query_row("SELECT sum(a) FROM t", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        for (number, connection) in [&one, &other, &other, &one].into_iter().enumerate() {
            sum(&one);
            connection.execute_batch("BEGIN; INSERT INTO t VALUES (1)").unwrap();
            assert_eq!(index.mark(), Some(before), "nothing is committed yet");
            connection.execute_batch("COMMIT").unwrap();
            let after = index.mark().unwrap();
            assert_ne!(after, before, "commit {number}");
            before = after;
            one.execute_batch("BEGIN; DELETE FROM t; ROLLBACK").unwrap();
            assert_eq!(index.mark(), Some(before), "a rollback commits nothing");
        }
        other.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let emptied = index.mark();
        one.execute_batch("INSERT INTO t VALUES (1)").unwrap();
        assert_ne!(index.mark(), emptied);
        assert!(emptied.is_none() || index.mark() != Some(before));
        assert_eq!(sum(&other), 6);
    }

    #[test]
    fn a_file_is_opened_once_and_closed_by_the_last_who_looks_at_it() {
        let folder = tempfile::tempdir().unwrap();
        let connection = connect(&folder.path().join("d"));
        let (one, other) = (WalIndex::of(&connection), WalIndex::of(&connection));
        let place = one.open.as_ref().unwrap().0;
        assert!(Arc::ptr_eq(&one.open.as_ref().unwrap().1, &other.open.as_ref().unwrap().1));
        drop(one);
        assert!(OPEN.lock().contains_key(&place));
        assert!(other.mark().is_some());
        drop(other);
        assert!(!OPEN.lock().contains_key(&place));
    }
}
