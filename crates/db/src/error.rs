//! What can go wrong between us and a database.

use tokio_postgres::error::SqlState;

/// A fault of the database or of a statement. Its text is for the log, never for a client.
#[derive(Debug, thiserror::Error)]
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
    /// Everything else.
    #[error("the database failed: {0}")]
    Failed(String),
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => Self::Duplicate(error.to_string()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
        match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => Self::Duplicate(text),
            Some(code)
                if *code == SqlState::T_R_SERIALIZATION_FAILURE
                    || *code == SqlState::T_R_DEADLOCK_DETECTED
                    || *code == SqlState::ADMIN_SHUTDOWN
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
