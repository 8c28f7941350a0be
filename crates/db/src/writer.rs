//! The writer of SQLite: a thread that commits in groups.
//!
//! - A group is what waits when it begins: one transaction, and one wait for the disk.
//! - Writes are run without savepoints, because with one SQLite copies each page before it is changed. Where a write fails that changed
//!   rows, its group is rolled back and run again with a savepoint for each write.
//! - Checkpoints, which copy the write-ahead log into the file, are made by a thread of their own while the writer goes on. Where the log has
//!   become long, or a checkpoint falls behind, the writer waits for it and copies the rest, so that the log is begun again.
//! - A task of the runtime gives the answers: it is woken once for a group, and not the runtime by each of them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle, yield_now};

use futures_util::FutureExt;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task;

use super::DbError;
use super::group::Job;
use super::session::sqlite::checkpoint;
use super::tx::{HELD_LIMIT, Tx};

/// After how many changed rows a checkpoint is made. A row of the usual size changes a page.
const CHECKPOINT_ROWS: u64 = 1_024;

/// How many rows the writer may change while a checkpoint is made.
const ROWS_AHEAD: u64 = 2_048;

/// From how many pages on the write-ahead log is begun again; 24 MB.
const LONG_WAL: i64 = 3_000;

/// The writer, for those who hand it writes.
pub(super) struct Writer {
    jobs: Mutex<Option<Sender<Box<dyn Job>>>>,
    /// The thread that writes, and the task that answers.
    running: Mutex<Option<(JoinHandle<()>, task::JoinHandle<()>)>>,
}

impl Writer {
    /// Starts a writer of `tx`, which commits at most `group_limit` writes at once; `other` is another connection to the same file.
    pub(super) fn start(tx: Tx, other: Connection, group_limit: usize) -> Result<Self, DbError> {
        let runtime = Handle::try_current().map_err(|error| DbError::Failed(error.to_string()))?;
        let failed = |error: std::io::Error| DbError::Failed(error.to_string());
        let (answers, mut ended) = unbounded_channel();
        let answering = runtime.spawn(async move { while ended.recv().await.map(Ended::answer).is_some() {} });
        let mut checkpoints = Checkpoints::start(other).map_err(failed)?;
        let (jobs, queue) = channel();
        let writing = move || {
            let mut tx = tx;
            while let Ok(first) = queue.recv() {
                write_group(&mut tx, first, &queue, group_limit.max(1), &answers);
                if let Some(connection) = tx.sqlite() {
                    checkpoints.follow(connection);
                }
            }
            checkpoints.close();
            if let Some(connection) = tx.sqlite() {
                // The next start is quicker with an empty log.
                drop(checkpoint(connection, "TRUNCATE"));
            }
        };
        let writing = Builder::new().name("plaudit-writer".to_owned()).spawn(writing).map_err(failed)?;
        Ok(Self { jobs: Mutex::new(Some(jobs)), running: Mutex::new(Some((writing, answering))) })
    }

    pub(super) fn submit(&self, job: Box<dyn Job>) -> Result<(), DbError> {
        let stopped = || DbError::Failed("the writer has stopped".to_owned());
        self.jobs.lock().as_ref().ok_or_else(stopped)?.send(job).map_err(|_| stopped())
    }

    /// Waits until every write that was handed over is answered.
    pub(super) async fn close(&self) {
        self.jobs.lock().take();
        let running = self.running.lock().take();
        if let Some((writing, answering)) = running {
            drop(task::spawn_blocking(move || writing.join()).await);
            drop(answering.await);
        }
    }
}

/// The thread that makes checkpoints, and when the next one is due.
struct Checkpoints {
    thread: JoinHandle<()>,
    begin: Sender<()>,
    /// How many pages the log had at each checkpoint.
    ended: Receiver<i64>,
    is_running: bool,
    /// How many rows had been changed when the last one was begun.
    before: u64,
}

impl Checkpoints {
    fn start(connection: Connection) -> std::io::Result<Self> {
        let (begin, wanted) = channel();
        let (pages, ended) = channel();
        let work = move || while wanted.recv().is_ok() && pages.send(checkpoint_passively(&connection)).is_ok() {};
        let thread = Builder::new().name("plaudit-wal".to_owned()).spawn(work)?;
        Ok(Self { thread, begin, ended, is_running: false, before: 0 })
    }

