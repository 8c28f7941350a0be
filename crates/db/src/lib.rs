//! SQLite and PostgreSQL behind one small face.
//!
//! - A statement is written once, with `$1` parameters; what both engines understand is listed in `docs/database.md`.
//! - A read is one statement ([`Db::each`], [`Db::first`], [`Db::fetch_pipelined`]); on SQLite it runs inline on a connection of the calling
//!   thread, on PostgreSQL on a pooled connection, which lookups share.
//! - A long read that needs one state of the data runs in a [`Db::snapshot`].
//! - A write is a function of a [`Tx`] ([`Db::write`]). Writes that wait are run one after the other in one transaction, of
//!   which one that fails takes nothing with it, and acknowledged together after its commit: all of them on SQLite, those of one
//!   account on PostgreSQL. A write may therefore run more than once, but takes effect at most once.
//! - The only thing that a write may await is its `Tx`.
//! - Who has to know of every commit of an account waits for it ([`Db::watch`]).

mod commits;
mod error;
mod group;
mod head;
pub mod migrate;
mod postgres;
mod row;
mod session;
mod sharing;
mod source;
mod sqlite;
pub mod tables;
mod tls;
mod turns;
mod tx;
mod value;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use commits::{Committed, hash_of_change};
pub use error::DbError;
pub use futures_util::future::BoxFuture;
pub use group::Work;
pub use head::Head;
pub use row::Row;
pub use source::Source;
pub use tx::Tx;
pub use value::{Statement, Value};

use commits::Commits;

/// The tenant that a record belongs to; the first column of every primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

impl AccountId {
    /// Stands for "no account yet": the creation of an account, and what concerns the whole deployment.
    pub const NONE: Self = Self(0);
}

/// How a database is reached and how its writes are grouped.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `sqlite:PATH` or `postgres://…`.
    pub url: String,
    /// Connections to PostgreSQL; 0: as many as suit this machine.
    pub pool_size: usize,
    /// The most changes that one commit acknowledges together.
    pub group_limit: usize,
    /// How long a write waits for another process that writes to the same SQLite file.
    pub busy_timeout: Duration,
}

impl Settings {
    /// The settings of a database at `url`, everything else at its default.
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), pool_size: 0, group_limit: 256, busy_timeout: Duration::from_secs(10) }
    }
}

/// Which of the two engines a database runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Embedded, one node.
    Sqlite,
    /// A server, many nodes.
    Postgres,
}

impl Engine {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgresql",
        }
    }
}

/// How connections are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    /// How many are open.
    pub open: usize,
    /// How many of them nobody uses.
    pub idle: usize,
    /// How many there may be.
    pub most: usize,
    /// How many wait for one.
    pub waiting: usize,
}

/// What is noted of a database: how many statements were run, for tests and metrics, and who waits for commits.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    statements: AtomicU64,
    commits: Commits,
}

impl Activity {
    fn count(&self, statements: usize) {
        self.statements.fetch_add(statements as u64, Ordering::Relaxed);
    }
}

enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

struct Inner {
    backend: Backend,
    activity: Arc<Activity>,
}

/// The first row of a result, as it was read.
struct First<T, F> {
    read: F,
    found: Option<T>,
}

impl<T, F: FnMut(&Row<'_>) -> Result<T, DbError>> First<T, F> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), DbError> {
        if self.found.is_none() {
            self.found = Some((self.read)(row)?);
        }
        Ok(())
    }
}

/// A database. Cloning is cheap; the clones are the same database.
#[derive(Clone)]
pub struct Db(Arc<Inner>);

impl std::fmt::Debug for Db {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Db").field(&self.engine()).finish()
    }
}

impl Db {
    /// Opens the database that the settings name; SQLite creates its file. The tables are made by [`migrate::run`].
    pub async fn open(settings: &Settings) -> Result<Self, DbError> {
        let activity = Arc::new(Activity::default());
        let backend = if let Some(path) = settings.url.strip_prefix("sqlite:") {
            Backend::Sqlite(sqlite::Sqlite::open(path, settings, &activity)?)
        } else if settings.url.starts_with("postgres://") || settings.url.starts_with("postgresql://") {
            Backend::Postgres(postgres::Postgres::open(settings, &activity).await?)
        } else {
            return Err(DbError::Settings("a database address begins with sqlite: or postgres://".to_owned()));
        };
        Ok(Self(Arc::new(Inner { backend, activity })))
    }

    /// The engine that this database runs on.
    pub fn engine(&self) -> Engine {
        match self.0.backend {
            Backend::Sqlite(_) => Engine::Sqlite,
            Backend::Postgres(_) => Engine::Postgres,
        }
    }

    /// How many connections there are at most; none on SQLite, where readers do not wait for each other.
    pub fn connections(&self) -> Option<usize> {
        match &self.0.backend {
            Backend::Sqlite(_) => None,
            Backend::Postgres(postgres) => Some(postgres.connections()),
        }
    }

