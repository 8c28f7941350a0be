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
    let (mut first, mut last, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for size in context.sizes {
        let filled = engine.filled(context, size, size)?;
        let moves = put::moves(context, &filled, REQUESTS * (ATTEMPTS + 1))?;
        let copy = engine.copy(context, &filled, "plaudit_bench_statements")?;
        let server = Server::start(context, &copy.url)?;
        let counted = count(&server, &copy, &moves);
        server.stop()?;
        engine.remove(context, &copy.name)?;
        engine.release(context, &filled)?;
        let [at_first, at_last, at_writes] = counted?;
        first.push(at_first);
        last.push(at_last);
        written.push(at_writes);
    }
    let sizes: Vec<String> = context.sizes.iter().map(u64::to_string).collect();
    let sizes = sizes.join(", ");
    report.same(format!("{label}: statements of GET /order at {sizes} rows"), &first);
    report.same(format!("{label}: statements of its last page"), &last);
    report.same(format!("{label}: statements of PUT update-chapter"), &written);
    Ok(())
}

/// Statements a request: of the first page, of the last page, of a write.
fn count(server: &Server, filled: &Filled, moves: &[Move]) -> Result<[f64; 3]> {
    let mut client = Client::connect(server.address)?;
    let first = "/order?per_page=100&season=all";
    let answer = client.ask_ok(&client::get(first, client::JSON, &filled.key))?;
    let envelope: Value = serde_json::from_slice(&answer.body)?;
    let page = envelope.get("last_page").and_then(Value::as_u64).context("an envelope without `last_page`")?;
    let last = format!("{first}&page={page}");
    let writes: Vec<Vec<u8>> = put::requests(moves, &filled.key, true)
        .iter()
        .flat_map(|own| own.iter().cloned().collect::<Vec<_>>())
        .collect();
    let reads =
        |path| (0..client::SPELLINGS).map(move |number| client::respelled(path, client::JSON, &filled.key, number));
    Ok([
        smallest_of(server, &mut client, reads(first))?,
        smallest_of(server, &mut client, reads(&last))?,
        smallest_of(server, &mut client, writes.into_iter().cycle())?,
    ])
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
    let request = client::get("/metrics", "*/*", "none");
    let answer = Client::connect(server.metrics)?.ask_ok(&request)?;
    sum(&String::from_utf8(answer.body)?)
}

/// The sum over every label of the counter.
fn sum(text: &str) -> Result<f64> {
    let mut found = None;
    for line in text.lines() {
        let Some((name, value)) = line.rsplit_once(' ') else { continue };
        if name.split('{').next() == Some(COUNTER) {
            found = Some(found.unwrap_or(0.0) + value.parse::<f64>()?);
        }
    }
    found.with_context(|| format!("the metrics have no {COUNTER}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_summed_over_its_labels() {
        let text = "# TYPE plaudit_db_statements_total counter\nplaudit_db_statements_total{kind=\"a\"} 3\n\
                    plaudit_db_statements_total{kind=\"b\"} 4\nplaudit_db_statements_total_more 9\n";
        assert!((sum(text).unwrap() - 7.0).abs() < 1e-9);
        assert!(sum("nothing 1\n").is_err());
    }
}
