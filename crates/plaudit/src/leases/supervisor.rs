//! Takes leases that want work, hands each to its work in a task, renews them, and gives them back when the node ends.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::store::{self, Renewed, Taken, Wanted};
use super::{Call, Held, LeaseName, Works, fair_part, length, until};
use crate::program::Program;
use crate::services::App;
use db::{AccountId, BoxFuture, DbError, Engine};
use kernel::clock::Throttle;

/// How often is looked for work that this node was not woken for.
const SWEEP: Duration = Duration::from_secs(1);
/// How many leases a node holds at the most.
const MOST: usize = 4096;
/// For how long an account is passed over that this node does not work for, in microseconds.
const PASSED_OVER: i64 = 60_000_000;
/// How long work may take to end when the node ends.
const ENDING: Duration = Duration::from_secs(5);

/// How often is logged that the database does not do what is asked of it.
const WARN_EVERY: Duration = Duration::from_mins(1);

/// A lease by its account and name.
type Key = (AccountId, LeaseName);

/// Work that was begun.
struct Task {
    owner: Arc<str>,
    calls: watch::Sender<Call>,
    until: watch::Sender<i64>,
}

/// Work that has ended.
#[derive(Clone, Copy)]
struct Ended {
    key: Key,
    /// Whether this node does not do it.
    is_left: bool,
}

struct Supervisor {
    app: App,
    works: Arc<dyn Works>,
    node: String,
    /// The number of the last holding.
    holdings: u64,
    tasks: HashMap<Key, Task>,
    running: JoinSet<Ended>,
    /// Accounts that this node does not work for, and until when it does not ask again.
    passed_over: HashMap<AccountId, i64>,
    /// Accounts that were woken and had nothing to take, since the last sweep.
    idle: BTreeSet<AccountId>,
    warnings: Throttle,
}

/// Works until `stop` is sent or dropped, and gives back what is held.
pub async fn run(app: App, works: Arc<dyn Works>, mut stop: oneshot::Receiver<()>) {
    let mut supervisor = Supervisor::new(app.clone(), works);
    let quarter = Duration::from_secs(app.settings.lease_seconds.into()) / 4;
    let (mut sweep, mut renewal) = (interval(SWEEP), interval(quarter));
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = &mut stop => break,
            _ = renewal.tick() => {
                supervisor.renew().await;
                // SQLite has one node. What is held is renewed in time, however long asking takes.
                if app.db.engine() == Engine::Postgres
                    && let Ok(Err(error)) = timeout(quarter, supervisor.ask()).await
                {
                    supervisor.warn("other nodes cannot be asked for work", &error);
                }
            }
            _ = sweep.tick() => {
                supervisor.idle.clear();
                supervisor.take(None).await;
            }
            accounts = app.wakes.next() => supervisor.wake(accounts).await,
            Some(ended) = supervisor.running.join_next() => {
                // Jobs wait for each other, so that the next one is not to wait for the next sweep.
                if supervisor.ended(ended.ok()) {
                    supervisor.take(None).await;
                }
            }
        }
    }
    supervisor.end().await;
}

/// Takes every lease that is due and does its work until nothing is due any more, one after the other; for tests, whose clock
/// stands still.
pub async fn settle(app: &App, works: &dyn Works) -> Result<(), DbError> {
    // Of two calls, one may have been dropped in the middle, and is another node to the other.
    static NODES: AtomicU64 = AtomicU64::new(0);
    let owner: Arc<str> = format!("settle {}", NODES.fetch_add(1, Ordering::Relaxed)).into();
    let mut without = BTreeSet::new();
    loop {
        let wanted = Wanted { most: 1, without: without.clone(), ..wanted(app, &owner, app.database_clock.now()) };
        let Some(taken) = store::take(&app.db, wanted).await?.pop() else { return Ok(()) };
        let account = taken.account;
        // Whoever calls the work is there until it ends.
        let (held, _calls) = Held::new(taken, &owner, true);
        if !work(app, works, held).await? {
            without.insert(account);
        }
    }
}

/// What a node takes that has nothing yet.
fn wanted(app: &App, owner: &str, now: i64) -> Wanted {
    Wanted {
        owner: owner.to_owned(),
        account: None,
        without: BTreeSet::new(),
        most: MOST,
        most_jobs: app.settings.jobs_at_once,
        now,
        until: until(app),
    }
}

/// Whether this node works for an account: one of its region, which is open.
async fn works_for(app: &App, account: AccountId) -> Result<bool, DbError> {
    if account == AccountId::NONE {
        return Ok(true);
    }
    Ok(app.programs.reload(account).await?.is_some_and(|program| is_worked_for(app, &program)))
}

