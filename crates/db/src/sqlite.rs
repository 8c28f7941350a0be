//! SQLite: a reader for every thread, and one writer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::group::Job;
use super::row::EachRow;
use super::session::sqlite::{Connected, Idle, checkpoint, connect, each};
use super::tx::{Link, Tx};
use super::writer::Writer;
use super::{Activity, DbError, Settings, Value};

/// What is told where the file of a database cannot be used.
const NEEDED: &str = "its folder must be there, and both may be written to by whoever runs this";

/// How long the log is left alone before it is emptied again.
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(100);

static DATABASES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The readers of this thread.
    static READERS: RefCell<Readers> = RefCell::new(HashMap::new());
}

/// Readers by the number of their database and what they read, each with what tells whether that is still open.
type Readers = HashMap<(usize, Access), (Connected, Weak<PathBuf>)>;

/// What a reader of a thread reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// A row by its key. The file is mapped into memory, which spares a call of the system for each page of it. SQLite drops
    /// the map with every commit, which costs no more than it saves where few pages are read.
    Lookup,
    /// Many rows. The file is not mapped: a list after a commit took 1.7 times as long with a map.
    Rows,
}

impl Access {
    /// How many bytes of the file are mapped: as many as SQLite maps, which is 2 GB, or none.
    fn mapped(self) -> i64 {
        match self {
            Self::Lookup => 1 << 40,
            Self::Rows => 0,
        }
    }
}

pub(super) struct Sqlite {
    path: Arc<PathBuf>,
    number: usize,
    busy_timeout: Duration,
    /// Connections that wait for the next snapshot.
    idle: Idle,
    activity: Arc<Activity>,
    writer: Writer,
}

impl Sqlite {
    pub(super) fn open(path: &str, settings: &Settings, activity: &Arc<Activity>) -> Result<Self, DbError> {
        if path.is_empty() || path.starts_with(":memory:") {
            return Err(DbError::Settings("sqlite: needs the path of a file".to_owned()));
        }
        let file = PathBuf::from(path);
        make_file(&file)?;
        let connection = connect(&file, settings.busy_timeout)
            .map_err(|error| DbError::Settings(format!("{path}: {error}; {NEEDED}")))?;
        let tx = Tx::new(Link::Sqlite(Connected::new(connection)), Arc::clone(activity));
        let writer = Writer::start(tx, connect(&file, settings.busy_timeout)?, settings.group_limit)?;
        Ok(Self {
            path: Arc::new(file),
            number: DATABASES.fetch_add(1, Ordering::Relaxed),
            busy_timeout: settings.busy_timeout,
            idle: Idle::default(),
            activity: Arc::clone(activity),
            writer,
        })
    }

    /// A connection of its own.
    pub(super) fn connect(&self) -> Result<Connected, DbError> {
        connect(&self.path, self.busy_timeout).map(Connected::new)
    }

    fn connect_to_read(&self, access: Access) -> Result<Connected, DbError> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        // Room for the upper pages of trees: each thread has its own, and the system caches the file.
        connection.pragma_update(None, "cache_size", -8_192)?;
        connection.pragma_update(None, "mmap_size", access.mapped())?;
        Ok(connection)
    }

    /// Runs a statement inline: handing a point read to another thread costs more than the read.
    pub(super) fn each(
        &self,
        access: Access,
        sql: &str,
        values: &[Value<'_>],
        row: &mut EachRow<'_>,
    ) -> Result<(), DbError> {
        READERS.with_borrow_mut(|readers| {
            let key = (self.number, access);
            if !readers.contains_key(&key) {
                // A database that was closed leaves its readers in the threads that used it.
                readers.retain(|_, (_, path)| path.strong_count() > 0);
            }
            let (connection, _) = match readers.entry(key) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert((self.connect_to_read(access)?, Arc::downgrade(&self.path)))
                }
            };
            each(connection, sql, values, row)
        })
    }

    pub(super) fn snapshot(&self) -> Result<Tx, DbError> {
        let mut connection = match self.idle.lock().pop() {
            Some(connection) => Connected::new(connection),
            None => self.connect_to_read(Access::Rows)?,
        };
        connection.idle = Some(Arc::clone(&self.idle));
        self.transaction(connection, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
    }

    pub(super) fn begin(&self) -> Result<Tx, DbError> {
        // Long work writes to many places of many indexes, which had better stay in memory until the commit.
        self.transaction(self.connect()?, "PRAGMA cache_size = -24576; BEGIN IMMEDIATE")
    }

    fn transaction(&self, connection: Connected, begin: &str) -> Result<Tx, DbError> {
        connection.execute_batch(begin)?;
        Ok(Tx::new(Link::Sqlite(connection), Arc::clone(&self.activity)))
    }

    /// Empties the log, and tries again while somebody reads what was before, as long as a writer waits.
    pub(super) async fn checkpoint(&self) -> Result<(), DbError> {
        let mut waited = Duration::ZERO;
        loop {
            let connection = self.connect()?;
            let done = tokio::task::spawn_blocking(move || checkpoint(&connection, "TRUNCATE")).await;
            if done.map_err(|error| DbError::Failed(error.to_string()))?? {
                return Ok(());
            }
            if waited >= self.busy_timeout {
                return Err(DbError::Busy("somebody reads what was before".to_owned()));
            }
            tokio::time::sleep(CHECKPOINT_PAUSE).await;
            waited += CHECKPOINT_PAUSE;
        }
    }

    pub(super) fn submit(&self, job: Box<dyn Job>) -> Result<(), DbError> {
        self.writer.submit(job)
    }

    pub(super) async fn close(&self) {
        self.idle.lock().clear();
        self.writer.close().await;
    }
}

/// Makes the file of a new database for its owner alone: it holds people's addresses and the secret of downloads. SQLite
/// gives its other files the mode of this one. One that is there and has nothing in it was a database and lost it, or is
/// something else: SQLite would begin a new one in it.
fn make_file(path: &Path) -> Result<(), DbError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(DbError::Settings(format!("{}: {error}; {NEEDED}", path.display())))
        }
        Err(_) if std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0) => {
            Err(DbError::Settings(format!(
                "{}: the file is empty, and no database; remove it to begin a new one, or to restore a backup",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::poll_immediate;

    use crate::{AccountId, Db, DbError, Settings};

    #[tokio::test]
    async fn a_database_that_is_closed_has_answered_every_write() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::at(&format!("sqlite:{}", folder.path().join("new.db").display()));
        let db = Db::open(&settings).await.unwrap();
        let write = || Box::pin(db.write(AccountId::NONE, (), |_, ()| Box::pin(async { Ok::<_, DbError>(7) })));
        let mut writes: Vec<_> = (0..20).map(|_| write()).collect();
        for write in &mut writes {
            assert_eq!(poll_immediate(write).await, None);
        }
        db.close().await;
        for write in &mut writes {
            assert_eq!(poll_immediate(write).await, Some(Ok(7)));
        }
    }
}
