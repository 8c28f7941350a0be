//! What the writer of a SQLite database does while nobody writes.
//!
//! - It moves what was written from the log into the database, so that a read looks into one file and not into two.
//! - Then it stays as a reader. A reader takes a lock on the database and gives it back, and each is a call of the
//!   system; where another connection of its process has the same lock already, SQLite counts the two and calls nobody.
//! - That lock keeps others from moving what they write. So it is only taken where nobody has written for a while and the
//!   log holds nothing that is not moved, and given back before the writer writes, and as soon as another process is
//!   seen to write: to have written, or to hold the lock of a writer, as long imports do.

use std::time::Duration;

use rusqlite::Connection;

use super::sqlite::Connected;
use super::wal_index::CommitMark;

/// After how many looks at which nobody had written a reader stays.
const QUIET: u32 = 20;

/// The reader that stays, when it does.
pub(super) struct Rest {
    connection: Connected,
    busy_timeout: Duration,
    seen: Option<CommitMark>,
    quiet: u32,
    has_failed: bool,
}

impl Rest {
    /// Nothing rests yet; `busy_timeout` is that of the writer.
    pub(super) fn new(connection: Connected, busy_timeout: Duration) -> Self {
        Self { connection, busy_timeout, seen: None, quiet: 0, has_failed: false }
    }

    /// To be called now and then while the writer has nothing to write.
    pub(super) fn look(&mut self, writer: &Connection) {
        let mark = self.connection.commit_mark();
        if mark.is_none() || mark != self.seen || self.is_written(writer) {
            self.end();
            self.seen = mark;
            return;
        }
        if self.is_resting() {
            return;
        }
        self.quiet += 1;
        if self.quiet < QUIET {
            return;
        }
        self.quiet = 0;
        match self.begin(writer) {
            Ok(()) => self.has_failed = false,
            Err(error) => {
                self.end();
                if !self.has_failed {
                    tracing::warn!(%error, "the log of the database could not be moved");
                }
                self.has_failed = true;
            }
        }
    }

    /// Gives the lock back.
    pub(super) fn end(&mut self) {
        (self.seen, self.quiet) = (None, 0);
        if self.is_resting()
            && let Err(error) = self.connection.execute_batch("COMMIT")
        {
            tracing::error!(%error, "a reader that rested could not end");
        }
    }

    fn is_resting(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Whether anybody else is within a transaction that writes.
    fn is_written(&self, writer: &Connection) -> bool {
        let probed =
            writer.busy_timeout(Duration::ZERO).and_then(|()| writer.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
        let restored = writer.busy_timeout(self.busy_timeout);
        probed.and(restored).is_err()
    }

    fn begin(&mut self, writer: &Connection) -> rusqlite::Result<()> {
        let is_moved = writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (is_busy, written, moved): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(is_busy == 0 && written == moved)
        })?;
        if is_moved {
            self.connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")?;
            // What was committed in between stands in the log alone.
            if self.connection.commit_mark() != self.seen {
                self.end();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::db::sqlite::connect;
    use crate::db::wal_index::WalIndex;

    /// Moves what the log holds as far as that can be done; whether it is all, and how many pages the log holds.
    fn moved(connection: &Connection) -> (bool, i64) {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?));
        let (written, moved): (i64, i64) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], row).unwrap();
        (written == moved, written)
    }

    #[test]
    fn a_reader_stays_while_nobody_writes_and_keeps_nobody_from_writing() {
        let folder = tempfile::tempdir().unwrap();
        let open = || connect(&folder.path().join("d"), Duration::ZERO).unwrap();
        let (writer, other) = (open(), open());
        writer.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let mut rest = Rest::new(Connected::new(open(), Arc::new(WalIndex::of(&writer))), Duration::ZERO);
        let wait = |rest: &mut Rest| (0..QUIET).for_each(|_| rest.look(&writer));
        wait(&mut rest);
        assert!(!rest.is_resting(), "somebody may be writing");
        rest.look(&writer);
        assert!(rest.is_resting());

        // What another process writes is moved when the reader has gone.
        other.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        assert!(!moved(&other).0);
        rest.look(&writer);
        assert!(!rest.is_resting());
        assert!(moved(&other).0);
        wait(&mut rest);
        assert!(rest.is_resting());

        // Long transactions of another process, one after the other, keep their log as short as without a reader.
        let mut most = 0;
        for _ in 0..8 {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            for number in 0..200 {
                other.execute("INSERT INTO t VALUES (zeroblob(?1))", [4096 + number]).unwrap();
            }
            rest.look(&writer);
            assert!(!rest.is_resting(), "it has gone before they commit");
            wait(&mut rest);
            other.execute_batch("COMMIT").unwrap();
            let (is_moved, pages) = moved(&other);
            assert!(is_moved);
            most = most.max(pages);
        }
        assert!(most < 400, "{most} pages");

        wait(&mut rest);
        rest.look(&writer);
        assert!(rest.is_resting());
        rest.end();
        for _ in 0..100 {
            writer.execute_batch("INSERT INTO t VALUES (3)").unwrap();
        }
        wait(&mut rest);
        rest.look(&writer);
        assert!(rest.is_resting());
        let (_, pages) = moved(&writer);
        writer.execute_batch("INSERT INTO t VALUES (4)").unwrap();
        assert!(moved(&writer).1 < pages, "the log begins anew although a reader stays");
    }
}
