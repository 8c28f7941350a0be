//! The snapshots of a node: kept, brought up to date, and dropped.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foldhash::quality::RandomState;
use parking_lot::RwLock;

use super::checkpoint::Writing;
use super::snapshot::Renewal;
use super::{Program, accounts, keys};
use crate::clock::{Clock, Stopwatch};
use crate::db::{AccountId, Db, DbError};
use crate::text::Slug;

/// The most snapshots that are kept; past it all are dropped and loaded again as they are asked for.
const KEPT: usize = 10_000;

/// How often something was done, and how long it took in all.
#[derive(Debug, Default)]
pub struct Timed {
    count: AtomicU64,
    microseconds: AtomicU64,
}

impl Timed {
    fn count(&self, elapsed: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How often, and how many microseconds in all.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.count.load(Ordering::Relaxed), self.microseconds.load(Ordering::Relaxed))
    }
}

/// The loading of snapshots.
#[derive(Debug, Default)]
pub struct Loads {
    /// Whole ones.
    pub whole: Timed,
    /// Those of which only what had changed was read.
    pub changes: Timed,
}

/// The snapshots of a node.
#[derive(Debug)]
pub struct Programs {
    db: Db,
    clock: Clock,
    base_url: Arc<str>,
    loaded: RwLock<HashMap<AccountId, Arc<Program>, RandomState>>,
    keys: RwLock<HashMap<[u8; 32], (AccountId, Slug), RandomState>>,
    loads: Loads,
    turns: [tokio::sync::Mutex<()>; 64],
    /// Held while a snapshot is loaded that nobody has yet.
    loading: [tokio::sync::Mutex<()>; 64],
    checkpoints: Writing,
}

/// The lock of an account among those that the accounts share.
fn place(account: AccountId) -> usize {
    usize::try_from(account.0.unsigned_abs() % 64).unwrap_or_default()
}

impl Programs {
    /// No snapshots yet.
    #[must_use]
    pub fn new(db: Db, clock: Clock, base_url: &str) -> Self {
        let turns = || std::array::from_fn(|_| tokio::sync::Mutex::default());
        Self {
            db,
            clock,
            base_url: base_url.into(),
            loaded: RwLock::default(),
            keys: RwLock::default(),
            loads: Loads::default(),
            turns: turns(),
            loading: turns(),
            checkpoints: Writing::default(),
        }
    }

    /// Waits for the account's turn, so that writes that have to run again do not outdate each other's snapshots.
    pub async fn turn(&self, account: AccountId) -> tokio::sync::MutexGuard<'_, ()> {
        self.turns[place(account)].lock().await
    }

    /// The snapshot at hand, or a new one. `None` where there is no such account.
    pub async fn get(&self, account: AccountId) -> Result<Option<Arc<Program>>, DbError> {
        // Whoever met a record that cannot be read was refused; who does not need it is not.
        let at_hand = || self.loaded.read().get(&account).filter(|program| !program.is_broken()).cloned();
        if let Some(program) = at_hand() {
            return Ok(Some(program));
        }
        // Of many requests that come at once, one loads.
        let _loading = self.loading[place(account)].lock().await;
        match at_hand() {
            Some(program) => Ok(Some(program)),
            None => self.reload(account).await,
        }
    }

    /// A snapshot that is not stale: the one at hand where nothing has changed, else that with what has, else a new one.
    pub async fn reload(&self, account: AccountId) -> Result<Option<Arc<Program>>, DbError> {
        let known = self.loaded.read().get(&account).cloned();
        let stopwatch = Stopwatch::start();
        let (program, loads) = match &known {
            Some(known) => match known.renewed(&self.db, &self.clock).await? {
                Renewal::Same => return Ok(Some(Arc::clone(known))),
                Renewal::Changed(program) => (Some(program), &self.loads.changes),
                Renewal::Loaded(program) => (Some(program), &self.loads.whole),
                Renewal::Gone => (None, &self.loads.whole),
            },
            None => (Program::load(&self.db, account, &self.base_url, &self.clock).await?, &self.loads.whole),
        };
        loads.count(stopwatch.elapsed());
        let program = program.map(Arc::new);
        if let Some(program) = program.as_ref().filter(|program| program.wants_checkpoint()) {
            self.checkpoints.begin(&self.db, program);
        }
        let mut loaded = self.loaded.write();
        if loaded.len() >= KEPT {
            loaded.clear();
        }
        match &program {
            Some(program) => loaded.insert(account, Arc::clone(program)),
            None => loaded.remove(&account),
        };
        Ok(program)
    }

    /// Waits until the checkpoints of the snapshots that were loaded are written.
    pub async fn finish_checkpoints(&self) {
        self.checkpoints.finish().await;
    }

    /// How often snapshots were loaded, and how long that took.
    #[must_use]
    pub fn loads(&self) -> &Loads {
        &self.loads
    }

    /// The snapshot of `program`'s account as it is now: the same one where its version still is the account's.
    pub async fn confirm(&self, program: Arc<Program>) -> Result<Option<Arc<Program>>, DbError> {
        let version = accounts::store::version(&self.db, program.id).await?;
        if version == Some(program.version) { Ok(Some(program)) } else { self.reload(program.id).await }
    }

    /// The account and slug of the key with this hash. Whether the key is still good is told by the account's snapshot.
    pub async fn of_key(&self, hash: &[u8; 32]) -> Result<Option<(AccountId, Slug)>, DbError> {
        let known = self.keys.read().get(hash).copied();
        if known.is_some() {
            return Ok(known);
        }
        let found = keys::store::find_by_hash(&self.db, hash).await?;
        if let Some(found) = found {
            let mut keys = self.keys.write();
            if keys.len() >= KEPT {
                keys.clear();
            }
            keys.insert(*hash, found);
        }
        Ok(found)
    }
}
