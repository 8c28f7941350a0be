//! A reader of the feed that is killed again and again while many write, and goes on where it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, JSON, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The feed gives every change once and in order.
pub(crate) const PROOF: Proof = Proof {
    name: "feed",
    claim: "A reader of GET /event that is killed 20 times sees 50,000 changes of 32 writers once and in order.",
    run: |context| on_each_engine(context, show),
};

/// How much is shown.
#[derive(Clone, Copy)]
struct Scale {
    changes: u32,
    kills: u32,
}

const WHOLE: Scale = Scale { changes: 50_000, kills: 20 };
const SHORT: Scale = Scale { changes: 1_000, kills: 2 };

/// Connections that write, each to entries of its own.
const WRITERS: u32 = 32;
/// How long the reader may take to come to the end when nobody writes any more.
const PATIENCE: Duration = Duration::from_mins(2);

/// Reads the feed and keeps each page as a line with its cursor, in one write. A line that has no end was being written when
/// the reader was killed: it never was.
const READER: &str = r#"
import http.client, json, sys
port, key, accept, path = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
with open(path, "a+b") as file:
    file.seek(0)
    kept = file.read()
    whole = kept[: kept.rfind(b"\n") + 1]
    file.truncate(len(whole))
    cursor = json.loads(whole.splitlines()[-1])["next_cursor"] if whole else ""
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
with open(path, "ab", buffering=0) as file:
    while True:
        query = f"/event?per_page=100&wait=30&cursor={cursor}"
        connection.request("GET", query, headers={"accept": accept, "x-api-key": key})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{answer.status} {body[:500]}")
        cursor = json.loads(body)["next_cursor"]
        file.write(body + b"\n")
"#;

/// A process that reads, killed where it is dropped.
struct Reader(Child);

impl Reader {
    fn start(context: &Context, service: &Service, key: &str, pages: &Path) -> Result<Self> {
        let mut command = Command::new(context.python()?);
        let port = service.address().port().to_string();
        command.args(["-c", READER, &port, key, JSON]).arg(pages);
        command.spawn().map(Self).context("the reader cannot be started")
    }

    /// Kills it, unless it has ended by itself, which it must not.
    fn kill(mut self) -> Result<()> {
        if let Some(status) = self.0.try_wait()? {
            bail!("the reader has ended: {status}");
        }
        Ok(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let program = Program { entries: WRITERS * 4, orders: 0, ..Program::small(31) };
    let service = Service::with(context, engine, &[&program])?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let key = service.key(&program.account, "read")?;
    let pages = service.directory().join("pages.jsonl");
    // The reader may not have begun when it is looked at first.
    fs::write(&pages, "")?;
    let done = AtomicU32::new(0);
    let begun = Instant::now();
    let start = || Reader::start(context, &service, &key, &pages);
    let mut reader = Some(start()?);
    let written = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (client, program, done) = (client.apart(), &program, &done);
                scope.spawn(move || write(&client, program, scale, writer, done))
            })
            .collect();
        for kill in 1..=scale.kills {
            while done.load(Ordering::Relaxed) < scale.changes / (scale.kills + 1) * kill {
                if writers.iter().any(thread::ScopedJoinHandle::is_finished) {
                    break;
                }
                thread::sleep(Duration::from_millis(2));
            }
            reader.take().map_or(Ok(()), Reader::kill)?;
            reader = Some(start()?);
        }
        let mut written = BTreeMap::new();
        for writer in writers {
            written.extend(writer.join().map_err(|_| anyhow!("a writer panicked"))??);
        }
        Ok::<_, anyhow::Error>(written)
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let last = written.keys().next_back().copied().context("nothing was written")?;
    let seen = until(&pages, last)?;
    reader.take().map_or(Ok(()), Reader::kill)?;
    let behind = begun.elapsed().as_secs_f64() - seconds;
    let mut checks = Checks::default();
    compare(&written, &seen, last, &mut checks);
    println!(
        "  {}: {} changes in {seconds:.1} s by {WRITERS} writers, {} kills; the reader was at the end {behind:.1} s later",
        engine.name(),
        written.len(),
        scale.kills,
    );
    Ok(checks.verdict(&format!("{} changes once and in order over {} kills", seen.len(), scale.kills)))
}

/// Moves the writer's entries from chapter to chapter, and gives the number of each change with its entry.
fn write(
    client: &Client,
    program: &Program,
    scale: Scale,
    writer: u32,
    done: &AtomicU32,
) -> Result<BTreeMap<u64, String>> {
    let mut written = BTreeMap::new();
    let of_writer = scale.changes.div_ceil(WRITERS);
    for round in 0..of_writer {
        let position = writer + WRITERS * (round % 4);
        let entry = program.slug(Kind::Entry, position);
        let body = json!({"title": format!("The title of round {round}")});
        let answer = client.put(&format!("/entry/{entry}/update-title"), &body)?.expect_status(200)?;
        let tag = answer.header("etag").context("the entry has no ETag")?;
        written.insert(tag.trim_matches('"').split('.').next().unwrap_or_default().parse()?, entry);
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(written)
}

/// What the reader has kept, as soon as it has seen the last change.
fn until(pages: &Path, last: u64) -> Result<Vec<(u64, String)>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let kept = fs::read_to_string(pages)?;
        let whole = kept.rfind('\n').map_or("", |end| &kept[..end]);
        let mut seen = Vec::new();
        for line in whole.lines() {
            let page: Value = serde_json::from_str(line)?;
            let changes = page["data"].as_array().context("a page without changes")?;
            seen.extend(changes.iter().map(|change| {
                let slug = change["slug"].as_str().unwrap_or_default().to_owned();
                (change["sequence"].as_u64().unwrap_or_default(), slug)
            }));
        }
        if seen.iter().any(|(sequence, _)| *sequence >= last) {
            return Ok(seen);
        }
        if Instant::now() > deadline {
            bail!("the reader is at {:?} of {last}", seen.last());
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// The reader has seen every number once and in order, and every change of a writer under its number.
fn compare(written: &BTreeMap<u64, String>, seen: &[(u64, String)], last: u64, checks: &mut Checks) {
    let numbers = seen.iter().map(|(sequence, _)| *sequence);
    let wrong = numbers.zip(1..).find(|(sequence, expected)| sequence != expected);
    checks.check(wrong.is_none(), || format!("the reader saw {wrong:?}: a number and the one that was due"));
    checks.check(seen.len() as u64 == last, || format!("the reader saw {} changes of {last}", seen.len()));
    let found: BTreeMap<u64, &String> = seen.iter().map(|(sequence, slug)| (*sequence, slug)).collect();
    for (sequence, entry) in written {
        checks.check(found.get(sequence) == Some(&entry), || format!("change {sequence} is not that of {entry}"));
    }
}
