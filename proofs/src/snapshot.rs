//! The snapshot of a program: how long it takes to load, what it holds of memory, and that it never is stale.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

mod setup;

use setup::Setup;

/// Snapshots are quick to load, small, and never stale.
pub(crate) const PROOF: Proof = Proof {
    name: "snapshot",
    claim: "A snapshot of 2,000 fields, 500 categories and 100 chapters loads in under 10 ms on SQLite and 25 on \
            PostgreSQL and costs under 8 MB, and two nodes on one database never answer with a stale program in 10,000 \
            changes.",
    run: |context| on_each_engine(context, show),
};

/// The bar of a load: PostgreSQL sends the documents in pieces of 8 KB.
const fn milliseconds(engine: Engine) -> f64 {
    match engine {
        Engine::Sqlite => 10.0,
        Engine::Postgres => 25.0,
    }
}

/// The bar of a snapshot's memory.
const MEGABYTES: f64 = 8.0;

/// Accounts that are loaded one after the other, behind the one that the service warms up with.
const ACCOUNTS: u32 = 16;

/// How often all of them are loaded before the loads are measured, by a new process each time.
const PASSES: u32 = 3;

/// How many processes the measured loads are of.
const MEASURED: u32 = 5;

/// The fewest loads that count: on a machine that others use as well, not all of them do.
const LEAST: usize = 16;

/// Changes that are written through one node and read through the other.
const CHANGES: u32 = 10_000;

/// How many clients write and read at the same time, each a chapter of its own.
const CLIENTS: u32 = 8;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let mut checks = Checks::default();
    let accounts = if context.short { 2 } else { ACCOUNTS };
    let setups: Vec<Setup> = (0..=accounts).map(Setup::new).collect();
    let mut service = Service::new(context, engine)?;
    for setup in &setups {
        let file = service.directory().join("setup.jsonl");
        setup.write(&file)?;
        service.import_file(&file)?.succeeded()?;
    }
    service.measure()?;
    // The first time what was imported is read from the disk; it is the load that is measured, not the disk.
    for _ in 0..if context.short { 0 } else { PASSES } {
        service.start()?;
        let loads = load(&service, &setups, &mut checks)?;
        println!("  {}: {:.1} ms in the middle at first", engine.name(), loads.middle());
        service.stop()?;
    }
    if engine == Engine::Postgres {
        // What the imports left to be tidied up would be tidied up while loads are measured.
        for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
            service.tamper(context, statement)?;
        }
    }
    let mut loads = Loads::default();
    let measured = if context.short { 1 } else { MEASURED };
    for pass in 1..=measured {
        service.start()?;
        let more = load(&service, &setups, &mut checks)?;
        println!("  {}: {:.1} ms in the middle of {}", engine.name(), more.middle(), more.milliseconds.len());
        loads.add(more);
        if pass < measured {
            service.stop()?;
        }
    }
    // On SQLite the connections' page caches fill meanwhile, which are bounded and no part of a snapshot.
    let counts = !context.short && engine == Engine::Postgres;
    println!(
        "  {}: {} snapshots loaded in {:.1} ms in the middle, {:.1} to {:.1}, with {:.1} MB each{}; {} more \
         while the machine ran something else",
        engine.name(),
        loads.milliseconds.len(),
        loads.middle(),
        loads.milliseconds.first().copied().unwrap_or_default(),
        loads.milliseconds.last().copied().unwrap_or_default(),
        loads.megabytes,
        if engine == Engine::Sqlite { ", the caches of the database included" } else { "" },
        loads.disturbed,
    );
    checks.check(context.short || loads.milliseconds.len() >= LEAST, || {
        format!("only {} loads were undisturbed", loads.milliseconds.len())
    });
    checks.check(context.short || loads.middle() < milliseconds(engine), || {
        format!("a load takes {:.1} ms", loads.middle())
    });
    checks.check(!counts || loads.megabytes < MEGABYTES, || format!("a snapshot costs {:.1} MB", loads.megabytes));
    let changes = if context.short { CHANGES / 50 } else { CHANGES };
    let stale = stale(&service, &setups[0], changes, &mut checks)?;
    let megabytes = if counts { format!("{:.1} MB, ", loads.megabytes) } else { String::new() };
    let milliseconds = if context.short { String::new() } else { format!("{:.1} ms, ", loads.middle()) };
    Ok(checks.verdict(&format!("{milliseconds}{megabytes}{stale} stale answers in {changes} changes")))
}

/// What the loading of snapshots cost.
#[derive(Default)]
struct Loads {
    /// The time of each load during which the machine was this one's alone, by length.
    milliseconds: Vec<f64>,
    /// How many there were besides.
    disturbed: usize,
    /// The most memory that a process grew by, for each.
    megabytes: f64,
}

impl Loads {
    /// Adds the loads of another process.
    fn add(&mut self, other: Self) {
        self.milliseconds.extend(other.milliseconds);
        self.milliseconds.sort_by(f64::total_cmp);
        self.disturbed += other.disturbed;
        self.megabytes = self.megabytes.max(other.megabytes);
    }

