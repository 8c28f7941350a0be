//! The rate limit as a client meets it, and maintenance, which comes before it.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use serde_json::json;

use super::service::{Answer, Checks, Client, JSON, Kind, Program, Service, XML, field, on_each_engine};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// Sixty requests a minute pass, and the answers say so.
pub(crate) const PROOF: Proof = Proof {
    name: "limit",
    claim: "60 requests a minute pass, the 61st is 429, the headers count down, and the window does not slide.",
    run: |context| on_each_engine(context, show),
};

/// The limit of the account, and that of an address without a key.
const LIMIT: u64 = 60;

/// A host name that belongs to another account than the one whose key is used there.
const OTHER_HOST: &str = "a.awards.example";

/// A run of requests that is to fit into one window begins only where the window has this much left.
const ROOM: u64 = 20;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let limited = Program { rate_limit: 60, hosts: vec![OTHER_HOST.to_owned()], ..Program::small(2) };
    let roomy = Program::second(3);
    let service = Service::with(context, engine, &[&limited, &roomy])?;
    let mut checks = Checks::default();

    let first = service.client(&service.key(&limited.account, "read")?);
    let second = service.client(&service.key(&limited.account, "read")?);
    let reset = window(&first, &mut checks, "a key")?;
    let other = second.get("/order")?;
    checks.check(other.status == 200 && other.number("x-ratelimit-remaining") == Some(LIMIT - 1), || {
        "another key of the account counts in the same window".to_owned()
    });

    addresses(&service, &mut checks)?;
    every_answer(&service, &roomy, &mut checks)?;
    let seconds = maintenance(&service, &roomy, &mut checks)?;
    if !context.short {
        while now()? < reset {
            let refused = first.get("/order")?;
            checks.check(refused.status == 429, || format!("{} before the window ended", refused.status));
            thread::sleep(Duration::from_secs(1).min(Duration::from_secs(reset.saturating_sub(now()?))));
        }
        thread::sleep(Duration::from_secs(1));
        let again = first.get("/order")?;
        checks.check(again.status == 200 && again.number("x-ratelimit-remaining") == Some(LIMIT - 1), || {
            format!("after the window {} came with {:?} left", again.status, again.number("x-ratelimit-remaining"))
        });
        println!("  {}: refused until the window ended, then 200", engine.name());
    }
    Ok(checks.verdict(&format!("60 pass, the 61st is 429, maintenance seen after {seconds:.2} s")))
}

/// Uses up one window, looks at every answer, and returns when the window ends.
fn window(client: &Client, checks: &mut Checks, of: &str) -> Result<u64> {
    let mut answer = client.get("/order")?;
    while answer.number("x-ratelimit-reset").is_some_and(|reset| reset < now().unwrap_or_default() + ROOM) {
        thread::sleep(Duration::from_secs(1));
        answer = client.get("/order")?;
    }
    let Some(reset) = answer.number("x-ratelimit-reset") else { bail!("the answer has no X-RateLimit-Reset") };
    let mut left = answer.number("x-ratelimit-remaining").unwrap_or_default();
    checks.check(left == LIMIT - 1, || format!("{of}: {left} are left after the first request"));
    checks.check(reset <= now()? + 61, || format!("{of}: the window ends at {reset}, more than a minute from now"));
    while left > 0 {
        let answer = client.get("/order")?;
        let told = ["limit", "remaining", "reset"].map(|name| answer.number(&format!("x-ratelimit-{name}")));
        checks.check(answer.status != 429, || format!("{of}: refused with {left} left"));
        checks.check(told == [Some(LIMIT), Some(left - 1), Some(reset)], || format!("{of}: {told:?} with {left} left"));
        left -= 1;
    }
    let mut waits = Vec::new();
    for _ in 0..30 {
        let answer = client.get("/order")?;
        is_refusal(&answer, checks, of);
        waits.extend(answer.number("retry-after"));
    }
    let longest = reset.saturating_sub(now()?) + 2;
    checks.check(waits.is_sorted_by(|earlier, later| earlier >= later), || format!("{of}: the wait grows: {waits:?}"));
    checks.check(waits.iter().all(|wait| (1..=longest).contains(wait)), || format!("{of}: waits {waits:?}"));
    println!("  {of}: {LIMIT} passed, then 429 with Retry-After {:?}", waits.first());
    Ok(reset)
}

fn is_refusal(answer: &Answer, checks: &mut Checks, of: &str) {
    checks.check(answer.status == 429, || format!("{of}: request over the limit was answered {}", answer.status));
    checks.check(answer.number("retry-after").is_some(), || format!("{of}: 429 without Retry-After"));
    checks.check(!answer.has_any_rate_limit_header(), || format!("{of}: 429 with X-RateLimit headers"));
    checks.check(answer.is_envelope(), || format!("{of}: 429 without the envelope: {}", answer.text()));
}

