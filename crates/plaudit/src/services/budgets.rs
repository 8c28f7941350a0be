//! What answers on their way out and uploads on their way in may take: memory, and room in the spool.
//!
//! - The memory of answers is one budget. An answer that is longer than its share, or for which nothing is left of the
//!   budget, waits in a file of the spool and is sent from there.
//! - The spool has a quota in all and one for each account. Where either is used up, an answer or an upload is refused
//!   until others have ended, however they end.
//! - What a request did is told whatever it takes: only the answer to a change that was made may exceed the quotas, and no
//!   change begins where there is no room.
//! - A file of the spool has no name, so that nothing is left of it whatever ends the process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::stream::{Stream, try_unfold};
use parking_lot::Mutex;

use db::AccountId;

/// The bytes that are read back from the spool at once.
const PIECE: usize = 64 << 10;

/// How much there is of everything.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of one answer that wait in memory.
    pub answer_bytes: usize,
    /// The most bytes of all answers that wait in memory.
    pub memory_bytes: usize,
    /// The most bytes of the records of a page.
    pub page_bytes: usize,
    /// The folder of the spool; without one it is the system's folder for temporary files.
    pub spool_directory: Option<PathBuf>,
    /// The most bytes in the spool.
    pub spool_bytes: u64,
    /// The most bytes of one account in the spool.
    pub account_spool_bytes: u64,
}

impl Limits {
    /// A file of the spool, without a name.
    fn file(&self) -> io::Result<File> {
        self.spool_directory.as_ref().map_or_else(tempfile::tempfile, tempfile::tempfile_in)
    }

    /// Writes to the spool and reads from it; gives what it is called in messages.
    pub fn probe_spool(&self) -> (String, io::Result<()>) {
        let name = self.spool_directory.as_ref().map(|directory| directory.display().to_string());
        let probed = self.file().and_then(|mut file| file.write_all(b"x"));
        (name.unwrap_or_else(|| "in the folder for temporary files".to_owned()), probed)
    }
}

/// The budgets of a node. Cloning is cheap; the clones are the same budgets.
#[derive(Clone, Debug)]
pub struct Budgets(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: Limits,
    memory: AtomicUsize,
    spool: Mutex<Spool>,
    counters: Counters,
}

/// How many bytes the spool has, and how many of them each account that has any.
#[derive(Debug, Default)]
struct Spool {
    bytes: u64,
    accounts: HashMap<AccountId, u64>,
}

/// What the budgets of a node have decided.
#[derive(Debug, Default)]
pub struct Counters {
    /// Files that were made in the spool.
    pub spooled: AtomicU64,
    /// Answers and uploads that were refused because the spool had no room.
    pub refused: AtomicU64,
}

/// The spool has no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The account has filled its quota.
    #[error("Answers and uploads of the account that are on their way fill its share of the spool; try again later.")]
    OfAccount,
    /// The spool or its disk is full.
    #[error("Answers and uploads that are on their way fill the spool of the service; try again later.")]
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
    Failed(io::Error),
}

impl From<io::Error> for SpoolError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom(NoRoom::OnNode),
            _ => Self::Failed(error),
        }
    }
}

impl Budgets {
    /// Budgets of which nothing is taken yet.
    pub fn new(limits: Limits) -> Self {
        let (memory, spool, counters) = (AtomicUsize::new(0), Mutex::default(), Counters::default());
        Self(Arc::new(Inner { limits, memory, spool, counters }))
    }

    /// How much there is.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// How many bytes of memory answers take.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory.load(Ordering::Relaxed)
    }

    /// How many bytes the spool has.
    pub fn spool_bytes(&self) -> u64 {
        self.0.spool.lock().bytes
    }

    /// What was decided.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// The memory of an answer, nothing of it yet.
    pub fn memory(&self) -> Memory {
        Memory { budgets: self.clone(), bytes: 0 }
    }

    /// A new file of the spool. Where it `overdraws`, no quota keeps anything out of it.
    pub fn spool(&self, account: AccountId, overdraws: bool) -> Result<SpoolFile, SpoolError> {
        let file = Mutex::new(self.0.limits.file()?);
        self.0.counters.spooled.fetch_add(1, Ordering::Relaxed);
        Ok(SpoolFile { file, length: 0, account, overdraws, budgets: self.clone() })
    }

    /// Refuses where a long answer would find room neither in memory nor in the spool.
    pub fn check_room(&self, account: AccountId) -> Result<(), NoRoom> {
        if self.memory_bytes() < self.0.limits.memory_bytes {
            Ok(())
        } else {
            self.take(account, 1, false).map(|()| self.give_back(account, 1))
        }
    }

    fn take(&self, account: AccountId, bytes: u64, overdraws: bool) -> Result<(), NoRoom> {
        let Limits { spool_bytes, account_spool_bytes, .. } = self.0.limits;
        let mut spool = self.0.spool.lock();
        let all = spool.bytes + bytes;
        let of_account = spool.accounts.entry(account).or_default();
        let refused = if *of_account + bytes > account_spool_bytes {
            Some(NoRoom::OfAccount)
        } else {
            (all > spool_bytes).then_some(NoRoom::OnNode)
        };
        if let Some(refused) = refused.filter(|_| !overdraws) {
            if *of_account == 0 {
                spool.accounts.remove(&account);
            }
            self.0.counters.refused.fetch_add(1, Ordering::Relaxed);
            return Err(refused);
        }
        *of_account += bytes;
        spool.bytes = all;
        Ok(())
    }

    fn give_back(&self, account: AccountId, bytes: u64) {
        let mut spool = self.0.spool.lock();
        spool.bytes -= bytes;
        if let Some(of_account) = spool.accounts.get_mut(&account) {
            *of_account -= bytes;
            if *of_account == 0 {
                spool.accounts.remove(&account);
            }
        }
    }
}

