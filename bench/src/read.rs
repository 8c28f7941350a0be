//! A page of 100 orders: against the limit, XML against JSON, and on PostgreSQL against the bare driver.

use anyhow::Result;

use crate::client::{self, Client};
use crate::context::Context;
use crate::driver;
use crate::engine::{Engine, Filled};
use crate::limit::Limit;
use crate::load::{self, Load, float};
use crate::plaudit::Server;
use crate::report::Report;

/// The page that every figure of a read is about.
const PAGE: &str = "/order?per_page=100";

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

/// The page against the bare driver.
pub(crate) fn against_the_driver(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
) -> Result<()> {
    let asked = |spelling| client::respelled(PAGE, client::JSON, &filled.key, spelling);
    let read = driver::Read {
        name: format!("GET {PAGE}"),
        samples: (0..=driver::SAMPLES as u64).map(asked).collect(),
        subjects: &[],
        load: load::fresh(PAGE, client::JSON, &filled.key),
    };
    driver::measure(context, report, engine, filled, &read)
}
