//! What an operator meets: wrong settings, stops, the log, measurements, and a database that is away.

mod settings;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::kill;
use super::receiver::{Conduct, Receiver};
use super::service::{Checks, Client, Kind, Program, Service};
use super::tools;
use super::{Context, Engine, Proof, Verdict};

/// The service tells an operator what is wrong, and ends when it is asked to.
pub(crate) const PROOF: Proof = Proof {
    name: "operate",
    claim: "A wrong setting is told with its place and a remedy; an idle service stops within 100 ms, and a busy one loses nothing; \
            every line of the log parses and tells whose request it is of, and none has a secret; promtool has nothing to say; a \
            collector of OpenTelemetry is told of requests.",
    run: show,
};

/// Within which an idle service stops.
const IDLE_STOP: Duration = Duration::from_millis(100);

/// The same in the short form, which runs on busy machines: a stop that waits for a connection or a timer is seen.
const IDLE_STOP_SHORT: Duration = Duration::from_secs(2);

/// What no line of the log may have: the passwords that this service is given.
const SECRETS: [(&str, &str, &str); 2] = [
    ("PLAUDIT_MAIL_URL", "smtp://plaudit:mailSecretWord@127.0.0.1:1", "mailSecretWord"),
    ("PLAUDIT_STORAGE_SECRET_ACCESS_KEY", "storageSecretWord", "storageSecretWord"),
];

fn show(context: &Context) -> Result<Verdict> {
    let mut checks = Checks::default();
    let wrong = settings::are_told(context, &mut checks)?;
    let mut slowest = Duration::ZERO;
    for engine in context.engines() {
        slowest = slowest.max(stops_at_once(context, engine, &mut checks)?);
        let acknowledged = kill::stop_under_load(context, engine, &mut checks)?;
        println!("  {}: stops under load after {acknowledged} acknowledged changes", engine.name());
        let lines = tells(context, engine, &mut checks)?;
        println!("  {}: {lines} lines of the log", engine.name());
    }
    is_traced(context, &mut checks)?;
    if context.engines().contains(&Engine::Postgres) {
        bears_a_database_that_is_away(context, &mut checks)?;
    }
    let figure = format!("{wrong} wrong settings told; an idle stop took at most {} ms", slowest.as_millis());
    Ok(checks.verdict(&figure))
}

/// Stops an idle service, to which a client has an open connection, and measures how long that takes.
fn stops_at_once(context: &Context, engine: Engine, checks: &mut Checks) -> Result<Duration> {
    let program = Program::small(2);
    let mut service = Service::with(context, engine, &[&program])?;
    let key = service.key(&program.account, "read")?;
    let (rounds, bar) = if context.short { (2, IDLE_STOP_SHORT) } else { (10, IDLE_STOP) };
    let mut slowest = Duration::ZERO;
    for round in 1..=rounds {
        let client = service.client(&key);
        client.get("/order")?.expect_status(200)?;
        // What the first list began in the background has ended by then.
        thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        service.stop()?;
        let took = begun.elapsed();
        checks.check(took < bar, || format!("{}: stop {round} took {took:?}", engine.name()));
        slowest = slowest.max(took);
        service.start()?;
    }
    Ok(slowest)
}

