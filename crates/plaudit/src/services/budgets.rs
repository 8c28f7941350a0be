//! What answers on their way out and bodies on their way in may take: memory, and room in the spool.
//!
//! - Memory is one budget, the spool another. What is longer than its share of memory, or finds nothing left of it, waits in
//!   a file of the spool. Where that has no room either, an answer or a body is refused until others have ended, however
//!   they end.
//! - No account takes more than its quota, nor more than half of what the others leave: however many accounts take all they
//!   can, there is something for the next one.
//! - What a request did is told whatever it takes: only the answer to a change that was made may exceed the quotas. An account
//!   that has taken its quota begins no change, and none that has anything where all have taken twice of what there is.
//! - A file of the spool has no name, so that nothing is left of it whatever ends the process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, try_unfold};
use parking_lot::Mutex;

use db::AccountId;
use kernel::clock::{Stopwatch, Throttle};

/// The bytes that are read back from the spool at once.
const PIECE: usize = 64 << 10;

/// The system's folder for large temporary files.
const LARGE_FILES: &str = "/var/tmp";

/// How often is logged that the spool fails.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// How long something in the spool is read at most.
const LONGEST: Duration = Duration::from_hours(1);

/// How much there is of everything.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of one answer that wait in memory.
    pub answer_bytes: usize,
    /// The most bytes that answers, bodies and events take in memory.
    pub memory_bytes: usize,
    /// The most bytes of the records of a page.
    pub page_bytes: usize,
    /// The folder of the spool; without one it is the system's for large temporary files, or else for any.
    pub spool_directory: Option<PathBuf>,
    /// The most bytes in the spool.
    pub spool_bytes: u64,
    /// The most bytes of one account in the spool.
    pub account_spool_bytes: u64,
}

impl Limits {
    /// A file of the spool, without a name.
    fn file(&self) -> io::Result<File> {
        match &self.spool_directory {
            Some(directory) => tempfile::tempfile_in(directory),
            // The other one often is in memory (Filesystem Hierarchy Standard 3.0, section 5.15).
            None => tempfile::tempfile_in(LARGE_FILES).or_else(|_| tempfile::tempfile()),
        }
    }

    /// Writes to the spool and reads from it; gives what it is called in messages.
    pub fn probe_spool(&self) -> (String, io::Result<()>) {
        let name = match &self.spool_directory {
            Some(directory) => directory.display().to_string(),
            None if tempfile::tempfile_in(LARGE_FILES).is_ok() => LARGE_FILES.to_owned(),
            None => "in the folder for temporary files".to_owned(),
        };
        (name, self.file().and_then(|mut file| file.write_all(b"x")))
    }
}

/// The budgets of a node. Cloning is cheap; the clones are the same budgets.
#[derive(Clone, Debug)]
pub struct Budgets(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: Limits,
    memory: Shared,
    spool: Shared,
    counters: Counters,
    failing: Throttle,
}

/// Bytes that the accounts of a node share.
#[derive(Debug)]
struct Shared {
    most: u64,
    most_of_account: u64,
    taken: Mutex<Taken>,
}

/// How many bytes are taken, and how many of them by each account that has any.
#[derive(Debug, Default)]
struct Taken {
    bytes: u64,
    accounts: HashMap<AccountId, u64>,
}

impl Shared {
    fn new(most: u64, most_of_account: u64) -> Self {
        Self { most, most_of_account, taken: Mutex::default() }
    }

    fn bytes(&self) -> u64 {
        self.taken.lock().bytes
    }

    fn take(&self, account: AccountId, bytes: u64, overdraws: bool) -> Result<(), NoRoom> {
        let mut taken = self.taken.lock();
        let own = taken.accounts.get(&account).copied().unwrap_or_default();
        let left_by_others = self.most.saturating_sub(taken.bytes - own);
        if !overdraws && own + bytes > self.most_of_account {
            return Err(NoRoom::OfAccount);
        }
        if !overdraws && own + bytes > left_by_others / 2 {
            return Err(NoRoom::OnNode);
        }
        if bytes > 0 {
            taken.accounts.insert(account, own + bytes);
            taken.bytes += bytes;
        }
        Ok(())
    }

    fn give_back(&self, account: AccountId, bytes: u64) {
        let mut taken = self.taken.lock();
        taken.bytes -= bytes;
        if let Some(own) = taken.accounts.get_mut(&account) {
            *own -= bytes;
            if *own == 0 {
                taken.accounts.remove(&account);
            }
        }
    }

    /// Refuses an account that has taken its quota, and one that has anything where all have taken twice of what there is.
    fn check_overdrawn(&self, account: AccountId) -> Result<(), NoRoom> {
        let taken = self.taken.lock();
        match taken.accounts.get(&account) {
            Some(own) if *own >= self.most_of_account => Err(NoRoom::OfAccount),
            Some(_) if taken.bytes >= self.most.saturating_mul(2) => Err(NoRoom::OnNode),
            _ => Ok(()),
        }
    }
}

