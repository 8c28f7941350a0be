//! Measurements for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::App;

/// Upper bounds of the buckets of request durations, in microseconds.
const BUCKETS: [u64; 9] = [100, 250, 500, 1_000, 2_500, 10_000, 50_000, 250_000, 1_000_000];

/// What a node counts.
#[derive(Debug, Default)]
pub struct Metrics {
    statuses: [AtomicU64; 6],
    buckets: [AtomicU64; BUCKETS.len()],
    microseconds: AtomicU64,
    requests: AtomicU64,
    /// Attempts at webhooks, by [`AttemptOutcome`].
    attempts: [AtomicU64; 3],
    /// What was measured last of the database, by the names of gauges with their labels.
    gauges: Mutex<BTreeMap<String, i64>>,
}

/// What becomes of a delivery by an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It has arrived.
    Delivered,
    /// It is attempted again.
    Retried,
    /// It has failed for good.
    Failed,
}

impl Metrics {
    /// Counts an answer.
    pub fn count(&self, status: u16, elapsed: Duration) {
        let class = usize::from(status / 100).min(self.statuses.len() - 1);
        let microseconds = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        self.statuses[class].fetch_add(1, Ordering::Relaxed);
        if let Some(bucket) = BUCKETS.iter().position(|bound| microseconds <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt at a webhook.
    pub fn count_attempt(&self, outcome: AttemptOutcome) {
        self.attempts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Notes what was measured, by the names of gauges, with labels behind those that have some.
    pub fn note(&self, gauges: impl IntoIterator<Item = (String, i64)>) {
        self.gauges.lock().extend(gauges);
    }

    /// The text that Prometheus reads.
    pub fn text(&self, app: &App) -> String {
        let mut text = String::from("# TYPE plaudit_requests_total counter\n");
        for (class, count) in self.statuses.iter().enumerate().skip(1) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(text, "plaudit_requests_total{{status=\"{class}xx\"}} {count}");
        }
        text.push_str("# TYPE plaudit_request_seconds histogram\n");
        let mut total = 0;
        for (bound, count) in BUCKETS.iter().zip(&self.buckets) {
            total += count.load(Ordering::Relaxed);
            let _ = writeln!(text, "plaudit_request_seconds_bucket{{le=\"{}\"}} {total}", seconds(*bound));
        }
        let requests = self.requests.load(Ordering::Relaxed);
        let microseconds = self.microseconds.load(Ordering::Relaxed);
        let (views, budgets) = (app.views.counters(), app.budgets.counters());
        let _ = writeln!(text, "plaudit_request_seconds_bucket{{le=\"+Inf\"}} {requests}");
        let _ = writeln!(text, "plaudit_request_seconds_sum {}", seconds(microseconds));
        let _ = writeln!(text, "plaudit_request_seconds_count {requests}");
        for (name, kind, figure) in [
            ("plaudit_db_statements_total", "counter", app.db.statements()),
            ("plaudit_streams_open", "gauge", app.tails.open() as u64),
            ("plaudit_streams_cut_total", "counter", app.tails.cut()),
            ("plaudit_view_bytes", "gauge", app.views.bytes() as u64),
            ("plaudit_view_loads_total", "counter", views.loads.load(Ordering::Relaxed)),
            ("plaudit_view_evictions_total", "counter", views.evictions.load(Ordering::Relaxed)),
            ("plaudit_view_catch_ups_total", "counter", views.catch_ups.load(Ordering::Relaxed)),
            ("plaudit_view_second_tries_total", "counter", views.second_tries.load(Ordering::Relaxed)),
            ("plaudit_answer_memory_bytes", "gauge", app.budgets.memory_bytes()),
            ("plaudit_spool_bytes", "gauge", app.budgets.spool_bytes()),
            ("plaudit_spool_files_total", "counter", budgets.spooled.load(Ordering::Relaxed)),
            ("plaudit_spool_refused_total", "counter", budgets.refused.load(Ordering::Relaxed)),
        ] {
            let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {figure}");
        }
        text.push_str("# TYPE plaudit_webhook_attempts_total counter\n");
        for (outcome, count) in ["delivered", "retried", "failed"].iter().zip(&self.attempts) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(text, "plaudit_webhook_attempts_total{{outcome=\"{outcome}\"}} {count}");
        }
        let mut family = String::new();
        for (name, figure) in &*self.gauges.lock() {
            let of = name.split('{').next().unwrap_or_default();
            if family != of {
                of.clone_into(&mut family);
                let _ = writeln!(text, "# TYPE {family} gauge");
            }
            let _ = writeln!(text, "{name} {figure}");
        }
        text.push_str("# TYPE plaudit_program_load_seconds summary\n");
        let loads = app.programs.loads();
        for (what, timed) in [("whole", &loads.whole), ("changes", &loads.changes)] {
            let (count, microseconds) = timed.read();
            let sum = seconds(microseconds);
            let _ = writeln!(text, "plaudit_program_load_seconds_sum{{what=\"{what}\"}} {sum}");
            let _ = writeln!(text, "plaudit_program_load_seconds_count{{what=\"{what}\"}} {count}");
        }
        text
    }
}

fn seconds(microseconds: u64) -> String {
    format!("{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000)
}
