//! The snapshots of a node: kept, brought up to date, and dropped.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foldhash::quality::RandomState;
use parking_lot::RwLock;

use super::fields::Lengths;
use super::snapshot::Renewal;
use super::{Program, accounts, keys};
use db::{AccountId, Db, DbError, Tx};
use kernel::clock::{Clock, Stopwatch};
use kernel::text::Slug;

/// The most snapshots that are kept; past it all are dropped and loaded again as they are asked for.
const CACHE_CAPACITY: usize = 10_000;

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
    lengths: Lengths,
    loaded: RwLock<HashMap<AccountId, Arc<Program>, RandomState>>,
    keys: RwLock<HashMap<[u8; 32], (AccountId, Slug), RandomState>>,
    loads: Loads,
    /// Held while a snapshot is loaded, or brought up to date for reads.
    loading: [tokio::sync::Mutex<()>; 64],
}

/// The lock of an account among those that the accounts share.
fn place(account: AccountId) -> usize {
    usize::try_from(account.0.unsigned_abs() % 64).unwrap_or_default()
}

impl Programs {
    /// No snapshots yet.
    pub fn new(db: Db, clock: Clock, base_url: &str, lengths: Lengths) -> Self {
        Self {
            db,
            clock,
            base_url: base_url.into(),
            lengths,
            loaded: RwLock::default(),
            keys: RwLock::default(),
            loads: Loads::default(),
            loading: std::array::from_fn(|_| tokio::sync::Mutex::default()),
        }
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
        let mut tx = self.db.snapshot().await?;
        let program = self.in_transaction(&mut tx, account).await?;
        tx.commit().await?;
        match &program {
            Some(program) => self.keep_newer(program),
            None => drop(self.loaded.write().remove(&account)),
        }
        Ok(program)
    }

    /// A snapshot that is at least as new as a version that the account has had: what a reader of the change log shows what it
    /// has read with.
    pub async fn at_least(&self, account: AccountId, version: i64) -> Result<Option<Arc<Program>>, DbError> {
        match self.get(account).await?.filter(|program| program.version == version) {
            Some(program) => Ok(Some(program)),
            None => self.reload(account).await,
        }
    }

    /// The snapshot of the state that a transaction sees, which others see after its commit alone: see
    /// [`Programs::keep_newer`]. `None` where there is no such account.
    pub async fn in_transaction(&self, tx: &mut Tx, account: AccountId) -> Result<Option<Arc<Program>>, DbError> {
        let known = self.loaded.read().get(&account).cloned();
        let stopwatch = Stopwatch::start();
        let (program, loads) = match known {
            Some(known) => match known.renewed(tx, &self.clock).await? {
                Renewal::Same => return Ok(Some(known)),
                Renewal::Changed(program) => (Some(program), &self.loads.changes),
                Renewal::Loaded(program) => {
                    self.forget(&known);
                    (Some(program), &self.loads.whole)
                }
                Renewal::Gone => (None, &self.loads.whole),
            },
            None => (Program::load(tx, account, &self.base_url, &self.clock).await?, &self.loads.whole),
        };
        loads.count(stopwatch.elapsed());
        Ok(program.map(|mut program| {
            program.lengths = self.lengths;
            Arc::new(program)
        }))
    }

    /// Keeps a snapshot where it is newer than the one at hand.
    pub fn keep_newer(&self, program: &Arc<Program>) {
        let mut loaded = self.loaded.write();
        if loaded.get(&program.id).is_some_and(|known| !program.is_newer_than(known)) {
            return;
        }
        if loaded.len() >= CACHE_CAPACITY {
            loaded.clear();
        }
        loaded.insert(program.id, Arc::clone(program));
    }

    /// Forgets a snapshot that is broken or of a history that was lost.
    fn forget(&self, known: &Arc<Program>) {
        let mut loaded = self.loaded.write();
        if loaded.get(&known.id).is_some_and(|held| Arc::ptr_eq(held, known)) {
            loaded.remove(&known.id);
        }
    }

    /// How often snapshots were loaded, and how long that took.
    pub fn loads(&self) -> &Loads {
        &self.loads
    }

    /// The snapshot of `program`'s account as it is now: the same one where its version still is the account's.
    pub async fn confirm(&self, program: Arc<Program>) -> Result<Option<Arc<Program>>, DbError> {
        let version = accounts::store::version(&self.db, program.id).await?;
        let is_current = |program: &Arc<Program>| version == Some(program.version) && !program.is_broken();
        if version == Some(program.version) {
            return Ok(Some(program));
        }
        // Of many requests that find the same snapshot stale, one reads what has changed.
        let _loading = self.loading[place(program.id)].lock().await;
        let at_hand = self.loaded.read().get(&program.id).cloned();
        match at_hand.filter(is_current) {
            Some(program) => Ok(Some(program)),
            None => self.reload(program.id).await,
        }
    }

    /// The account and slug of the key with this hash, where they are at hand. Whether the key is still good is told by the
    /// account's snapshot.
    pub fn known_key(&self, hash: &[u8; 32]) -> Option<(AccountId, Slug)> {
        self.keys.read().get(hash).copied()
    }

    /// The account and slug of the key with this hash, looked up.
    pub async fn find_key(&self, hash: &[u8; 32]) -> Result<Option<(AccountId, Slug)>, DbError> {
        let found = keys::store::find_by_hash(&self.db, hash).await?;
        if let Some(found) = found {
            let mut keys = self.keys.write();
            if keys.len() >= CACHE_CAPACITY {
                keys.clear();
            }
            keys.insert(*hash, found);
        }
        Ok(found)
    }
}