/// Makes requests of every sort, and reads what the service wrote of them; returns how many lines that is.
fn tells(context: &Context, engine: Engine, checks: &mut Checks) -> Result<usize> {
    let program = Program::small(3);
    let mut service = Service::new(context, engine)?;
    service.set("PLAUDIT_LOG_FORMAT", "json");
    service.set("PLAUDIT_LOG_LEVEL", "debug");
    for (variable, text, _) in SECRETS {
        service.set(variable, text);
    }
    service.import(&program)?;
    service.measure()?;
    service.start()?;
    let key = service.key(&program.account, "read_write")?;
    let client = service.client(&key);
    let entry = format!("/entry/{}", program.slug(Kind::Entry, 0));
    client.get(&entry)?.expect_status(200)?;
    client.get("/order?per_page=1")?.expect_status(200)?;
    client.put(&entry, &json!({"title": 1}))?.expect_status(422)?;
    client.get("/nowhere")?.expect_status(404)?;
    client.with("accept", "text/plain").get(&entry)?.expect_status(400)?;
    client.without("x-api-key").get(&entry)?.expect_status(401)?;
    service.client("plaudit_notAKeyOfAnybody").get(&entry)?.expect_status(403)?;
    service.bare().get("/readyz")?.expect_status(200)?;
    let hook =
        json!({"name": "Hook", "method": "post", "url": "https://hooks.example.org/", "events": ["entry_updated"]});
    let hook = client.post("/webhook", &hook)?.expect_status(201)?.json()?;
    let webhook_secret = hook["signing_key"].as_str().context("a webhook has no signing key")?.to_owned();
    let failed = fail(context, &service, &client, &entry)?;
    promtool(context, &service.metrics()?, checks)?;
    service.stop()?;

    let written = fs::read_to_string(service.directory().join("serve.log"))?;
    for secret in SECRETS.iter().map(|(_, _, secret)| *secret).chain([key.as_str(), webhook_secret.as_str()]) {
        checks.check(!written.contains(secret), || format!("{}: the log has {secret}", engine.name()));
    }
    let (mut lines, mut said) = (0, BTreeSet::new());
    for line in written.lines().filter(|line| !line.starts_with("listening on ")) {
        lines += 1;
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            checks.check(false, || format!("{}: a line is no JSON: {line}", engine.name()));
            continue;
        };
        said.extend(line["message"].as_str().map(str::to_owned));
        checks.check(["timestamp", "level", "target"].iter().all(|name| line[*name].is_string()), || line.to_string());
        has_fields(&line, &program.account, checks);
    }
    for message in [
        "plaudit has started",
        "a view was loaded",
        "plaudit stops: what was accepted is finished",
        "plaudit has stopped",
    ] {
        checks.check(said.contains(message), || format!("{}: the log has no {message:?}", engine.name()));
    }
    let cause = written.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let cause = cause.filter(|line| line["span"]["id"] == failed.as_str() && line["level"] == "ERROR");
    let causes: Vec<Value> = cause.collect();
    checks.check(causes.len() == 1 && causes[0]["cause"].is_string(), || format!("of a fault the log has {causes:?}"));
    Ok(lines)
}

/// A line of a request has what tells whose it is.
fn has_fields(line: &Value, account: &str, checks: &mut Checks) {
    if line["target"] != "plaudit::request" && line["span"]["name"] != "request" {
        return;
    }
    let span = &line["span"];
    checks.check(["id", "client", "method", "route", "path"].iter().all(|name| span[*name].is_string()), || {
        format!("a line lacks fields of its request: {line}")
    });
    if line["target"] == "plaudit::request" {
        checks.check(line["status"].is_u64() && line["microseconds"].is_u64(), || line.to_string());
        let is_of_key = !matches!(line["status"].as_u64(), Some(401 | 403)) && span["route"] != "/readyz";
        let is_known = span["account"] == account && span["key"].is_string();
        checks.check(is_known || !is_of_key, || format!("a line does not tell whose request it is of: {line}"));
    }
}

/// Has a request fail by a fault of the service, and gives its identifier.
fn fail(context: &Context, service: &Service, client: &Client, path: &str) -> Result<String> {
    service.tamper(context, "ALTER TABLE entries RENAME TO entries_hidden")?;
    let answer = client.get(path)?;
    service.tamper(context, "ALTER TABLE entries_hidden RENAME TO entries")?;
    let answer = answer.expect_status(500)?;
    answer.header("x-request-id").map(str::to_owned).context("a fault has no identifier")
}

