//! A list after a change of its account against one without: the view is brought up to date by the request that needs it.

use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::listing::{List, Pages};
use crate::load::median;
use crate::machine::Processes;
use crate::plaudit::Server;
use crate::put;
use crate::report::{Report, microseconds};

/// Entries that are changed in turn.
const CHANGED: usize = 16;

/// How many times as many turns as behind the median of a page: what a change adds is small.
const TURNS: usize = 10;

/// A list after a change costs at most this many times what it costs without one.
const BAR: f64 = 1.3;

/// What the server does after an answer belongs to that request, and is done by then.
const SETTLED: Duration = Duration::from_millis(2);

/// Random pages of the list at an address, in turn after a request that changes an entry and after one that changes nothing.
pub(crate) fn measure(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
    address: &str,
) -> Result<()> {
    let server = Server::start(context, &filled.url)?;
    let mut client = Client::connect(server.address)?;
    let (setup, key) = (&mut client, &filled.key);
    let pages = Pages::of(setup, List::new(address, "season=all", key), usize::MAX)?;
    // The entries are in the view as well, so that their changes are brought into it.
    List::new("/entry", "season=all", key).read(setup, 1)?;
    let changes = put::by_trial(setup, key, CHANGED)?;
    let processes = server.processes(engine.postmaster()?);
    let mut spelled = pages.requests(client::JSON).into_iter().cycle();
    let mut page = || spelled.next().context("there are no pages");
    let (mut without, mut after, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    // The first turns warm up.
    let turns = context.turns * TURNS;
    for (turn, change) in changes.iter().cycle().take(turns + changes.len()).enumerate() {
        let mut cost = |request: &[u8]| cost(&mut client, &processes, request);
        let (write, page_after) = (cost(change)?, cost(&page()?)?);
        // The same request once more changes nothing and leaves the processor's caches as they were before the other page.
        cost(change)?;
        let page_without = cost(&page()?)?;
        if turn >= changes.len() {
            writes.push(write);
            after.push(page_after);
            without.push(page_without);
        }
    }
    server.stop()?;
    let [without, writes, after] = [without, writes, after].map(median);
    let name = format!("{}: GET {address}", engine.label());
    report.figure(format!("{name} without a change"), without, "us a page");
    report.figure(format!("{name} after a change"), after, "us a page");
    report.figure(format!("{name}: the change itself, not counted"), writes, "us a change");
    report.at_most(format!("{name} after a change against one without"), BAR, after / without, "");
    Ok(())
}

/// The processor time of a request in microseconds.
fn cost(client: &mut Client, processes: &Processes, request: &[u8]) -> Result<f64> {
    let before = processes.used()?;
    client.time(request)?;
    thread::sleep(SETTLED);
    Ok(microseconds(processes.used()?.saturating_sub(before)))
}
