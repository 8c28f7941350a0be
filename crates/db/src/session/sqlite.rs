//! A connection to SQLite, and running statements on it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::row::EachRow;
use crate::{DbError, Row, Value};

/// How many connections for snapshots are kept open while nobody reads from them.
const IDLE_SNAPSHOTS: usize = 4;

/// Connections that wait for the next snapshot.
pub(crate) type Idle = Arc<Mutex<Vec<Connection>>>;

/// A connection.
pub(crate) struct Connected {
    pub(crate) connection: Connection,
    /// Where it waits for the next who reads from it.
    pub(crate) idle: Option<Idle>,
}

impl Connected {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, idle: None }
    }

    /// Keeps the connection for the next snapshot, where it is one for snapshots; it is in no transaction.
    pub(crate) fn put_back(self) {
        if let Some(idle) = self.idle {
            let mut idle = idle.lock();
            if idle.len() < IDLE_SNAPSHOTS {
                idle.push(self.connection);
            }
        }
    }
}

impl Deref for Connected {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

/// Copies what the log has into the file and ends the log as the mode says, `RESTART` or `TRUNCATE`, where nobody reads or
/// writes just now. Others may be at work: what can be copied without keeping them from writing is copied first, and nobody
/// is waited for. Where it fails, the log is simply read, and the next checkpoint ends it. Returns whether it was ended.
pub(crate) fn checkpoint(connection: &Connection, mode: &str) -> Result<bool, DbError> {
    let timeout: u32 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    connection.busy_timeout(Duration::ZERO)?;
    // The read is for a connection to a new file that nothing was run on: there the checkpoint begins a read of its own and
    // waits for its end.
    drop(connection.execute_batch("SELECT 1 FROM sqlite_schema LIMIT 1; PRAGMA wal_checkpoint(PASSIVE)"));
    let is_busy = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get::<_, i64>(0));
    connection.busy_timeout(Duration::from_millis(timeout.into()))?;
    Ok(is_busy.is_ok_and(|is_busy| is_busy == 0))
}

/// Opens a connection to a file.
pub(crate) fn connect(path: &Path, busy_timeout: Duration) -> Result<Connection, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    // The writer empties the log when it ends. The files beside the database stay, so that it can be opened on a full disk.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // A page holds two records of the usual size, so that most rows need no overflow page.
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // The writer has the log copied; this holds where a few writes are very large.
    connection.pragma_update(None, "wal_autocheckpoint", 8_000)?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // What is deleted is overwritten: a person who was erased is not to be found in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.set_prepared_statement_cache_capacity(256);
    Ok(connection)
}

/// SQLite numbers `$2` by where it first stands and `?2` by what it says, which is what PostgreSQL means by `$2`. No
/// statement has a dollar sign of another meaning.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

pub(crate) fn each(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
    row: &mut EachRow<'_>,
) -> Result<(), DbError> {
    let mut statement = connection.prepare_cached(&numbered(sql))?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    while let Some(found) = rows.next()? {
        row(&Row::sqlite(found))?;
    }
    Ok(())
}

pub(crate) fn execute(connection: &Connection, sql: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
    let changed = connection.prepare_cached(&numbered(sql))?.execute(rusqlite::params_from_iter(values))?;
    Ok(changed as u64)
}
