//! What lists of people's records are answered from: for each account that is asked for, a view of its change log in
//! memory.
//!
//! - A view has the columns by which lists filter and sort, and the lists that were asked for. It belongs to one change of
//!   the account, by number and hash. Documents stay in the database.
//! - The statement that reads the documents of a page tells where the account stands. Where that is not where the view
//!   stands, the view is brought up to date and the page is planned again. So nothing in memory has to be told of a change,
//!   and nothing that is answered is older than the statement.
//! - A change whose hash is another one than the log's, or that the log does not have, means another history, such as that
//!   of a backup which was restored: the view is loaded again.
//! - All work on a view that may take long is done by one request at a time, away from the threads that answer requests,
//!   and goes on when its request is given up.
//! - The views of a node take no more memory than a setting says. The account that was asked for longest ago makes room; one
//!   that is larger than the budget stays alone.
//! - Inside a write no view is used.

mod plan;
mod store;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use list_view::{Slot as Record, View};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OwnedMutexGuard, Semaphore};

use crate::db::{AccountId, Db, DbError, Source, Tx};
use crate::http::page::Ask;
use crate::list::{TABLES, Table};
use crate::text::Slug;
use crate::{attachments, contributors, entries, orders, users};

pub use self::plan::{Plan, Request};
pub use self::store::{Head, Wanted};
pub(crate) use self::store::{head_of as head, is_logged, page};

/// From how many changes on a view is loaded again and not brought up to date.
const MOST_CHANGES: i64 = 10_000;
/// From how many records on work on a view is done away from the threads that answer requests.
const MANY: usize = 20_000;
/// After how many records the log tells of a load.
const TOLD: usize = 262_144;
/// How often what was changed is read anew because more was changed meanwhile, before it is read in a snapshot.
const ATTEMPTS: usize = 3;

/// The tables, in the order of their numbers.
pub static ALL: [&Table; TABLES] =
    [&users::LISTED, &entries::LISTED, &contributors::LISTED, &attachments::LISTED, &orders::LISTED];

/// The views of a node. Cloning is cheap; the clones are the same views.
#[derive(Clone, Debug)]
pub struct Views(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    accounts: Mutex<HashMap<AccountId, Arc<Account>>>,
    budget: usize,
    bytes: AtomicUsize,
    clock: AtomicU64,
    /// Bounds how many threads work on views.
    workers: Semaphore,
    counters: Counters,
}

/// What the views of a node have done.
#[derive(Debug, Default)]
pub struct Counters {
    /// Views that were loaded.
    pub loads: AtomicU64,
    /// Views that made room.
    pub evictions: AtomicU64,
    /// Views that were brought up to date.
    pub catch_ups: AtomicU64,
    /// Pages that were planned again because the account had changed.
    pub second_tries: AtomicU64,
}

/// The place of an account's view.
#[derive(Debug, Default)]
struct Account {
    /// Nothing while it is loaded or brought up to date, and where there is none.
    state: RwLock<Option<State>>,
    turn: Arc<tokio::sync::Mutex<()>>,
    used: AtomicU64,
    bytes: AtomicUsize,
}

/// The view of an account.
#[derive(Debug)]
struct State {
    head: Head,
    is_loaded: [bool; TABLES],
    view: View,
    /// What was made of the view as it is, and is good until the next change.
    made: Made,
}

/// What was made of a view as it is.
#[derive(Debug, Default)]
struct Made {
    /// The answers to fields by which lists were sorted.
    answers: HashMap<Slug, Arc<HashMap<Record, Box<str>>>>,
    /// What was counted: of which table, of what records, by which columns.
    counts: HashMap<Question, Arc<Counts>>,
    bytes: usize,
}

