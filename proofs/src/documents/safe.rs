//! `documents-safe`: templates that mean harm, beside an honest client.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::made::{Maker, request};
use super::message;
use crate::service::{Checks, Kind, Program, on_each_engine};
use crate::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "documents-safe",
    claim: "A template that loops for ever, reads outside its files, nests without end or eats memory is stopped with a clear error, \
            and neither another account nor any request is harmed.",
    run: |context| {
        let first = context.engines().first().copied().filter(|_| context.short);
        first.map_or_else(|| on_each_engine(context, show), |engine| show(context, engine))
    },
};

/// A template by its slug and text, and what its error tells.
const HOSTILE: &[(&str, &str, &[&str])] = &[
    ("HarmLoop", "#while true { }", &["always true"]),
    (
        "HarmLoag",
        "#let f(n) = { let i = 0; while i < 100000000 { i += 1; if i == 99999 { i = 0 } } }\n#f(1)",
        &["infinite", "seconds"],
    ),
    ("HarmRecu", "#let f(n) = f(n + 1)\n#f(0)", &["depth", "memory"]),
    (
        "HarmNest",
        "#let f(n) = if n == 0 [x] else { block(f(n - 1)) }\n#let g(n, c) = { for i in range(n) { c = block(c) }; c }\n#g(200000, [x])",
        &["depth", "memory", "seconds"],
    ),
    ("HarmText", "#let a = \"x\" * 100000\n#for i in range(100000) { a += a }", &["memory", "seconds", "string"]),
    ("HarmList", "#let a = range(1000)\n#for i in range(60) { a = a + a }", &["memory", "seconds"]),
    ("HarmPage", "#for i in range(100000000) [ #i #pagebreak() ]", &["memory", "seconds"]),
    ("HarmRead", "#read(\"/etc/passwd\")", &["not found"]),
    ("HarmOutr", "#read(\"../../../etc/passwd\")", &["escape", "not found", "outside"]),
    ("HarmSelf", "#read(\"/proc/self/environ\")", &["not found"]),
    ("HarmPack", "#import \"@preview/cetz:0.3.0\": *", &["package"]),
    ("HarmPlug", "#plugin(\"evil.wasm\")", &["unknown variable"]),
    ("HarmPict", "#image(bytes((137, 80, 78, 71)))", &["image", "decode", "format"]),
    ("HarmPani", "#panic(\"stop\")", &["stop"]),
    ("HarmSynt", "#let x = (", &["unclosed"]),
    ("HarmName", "#no_such_name", &["unknown variable"]),
];

/// The bar of the honest client's answers beside a busy typesetter.
const SERVED_WITHIN: Duration = Duration::from_secs(1);
/// The memory that the service may have held.
const MEMORY: u64 = 400 << 20;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let mut maker = Maker::begin(context, engine)?;
    let other = Program { account: "OtherAcc".to_owned(), letter: 'o', ..Program::small(1) };
    maker.service.import(&other)?;
    let key = maker.service.key(&other.account, "read_write")?;
    maker.service.stop()?;
    maker.service.set("PLAUDIT_DOCUMENTS_TIMEOUT_SECONDS", if context.short { "2" } else { "5" });
    maker.service.set("PLAUDIT_DOCUMENTS_MEGABYTES", "512");
    maker.service.set("PLAUDIT_DOCUMENTS_TOGETHER", "1");
    maker.service.start()?;
    maker.add(&HOSTILE.iter().map(|(slug, text, _)| (*slug, *text)).collect::<Vec<_>>())?;
    maker.add(&[("HarmNone", "= #entry.title")])?;
    let (client, entry) = (maker.service.client(&key), other.slug(Kind::Entry, 0));
    let (mut checks, mut slowest) = (Checks::default(), Duration::ZERO);
    for (slug, _, told) in HOSTILE {
        let begun = Instant::now();
        let job = maker.begin_job(&request(slug, "PDF", &["EnHarbor", "EntLamps"]))?;
        let after = maker.begin_job(&request("HarmNone", "PDF", &["EnHarbor"]))?;
        let (mut served, mut failures) = (Vec::new(), Vec::new());
        let ended = thread::scope(|scope| -> Result<_> {
            let ended = scope.spawn(|| maker.ended(&job));
            while !ended.is_finished() {
                let asked = Instant::now();
                match client.get(&format!("/entry/{entry}")).and_then(|answer| answer.expect_status(200)) {
                    Ok(_) => served.push(asked.elapsed()),
                    Err(error) => failures.push(error.to_string()),
                }
                thread::sleep(Duration::from_millis(20));
            }
            ended.join().map_err(|_| anyhow::anyhow!("the job could not be watched"))?
        })?;
        let longest = served.into_iter().max().unwrap_or_default();
        slowest = slowest.max(longest);
        let text = message(&ended).to_owned();
        println!("  {slug}: {:.1} s: {text}", begun.elapsed().as_secs_f64());
        checks.check(failures.is_empty(), || format!("{slug}: {}", failures.join("; ")));
        checks.check(ended["state"] == "done" && ended["progress"]["failed"] == 2, || format!("{slug}: {ended}"));
        let lower = text.to_lowercase();
        checks.check(told.iter().any(|told| lower.contains(told)), || format!("{slug} is told as {text:?}"));
        checks.check(!text.contains("/home") && !text.contains("/root"), || format!("{slug} tells a path: {text}"));
        let after = maker.ended(&after)?;
        checks.check(after["progress"]["done"] == 1, || format!("after {slug}: {after}"));
        if !context.short {
            checks.check(longest < SERVED_WITHIN, || {
                format!("{slug}: a client was served after {} ms", longest.as_millis())
            });
        }
    }
    let peak = maker.service.peak_memory()?;
    checks.check(peak < MEMORY, || format!("the service held {} MB", peak >> 20));
    let figure = format!(
        "{} templates, others served within {} ms, the service held {} MB",
        HOSTILE.len(),
        slowest.as_millis(),
        peak >> 20
    );
    Ok(checks.verdict(&figure))
}
