//! `upgrade`: a form of documents is brought in by two releases, each beside the one before it, with no answer another one.
//!
//! Two patches beside this file make the releases: the first reads a second form of users and orders and writes the first, the
//! second writes the second and rewrites what has the first. Where the tree changes under them, `git apply` says where they no
//! longer apply; `git diff` of a tree in which that was put right is the new patch.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};
use crate::process;
use crate::weight::copied;

/// Documents change their form while they are read and written.
pub(crate) const PROOF: Proof = Proof {
    name: "upgrade",
    claim: "Documents get another form while two versions read and write them; a version that is killed in the midst of it is \
            gone on from; every answer is the same before and after, and a version that cannot read the form does not start.",
    run,
};

/// The releases, in their order.
const PATCHES: [&str; 2] = ["proofs/src/upgrade/read.patch", "proofs/src/upgrade/write.patch"];
/// How many records of each kind are read all the time, and never changed.
const READ_RECORDS: u32 = 20;
/// Until when documents must begin to be rewritten.
const PATIENCE: Duration = Duration::from_mins(2);

fn run(context: &Context) -> Result<Verdict> {
    let scratch = context.scratch()?;
    let tree = copied(&context.root, scratch.path())?;
    let mut releases = Vec::new();
    for patch in PATCHES {
        process::output(Command::new("git").current_dir(&tree).args(["apply"]).arg(context.root.join(patch)))?;
        if !context.short {
            releases.push(built(context, &tree, &scratch.path().join(format!("release-{}", releases.len())))?);
        }
    }
    match <[PathBuf; 2]>::try_from(releases) {
        Ok(releases) => {
            let mut holds = true;
            let mut figures = Vec::new();
            for engine in context.engines() {
                let verdict = show(context, engine, &releases)?;
                holds &= verdict.holds;
                figures.push(format!("{}: {}", engine.name(), verdict.figure));
            }
            Ok(Verdict::new(holds, figures.join("; ")))
        }
        Err(_) => on_each_engine(context, newer_schema),
    }
}

/// Builds the service of a tree. What is built is kept between runs, apart from what is built of the tree without patches.
fn built(context: &Context, tree: &Path, to: &Path) -> Result<PathBuf> {
    let target = context.target()?.join("patched");
    process::Cargo::new(tree, &["build", "--release", "--bin", "plaudit"]).env("CARGO_TARGET_DIR", &target).run()?;
    fs::copy(target.join("release/plaudit"), to)?;
    Ok(to.to_owned())
}

/// What the short form shows: a version goes on with steps of the schema that say so, and with no other.
fn newer_schema(context: &Context, engine: Engine) -> Result<Verdict> {
    let mut service = Service::with(context, engine, &[&Program::small(1)])?;
    let mut checks = Checks::default();
    let step = |number: u32, name: &str| {
        let row = format!("({number}, '{name}', '2026-11-23T02:54:03.352361245Z', '1')");
        service.tamper(context, &format!("INSERT INTO refinery_schema_history VALUES {row}"))
    };
    step(900, "more_since_4")?;
    step(901, "still_more_since_900")?;
    let refused = service.run(&["migrate"])?;
    let names = refused.stderr.contains("V901__still_more_since_900");
    checks.check(refused.code == Some(1) && names, || format!("a step that needs another one: {}", refused.stderr));
    service.tamper(context, "DELETE FROM refinery_schema_history WHERE version = 901")?;
    service.stop()?;
    service.start()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
    Ok(checks.verdict("the patches apply, and a version goes on with what newer ones added"))
}