/// Memory that an answer takes until it is dropped.
#[derive(Debug)]
pub struct Memory {
    budgets: Budgets,
    bytes: usize,
}

impl Memory {
    /// Takes so many bytes more, unless that is more than the answer's share or than is left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Inner { limits, memory, .. } = &*self.budgets.0;
        if self.bytes + bytes > limits.answer_bytes {
            return false;
        }
        if memory.fetch_add(bytes, Ordering::Relaxed) + bytes > limits.memory_bytes {
            memory.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.budgets.0.memory.fetch_sub(self.bytes, Ordering::Relaxed);
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

    /// Writes at the end.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        let taken = bytes.len() as u64;
        self.budgets.take(self.account, taken, self.overdraws)?;
        self.length += taken;
        Ok(self.file.get_mut().write_all(bytes)?)
    }

    /// The bytes from this place on, as many as the buffer has room for.
    fn read(&self, at: u64, mut buffer: Vec<u8>) -> io::Result<Bytes> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(at))?;
        (&*file).take(buffer.capacity() as u64).read_to_end(&mut buffer)?;
        Ok(buffer.into())
    }

    /// What was written, piece by piece, each read when it is asked for.
    pub fn pieces(self: Arc<Self>) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        try_unfold((self, 0), |(file, at)| async move {
            if at == file.length {
                return Ok(None);
            }
            // Made here: threads that block are many, and each would keep memory of its own for it.
            let buffer = Vec::with_capacity(usize::try_from(file.length - at).map_or(PIECE, |left| left.min(PIECE)));
            let reader = Arc::clone(&file);
            let piece = tokio::task::spawn_blocking(move || reader.read(at, buffer)).await;
            let piece = piece.map_err(io::Error::other)??;
            if piece.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let next = at + piece.len() as u64;
            Ok(Some((piece, (file, next))))
        })
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        self.budgets.give_back(self.account, self.length);
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
            memory_bytes: 15,
            page_bytes: 1_000,
            spool_directory: None,
            spool_bytes: 200_000,
            account_spool_bytes: 150_000,
        })
    }

    #[test]
    fn an_answer_takes_no_more_than_its_share_and_all_no_more_than_the_budget() {
        let budgets = budgets();
        let (mut first, mut second) = (budgets.memory(), budgets.memory());
        assert!(first.grow(6) && first.grow(4) && !first.grow(1));
        assert!(!second.grow(6) && second.grow(5) && !second.grow(1));
        assert_eq!(budgets.memory_bytes(), 15);
        drop(first);
        assert!(second.grow(5));
        drop(second);
        assert_eq!(budgets.memory_bytes(), 0);
    }

    #[test]
    fn the_spool_has_a_quota_by_account_and_in_all() {
        let budgets = budgets();
        let [mut first, mut second] = ACCOUNTS.map(|account| budgets.spool(account, false).unwrap());
        first.write(&vec![b'x'; 150_000]).unwrap();
        assert!(matches!(first.write(b"x"), Err(SpoolError::NoRoom(NoRoom::OfAccount))));
        assert!(matches!(second.write(&vec![b'x'; 60_000]), Err(SpoolError::NoRoom(NoRoom::OnNode))));
        second.write(&vec![b'x'; 50_000]).unwrap();
        assert_eq!(budgets.check_room(ACCOUNTS[1]), Ok(()), "there is memory");
        let (mut memory, mut rest) = (budgets.memory(), budgets.memory());
        assert!(memory.grow(10) && rest.grow(5));
        assert_eq!(budgets.check_room(ACCOUNTS[1]), Err(NoRoom::OnNode));
        let mut done = budgets.spool(ACCOUNTS[0], true).unwrap();
        done.write(b"what was done is told").unwrap();
        drop((first, second, done));
        assert_eq!(budgets.spool_bytes(), 0);
        assert!(budgets.0.spool.lock().accounts.is_empty());
        assert_eq!(budgets.counters().refused.load(Ordering::Relaxed), 3);
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
