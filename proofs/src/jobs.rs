//! Jobs of many accounts, one of which has nearly all of them, on a service that is killed: what each does is done once, and nobody
//! waits for the many.
//!
//! A job replays a stretch of the log of its own to a webhook that is younger than the log, so that each delivery is there by one
//! job alone, and each that was done twice is told apart by a second attempt that was taken.

mod made;
mod watched;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use self::made::{Account, Stretch};
use self::watched::{Job, fairness};
use super::delivery::log;
use super::receiver::{Conduct, Receiver};
use super::service::{Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Jobs finish, once, and none starves.
pub(crate) const PROOF: Proof = Proof {
    name: "jobs",
    claim: "Of 1,000 jobs of 20 accounts, one of which has 900, each takes effect exactly once or is cancelled, while the service \
            is killed 20 times; a small account waits for at most two jobs of others.",
    run: |context| on_each_engine(context, show),
};

/// How much is shown.
pub(super) struct Scale {
    /// Accounts, the first of which has most jobs.
    accounts: u32,
    /// Jobs of that one, and of all others together.
    large: u32,
    small: u32,
    /// Deliveries of a job, and of every tenth: more than one step.
    replayed: u32,
    long: u32,
    kills: u32,
    cancelled: u32,
    lease: u32,
}

const WHOLE: Scale =
    Scale { accounts: 20, large: 900, small: 100, replayed: 150, long: 600, kills: 20, cancelled: 50, lease: 2 };
const SHORT: Scale =
    Scale { accounts: 5, large: 48, small: 12, replayed: 10, long: 300, kills: 2, cancelled: 6, lease: 1 };

/// The most jobs of others that are begun while a small account waits.
const WAITED_FOR: usize = 2;
/// How long there may be no job that ends.
const PATIENCE: Duration = Duration::from_mins(1);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A job that was asked for.
#[derive(Clone)]
struct Asked {
    account: usize,
    stretch: Stretch,
    slug: String,
    /// Whether somebody asked for its end and was told that it is cancelled.
    is_cancelled: bool,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let mut service = Service::new(context, engine)?;
    service.set("PLAUDIT_WEBHOOKS_SCHEDULE", "0s,1s,1s,1s,1s,1s,1s,1s,1s,1s");
    service.set("PLAUDIT_WEBHOOKS_LOCAL_HOSTS", "127.0.0.1");
    service.set("PLAUDIT_LEASES_SECONDS", &scale.lease.to_string());
    let receiver = Receiver::start("127.0.0.1", Conduct::Takes, false)?;
    let accounts = made::accounts(&mut service, &receiver, &scale)?;
    let mut checks = Checks::default();

    // The large account has nearly all of its jobs before anybody else has one.
    let asked = Mutex::new(Vec::new());
    for stretch in &accounts[0].stretches {
        let job = ask(&accounts, 0, *stretch)?;
        lock(&asked).push(job);
    }
    cancel_queued(&accounts[0].client, &asked, &scale, &mut checks)?;
    let (kills, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        let others = scope.spawn(|| ask_in_turn(&accounts, &asked, &is_over));
        let cancelling = scope.spawn(|| cancel_running(&accounts[0].client, &asked, &scale, &is_over));
        let killed = kill(&mut service, &accounts[0].client, &asked, (&scale, &kills));
        is_over.store(killed.is_err(), Ordering::SeqCst);
        let others = others.join().map_err(|_| anyhow!("the one who asks panicked"))?;
        let cancelling = cancelling.join().map_err(|_| anyhow!("the one who cancels panicked"))?;
        killed.and(others).and(cancelling)
    })?;
    let (asked, kills) = (lock(&asked).clone(), lock(&kills).clone());
    let jobs = ended(&accounts, &asked)?;

    let wanted = usize::try_from(scale.large + scale.small)?;
    checks.check(jobs.len() == wanted, || format!("{} of {wanted} jobs are there", jobs.len()));
    let cancelled = asked.iter().filter(|asked| asked.is_cancelled).count();
    checks.check(cancelled > 0, || "nothing was cancelled".to_owned());
    for asked in &asked {
        if let Some(job) = jobs.get(&(asked.account, asked.slug.clone())) {
            watched::judge(job, asked.is_cancelled, asked.stretch.count, &mut checks);
        }
    }
    let deliveries = effects(&accounts, &asked, &jobs, &mut checks)?;
    let patience = fairness(jobs.values(), &kills, WAITED_FOR, &mut checks);
    println!(
        "  {}: {} jobs, {} kills, {cancelled} cancelled, {deliveries} deliveries; {patience}",
        engine.name(),
        jobs.len(),
        kills.len()
    );
    Ok(checks.verdict(&format!("{} jobs, {} kills, {cancelled} cancelled, {patience}", jobs.len(), kills.len())))
}