fn show(context: &Context, engine: Engine, [reading, writing]: &[PathBuf; 2]) -> Result<Verdict> {
    let program = Program { users: 6_000, entries: 400, orders: 12_000, detail_every: 0, ..Program::small(3) };
    let mut old = Service::with(context, engine, &[&program])?;
    let key = old.key(&program.account, "read_write")?;
    let kept = Kept::of(&program, &old.client(&key))?;
    let exported = old.export(&program.account)?;
    let mut checks = Checks::default();

    let reading = old.beside_of(reading.clone())?;
    let first = beside(&program, [&old.client(&key), &reading.client(&key)], &kept, &mut checks, || {
        thread::sleep(Duration::from_secs(2));
        Ok(())
    })?;
    checks.check(of_form(context, &old, 2)? == 0, || "something has the second form too early".to_owned());
    old.stop()?;

    let mut node = reading.beside_of(writing.clone())?;
    wait_for_some(context, &node)?;
    node.kill()?;
    let (done, left) = (of_form(context, &node, 2)?, of_form(context, &node, 1)?);
    checks.check(done > 0 && left > 0, || format!("killed when {done} documents were rewritten and {left} were not"));
    same_exports(context, &program, [&reading, &node], &exported, &mut checks)?;
    node.start()?;
    let clients = [&reading.client(&key), &node.client(&key)];
    let second = beside(&program, clients, &kept, &mut checks, || node.run(&["migrate"])?.succeeded().map(drop))?;
    // The older version wrote some of them since.
    node.run(&["migrate"])?.succeeded()?;
    let left = of_form(context, &node, 1)?;
    checks.check(left == 0, || format!("{left} documents have the first form at the end"));
    for (name, service) in [("older", &reading), ("newer", &node)] {
        let doctor = service.run(&["doctor"])?;
        checks.check(doctor.code == Some(0), || format!("doctor of the {name} version: {}", doctor.last_line()));
    }
    same_through_both(&program, clients, &mut checks)?;
    for client in clients {
        let other = kept.first_other(client)?;
        checks.check(other.is_none(), || other.unwrap_or_default());
    }
    same_exports(context, &program, [&reading, &node], &exported, &mut checks)?;
    let refused = old.run(&["migrate"])?;
    let names = refused.stderr.contains("V6__");
    checks.check(refused.code == Some(1) && names, || {
        format!("the oldest version: {:?} {}", refused.code, refused.stderr)
    });
    Ok(checks.verdict(&format!(
        "killed with {done} documents rewritten; {first} and {second} changes by two versions meanwhile"
    )))
}

/// How many users and orders have a form.
fn of_form(context: &Context, service: &Service, form: u32) -> Result<u64> {
    let count = |table: &str| format!("(SELECT count(*) FROM {table} WHERE doc_form = {form})");
    Ok(service.ask(context, &format!("SELECT {} + {}", count("users"), count("orders")))?.trim().parse()?)
}

/// Waits until the service has begun to rewrite documents.
fn wait_for_some(context: &Context, service: &Service) -> Result<()> {
    let begun = Instant::now();
    while of_form(context, service, 2)? == 0 {
        if begun.elapsed() > PATIENCE {
            bail!("no document was rewritten");
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Records that nobody changes, with what is answered for each.
struct Kept(Vec<(String, Value)>);

impl Kept {
    fn of(program: &Program, client: &Client) -> Result<Self> {
        let kinds = [(Kind::User, "user"), (Kind::Order, "order"), (Kind::Entry, "entry")];
        let paths = kinds.iter().flat_map(|(kind, path)| {
            (0..READ_RECORDS).map(move |position| format!("/{path}/{}", program.slug(*kind, position)))
        });
        let read = |path: String| {
            let value = client.get(&path)?.expect_status(200)?.json()?;
            Ok((path, value))
        };
        Ok(Self(paths.map(read).collect::<Result<_>>()?))
    }

    /// Tells the first record that is answered otherwise now.
    fn first_other(&self, client: &Client) -> Result<Option<String>> {
        for (path, expected) in &self.0 {
            let answer = client.get(path)?.expect_status(200)?.json()?;
            if comparable(&answer) != comparable(expected) {
                return Ok(Some(format!("{path} is {answer}, and was {expected}")));
            }
        }
        Ok(None)
    }
}

/// An answer without what others change: addresses have the port of the node and are signed until a time, and lines of orders
/// show titles of entries.
fn comparable(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("http") => Value::Null,
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| *name != "entry" || !value.is_object());
            Value::Object(kept.map(|(name, value)| (name.clone(), comparable(value))).collect())
        }
        other => other.clone(),
    }
}

