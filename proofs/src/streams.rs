//! Many open streams while entries are changed and the service is stopped, killed and started again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::json;
use tokio::sync::watch;

use super::cores::{Elsewhere, SERVICE, cores, processor_seconds};
use super::service::{Checks, Client, Kind, Program, Service, on_each_engine, peak_memory_of};
use super::{Context, Engine, Proof, Verdict};

mod reader;
mod wire;

use reader::{Reader, Seen, now};

/// Streams lose nothing, double nothing and keep the order.
pub(crate) const PROOF: Proof = Proof {
    name: "streams",
    claim: "1,000 streams at 200 changes a second on one core: each sees its changes once and in order, over restarts.",
    run: |context| on_each_engine(context, show),
};

/// How much is shown.
struct Scale {
    /// Streams of one entry each.
    of_entries: u32,
    /// Streams of the whole account.
    of_account: u32,
    /// Entries that are watched and changed.
    entries: u32,
    /// Changes a second.
    rate: u32,
    /// How long each of the three legs takes, in seconds: undisturbed, over a stop, over a kill.
    leg: u64,
    /// Whether the pace has to be reached.
    is_timed: bool,
}

const WHOLE: Scale = Scale { of_entries: 900, of_account: 100, entries: 300, rate: 200, leg: 15, is_timed: true };
const SHORT: Scale = Scale { of_entries: 45, of_account: 5, entries: 15, rate: 50, leg: 2, is_timed: false };

/// Connections that write.
const WRITERS: u32 = 10;
/// How long the streams may take until they have begun, and until they have passed the last change.
const PATIENCE: Duration = Duration::from_mins(2);
/// The part of the changes a second that has to be reached.
const REACHED: f64 = 0.97;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let program = Program { entries: scale.entries, orders: 0, ..Program::small(11) };
    let mut service = Service::new(context, engine)?;
    // All of its streams come from one address.
    service.set("PLAUDIT_SERVER_MAX_CONNECTIONS_PER_ADDRESS", "10000");
    service.import(&program)?;
    if cores() > 1 {
        service.keep_to_core(SERVICE);
    }
    service.start()?;
    let _elsewhere = Elsewhere::begin()?;
    // A key is a change of the account: made before the streams begin, it leaves no gap in what they show.
    let client = service.client(&service.key(&program.account, "read_write")?);
    let readers = Readers::begin(&service, &program, &scale)?;
    let mut checks = Checks::default();

    let stop = AtomicBool::new(false);
    let (legs, written) = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (client, program, scale, stop) = (client.apart(), &program, &scale, &stop);
                scope.spawn(move || write(&client, program, scale, writer, stop))
            })
            .collect();
        let legs = run_legs(&mut service, &scale);
        stop.store(true, Ordering::SeqCst);
        let mut written = Vec::new();
        for writer in writers {
            written.extend(writer.join().map_err(|_| anyhow!("a writer panicked"))??);
        }
        Ok::<_, anyhow::Error>((legs?, written))
    })?;
    let mut changes = written.into_iter().map(|(revision, entry, at)| (revision, (entry, at))).collect();
    let seen = readers.end(last(&changes)?)?;
    changes = since_the_start(changes, &seen, &mut checks)?;
    compare(&program, &scale, &changes, &seen, &mut checks);
    let figure = report(engine, &scale, &legs, &changes, &seen, &mut checks);
    let memory = service.process().map_or(0, peak_memory_of) >> 20;
    println!("  {}: the service held at most {memory} MB after its last start", engine.name());
    Ok(checks.verdict(&figure))
}

/// The undisturbed leg: when it began and ended, and how much of its core the service used.
struct Legs {
    steady: (i64, i64),
    busy: f64,
}

fn run_legs(service: &mut Service, scale: &Scale) -> Result<Legs> {
    let leg = Duration::from_secs(scale.leg);
    let process = service.process().context("the service is not running")?;
    // What the first moment costs, such as filling caches, is not what is asked for.
    thread::sleep(leg / 10);
    let (begun, used) = (now(), processor_seconds(process)?);
    thread::sleep(leg);
    let steady = (begun, now());
    let elapsed = Duration::from_micros(u64::try_from(steady.1 - steady.0)?).as_secs_f64();
    let busy = (processor_seconds(process)? - used) / elapsed;
    thread::sleep(leg / 4);
    service.stop()?;
    service.start()?;
    thread::sleep(leg);
    service.kill()?;
    service.start()?;
    thread::sleep(leg);
    Ok(Legs { steady, busy })
}

