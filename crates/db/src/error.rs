//! What can go wrong between us and a database.

use tokio_postgres::error::SqlState;

/// A fault of the database or of a statement. Its text is for the log, never for a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DbError {
    /// The address or a setting cannot be used.
    #[error("{0}")]
    Settings(String),
    /// A row with the same key exists.
    #[error("a row with the same key exists: {0}")]
    Duplicate(String),
    /// The transaction met another one or lost its connection before its commit, and can be run again.
    #[error("the transaction has to be run again: {0}")]
    Again(String),
    /// Another process holds the database longer than the busy timeout.
    #[error("the database is busy: {0}")]
    Busy(String),
    /// Its disk is full; nothing was changed.
    #[error("the disk of the database is full: {0}")]
    DiskFull(String),
    /// Everything else.
    #[error("the database failed: {0}")]
    Failed(String),
}

impl DbError {
    /// The same for each of the writes that share its commit: none of them can be run again on account of it.
    pub(super) fn of_commit(&self) -> Self {
        match self {
            Self::Busy(_) | Self::DiskFull(_) => self.clone(),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// An error with its causes, of which the driver's own words leave out most: which server, and what was wrong with it.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut text = String::new();
    // Of an error of the server the driver says no more than that.
    for told in causes.map(ToString::to_string).filter(|told| told != "db error") {
        if !text.ends_with(&told) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&told);
        }
    }
    text
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Self::Duplicate(error.to_string()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error.to_string()),
            Some(ErrorCode::DiskFull) => Self::DiskFull(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = error.as_db_error().map_or_else(|| whole(&error), ToString::to_string);
        match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => Self::Duplicate(text),
            Some(code) if *code == SqlState::DISK_FULL => Self::DiskFull(text),
            Some(code)
                if *code == SqlState::T_R_SERIALIZATION_FAILURE
                    || *code == SqlState::T_R_DEADLOCK_DETECTED
                    || *code == SqlState::ADMIN_SHUTDOWN
                    || *code == SqlState::CRASH_SHUTDOWN
                    || *code == SqlState::CANNOT_CONNECT_NOW
                    || *code == SqlState::TOO_MANY_CONNECTIONS
                    || *code == SqlState::READ_ONLY_SQL_TRANSACTION =>
            {
                Self::Again(text)
            }
            None if error.is_closed()
                || std::error::Error::source(&error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>) =>
            {
                Self::Again(text)
            }
            _ => Self::Failed(text),
        }
    }
}

impl From<deadpool_postgres::PoolError> for DbError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => Self::from(error),
            other => Self::Again(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_database_that_may_not_grow_says_that_its_disk_is_full() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a); PRAGMA max_page_count = 2").unwrap();
        let error = DbError::from(connection.execute("INSERT INTO t VALUES (zeroblob(100000))", []).unwrap_err());
        assert!(matches!(error, DbError::DiskFull(_)), "{error}");
        assert_eq!(error.of_commit(), error);
    }
}
