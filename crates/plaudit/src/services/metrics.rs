//! Measurements for Prometheus, in its text format (version 0.0.4).
//!
//! - Each family has its help, and its unit where its name ends in one.
//! - Labels have few values: a route is one of those that there are, or empty, and so is a method.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use super::{App, process};

/// Upper bounds of the buckets of request durations, in microseconds.
const BUCKETS: [u64; 10] = [250, 500, 1_000, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000, 30_000_000];

/// What a node counts.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By method and route.
    requests: RwLock<HashMap<(&'static str, &'static str), Arc<OfRoute>>>,
    /// Attempts at webhooks, by [`AttemptOutcome`].
    attempts: [AtomicU64; 3],
    /// What was measured last of the database, by the names of gauges with their labels.
    gauges: Mutex<BTreeMap<String, (&'static str, i64)>>,
}

/// The answers of a route.
#[derive(Debug, Default)]
struct OfRoute {
    statuses: Mutex<BTreeMap<u16, u64>>,
    buckets: [AtomicU64; BUCKETS.len()],
    microseconds: AtomicU64,
    count: AtomicU64,
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

/// What was measured now and then.
#[derive(Debug)]
pub struct Gauge {
    /// Its name, with labels behind it where it has some.
    pub name: String,
    /// What it tells.
    pub help: &'static str,
    /// What was measured.
    pub figure: i64,
}

impl Gauge {
    /// A gauge without labels.
    pub fn new(name: &str, help: &'static str, figure: i64) -> Self {
        Self { name: name.to_owned(), help, figure }
    }
}

/// The text of measurements, as it grows.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Begins a family.
    pub fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        let base = name.strip_suffix("_total").unwrap_or(name);
        if let Some(unit) = ["seconds", "bytes"].into_iter().find(|unit| base.ends_with(unit)) {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
    }

    /// Adds a sample of the family that was begun last.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], figure: impl Display) {
        self.0.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{value}\"", if at == 0 { '{' } else { ',' });
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {figure}");
    }

    /// A family of one sample.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, figure: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], figure);
    }

    /// A family with a sample for each value of a label.
    pub fn labelled<'l, F: Display>(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        label: &str,
        figures: impl IntoIterator<Item = (&'l str, F)>,
    ) {
        self.family(name, kind, help);
        for (value, figure) in figures {
            self.sample(name, &[(label, value)], figure);
        }
    }
}

