//! The lists of people's records while they change: each answer is that of one state between its request and itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use super::service::{Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

pub(crate) mod ask;
pub(crate) mod made;
pub(crate) mod model;
mod writer;

use ask::{Ask, Place, judge_summary};
use made::Size;
use model::{LISTS, World};
use writer::Writer;

/// Lists are right while everything in them changes.
pub(crate) const PROOF: Proof = Proof {
    name: "lists",
    claim: "Over 200,000 changes every answer of the lists of orders, users, entries, attachments, contributors, review \
            tasks and the summary is by brute force that of one state between its request and itself.",
    run: |context| on_each_engine(context, show),
};

/// Readers beside the writer; every other one reads through a second node.
const READERS: u64 = 2;

/// How many states are kept for readers that are slow.
const KEPT: usize = 20_000;

/// How long a reader waits for the writer to know what it wrote.
const PATIENCE: Duration = Duration::from_mins(5);

/// The states of the account, each with its number; the writer has begun with so many and is done with so many.
#[derive(Default)]
struct States {
    known: Mutex<VecDeque<(u64, Arc<World>)>>,
    begun: AtomicU64,
    done: AtomicU64,
    is_over: AtomicBool,
}

impl States {
    /// Makes a state the current one, by what `write` does; it gives nothing where nothing was changed.
    fn write(&self, write: impl FnOnce(&World) -> Result<Option<World>>) -> Result<bool> {
        let current = self.between(self.done.load(Ordering::SeqCst), u64::MAX);
        let current = current.last().ok_or_else(|| anyhow!("there is no state"))?;
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let written = write(current)?;
        let is_changed = written.is_some();
        self.push(number, written.map_or_else(|| Arc::clone(current), Arc::new));
        Ok(is_changed)
    }

    fn push(&self, number: u64, world: Arc<World>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back((number, world));
        if known.len() > KEPT {
            known.pop_front();
        }
        self.done.store(number, Ordering::SeqCst);
    }

    /// The different states of these numbers, the oldest first.
    fn between(&self, least: u64, most: u64) -> Vec<Arc<World>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let within = known.iter().filter(|(number, _)| (least..=most).contains(number));
        let mut worlds: Vec<Arc<World>> = within.map(|(_, world)| Arc::clone(world)).collect();
        worlds.dedup_by(|one, other| Arc::ptr_eq(one, other));
        worlds
    }

    /// Asks, and gives the answer with all states that it may be of.
    fn ask(&self, client: &Client, path: &str) -> Result<(Value, Vec<Arc<World>>)> {
        let least = self.done.load(Ordering::SeqCst);
        let answer = client.get(path)?.expect_status(200)?.json()?;
        let most = self.begun.load(Ordering::SeqCst);
        let begun = Instant::now();
        while self.done.load(Ordering::SeqCst) < most && !self.is_over.load(Ordering::SeqCst) {
            if begun.elapsed() > PATIENCE {
                bail!("the writer did not go on");
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok((answer, self.between(least, most)))
    }
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (changes, size) = if context.short {
        (300, Size { users: 20, entries: 90, orders: 60 })
    } else {
        (200_000, Size { users: 60, entries: 300, orders: 200 })
    };
    let mut random = Random::new(11);
    let (lines, world) = made::population(made::ACCOUNT, size, &mut random);
    let mut service = Service::new(context, engine)?;
    let file = service.directory().join("account.jsonl");
    std::fs::write(&file, made::written(&lines))?;
    service.import_file(&file)?.succeeded()?;
    service.start()?;
    let other = service.beside()?;
    let key = service.key(made::ACCOUNT, "read_write")?;
    let nodes = [service.client(&key), other.client(&key)];
    let states = States::default();
    states.push(0, Arc::new(world));

    let mut checks = Checks::default();
    let mut wrong = BTreeMap::new();
    let mut asked = quiet(&states, &nodes[0], &mut wrong, &mut checks)?;
    let mut writer = Writer { service: &service, client: nodes[0].apart(), size, random, refused: 0, faulted: 0 };
    let begun = Instant::now();
    let (written, read) = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                let (states, client) = (&states, nodes[usize::from(number % 2 == 1)].apart());
                scope.spawn(move || read(states, &client, number))
            })
            .collect();
        let written = writer.write(&states, changes);
        states.is_over.store(true, Ordering::SeqCst);
        let read: Result<Vec<_>> =
            readers.into_iter().map(|reader| reader.join().map_err(|_| anyhow!("a reader panicked"))?).collect();
        (written, read)
    });
    let written = written?;
    for reader in read? {
        asked += reader.len();
        for judged in reader {
            note(judged, &mut wrong, &mut checks);
        }
    }
    println!(
        "  {}: {written} changes in {:.0} s, {} writes refused, {} imports with a fault",
        engine.name(),
        begun.elapsed().as_secs_f64(),
        writer.refused,
        writer.faulted
    );
    checks.check(writer.refused > 0 && writer.faulted > 0, || "no write was rolled back".to_owned());
    asked += quiet(&states, &nodes[1], &mut wrong, &mut checks)?;
    for (path, count) in &wrong {
        println!("  {}: {count} wrong answers of {path}", engine.name());
    }
    service.stop()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    Ok(checks.verdict(&format!("{written} changes, {asked} answers")))
}

