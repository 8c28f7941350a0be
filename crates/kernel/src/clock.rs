//! The time. Everything asks here, so that a test can hold it still.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use crate::text::Timestamp;

/// A clock: the system's, or one that stands where a test put it.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<AtomicI64>>);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands at `now` until it is moved.
    #[must_use]
    pub fn fixed(now: Timestamp) -> Self {
        Self(Some(Arc::new(AtomicI64::new(now.as_microseconds()))))
    }

    /// The time now.
    #[must_use]
    // The one place that may ask the system; see clippy.toml.
    #[allow(clippy::disallowed_methods)]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(match &self.0 {
            Some(fixed) => fixed.load(Ordering::SeqCst),
            None => jiff::Timestamp::now().as_microsecond(),
        })
    }

    /// Moves a fixed clock on; the system's clock goes its own way.
    pub fn advance(&self, seconds: i64) {
        if let Some(fixed) = &self.0 {
            fixed.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }
}

/// Measures how long something takes, for logs and metrics; nothing that is answered depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins to measure.
    #[must_use]
    #[allow(clippy::disallowed_methods)]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it is since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
