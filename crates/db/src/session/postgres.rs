//! A connection to PostgreSQL, and running statements on it.

use std::borrow::Cow;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt, future, pin_mut};
use tokio::runtime::Handle;

use crate::row::{EachRow, EachRowOf};
use crate::value::Statement;
use crate::{DbError, Row, Value};

pub(crate) type Client = deadpool_postgres::Object;

/// How long what was given up may take to end before its connection is closed: it keeps a place of the pool.
const PATIENCE: Duration = Duration::from_secs(1);

/// A connection inside a transaction, or whose rows are being read.
pub(crate) struct Session {
    client: Option<Client>,
    /// What is to be run before the pool may have the connection, unless it has ended.
    open: Option<&'static str>,
}

impl Session {
    /// A connection that is about to begin a transaction.
    pub(crate) fn new(client: Client) -> Self {
        Self { client: Some(client), open: Some("ROLLBACK") }
    }

    /// A connection on which rows are about to be read: those that are left come before the answer to anything else.
    pub(crate) fn reading(client: Client) -> Self {
        Self { client: Some(client), open: Some("") }
    }

    pub(crate) fn client(&self) -> Result<&Client, DbError> {
        self.client.as_ref().ok_or_else(|| DbError::Failed("a transaction lost its connection".to_owned()))
    }

    /// It has ended, and the pool may hand the connection out again.
    pub(crate) fn ended(&mut self) {
        self.open = None;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The pool must not hand out a connection that is still at something.
        let (Some(end), Some(client)) = (self.open, self.client.take()) else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                let ended = tokio::time::timeout(PATIENCE, client.batch_execute(end)).await;
                if !matches!(ended, Ok(Ok(()))) {
                    drop(Client::take(client));
                }
            })),
            Err(_) => drop(Client::take(client)),
        }
    }
}

pub(crate) async fn each(
    client: &Client,
    sql: &str,
    values: &[Value<'_>],
    row: &mut EachRow<'_>,
) -> Result<(), DbError> {
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query_raw(&statement, values).await?;
    pin_mut!(rows);
    while let Some(found) = rows.try_next().await? {
        row(&Row::postgres(&found))?;
    }
    Ok(())
}

/// Sends all statements before it reads the rows of the first.
pub(crate) async fn each_of(
    client: &Client,
    statements: &[Statement<'_>],
    row: &mut EachRowOf<'_>,
) -> Result<(), DbError> {
    let mut prepared = Vec::with_capacity(statements.len());
    for (sql, _) in statements {
        prepared.push(client.prepare_cached(sql).await?);
    }
    let sends = prepared.iter().zip(statements).map(|(statement, (_, values))| client.query_raw(statement, values));
    let mut sent: Vec<_> = sends.map(|send| Box::pin(future::maybe_done(send))).collect();
    // A statement is sent when its future is polled first. Its rows have to be read before those of the next ones come.
    future::poll_fn(|context| {
        for send in &mut sent {
            let _ = send.poll_unpin(context);
        }
        Poll::Ready(())
    })
    .await;
    for (number, mut send) in sent.into_iter().enumerate() {
        send.as_mut().await;
        let Some(rows) = send.as_mut().take_output() else { continue };
        let rows = rows?;
        pin_mut!(rows);
        while let Some(found) = rows.try_next().await? {
            row(number, &Row::postgres(&found))?;
        }
    }
    Ok(())
}

pub(crate) async fn execute(client: &Client, sql: &str, values: &[Value<'_>]) -> Result<u64, DbError> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute_raw(&statement, values).await?)
}

/// What has to be run before a statement.
#[derive(Default)]
pub(crate) struct Pending {
    /// Statements without values or rows, which begin or mark the transaction.
    pub(crate) controls: String,
    /// Statements whose results nobody waits for.
    pub(crate) deferred: Vec<(Cow<'static, str>, Vec<Value<'static>>)>,
}

/// Sends all of this together with what is to be done after it, and then waits for all answers. The error of what was sent
/// first counts: what follows fails because of it.
pub(crate) async fn after<T>(
    client: &Client,
    Pending { controls, deferred }: &Pending,
    work: BoxFuture<'_, Result<T, DbError>>,
) -> Result<T, DbError> {
    if controls.is_empty() && deferred.is_empty() {
        return work.await;
    }
    let controls = async {
        match controls.as_str() {
            "" => Ok(()),
            controls => client.batch_execute(controls).await.map_err(DbError::from),
        }
    };
    let deferred = async {
        let mut prepared = Vec::with_capacity(deferred.len());
        for (sql, _) in deferred {
            prepared.push(client.prepare_cached(sql).await?);
        }
        let runs = prepared.iter().zip(deferred).map(|(statement, (_, values))| client.execute_raw(statement, values));
        let (run, done) = future::join(future::join_all(runs), work).await;
        run.into_iter().collect::<Result<Vec<u64>, _>>()?;
        done
    };
    let (controlled, done) = Box::pin(future::join(controls, deferred)).await;
    controlled.and(done)
}