/// What the budgets of a node have decided.
#[derive(Debug, Default)]
pub struct Counters {
    /// Files that were made in the spool.
    pub spooled: AtomicU64,
    /// Answers and bodies that were refused because the spool had no room.
    pub refused: AtomicU64,
}

/// The spool has no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The account has filled its quota.
    #[error("Answers and bodies of the account that are on their way fill its share of the spool; try again later.")]
    OfAccount,
    /// The spool or its disk is full.
    #[error("Answers and bodies that are on their way fill the spool of the service; try again later.")]
    OnNode,
}

/// Why something could not be put into the spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// There is no room.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The file system failed.
    #[error("the spool failed: {0}")]
    Failed(#[from] io::Error),
}

impl Budgets {
    /// Budgets of which nothing is taken yet.
    pub fn new(limits: Limits) -> Self {
        let memory = Shared::new(limits.memory_bytes as u64, u64::MAX);
        let spool = Shared::new(limits.spool_bytes, limits.account_spool_bytes);
        Self(Arc::new(Inner {
            limits,
            memory,
            spool,
            counters: Counters::default(),
            failing: Throttle::new(LOG_EVERY),
        }))
    }

    /// How much there is.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// How many bytes of memory answers and bodies take.
    pub fn memory_bytes(&self) -> u64 {
        self.0.memory.bytes()
    }

    /// How many bytes the spool has.
    pub fn spool_bytes(&self) -> u64 {
        self.0.spool.bytes()
    }

    /// What was decided.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Memory for something of an account, nothing of it yet.
    pub fn memory(&self, account: AccountId) -> Memory {
        Memory { budgets: self.clone(), account, bytes: 0, overdraws: false }
    }

    /// A new file of the spool. Where it `overdraws`, no quota keeps anything out of it.
    pub fn spool(&self, account: AccountId, overdraws: bool) -> Result<SpoolFile, SpoolError> {
        let file = Mutex::new(self.0.limits.file().map_err(|error| self.failed(error))?);
        self.0.counters.spooled.fetch_add(1, Ordering::Relaxed);
        Ok(SpoolFile { file, length: 0, account, overdraws, budgets: self.clone() })
    }

    /// Refuses a change where answers to changes have taken as much as they may in excess of the quotas.
    pub fn check_room(&self, account: AccountId) -> Result<(), NoRoom> {
        let checked = self.0.memory.check_overdrawn(account).and_then(|()| self.0.spool.check_overdrawn(account));
        checked.inspect_err(|_| self.count_refused())
    }

    /// What the file system could not do, which the operator learns from the log.
    fn failed(&self, error: io::Error) -> SpoolError {
        if self.0.failing.passes() {
            tracing::error!(%error, "the spool takes no more");
        }
        if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            self.count_refused();
            return NoRoom::OnNode.into();
        }
        SpoolError::Failed(error)
    }

    fn count_refused(&self) {
        self.0.counters.refused.fetch_add(1, Ordering::Relaxed);
    }
}

/// Memory that something takes until this is dropped.
#[derive(Debug)]
pub struct Memory {
    budgets: Budgets,
    account: AccountId,
    bytes: u64,
    /// Whether it gets what it needs whatever is left.
    pub overdraws: bool,
}

impl Memory {
    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Takes so many bytes more, unless that is more than is left for the account.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let is_taken = self.budgets.0.memory.take(self.account, bytes as u64, self.overdraws).is_ok();
        if is_taken {
            self.bytes += bytes as u64;
        }
        is_taken
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.budgets.0.memory.give_back(self.account, self.bytes);
    }
}

/// A file of the spool. When it is dropped it is gone, and its room is given back.
#[derive(Debug)]
pub struct SpoolFile {
    file: Mutex<File>,
    length: u64,
    account: AccountId,
    overdraws: bool,
    budgets: Budgets,
}

