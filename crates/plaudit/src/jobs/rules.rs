//! What becomes of a job, whatever it does.

use serde::{Deserialize, Serialize};

use crate::program::choices;
use kernel::kind::Kind;
use kernel::text::Timestamp;

choices! {
    /// Where a job stands.
    pub enum State {
        /// It waits.
        Queued "queued",
        /// It is done.
        Running "running",
        /// It is at its end; what failed of it is told.
        Done "done",
        /// It could not be brought to its end.
        Failed "failed",
        /// It was cancelled.
        Cancelled "cancelled",
    }
}

impl State {
    /// Whether nothing becomes of it any more.
    pub fn is_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// How long a job is begun again that does not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often it is begun.
    pub(super) most_starts: i64,
    /// The longest pause, in microseconds.
    longest: i64,
}

impl Patience {
    /// For some minutes: what does not work then has a fault.
    pub const MINUTES: Self = Self { most_starts: 8, longest: 300_000_000 };
    /// For more than a day: a server of others may be down as long.
    pub const DAY: Self = Self { most_starts: 18, longest: 21_600_000_000 };
}

/// The most results that are told, and the most errors.
const MOST_TOLD: usize = 1_000;
/// The most characters of a message.
const LENGTH: usize = 500;
/// The first pause before a job is begun again, in microseconds.
const PAUSE: i64 = 2_000_000;

/// How long a job may wait before it counts as overdue, in seconds.
const OVERDUE: i64 = 3_600;

/// Jobs that were added before this time and still wait are overdue.
pub fn overdue(now: Timestamp) -> Timestamp {
    Timestamp::from_seconds(now.as_seconds().saturating_sub(OVERDUE))
}

/// How long a job waits that failed after so many starts without a step, in microseconds.
pub(super) fn pause(starts: i64, patience: Patience) -> i64 {
    let doubled = u32::try_from(starts.saturating_sub(1).max(0)).unwrap_or(u32::MAX);
    patience.longest.min(PAUSE.saturating_mul(1_i64.checked_shl(doubled.min(32)).unwrap_or(i64::MAX)))
}

/// What a job has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Items that are done.
    pub done: i64,
    /// Items that there are, once that is known.
    pub total: Option<i64>,
    /// Items that failed.
    pub failed: i64,
}

/// A record that a job has made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The name of its kind.
    pub kind: String,
    /// Its slug.
    pub slug: String,
}

/// Something of a job that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The item; empty for the job as a whole.
    pub item: String,
    /// Why.
    pub message: String,
}

/// What is told of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How far it is.
    pub progress: Progress,
    /// What it made, the first of it.
    pub results: Vec<Outcome>,
    /// What failed, the first of it.
    pub errors: Vec<Failure>,
}

impl Report {
    /// Notes that items are done.
    pub fn done(&mut self, items: i64) {
        self.progress.done = self.progress.done.saturating_add(items);
    }

    /// Notes a record that was made or changed.
    pub fn result(&mut self, kind: Kind, slug: &str) {
        if self.results.len() < MOST_TOLD {
            self.results.push(Outcome { kind: kind.name().to_owned(), slug: slug.to_owned() });
        }
    }

    /// Notes that an item failed; the job goes on.
    pub fn failed(&mut self, item: &str, message: &str) {
        self.progress.failed = self.progress.failed.saturating_add(1);
        self.error(item, message);
    }

    /// Tells what went wrong.
    pub(super) fn error(&mut self, item: &str, message: &str) {
        if self.errors.len() < MOST_TOLD {
            let message = message.chars().take(LENGTH).collect();
            self.errors.push(Failure { item: item.to_owned(), message });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_before_another_start_doubles_up_to_five_minutes_or_six_hours() {
        let pauses = |patience| [0, 1, 2, 3, 8, 9, 64, i64::MAX].map(|starts| pause(starts, patience) / 1_000_000);
        assert_eq!(pauses(Patience::MINUTES), [2, 2, 4, 8, 256, 300, 300, 300]);
        assert_eq!(pauses(Patience::DAY), [2, 2, 4, 8, 256, 512, 21_600, 21_600]);
    }

    #[test]
    fn what_waits_for_the_servers_of_others_is_begun_for_more_than_a_day() {
        let seconds: i64 = (1..Patience::DAY.most_starts).map(|starts| pause(starts, Patience::DAY) / 1_000_000).sum();
        assert!((86_400..2 * 86_400).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_thousand_errors_and_results_are_told_and_the_rest_is_counted() {
        let mut report = Report::default();
        for number in 0..1_200 {
            report.result(Kind::Entry, "AbCdEfGh");
            report.failed(&number.to_string(), &"é".repeat(600));
        }
        assert_eq!((report.results.len(), report.errors.len(), report.progress.failed), (1_000, 1_000, 1_200));
        assert_eq!(report.errors[999].item, "999");
        assert_eq!(report.errors[0].message, "é".repeat(500));
    }

    #[test]
    fn what_another_version_says_of_progress_is_passed_over() {
        let read: Progress = serde_json::from_str(r#"{"done":3,"pace":7}"#).unwrap();
        assert_eq!(read, Progress { done: 3, ..Progress::default() });
    }
}
