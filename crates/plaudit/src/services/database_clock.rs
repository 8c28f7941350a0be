//! The time of the database's server, which nodes that share a database go by: their own clocks may differ, and may be set back.

use std::sync::atomic::{AtomicI64, Ordering};

use db::{Db, DbError};
use kernel::clock::Clock;

/// The time of the database, as it was last asked for and has gone on since.
#[derive(Debug)]
pub struct DatabaseClock {
    clock: Clock,
    /// The time of the database less [`Clock::elapsed`].
    offset: AtomicI64,
}

impl DatabaseClock {
    /// This clock's time, until the database is asked.
    pub fn new(clock: Clock) -> Self {
        Self { offset: AtomicI64::new(clock.now().as_microseconds() - clock.elapsed()), clock }
    }

    /// Asks the database for its time; one that is part of this process has none of its own.
    pub async fn synchronize(&self, db: &Db) -> Result<(), DbError> {
        let before = self.clock.elapsed();
        if let Some(time) = db.server_time().await? {
            self.offset.store(time - before.midpoint(self.clock.elapsed()), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Microseconds since 1970-01-01 UTC.
    pub fn now(&self) -> i64 {
        self.clock.elapsed() + self.offset.load(Ordering::Relaxed)
    }
}
