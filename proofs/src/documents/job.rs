//! `documents-job`: many certificates in one job, and a service that is killed in the middle of one.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::made::{ACCOUNT, Maker};
use crate::service::{Checks, memory_of, on_each_engine};
use crate::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "documents-job",
    claim: "1,000 certificates in one job are made at 40 a second and more on one core, in bounded memory; where the service is killed \
            in the middle and started again, each document is there once.",
    run: |context| {
        let first = context.engines().first().copied().filter(|_| context.short);
        first.map_or_else(|| on_each_engine(context, show), |engine| show(context, engine))
    },
};

/// The bar: certificates a second.
const A_SECOND: f64 = 40.0;
/// The memory that the service and the typesetter may have held, each.
const MEMORY: u64 = 400 << 20;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let count: u32 = if context.short { 12 } else { 1_000 };
    let mut maker = Maker::begin(context, engine)?;
    let entries = add_entries(&maker, count)?;
    // One core for the service and, as it starts it, the typesetter.
    maker.service.stop()?;
    maker.service.keep_to_core(0);
    maker.service.start()?;
    maker.client = maker.service.client(&maker.service.key(ACCOUNT, "read_write")?);
    let mut checks = Checks::default();
    let begun = Instant::now();
    let job = maker.begin_job(&certificates(&entries))?;
    let peak = thread::scope(|scope| -> Result<u64> {
        let ended = scope.spawn(|| maker.ended(&job));
        let mut peak = 0;
        while !ended.is_finished() {
            peak = peak.max(typesetter_memory(maker.service.process().unwrap_or_default()));
            thread::sleep(Duration::from_millis(20));
        }
        let shown = ended.join().map_err(|_| anyhow::anyhow!("the job could not be watched"))??;
        checks.check(shown["progress"]["done"] == count, || format!("the job: {shown}"));
        Ok(peak)
    })?;
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    let own = maker.service.peak_memory()?;
    println!("  {}: {rate:.1} a second, {} MB and {} MB", engine.name(), own >> 20, peak >> 20);
    each_once(&maker, &entries, 1, &mut checks)?;
    if !context.short {
        checks.check(rate >= A_SECOND, || format!("{rate:.1} certificates a second"));
    }
    checks.check(own < MEMORY && peak < MEMORY, || format!("{} MB and {} MB are held", own >> 20, peak >> 20));
    let job = maker.begin_job(&certificates(&entries))?;
    // Killed while some are made and others are not.
    let kills = if context.short { 1 } else { 3 };
    for kill in 1..=kills {
        let wanted = i64::from(count) * kill / (kills + 2);
        while maker.client.get(&job)?.expect_status(200)?.json()?["progress"]["done"].as_i64().unwrap_or(0) < wanted {
            thread::sleep(Duration::from_millis(10));
        }
        maker.service.kill()?;
        maker.service.start()?;
    }
    let shown = maker.ended(&job)?;
    checks.check(shown["progress"]["done"] == count && shown["state"] == "done", || format!("after a kill: {shown}"));
    each_once(&maker, &entries, 2, &mut checks)?;
    maker.service.stop()?;
    let doctor = maker.service.run(&["doctor", "--files"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
    let megabytes = own.max(peak) >> 20;
    Ok(checks.verdict(&format!("{count} certificates, {rate:.1} a second, at most {megabytes} MB")))
}

fn certificates(entries: &[String]) -> Value {
    json!({
        "translated": { "name": { "en_GB": "Certificate" } }, "template": "TmpCertf", "fileType": "PDF", "shared": false,
        "resource": "entry", "selected": entries,
    })
}

/// Adds so many entries; gives their slugs.
fn add_entries(maker: &Maker, count: u32) -> Result<Vec<String>> {
    let model = maker.client.get("/entry/EnHarbor")?.expect_status(200)?.json()?;
    let of = |name: &str| model[name]["slug"].clone();
    let (mut slugs, mut lines) = (Vec::new(), Vec::new());
    for number in 0..count {
        let slug = super::super::lists::made::name("Cert", number);
        lines.push(
            json!({
                "kind": "entry", "slug": slug, "local_id": 1_000 + number, "title": format!("Entry {number}"), "status": "submitted",
                "season": of("season"), "category": of("category"), "chapter": of("chapter"), "form": of("form"),
                "entrant": of("entrant"),
            })
            .to_string(),
        );
        slugs.push(slug);
    }
    let file = maker.service.directory().join("entries.jsonl");
    std::fs::write(&file, lines.join("\n"))?;
    maker.service.run(&["import", &file.to_string_lossy(), "--account", ACCOUNT])?.succeeded()?;
    Ok(slugs)
}

/// The list has so many documents of each entry.
fn each_once(maker: &Maker, entries: &[String], times: usize, checks: &mut Checks) -> Result<()> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for page in 1.. {
        let shown = maker.client.get(&format!("/document?per_page=100&page={page}"))?.expect_status(200)?.json()?;
        for document in shown["data"].as_array().into_iter().flatten() {
            *found.entry(document["entry"]["slug"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        if shown["last_page"].as_i64().unwrap_or(0) <= page {
            break;
        }
    }
    for entry in entries {
        let count = found.get(entry).copied().unwrap_or_default();
        checks.check(count == times, || format!("{entry} has {count} documents"));
    }
    checks.check(found.len() == entries.len(), || format!("{} entries have documents", found.len()));
    Ok(())
}

/// The memory of the typesetter that a service has started, in bytes.
fn typesetter_memory(service: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{service}/task/{service}/children")).unwrap_or_default();
    let of_threads = std::fs::read_dir(format!("/proc/{service}/task")).into_iter().flatten().flatten();
    let more = of_threads.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let all: Vec<String> = more.chain([children]).collect();
    let processes = all.iter().flat_map(|text| text.split_whitespace()).filter_map(|process| process.parse().ok());
    processes.map(|process| memory_of(process, "VmHWM:")).max().unwrap_or_default()
}
