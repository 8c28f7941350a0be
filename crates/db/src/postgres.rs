//! PostgreSQL: a pool, prepared statements, and a queue of writes for every account.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::error::whole;
use super::group::Job;
use super::row::EachRow;
use super::session::postgres::{Session, each};
use super::sharing::{Shared, Sharing};
use super::tls::Target;
use super::turns::InTurns;
use super::tx::{HELD_LIMIT, Link, Tx};
use super::{AccountId, Activity, DbError, PoolStatus, Settings, Value};

/// What is told where a server cannot be reached.
const NEEDED: &str = "it must run, and let this user into this database";

/// How often a write is run again that met another one or lost its connection.
const REPEATS: usize = 11;
/// How long a request waits for a connection, and then for the answer to a lookup.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the queue of an account waits for the next write before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// Connections for each processor, where their number is not set: a database as large as this machine is kept busy by them,
/// and does not switch between more pages at once than it gets done.
const CONNECTIONS_FOR_EACH_PROCESSOR: usize = 2;
/// How many connections there are then at least and at most.
const CONNECTIONS: (usize, usize) = (4, 16);

type Queues = Mutex<HashMap<AccountId, mpsc::UnboundedSender<Box<dyn Job>>>>;

fn pool_size(settings: &Settings) -> usize {
    let (least, most) = CONNECTIONS;
    match settings.pool_size {
        0 => {
            let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            processors.saturating_mul(CONNECTIONS_FOR_EACH_PROCESSOR).clamp(least, most)
        }
        // A request may need a second connection while it holds one.
        size => size.max(2),
    }
}

#[derive(Clone)]
struct Inner {
    pool: Pool,
    sharing: Arc<Sharing>,
    activity: Arc<Activity>,
    queues: Arc<Queues>,
    group_limit: usize,
}

pub(super) struct Postgres(Inner);