/// What Prometheus' own tool says of the measurements. Without it, every family has its help and its type.
fn promtool(context: &Context, text: &str, checks: &mut Checks) -> Result<()> {
    let families = |word: &str| -> BTreeSet<String> {
        let of = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        of.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    let (help, kinds) = (families("# HELP"), families("# TYPE"));
    checks.check(help == kinds && help.len() > 30, || {
        format!("{} families have help and {} a type", help.len(), kinds.len())
    });
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        checks.check(kinds.contains(name) || kinds.contains(base), || format!("{line} is of no family"));
    }
    if context.short {
        return Ok(());
    }
    let mut promtool = Command::new(tools::debian("promtool", "prometheus")?);
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = promtool.spawn()?;
    std::io::Write::write_all(&mut child.stdin.take().context("promtool takes no input")?, text.as_bytes())?;
    let said = child.wait_with_output()?;
    let words = [said.stdout, said.stderr].concat();
    checks
        .check(said.status.success() && words.is_empty(), || format!("promtool: {}", String::from_utf8_lossy(&words)));
    Ok(())
}

/// A collector of OpenTelemetry is told of requests under its names, each a part of the trace that it names; without one,
/// requests are served all the same.
fn is_traced(context: &Context, checks: &mut Checks) -> Result<()> {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let collector = Receiver::start("127.0.0.1", Conduct::Takes, true)?;
    let program = Program::small(5);
    let mut service = Service::new(context, Engine::Sqlite)?;
    service.import(&program)?;
    let key = service.key(&program.account, "read")?;
    service.set("PLAUDIT_TRACES_URL", &format!("http://127.0.0.1:{}/v1/traces", collector.port()));
    service.start()?;
    let path = format!("/entry/{}", program.slug(Kind::Entry, 0));
    let client = service.client(&key).with("traceparent", &format!("00-{TRACE}-00f067aa0ba902b7-01"));
    client.get(&path)?.expect_status(200)?;
    service.stop()?;
    let told: Vec<u8> = collector.requests().into_iter().flat_map(|request| request.body).collect();
    let has = |bytes: &[u8]| told.windows(bytes.len()).any(|window| window == bytes);
    let trace: Vec<u8> =
        (0..16).filter_map(|byte| u8::from_str_radix(&TRACE[2 * byte..2 * byte + 2], 16).ok()).collect();
    checks.check(has(&trace), || "the collector is told nothing of the trace of the request".to_owned());
    for word in
        ["GET /entry/{slug}", "http.route", "http.response.status_code", "plaudit.account", &program.account, &path]
    {
        checks.check(has(word.as_bytes()), || format!("the collector is not told {word}"));
    }
    checks.check(!has(key.as_bytes()), || "the collector is told the key".to_owned());
    drop(collector);
    service.start()?;
    client.get(&path)?.expect_status(200)?;
    service.stop()?;
    Ok(())
}

/// A service whose database is away says so without a word of where that is, and goes on when it is back.
fn bears_a_database_that_is_away(context: &Context, checks: &mut Checks) -> Result<()> {
    let program = Program::small(4);
    let service = Service::with(context, Engine::Postgres, &[&program])?;
    let client = service.client(&service.key(&program.account, "read")?);
    client.get("/order")?.expect_status(200)?;
    context.postgres()?.crash()?;
    let (answer, ready) = (client.get("/order")?, service.bare().get("/readyz")?);
    context.postgres()?.restart()?;
    let body = answer.json()?;
    let is_told = answer.status == 503 && answer.number("retry-after").is_some() && !answer.has_any_rate_limit_header();
    checks.check(is_told && body["status"].is_string() && body.as_object().is_some_and(|body| body.len() == 1), || {
        format!("without a database a request is answered {}: {}", answer.status, answer.text())
    });
    let is_not_ready = ready.status == 503 && ready.text().contains("database: does not answer");
    checks.check(is_not_ready, || format!("without a database /readyz says {}: {}", ready.status, ready.text()));
    let named = ["127.0.0.1", "socket", "postgres", "refused"].iter().any(|word| answer.text().contains(word));
    checks.check(!named, || format!("an answer tells of the database: {}", answer.text()));
    let written = fs::read_to_string(service.directory().join("serve.log"))?;
    checks.check(written.contains("the database did not answer a request"), || service.last_words());
    let begun = Instant::now();
    while client.get("/order")?.status != 200 && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(100));
    }
    println!("  PostgreSQL: served again {:.1} s after it was back", begun.elapsed().as_secs_f64());
    client.get("/order")?.expect_status(200)?;
    Ok(())
}
