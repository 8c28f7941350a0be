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
//! - All work on a view is done by one request at a time, what may take long of it away from the threads that answer
//!   requests. A view that is loaded or brought up to date goes on being so when its request is given up.
//! - The views of a node take no more memory than a setting says. The account that was asked for longest ago makes room; one
//!   that is larger than the budget stays alone.
//! - Inside a write no view is used.

mod plan;
mod store;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use list_view::{NOBODY, Slot as Record, View};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::lists::page::Ask;
use crate::lists::{CONTRIBUTORS, TABLES, Table};
use crate::records::assignments;
use crate::records::documents;
use crate::records::entries;
use crate::records::entries::attachments;
use crate::records::entries::contributors;
use crate::records::orders;
use crate::records::publications;
use crate::records::review_tasks;
use crate::records::standings;
use crate::records::users;
use db::{AccountId, Committed, Db, DbError, Tx};
use kernel::clock::Stopwatch;
use kernel::text::Slug;

pub use self::plan::{Group, Places, Plan, Request};
use self::store::Standing;
pub use self::store::Wanted;
pub(crate) use self::store::{Ended, head_of as head, page};
pub use crate::lists::MOST_TIED;

/// From how many changes on a view is loaded again and not brought up to date, where that is more than an eighth of its
/// records.
const MOST_CHANGES: i64 = 10_000;
/// Up to how many changes a view is brought up to date, or loaded, by the thread that answers the request.
const FEW_CHANGES: i64 = 1_000;
/// How much more than when it was loaded, and than twice that, the records of a view may take: values that no record has any
/// more stay in it.
const GROWN: usize = 16 << 20;
/// From how many records on work on a view is done away from the threads that answer requests.
const MANY: usize = 20_000;
/// After how many records the log tells of a load.
const TOLD: usize = 262_144;
/// How many counts of a view are kept.
const MOST_COUNTS: usize = 64;

/// The tables, in the order of their numbers.
pub static ALL: [&Table; TABLES] = [
    &users::LISTED,
    &entries::LISTED,
    &contributors::LISTED,
    &attachments::LISTED,
    &orders::LISTED,
    &assignments::LISTED,
    &standings::LISTED,
    &review_tasks::LISTED,
    &publications::LISTED,
    &documents::LISTED,
];

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
    workers: Arc<Semaphore>,
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

/// What a request needs of a view.
#[derive(Clone, Copy, Debug)]
struct Need {
    tables: [bool; TABLES],
    /// The field by whose answers a list is sorted.
    field: Option<Slug>,
    /// The change that it must not be older than.
    least: i64,
}

impl Account {
    fn has(&self, need: Need) -> bool {
        self.state.read().as_ref().is_some_and(|state| state.has(need) && state.head.sequence >= need.least)
    }
}

/// The view of an account.
#[derive(Debug)]
struct State {
    head: Committed,
    is_loaded: [bool; TABLES],
    view: View,
    /// What its records took when tables were last loaded.
    bytes_loaded: usize,
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
    /// What the answers take.
    bytes: usize,
}

