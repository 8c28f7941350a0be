//! `bounds`: an import that makes an account, and many uploads at once, keep nobody waiting for long and take little memory.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use base64::Engine as _;
use serde_json::json;

use super::doctor_sees;
use super::lists::made;
use super::service::{Checks, Client, Kind, Program, Service, on_each_engine, peak_memory_of};
use super::{Context, Engine, Proof, Verdict};

/// What takes long is bounded in memory and in what others wait for.
pub(crate) const PROOF: Proof = Proof {
    name: "bounds",
    claim: "Beside an import of 1,000,000 records and beside 200 uploads at once, writers of 100 other accounts wait for less \
            than 1 s; the import takes less than 256 MB and the service less than 512 MB; an import that was killed left nothing.",
    run: |context| on_each_engine(context, show),
};

/// How long a change of another account may take.
const WAIT: Duration = Duration::from_secs(1);
/// The bytes that the command may hold.
const IMPORT_MEMORY: u64 = 256 << 20;
/// The bytes that the service may hold.
const SERVICE_MEMORY: u64 = 512 << 20;
/// Between two changes of a writer.
const PAUSE: Duration = Duration::from_millis(400);
/// How long the upkeep may take to remove what an import left.
const UPKEEP: Duration = Duration::from_mins(2);

/// How much is shown.
struct Scale {
    accounts: u32,
    records: u32,
    uploads: u32,
    /// The bytes of a file that is uploaded.
    file: usize,
}

const WHOLE: Scale = Scale { accounts: 100, records: 1_000_000, uploads: 200, file: 8 << 20 };
const SHORT: Scale = Scale { accounts: 4, records: 8_000, uploads: 12, file: 1 << 20 };

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let mut checks = Checks::default();
    let mut service = Service::new(context, engine)?;
    let programs: Vec<Program> = (0..scale.accounts).map(other).collect();
    let mut keys = Vec::new();
    for program in &programs {
        service.import(program)?;
        keys.push(service.key(&program.account, "read_write")?);
    }
    let large = Program {
        account: "LargeAct".to_owned(),
        entries: scale.records / 2,
        orders: scale.records / 2,
        users: 100,
        detail_every: 0,
        ..Program::small(77)
    };
    let file = service.directory().join("large.jsonl");
    large.write(&file)?;
    service.start()?;
    let clients: Vec<Client> = keys.iter().map(|key| service.client(key)).collect();
    // Before the import, whose records the database still tidies when it has ended.
    let process = service.process().context("the service does not run")?;
    let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
    let (statuses, waits) = beside(&clients, &programs, || upload_all(&clients, &programs, &scale))?;
    let upload_wait = told("uploads", &waits, context, engine, &mut checks);
    let held = peak_memory_of(process);
    checks.check(statuses.iter().all(|status| *status == 201), || format!("uploads are answered {statuses:?}"));
    checks.check(held < SERVICE_MEMORY, || format!("the service held {} MB", held >> 20));
    service.stop()?;

    killed_import_leaves_nothing((context, engine), &mut service, &large, &mut checks)?;
    let clients: Vec<Client> = keys.iter().map(|key| service.client(key)).collect();
    let (imported, waits) = beside(&clients, &programs, || service.import_file(&file)?.succeeded())?;
    let import_wait = told("an import", &waits, context, engine, &mut checks);
    let memory = imported.peak_memory;
    checks.check(memory < IMPORT_MEMORY, || format!("the import held {} MB", memory >> 20));
    let sql = "SELECT count(*) FROM entries e JOIN accounts a ON a.id = e.account WHERE a.slug = 'LargeAct'";
    let count = service.ask(context, sql)?;
    // One entry is of the archived season.
    checks.check(count == (large.entries + 1).to_string(), || format!("{count} entries were imported"));
    service.run(&["account", "show", "LargeAct"])?.succeeded()?;
    if context.short {
        let doctor = service.run(&["doctor", "--files"])?;
        checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    }
    let figure = format!(
        "beside an import of {} records in {} MB a change takes at most {} ms, beside {} uploads {} ms, the service held {} MB",
        scale.records,
        memory >> 20,
        import_wait.as_millis(),
        scale.uploads,
        upload_wait.as_millis(),
        held >> 20
    );
    Ok(checks.verdict(&figure))
}

/// The account of a writer.
fn other(number: u32) -> Program {
    Program {
        account: made::name("Many", number),
        entries: 4,
        users: 2,
        orders: 0,
        detail_every: 0,
        ..Program::small(u64::from(number))
    }
}

/// How long a change took, and when it began.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    took: Duration,
    at: Duration,
}