/// Works while records are changed through two versions, and others read through both; gives how many changes there were.
fn beside(
    program: &Program,
    clients: [&Client; 2],
    kept: &Kept,
    checks: &mut Checks,
    work: impl FnOnce() -> Result<()>,
) -> Result<u32> {
    let (is_done, changes) = (AtomicBool::new(false), AtomicU32::new(0));
    let others = thread::scope(|scope| -> Result<Vec<String>> {
        let (is_done, changes) = (&is_done, &changes);
        let mut threads = Vec::new();
        for (number, client) in (0..).zip(clients) {
            let writer = client.apart();
            threads.push(scope.spawn(move || -> Result<Option<String>> {
                while !is_done.load(Ordering::SeqCst) {
                    change(program, &writer, number, changes.fetch_add(1, Ordering::SeqCst))?;
                }
                Ok(None)
            }));
            let reader = client.apart();
            threads.push(scope.spawn(move || {
                while !is_done.load(Ordering::SeqCst) {
                    if let Some(other) = kept.first_other(&reader)? {
                        return Ok(Some(other));
                    }
                }
                Ok(None)
            }));
        }
        let done = work();
        is_done.store(true, Ordering::SeqCst);
        let mut others = Vec::new();
        for thread in threads {
            others.extend(thread.join().map_err(|_| anyhow!("a thread panicked"))??);
        }
        done.map(|()| others)
    })?;
    checks.check(others.is_empty(), || others.join("; "));
    Ok(changes.into_inner())
}

/// Changes a user, or the title of an entry, which the lines of orders show; what is answered is what was asked for.
fn change(program: &Program, client: &Client, number: u32, turn: u32) -> Result<()> {
    // Those that are kept come first; each writer has records of its own.
    let position = READ_RECORDS + (turn / 4 * 2 + number) % 180;
    let (path, body) = if turn.is_multiple_of(2) {
        (format!("/user/{}", program.slug(Kind::User, position * 7)), json!({"member_number": format!("M {turn}")}))
    } else {
        (format!("/entry/{}", program.slug(Kind::Entry, position)), json!({"title": format!("Title {turn}")}))
    };
    let answer = client.put(&path, &body)?.expect_status(200)?.json()?;
    let members = body.as_object().context("a body is an object")?;
    if members.iter().any(|(name, value)| answer[name] != *value) {
        bail!("{path} was changed by {body} and is {answer}");
    }
    Ok(())
}

/// Both versions export the same, with every record that was not changed as it was, and the newer one imports it without a
/// change.
fn same_exports(
    context: &Context,
    program: &Program,
    [older, newer]: [&Service; 2],
    first: &[u8],
    checks: &mut Checks,
) -> Result<()> {
    let export = newer.export(&program.account)?;
    checks.check(older.export(&program.account)? == export, || "the exports of the two versions differ".to_owned());
    let lost = first_lost(program, std::str::from_utf8(first)?, std::str::from_utf8(&export)?)?;
    checks.check(lost.is_none(), || format!("the export has not {}", lost.unwrap_or_default()));
    let file = newer.directory().join("again.jsonl");
    fs::write(&file, &export)?;
    let changes = "SELECT count(*) FROM changes";
    let before = newer.ask(context, changes)?;
    newer.import_file(&file)?.succeeded()?;
    checks.check(newer.ask(context, changes)? == before, || "an import of the export changes something".to_owned());
    Ok(())
}

/// The first record of an export that is not in a later one, of those that nobody changed: entries and some users have changed.
fn first_lost(program: &Program, before: &str, after: &str) -> Result<Option<String>> {
    let changed: HashSet<String> = (0..READ_RECORDS + 180).map(|number| program.slug(Kind::User, number * 7)).collect();
    let after: HashSet<&str> = after.lines().collect();
    for line in before.lines().filter(|line| !after.contains(line)) {
        let record: Value = serde_json::from_str(line)?;
        let slug = record["slug"].as_str().unwrap_or_default();
        if record["kind"] != "entry" && !(record["kind"] == "user" && changed.contains(slug)) {
            return Ok(Some(line.to_owned()));
        }
    }
    Ok(None)
}

/// Whatever was changed, both versions answer the same.
fn same_through_both(program: &Program, [older, newer]: [&Client; 2], checks: &mut Checks) -> Result<()> {
    let mut paths: Vec<_> = (0..200)
        .flat_map(|position| {
            [
                (Kind::User, "user", position * 7),
                (Kind::Entry, "entry", position),
                (Kind::Order, "order", position * 11),
            ]
        })
        .map(|(kind, path, position)| format!("/{path}/{}", program.slug(kind, position)))
        .collect();
    paths.extend(["/user?order=updated&dir=desc", "/order?per_page=100", "/entry?order=title"].map(str::to_owned));
    for path in paths {
        let answers = [older, newer].map(|client| Ok(comparable(&client.get(&path)?.expect_status(200)?.json()?)));
        let [older, newer]: [Result<Value>; 2] = answers;
        let (older, newer) = (older?, newer?);
        checks.check(older == newer, || format!("{path} is {older} of the older version and {newer} of the newer one"));
    }
    Ok(())
}