    /// Begins a checkpoint after a commit, where one is due.
    fn follow(&mut self, writer: &Connection) {
        let rows = writer.total_changes() - self.before;
        if self.is_running {
            let falls_behind = rows >= ROWS_AHEAD;
            let pages = if falls_behind { self.ended.recv().ok() } else { self.ended.try_recv().ok() };
            let Some(pages) = pages else { return };
            self.is_running = false;
            if falls_behind || pages >= LONG_WAL {
                checkpoint_passively(writer);
                self.before = writer.total_changes();
            }
        } else if rows >= CHECKPOINT_ROWS {
            self.is_running = self.begin.send(()).is_ok();
            self.before = writer.total_changes();
        }
    }

    fn close(self) {
        drop(self.begin);
        drop(self.thread.join());
    }
}

/// Copies what it can of the log into the file, keeps nobody waiting, and returns how many pages the log has. Where it fails, the next
/// checkpoint copies it.
fn checkpoint_passively(connection: &Connection) -> i64 {
    let pages = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1));
    pages.unwrap_or_else(|error| {
        tracing::warn!(%error, "the log could not be copied into the database");
        0
    })
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

/// Takes what waits, runs it in one transaction, commits once, and has everybody answered.
fn write_group(
    tx: &mut Tx,
    first: Box<dyn Job>,
    queue: &Receiver<Box<dyn Job>>,
    limit: usize,
    answers: &UnboundedSender<Ended>,
) {
    // On one processor those who have the next writes are run first, and the group has these too.
    yield_now();
    let mut group = vec![first];
    let outcome = commit_group(tx, queue, limit, &mut group);
    if outcome.is_err() {
        roll_back(tx);
    }
    // A runtime that has stopped answers nobody.
    if let Err(SendError(ended)) = answers.send(Ended { group, outcome }) {
        ended.answer();
    }
}

fn commit_group(
    tx: &mut Tx,
    queue: &Receiver<Box<dyn Job>>,
    limit: usize,
    group: &mut Vec<Box<dyn Job>>,
) -> Result<(), DbError> {
    let begun = begin(tx);
    let mut is_marked = false;
    while let Some(job) = group.last_mut() {
        // Where the file is locked, all of a group are told at once, and do not wait for it one after the other.
        if begun.is_ok() {
            if is_marked {
                write_marked(tx, job.as_mut())?;
            } else if !write_unmarked(tx, job.as_mut())? {
                is_marked = true;
                roll_back(tx);
                begin(tx)?;
                group.iter_mut().try_for_each(|job| write_marked(tx, job.as_mut()))?;
            }
        }
        let has_room = group.len() < limit && tx.held < HELD_LIMIT;
        match has_room.then(|| queue.try_recv()) {
            Some(Ok(next)) => group.push(next),
            Some(Err(_)) | None => break,
        }
    }
    begun?;
    now(tx.write_heads())?;
    now(tx.control("COMMIT"))?;
    tx.tell();
    Ok(())
}

fn begin(tx: &mut Tx) -> Result<(), DbError> {
    tx.held = 0;
    now(tx.control("BEGIN IMMEDIATE"))
}

fn roll_back(tx: &mut Tx) {
    tx.heads.clear();
    tx.written.clear();
    if let Some(connection) = tx.sqlite()
        && !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}

/// Runs a write, and returns whether the transaction may go on: not where the write failed and changed rows before.
fn write_unmarked(tx: &mut Tx, job: &mut dyn Job) -> Result<bool, DbError> {
    let changed = tx.sqlite().map(Connection::total_changes);
    tx.undo.clear();
    let is_kept = run(tx, job)?;
    if !is_kept {
        tx.undo_heads();
    }
    Ok(is_kept || tx.sqlite().map(Connection::total_changes) == changed)
}

/// Runs a write in a savepoint.
fn write_marked(tx: &mut Tx, job: &mut dyn Job) -> Result<(), DbError> {
    now(tx.savepoint())?;
    if run(tx, job)? { now(tx.release()) } else { now(tx.undo()) }
}

fn run(tx: &mut Tx, job: &mut dyn Job) -> Result<bool, DbError> {
    let is_kept = job.run(tx).now_or_never().ok_or_else(awaited)?;
    if tx.sqlite().is_some_and(Connection::is_autocommit) {
        // Where a transaction finds no room for what it wrote before its commit, SQLite gives up all of it.
        return Err(DbError::DiskFull("the transaction was given up".to_owned()));
    }
    Ok(is_kept)
}

fn now<T>(future: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    future.now_or_never().ok_or_else(awaited)?
}