/// Requests without a key, and with keys that nobody has, count per address, together and apart from known keys.
fn addresses(service: &Service, checks: &mut Checks) -> Result<()> {
    let nobody = service.bare().with("accept", JSON);
    let mut first = nobody.get("/order")?;
    while first.number("x-ratelimit-reset").is_some_and(|reset| reset < now().unwrap_or_default() + ROOM) {
        thread::sleep(Duration::from_secs(1));
        first = nobody.get("/order")?;
    }
    let Some(limit) = first.number("x-ratelimit-limit") else { bail!("401 without X-RateLimit-Limit") };
    let left = first.number("x-ratelimit-remaining").unwrap_or_default();
    checks.check(left + 1 == limit, || format!("no key: {left} of {limit} are left after the first request"));
    for number in 0..left {
        let (answer, status) = if number % 2 == 0 {
            (nobody.get("/order")?, 401)
        } else {
            (nobody.with("x-api-key", &format!("nobody-has-this-key-{number}")).get("/order")?, 403)
        };
        checks.check(answer.status == status, || format!("no known key: {} instead of {status}", answer.status));
        checks.check(answer.number("x-ratelimit-remaining") == Some(left - number - 1), || {
            format!("no known key: {:?} left", answer.number("x-ratelimit-remaining"))
        });
    }
    is_refusal(&nobody.get("/order")?, checks, "no key");
    is_refusal(&nobody.with("x-api-key", "nor-this-one").get("/order")?, checks, "an unknown key");
    if let Some(curl) = process::find("curl") {
        let status = status_from(&curl, "127.0.0.2", &format!("{}/order", service.base()))?;
        checks.check(status == "401", || format!("another address was answered {status} instead of 401"));
    }
    println!("  addresses: {limit} passed without a known key, then 429; another address passed");
    Ok(())
}

/// The status of a request without a key that comes from this address.
fn status_from(curl: &Path, address: &str, url: &str) -> Result<String> {
    let mut command = Command::new(curl);
    command.args(["--silent", "--noproxy", "*", "--interface", address, "--header", &format!("Accept: {JSON}")]);
    process::output(command.args(["--output", "/dev/null", "--write-out", "%{http_code}", url]))
}

/// One answer of every status that can be had: each has the headers and a request id, in both formats.
fn every_answer(service: &Service, program: &Program, checks: &mut Checks) -> Result<()> {
    let (write, read) = (service.key(&program.account, "read_write")?, service.key(&program.account, "read")?);
    for (position, format) in (0..).zip([JSON, XML]) {
        let client = service.client(&write).with("accept", format);
        let reader = client.with("x-api-key", &read);
        let chapter = format!("/chapter/{}", program.slug(Kind::Chapter, 0));
        let spare = format!("/field/{}", program.slug(Kind::Field, field::SPARE + position));
        let archived = format!("/entry/{}/update-chapter", program.slug(Kind::Entry, program.entries));
        let target = json!({"chapter": program.slug(Kind::Chapter, 0)});
        // A tag depends on the program too, so that it is read after the program's last change.
        let deleted = client.delete(&spare)?;
        let shown = client.get("/order")?;
        let tag = shown.header("etag").unwrap_or_default().to_owned();
        let answers = [
            (200, shown),
            (200, client.put(&chapter, &json!({}))?),
            (204, deleted),
            (304, client.with("if-none-match", &tag).get("/order")?),
            (400, client.with("accept", "application/json").get("/order")?),
            (400, client.get("/order?per_page=101")?),
            (400, client.get("/order?no_such_filter=1")?),
            (400, client.delete("/field/short")?),
            (400, client.with("x-api-language", "xx_XX").get("/order")?),
            (400, client.send("PUT", &chapter, &[("content-type", "application/json")], Some(b"{"))?),
            (403, client.with("host", OTHER_HOST).get("/order")?),
            (403, reader.delete(&chapter)?),
            (404, client.get("/nowhere")?),
            (404, client.delete("/chapter/ZzZzZzZz")?),
            (405, client.delete("/order")?),
            (412, client.put_if(&chapter, &json!({}), Some("\"no such tag\""))?),
            (422, client.put(&chapter, &json!({"status": "sideways"}))?),
            (422, client.put(&archived, &target)?),
        ];
        for (expected, answer) in answers {
            checks.check(answer.status == expected, || {
                format!("{} instead of {expected}: {}", answer.status, answer.text())
            });
            checks.check(answer.has_rate_limit_headers(), || format!("{expected} without rate-limit headers"));
            checks.check(answer.header("x-request-id").is_some(), || format!("{expected} without x-request-id"));
        }
    }
    Ok(())
}

/// Maintenance is seen within a second, says what it was told to say and nothing else, and ends as quickly; returns
/// the longer of the two times.
fn maintenance(service: &Service, program: &Program, checks: &mut Checks) -> Result<f64> {
    let client = service.client(&service.key(&program.account, "read")?);
    let text = "Back at 12:00 <UTC> & \"rested\"";
    service.run(&["maintenance", "on", text])?.succeeded()?;
    let on = seconds_until(&client, 503)?;
    let answer = client.get("/order")?;
    checks.check(answer.json().ok() == Some(json!({"status": text})), || format!("503 with {}", answer.text()));
    for client in [client.clone(), client.without("x-api-key"), client.without("accept"), client.with("accept", XML)] {
        for path in ["/order", "/nowhere"] {
            let answer = client.get(path)?;
            checks.check(answer.status == 503, || format!("{} in maintenance", answer.status));
            checks.check(!answer.has_any_rate_limit_header(), || "503 with X-RateLimit headers".to_owned());
            checks.check(answer.text().contains("status") && !answer.text().contains("status_code"), || {
                format!("503 with {}", answer.text())
            });
        }
    }
    let ready = service.bare().get("/healthz")?.status;
    checks.check(ready == 200, || format!("/healthz is {ready} in maintenance"));
    service.run(&["maintenance", "off"])?.succeeded()?;
    let off = seconds_until(&client, 200)?;
    checks.check(on.max(off) <= 1.0, || format!("maintenance took {on:.2} s to begin and {off:.2} s to end"));
    Ok(on.max(off))
}

/// How long it takes until the service answers with this status; an error after ten seconds.
fn seconds_until(client: &Client, status: u16) -> Result<f64> {
    let begun = Instant::now();
    while client.get("/order")?.status != status {
        if begun.elapsed() > Duration::from_secs(10) {
            bail!("{status} did not come within ten seconds");
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn now() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())
}