/// One change: the entry, and when it was acknowledged.
type Written = (i64, String, i64);

/// Moves the writer's entries to the next chapter in turn, at the pace of the scale, until it is told to stop. What is
/// not acknowledged is asked for again: that names the same change, or makes it.
fn write(client: &Client, program: &Program, scale: &Scale, writer: u32, stop: &AtomicBool) -> Result<Vec<Written>> {
    let mut written = Vec::new();
    let pause = Duration::from_secs(1) * WRITERS / scale.rate;
    let mut due = Instant::now() + pause * writer / WRITERS;
    for round in 1.. {
        for position in (writer..scale.entries).step_by(usize::try_from(WRITERS)?) {
            if stop.load(Ordering::SeqCst) {
                return Ok(written);
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            due = (due + pause).max(Instant::now().checked_sub(Duration::from_secs(1)).unwrap_or(due));
            let entry = program.slug(Kind::Entry, position);
            // The import puts every entry into some chapter, so the first round may ask for the one that it is in.
            let body = json!({"chapter": program.slug(Kind::Chapter, (round + position) % program.chapters)});
            let path = format!("/entry/{entry}/update-chapter");
            let answer = loop {
                match client.put(&path, &body) {
                    Ok(answer) => break answer.expect_status(200)?,
                    Err(_) => thread::sleep(Duration::from_millis(20)),
                }
            };
            let tag = answer.header("etag").context("the entry has no ETag")?;
            let revision = tag.trim_matches('"').split('.').next().unwrap_or_default().parse()?;
            written.push((revision, entry, now()));
        }
    }
    Ok(written)
}

/// The changes by their numbers, each with its entry and the time at which it was acknowledged.
type Changes = BTreeMap<i64, (String, i64)>;

fn last(changes: &Changes) -> Result<i64> {
    changes.keys().next_back().copied().context("nothing was written")
}

/// The changes since the streams began. They are the only ones of the account, so that no number may be missing; and a
/// writer whose entry was in the first chapter that it asked for was told the number of its import.
fn since_the_start(mut changes: Changes, seen: &[(Option<String>, Seen)], checks: &mut Checks) -> Result<Changes> {
    let starts: Vec<_> = seen.iter().filter_map(|(_, seen)| seen.start).collect();
    let start = starts.first().copied().context("no stream has begun")?;
    checks.check(starts.len() == seen.len() && starts.iter().all(|other| *other == start), || {
        "streams on an account that nobody changes began at different places".to_owned()
    });
    let later = changes.split_off(&(start + 1));
    let is_whole = later.keys().copied().eq(start + 1..=last(&later)?);
    checks.check(is_whole, || format!("the acknowledged changes after {start} have a gap"));
    Ok(later)
}

/// What each stream has shown, of one entry or of all.
type AllSeen = Vec<(Option<String>, Seen)>;

/// Clients that read, on a thread of their own.
struct Readers {
    last: watch::Sender<Option<i64>>,
    thread: thread::JoinHandle<Result<AllSeen>>,
}

impl Readers {
    /// Opens all streams and waits until they have begun.
    fn begin(service: &Service, program: &Program, scale: &Scale) -> Result<Self> {
        let key = service.key(&program.account, "read")?;
        let begun = Arc::new(AtomicU32::new(0));
        let (last, receiver) = watch::channel(None);
        let entries = (0..scale.of_entries).map(|number| Some(program.slug(Kind::Entry, number % scale.entries)));
        let all = (0..scale.of_account).map(|_| None);
        let port = service.base().rsplit(':').next().unwrap_or_default().parse()?;
        let readers: Vec<_> = entries
            .chain(all)
            .map(|entry| {
                let (key, begun, last) = (key.clone(), Arc::clone(&begun), receiver.clone());
                (entry.clone(), Reader { port, key, entry, begun, last })
            })
            .collect();
        let count = u32::try_from(readers.len())?;
        let thread = thread::spawn(move || read_all(readers));
        let deadline = Instant::now() + PATIENCE;
        while begun.load(Ordering::SeqCst) < count {
            if thread.is_finished() || Instant::now() > deadline {
                bail!("{} of {count} streams have begun", begun.load(Ordering::SeqCst));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { last, thread })
    }

    /// Lets every stream go on until it has passed the last change.
    fn end(self, last: i64) -> Result<AllSeen> {
        self.last.send(Some(last))?;
        self.thread.join().map_err(|_| anyhow!("the readers panicked"))?
    }
}

fn read_all(readers: Vec<(Option<String>, Reader)>) -> Result<Vec<(Option<String>, Seen)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let reading: Vec<_> = readers.into_iter().map(|(entry, reader)| (entry, tokio::spawn(reader.read()))).collect();
        let mut seen = Vec::new();
        for (entry, reading) in reading {
            seen.push((entry, reading.await??));
        }
        Ok(seen)
    })
}

