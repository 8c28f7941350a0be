//! The service is killed in the middle of its work, again and again, and has kept all that it had acknowledged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// A killed service loses nothing that it had acknowledged.
pub(crate) const PROOF: Proof = Proof {
    name: "kill",
    claim: "After kill -9 during a write load every acknowledged change is there, the log has no gap, the chain verifies.",
    run: |context| on_each_engine(context, show),
};

/// Connections that write at the same time.
const WRITERS: u32 = 8;

/// Entries that one connection writes, one after the other, so that the order of its changes is known.
const ENTRIES_EACH: u32 = 12;

/// Every so many rounds the database server is killed together with the service.
const CRASH_EVERY: u32 = 5;

/// What is known of one entry from outside.
#[derive(Clone, Default)]
struct Known {
    /// The chapter of the last acknowledged state, by position.
    chapter: u32,
    /// The tag of that state, where it was shown.
    tag: Option<String>,
    /// Its time of update.
    updated: String,
    /// The chapter that was asked for last and not acknowledged.
    in_flight: Option<u32>,
}

/// What is known of the entries of one writer, by position within its own.
type Ledger = Vec<Known>;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let rounds = if context.short { 3 } else { 50 };
    let program = Program { entries: WRITERS * ENTRIES_EACH, detail_every: 0, orders: 0, ..Program::small(1) };
    let mut service = Service::with(context, engine, &[&program])?;
    let key = service.key(&program.account, "read_write")?;
    let (mut checks, mut random) = (Checks::default(), Random::new(7));
    let (mut acknowledged, mut undecided) = (0, 0);
    let mut ledgers = ledgers(&program, &service.export(&program.account)?)?;
    for round in 1..=rounds {
        let pause = Duration::from_millis(u64::from(40 + random.below(400)));
        let (after, count) = load(&mut service, &program, &key, ledgers, (pause, Service::kill))?;
        acknowledged += count;
        checks.check(count > 0, || format!("round {round}: nothing was acknowledged in {pause:?}"));
        if engine == Engine::Postgres && round % CRASH_EVERY == 0 {
            context.postgres()?.crash()?;
            context.postgres()?.restart()?;
        }
        let doctor = service.run(&["doctor"])?;
        checks.check(doctor.code == Some(0), || format!("round {round}: doctor: {}", doctor.stderr));
        service.start()?;
        let found = self::ledgers(&program, &service.export(&program.account)?)?;
        undecided += compare(&program, &after, &found, round, &mut checks);
        compare_tags(&service.client(&key), &program, &after, &found, &mut checks)?;
        if round == rounds {
            println!("  {}: doctor: {}", engine.name(), doctor.last_line());
        }
        ledgers = found;
    }
    service.kill()?;
    controls(context, &service, &mut checks)?;
    println!(
        "  {}: {rounds} kills, {acknowledged} changes acknowledged, {undecided} kept that were still unanswered",
        engine.name()
    );
    Ok(checks.verdict(&format!("{rounds} kills, {acknowledged} acknowledged changes, none lost")))
}

/// The doctor whose word was taken after every kill does find a broken chain and a gap.
fn controls(context: &Context, service: &Service, checks: &mut Checks) -> Result<()> {
    for statement in ["UPDATE changes SET slug = 'Tampered'", "DELETE FROM changes"] {
        let middle = "WHERE sequence = (SELECT max(sequence) / 2 FROM changes)";
        service.tamper(context, &format!("{statement} {middle}"))?;
        let doctor = service.run(&["doctor"])?;
        checks.check(doctor.code == Some(1), || format!("the doctor overlooks `{statement}`: {}", doctor.last_line()));
    }
    Ok(())
}

/// The service is asked to stop in the middle of its work, and has kept all that it had acknowledged; returns how much that was.
pub(super) fn stop_under_load(context: &Context, engine: Engine, checks: &mut Checks) -> Result<u64> {
    let program = Program { entries: WRITERS * ENTRIES_EACH, detail_every: 0, orders: 0, ..Program::small(1) };
    let mut service = Service::with(context, engine, &[&program])?;
    let key = service.key(&program.account, "read_write")?;
    let (mut ledgers, mut acknowledged) = (self::ledgers(&program, &service.export(&program.account)?)?, 0);
    for round in 1..=if context.short { 2 } else { 20 } {
        let ended = (Duration::from_millis(150), Service::stop as fn(&mut Service) -> Result<()>);
        let (after, count) = load(&mut service, &program, &key, ledgers, ended)?;
        acknowledged += count;
        checks.check(count > 0, || format!("stop {round}: nothing was acknowledged before it"));
        service.start()?;
        ledgers = self::ledgers(&program, &service.export(&program.account)?)?;
        compare(&program, &after, &ledgers, round, checks);
    }
    Ok(acknowledged)
}

