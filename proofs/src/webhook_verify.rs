//! Deliveries of every event, verified by the official Standard Webhooks libraries of Python and Node, and by the header
//! `Signature`: before, while and after a key is replaced, of `post` and of `get`.

mod story;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::delivery::log;
use super::receiver::{Conduct, Receiver, Request};
use super::service::{Checks, Client, Program, Service, on_each_engine};
use super::tools::Tools;
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// Stock libraries take what is sent.
pub(crate) const PROOF: Proof = Proof {
    name: "webhook-verify",
    claim: "200 deliveries of all events that are caused today are verified by the Standard Webhooks libraries of Python and \
            Node and by the hex Signature, with both keys during a rotation; another body or key is refused.",
    run: |context| on_each_engine(context, show),
};

/// The libraries.
const PYTHON: &[&str] = &["standardwebhooks==1.1.0"];
const NODE: &[&str] = &["standardwebhooks@1.1.1"];
const SCRIPT_OF_PYTHON: &str = include_str!("webhook_verify/verify.py");
const SCRIPT_OF_NODE: &str = include_str!("webhook_verify/verify.mjs");

/// The key at first, the one that replaces it, and one that nobody has.
const FIRST: &str = "FirstKeyFirstKeyFirstKeyFirstKey";
const SECOND: &str = "SecondKeySecondKeySecondKeySecondKey";
const WRONG: &str = "WrongKeyWrongKeyWrongKeyWrongKey";
/// How long deliveries may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The endpoints by their numbers: one that is posted to, and one that is got.
const METHODS: [&str; 2] = ["post", "get"];

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let wanted = if context.short { 20 } else { 200 };
    let program = Program { detail_every: 1, orders: 0, ..Program::small(31) };
    let mut service = Service::new(context, engine)?;
    service.set("PLAUDIT_WEBHOOKS_LOCAL_HOSTS", "127.0.0.1");
    service.import(&program)?;
    story::set_up(&service, &program)?;
    service.start()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let receiver = Receiver::start("127.0.0.1", Conduct::Takes, true)?;
    let webhooks = METHODS.iter().enumerate().map(|(number, method)| {
        let more = json!({"method": method, "signing_key": FIRST});
        log::subscribe(&client, &receiver.url(number), story::EVENTS, &more)
    });
    let webhooks: Vec<String> = webhooks.collect::<Result<_>>()?;
    let mut checks = Checks::default();

    let (mut told, mut boundary) = (0, 0);
    while told < 2 || receiver.arrived() < wanted {
        story::tell(&client, &program, told)?;
        settle(&client, &webhooks)?;
        told += 1;
        if told == 1 {
            boundary = receiver.requests().len();
            for webhook in &webhooks {
                rotate(&client, webhook, &mut checks)?;
            }
        }
    }
    let requests = receiver.requests();
    let faults = receiver.faults();
    checks.check(faults.is_empty(), || format!("{} requests are no deliveries: {}", faults.len(), faults[0]));
    events(&requests, &mut checks);
    let file = service.directory().join("deliveries.jsonl");
    fs::write(&file, lines(&requests, boundary)?)?;
    let by = verify(context, &file, requests.len(), &mut checks)?;
    println!("  {}: {} deliveries, {} of them with two keys", engine.name(), requests.len(), requests.len() - boundary);
    Ok(checks.verdict(&format!("{} deliveries verified {by}", requests.len())))
}

/// Gives a webhook the second key, which is shown then.
fn rotate(client: &Client, webhook: &str, checks: &mut Checks) -> Result<()> {
    let path = format!("/webhook/{webhook}");
    client.put(&path, &json!({"signing_key": SECOND}))?.expect_status(200)?;
    let shown = client.get(&path)?.expect_status(200)?.json()?;
    checks.check(shown["signing_key"] == SECOND, || format!("the key is shown as {}", shown["signing_key"]));
    Ok(())
}

/// Waits until the log has nothing pending, and nothing new comes into it.
fn settle(client: &Client, webhooks: &[String]) -> Result<()> {
    let (begun, mut last) = (Instant::now(), (usize::MAX, true));
    loop {
        let mut now = (0, false);
        for webhook in webhooks {
            now.0 += log::deliveries(client, webhook)?.len();
            now.1 |= log::is_pending(client, webhook)?;
        }
        if now == last && !now.1 && now.0 > 0 {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            bail!("deliveries are still pending");
        }
        last = now;
        thread::sleep(Duration::from_millis(500));
    }
}