/// What is counted: the number of a table, what is asked of its records, and the columns.
type Question = (usize, Vec<Ask>, Vec<&'static str>);

/// How many records have each combination of values.
pub type Counts = Vec<(Vec<String>, u64)>;

/// A table, those that are looked at by what is asked of it, and those that they refer to.
fn tables_of(table: usize, asks: &[Ask]) -> [bool; TABLES] {
    let mut wanted = [false; TABLES];
    for table in asks.iter().flat_map(Ask::tables).chain([table]) {
        wanted[table] = true;
    }
    for number in (0..TABLES).rev() {
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
    fn new(head: Committed) -> Self {
        let columns: Vec<_> = ALL.iter().map(|table| table.columns).collect();
        Self { head, is_loaded: [false; TABLES], view: View::new(&columns), bytes_loaded: 0, made: Made::default() }
    }

    /// Whether it has the tables and the answers, of whatever change.
    fn has(&self, need: Need) -> bool {
        need.tables.iter().zip(self.is_loaded).all(|(is_wanted, is_loaded)| is_loaded || !is_wanted)
            && need.field.is_none_or(|field| self.made.answers.contains_key(&field))
    }

    /// Whether it is better brought up to date than loaded again.
    fn is_worth_keeping(&self, head: &Committed) -> bool {
        let most = MOST_CHANGES.max(i64::try_from(self.len() / 8).unwrap_or(i64::MAX));
        let is_grown = self.view.bytes_of_records() > self.bytes_loaded * 2 + GROWN;
        head.sequence - self.head.sequence <= most && !is_grown
    }

    /// Whether an account that stands there has gone on from here.
    fn is_before(&self, standing: &Standing) -> bool {
        let stands = self.head.sequence;
        stands == 0 || stands <= standing.head.sequence && standing.hash == Some(self.head.hash)
    }

    /// The account stands there now.
    fn move_to(&mut self, head: Committed) {
        if self.head != head {
            self.head = head;
            self.made = Made::default();
        }
    }

    /// Keeps the answers of contributors to a field.
    fn take_answers(&mut self, field: Slug, found: &[(String, String)]) {
        let slot = |(name, key): &(String, String)| {
            let slot = self.view.slot(CONTRIBUTORS, name);
            (slot != NOBODY).then(|| (slot, key.as_str().into()))
        };
        let answers: HashMap<_, Box<str>> = found.iter().filter_map(slot).collect();
        self.made.bytes += answers.values().map(|answer| answer.len() + 48).sum::<usize>();
        self.made.answers.insert(field, Arc::new(answers));
    }

    /// Keeps what was counted. Whoever counts by what nobody has fills no memory with it.
    fn take_counts(&mut self, question: Question, counts: &Arc<Counts>) {
        if self.made.counts.len() >= MOST_COUNTS {
            self.made.counts.clear();
        }
        self.made.counts.insert(question, Arc::clone(counts));
    }

    fn bytes(&self) -> usize {
        let counted = |(question, counts): (&Question, &Arc<Counts>)| 512 + counts.len() * 64 * question.2.len();
        self.view.bytes() + self.made.bytes + self.made.counts.iter().map(counted).sum::<usize>()
    }

    fn len(&self) -> usize {
        (0..TABLES).map(|number| self.view.len(number)).sum()
    }
}

/// A view with what is needed, in a transaction in which the account stands there, and whether a table of it was loaded.
async fn read_state(
    tx: &mut Tx,
    id: AccountId,
    known: Option<State>,
    (standing, need): (Standing, Need),
    progress: impl Fn(&View, &Table, usize) + Send + Sync,
) -> Result<(State, bool), DbError> {
    let mut state = known.unwrap_or_else(|| State::new(standing.head));
    let since = state.head.sequence;
    let changes = Some((since, standing.head.sequence));
    let wanted = (0..TABLES).filter_map(|number| {
        let (is_changed, is_needed) = (standing.changed[number] > since, need.tables[number]);
        if state.is_loaded[number] {
            is_changed.then_some((number, changes))
        } else {
            is_needed.then_some((number, None))
        }
    });
    let wanted: Vec<store::Wanting> = wanted.collect();
    let is_load = wanted.iter().any(|(_, between)| between.is_none());
    store::load(tx, id, &wanted, &mut state.view, progress).await?;
    for (number, _) in wanted {
        state.is_loaded[number] = true;
    }
    state.move_to(standing.head);
    if is_load {
        state.view.shrink();
        state.bytes_loaded = state.view.bytes_of_records();
    }
    if let Some(field) = need.field.filter(|field| !state.made.answers.contains_key(field)) {
        let answers = store::answers(tx, id, field).await?;
        state.take_answers(field, &answers);
    }
    Ok((state, is_load))
}

impl Views {
    /// No views yet, and room for so many bytes of them.
    pub fn new(db: Db, budget: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self(Arc::new(Inner {
            db,
            accounts: Mutex::default(),
            budget,
            bytes: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            workers: Arc::new(Semaphore::new(processors)),
            counters: Counters::default(),
        }))
    }

    /// How many bytes the views take.
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// What they have done.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    fn account(&self, account: AccountId) -> Arc<Account> {
        let held = Arc::clone(self.0.accounts.lock().entry(account).or_default());
        held.used.store(self.0.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        held
    }

    /// Sees to it that the view of an account has what is needed. Nothing where there is no such account.
    async fn bring(&self, id: AccountId, need: Need) -> Result<(), DbError> {
        let account = self.account(id);
        if account.has(need) {
            return Ok(());
        }
        let turn = Arc::clone(&account.turn).lock_owned().await;
        if account.has(need) {
            return Ok(());
        }
        let tx = self.renew(id, &account, need, turn).await?;
        match tx {
            Some((tx, _turn)) => tx.commit().await,
            None => Ok(()),
        }
    }

    /// Brings the view of an account to where that stands, in a transaction that is given back with the turn. Nothing where
    /// there is no such account. The work goes on when its request is given up.
    async fn renew(
        &self,
        id: AccountId,
        account: &Arc<Account>,
        need: Need,
        turn: OwnedMutexGuard<()>,
    ) -> Result<Option<(Tx, OwnedMutexGuard<()>)>, DbError> {
        let (views, held) = (self.clone(), Arc::clone(account));
        let work = tokio::spawn(async move {
            let tx = views.read(id, &held, need).await?;
            if let Some(state) = held.state.read().as_ref()
                && state.head.sequence < views.0.db.latest(id)
            {
                views.0.db.forget_latest(id);
            }
            Ok(tx.map(|tx| (tx, turn)))
        });
        work.await.unwrap_or_else(|error| {
            self.note(id, account, 0);
            Err(DbError::Failed(error.to_string()))
        })
    }

    /// The same, for who has the turn. The view is only taken when it is known what it lacks.
    async fn read(&self, id: AccountId, account: &Arc<Account>, need: Need) -> Result<Option<Tx>, DbError> {
        let mut tables = need.tables;
        let since = account.state.read().as_ref().map_or(0, |state| {
            tables.iter_mut().zip(state.is_loaded).for_each(|(is_wanted, is_loaded)| *is_wanted |= is_loaded);
            state.head.sequence
        });
        let mut tx = self.0.db.snapshot().await?;
        let Some(standing) = store::standing(&mut tx, id, tables, since).await? else {
            account.state.write().take();
            self.note(id, account, 0);
            return tx.commit().await.map(|()| None);
        };
        let state = account.state.write().take();
        let known = state.filter(|state| state.is_before(&standing) && state.is_worth_keeping(&standing.head));
        let begin = known.as_ref().filter(|state| state.has(need)).map_or(0, |state| state.head.sequence);
        // No more records are read than there are changes.
        if standing.head.sequence - begin <= FEW_CHANGES {
            return self.read_in(tx, (id, account), known, standing, need).await.map(Some);
        }
        let permit = self.worker().await?;
        let (views, account) = (self.clone(), Arc::clone(account));
        let runtime = tokio::runtime::Handle::current();
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(views.read_in(tx, (id, &account), known, standing, need))
        });
        work.await.map_err(|error| DbError::Failed(error.to_string()))?.map(Some)
    }

    async fn worker(&self) -> Result<OwnedSemaphorePermit, DbError> {
        Arc::clone(&self.0.workers).acquire_owned().await.map_err(|error| DbError::Failed(error.to_string()))
    }

    /// Reads the tables that a view lacks, and what was changed of the others, as they are in a transaction in which the
    /// account stands there.
    async fn read_in(
        &self,
        mut tx: Tx,
        (id, account): (AccountId, &Arc<Account>),
        known: Option<State>,
        standing: Standing,
        need: Need,
    ) -> Result<Tx, DbError> {
        let progress = |view: &View, table: &Table, count: usize| {
            self.note(id, account, view.bytes());
            if count.is_multiple_of(TOLD) {
                tracing::info!(account_id = id.0, table = table.sql, records = count, "a view is being loaded");
            }
        };
        let stopwatch = Stopwatch::start();
        match read_state(&mut tx, id, known, (standing, need), progress).await {
            Ok((mut state, is_load)) => {
                if is_load {
                    let milliseconds = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
                    tracing::info!(account_id = id.0, records = state.len(), milliseconds, "a view was loaded");
                }
                let counter = if is_load { &self.0.counters.loads } else { &self.0.counters.catch_ups };
                counter.fetch_add(1, Ordering::Relaxed);
                self.fit(id, account, &mut state);
                *account.state.write() = Some(state);
                Ok(tx)
            }
            Err(error) => {
                self.note(id, account, 0);
                Err(error)
            }
        }
    }

    /// Gives up lists of an account that is larger than the budget, or whose lists take half of it.
    fn fit(&self, id: AccountId, account: &Arc<Account>, state: &mut State) {
        let budget = self.0.budget;
        while (state.bytes() > budget || state.view.bytes_of_lists() > budget / 2) && state.view.drop_list() {}
        let bytes = state.bytes();
        if bytes > budget && account.bytes.load(Ordering::Relaxed) <= budget {
            tracing::warn!(account_id = id.0, bytes, budget, "the view of an account exceeds the budget");
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
        // What is given up is freed when nobody waits for the accounts any more.
        let mut dropped = Vec::new();
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
                break;
            }
            let Some(held) = accounts.get(&other) else { continue };
            let Some(state) = held.state.try_write().and_then(|mut state| state.take()) else { continue };
            dropped.push(state);
            let freed = held.bytes.swap(0, Ordering::Relaxed);
            self.0.bytes.fetch_sub(freed, Ordering::Relaxed);
            self.0.counters.evictions.fetch_add(1, Ordering::Relaxed);
            if Arc::strong_count(held) == 1 {
                accounts.remove(&other);
            }
        }
        drop(accounts);
    }
}