/// Writes from all connections, ends the service after the pause and the first acknowledgement, and returns what was
/// known by then and how many changes were acknowledged.
fn load(
    service: &mut Service,
    program: &Program,
    key: &str,
    ledgers: Vec<Ledger>,
    (pause, end): (Duration, fn(&mut Service) -> Result<()>),
) -> Result<(Vec<Ledger>, u64)> {
    let (killed, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let client = service.client(key);
    let ledgers = thread::scope(|scope| {
        let writers: Vec<_> = (0..)
            .zip(ledgers)
            .map(|(writer, ledger)| {
                let (client, killed, count) = (client.apart(), &killed, &count);
                scope.spawn(move || write(&client, program, writer, ledger, killed, count))
            })
            .collect();
        thread::sleep(pause);
        let begun = Instant::now();
        while count.load(Ordering::Relaxed) == 0 && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(5));
        }
        killed.store(true, Ordering::SeqCst);
        let ended = end(service);
        let ledgers: Result<Vec<_>> =
            writers.into_iter().map(|writer| writer.join().map_err(|_| anyhow!("a writer panicked"))?).collect();
        ended.and(ledgers)
    })?;
    Ok((ledgers, count.into_inner()))
}

/// Moves the writer's entries to the next chapter in turn until the service is gone.
fn write(
    client: &Client,
    program: &Program,
    writer: u32,
    mut ledger: Ledger,
    killed: &AtomicBool,
    count: &AtomicU64,
) -> Result<Ledger> {
    loop {
        for (position, known) in (0..).zip(ledger.iter_mut()) {
            let chapter = (known.chapter + 1) % program.chapters;
            known.in_flight = Some(chapter);
            let answer = match client.put(&path(program, writer, position), &wish(program, chapter)) {
                Ok(answer) => answer.expect_status(200)?,
                Err(_) if killed.load(Ordering::SeqCst) => return Ok(ledger),
                Err(error) => return Err(error.context("the service failed before it was killed")),
            };
            let shown = answer.json()?;
            *known = Known {
                chapter,
                tag: answer.header("etag").map(str::to_owned),
                updated: shown["updated"].as_str().context("the entry shows no time of update")?.to_owned(),
                in_flight: None,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Every entry is as it was acknowledged last, or as the one change that was still unanswered would have it.
fn compare(program: &Program, known: &[Ledger], found: &[Ledger], round: u32, checks: &mut Checks) -> u64 {
    let mut undecided = 0;
    for (writer, (known, found)) in (0..).zip(known.iter().zip(found)) {
        for (position, (known, found)) in (0..).zip(known.iter().zip(found)) {
            let kept = found.chapter == known.chapter && found.updated == known.updated;
            let further = known.in_flight == Some(found.chapter) && found.updated >= known.updated;
            undecided += u64::from(further && !kept);
            checks.check(kept || further, || {
                format!(
                    "round {round}: {} was acknowledged in chapter {} at {}, {:?} was under way, and it is in {} at {}",
                    path(program, writer, position),
                    known.chapter,
                    known.updated,
                    known.in_flight,
                    found.chapter,
                    found.updated
                )
            });
        }
    }
    undecided
}

/// An entry that is in the acknowledged state shows the acknowledged tag: asking for the chapter it has shows it.
fn compare_tags(
    client: &Client,
    program: &Program,
    known: &[Ledger],
    found: &[Ledger],
    checks: &mut Checks,
) -> Result<()> {
    for (writer, (known, found)) in (0..).zip(known.iter().zip(found)) {
        for (position, (known, found)) in (0..).zip(known.iter().zip(found)) {
            let Some(tag) = known.tag.as_deref().filter(|_| found.updated == known.updated) else { continue };
            let path = path(program, writer, position);
            let answer = client.put(&path, &wish(program, found.chapter))?.expect_status(200)?;
            checks.check(answer.header("etag") == Some(tag), || {
                format!("{path} was acknowledged with the tag {tag} and now shows {:?}", answer.header("etag"))
            });
        }
    }
    Ok(())
}

/// The entries as an export has them.
fn ledgers(program: &Program, export: &[u8]) -> Result<Vec<Ledger>> {
    let chapters: HashMap<_, _> =
        (0..program.chapters).map(|chapter| (program.slug(Kind::Chapter, chapter), chapter)).collect();
    let mut found = HashMap::new();
    for line in export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line).context("the export has a line that is no JSON")?;
        if record["kind"] != "entry" {
            continue;
        }
        let text = |member: &str| record[member].as_str().map(str::to_owned);
        let Some(chapter) = chapters.get(&text("chapter").context("an exported entry has no chapter")?) else {
            continue;
        };
        let updated = text("updated").context("an exported entry has no time of update")?;
        let known = Known { chapter: *chapter, updated, ..Known::default() };
        found.insert(text("slug").context("an exported entry has no slug")?, known);
    }
    let mut entry =
        |position| found.remove(&program.slug(Kind::Entry, position)).context("an entry is not in the export");
    (0..WRITERS)
        .map(|writer| (0..ENTRIES_EACH).map(|position| entry(writer * ENTRIES_EACH + position)).collect())
        .collect()
}

fn path(program: &Program, writer: u32, position: u32) -> String {
    format!("/entry/{}/update-chapter", program.slug(Kind::Entry, writer * ENTRIES_EACH + position))
}

fn wish(program: &Program, chapter: u32) -> Value {
    json!({"chapter": program.slug(Kind::Chapter, chapter)})
}