/// All events came, to both endpoints, and each says what happened and when.
fn events(requests: &[Request], checks: &mut Checks) {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for request in requests {
        let is_get = request.method == "GET";
        let body: Value = if is_get {
            let query = request.target.split_once('?').map_or("", |(_, query)| query);
            query.split('&').filter_map(|part| part.split_once('=')).collect()
        } else {
            serde_json::from_slice(&request.body).unwrap_or_default()
        };
        let event = body["event"].as_str().unwrap_or_default().to_owned();
        let time = body["timestamp"].as_str().unwrap_or_default().replace("%3A", ":");
        checks.check(time.parse::<jiff::Timestamp>().is_ok(), || format!("{event} has the timestamp {time:?}"));
        if is_get {
            checks.check(request.body.is_empty(), || format!("{event} by GET has a body"));
        } else {
            let source = body["source"].as_str().unwrap_or_default();
            checks.check(["ui", "api"].contains(&source), || format!("{event} has the source {source:?}"));
            let media = request.header("content-type").unwrap_or_default();
            checks.check(media.starts_with("application/json"), || format!("{event} has the type {media:?}"));
        }
        seen.entry(if is_get { "get" } else { "post" }).or_default().insert(event);
    }
    for method in METHODS {
        let of_method = seen.remove(method).unwrap_or_default();
        for event in story::EVENTS {
            checks.check(of_method.contains(*event), || format!("{event} did not come by {method}"));
        }
        let more: Vec<_> = of_method.iter().filter(|event| !story::EVENTS.contains(&event.as_str())).collect();
        checks.check(more.is_empty(), || format!("{more:?} came by {method}, which nobody subscribed to"));
    }
}

/// The deliveries as the scripts read them: up to the boundary with the first key alone, then with both.
fn lines(requests: &[Request], boundary: usize) -> Result<String> {
    let mut lines = String::new();
    for (number, request) in requests.iter().enumerate() {
        let is_rotated = number >= boundary;
        let mut headers = serde_json::Map::new();
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature", "signature"] {
            let value = request.header(name).with_context(|| format!("a delivery without the header {name}"))?;
            headers.insert(name.to_owned(), value.into());
        }
        let line = json!({
            "what": format!("{} {}", request.method, request.target), "headers": headers,
            "body": STANDARD.encode(&request.body), "key": if is_rotated { SECOND } else { FIRST },
            "good": if is_rotated { vec![FIRST, SECOND] } else { vec![FIRST] },
            "wrong": if is_rotated { vec![WRONG] } else { vec![SECOND, WRONG] },
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    Ok(lines)
}

/// Has every delivery verified; says by what. The suite installs nothing.
fn verify(context: &Context, file: &Path, count: usize, checks: &mut Checks) -> Result<&'static str> {
    let mut run = |name: &str, command: &mut Command| {
        let printed = process::output(command).map_err(|error| format!("{error:#}"));
        let verified = printed.as_deref().map(|printed| printed.trim().parse().unwrap_or(0));
        checks.check(verified == Ok(count), || format!("{name}: {printed:?} of {count} deliveries"));
    };
    if context.short {
        let script = file.with_file_name("verify.py");
        fs::write(&script, SCRIPT_OF_PYTHON)?;
        run("Python by hand", Command::new(context.python()?).arg(script).arg(file));
        return Ok("by their definition");
    }
    let tools = Tools::install(context, "webhooks", PYTHON, NODE)?;
    let script = tools.directory().join("verify.py");
    fs::write(&script, SCRIPT_OF_PYTHON)?;
    run("the library of Python", tools.python("python").arg(script).arg(file).arg("library"));
    let script = tools.directory().join("verify.mjs");
    fs::write(&script, SCRIPT_OF_NODE)?;
    let node = process::find("node").context("this proof needs Node.js")?;
    run("the library of Node", Command::new(node).current_dir(tools.directory()).arg(script).arg(file));
    Ok("by the libraries of Python and Node")
}
