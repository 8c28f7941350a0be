//! The tails of the change logs: what was appended last, in memory, for as many readers as there are.
//!
//! - An account whose changes somebody reads has one tail. It reads each new stretch of the log once, however many
//!   readers there are, and holds the newest changes of entries in a ring that is bounded in number, bytes and age.
//! - A reader has a position: every change up to it was taken. Sequence numbers have no gaps and are committed in their
//!   order, so that a position is exact, also for a reader of one entry that was never woken for the others.
//! - A reader whose position is not in the ring reads on from the log itself, in short stretches and few readers at the
//!   same time. So a reader loses nothing, whether it was away or was overrun by many changes at once.
//! - A reader that leaves a change waiting until it is forgotten is too slow. It is cut off, and resumes from its
//!   position.
//! - A tail is told of commits ([`db::Db::watch`]) and has no timer. What has to happen now and then happens at
//!   each [`Tails::beat`], once a second.
//! - What is read is shown with a program at least as new as the change.
//! - A tail knows the last change of its account by number and hash. Where the database has that change no more, as after a
//!   restore or a failover, the tail holds changes that were lost: its readers are ended, and come back to another one.

mod change;
mod reader;
mod ring;
pub mod store;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};
use tokio::task::AbortHandle;

pub use change::{EntryChange, Representation};
pub use reader::News;
use reader::Reader;
use ring::Ring;

use crate::program::{Program, Programs};
use db::{AccountId, Committed, Db, DbError};
use kernel::text::Slug;

/// How far back a new tail begins, so that readers that resume together share what they missed.
const WARM: i64 = 1024;
/// The most bytes of documents that a tail reads at once.
const TAIL_BYTES: usize = 256 << 10;
/// How many readers read from the log at the same time, so that requests find the database free.
const OLDER_TOGETHER: usize = 4;
/// How many beats there are from one sign of life of a reader to the next.
const BEATS: u64 = 15;

/// How many readers a node takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At once.
    pub node: usize,
    /// At once with one key.
    pub key: usize,
}

/// Why there is no room for one more reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// The node has as many as it takes.
    OnNode(usize),
    /// The key has as many as it may have.
    OfKey(usize),
}

/// The tails of a node.
#[derive(Clone)]
pub struct Tails(Arc<Hub>);

struct Hub {
    db: Db,
    programs: Arc<Programs>,
    limits: Limits,
    tails: Mutex<BTreeMap<AccountId, Arc<Tail>>>,
    open: Mutex<Open>,
    older: Semaphore,
    readers: AtomicU64,
    beat: AtomicU64,
    cut: AtomicU64,
    is_stopping: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    of_keys: BTreeMap<(AccountId, Slug), usize>,
}

/// Room for one reader, given back when it is dropped.
pub struct Permit {
    tails: Tails,
    key: (AccountId, Slug),
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Permit").field(&self.key).finish()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.tails.0.open.lock();
        open.all -= 1;
        if let Some(count) = open.of_keys.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.of_keys.remove(&self.key);
            }
        }
    }
}

/// One account's.
struct Tail {
    account: AccountId,
    state: Mutex<State>,
    nudge: Notify,
    follower: OnceLock<AbortHandle>,
}

struct State {
    ring: Ring,
    program: Arc<Program>,
    /// The last commit that it has read up to, or begins before.
    known: Committed,
    /// Whether that commit was lost.
    is_lost: bool,
    of_account: BTreeMap<u64, Reader>,
    of_entries: BTreeMap<Slug, BTreeMap<u64, Reader>>,
}

/// A reader of a tail.
pub struct Subscription {
    tails: Tails,
    tail: Arc<Tail>,
    entry: Option<Slug>,
    number: u64,
    wake: Arc<Notify>,
}

impl Tails {
    /// No tails yet.
    pub fn new(db: Db, programs: Arc<Programs>, limits: Limits) -> Self {
        Self(Arc::new(Hub {
            db,
            programs,
            limits,
            tails: Mutex::default(),
            open: Mutex::default(),
            older: Semaphore::new(OLDER_TOGETHER),
            readers: AtomicU64::new(0),
            beat: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            is_stopping: watch::Sender::new(false),
        }))
    }

    /// Room for one more reader with this key.
    pub fn admit(&self, account: AccountId, key: Slug) -> Result<Permit, TooMany> {
        let mut open = self.0.open.lock();
        if open.all >= self.0.limits.node {
            return Err(TooMany::OnNode(self.0.limits.node));
        }
        let count = open.of_keys.entry((account, key)).or_default();
        if *count >= self.0.limits.key {
            return Err(TooMany::OfKey(self.0.limits.key));
        }
        *count += 1;
        open.all += 1;
        Ok(Permit { tails: self.clone(), key: (account, key) })
    }

    /// How many readers there are.
    pub fn open(&self) -> usize {
        self.0.open.lock().all
    }

