//! What a statement reads from.

use super::{Db, DbError, Engine, Row, Tx, Value};

/// What a statement reads from: the database, or one state of it.
pub enum Source<'s> {
    /// The database as it is.
    Db(&'s Db),
    /// One state of a database on this engine.
    Snapshot(&'s mut Tx, Engine),
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Source").field(&self.engine()).finish()
    }
}

impl Source<'_> {
    /// The engine of the database.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self {
            Self::Db(db) => db.engine(),
            Self::Snapshot(_, engine) => *engine,
        }
    }

    /// Runs one statement and hands every row to `row`, without copying it.
    pub async fn each<F>(&mut self, sql: &str, values: &[Value<'_>], row: F) -> Result<(), DbError>
    where
        F: FnMut(&Row<'_>) -> Result<(), DbError> + Send,
    {
        match self {
            Self::Db(db) => db.each(sql, values, row).await,
            Self::Snapshot(tx, _) => tx.each(sql, values, row).await,
        }
    }

    /// Runs a statement that may take long, and hands over what `read` has made of every row. It runs away from the
    /// threads that answer requests, but for one in a snapshot.
    pub async fn each_long<T, R, F>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: R,
        mut each: F,
    ) -> Result<(), DbError>
    where
        T: Send + 'static,
        R: Fn(&Row<'_>) -> Result<T, DbError> + Send + 'static,
        F: FnMut(T) -> Result<(), DbError> + Send,
    {
        match self {
            Self::Snapshot(tx, _) => tx.each(sql, values, move |row| each(read(row)?)).await,
            Self::Db(db) => {
                let rows = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
                let filled = std::sync::Arc::clone(&rows);
                let row = move |row: &Row<'_>| {
                    filled.lock().push(read(row)?);
                    Ok(())
                };
                drop(db.each_aside(sql, values, row).await?);
                let rows = std::mem::take(&mut *rows.lock());
                rows.into_iter().try_for_each(each)
            }
        }
    }
}
