//! A transaction.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{FutureExt, TryFutureExt, future};

use super::head::Head;
use super::row::EachRow;
use super::session::postgres::{self, Pending, Session};
use super::session::sqlite;
use super::value::Statement;
use super::{AccountId, Activity, Committed, DbError, Engine, First, Row, Value, tables};

pub(super) enum Link {
    Sqlite(sqlite::Connected),
    Postgres(Session),
}

/// A transaction. Dropped without a commit, it leaves nothing behind.
pub struct Tx {
    link: Link,
    activity: Arc<Activity>,
    /// What begins or marks the transaction on PostgreSQL and is sent with the next statement.
    controls: String,
    deferred: Vec<(Cow<'static, str>, Vec<Value<'static>>)>,
    /// `None` where the transaction is a short one.
    planning: Option<Planning>,
    conflict: bool,
    pub(super) heads: BTreeMap<AccountId, Head>,
    pub(super) undo: Vec<(AccountId, Option<Head>)>,
    /// Where the commit leaves the accounts that it changes.
    pub(super) written: Vec<(AccountId, Committed)>,
    /// The bytes of what writes of this transaction answer when it is committed.
    pub(super) held: usize,
}

/// From how many bytes of answers on no further write joins a transaction.
pub(super) const HELD_LIMIT: usize = 16 << 20;

/// How often a transaction asks to go on while others hold SQLite's lock, each time for as long as the busy timeout.
const RESUMES: usize = 60;

/// How many statements are sent together with the end of a transaction at the most.
const SENT_WITH_THE_END: usize = 16;

/// How many statements wait at the most before they are sent, so that a long import stays within its memory.
const DEFERRED_LIMIT: usize = 128;

/// What keeps a transaction that writes much fast on PostgreSQL, which plans a statement once, for its tables as they were
/// when they were last analyzed. In an empty table any index will do, and nobody sees how the table has grown before the
/// commit: without this a long import would read all that it has written, for each record.
struct Planning {
    /// Statements since they were planned.
    statements: usize,
    /// How often they were planned anew.
    rounds: usize,
}

impl Planning {
    /// After how many statements they are planned anew, for tables as large as they are then, which costs little.
    const ROUND: usize = 2048;
    /// After how many rounds the tables are analyzed, which costs a second where they are large and holds off other
    /// upkeep of them until the commit.
    const ANALYZED: usize = 16;
    /// The first rounds that analyze as well: what is known of a table from before can be worse than nothing.
    const ANALYZED_FIRST: [usize; 2] = [1, 4];

    /// What is to be run before so many statements, if anything.
    fn next(&mut self, statements: usize) -> Option<String> {
        self.statements += statements;
        if self.statements <= Self::ROUND {
            return None;
        }
        self.statements = statements;
        self.rounds += 1;
        let analyzes = self.rounds.is_multiple_of(Self::ANALYZED) || Self::ANALYZED_FIRST.contains(&self.rounds);
        let analyze = if analyzes { tables::analyze() } else { String::new() };
        Some(format!("DISCARD PLANS; {analyze}"))
    }
}

impl Tx {
    pub(super) fn new(link: Link, activity: Arc<Activity>) -> Self {
        Self {
            link,
            activity,
            controls: String::new(),
            deferred: Vec::new(),
            planning: None,
            conflict: false,
            heads: BTreeMap::new(),
            undo: Vec::new(),
            written: Vec::new(),
            held: 0,
        }
    }

    /// Has statements planned anew now and then, because this transaction may write much.
    pub(super) fn planned_anew(mut self) -> Self {
        self.planning = Some(Planning { statements: 0, rounds: 0 });
        self
    }