    /// How many readers were too slow so far.
    pub fn cut(&self) -> u64 {
        self.0.cut.load(Ordering::Relaxed)
    }

    /// Reads the changes of one entry of the program's account, or of all, after a sequence number; `committed` is what
    /// the caller knows of the account, whose program it is.
    pub fn subscribe(
        &self,
        program: &Arc<Program>,
        entry: Option<Slug>,
        (after, committed): (i64, Committed),
    ) -> Subscription {
        let number = self.0.readers.fetch_add(1, Ordering::Relaxed);
        let wake = Arc::new(Notify::new());
        let reader = Reader::new(entry, after, Arc::clone(&wake));
        let mut tails = self.0.tails.lock();
        let tail = tails.entry(program.id).or_insert_with(|| {
            let begin = after.max(committed.sequence - WARM).min(committed.sequence);
            let tail = Arc::new(Tail::new(program, begin, committed));
            let follower =
                tokio::spawn(follow(self.clone(), Arc::clone(&tail), self.0.db.watch(program.id, committed)));
            // A new tail has no follower yet.
            let _ = tail.follower.set(follower.abort_handle());
            tail
        });
        tail.state.lock().readers_of(entry).insert(number, reader);
        Subscription { tails: self.clone(), tail: Arc::clone(tail), entry, number, wake }
    }

    /// Forgets the account's tail where the database does not have what that has read; `committed` is what it has.
    pub async fn forget_lost(&self, account: AccountId, committed: Committed) -> Result<(), DbError> {
        let Some(tail) = self.0.tails.lock().get(&account).map(Arc::clone) else { return Ok(()) };
        let known = tail.state.lock().known;
        if known != committed && !self.0.db.has(account, known).await? {
            self.forget(&tail);
        }
        Ok(())
    }

    /// Ends the readers of a tail that holds lost changes; whoever comes back gets another tail.
    fn forget(&self, tail: &Arc<Tail>) {
        let mut tails = self.0.tails.lock();
        if tail.remove_from(&mut tails) {
            // What it was told of last would hold back what the next one is told of.
            self.0.db.forget_watched(tail.account);
        }
        let mut state = tail.state.lock();
        state.is_lost = true;
        state.wake_all();
    }

    /// To be called once a second: signs of life fall due, and old changes are forgotten. `everybody` has every reader
    /// look whether it may go on.
    pub fn beat(&self, everybody: bool) {
        let beat = self.0.beat.fetch_add(1, Ordering::Relaxed) + 1;
        for tail in self.all() {
            let mut state = tail.state.lock();
            state.ring.expire(beat);
            for (number, reader) in state.readers_mut() {
                if number % BEATS == beat % BEATS {
                    reader.beat();
                } else if everybody {
                    reader.wake();
                }
            }
            tail.nudge.notify_one();
        }
    }

    /// Ends all streams, because the server is about to stop.
    pub fn stop(&self) {
        self.0.is_stopping.send_replace(true);
        for tail in self.all() {
            tail.state.lock().wake_all();
        }
    }

    /// Whether streams are to end.
    pub fn is_stopping(&self) -> bool {
        *self.0.is_stopping.borrow()
    }

    /// Waits until streams are to end.
    pub async fn stopped(&self) {
        // It is there for as long as the tails are.
        let _ = self.0.is_stopping.subscribe().wait_for(|is_stopping| *is_stopping).await;
    }

    fn all(&self) -> Vec<Arc<Tail>> {
        self.0.tails.lock().values().map(Arc::clone).collect()
    }

    fn now(&self) -> u64 {
        self.0.beat.load(Ordering::Relaxed)
    }
}

impl Subscription {
    /// The number of this reader on this node.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes what there is, and the newest program that the tail knows, which is no older than what was taken.
    pub fn take(&self) -> (News, Arc<Program>) {
        let now = self.tails.now();
        let mut state = self.tail.state.lock();
        let State { ring, program, of_account, of_entries, is_lost, .. } = &mut *state;
        if *is_lost {
            return (News::Lost, Arc::clone(program));
        }
        let reader = match self.entry {
            None => of_account.get_mut(&self.number),
            Some(entry) => of_entries.get_mut(&entry).and_then(|readers| readers.get_mut(&self.number)),
        };
        // A subscription has its reader until it is dropped.
        let news = reader.map_or(News::TooSlow, |reader| reader.take(ring, now));
        (news, Arc::clone(program))
    }

    /// Waits until it is worth looking again.
    pub async fn wait(&self) {
        self.wake.notified().await;
    }

