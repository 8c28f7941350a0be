//! A page of 100 orders: against the limit, XML against JSON, and on PostgreSQL against the bare driver.

use anyhow::{Result, bail};

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::limit::Limit;
use crate::load::{self, Duty, Load, float};
use crate::plaudit::Server;
use crate::report::Report;
use crate::{replay, wire};

/// The page that every figure of a read is about.
const PAGE: &str = "/order?per_page=100";

/// Requests before a recording, so that every statement is prepared on every connection that is then used.
const WARM_UP_REQUESTS: usize = 20;

/// The page against the limit, and in XML against JSON.
pub(crate) fn against_the_limit(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
    server: &Server,
) -> Result<()> {
    let label = engine.label();
    let request = client::get(PAGE, client::JSON, &filled.key);
    let answer = Client::connect(server.address)?.ask_ok(&request)?;
    report.figure(format!("{label}: bytes of {PAGE}"), float(answer.body.len().try_into()?), "bytes");

    let (limit, processes) = (Limit::start(context, &answer)?, server.processes(None));
    let (same, fresh) = (load::same(&request), load::fresh(PAGE, client::JSON, &filled.key));
    let most = Load { address: limit.address, connections: &same, watched: &limit.processes() };
    let [kept, json] =
        [&same, &fresh].map(|connections| Load { address: server.address, connections, watched: &processes });
    let [most, kept, json] = load::measure_in_turn(&[most, kept, json], context.duty)?;
    drop(limit);
    report.load(&format!("{label}: the limit of {PAGE}"), most);
    report.load(&format!("{label}: GET {PAGE}, JSON, kept in memory"), kept);
    report.figure(format!("{label}: GET {PAGE}, kept in memory, of the limit"), kept.rate / most.rate, "");
    report.load(&format!("{label}: GET {PAGE}, JSON"), json);
    let ratio = json.rate / most.rate;
    match engine {
        Engine::Sqlite => report.at_least(format!("{label}: GET {PAGE} of the limit"), 0.22, ratio),
        // PostgreSQL works on other cores as well, so its bar is the bare driver's processor time.
        Engine::Postgres(_) => report.figure(format!("{label}: GET {PAGE} of the limit"), ratio, ""),
    }

    let request = client::get(PAGE, client::XML, &filled.key);
    let kept_xml = load::measure(server.address, &load::same(&request), context.duty, &processes)?;
    report.load(&format!("{label}: GET {PAGE}, XML, kept in memory"), kept_xml);
    let ratio = kept_xml.microseconds / kept.microseconds;
    report.figure(format!("{label}: processor time, XML against JSON, both kept in memory"), ratio, "");
    let fresh = load::fresh(PAGE, client::XML, &filled.key);
    let xml = load::measure(server.address, &fresh, context.duty, &processes)?;
    report.load(&format!("{label}: GET {PAGE}, XML"), xml);
    let ratio = xml.microseconds / json.microseconds;
    report.at_most(format!("{label}: processor time, XML against JSON"), 1.5, ratio, "");
    report.figure(
        format!("{label}: memory of the server after these loads"),
        float(crate::machine::resident_bytes(server.id())? / 1_048_576),
        "MiB",
    );
    Ok(())
}

/// The processor time of the page, the database's included, against that of the bare driver running the statements
/// that the page runs.
pub(crate) fn against_the_driver(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
) -> Result<()> {
    let postmaster = engine.postmaster()?;
    let request = client::get(PAGE, client::JSON, &filled.key);

    let (url, recording) = wire::proxy(&filled.url)?;
    let server = Server::start(context, &url)?;
    let mut client = Client::connect(server.address)?;
    for _ in 0..WARM_UP_REQUESTS {
        client.ask_ok(&request)?;
    }
    let mut recorded: Option<Vec<wire::Step>> = None;
    for spelling in 1..4 {
        let request = client::respelled(PAGE, client::JSON, &filled.key, spelling);
        wire::start(&recording);
        client.ask_ok(&request)?;
        let steps = wire::stop(&recording).concat();
        // What the server asks at times of its own may fall into a recording, so the shortest counts.
        if !steps.is_empty() && recorded.as_ref().is_none_or(|shortest| steps.len() < shortest.len()) {
            recorded = Some(steps);
        }
    }
    server.stop()?;
    let Some(steps) = recorded else { bail!("the server answered without asking the database") };
    for step in &steps {
        let text = step.text.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("  recorded: {}", text.get(..160).unwrap_or(&text));
    }

    let server = Server::start(context, &filled.url)?;
    let processes = server.processes(postmaster);
    let fresh = load::fresh(PAGE, client::JSON, &filled.key);
    let once = Duty { runs: 1, ..context.duty };
    let (mut ours, mut bare, mut connections) = (Vec::new(), Vec::new(), 0);
    // In turns, so that a machine that grows slower does so for both.
    for _ in 0..context.duty.runs {
        ours.push(load::measure(server.address, &fresh, once, &processes)?);
        connections = Engine::connections(filled)?;
        bare.push(replay::read(&filled.url, &steps, connections, once, postmaster)?);
    }
    server.stop()?;
    for (ours, bare) in ours.iter().zip(&bare) {
        println!("  in turn: {:.1} us and {:.1} us", ours.microseconds, bare.microseconds);
    }
    let (ours, bare) = (load::middle(&ours), replay::middle(&bare));
    report.load(&format!("PostgreSQL: GET {PAGE}, with the database"), ours);
    report.figure("PostgreSQL: connections of the server", float(connections.try_into()?), "");
    report.figure("PostgreSQL: the bare driver with the same statements", bare.microseconds, "us a request");
    report.figure("PostgreSQL: of it, the driver's own process", bare.driver, "us a request");
    let ratio = ours.microseconds / bare.microseconds;
    report.at_most(format!("PostgreSQL: processor time, GET {PAGE} against the driver"), 1.3, ratio, "");
    Ok(())
}