    /// The connection of a SQLite transaction, for the writer that owns it.
    pub(super) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match &self.link {
            Link::Sqlite(connection) => Some(connection),
            Link::Postgres(_) => None,
        }
    }

    /// Which engine it runs on.
    pub fn engine(&self) -> Engine {
        match &self.link {
            Link::Sqlite(_) => Engine::Sqlite,
            Link::Postgres(_) => Engine::Postgres,
        }
    }

    pub(super) fn clear_fault(&mut self) {
        self.conflict = false;
    }

    pub(super) fn met_conflict(&self) -> bool {
        self.conflict
    }

    fn note<T>(&mut self, result: Result<T, DbError>) -> Result<T, DbError> {
        if matches!(result, Err(DbError::Again(_))) {
            self.conflict = true;
        }
        result
    }

    /// Counts statements that are about to be run.
    fn count(&mut self, statements: usize) {
        self.activity.count(statements);
        if let Some(planning) = &mut self.planning
            && let Some(sql) = planning.next(statements)
        {
            self.controls.push_str(&sql);
            self.controls.push(';');
        }
    }

    /// What goes to PostgreSQL with the statements that follow: what begins or marks the transaction, and what waits.
    fn pending(&mut self, statements: usize) -> Pending {
        self.count(self.deferred.len() + statements);
        Pending { controls: std::mem::take(&mut self.controls), deferred: std::mem::take(&mut self.deferred) }
    }

    /// Runs one statement and hands every row to `row`.
    pub async fn each<F>(&mut self, sql: &str, values: &[Value<'_>], mut row: F) -> Result<(), DbError>
    where
        F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
    {
        self.each_row(sql, values, &mut row).await
    }

    async fn each_row(&mut self, sql: &str, values: &[Value<'_>], row: &mut EachRow<'_>) -> Result<(), DbError> {
        let pending = self.pending(1);
        let result = match &self.link {
            Link::Sqlite(connection) => sqlite::each(connection, sql, values, row),
            Link::Postgres(session) => {
                let client = session.client()?;
                postgres::after(client, &pending, postgres::each(client, sql, values, row).boxed()).await
            }
        };
        self.note(result)
    }

    /// Runs statements and hands every row of the first to `row`, with its number, then those of the second, and so on. On
    /// PostgreSQL they are sent together.
    pub async fn each_of<F>(&mut self, statements: &[Statement<'_>], mut row: F) -> Result<(), DbError>
    where
        F: FnMut(usize, &Row<'_>) -> Result<(), DbError> + Send,
    {
        let pending = self.pending(statements.len());
        let result = match &self.link {
            Link::Sqlite(connection) => statements.iter().enumerate().try_for_each(|(number, (sql, values))| {
                sqlite::each(connection, sql, values, &mut |found| row(number, found))
            }),
            Link::Postgres(session) => {
                let client = session.client()?;
                postgres::after(client, &pending, postgres::each_of(client, statements, &mut row).boxed()).await
            }
        };
        self.note(result)
    }

    /// Runs one statement and collects what `read` makes of every row.
    pub async fn all<T, C, F>(&mut self, sql: &str, values: &[Value<'_>], mut read: F) -> Result<C, DbError>
    where
        C: Default + Extend<T> + Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        let mut found = C::default();
        self.each(sql, values, |row| {
            found.extend([read(row)?]);
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// Runs one statement and reads its first row, if there is one.
    pub async fn first<T, F>(&mut self, sql: &str, values: &[Value<'_>], read: F) -> Result<Option<T>, DbError>
    where
        T: Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        let mut first = First { read, found: None };
        self.each(sql, values, |row| first.take(row)).await?;
        Ok(first.found)
    }

    /// Like [`Tx::first`], and locks the row until the end of the transaction: every row that is read in order to be
    /// written is read so. `sql` is a plain `SELECT … FROM … WHERE …`.
    pub async fn first_for_update<T, F>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: F,
    ) -> Result<Option<T>, DbError>
    where
        T: Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        let mut first = First { read, found: None };
        self.each_for_update(sql, values, |row| first.take(row)).await?;
        Ok(first.found)
    }

    /// Like [`Tx::each`], and locks the rows until the end of the transaction. `sql` is a plain `SELECT … FROM … WHERE …`.
    pub async fn each_for_update<F>(&mut self, sql: &str, values: &[Value<'_>], row: F) -> Result<(), DbError>
    where
        F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
    {
        self.each(&self.locking(sql, "FOR UPDATE"), values, row).await
    }

    /// A statement that locks what it reads. SQLite has one writer, so that a read in its transaction is locked as it is.
    fn locking<'s>(&self, sql: &'s str, lock: &str) -> Cow<'s, str> {
        match self.link {
            Link::Sqlite(_) => Cow::Borrowed(sql),
            Link::Postgres(_) => Cow::Owned(format!("{sql} {lock}")),
        }
    }

    /// Like [`Tx::all`], of the rows that nobody else has locked, which are locked until the end of the transaction. `sql` is a
    /// plain `SELECT … FROM … WHERE …`.
    pub async fn all_unlocked<T, C, F>(&mut self, sql: &str, values: &[Value<'_>], read: F) -> Result<C, DbError>
    where
        C: Default + Extend<T> + Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        self.all(&self.locking(sql, "FOR UPDATE SKIP LOCKED"), values, read).await
    }

    /// The columns of a table, in their order.
    pub async fn columns(&mut self, table: &str) -> Result<Vec<String>, DbError> {
        let sql = format!("SELECT * FROM {table}");
        Ok(match &self.link {
            Link::Sqlite(connection) => connection.prepare(&sql)?.column_names().map(str::to_owned).collect(),
            Link::Postgres(session) => {
                let statement = session.client()?.prepare(&sql).await?;
                statement.columns().iter().map(|column| column.name().to_owned()).collect()
            }
        })
    }

    /// Runs a statement that returns no rows; gives the number of rows that it changed.
    pub async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
        let pending = self.pending(1);
        let result = match &self.link {
            Link::Sqlite(connection) => sqlite::execute(connection, sql, values),
            Link::Postgres(session) => {
                let client = session.client()?;
                postgres::after(client, &pending, postgres::execute(client, sql, values).boxed()).await
            }
        };
        self.note(result)
    }

    /// Runs a statement whose result nobody waits for: before the next statement that is waited for, in order, and
    /// on PostgreSQL sent together with the others that wait. Its errors come with the next statement or the commit.
    pub async fn enqueue(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value<'static>>,
    ) -> Result<(), DbError> {
        let sql = sql.into();
        match &self.link {
            Link::Sqlite(connection) => {
                self.activity.count(1);
                sqlite::execute(connection, &sql, &values).map(|_| ())
            }
            Link::Postgres(_) => {
                self.deferred.push((sql, values));
                if self.deferred.len() >= DEFERRED_LIMIT { self.flush().await } else { Ok(()) }
            }
        }
    }

    /// Adds a row, or replaces the one with the same values in the first `key` columns. Like [`Tx::enqueue`], it waits for
    /// nothing.
    pub async fn put(
        &mut self,
        table: &str,
        key: usize,
        row: Vec<(&'static str, Value<'static>)>,
    ) -> Result<(), DbError> {
        let (names, values): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        let places: Vec<_> = (1..=names.len()).map(|place| format!("${place}")).collect();
        let changes: Vec<_> = names.iter().skip(key).map(|name| format!("{name} = excluded.{name}")).collect();
        let (all, key) = (names.join(", "), names[..key].join(", "));
        let (places, changes) = (places.join(", "), changes.join(", "));
        let sql = format!("INSERT INTO {table} ({all}) VALUES ({places}) ON CONFLICT ({key}) DO UPDATE SET {changes}");
        self.enqueue(sql, values).await
    }

    /// Runs a statement that begins or marks a transaction: on PostgreSQL with the next one, whose error tells of its own.
    pub(super) async fn control(&mut self, sql: &str) -> Result<(), DbError> {
        self.flush().await?;
        match &self.link {
            Link::Sqlite(connection) => sqlite::execute(connection, sql, &[]).map(|_| ()),
            Link::Postgres(_) => {
                self.controls.push_str(sql);
                self.controls.push(';');
                Ok(())
            }
        }
    }

    /// Runs the statement that ends the transaction, on PostgreSQL together with what waits: one that ends a transaction in which
    /// something failed keeps nothing.
    async fn end(&mut self, sql: &str) -> Result<(), DbError> {
        // Of many futures that are joined not all need have been sent when the next is.
        if self.deferred.len() > SENT_WITH_THE_END {
            self.flush().await?;
        }
        let pending = self.pending(0);
        let result = match &self.link {
            Link::Sqlite(connection) => sqlite::execute(connection, sql, &[]).map(|_| ()),
            Link::Postgres(session) => {
                let client = session.client()?;
                let ended = client.batch_execute(sql).map_err(DbError::from);
                postgres::after(client, &pending, ended.boxed()).await
            }
        };
        self.note(result)
    }

    pub(super) async fn flush(&mut self) -> Result<(), DbError> {
        if self.deferred.is_empty() {
            return Ok(());
        }
        let pending = self.pending(0);
        let result = match &self.link {
            Link::Sqlite(_) => Ok(()),
            Link::Postgres(session) => postgres::after(session.client()?, &pending, future::ok(()).boxed()).await,
        };
        self.note(result)
    }

    /// Marks a place to return to.
    pub(super) async fn savepoint(&mut self) -> Result<(), DbError> {
        self.undo.clear();
        self.control("SAVEPOINT change").await
    }

    /// Keeps what was done since [`Tx::savepoint`].
    pub(super) async fn release(&mut self) -> Result<(), DbError> {
        self.undo.clear();
        self.control("RELEASE SAVEPOINT change").await
    }

    /// Undoes what was done since [`Tx::savepoint`].
    pub(super) async fn undo(&mut self) -> Result<(), DbError> {
        self.deferred.clear();
        self.undo_heads();
        self.control("ROLLBACK TO SAVEPOINT change").await?;
        self.control("RELEASE SAVEPOINT change").await
    }

    /// Notes that the answer to a write, which waits for the commit, has so many bytes.
    pub fn hold(&mut self, bytes: usize) {
        self.held = self.held.saturating_add(bytes);
    }

    /// Tells those who wait for the accounts that were changed; the first thing after the commit.
    pub(super) fn tell(&mut self) {
        for (account, committed) in self.written.drain(..) {
            self.activity.commits.tell(account, committed);
        }
    }

    /// Commits what was done so far. Nothing is run before [`Tx::resume`].
    pub async fn suspend(&mut self) -> Result<(), DbError> {
        self.write_heads().await?;
        self.end("COMMIT").await?;
        self.tell();
        match self.sqlite() {
            // Beside steady readers and writers the log would grow for as long as much is written.
            Some(connection) => sqlite::checkpoint(connection, "RESTART").map(drop),
            None => Ok(()),
        }
    }

    /// Goes on in a new transaction, for which heads are read anew. On SQLite it asks for the lock again and again: what is
    /// committed already would be of no use.
    pub async fn resume(&mut self) -> Result<(), DbError> {
        if self.engine() == Engine::Postgres {
            return self.control("BEGIN").await;
        }
        let mut begun = self.control("BEGIN IMMEDIATE").await;
        for _ in 1..RESUMES {
            if matches!(begun, Err(DbError::Busy(_))) {
                begun = self.control("BEGIN IMMEDIATE").await;
            }
        }
        begun
    }

    /// Ends a snapshot. On PostgreSQL nobody waits for that; where it fails, its connection is closed.
    pub async fn end_snapshot(self) -> Result<(), DbError> {
        match self.engine() {
            Engine::Sqlite => self.commit().await,
            Engine::Postgres => {
                drop(tokio::spawn(self.commit()));
                Ok(())
            }
        }
    }

    /// Ends the transaction; what it did is durable when this returns.
    pub async fn commit(mut self) -> Result<(), DbError> {
        self.write_heads().await?;
        self.end("COMMIT").await?;
        self.tell();
        match self.link {
            Link::Sqlite(connection) => connection.put_back(),
            Link::Postgres(mut session) => session.ended(),
        }
        Ok(())
    }
}
