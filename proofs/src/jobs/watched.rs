//! Jobs as they are shown, and who waited for whom.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::microseconds;
use crate::service::Checks;

/// A job; times in microseconds since 1970.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) account: usize,
    pub(super) slug: String,
    pub(super) state: String,
    pub(super) done: i64,
    failed: i64,
    errors: usize,
    created: i64,
    started: Option<i64>,
    finished: Option<i64>,
}

impl Job {
    /// A job of an account as the list shows it.
    pub(super) fn read(account: usize, shown: &Value) -> Result<Self> {
        let text = |member: &str| shown[member].as_str().map(str::to_owned);
        let number = |member: &str| shown["progress"][member].as_i64();
        let read = || {
            Some(Self {
                account,
                slug: text("slug")?,
                state: text("state")?,
                done: number("done")?,
                failed: number("failed")?,
                errors: shown["errors"].as_array()?.len(),
                created: microseconds(&shown["created"])?,
                started: microseconds(&shown["started"]),
                finished: microseconds(&shown["finished"]),
            })
        };
        read().with_context(|| format!("no job: {shown}"))
    }
}

/// A job is done, whole and without a fault, or cancelled where it was told so.
pub(super) fn judge(job: &Job, is_cancelled: bool, count: u32, checks: &mut Checks) {
    let wanted = if is_cancelled { "cancelled" } else { "done" };
    checks.check(job.state == wanted, || format!("{job:?} is not {wanted}"));
    checks.check(job.failed == 0 && job.errors == 0, || format!("{job:?} has failed in part"));
    let count = i64::from(count);
    let is_right = if is_cancelled { (0..=count).contains(&job.done) } else { job.done == count };
    checks.check(is_right, || format!("{job:?} was to do {count}"));
    let times = [Some(job.created), job.started.or(Some(job.created)), job.finished];
    checks.check(times.is_sorted() && job.finished.is_some(), || format!("{job:?} goes back in time"));
    checks.check(is_cancelled || job.started.is_some(), || format!("{job:?} was done without a beginning"));
}

/// How many jobs of others are begun while one of a small account waits to be its account's turn: at most so many. Where the
/// service was down meanwhile, all that wait begin together when it is there again, so that only the jobs of each one account
/// are counted then. Small are all accounts but the first.
pub(super) fn fairness<'j>(
    jobs: impl Iterator<Item = &'j Job>,
    downs: &[(i64, i64)],
    most: usize,
    checks: &mut Checks,
) -> String {
    let mut jobs: Vec<&Job> = jobs.collect();
    jobs.sort_unstable_by_key(|job| (job.created, &job.slug));
    let mut ended: HashMap<usize, i64> = HashMap::new();
    let (mut worst, mut quiet, mut longest) = (0, 0, 0);
    for job in &jobs {
        // Its own earlier jobs are nobody else's affair.
        let since = job.created.max(ended.get(&job.account).copied().unwrap_or_default());
        ended.insert(job.account, since.max(job.finished.unwrap_or_default()));
        let Some(started) = job.started.filter(|_| job.account != 0) else { continue };
        let mut of_others: HashMap<usize, usize> = HashMap::new();
        for other in &jobs {
            let is_between = other.started.is_some_and(|other| since < other && other < started);
            if other.account != job.account && is_between {
                *of_others.entry(other.account).or_default() += 1;
            }
        }
        let is_disturbed = downs.iter().any(|(from, to)| since < *to && *from < started);
        let all: usize = of_others.values().sum();
        let of_one = of_others.values().max().copied().unwrap_or_default();
        let counted = if is_disturbed { of_one } else { all };
        checks.check(counted <= most, || {
            let waited = (started - since) / 1_000;
            format!("{job:?} waited {waited} ms, in which jobs of others began: {of_others:?} (account, jobs)")
        });
        worst = worst.max(counted);
        quiet += usize::from(!is_disturbed);
        if !is_disturbed {
            longest = longest.max(started - since);
        }
    }
    checks.check(quiet > 0, || "no small account waited while the service was there".to_owned());
    format!("at most {worst} jobs of others before one of a small account, {} ms of waiting", longest / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(account: usize, slug: &str, times: [i64; 3]) -> Job {
        let [created, started, finished] = times;
        let (slug, state) = (slug.to_owned(), "done".to_owned());
        let (started, finished) = (Some(started), Some(finished));
        Job { account, slug, state, done: 1, failed: 0, errors: 0, created, started, finished }
    }

    fn is_fair(jobs: &[Job], downs: &[(i64, i64)]) -> bool {
        let mut checks = Checks::default();
        fairness(jobs.iter(), downs, 2, &mut checks);
        checks.all_hold()
    }

    #[test]
    fn a_small_account_that_waits_for_three_jobs_is_found() {
        let large = |slug: &str, started| job(0, slug, [0, started, started + 1]);
        let small = job(1, "s", [5, 20, 21]);
        let jobs = [large("a", 1), large("b", 6), large("c", 8), small];
        assert!(is_fair(&jobs, &[]));
        let jobs = [&jobs[..], &[large("d", 10)]].concat();
        assert!(!is_fair(&jobs, &[]));
        assert!(!is_fair(&jobs, &[(7, 9)]), "three of one account, whatever happened");
        let jobs = [&jobs[..4], &[job(2, "x", [1, 12, 13]), job(1, "t", [6, 30, 31])]].concat();
        assert!(!is_fair(&jobs, &[]));
        assert!(is_fair(&jobs, &[(7, 9)]), "one of another account, which begins again with it");
    }

    #[test]
    fn a_job_that_is_not_what_was_asked_for_is_found() {
        let holds = |job: &Job, is_cancelled| {
            let mut checks = Checks::default();
            judge(job, is_cancelled, 2, &mut checks);
            checks.all_hold()
        };
        let good = Job { done: 2, ..job(1, "a", [1, 2, 3]) };
        assert!(holds(&good, false));
        assert!(!holds(&good, true), "done, and not cancelled");
        assert!(!holds(&Job { done: 4, ..good.clone() }, false), "done twice");
        assert!(!holds(&Job { errors: 1, ..good.clone() }, false));
        assert!(!holds(&Job { finished: None, ..good.clone() }, false));
        let cancelled = Job { state: "cancelled".to_owned(), started: None, done: 0, ..good };
        assert!(holds(&cancelled, true));
    }
}
