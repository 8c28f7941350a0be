//! The time. Everything asks here, so that a test can hold it still.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::text::Timestamp;

/// A clock: the system's, or one that stands where a test put it.
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Runs since this moment.
    System(Instant),
    Fixed(Arc<Fixed>),
}

/// Both in microseconds.
#[derive(Debug)]
struct Fixed {
    now: AtomicI64,
    elapsed: AtomicI64,
}

impl Clock {
    /// The system's clock.
    // The one place that may ask the system; see clippy.toml.
    #[allow(clippy::disallowed_methods)]
    pub fn system() -> Self {
        Self(Kind::System(Instant::now()))
    }

    /// A clock that stands at `now` until it is moved.
    pub fn fixed(now: Timestamp) -> Self {
        let now = AtomicI64::new(now.as_microseconds());
        Self(Kind::Fixed(Arc::new(Fixed { now, elapsed: AtomicI64::new(0) })))
    }

    /// The time now.
    #[allow(clippy::disallowed_methods)]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(match &self.0 {
            Kind::Fixed(fixed) => fixed.now.load(Ordering::SeqCst),
            Kind::System(_) => jiff::Timestamp::now().as_microsecond(),
        })
    }

    /// The microseconds since some moment, which go on evenly whatever time the clock is set to.
    pub fn elapsed(&self) -> i64 {
        match &self.0 {
            Kind::Fixed(fixed) => fixed.elapsed.load(Ordering::SeqCst),
            Kind::System(start) => i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX),
        }
    }

    /// Moves a fixed clock on; the system's clock goes its own way.
    pub fn advance(&self, seconds: i64) {
        self.set(seconds);
        if let Kind::Fixed(fixed) = &self.0 {
            fixed.elapsed.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }

    /// Sets a fixed clock forward, or back, while no time passes.
    pub fn set(&self, seconds: i64) {
        if let Kind::Fixed(fixed) = &self.0 {
            fixed.now.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        }
    }
}

/// Measures how long something takes, for logs and metrics; nothing that is answered depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins to measure.
    #[allow(clippy::disallowed_methods)]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it is since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Lets something happen at most once in a while, such as a line of the log, however often there is a reason for it.
#[derive(Debug)]
pub struct Throttle {
    every: Duration,
    last: Mutex<Option<Stopwatch>>,
}

impl Throttle {
    /// Lets it happen at once, and then this long after the last time.
    pub const fn new(every: Duration) -> Self {
        Self { every, last: Mutex::new(None) }
    }

    /// Whether it may happen now.
    pub fn passes(&self) -> bool {
        let mut last = self.last.lock();
        let passes = last.is_none_or(|last| last.elapsed() >= self.every);
        if passes {
            *last = Some(Stopwatch::start());
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throttle_lets_the_first_pass_and_the_next_when_its_time_is_over() {
        let (never_again, always) = (Throttle::new(Duration::MAX), Throttle::new(Duration::ZERO));
        assert_eq!([(); 3].map(|()| never_again.passes()), [true, false, false]);
        assert_eq!([(); 3].map(|()| always.passes()), [true; 3]);
    }
}
