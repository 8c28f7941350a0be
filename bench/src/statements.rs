//! The number of statements of a request is the same at every number of rows.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::load::float;
use crate::plaudit::Server;
use crate::put::{self, Move};
use crate::report::Report;

/// The counter of the server.
const COUNTER: &str = "plaudit_db_statements_total";

/// Requests between two readings of the counter.
const REQUESTS: usize = 10;

/// What the server asks at times of its own may fall between two readings, so the smallest difference counts.
const ATTEMPTS: usize = 5;

/// Counts at every size and holds the numbers against each other.
pub(crate) fn measure(context: &Context, report: &mut Report, engine: &Engine) -> Result<()> {
    let label = engine.label();
    let mut counts: [Vec<f64>; 4] = Default::default();
    for size in context.sizes {
        let filled = engine.filled(context, size, size)?;
        let moves = put::moves(context, &filled, REQUESTS * (ATTEMPTS + 1))?;
        let copy = engine.copy(context, &filled, "plaudit_bench_statements")?;
        let server = Server::start(context, &copy.url)?;
        let counted = count(&server, &copy, &moves);
        server.stop()?;
        engine.remove(context, &copy.name)?;
        engine.release(context, &filled)?;
        for (counts, counted) in counts.iter_mut().zip(counted?) {
            counts.push(counted);
        }
    }
    let sizes: Vec<String> = context.sizes.iter().map(u64::to_string).collect();
    let sizes = sizes.join(", ");
    let [first, last, written, after] = counts;
    report.same(format!("{label}: statements of GET /order at {sizes} rows"), &first);
    report.same(format!("{label}: statements of its last page"), &last);
    report.same(format!("{label}: statements of PUT update-chapter"), &written);
    // One that writes and one that reads.
    let after: Vec<f64> = after.into_iter().map(|each| each * 2.0).collect();
    report.same(format!("{label}: statements of PUT update-chapter and GET /entry after it"), &after);
    Ok(())
}

/// Statements a request: of the first page, of the last page, of a write, and of writes and lists in turn.
fn count(server: &Server, filled: &Filled, moves: &[Move]) -> Result<[f64; 4]> {
    let mut client = Client::connect(server.address)?;
    let writes: Vec<Vec<u8>> = put::requests(moves, &filled.key, true)
        .iter()
        .flat_map(|own| own.iter().cloned().collect::<Vec<_>>())
        .collect();
    // Every request changes something only where none is left out.
    let mut writes = writes.into_iter().cycle();
    let entries = "/entry?per_page=3&season=all";
    let reads =
        |path| (0..client::SPELLINGS).map(move |number| client::respelled(path, client::JSON, &filled.key, number));
    // Before the list of orders is held: a move of an entry that an order names brings that list up to date as well.
    let written = smallest_of(server, &mut client, writes.by_ref())?;
    let after = smallest_of(server, &mut client, writes.zip(reads(entries)).flat_map(<[Vec<u8>; 2]>::from))?;
    let first = "/order?per_page=100&season=all";
    let answer = client.ask_ok(&client::get(first, client::JSON, &filled.key))?;
    let envelope: Value = serde_json::from_slice(&answer.body)?;
    let page = envelope.get("last_page").and_then(Value::as_u64).context("an envelope without `last_page`")?;
    let last = format!("{first}&page={page}");
    let first = smallest_of(server, &mut client, reads(first))?;
    Ok([first, smallest_of(server, &mut client, reads(&last))?, written, after])
}

/// The smallest number of statements a request over several attempts, after one that warms up.
pub(crate) fn smallest_of(
    server: &Server,
    client: &mut Client,
    mut requests: impl Iterator<Item = Vec<u8>>,
) -> Result<f64> {
    let mut smallest = f64::INFINITY;
    for attempt in 0..=ATTEMPTS {
        let before = read_counter(server)?;
        for request in requests.by_ref().take(REQUESTS) {
            client.ask_ok(&request)?;
        }
        let statements = read_counter(server)? - before;
        if attempt > 0 {
            smallest = smallest.min(statements / float(REQUESTS.try_into()?));
        }
    }
    if smallest <= 0.0 {
        bail!("{COUNTER} does not count");
    }
    Ok(smallest)
}

fn read_counter(server: &Server) -> Result<f64> {
    server.metric(COUNTER)
}