/// Notes how an answer was judged, and counts the wrong ones of each list.
fn note(judged: Result<(), String>, wrong: &mut BTreeMap<String, u32>, checks: &mut Checks) {
    if let Err(error) = &judged {
        let path = error.split(['?', ':']).next().unwrap_or_default();
        *wrong.entry(path.to_owned()).or_default() += 1;
    }
    checks.check(judged.is_ok(), || judged.err().unwrap_or_default());
}

/// Asks for everything by itself while nothing changes: each value of each filter, each sort in each direction.
fn quiet(states: &States, client: &Client, wrong: &mut BTreeMap<String, u32>, checks: &mut Checks) -> Result<usize> {
    let current = states.between(states.done.load(Ordering::SeqCst), u64::MAX);
    let Some(world) = current.last() else { bail!("there is no state") };
    let asks = Ask::each(world);
    for ask in &asks {
        for judged in walk(states, client, ask.clone())? {
            note(judged, wrong, checks);
        }
    }
    Ok(asks.len())
}

/// Reads random lists until the writer is done; gives what was judged of each answer.
fn read(states: &States, client: &Client, number: u64) -> Result<Vec<Result<(), String>>> {
    let mut random = Random::new(100 + number);
    let mut judged = Vec::new();
    while !states.is_over.load(Ordering::SeqCst) {
        let list = *made::pick(&LISTS, &mut random);
        let current = states.between(states.done.load(Ordering::SeqCst), u64::MAX);
        let Some(world) = current.last() else { bail!("there is no state") };
        if random.below(12) == 0 {
            let season = *made::pick(&["", "SeasonUp", "all", "SeasonOn"], &mut random);
            let query = if season.is_empty() { String::new() } else { format!("?season={season}") };
            let (answer, worlds) = states.ask(client, &format!("/entry/summary{query}"))?;
            judged.push(any(&worlds, |world| judge_summary(world, season, &answer), "/entry/summary"));
        } else {
            judged.extend(walk(states, client, Ask::random(list, world, &mut random))?);
        }
    }
    Ok(judged)
}

/// Asks for a page, or for all pages of a walk by cursor: each is of a state of its own.
fn walk(states: &States, client: &Client, mut ask: Ask) -> Result<Vec<Result<(), String>>> {
    let mut judged = Vec::new();
    loop {
        let path = ask.path();
        let (answer, worlds) = states.ask(client, &path)?;
        let mut reached = None;
        judged.push(any(
            &worlds,
            |world| {
                reached = Some(ask.judge(world, &answer)?);
                Ok(())
            },
            &path,
        ));
        match (&ask.place, answer["next_cursor"].as_str(), reached) {
            (Place::Cursor(..), Some(cursor), Some((last, passed))) => {
                ask.place = Place::Cursor(cursor.to_owned(), last, passed);
            }
            _ => return Ok(judged),
        }
    }
}

/// Whether an answer is that of one of the states; if not, what is wrong with it by the last one.
fn any(worlds: &[Arc<World>], mut judge: impl FnMut(&World) -> Result<(), String>, path: &str) -> Result<(), String> {
    let mut wrong = format!("{path}: no state is known");
    for world in worlds {
        match judge(world) {
            Ok(()) => return Ok(()),
            Err(error) => wrong = format!("{path}: {error} (of {} states)", worlds.len()),
        }
    }
    Err(wrong)
}