    /// How the connections to PostgreSQL are used; nothing on SQLite.
    pub fn pool(&self) -> Option<PoolStatus> {
        match &self.0.backend {
            Backend::Sqlite(_) => None,
            Backend::Postgres(postgres) => Some(postgres.status()),
        }
    }

    /// How many statements have been run so far, those of transactions included.
    pub fn statements(&self) -> u64 {
        self.0.activity.statements.load(Ordering::Relaxed)
    }

    /// Runs one statement and hands every row to `row`, without copying it.
    pub async fn each<F>(&self, sql: &str, values: &[Value<'_>], mut row: F) -> Result<(), DbError>
    where
        F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
    {
        self.0.activity.count(1);
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.each(sqlite::Access::Rows, sql, values, &mut row),
            Backend::Postgres(postgres) => postgres.each(sql, values, &mut row).await,
        }
    }

    /// Runs one statement and reads its first row, if there is one.
    pub async fn first<T, F>(&self, sql: &str, values: &[Value<'_>], read: F) -> Result<Option<T>, DbError>
    where
        T: Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        let mut first = First { read, found: None };
        self.each(sql, values, |row| first.take(row)).await?;
        Ok(first.found)
    }

    /// Like [`Db::first`] for a lookup: a short statement that finds a small row by a key. On PostgreSQL others wait behind
    /// it on the same connection, and it fails where no answer comes for 15 seconds.
    pub async fn fetch_pipelined<T, F>(&self, sql: &str, values: &[Value<'_>], read: F) -> Result<Option<T>, DbError>
    where
        T: Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        let mut first = First { read, found: None };
        self.0.activity.count(1);
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.each(sqlite::Access::Lookup, sql, values, &mut |row| first.take(row))?,
            Backend::Postgres(postgres) => postgres.fetch_pipelined(sql, values, &mut |row| first.take(row)).await?,
        }
        Ok(first.found)
    }

    /// The time of PostgreSQL's server, in microseconds since 1970-01-01 UTC; nothing on SQLite, whose time is this machine's.
    pub async fn server_time(&self) -> Result<Option<i64>, DbError> {
        match &self.0.backend {
            Backend::Sqlite(_) => Ok(None),
            Backend::Postgres(_) => {
                let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
                self.fetch_pipelined(sql, &[], |row| row.integer(0)).await
            }
        }
    }

    /// A read-only transaction: everything that is read in it belongs to one state of the database.
    pub async fn snapshot(&self) -> Result<Tx, DbError> {
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.snapshot(),
            Backend::Postgres(postgres) => postgres.snapshot().await,
        }
    }

    /// Runs `work` in a transaction of `account` and returns when what it did is durable. An `Err` of `work` undoes
    /// all that it did. `state` is what the work needs; it is kept apart so that the work can be run again.
    pub async fn write<S, T, E>(&self, account: AccountId, state: S, work: Work<S, T, E>) -> Result<T, E>
    where
        S: Send + Sync + 'static,
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (job, answer) = group::job(state, work);
        let sent = match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.submit(job),
            Backend::Postgres(postgres) => postgres.submit(account, job),
        };
        sent.map_err(E::from)?;
        answer.await.unwrap_or_else(|_| Err(E::from(DbError::Failed("the writer has stopped".to_owned()))))
    }

    /// A transaction of its own, outside the groups, for long work such as an import; [`Tx::commit`] ends it.
    pub async fn begin(&self) -> Result<Tx, DbError> {
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.begin(),
            Backend::Postgres(postgres) => postgres.begin().await,
        }
    }

    /// Moves what SQLite has written to its log into its file and empties the log, so that what was overwritten is nowhere any more. It
    /// fails never: where somebody reads what was before, the next checkpoint does it.
    pub async fn checkpoint(&self) {
        if let Backend::Sqlite(sqlite) = &self.0.backend
            && let Err(error) = sqlite.checkpoint().await
        {
            tracing::warn!(%error, "the log of the database could not be emptied");
        }
    }

    /// Has PostgreSQL look at how its tables are filled, which it does by itself a minute or two after a change: until then
    /// statements are planned for tables as they were before. To be called where much was written at once. It fails never
    /// and waits for nobody, because nothing depends on it but speed.
    pub async fn analyze(&self) {
        let Backend::Postgres(postgres) = &self.0.backend else { return };
        if let Err(error) = postgres.run(&tables::analyze()).await {
            tracing::warn!(%error, "the tables were not analyzed");
        }
    }

    /// Waits until every write that was handed over is answered, and stops taking new ones.
    pub async fn close(&self) {
        if let Backend::Sqlite(sqlite) = &self.0.backend {
            sqlite.close().await;
        }
    }
}