impl Postgres {
    pub(super) async fn open(settings: &Settings, activity: &Arc<Activity>) -> Result<Self, DbError> {
        let Target { mut config, tls } = Target::of(&settings.url)?;
        config.application_name("plaudit");
        let own = "-c default_transaction_isolation=read\\ committed -c plan_cache_mode=force_generic_plan -c jit=off";
        config.options(format!("{} {own}", config.get_options().unwrap_or_default()).trim_start());
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(config, InTurns(tls), recycling);
        let pool_size = pool_size(settings);
        let pool = Pool::builder(manager)
            .max_size(pool_size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .build()
            .map_err(|error| DbError::Settings(error.to_string()))?;
        drop(pool.get().await.map_err(|error| {
            let cause = match &error {
                PoolError::Backend(error) => whole(error),
                other => whole(other),
            };
            DbError::Settings(format!("{cause}; {NEEDED}"))
        })?);
        Ok(Self(Inner {
            pool,
            sharing: Arc::new(Sharing::of(pool_size)),
            activity: Arc::clone(activity),
            queues: Arc::default(),
            group_limit: settings.group_limit.max(1),
        }))
    }

    pub(super) fn connections(&self) -> usize {
        self.status().most
    }

    pub(super) fn status(&self) -> PoolStatus {
        let status = self.0.pool.status();
        PoolStatus { open: status.size, idle: status.available, most: status.max_size, waiting: status.waiting }
    }

    pub(super) async fn each(&self, sql: &str, values: &[Value<'_>], row: &mut EachRow<'_>) -> Result<(), DbError> {
        let mut session = Session::reading(self.0.pool.get().await?);
        each(session.client()?, sql, values, row).await?;
        session.ended();
        Ok(())
    }

    /// Like [`Self::each`] for a lookup, on a connection that others use at the same time.
    pub(super) async fn fetch_pipelined(
        &self,
        sql: &str,
        values: &[Value<'_>],
        row: &mut EachRow<'_>,
    ) -> Result<(), DbError> {
        let shared = self.0.sharing.join(&self.0.pool).await?;
        let outcome = ask(&shared, sql, values, row).await;
        if !matches!(outcome, Err(DbError::Again(_))) {
            return outcome;
        }
        // A lookup changes nothing, and whoever ended its connection did so for all that were under way on it.
        shared.poison();
        drop(shared);
        ask(&*self.0.sharing.join(&self.0.pool).await?, sql, values, row).await
    }

    /// Runs one statement without values or rows, outside of any transaction.
    pub(super) async fn run(&self, sql: &str) -> Result<(), DbError> {
        Ok(self.0.pool.get().await?.batch_execute(sql).await?)
    }

    pub(super) async fn snapshot(&self) -> Result<Tx, DbError> {
        self.0.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    pub(super) async fn begin(&self) -> Result<Tx, DbError> {
        Ok(self.0.transaction("BEGIN").await?.planned_anew())
    }

    pub(super) fn submit(&self, account: AccountId, job: Box<dyn Job>) -> Result<(), DbError> {
        let mut queues = self.0.queues.lock();
        let job = match queues.get(&account) {
            Some(queue) => match queue.send(job) {
                Ok(()) => return Ok(()),
                Err(mpsc::error::SendError(job)) => job,
            },
            None => job,
        };
        let (queue, jobs) = mpsc::unbounded_channel();
        queue.send(job).map_err(|_| DbError::Failed("a queue ended before it began".to_owned()))?;
        queues.insert(account, queue);
        tokio::spawn(self.0.clone().work_off(account, jobs));
        Ok(())
    }
}

impl Inner {
    async fn transaction(&self, begin: &str) -> Result<Tx, DbError> {
        let session = Session::new(self.pool.get().await?);
        let mut tx = Tx::new(Link::Postgres(session), Arc::clone(&self.activity));
        tx.control(begin).await?;
        Ok(tx)
    }

    async fn work_off(self, account: AccountId, mut jobs: mpsc::UnboundedReceiver<Box<dyn Job>>) {
        loop {
            let first = match tokio::time::timeout(IDLE, jobs.recv()).await {
                Ok(Some(job)) => job,
                Ok(None) => return,
                Err(_) => {
                    let mut queues = self.queues.lock();
                    // Under the lock nobody can send, so a queue that is empty now stays empty.
                    if jobs.is_empty() {
                        queues.remove(&account);
                        return;
                    }
                    continue;
                }
            };
            let mut group = vec![first];
            while group.len() < self.group_limit
                && let Ok(job) = jobs.try_recv()
            {
                group.push(job);
            }
            self.write(group).await;
        }
    }

    /// Writes a group, in several transactions where its answers are long; where the database asks for another run, its
    /// members one by one.
    async fn write(&self, mut group: Vec<Box<dyn Job>>) {
        while !group.is_empty() {
            match self.write_together(&mut group).await {
                Err(DbError::Again(_)) => {
                    while !group.is_empty() {
                        if let Err(error) = self.write_alone(group.remove(0)).await {
                            // Nobody waits for the same once more.
                            group.drain(..).for_each(|job| job.answer(Err(error.clone())));
                        }
                    }
                }
                Err(error) => group.drain(..).for_each(|job| job.answer(Err(error.of_commit()))),
                Ok(written) => group.drain(..written).for_each(|job| job.answer(Ok(()))),
            }
        }
    }

    /// Writes one and answers it. Returns the error where the database was not to be had at all.
    async fn write_alone(&self, job: Box<dyn Job>) -> Result<(), DbError> {
        let mut alone = [job];
        let mut repeats = 0;
        let (outcome, away) = loop {
            let (outcome, away) = match self.transaction("BEGIN").await {
                Ok(tx) => (write_in(tx, &mut alone).await.map(drop), Ok(())),
                Err(error) => (Err(error.clone()), Err(error)),
            };
            if repeats == REPEATS || !matches!(outcome, Err(DbError::Again(_))) {
                break (outcome, away);
            }
            // A failover takes seconds; a conflict is over at once.
            tokio::time::sleep(Duration::from_millis(10 << repeats)).await;
            repeats += 1;
        };
        let [job] = alone;
        job.answer(outcome);
        away
    }

    /// Writes the first jobs of a group, and gives how many they are.
    async fn write_together(&self, group: &mut [Box<dyn Job>]) -> Result<usize, DbError> {
        write_in(self.transaction("BEGIN").await?, group).await
    }
}

/// Writes the first jobs of a group in a transaction, commits it, and gives how many they are.
async fn write_in(mut tx: Tx, group: &mut [Box<dyn Job>]) -> Result<usize, DbError> {
    let mut written = 0;
    for job in &mut *group {
        tx.savepoint().await?;
        let kept = job.run(&mut tx).await;
        if job.wants_another_run() {
            return Err(DbError::Again("a write of the group met a conflict".to_owned()));
        }
        if kept {
            tx.release().await?;
        } else {
            tx.undo().await?;
        }
        written += 1;
        if tx.held >= HELD_LIMIT {
            break;
        }
    }
    // The heads go with the commit. Past this point the outcome of a lost connection is not known, and the work must not run twice.
    tx.commit().await.map_err(|error| error.of_commit())?;
    Ok(written)
}

/// Sends a lookup on a shared connection, and poisons the connection where no answer comes.
async fn ask(shared: &Shared, sql: &str, values: &[Value<'_>], row: &mut EachRow<'_>) -> Result<(), DbError> {
    tokio::time::timeout(PATIENCE, each(shared.client()?, sql, values, row)).await.unwrap_or_else(|_| {
        shared.poison();
        Err(DbError::Failed(format!("no answer to a lookup for {} s", PATIENCE.as_secs())))
    })
}
