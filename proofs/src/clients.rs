//! Web clients: pages of other origins, and answers that are compressed.

use std::fs;
use std::io::Read as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::service::{Checks, Client, JSON, Kind, Program, Service, XML};
use super::tools::{self, Tools};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// A page uses the interface where it may, and answers are the same bytes however they are sent.
pub(crate) const PROOF: Proof = Proof {
    name: "clients",
    claim: "A page in Chromium on another origin uses the interface where it may and is refused where it may not; compressed and \
            plain answers are the same bytes.",
    run,
};

const NODE: &[&str] = &["puppeteer-core@25.16.0"];
const SCRIPT: &str = include_str!("clients/page.mjs");
/// An origin that may use the interface, and one that may not.
const ORIGINS: [&str; 2] = ["https://app.example.org", "https://other.example.org"];

fn run(context: &Context) -> Result<Verdict> {
    let program = Program { entries: 40, orders: 400, ..Program::small(6) };
    let mut service = Service::new(context, Engine::Sqlite)?;
    service.import(&program)?;
    service.set("PLAUDIT_SERVER_WEB_ORIGINS", ORIGINS[0]);
    service.start()?;
    let key = service.key(&program.account, "read_write")?;
    let client = service.client(&key);
    let mut checks = Checks::default();
    asks_first(&service, &mut checks)?;
    let entry = format!("/entry/{}", program.slug(Kind::Entry, 0));
    let compared = is_the_same_compressed(&client, &entry, &mut checks)?;
    let figure = format!("{compared} answers are the same in gzip, zstd and plain");
    if context.short {
        return Ok(checks.verdict(&figure));
    }
    let cost = cost(&service, &client)?;
    visit(context, &mut service, (&key, &entry), &mut checks)?;
    Ok(checks.verdict(&format!("{figure}; of a page of 100 orders {cost}")))
}

/// A browser asks before it sends a key (Fetch Standard, section 4.8).
fn asks_first(service: &Service, checks: &mut Checks) -> Result<()> {
    let asked = "x-api-key, accept, content-type, if-match, idempotency-key, x-api-language";
    for (origin, is_permitted) in ORIGINS.into_iter().zip([true, false]) {
        let headers =
            [("origin", origin), ("access-control-request-method", "PUT"), ("access-control-request-headers", asked)];
        let answer = service.bare().send("OPTIONS", "/entry/ExampleS", &headers, None)?;
        let permitted = answer.header("access-control-allow-origin");
        checks.check(answer.status == 200 && permitted == is_permitted.then_some(origin), || {
            format!("{origin} is answered {} and {permitted:?}", answer.status)
        });
        let told = |name: &str| answer.header(name).unwrap_or_default().to_ascii_lowercase();
        let has_all = asked
            .split(", ")
            .all(|name| told("access-control-allow-headers").split(',').any(|word| word.trim() == name));
        let has_method = told("access-control-allow-methods").contains("put");
        checks.check(has_all && has_method && answer.header("x-request-id").is_some(), || {
            format!("{:?}", answer.headers)
        });
        checks.check(told("vary").contains("origin"), || format!("{origin}: caches are told {:?}", told("vary")));
        checks.check(answer.header("access-control-allow-credentials").is_none(), || format!("{:?}", answer.headers));
    }
    // Without a method it is no question of a browser.
    let plain = service.bare().send("OPTIONS", "/entry/ExampleS", &[("origin", ORIGINS[0])], None)?;
    checks.check(matches!(plain.status, 400 | 401 | 405), || format!("OPTIONS is answered {}", plain.status));
    Ok(())
}

/// Asks for answers of every sort in every way; returns how many were compared.
fn is_the_same_compressed(client: &Client, entry: &str, checks: &mut Checks) -> Result<usize> {
    let paths = ["/order?per_page=100", "/entry?per_page=40", entry, "/openapi.json", "/docs", "/category", "/nowhere"];
    let mut compared = 0;
    for path in paths {
        for format in [JSON, XML] {
            let client = client.with("accept", format);
            let plain = client.get(path)?;
            checks.check(plain.header("content-encoding").is_none(), || format!("{path} is compressed unasked"));
            for coding in ["gzip", "zstd"] {
                let answer = client.with("accept-encoding", coding).get(path)?;
                let bytes = decoded(answer.header("content-encoding"), &answer.body)?;
                checks.check(bytes == plain.body, || format!("{path} in {coding} is another answer"));
                let is_long = plain.body.len() > 4_096;
                checks.check(!is_long || answer.header("content-encoding") == Some(coding), || {
                    format!("{path} is not in {coding}")
                });
                for name in ["etag", "content-type"] {
                    checks.check(answer.header(name) == plain.header(name), || format!("{path}: {name} is another"));
                }
                compared += 1;
            }
            let refused = client.with("accept-encoding", "identity, gzip;q=0").get(path)?;
            checks.check(refused.header("content-encoding").is_none(), || {
                format!("{path} is compressed against the client's will")
            });
        }
    }
    Ok(compared)
}

fn decoded(coding: Option<&str>, body: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match coding {
        None => bytes.extend_from_slice(body),
        Some("gzip") => drop(flate2::read::GzDecoder::new(body).read_to_end(&mut bytes)?),
        Some("zstd") => drop(zstd::Decoder::new(body)?.read_to_end(&mut bytes)?),
        Some(other) => bail!("an answer is encoded in {other}"),
    }
    Ok(bytes)
}

/// What the same pages cost in every coding: bytes, and the processor time of the service.
fn cost(service: &Service, client: &Client) -> Result<String> {
    let mut told = Vec::new();
    for coding in ["identity", "gzip", "zstd"] {
        let client = client.with("accept-encoding", coding);
        let (before, mut bytes) = (processor_time(service)?, 0);
        for _ in 0..200 {
            bytes = client.get("/order?per_page=100")?.expect_status(200)?.body.len();
        }
        // In hundredths of a second, so that a request has half as many microseconds in ten thousands.
        let microseconds = (processor_time(service)? - before) * 50;
        told.push(format!("{coding} has {bytes} bytes and takes {microseconds} us"));
    }
    Ok(told.join(", "))
}

/// The processor time of the service, in hundredths of a second.
fn processor_time(service: &Service) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", service.process().context("the service does not run")?))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}

/// A page of another origin in Chromium, where the service permits that and where it does not.
fn visit(context: &Context, service: &mut Service, (key, entry): (&str, &str), checks: &mut Checks) -> Result<()> {
    let chromium = tools::debian("chromium", "chromium")?;
    let tools = Tools::install(context, "clients", &[], NODE)?;
    let script = tools.directory().join("page.mjs");
    fs::write(&script, SCRIPT)?;
    let port = super::service::free_port()?;
    for is_permitted in [true, false] {
        service.stop()?;
        let origin = if is_permitted { format!("http://localhost:{port}") } else { ORIGINS[0].to_owned() };
        service.set("PLAUDIT_SERVER_WEB_ORIGINS", &origin);
        service.start()?;
        let mut node = Command::new("node");
        node.arg(&script).arg(&chromium).arg(port.to_string()).arg(service.base()).args([key, entry]);
        let seen: Value =
            serde_json::from_str(&process::output(&mut node)?).context("the visit ended without a word")?;
        let expected = if is_permitted { "done" } else { "refused" };
        for step in ["read", "changed", "faults", "listed"] {
            checks.check(seen[step] == expected, || format!("a page of {origin}: {step} is {}", seen[step]));
        }
    }
    Ok(())
}
