//! SQLite: a reader for every thread, and one writer that commits in groups.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::group::Job;
use super::row::EachRow;
use super::session::sqlite::{Connected, Idle, checkpoint, connect, each};
use super::tx::{HELD_LIMIT, Link, Tx};
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
    jobs: Mutex<Option<Sender<Box<dyn Job>>>>,
    /// The writer, and the task that gives its answers.
    writer: Mutex<Option<(std::thread::JoinHandle<()>, tokio::task::JoinHandle<()>)>>,
}

/// Writes that were run together, and the outcome of their commit.
struct Ended {
    group: Vec<Box<dyn Job>>,
    outcome: Result<(), DbError>,
}

impl Ended {
    fn answer(self) {
        let Self { group, outcome } = self;
        for job in group {
            job.answer(outcome.as_ref().copied().map_err(DbError::of_commit));
        }
    }
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
        let (jobs, queue) = channel();
        let link = Link::Sqlite(Connected::new(connection));
        let tx = Tx::new(link, Arc::clone(activity));
        let group_limit = settings.group_limit.max(1);
        let runtime = Handle::try_current().map_err(|error| DbError::Failed(error.to_string()))?;
        let (answers, mut ended) = unbounded_channel();
        let answering = runtime.spawn(async move { while ended.recv().await.map(Ended::answer).is_some() {} });
        let writer = std::thread::Builder::new()
            .name("plaudit-writer".to_owned())
            .spawn(move || write_groups(tx, &queue, group_limit, &answers))
            .map_err(|error| DbError::Failed(error.to_string()))?;
        Ok(Self {
            path: Arc::new(file),
            number: DATABASES.fetch_add(1, Ordering::Relaxed),
            busy_timeout: settings.busy_timeout,
            idle: Idle::default(),
            activity: Arc::clone(activity),
            jobs: Mutex::new(Some(jobs)),
            writer: Mutex::new(Some((writer, answering))),
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
        let stopped = || DbError::Failed("the writer has stopped".to_owned());
        self.jobs.lock().as_ref().ok_or_else(stopped)?.send(job).map_err(|_| stopped())
    }

    pub(super) async fn close(&self) {
        self.idle.lock().clear();
        self.jobs.lock().take();
        let writer = self.writer.lock().take();
        if let Some((writer, answering)) = writer {
            drop(tokio::task::spawn_blocking(move || writer.join()).await);
            drop(answering.await);
        }
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

/// The writer: takes what waits, runs it in one transaction, commits once, and has everybody answered. A task of the runtime gives the
/// answers: it is woken once for a group, and not the runtime by each of them.
fn write_groups(mut tx: Tx, queue: &Receiver<Box<dyn Job>>, group_limit: usize, answers: &UnboundedSender<Ended>) {
    while let Ok(first) = queue.recv() {
        let mut group = Vec::new();
        let outcome = write_group(&mut tx, first, queue, group_limit, &mut group);
        if outcome.is_err() {
            tx.heads.clear();
            tx.written.clear();
            roll_back(&tx);
        }
        // A runtime that has stopped answers nobody.
        if let Err(SendError(ended)) = answers.send(Ended { group, outcome }) {
            ended.answer();
        }
    }
    if let Some(connection) = tx.sqlite() {
        // The next start is quicker with an empty log.
        drop(checkpoint(connection, "TRUNCATE"));
    }
}

fn roll_back(tx: &Tx) {
    if let Some(connection) = tx.sqlite()
        && !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}

fn write_group(
    tx: &mut Tx,
    first: Box<dyn Job>,
    queue: &Receiver<Box<dyn Job>>,
    group_limit: usize,
    group: &mut Vec<Box<dyn Job>>,
) -> Result<(), DbError> {
    let mut next = Some(first);
    tx.held = 0;
    let begun = now(tx.control("BEGIN IMMEDIATE"));
    while let Some(mut job) = next.take() {
        if begun.is_ok()
            && let Err(error) = write_one(tx, job.as_mut())
        {
            group.push(job);
            return Err(error);
        }
        group.push(job);
        // Where the file is locked, all of a group are told at once, and do not wait for it one after the other.
        if group.len() < group_limit && tx.held < HELD_LIMIT {
            next = queue.try_recv().ok();
        }
    }
    begun?;
    now(tx.write_heads())?;
    now(tx.control("COMMIT"))?;
    tx.tell();
    Ok(())
}

fn write_one(tx: &mut Tx, job: &mut dyn Job) -> Result<(), DbError> {
    now(tx.savepoint())?;
    let kept = job.run(tx).now_or_never().ok_or_else(awaited)?;
    if tx.sqlite().is_some_and(rusqlite::Connection::is_autocommit) {
        // Where a transaction finds no room for what it wrote before its commit, SQLite gives up all of it.
        return Err(DbError::DiskFull("the transaction was given up".to_owned()));
    }
    if kept { now(tx.release()) } else { now(tx.undo()) }
}

fn now<T>(future: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    future.now_or_never().ok_or_else(awaited)?
}

fn awaited() -> DbError {
    DbError::Failed("a write awaited something other than its transaction".to_owned())
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