/// Whether this node works for the account of a program.
pub fn is_worked_for(app: &App, program: &Program) -> bool {
    let is_here = program.account.region.as_ref().is_none_or(|region| *region == app.settings.region);
    is_here && program.account.is_open()
}

/// Does the work of a lease, or leaves it to others; whether it did.
async fn work(app: &App, works: &dyn Works, held: Held) -> Result<bool, DbError> {
    let (key, owner) = ((held.account, held.name), Arc::clone(&held.owner));
    let work = if works_for(app, held.account).await? { works.work(app.clone(), held) } else { None };
    match work {
        Some(work) => work.await.map(|()| true),
        None => leave(app, key, owner).await.map(|()| false),
    }
}

/// Gives back a lease that nothing was done with.
async fn leave(app: &App, (account, name): Key, owner: Arc<str>) -> Result<(), DbError> {
    let state = (account, name, owner);
    app.db.write(account, state, |tx, (account, name, owner)| Box::pin(store::leave(tx, *account, *name, owner))).await
}

impl Supervisor {
    fn new(app: App, works: Arc<dyn Works>) -> Self {
        let (node, holdings) = (app.ids.secret(16), 0);
        let (tasks, passed_over) = (HashMap::new(), HashMap::new());
        let (running, idle, warnings) = (JoinSet::new(), BTreeSet::new(), Throttle::new(WARN_EVERY));
        Self { app, works, node, holdings, tasks, running, passed_over, idle, warnings }
    }

    /// Takes what is free and due, of one account or of all, and begins its work. Whether there was anything.
    async fn take(&mut self, account: Option<AccountId>) -> bool {
        while let Some(ended) = self.running.try_join_next() {
            self.ended(ended.ok());
        }
        let jobs = self.tasks.keys().filter(|(_, name)| *name == LeaseName::Jobs).count();
        let free = MOST.saturating_sub(self.tasks.len());
        if free == 0 {
            return false;
        }
        let now = self.app.database_clock.now();
        self.holdings += 1;
        let owner: Arc<str> = format!("{} {}", self.node, self.holdings).into();
        self.passed_over.retain(|_, until| *until > now);
        let wanted = Wanted {
            account,
            without: self.passed_over.keys().copied().collect(),
            most: free,
            most_jobs: self.app.settings.jobs_at_once.saturating_sub(jobs),
            ..wanted(&self.app, &owner, now)
        };
        let until = wanted.until;
        let taken = match store::take(&self.app.db, wanted).await {
            Ok(taken) => taken,
            Err(error) => {
                self.warn("no work in the background can be taken", &error);
                return false;
            }
        };
        let is_any = !taken.is_empty();
        for taken in taken {
            self.begin(taken, &owner, until).await;
        }
        is_any
    }

    /// Begins the work of a lease. Where this node has lost and taken again what it is still about to end, it is left.
    async fn begin(&mut self, taken: Taken, owner: &Arc<str>, until: i64) {
        let key = (taken.account, taken.name);
        if self.tasks.contains_key(&key) {
            if let Err(error) = leave(&self.app, key, Arc::clone(owner)).await {
                self.warn("a lease cannot be given back", &error);
            }
            return;
        }
        let (held, calls) = Held::new(taken, owner, false);
        let (sender, receiver) = watch::channel(until);
        self.tasks.insert(key, Task { owner: Arc::clone(owner), calls, until: sender });
        let (app, works) = (self.app.clone(), Arc::clone(&self.works));
        let work = Box::pin(async move { work(&app, &*works, held).await });
        self.running.spawn(while_held(self.app.clone(), key, receiver, work));
    }

    /// Tells the work of accounts that they were woken, and takes what is due of them.
    async fn wake(&mut self, accounts: BTreeSet<AccountId>) {
        for ((account, _), task) in &self.tasks {
            if accounts.contains(account) {
                task.calls.send_modify(|call| call.wakes += 1);
            }
        }
        for account in accounts {
            // Where another node holds the leases of an account, each of its changes would be asked for in vain.
            if !self.idle.contains(&account) && !self.take(Some(account)).await {
                self.idle.insert(account);
            }
        }
    }