/// Every stream has seen exactly its changes, in their order.
fn compare(program: &Program, scale: &Scale, changes: &Changes, seen: &[(Option<String>, Seen)], checks: &mut Checks) {
    let all: Vec<i64> = changes.keys().copied().collect();
    let mut of_entries: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (number, (entry, _)) in changes {
        of_entries.entry(entry).or_default().push(*number);
    }
    // A short leg may be over before a reader has come back.
    let openings = if scale.is_timed { 3 } else { 2 };
    for (number, (entry, seen)) in seen.iter().enumerate() {
        let expected = match entry {
            Some(entry) => of_entries.get(entry.as_str()).map_or(&[][..], Vec::as_slice),
            None => &all,
        };
        let differs = seen.ids.iter().zip(expected).position(|(seen, expected)| seen != expected);
        checks.check(seen.ids == expected, || {
            let at = differs.unwrap_or(seen.ids.len().min(expected.len()));
            let (got, due) = (seen.ids.get(at), expected.get(at));
            let (got_all, due_all) = (seen.ids.len(), expected.len());
            format!("stream {number} of {entry:?} saw {got_all} of {due_all}; at {at} {got:?} in place of {due:?}")
        });
        checks.check(seen.opened >= openings, || {
            format!("stream {number} was opened {} times over two ends", seen.opened)
        });
        checks.check(seen.ended >= 1, || format!("stream {number} was cut off by a service that was asked to stop"));
    }
    let watched = (0..scale.entries).filter(|entry| of_entries.contains_key(&*program.slug(Kind::Entry, *entry)));
    checks.check(watched.count() > 0, || "no entry that is watched was changed".to_owned());
}

fn report(
    engine: Engine,
    scale: &Scale,
    legs: &Legs,
    changes: &Changes,
    seen: &[(Option<String>, Seen)],
    checks: &mut Checks,
) -> String {
    let is_steady = |time: i64| (legs.steady.0..legs.steady.1).contains(&time);
    let seconds = Duration::from_micros(u64::try_from(legs.steady.1 - legs.steady.0).unwrap_or_default()).as_secs_f64();
    let count = changes.values().filter(|(_, at)| is_steady(*at)).count();
    let rate = f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seconds;
    let mut latencies: Vec<i64> = seen
        .iter()
        .flat_map(|(_, seen)| &seen.latencies)
        .filter(|(time, _)| is_steady(*time))
        .map(|(_, latency)| *latency)
        .collect();
    latencies.sort_unstable();
    let events: usize = seen.iter().map(|(_, seen)| seen.ids.len()).sum();
    let at = |part: usize| {
        let latency = latencies.get((latencies.len() * part / 1000).min(latencies.len().saturating_sub(1)));
        Duration::from_micros(u64::try_from(latency.copied().unwrap_or_default()).unwrap_or_default()).as_secs_f64()
            * 1e3
    };
    let streams = scale.of_entries + scale.of_account;
    println!(
        "  {}: {} streams of an entry and {} of the account, {rate:.0} changes/s, {:.0} events/s; from request to \
         client {:.1} ms (median), {:.1} ms (99 %), {:.1} ms (99.9 %), {:.1} ms (most); {:.0} % of a core",
        engine.name(),
        scale.of_entries,
        scale.of_account,
        f64::from(u32::try_from(latencies.len()).unwrap_or(u32::MAX)) / seconds,
        at(500),
        at(990),
        at(999),
        at(1000),
        legs.busy * 100.0,
    );
    if scale.is_timed {
        let wanted = f64::from(scale.rate) * REACHED;
        checks.check(rate >= wanted, || format!("{rate:.0} changes a second were reached, {wanted:.0} were wanted"));
    }
    format!(
        "{streams} streams saw {} changes as {events} events, once and in order, over a stop and a kill",
        changes.len()
    )
}
