//! What the writer of a SQLite database does while nobody writes.
//!
//! - It moves what was written from the log into the database, so that a read looks into one file and not into two.
//! - Then it stays as a reader. A reader takes a lock on the database and gives it back, and each is a call of the
//!   system; where another connection of its process has the same lock already, SQLite counts the two and calls nobody.
//! - That lock keeps others from moving what they write. So it is given back before the writer writes, and soon after
//!   another process has; and it is only taken while the log holds nothing, so that it keeps no log from shrinking.

use rusqlite::Connection;

use super::sqlite::Connected;
use super::wal_index::CommitMark;

/// The reader that stays, when it does.
pub(super) struct Rest {
    connection: Connected,
    seen: Option<CommitMark>,
}

impl Rest {
    /// Nothing rests yet.
    pub(super) fn new(connection: Connected) -> Self {
        Self { connection, seen: None }
    }

    /// To be called now and then while the writer has nothing to write: rests where nobody has written since the last
    /// call, and ends where somebody has.
    pub(super) fn look(&mut self, writer: &Connection) {
        let mark = self.connection.commit_mark();
        if mark.is_none() || mark != self.seen {
            self.end();
            self.seen = mark;
        } else if !self.is_resting()
            && let Err(error) = self.begin(writer)
        {
            // Reads are as right without it.
            tracing::debug!(%error, "the database could not rest");
            self.end();
        }
    }

    /// Gives the lock back.
    pub(super) fn end(&mut self) {
        self.seen = None;
        if self.is_resting()
            && let Err(error) = self.connection.execute_batch("COMMIT")
        {
            tracing::error!(%error, "a reader that rested could not end");
        }
    }

    fn is_resting(&self) -> bool {
        !self.connection.is_autocommit()
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
    use std::time::Duration;

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
        let mut rest = Rest::new(Connected::new(open(), Arc::new(WalIndex::of(&writer))));
        rest.look(&writer);
        assert!(!rest.is_resting(), "somebody may be writing");
        rest.look(&writer);
        assert!(rest.is_resting());

        // What another process writes is moved when the reader has gone.
        other.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        assert!(!moved(&other).0);
        rest.look(&writer);
        assert!(!rest.is_resting());
        assert!(moved(&other).0);
        rest.look(&writer);
        assert!(rest.is_resting());

        rest.end();
        for _ in 0..100 {
            writer.execute_batch("INSERT INTO t VALUES (3)").unwrap();
        }
        rest.look(&writer);
        rest.look(&writer);
        assert!(rest.is_resting());
        let (_, pages) = moved(&writer);
        writer.execute_batch("INSERT INTO t VALUES (4)").unwrap();
        assert!(moved(&writer).1 < pages, "the log begins anew although a reader stays");
    }
}