/// What is counted: the number of a table, what is asked of its records, and the columns.
type Question = (usize, Vec<Ask>, Vec<&'static str>);

/// How many records have each combination of values.
pub type Counts = Vec<(Vec<String>, u64)>;

/// A table and those that it refers to.
fn with_parents(table: usize) -> [bool; TABLES] {
    let mut wanted = [false; TABLES];
    wanted[table] = true;
    for number in (0..TABLES).rev().filter(|number| *number <= table) {
        if wanted[number] {
            for column in ALL[number].columns {
                if let list_view::Holds::Reference(parent) = column.holds {
                    wanted[parent] = true;
                }
            }
        }
    }
    wanted
}

impl State {
    fn new(head: Head) -> Self {
        let columns: Vec<_> = ALL.iter().map(|table| table.columns).collect();
        Self { head, is_loaded: [false; TABLES], view: View::new(&columns), made: Made::default() }
    }

    fn has(&self, wanted: [bool; TABLES]) -> bool {
        wanted.iter().zip(self.is_loaded).all(|(is_wanted, is_loaded)| is_loaded || !is_wanted)
    }

    /// The account stands elsewhere now.
    fn move_to(&mut self, head: Head) {
        self.head = head;
        self.made = Made::default();
    }

    fn bytes(&self) -> usize {
        self.view.bytes() + self.made.bytes
    }

    fn len(&self) -> usize {
        (0..TABLES).map(|number| self.view.len(number)).sum()
    }
}

impl Views {
    /// No views yet, and room for so many bytes of them.
    #[must_use]
    pub fn new(db: Db, budget: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self(Arc::new(Inner {
            db,
            accounts: Mutex::default(),
            budget,
            bytes: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            workers: Semaphore::new(processors),
            counters: Counters::default(),
        }))
    }

    /// How many bytes the views take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// What they have done.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    fn account(&self, account: AccountId) -> Arc<Account> {
        let held = Arc::clone(self.0.accounts.lock().entry(account).or_default());
        held.used.store(self.0.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        held
    }

    /// Sees to it that the view of an account has these tables and is not older than a change. Nothing where there is no such
    /// account.
    async fn bring(&self, id: AccountId, wanted: [bool; TABLES], least: i64) -> Result<(), DbError> {
        let account = self.account(id);
        let is_there = |account: &Account| {
            account.state.read().as_ref().is_some_and(|state| state.has(wanted) && state.head.sequence >= least)
        };
        if is_there(&account) {
            return Ok(());
        }
        let turn = Arc::clone(&account.turn).lock_owned().await;
        if is_there(&account) {
            return Ok(());
        }
        // Whoever gives up takes nothing from those who wait for the same.
        let views = self.clone();
        let work = tokio::spawn(async move { views.renew(id, &account, wanted, turn).await });
        work.await.map_err(|error| DbError::Failed(error.to_string()))?
    }

    async fn renew(
        &self,
        id: AccountId,
        account: &Arc<Account>,
        wanted: [bool; TABLES],
        turn: OwnedMutexGuard<()>,
    ) -> Result<(), DbError> {
        let held = account.state.write().take();
        let renewed = match held {
            Some(state) if state.has(wanted) => self.catch_up(id, account, state).await,
            Some(state) => self.load(id, account, Some(state), wanted).await,
            None => self.load(id, account, None, wanted).await,
        };
        let outcome = match renewed {
            Ok(Some(mut state)) => {
                if state.head.sequence < self.0.db.latest(id) {
                    self.0.db.forget_latest(id);
                }
                self.fit(id, account, &mut state);
                *account.state.write() = Some(state);
                Ok(())
            }
            gone_or_failed => {
                self.note(id, account, 0);
                gone_or_failed.map(drop)
            }
        };
        drop(turn);
        outcome
    }

    /// Brings a view up to date. Nothing where the account is gone.
    async fn catch_up(
        &self,
        id: AccountId,
        account: &Arc<Account>,
        mut state: State,
    ) -> Result<Option<State>, DbError> {
        let wanted = state.is_loaded;
        let mut source = Source::Db(&self.0.db);
        for _ in 0..ATTEMPTS {
            let mut all = Vec::new();
            for number in (0..TABLES).filter(|number| state.is_loaded[*number]) {
                let changed = store::changed(&mut source, id, ALL[number], state.head.sequence).await?;
                let Some(changed) = changed else { return Ok(None) };
                let is_continued = changed.since == Some(state.head.hash) || state.head.sequence == 0;
                let behind = changed.head.sequence - state.head.sequence;
                let most = MOST_CHANGES.max(i64::try_from(state.len() / 8).unwrap_or(i64::MAX));
                if !is_continued || behind < 0 || behind > most {
                    drop(state);
                    return self.load(id, account, None, wanted).await;
                }
                all.push((number, changed));
            }
            let Some(head) = all.first().map(|(_, changed)| changed.head) else { break };
            if all.iter().all(|(_, changed)| changed.head == head && !changed.is_torn) {
                for (number, changed) in &all {
                    changed.apply(&mut state.view, *number);
                }
                state.move_to(head);
                self.0.counters.catch_ups.fetch_add(1, Ordering::Relaxed);
                return Ok(Some(state));
            }
        }
        self.load(id, account, Some(state), wanted).await
    }

    /// Loads the tables that a view lacks and brings the others up to date, in one snapshot and on a thread of its own.
    async fn load(
        &self,
        id: AccountId,
        account: &Arc<Account>,
        known: Option<State>,
        wanted: [bool; TABLES],
    ) -> Result<Option<State>, DbError> {
        let _permit = self.0.workers.acquire().await.map_err(|error| DbError::Failed(error.to_string()))?;
        let (views, account) = (self.clone(), Arc::clone(account));
        let runtime = tokio::runtime::Handle::current();
        let work = tokio::task::spawn_blocking(move || {
            runtime.block_on(async move {
                let mut tx = views.0.db.snapshot().await?;
                let state = views.load_in(&mut tx, (id, &account), known, wanted).await?;
                tx.commit().await?;
                Ok(state)
            })
        });
        work.await.map_err(|error| DbError::Failed(error.to_string()))?
    }

    async fn load_in(
        &self,
        tx: &mut Tx,
        (id, account): (AccountId, &Arc<Account>),
        known: Option<State>,
        wanted: [bool; TABLES],
    ) -> Result<Option<State>, DbError> {
        let since = known.as_ref().map_or(0, |state| state.head.sequence);
        let Some((head, hash)) = store::head_and_hash(tx, id, since).await? else { return Ok(None) };
        let known = known.filter(|state| since == 0 || (since <= head.sequence && hash == Some(state.head.hash)));
        let mut state = known.unwrap_or_else(|| State::new(head));
        for number in 0..TABLES {
            let after = state.is_loaded[number].then_some(since);
            if after.is_none() && !wanted[number] {
                continue;
            }
            store::load(tx, id, (ALL[number], number), after, &mut state.view, |view, count| {
                self.note(id, account, view.bytes());
                if count % TOLD == 0 {
                    tracing::info!(account = id.0, table = ALL[number].sql, records = count, "a view is being loaded");
                }
            })
            .await?;
            if after.is_none() {
                state.is_loaded[number] = true;
                self.0.counters.loads.fetch_add(1, Ordering::Relaxed);
            }
        }
        state.move_to(head);
        state.view.shrink();
        Ok(Some(state))
    }

    /// Gives up lists of an account that is larger than the budget.
    fn fit(&self, id: AccountId, account: &Arc<Account>, state: &mut State) {
        while state.bytes() > self.0.budget && state.view.drop_list() {}
        let bytes = state.bytes();
        if bytes > self.0.budget && account.bytes.load(Ordering::Relaxed) <= self.0.budget {
            tracing::warn!(account = id.0, bytes, budget = self.0.budget, "the view of an account exceeds the budget");
        }
        self.note(id, account, bytes);
    }

    /// Notes how many bytes the view of an account takes; the accounts that were asked for longest ago make room.
    fn note(&self, id: AccountId, account: &Account, bytes: usize) {
        let before = account.bytes.swap(bytes, Ordering::Relaxed);
        let total = if bytes >= before {
            self.0.bytes.fetch_add(bytes - before, Ordering::Relaxed) + bytes - before
        } else {
            self.0.bytes.fetch_sub(before - bytes, Ordering::Relaxed) + bytes - before
        };
        if total <= self.0.budget || bytes <= before {
            return;
        }
        let mut accounts = self.0.accounts.lock();
        let mut others: Vec<(u64, AccountId)> = accounts
            .iter()
            .filter(|(other, held)| **other != id && held.bytes.load(Ordering::Relaxed) > 0)
            .map(|(other, held)| (held.used.load(Ordering::Relaxed), *other))
            .collect();
        others.sort_unstable();
        for (_, other) in others {
            // Some room beyond what is needed keeps the next account from looking through all of them again.
            if self.0.bytes.load(Ordering::Relaxed) <= self.0.budget - self.0.budget / 8 {
                return;
            }
            let Some(held) = accounts.get(&other) else { continue };
            let dropped = held.state.try_write().and_then(|mut state| state.take());
            if dropped.is_none() {
                continue;
            }
            let freed = held.bytes.swap(0, Ordering::Relaxed);
            self.0.bytes.fetch_sub(freed, Ordering::Relaxed);
            self.0.counters.evictions.fetch_add(1, Ordering::Relaxed);
            if Arc::strong_count(held) == 1 {
                accounts.remove(&other);
            }
        }
    }
}