    /// Reads older changes from the log; what comes back is at most as much as may be held for one reader.
    pub async fn older(&self, range: (i64, i64)) -> Result<(Vec<Arc<EntryChange>>, i64), DbError> {
        let _turn: Option<SemaphorePermit<'_>> = self.tails.0.older.acquire().await.ok();
        let account = self.tail.account;
        let (changes, reached) =
            store::stretch(&self.tails.0.db, account, self.entry, range, reader::BATCH_BYTES).await?;
        if reached <= range.0 {
            return Err(DbError::Failed(format!("the change log of {account:?} ends before {}", range.1)));
        }
        if let Some(reader) = self.tail.state.lock().readers_of(self.entry).get_mut(&self.number) {
            reader.read_up_to(reached);
        }
        Ok((changes, reached))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let now = self.tails.now();
        let mut tails = self.tails.0.tails.lock();
        let mut state = self.tail.state.lock();
        let readers = state.readers_of(self.entry);
        if readers.remove(&self.number).is_some_and(|reader| reader.is_slow(now)) {
            self.tails.0.cut.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(entry) = self.entry
            && readers.is_empty()
        {
            state.of_entries.remove(&entry);
        }
        if state.of_account.is_empty() && state.of_entries.is_empty() {
            self.tail.remove_from(&mut tails);
        }
    }
}

impl State {
    fn readers_of(&mut self, entry: Option<Slug>) -> &mut BTreeMap<u64, Reader> {
        match entry {
            None => &mut self.of_account,
            Some(entry) => self.of_entries.entry(entry).or_default(),
        }
    }

    fn readers_mut(&mut self) -> impl Iterator<Item = (&u64, &mut Reader)> {
        self.of_account.iter_mut().chain(self.of_entries.values_mut().flatten())
    }

    fn wake_all(&mut self) {
        self.readers_mut().for_each(|(_, reader)| reader.wake());
    }
}

impl Tail {
    fn new(program: &Arc<Program>, begin: i64, known: Committed) -> Self {
        let state = State {
            ring: Ring::after(begin),
            program: Arc::clone(program),
            known,
            is_lost: false,
            of_account: BTreeMap::new(),
            of_entries: BTreeMap::new(),
        };
        Self { account: program.id, state: Mutex::new(state), nudge: Notify::new(), follower: OnceLock::new() }
    }

    /// Follows it no more; gives whether it was the account's tail still.
    fn remove_from(self: &Arc<Self>, tails: &mut BTreeMap<AccountId, Arc<Self>>) -> bool {
        if let Some(follower) = self.follower.get() {
            follower.abort();
        }
        let is_kept = tails.get(&self.account).is_some_and(|kept| Arc::ptr_eq(kept, self));
        if is_kept {
            tails.remove(&self.account);
        }
        is_kept
    }

    /// Reads on up to where the account stands; `false` where what was read before is lost.
    async fn follow_to(&self, tails: &Tails, committed: Committed) -> Result<bool, DbError> {
        let known = self.state.lock().known;
        if known != committed && !tails.0.db.has(self.account, known).await? {
            return Ok(false);
        }
        self.read_on(tails, committed).await.map(|()| true)
    }

    /// Reads on up to where the account stands, program first.
    async fn read_on(&self, tails: &Tails, committed: Committed) -> Result<(), DbError> {
        let version = self.state.lock().program.version;
        if version != committed.version
            && let Some(program) = tails.0.programs.at_least(self.account, committed.version).await?
        {
            let mut state = self.state.lock();
            state.program = program;
            // Every reader is checked again by what it is now.
            state.wake_all();
        }
        loop {
            let head = self.state.lock().ring.head();
            if head >= committed.sequence {
                let known = &mut self.state.lock().known;
                if committed.sequence > known.sequence {
                    *known = committed;
                }
                return Ok(());
            }
            let range = (head, committed.sequence);
            let (changes, reached) = store::stretch(&tails.0.db, self.account, None, range, TAIL_BYTES).await?;
            if reached == head {
                return Err(DbError::Failed(format!("{:?} has no change {}", self.account, head + 1)));
            }
            self.push(&changes, reached, tails.now());
            // Readers take what there is before more of it comes.
            tokio::task::yield_now().await;
        }
    }

    fn push(&self, changes: &[Arc<EntryChange>], head: i64, beat: u64) {
        let mut state = self.state.lock();
        state.ring.push(changes, head, beat);
        for reader in state.of_account.values_mut() {
            reader.note(changes.iter(), beat);
        }
        for change in changes {
            if let Some(readers) = state.of_entries.get_mut(&change.entry) {
                for reader in readers.values_mut() {
                    reader.note(std::iter::once(change), beat);
                }
            }
        }
    }
}

/// Keeps a tail at the end of its log, until it is aborted.
async fn follow(tails: Tails, tail: Arc<Tail>, mut committed: watch::Receiver<Committed>) {
    loop {
        let target = *committed.borrow_and_update();
        match tail.follow_to(&tails, target).await {
            Ok(true) => {}
            Ok(false) => return tails.forget(&tail),
            Err(error) => {
                // The next beat tries again.
                tracing::warn!(%error, "the change log cannot be followed");
                tail.nudge.notified().await;
                continue;
            }
        }
        tokio::select! {
            changed = committed.changed() => if changed.is_err() { return },
            () = tail.nudge.notified() => {}
        }
    }
}