    /// Renews what is held, and tells the work whose lease has another signal or is gone.
    async fn renew(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let working = self.tasks.iter().map(|(key, task)| (*key, Arc::clone(&task.owner))).collect();
        let renewed = match store::renew(&self.app.db, &self.node, working, until(&self.app)).await {
            Ok(renewed) => renewed,
            Err(error) => {
                self.warn("work in the background cannot be renewed", &error);
                return;
            }
        };
        let held: HashMap<Key, Renewed> =
            renewed.into_iter().map(|renewed| ((renewed.account, renewed.name), renewed)).collect();
        for (key, task) in &self.tasks {
            let renewed = held.get(key).filter(|renewed| *renewed.owner == *task.owner);
            if let Some(renewed) = renewed {
                task.until.send_replace(renewed.until);
            }
            let signal = renewed.map(|renewed| renewed.signal);
            let is_asked_for = renewed.is_some_and(|renewed| renewed.is_asked_for);
            task.calls.send_if_modified(|call| {
                let before = std::mem::replace(call, Call { signal, ends: call.ends || is_asked_for, ..*call });
                *call != before
            });
        }
    }

    /// Asks the node that has most webhooks for some of them, where this one has fewer.
    async fn ask(&mut self) -> Result<(), DbError> {
        let db = self.app.db.clone();
        let shares = store::shares(&db, self.app.database_clock.now()).await?;
        let Some((richest, most)) = shares.iter().max_by_key(|(_, share)| **share) else { return Ok(()) };
        let part = fair_part(shares.get(&*self.node).copied().unwrap_or_default(), *most);
        if part == 0 {
            return Ok(());
        }
        let passed_over = self.passed_over.keys().copied().collect();
        let mut leases = store::unasked(&db, richest, &passed_over, part).await?;
        for account in leases.iter().map(|(account, _)| *account).collect::<BTreeSet<_>>() {
            if !works_for(&self.app, account).await? {
                self.pass_over(account);
            }
        }
        leases.retain(|(account, _)| !self.passed_over.contains_key(account));
        store::ask(&db, richest, &self.node, leases).await
    }

    /// Does not work for an account for a while.
    fn pass_over(&mut self, account: AccountId) {
        self.passed_over.insert(account, self.app.database_clock.now().saturating_add(PASSED_OVER));
    }

    /// Logs what failed, at most once in a while: it is tried again every second.
    fn warn(&self, what: &str, error: &DbError) {
        if self.warnings.passes() {
            tracing::warn!(%error, "{what}");
        }
    }

    /// Forgets work that has ended; whether it was jobs.
    fn ended(&mut self, ended: Option<Ended>) -> bool {
        let Some(Ended { key, is_left }) = ended else { return false };
        self.tasks.remove(&key);
        if is_left {
            self.pass_over(key.0);
        }
        key.1 == LeaseName::Jobs && !is_left
    }

    /// Lets work end, and gives back what is held still.
    async fn end(mut self) {
        for task in self.tasks.values() {
            task.calls.send_modify(|call| call.ends = true);
        }
        let all = async { while self.running.join_next().await.is_some() {} };
        if timeout(ENDING, all).await.is_err() {
            self.running.shutdown().await;
        }
        if let Err(error) = store::give_back_all(&self.app.db, &self.node, self.app.database_clock.now()).await {
            tracing::warn!(%error, "work in the background cannot be given back: others wait until its leases end");
        }
    }
}

/// Does a work as long as its lease is held, and drops it a little before that ends.
async fn while_held(
    app: App,
    key: Key,
    mut until: watch::Receiver<i64>,
    work: BoxFuture<'static, Result<bool, DbError>>,
) -> Ended {
    let ((account, name), margin) = (key, (length(&app) / 4).min(1_000_000));
    let lost = async {
        loop {
            let end = until.borrow_and_update().saturating_sub(margin);
            let left = end.saturating_sub(app.database_clock.now());
            let Ok(left @ 1..) = u64::try_from(left) else { return };
            tokio::select! {
                () = sleep(Duration::from_micros(left)) => {}
                Ok(()) = until.changed() => {}
            }
        }
    };
    let outcome = tokio::select! {
        biased;
        () = lost => None,
        outcome = AssertUnwindSafe(work).catch_unwind() => Some(outcome),
    };
    match outcome {
        Some(Ok(Ok(is_done))) => return Ended { key, is_left: !is_done },
        Some(Ok(Err(error))) => tracing::warn!(%error, account = account.0, %name, "work in the background has failed"),
        Some(Err(_)) => tracing::error!(account = account.0, %name, "work in the background has panicked"),
        None => tracing::warn!(account = account.0, %name, "work in the background could not be renewed in time"),
    }
    Ended { key, is_left: false }
}
