//! The window of a key is one across the nodes that serve one PostgreSQL.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};

use super::service::{Answer, Checks, Client, Program, Service};
use super::{Context, Engine, Proof, Verdict};

/// Nodes together let through what one alone does.
pub(crate) const PROOF: Proof = Proof {
    name: "limit-nodes",
    claim: "Of 180 concurrent requests of a key over three nodes exactly 60 pass, in every window and for every key.",
    run: show,
};

/// Requests a minute of a key of the first account.
const LIMIT: u32 = 60;
/// How many requests of a key there are at once.
const REQUESTS: usize = 180;
/// Requests a minute of the other account: so many that a node takes several of them at once.
const LARGE_LIMIT: usize = 3_000;
/// What a node takes of that at once, and so what it may leave unused.
const LEASE: usize = 3;
/// Threads that use up the large limit.
const THREADS: usize = 12;

fn show(context: &Context) -> Result<Verdict> {
    if context.engine == Some(Engine::Sqlite) {
        return Ok(Verdict::new(true, "SQLite has one node, whose windows `limit` shows"));
    }
    let limited = Program { rate_limit: LIMIT, ..Program::small(5) };
    let large = Program { rate_limit: u32::try_from(LARGE_LIMIT)?, ..Program::second(6) };
    let first = Service::with(context, Engine::Postgres, &[&limited, &large])?;
    let nodes = [first.beside()?, first.beside()?, first];
    let mut checks = Checks::default();

    let (key_count, windows) = if context.short { (2, 1) } else { (10, 3) };
    let keys: Vec<String> = (0..key_count).map(|_| nodes[0].key(&limited.account, "read")).collect::<Result<_>>()?;
    for window in 1..=windows {
        let mut ends = 0;
        for key in &keys {
            ends = ends.max(use_up(&nodes, key, window, &mut checks)?);
        }
        println!("  window {window}: {LIMIT} of {REQUESTS} requests of each of {key_count} keys passed");
        if window < windows {
            thread::sleep(Duration::from_secs((ends + 1).saturating_sub(now()?)));
        }
    }
    let passed = use_up_large(&nodes, &nodes[0].key(&large.account, "read")?)?;
    let least = LARGE_LIMIT - nodes.len() * (LEASE - 1);
    checks.check((least..=LARGE_LIMIT).contains(&passed), || format!("{passed} of {LARGE_LIMIT} requests passed"));
    println!("  {passed} requests passed where the limit is {LARGE_LIMIT}");
    Ok(checks.verdict(&format!("{LIMIT} of {REQUESTS} passed for {key_count} keys in each of {windows} windows")))
}

/// Sends all requests of a key at once, looks at every answer, and returns when the window ends.
fn use_up(nodes: &[Service; 3], key: &str, window: u32, checks: &mut Checks) -> Result<u64> {
    let barrier = Barrier::new(REQUESTS);
    let clients = (0..REQUESTS).map(|number| nodes[number % nodes.len()].client(key));
    let answers: Vec<Answer> = at_once(clients.collect(), |client| {
        barrier.wait();
        Ok(vec![client.get("/order")?])
    })?;
    let of = format!("window {window}");
    let (passed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    checks.check(passed.len() == usize::try_from(LIMIT)?, || format!("{of}: {} passed", passed.len()));
    let mut left: Vec<_> = passed.iter().filter_map(|answer| answer.number("x-ratelimit-remaining")).collect();
    left.sort_unstable();
    checks.check(left.iter().copied().eq(0..u64::from(LIMIT)), || format!("{of}: the answers count down {left:?}"));
    let reset = passed.first().and_then(|answer| answer.number("x-ratelimit-reset")).context("there is no reset")?;
    for answer in passed {
        let told = ["limit", "reset"].map(|name| answer.number(&format!("x-ratelimit-{name}")));
        checks.check(told == [Some(u64::from(LIMIT)), Some(reset)], || format!("{of}: {told:?}, not reset {reset}"));
    }
    let now = now()?;
    for answer in refused {
        let wait = answer.number("retry-after").unwrap_or_default();
        checks.check(answer.status == 429 && answer.is_envelope(), || format!("{of}: {}", answer.text()));
        checks.check(!answer.has_any_rate_limit_header(), || format!("{of}: 429 with X-RateLimit headers"));
        checks.check(wait >= 1 && (now + wait).abs_diff(reset) <= 3, || {
            format!("{of}: at {now} one shall wait {wait} s for a window that ends at {reset}")
        });
    }
    Ok(reset)
}

/// How many requests of a key pass until every node refuses it.
fn use_up_large(nodes: &[Service; 3], key: &str) -> Result<usize> {
    let clients = (0..THREADS).map(|number| nodes[number % nodes.len()].client(key));
    let answers = at_once(clients.collect(), |client| {
        let mut answers = Vec::new();
        while answers.last().is_none_or(|answer: &Answer| answer.status == 200) {
            answers.push(client.get("/season")?);
        }
        Ok(answers)
    })?;
    Ok(answers.iter().filter(|answer| answer.status == 200).count())
}

/// Has every client work in a thread of its own, and gives what they were answered.
fn at_once(clients: Vec<Client>, work: impl Fn(&Client) -> Result<Vec<Answer>> + Sync) -> Result<Vec<Answer>> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = clients.into_iter().map(|client| scope.spawn(move || work(&client))).collect();
        let answers = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?);
        Ok(answers.collect::<Result<Vec<_>>>()?.concat())
    })
}

fn now() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())
}
