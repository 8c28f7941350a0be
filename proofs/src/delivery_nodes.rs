//! Deliveries by three nodes on one database, of which one after the other is killed: the others take its work over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};

use super::delivery::{Trial, configure, program};
use super::service::{Checks, Service};
use super::{Context, Engine, Proof, Verdict};

/// Nodes share the work, and a node that dies hands it over.
pub(crate) const PROOF: Proof = Proof {
    name: "delivery-nodes",
    claim: "Of 100,000 changes over three nodes, one of which is killed every 10 s and one in the end for good, every event \
            arrives at three endpoints that fail at random, in order of its record; the log shows every attempt.",
    run: show,
};

/// How often a node is killed, and how long it is down: longer than its leases last.
const EVERY: Duration = Duration::from_secs(10);
const DOWN: Duration = Duration::from_secs(5);

fn show(context: &Context) -> Result<Verdict> {
    if !context.engines().contains(&Engine::Postgres) {
        return Ok(Verdict::new(true, "SQLite has one node, whose deliveries `delivery` shows"));
    }
    let (changes, entries, lease) = if context.short { (1_000, 200, 1) } else { (100_000, 4_000, 2) };
    let program = program(entries);
    let mut first = Service::new(context, Engine::Postgres)?;
    configure(&mut first, lease);
    first.measure()?;
    first.import(&program)?;
    first.start()?;
    let mut nodes = [first.beside()?, first.beside()?, first];
    let key = nodes[0].key(&program.account, "read_write")?;
    // The node that makes the webhooks is woken for them; it is the one that is killed first.
    let trial = Trial::begin(&program, nodes[0].client(&key), changes)?;
    let clients: Vec<_> = nodes.iter().map(|node| node.client(&key)).collect();
    let mut checks = Checks::default();

    let begun = Instant::now();
    let (mut kills, mut shared) = (0, 0);
    let written = trial.while_written(&clients, || {
        if context.short {
            trial.wait_for(0.3)?;
        } else {
            (kills, shared) = kill_in_turn(&mut nodes, &trial, &mut checks)?;
            checks.check(shared > 0, || "there was no time in which all endpoints were sent something".to_owned());
        }
        kills += 1;
        nodes[0].kill()
    })?;
    let trial = trial.with_client(nodes[1].client(&key));
    trial.settle(&written, &mut checks)?;
    let seconds = begun.elapsed().as_secs_f64();
    checks.check(nodes[0].process().is_none(), || "the node that was killed for good is there again".to_owned());
    let figure = trial.judge(&written, &mut checks)?;
    let figure = format!("{kills} kills, work shared in {shared} intervals, {figure}");
    println!("  {figure} in {seconds:.0} s");
    for mut node in nodes {
        node.kill()?;
    }
    Ok(checks.verdict(&format!("3 nodes, {figure}")))
}

/// Kills one node after the other and starts it again, until most has arrived; gives how often, and in how many intervals between
/// two kills, all endpoints being sent something up to the end, each node has delivered.
fn kill_in_turn(nodes: &mut [Service; 3], trial: &Trial<'_>, checks: &mut Checks) -> Result<(u32, u32)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let waited = trial.wait_for(0.9);
            is_over.store(true, Ordering::SeqCst);
            waited
        });
        let (mut kills, mut shared) = (0, 0);
        for node in (0..nodes.len()).cycle() {
            let due = Instant::now() + EVERY;
            nodes[node].kill()?;
            kills += 1;
            let before = delivered(nodes)?;
            thread::sleep(DOWN);
            nodes[node].start().with_context(|| format!("node {node}"))?;
            while Instant::now() < due && !is_over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
            }
            if is_over.load(Ordering::SeqCst) {
                break;
            }
            if trial.is_busy() {
                shared += 1;
                for (number, (after, before)) in delivered(nodes)?.into_iter().zip(before).enumerate() {
                    checks
                        .check(after > before, || format!("node {number} delivered nothing before kill {}", kills + 1));
                }
            }
        }
        waiting.join().map_err(|_| anyhow!("the one who waits panicked"))??;
        Ok((kills, shared))
    })
}

/// How many deliveries have arrived by each node since it was started; none by one that is down.
fn delivered(nodes: &[Service]) -> Result<Vec<u64>> {
    let delivered = |node: &Service| match node.process() {
        Some(_) => node.figure("plaudit_webhook_attempts_total{outcome=\"delivered\"}"),
        None => Ok(0),
    };
    nodes.iter().map(delivered).collect()
}