/// Works while a writer of each account changes an entry now and then; gives how long these changes took.
fn beside<T>(clients: &[Client], programs: &[Program], work: impl FnOnce() -> Result<T>) -> Result<(T, Vec<Wait>)> {
    let (is_done, start) = (AtomicBool::new(false), Instant::now());
    thread::scope(|scope| {
        let writers: Vec<_> = clients
            .iter()
            .zip(programs)
            .map(|(client, program)| {
                let (client, path, is_done) =
                    (client.apart(), format!("/entry/{}", program.slug(Kind::Entry, 0)), &is_done);
                scope.spawn(move || -> Result<Vec<Wait>> {
                    let mut took = Vec::new();
                    while !is_done.load(Ordering::SeqCst) {
                        let begun = Instant::now();
                        client.put(&path, &json!({"title": format!("Title {}", took.len())}))?.expect_status(200)?;
                        took.push(Wait { took: begun.elapsed(), at: begun.duration_since(start) });
                        thread::sleep(PAUSE);
                    }
                    Ok(took)
                })
            })
            .collect();
        let done = work();
        is_done.store(true, Ordering::SeqCst);
        let mut waits = Vec::new();
        for writer in writers {
            waits.extend(writer.join().map_err(|_| anyhow!("a writer panicked"))??);
        }
        waits.sort();
        Ok((done?, waits))
    })
}

/// Tells how long changes took, and judges the longest where that is timed.
fn told(name: &str, waits: &[Wait], context: &Context, engine: Engine, checks: &mut Checks) -> Duration {
    let Wait { took: slowest, at } = waits.last().copied().unwrap_or_default();
    let within = |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or_default().took;
    println!(
        "  {}: beside {name} {} changes, half of them within {} ms, 99 % within {} ms, all within {} ms, which was after {} s",
        engine.name(),
        waits.len(),
        within(50).as_millis(),
        within(99).as_millis(),
        slowest.as_millis(),
        at.as_secs()
    );
    checks.check(!waits.is_empty(), || format!("nobody changed anything beside {name}"));
    checks.check(context.short || slowest < WAIT, || format!("beside {name} a change took {} ms", slowest.as_millis()));
    slowest
}

/// Kills an import of which some was written: nobody sees the account, and the upkeep of the service, which is started here,
/// leaves nothing of it.
fn killed_import_leaves_nothing(
    (context, engine): (&Context, Engine),
    service: &mut Service,
    large: &Program,
    checks: &mut Checks,
) -> Result<()> {
    let file = service.directory().join(if context.short { "killed.jsonl" } else { "large.jsonl" });
    if context.short {
        // Of so many that it is written in several steps.
        Program { entries: 40_000, orders: 0, ..large.clone() }.write(&file)?;
    }
    let tables = doctor_sees::tables(context, engine, service)?;
    let kept = |service: &Service| -> Result<String> {
        let counts: Vec<_> = tables.iter().map(|table| format!("(SELECT count(*) FROM {table})")).collect();
        service.ask(context, &format!("SELECT {}", counts.join(" || ' ' || ")))
    };
    let before = kept(service)?;
    let mut import = service.command(&["import", &file.to_string_lossy()]);
    let mut import = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let written = "SELECT count(*) FROM entries e JOIN accounts a ON a.id = e.account WHERE a.importing <> 0";
    while service.ask(context, written)? == "0" {
        if import.try_wait()?.is_some() {
            bail!("the import ended before anything was written in steps");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let shown = service.run(&["account", "show", &large.account])?;
    checks.check(shown.code != Some(0), || "an account is found before it is whole".to_owned());
    import.kill()?;
    import.wait()?;
    let again = service.import_file(&file)?;
    checks.check(again.stderr.contains("is being imported"), || format!("again at once: {}", again.stderr));
    // As if it were ten minutes later.
    service.tamper(context, "UPDATE accounts SET importing = importing - 700000000 WHERE importing <> 0")?;
    service.start()?;
    let begun = Instant::now();
    let mut after = kept(service)?;
    while after != before && begun.elapsed() < UPKEEP {
        thread::sleep(Duration::from_millis(200));
        after = kept(service)?;
    }
    checks.check(after == before, || format!("of {tables:?} there were {before}, and {after} are left"));
    Ok(())
}

/// Uploads a file to the accounts in turn, all at the same time; gives how they were answered.
fn upload_all(clients: &[Client], programs: &[Program], scale: &Scale) -> Result<Vec<u16>> {
    let bytes: Vec<u8> = (0..scale.file).map(|place| u8::try_from(place * 31 % 251).unwrap_or_default()).collect();
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let body = json!({"filename": "a.bin", "order": 1, "data": data}).to_string();
    thread::scope(|scope| {
        let uploads: Vec<_> = (0..scale.uploads as usize)
            .map(|number| {
                let of = number % clients.len();
                let (client, program, body) = (clients[of].apart(), &programs[of], body.as_bytes());
                let (entry, tab) = (program.slug(Kind::Entry, 1), program.slug(Kind::Tab, 3));
                scope.spawn(move || -> Result<u16> {
                    let headers = [("content-type", "application/json")];
                    Ok(client.send("POST", &format!("/entry/{entry}/attachment/{tab}"), &headers, Some(body))?.status)
                })
            })
            .collect();
        uploads.into_iter().map(|upload| upload.join().map_err(|_| anyhow!("an upload panicked"))?).collect()
    })
}
