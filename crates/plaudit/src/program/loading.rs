//! Reads the records of a snapshot: they are taken apart by a second thread while they are read, once there are many.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::snapshot::unknown;
use super::{Program, Record, store};
use crate::db::{AccountId, Db, DbError};
use crate::kind::Kind;

/// The bytes of records that are handed over together.
const CHUNK: usize = 64 << 10;

/// How many chunks may wait for the second thread; the first one does the next itself.
const WAITING: usize = 2;

/// Some records as they are stored.
#[derive(Default)]
struct Chunk {
    text: String,
    rows: Vec<(Kind, Record<Range<usize>>)>,
}

/// The second thread, and the way to it.
struct Helper {
    queue: Sender<Chunk>,
    /// The other end, at which the first thread helps out.
    waiting: Arc<Mutex<Receiver<Chunk>>>,
    count: Arc<AtomicUsize>,
    task: JoinHandle<Result<Program, DbError>>,
}

/// Adds every record of the account to a program that has none.
pub(super) async fn load(db: &Db, account: AccountId, program: &mut Program) -> Result<(), DbError> {
    let mut chunk = Chunk::default();
    let mut helper = None;
    store::each(db, account, |kind, row| {
        chunk.add(kind, &row)?;
        if chunk.text.len() < CHUNK {
            return Ok(());
        }
        let full = std::mem::take(&mut chunk);
        let helper = helper.get_or_insert_with(|| Helper::begin(program.clone()));
        if helper.count.load(Ordering::Acquire) >= WAITING {
            return full.read(program);
        }
        helper.take(full)
    })
    .await?;
    chunk.read(program)?;
    match helper {
        Some(helper) => helper.finish(program).await,
        None => Ok(()),
    }
}

impl Chunk {
    fn add(&mut self, kind: &str, row: &Record<&str>) -> Result<(), DbError> {
        let known = Kind::named(kind).ok_or_else(|| unknown(kind))?;
        let start = self.text.len();
        self.text.push_str(row.value);
        let value = start..self.text.len();
        self.rows.push((known, Record { value, revision: row.revision, deleted: row.deleted }));
        Ok(())
    }

    fn read(self, program: &mut Program) -> Result<(), DbError> {
        let Self { text, rows } = self;
        rows.into_iter().try_for_each(|(kind, Record { value, revision, deleted })| {
            program.push(kind, &Record { value: &text[value], revision, deleted })
        })
    }
}

impl Helper {
    /// Begins with a program without records.
    fn begin(mut program: Program) -> Self {
        let (queue, waiting) = channel();
        let waiting: Arc<Mutex<Receiver<Chunk>>> = Arc::new(Mutex::new(waiting));
        let count = Arc::new(AtomicUsize::new(0));
        let (mine, counted) = (Arc::clone(&waiting), Arc::clone(&count));
        let task = tokio::task::spawn_blocking(move || {
            loop {
                let received = mine.lock().recv();
                let Ok(chunk) = received else { return Ok(program) };
                counted.fetch_sub(1, Ordering::Release);
                chunk.read(&mut program)?;
            }
        });
        Self { queue, waiting, count, task }
    }

    fn take(&self, chunk: Chunk) -> Result<(), DbError> {
        self.count.fetch_add(1, Ordering::Release);
        // Both ends are held here.
        self.queue.send(chunk).map_err(|_| DbError::Failed("the loading of a program has stopped".to_owned()))
    }

    /// Adds what the second thread has read.
    async fn finish(self, program: &mut Program) -> Result<(), DbError> {
        let Self { queue, waiting, task, .. } = self;
        drop(queue);
        // The thread holds the lock only while it waits, which it no longer has to.
        loop {
            let received = waiting.lock().try_recv();
            let Ok(chunk) = received else { break };
            chunk.read(program)?;
        }
        // A thread that has not begun yet has nothing left to do.
        task.abort();
        match task.await {
            Ok(read) => program.absorb(read?),
            Err(error) if error.is_cancelled() => {}
            Err(_) => return Err(DbError::Failed("the loading of a program panicked".to_owned())),
        }
        Ok(())
    }
}