/// Adds the job that replays a stretch, and gives it. Asked for again, it is the same job.
fn ask(accounts: &[Account], account: usize, stretch: Stretch) -> Result<Asked> {
    let Account { client, webhook, .. } = &accounts[account];
    let (path, key) = (format!("/webhook/{webhook}/replay"), format!("stretch {}", stretch.number));
    let body = stretch.body().to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
    let answer = persist(|| client.send("POST", &path, &headers, Some(body.as_bytes())))?.expect_status(202)?;
    let location = answer.header("location").context("the answer 202 has no Location")?;
    let slug = location.rsplit_once("/job/").with_context(|| format!("{location} is no job"))?.1.to_owned();
    Ok(Asked { account, stretch, slug, is_cancelled: false })
}

/// Jobs of the small accounts, one after the other, each account in its turn, until all are asked for.
fn ask_in_turn(accounts: &[Account], asked: &Mutex<Vec<Asked>>, is_over: &AtomicBool) -> Result<()> {
    let most = accounts[1..].iter().map(|account| account.stretches.len()).max().unwrap_or_default();
    for round in 0..most {
        for (account, made) in accounts.iter().enumerate().skip(1) {
            let Some(stretch) = made.stretches.get(round) else { continue };
            if is_over.load(Ordering::SeqCst) {
                return Ok(());
            }
            let job = ask(accounts, account, *stretch)?;
            lock(asked).push(job);
            // So that there are some whenever the service is killed.
            thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(())
}

/// Cancels four fifths of what is to be cancelled, while it waits.
fn cancel_queued(client: &Client, asked: &Mutex<Vec<Asked>>, scale: &Scale, checks: &mut Checks) -> Result<()> {
    let (count, mut asked) = (scale.cancelled * 4 / 5, lock(asked));
    for number in 0..count {
        // The last jobs wait longest.
        let at = asked.len() - 1 - usize::try_from(number * 3)?;
        let answer = client.delete(&format!("/job/{}", asked[at].slug))?;
        checks.check(answer.status == 204, || format!("a job that waits was not cancelled: {}", answer.text()));
        asked[at].is_cancelled = answer.status == 204;
        let again = client.delete(&format!("/job/{}", asked[at].slug))?;
        checks.check(again.status == 422, || format!("a job was cancelled twice: {}", again.status));
    }
    Ok(())
}

/// Cancels the others while they run, as far as they can be caught.
fn cancel_running(client: &Client, asked: &Mutex<Vec<Asked>>, scale: &Scale, is_over: &AtomicBool) -> Result<()> {
    let long: Vec<(usize, String)> = lock(asked)
        .iter()
        .enumerate()
        .filter(|(_, asked)| asked.account == 0 && asked.stretch.count == scale.long && !asked.is_cancelled)
        .map(|(at, asked)| (at, asked.slug.clone()))
        .collect();
    let mut left = scale.cancelled - scale.cancelled * 4 / 5;
    for (at, slug) in long {
        let path = format!("/job/{slug}");
        let state = loop {
            let state = state(client, &slug)?;
            if state != "queued" || is_over.load(Ordering::SeqCst) {
                break state;
            }
            thread::sleep(PAUSE);
        };
        if left == 0 || is_over.load(Ordering::SeqCst) {
            return Ok(());
        }
        if state == "running" {
            let answer = persist(|| client.delete(&path))?;
            // Where the answer was lost, the job is cancelled all the same.
            let is_cancelled = answer.status == 204 || self::state(client, &slug)? == "cancelled";
            left -= u32::from(is_cancelled);
            lock(asked)[at].is_cancelled = is_cancelled;
        }
    }
    Ok(())
}

/// Kills the service again and again while the jobs of the large account are done; notes when it was down.
fn kill(
    service: &mut Service,
    client: &Client,
    asked: &Mutex<Vec<Asked>>,
    (scale, kills): (&Scale, &Mutex<Vec<(i64, i64)>>),
) -> Result<()> {
    let mut random = Random::new(43);
    let large: Vec<String> =
        lock(asked).iter().filter(|asked| !asked.is_cancelled).map(|asked| asked.slug.clone()).collect();
    let large: Vec<String> = large.into_iter().take(usize::try_from(scale.large)?).collect();
    for number in 1..=scale.kills {
        let at = large.len() * usize::try_from(number)? / usize::try_from(scale.kills + 1)?;
        wait(client, &large[at.saturating_sub(1)])?;
        thread::sleep(Duration::from_millis(random.below(60).into()));
        let from = now();
        service.kill()?;
        service.start()?;
        // What the service held is not free before its leases have ended.
        let leases = i64::from(scale.lease) * 1_000_000;
        lock(kills).push((from, now() + leases + 1_500_000));
    }
    Ok(())
}

/// Waits until a job has ended.
fn wait(client: &Client, slug: &str) -> Result<()> {
    let begun = Instant::now();
    while matches!(state(client, slug)?.as_str(), "queued" | "running") {
        if begun.elapsed() > PATIENCE * 3 {
            bail!("the job {slug} does not end");
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

fn state(client: &Client, slug: &str) -> Result<String> {
    let job = persist(|| client.get(&format!("/job/{slug}")))?.expect_status(200)?.json()?;
    Ok(job["state"].as_str().context("a job without a state")?.to_owned())
}

/// All jobs of all accounts, by account and slug, when none is under way any more.
fn ended(accounts: &[Account], asked: &[Asked]) -> Result<HashMap<(usize, String), Job>> {
    let (mut under_way, mut since) = (usize::MAX, Instant::now());
    for asked in asked.iter().rev() {
        wait(&accounts[asked.account].client, &asked.slug)?;
    }
    loop {
        let mut jobs = HashMap::new();
        for (number, account) in accounts.iter().enumerate() {
            log::each_item(&account.client, "/job", |item| {
                let job = Job::read(number, item)?;
                jobs.insert((number, job.slug.clone()), job);
                Ok(())
            })?;
        }
        let still = jobs.values().filter(|job| matches!(job.state.as_str(), "queued" | "running")).count();
        if still < under_way {
            (under_way, since) = (still, Instant::now());
        }
        if still == 0 || since.elapsed() > PATIENCE {
            return Ok(jobs);
        }
        thread::sleep(PAUSE * 20);
    }
}

/// What every job has left in the log of deliveries: all of its stretch once, or as much as it says it had done when it was
/// cancelled. Gives the number of deliveries.
fn effects(
    accounts: &[Account],
    asked: &[Asked],
    jobs: &HashMap<(usize, String), Job>,
    checks: &mut Checks,
) -> Result<usize> {
    let mut total = 0;
    for (number, account) in accounts.iter().enumerate() {
        let begun = Instant::now();
        while log::is_pending(&account.client, &account.webhook)? {
            if begun.elapsed() > PATIENCE * 2 {
                bail!("deliveries of account {number} are still pending");
            }
            thread::sleep(PAUSE * 20);
        }
        let mut taken: HashMap<i64, usize> = HashMap::new();
        total += log::each_item(&account.client, &format!("/webhook/{}/delivery", account.webhook), |item| {
            let attempts = item["attempts"].as_array().context("a delivery without attempts")?;
            let sequence = item["sequence"].as_i64().context("a delivery without a sequence")?;
            let times = attempts.iter().filter(|attempt| attempt["status"] == 200).count();
            checks.check(taken.insert(sequence, times).is_none(), || format!("two deliveries of change {sequence}"));
            Ok(())
        })?;
        for asked in asked.iter().filter(|asked| asked.account == number) {
            let Some(job) = jobs.get(&(number, asked.slug.clone())) else { continue };
            let of_job: Vec<usize> = asked.stretch.changes().filter_map(|sequence| taken.remove(&sequence)).collect();
            let there = i64::try_from(of_job.len())?;
            checks.check(there == job.done, || {
                format!("{job:?} says that it has made {} deliveries, and there are {there}", job.done)
            });
            let other = of_job.iter().find(|times| **times != 1);
            checks.check(other.is_none(), || format!("a delivery of {job:?} was taken {other:?} times"));
        }
        checks.check(taken.is_empty(), || format!("{} deliveries of account {number} are of no job", taken.len()));
    }
    Ok(total)
}

/// Asks until somebody answers: the service is killed meanwhile.
fn persist<T>(ask: impl Fn() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match ask() {
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(PAUSE * 2),
            answered => return answered,
        }
    }
}

/// The microseconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}

fn microseconds(time: &Value) -> Option<i64> {
    time.as_str()?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
