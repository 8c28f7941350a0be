//! The progress of long work, on a terminal.

use std::io::{IsTerminal as _, Write as _};

use kernel::clock::Clock;
use kernel::text::Timestamp;

/// How often the line is written again, in microseconds.
const EVERY: i64 = 200_000;

/// Shows on standard error how far long work has come; where that is no terminal, nothing.
pub(super) struct Progress {
    clock: Clock,
    shown: Option<Timestamp>,
    visible: bool,
}

impl Progress {
    /// Nothing done yet.
    pub(super) fn new() -> Self {
        Self { clock: Clock::system(), shown: None, visible: std::io::stderr().is_terminal() }
    }

    /// The same of work whose results are seen themselves.
    pub(super) fn hidden() -> Self {
        let mut progress = Self::new();
        progress.visible = false;
        progress
    }

    /// So many of these are done.
    pub(super) fn at(&mut self, done: u64, what: &str) {
        // Asking for the time costs more than most of the work that is counted here.
        if !self.visible || !done.is_multiple_of(64) {
            return;
        }
        let now = self.clock.now();
        if self.shown.is_none_or(|shown| now.as_microseconds() - shown.as_microseconds() >= EVERY) {
            let _ = write!(std::io::stderr(), "\r{done} {what}\x1b[K");
            self.shown = Some(now);
        }
    }

    /// Takes the line away, before anything else is printed.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