    /// The time of the load in the middle, which a busy machine disturbs least.
    fn middle(&self) -> f64 {
        self.milliseconds.get(self.milliseconds.len() / 2).copied().unwrap_or_default()
    }
}

/// The first request to an account loads its snapshot; the service itself tells how long that took.
#[allow(clippy::cast_precision_loss, reason = "memory is far below what a float counts exactly")]
fn load(service: &Service, setups: &[Setup], checks: &mut Checks) -> Result<Loads> {
    let keys: Vec<String> =
        setups.iter().map(|setup| service.key(&setup.account, "read_write")).collect::<Result<_>>()?;
    let first = |key: &str| service.client(key).get("/season")?.expect_status(200);
    let clients = keys.iter().zip(setups);
    let mut measured = None;
    let (mut milliseconds, mut disturbed) = (Vec::new(), 0);
    for (position, (key, _)) in clients.enumerate() {
        // The first account warms up connections and statements.
        if position == 1 {
            measured = Some(service.memory()?);
        }
        let (stolen_before, before) = (stolen(), whole_loads(service)?);
        let answer = first(key)?;
        let (after, stolen_after) = (whole_loads(service)?, stolen());
        checks.check(after.0 == before.0 + 1, || format!("{} loads by one request", after.0 - before.0));
        checks.check(answer.json()?["total"] == 1, || format!("not the season: {}", answer.text()));
        match position {
            0 => {}
            _ if stolen_after > stolen_before => disturbed += 1,
            _ => milliseconds.push((after.1 - before.1) * 1000.0),
        }
    }
    let grown = service.memory()?.saturating_sub(measured.unwrap_or_default());
    let megabytes = grown as f64 / (setups.len() - 1) as f64 / 1_000_000.0;
    milliseconds.sort_by(f64::total_cmp);
    Ok(Loads { milliseconds, disturbed, megabytes })
}

/// For how long another machine had the processors of this one, where it shares them, in the kernel's ticks.
fn stolen() -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    text.lines().next().and_then(|all| all.split_whitespace().nth(8)?.parse().ok()).unwrap_or_default()
}

/// How many snapshots the service has loaded whole, and in how many seconds.
fn whole_loads(service: &Service) -> Result<(u64, f64)> {
    let text = service.metrics()?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{what=\"whole\"}} ")));
        line.with_context(|| format!("the measurements have no {name}: {text}"))
    };
    Ok((value("plaudit_program_load_seconds_count")?.parse()?, value("plaudit_program_load_seconds_sum")?.parse()?))
}

/// Each change goes through one of two nodes and is read through the other; gives how many answers were stale.
fn stale(service: &Service, setup: &Setup, changes: u32, checks: &mut Checks) -> Result<u32> {
    let other = service.beside()?;
    let key = service.key(&setup.account, "read_write")?;
    let nodes = [service.client(&key), other.client(&key)];
    let (stale, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let begun = Instant::now();
    let outcomes: Vec<Result<()>> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let nodes = [nodes[0].apart(), nodes[1].apart()];
                let (stale, done) = (&stale, &done);
                scope.spawn(move || change(&nodes, setup, (client, changes / CLIENTS), stale, done))
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap_or_else(|_| bail!("a client panicked"))).collect()
    });
    outcomes.into_iter().collect::<Result<()>>()?;
    let (stale, done) = (stale.into_inner(), done.into_inner());
    println!("  {done} changes and reads by {CLIENTS} clients in {:.1} s", begun.elapsed().as_secs_f64());
    checks.check(stale == 0, || format!("{stale} of {done} answers were stale"));
    checks.check(done == changes, || format!("only {done} changes were made"));
    Ok(stale)
}

/// What one client does: it gives a chapter of its own a new name through one node, reads it through the other, and
/// changes the nodes for each.
fn change(
    nodes: &[Client; 2],
    setup: &Setup,
    (client, changes): (u32, u32),
    stale: &AtomicU32,
    done: &AtomicU32,
) -> Result<()> {
    let chapter = setup.chapter(client);
    let path = format!("/chapter/{chapter}");
    for number in 0..changes {
        let name = format!("Name {client} {number}");
        let (writer, reader) = if number % 2 == 0 { (&nodes[0], &nodes[1]) } else { (&nodes[1], &nodes[0]) };
        writer.put(&path, &json!({"translated": {"name": {"en_GB": name}}}))?.expect_status(200)?;
        let shown = if number % 8 == 7 {
            // The list is made of the same snapshot.
            let list = reader.get("/chapter?per_page=100&count=none")?.expect_status(200)?.json()?;
            let chapters = list["data"].as_array().into_iter().flatten();
            chapters.filter(|shown| shown["slug"] == *chapter).map(|shown| shown["name"]["en_GB"].clone()).next()
        } else {
            Some(reader.get(&path)?.expect_status(200)?.json()?["name"]["en_GB"].clone())
        };
        if shown != Some(Value::String(name)) {
            stale.fetch_add(1, Ordering::Relaxed);
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
