//! What a statement reads from.

use super::{Db, DbError, Engine, Row, Tx, Value};

/// What a statement reads from: the database, or one state of it.
pub enum Source<'s> {
    /// The database as it is.
    Db(&'s Db),
    /// One state of the database.
    Snapshot(&'s mut Tx),
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Source").field(&self.engine()).finish()
    }
}

impl Source<'_> {
    /// The engine of the database.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Db(db) => db.engine(),
            Self::Snapshot(tx) => tx.engine(),
        }
    }

    /// Runs one statement and hands every row to `row`, without copying it.
    pub async fn each<F>(&mut self, sql: &str, values: &[Value<'_>], row: F) -> Result<(), DbError>
    where
        F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
    {
        match self {
            Self::Db(db) => db.each(sql, values, row).await,
            Self::Snapshot(tx) => tx.each(sql, values, row).await,
        }
    }

    /// The first row of a statement, read by `read`.
    pub async fn first<T, F>(&mut self, sql: &str, values: &[Value<'_>], read: F) -> Result<Option<T>, DbError>
    where
        T: Send,
        F: FnMut(&Row<'_>) -> Result<T, DbError> + Send,
    {
        match self {
            Self::Db(db) => db.first(sql, values, read).await,
            Self::Snapshot(tx) => tx.first(sql, values, read).await,
        }
    }
}