impl SpoolFile {
    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Writes at the end. Where that fails, nothing more can be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        let taken = bytes.len() as u64;
        let Inner { spool, .. } = &*self.budgets.0;
        spool.take(self.account, taken, self.overdraws).inspect_err(|_| self.budgets.count_refused())?;
        if let Err(error) = self.file.get_mut().write_all(bytes) {
            spool.give_back(self.account, taken);
            return Err(self.budgets.failed(error));
        }
        self.length += taken;
        Ok(())
    }

    /// A part of what was written; it ends at the end at the latest.
    pub fn part(&self, range: Range<u64>) -> io::Result<Bytes> {
        let bytes = range.end.min(self.length).saturating_sub(range.start);
        self.read(range.start, Vec::with_capacity(usize::try_from(bytes).map_err(io::Error::other)?))
    }

    /// The bytes from this place on, as many as the buffer has room for.
    fn read(&self, at: u64, mut buffer: Vec<u8>) -> io::Result<Bytes> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(at))?;
        (&*file).take(buffer.capacity() as u64).read_to_end(&mut buffer)?;
        Ok(buffer.into())
    }

    /// What was written, piece by piece, each read when it is asked for. It is not kept for longer than an hour for who
    /// takes it more slowly than that.
    pub fn pieces(self: Arc<Self>) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        self.pieces_within(LONGEST)
    }

    fn pieces_within(self: Arc<Self>, longest: Duration) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        let mut begun = None;
        try_unfold((self, 0), move |(file, at)| {
            let is_late = begun.get_or_insert_with(Stopwatch::start).elapsed() >= longest;
            async move {
                if at == file.length {
                    return Ok(None);
                }
                if is_late {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                // Made here: threads that block are many, and each would keep memory of its own for it.
                let buffer =
                    Vec::with_capacity(usize::try_from(file.length - at).map_or(PIECE, |left| left.min(PIECE)));
                let reader = Arc::clone(&file);
                let piece = tokio::task::spawn_blocking(move || reader.read(at, buffer)).await;
                let piece = piece.map_err(io::Error::other)??;
                if piece.is_empty() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let next = at + piece.len() as u64;
                Ok(Some((piece, (file, next))))
            }
        })
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        self.budgets.0.spool.give_back(self.account, self.length);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    const ACCOUNTS: [AccountId; 2] = [AccountId(1), AccountId(2)];

    fn budgets() -> Budgets {
        Budgets::new(Limits {
            answer_bytes: 10,
            memory_bytes: 16,
            page_bytes: 1_000,
            spool_directory: None,
            spool_bytes: 400_000,
            account_spool_bytes: 150_000,
        })
    }

    #[test]
    fn memory_is_left_for_the_next_account_and_given_back() {
        let budgets = budgets();
        let [mut first, mut second] = ACCOUNTS.map(|account| budgets.memory(account));
        assert!(first.grow(6) && first.grow(2) && !first.grow(1), "an account has half of what the others leave");
        assert!(second.grow(4) && !second.grow(1));
        assert_eq!(budgets.memory_bytes(), 12);
        drop(first);
        assert!(second.grow(4) && !second.grow(1));
        second.overdraws = true;
        assert!(second.grow(100));
        drop(second);
        assert_eq!(budgets.memory_bytes(), 0);
    }

    #[test]
    fn the_spool_has_a_quota_by_account_and_leaves_something_for_the_next() {
        let budgets = budgets();
        let [mut first, mut second, mut third] = [1, 2, 3].map(|id| budgets.spool(AccountId(id), false).unwrap());
        first.write(&vec![b'x'; 150_000]).unwrap();
        assert!(matches!(first.write(b"x"), Err(SpoolError::NoRoom(NoRoom::OfAccount))));
        second.write(&vec![b'x'; 120_000]).unwrap();
        assert!(matches!(second.write(&vec![b'x'; 6_000]), Err(SpoolError::NoRoom(NoRoom::OnNode))));
        third.write(&vec![b'x'; 60_000]).unwrap();
        assert_eq!(budgets.spool_bytes(), 330_000);
        assert_eq!(budgets.counters().refused.load(Ordering::Relaxed), 2);
        drop((first, second, third));
        assert_eq!(budgets.spool_bytes(), 0);
        assert!(budgets.0.spool.taken.lock().accounts.is_empty());
    }

    #[test]
    fn what_was_done_is_told_beyond_the_quota_and_no_change_of_the_account_begins_there() {
        let budgets = budgets();
        let [mut first, mut second] = ACCOUNTS.map(|account| budgets.spool(account, true).unwrap());
        second.write(b"x").unwrap();
        first.write(&vec![b'x'; 149_999]).unwrap();
        assert_eq!(ACCOUNTS.map(|account| budgets.check_room(account)), [Ok(()); 2]);
        first.write(b"x").unwrap();
        assert_eq!(ACCOUNTS.map(|account| budgets.check_room(account)), [Err(NoRoom::OfAccount), Ok(())]);
        first.write(&vec![b'x'; 650_000]).unwrap();
        let refused = [Err(NoRoom::OfAccount), Err(NoRoom::OnNode)];
        assert_eq!(ACCOUNTS.map(|account| budgets.check_room(account)), refused);
        assert_eq!(budgets.check_room(AccountId(3)), Ok(()), "who has nothing is not to suffer");
    }

    #[tokio::test]
    async fn who_takes_too_long_for_what_is_in_the_spool_gets_no_more_of_it() {
        let mut file = budgets().spool(ACCOUNTS[0], false).unwrap();
        file.write(b"x").unwrap();
        let mut pieces = Box::pin(Arc::new(file).pieces_within(Duration::ZERO));
        assert_eq!(pieces.try_next().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn what_was_written_to_the_spool_is_read_back_by_whoever_reads_it() {
        let mut file = budgets().spool(ACCOUNTS[0], false).unwrap();
        let mut written = Vec::new();
        for letter in b'a'..=b'e' {
            file.write(&vec![letter; 30_000]).unwrap();
            written.extend(vec![letter; 30_000]);
        }
        let file = Arc::new(file);
        let (mut first, mut second) = (Box::pin(Arc::clone(&file).pieces()), Box::pin(file.pieces()));
        let mut read = [Vec::new(), Vec::new()];
        while let (Some(one), Some(other)) = (first.try_next().await.unwrap(), second.try_next().await.unwrap()) {
            read[0].extend(one);
            read[1].extend(other);
        }
        assert!(read[0] == written && read[1] == written);
    }
}