fn awaited() -> DbError {
    DbError::Failed("a write awaited something other than its transaction".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::AccountId;
    use crate::group::job;
    use crate::session::sqlite::{Connected, connect};
    use crate::tx::Link;

    /// A write that appends its letter to the log, changes its account's head, and then fails where it is told to.
    type Step = (&'static str, bool);

    fn write(
        step: Step,
        runs: &Arc<AtomicUsize>,
    ) -> (Box<dyn Job>, tokio::sync::oneshot::Receiver<Result<i64, DbError>>) {
        job((step, Arc::clone(runs)), |tx, ((letter, fails), runs)| {
            Box::pin(async move {
                runs.fetch_add(1, Ordering::Relaxed);
                let refused = || DbError::Failed(format!("{letter} is refused"));
                if *letter == "unwritten" {
                    return Err(refused());
                }
                tx.execute("INSERT INTO log (letter) VALUES ($1)", &[(*letter).into()]).await?;
                let head = tx.head(AccountId(1)).await?.ok_or_else(refused)?;
                head.sequence += 1;
                head.changed = true;
                let sequence = head.sequence;
                if *fails { Err(refused()) } else { Ok(sequence) }
            })
        })
    }

    /// Commits the writes as one group, and returns their answers, what is in the log afterwards, and how often a write was run.
    fn commit(steps: &[Step]) -> (Vec<Option<i64>>, String, usize) {
        let folder = tempfile::tempdir().unwrap();
        let connection = connect(&folder.path().join("new.db"), Duration::ZERO).unwrap();
        let tables = "CREATE TABLE log (letter TEXT); \
                      CREATE TABLE accounts (id INTEGER, version INTEGER, sequence INTEGER, hash BLOB); \
                      INSERT INTO accounts VALUES (1, 0, 0, zeroblob(32))";
        connection.execute_batch(tables).unwrap();
        let mut tx = Tx::new(Link::Sqlite(Connected::new(connection)), Arc::default());
        let runs = Arc::default();
        let (jobs, queue) = channel();
        let answers: Vec<_> = steps
            .iter()
            .map(|step| {
                let (job, answer) = write(*step, &runs);
                jobs.send(job).unwrap();
                answer
            })
            .collect();
        let mut group = vec![queue.recv().unwrap()];
        let outcome = commit_group(&mut tx, &queue, steps.len(), &mut group);
        Ended { group, outcome }.answer();
        let answers = answers.into_iter().map(|mut answer| answer.try_recv().unwrap().ok()).collect();
        let log = "SELECT group_concat(letter, '') || ' ' || (SELECT sequence FROM accounts) FROM log";
        let log = tx.sqlite().unwrap().query_row(log, [], |row| row.get(0)).unwrap();
        (answers, log, runs.load(Ordering::Relaxed))
    }

    #[test]
    fn a_write_of_a_group_that_fails_takes_nothing_with_it_and_leaves_nothing() {
        let steps = [("a", false), ("b", true), ("c", false), ("unwritten", true), ("d", true), ("e", false)];
        let expected = vec![Some(1), None, Some(2), None, None, Some(3)];
        assert_eq!(commit(&steps), (expected, "ace 3".to_owned(), steps.len() + 2));
    }

    #[test]
    fn a_write_that_fails_before_it_changes_a_row_needs_no_second_run() {
        let steps = [("a", false), ("unwritten", true), ("b", false)];
        assert_eq!(commit(&steps), (vec![Some(1), None, Some(2)], "ab 2".to_owned(), steps.len()));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_log_is_begun_again_however_much_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let open = || connect(&folder.path().join("new.db"), Duration::ZERO).unwrap();
        let connection = open();
        connection.execute_batch("CREATE TABLE rows (bytes BLOB)").unwrap();
        let tx = Tx::new(Link::Sqlite(Connected::new(connection)), Arc::default());
        let writer = Writer::start(tx, open(), 32).unwrap();
        let page = || {
            let (job, answer) = job((), |tx, ()| Box::pin(tx.execute("INSERT INTO rows VALUES (zeroblob(8000))", &[])));
            writer.submit(job).unwrap();
            answer
        };
        let answers: Vec<_> = (0..10_000).map(|_| page()).collect();
        for answer in answers {
            assert_eq!(answer.await.unwrap(), Ok(1));
        }
        let log = std::fs::metadata(folder.path().join("new.db-wal")).unwrap().len();
        assert!(log < 8_192 * 7_000, "{log} bytes of log for 10,000 pages");
        writer.close().await;
        assert_eq!(std::fs::metadata(folder.path().join("new.db-wal")).unwrap().len(), 0);
    }
}