impl Metrics {
    /// Counts an answer.
    pub fn count(&self, (method, route): (&'static str, &'static str), status: u16, elapsed: Duration) {
        let known = self.requests.read().get(&(method, route)).cloned();
        let of_route = known.unwrap_or_else(|| Arc::clone(self.requests.write().entry((method, route)).or_default()));
        let microseconds = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        *of_route.statuses.lock().entry(status).or_default() += 1;
        if let Some(bucket) = BUCKETS.iter().position(|bound| microseconds <= *bound) {
            of_route.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        of_route.microseconds.fetch_add(microseconds, Ordering::Relaxed);
        of_route.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt at a webhook.
    pub fn count_attempt(&self, outcome: AttemptOutcome) {
        self.attempts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Notes what was measured.
    pub fn note(&self, gauges: impl IntoIterator<Item = Gauge>) {
        self.gauges.lock().extend(gauges.into_iter().map(|gauge| (gauge.name, (gauge.help, gauge.figure))));
    }

    /// What this node tells, connections aside.
    pub fn exposition(&self, app: &App) -> Exposition {
        let mut out = Exposition::default();
        out.family("plaudit_build_info", "gauge", "Always 1; the labels tell what runs");
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("engine", app.db.engine().name())];
        out.sample("plaudit_build_info", &labels, 1);
        self.write_requests(&mut out);
        write_database(app, &mut out);
        write_memory(app, &mut out);
        let attempts = ["delivered", "retried", "failed"].into_iter().zip(&self.attempts);
        out.labelled(
            ("plaudit_webhook_attempts_total", "counter", "Attempts at deliveries, by what became of the delivery"),
            "outcome",
            attempts.map(|(outcome, count)| (outcome, count.load(Ordering::Relaxed))),
        );
        let mut family = String::new();
        for (name, (help, figure)) in &*self.gauges.lock() {
            let of = name.split('{').next().unwrap_or_default();
            if family != of {
                of.clone_into(&mut family);
                out.family(of, "gauge", help);
            }
            out.sample(name, &[], figure);
        }
        process::write(&mut out);
        out
    }

    fn write_requests(&self, out: &mut Exposition) {
        let requests: BTreeMap<_, _> =
            self.requests.read().iter().map(|(route, counted)| (*route, Arc::clone(counted))).collect();
        out.family("plaudit_requests_total", "counter", "Answers, by method, route and status");
        for ((method, route), counted) in &requests {
            for (status, count) in &*counted.statuses.lock() {
                let labels = [("method", *method), ("route", route), ("status", &status.to_string())];
                out.sample("plaudit_requests_total", &labels, count);
            }
        }
        out.family("plaudit_request_seconds", "histogram", "The time from a head to the first byte of its answer");
        for ((method, route), counted) in &requests {
            let labels = [("method", *method), ("route", *route)];
            let mut total = 0;
            for (bound, count) in BUCKETS.iter().zip(&counted.buckets) {
                total += count.load(Ordering::Relaxed);
                let bound = seconds(*bound);
                out.sample("plaudit_request_seconds_bucket", &[labels[0], labels[1], ("le", &bound)], total);
            }
            let count = counted.count.load(Ordering::Relaxed);
            out.sample("plaudit_request_seconds_bucket", &[labels[0], labels[1], ("le", "+Inf")], count);
            let sum = seconds(counted.microseconds.load(Ordering::Relaxed));
            out.sample("plaudit_request_seconds_sum", &labels, sum);
            out.sample("plaudit_request_seconds_count", &labels, count);
        }
    }
}

fn write_database(app: &App, out: &mut Exposition) {
    out.single("plaudit_db_statements_total", "counter", "Statements that were run", app.db.statements());
    if let Some(pool) = app.db.pool() {
        let states = [("open", pool.open), ("idle", pool.idle), ("most", pool.most)];
        let about = (
            "plaudit_db_connections",
            "gauge",
            "Connections to PostgreSQL: open, idle, and the most that there may be",
        );
        out.labelled(about, "state", states);
        let help = "Those who wait for a connection to PostgreSQL";
        out.single("plaudit_db_connection_waiters", "gauge", help, pool.waiting);
    }
    let (name, loads) = ("plaudit_program_load_seconds", app.programs.loads());
    out.family(name, "summary", "Loads of the set-up of accounts, whole and by what changed");
    for (what, timed) in [("whole", &loads.whole), ("changes", &loads.changes)] {
        let (count, microseconds) = timed.read();
        out.sample("plaudit_program_load_seconds_sum", &[("what", what)], seconds(microseconds));
        out.sample("plaudit_program_load_seconds_count", &[("what", what)], count);
    }
}

fn write_memory(app: &App, out: &mut Exposition) {
    let (views, budgets) = (app.views.counters(), app.budgets.counters());
    let counted = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    for (name, kind, help, figure) in [
        ("plaudit_streams_open", "gauge", "Streams of events that are open", app.tails.open() as u64),
        ("plaudit_streams_cut_total", "counter", "Streams that were cut", app.tails.cut()),
        ("plaudit_view_bytes", "gauge", "What the views of lists take", app.views.bytes() as u64),
        ("plaudit_view_loads_total", "counter", "Loads of tables into views", counted(&views.loads)),
        ("plaudit_view_evictions_total", "counter", "Views that made room for others", counted(&views.evictions)),
        ("plaudit_view_catch_ups_total", "counter", "Views that were brought up to date", counted(&views.catch_ups)),
        (
            "plaudit_view_second_tries_total",
            "counter",
            "Pages that were planned again because the account changed meanwhile",
            counted(&views.second_tries),
        ),
        (
            "plaudit_answer_memory_bytes",
            "gauge",
            "What answers and bodies on their way take",
            app.budgets.memory_bytes(),
        ),
        ("plaudit_spool_bytes", "gauge", "What answers and uploads take on disk", app.budgets.spool_bytes()),
        ("plaudit_spool_files_total", "counter", "Answers and uploads that went to disk", counted(&budgets.spooled)),
        ("plaudit_spool_refused_total", "counter", "Those for which there was no room", counted(&budgets.refused)),
    ] {
        out.single(name, kind, help, figure);
    }
}

impl From<Exposition> for String {
    fn from(Exposition(text): Exposition) -> Self {
        text
    }
}

fn seconds(microseconds: u64) -> String {
    format!("{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000)
}
