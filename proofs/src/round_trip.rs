//! What is exported is what was imported, to the byte; what is wrong with a file is said, and then nothing is applied.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::service::{Checks, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Export, import, export gives the same bytes, and a fault stops an import whole.
pub(crate) const PROOF: Proof = Proof {
    name: "round-trip",
    claim: "Export, import, export again gives the same bytes on both engines; a fault is named and nothing is applied.",
    run,
};

/// What a large import may hold in memory at most, in bytes.
const MEMORY: u64 = 256 << 20;

fn run(context: &Context) -> Result<Verdict> {
    let same = same_bytes(context)?;
    println!("  {}", same.figure);
    let fault = on_each_engine(context, fault)?;
    Ok(Verdict::new(same.holds && fault.holds, format!("{}; {}", same.figure, fault.figure)))
}

/// Exports through every engine in turn, plain and hostile programs.
fn same_bytes(context: &Context) -> Result<Verdict> {
    let entries = if context.short { 200 } else { 20_000 };
    let mut checks = Checks::default();
    let mut bytes = 0;
    for hostile in [false, true] {
        let program = Program { entries, orders: entries, hostile, ..Program::small(8) };
        let mut expected: Option<(Engine, Vec<u8>)> = None;
        for engine in context.engines() {
            let service = Service::new(context, engine)?;
            match &expected {
                None => service.import(&program)?,
                Some((_, export)) => import_bytes(&service, export)?,
            }
            let first = service.export(&program.account)?;
            let again = Service::new(context, engine)?;
            import_bytes(&again, &first)?;
            let second = again.export(&program.account)?;
            let name = engine.name();
            checks.check(!first.is_empty(), || format!("{name}: the export is empty"));
            checks.check(first == second, || format!("{name}: {}", difference(&first, &second)));
            bytes = bytes.max(first.len());
            if let Some((earlier, export)) = &expected {
                let names = format!("{} and {name}", earlier.name());
                checks.check(*export == first, || format!("{names}: {}", difference(export, &first)));
            }
            let lines = first.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            let made = program.write(&service.directory().join("count.jsonl"))?;
            checks.check(lines >= made, || format!("{name}: {made} records went in and {lines} came out"));
            expected.get_or_insert((engine, first));
        }
    }
    Ok(checks.verdict(&format!("exports of {bytes} bytes are the same again")))
}

/// A faulty import of the size that was asked for, on top of an account that must stay as it is.
fn fault(context: &Context, engine: Engine) -> Result<Verdict> {
    let (faulty_line, entries) = if context.short { (7_000, 10_000) } else { (700_000, 1_000_000) };
    let mut checks = Checks::default();
    let service = Service::new(context, engine)?;
    let before = Program::small(9);
    service.import(&before)?;
    let export = service.export(&before.account)?;

    let program = Program { entries, orders: 0, detail_every: 50, users: 1000, ..Program::small(10) };
    let file = service.directory().join("faulty.jsonl");
    let mut faults = Vec::new();
    let lines = program.write_with(&file, |line, record| {
        if line >= faulty_line && faults.len() < 2 && record["kind"] == "entry" {
            // One fault of type and one of reference: the first must not keep the second from being told.
            let member = if faults.is_empty() { "title" } else { "category" };
            record[member] = if faults.is_empty() { json!(5) } else { json!("NoSuchCa") };
            faults.push((line, member));
        }
    })?;
    let first = faults.first().context("the file has no entry at the line of the fault")?.0;
    let finished = service.import_file(&file)?;
    let name = engine.name();
    checks.check(finished.code == Some(1), || format!("a faulty import ended with {:?}", finished.code));
    for (line, member) in &faults {
        let told = finished
            .stderr
            .lines()
            .any(|told| told.contains(&line.to_string()) && told.contains(member) && told.contains("faulty.jsonl"));
        checks.check(told, || format!("line {line}, {member}, is not told: {}", finished.stderr.trim()));
    }
    checks.check(service.export(&before.account)? == export, || "a refused import has changed the account".to_owned());
    checks.check(finished.peak_memory <= MEMORY, || format!("the import took {} MB", finished.peak_memory >> 20));
    println!(
        "  {name}: {lines} lines, refused: {}; peak memory {} MB",
        finished.stderr.lines().next().unwrap_or_default(),
        finished.peak_memory >> 20
    );

    let empty = Service::new(context, engine)?;
    let unknown = empty.import_file(&file)?;
    checks.check(unknown.code == Some(1), || format!("on an empty database it ended with {:?}", unknown.code));
    let shown = empty.run(&["account", "list"])?.succeeded()?.stdout;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    checks.check(!shown.contains(&program.account), || format!("a refused import has made an account: {shown}"));
    let exported = empty.run(&["export", &program.account])?;
    checks.check(exported.code == Some(1), || format!("the export of no account ended with {:?}", exported.code));
    if !context.short {
        good_import(&service, &program, name, &mut checks)?;
    }
    Ok(checks
        .verdict(&format!("fault on line {first} of {lines} told, nothing applied, {} MB", finished.peak_memory >> 20)))
}

/// The same file without its faults goes in, in the same memory.
fn good_import(service: &Service, program: &Program, name: &str, checks: &mut Checks) -> Result<()> {
    let file = service.directory().join("good.jsonl");
    let lines = program.write(&file)?;
    let finished = service.import_file(&file)?;
    checks.check(finished.code == Some(0), || format!("the good import: {}", finished.stderr.trim()));
    checks.check(finished.peak_memory <= MEMORY, || format!("the good import took {} MB", finished.peak_memory >> 20));
    println!("  {name}: {lines} lines without a fault; peak memory {} MB", finished.peak_memory >> 20);
    let last = program.slug(Kind::Entry, program.entries.saturating_sub(1));
    let export = service.export(&program.account)?;
    let found = export.split(|byte| *byte == b'\n').any(|line| String::from_utf8_lossy(line).contains(&last));
    checks.check(found, || format!("{last} is not in the export"));
    Ok(())
}

fn import_bytes(service: &Service, export: &[u8]) -> Result<()> {
    let file: PathBuf = service.directory().join("export.jsonl");
    std::fs::write(&file, export)?;
    service.import_file(&file)?.succeeded().map(drop)
}

/// The first line in which two exports differ, shortened.
fn difference(first: &[u8], second: &[u8]) -> String {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (first, second) = (lines(first), lines(second));
    let differs = (0..first.len().max(second.len())).find(|line| first.get(*line) != second.get(*line));
    let shown =
        |line: Option<&String>| line.map_or_else(|| "nothing".to_owned(), |line| line.chars().take(400).collect());
    match differs {
        Some(line) => format!("line {}: {} and {}", line + 1, shown(first.get(line)), shown(second.get(line))),
        None => "only the ends of lines differ".to_owned(),
    }
}
