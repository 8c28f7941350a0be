//! Pages of 100 orders in no order: against the limit, XML against JSON, and on PostgreSQL against the bare driver.

use anyhow::{Context as _, Result};

use crate::client::{self, Client};
use crate::context::Context;
use crate::driver;
use crate::engine::{Engine, Filled};
use crate::limit::Limit;
use crate::listing::{List, Pages};
use crate::load::{self, Load, float};
use crate::plaudit::Server;
use crate::report::Report;

/// Every order of the account, in the order that a list has when nobody asks for one.
const QUERY: &str = "season=all";

/// Pages whose statements are recorded on PostgreSQL.
const RECORDED: usize = 300;

fn pages<'key>(server: &Server, filled: &'key Filled, most: usize) -> Result<Pages<'key>> {
    Pages::of(&mut Client::connect(server.address)?, List::new("/order", QUERY, &filled.key), most)
}

/// The pages against the limit, and in XML against JSON, each with what the database does for it.
pub(crate) fn against_the_limit(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
) -> Result<()> {
    let server = Server::start(context, &filled.url)?;
    let (label, pages) = (engine.label(), pages(&server, filled, usize::MAX)?);
    let path = pages.list.path();
    report.figure(format!("{label}: bytes of {path}, the mean of some pages"), pages.bytes, "bytes");
    report.figure(format!("{label}: pages that are read, in no order"), float(pages.numbers.len().try_into()?), "");
    let page = pages.numbers.first().copied().context("there are no pages")?;
    let answer = Client::connect(server.address)?.ask_ok(&pages.list.request(client::JSON, page, 0))?;

    let (limit, processes) = (Limit::start(context, &answer, None)?, server.processes(engine.postmaster()?));
    let same = load::same(&pages.list.request(client::JSON, page, 0));
    let [json, xml] = [client::JSON, client::XML].map(|media_type| pages.load(media_type));
    let most = Load { address: limit.address, connections: &same, watched: &limit.processes() };
    let [json, xml] =
        [&json, &xml].map(|connections| Load { address: server.address, connections, watched: &processes });
    let [most, json, xml] = load::measure_in_turn(&[most, json, xml], context.duty)?;
    drop(limit);
    report.load(&format!("{label}: the limit of {path}"), most);
    report.load(&format!("{label}: GET {path}, JSON"), json);
    report.figure(format!("{label}: GET {path} of the limit"), json.rate / most.rate, "");
    report.load(&format!("{label}: GET {path}, XML"), xml);
    let ratio = xml.microseconds / json.microseconds;
    report.at_most(format!("{label}: processor time, XML against JSON"), 1.3, ratio, "");
    report.figure(
        format!("{label}: memory of the server after these loads"),
        float(crate::machine::resident_bytes(server.id())? / 1_048_576),
        "MiB",
    );
    server.stop()
}

/// The pages against the bare driver.
pub(crate) fn against_the_driver(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    filled: &Filled,
) -> Result<()> {
    let server = Server::start(context, &filled.url)?;
    let pages = pages(&server, filled, RECORDED)?;
    server.stop()?;
    let read = driver::Read {
        name: format!("GET {}", pages.list.path()),
        statements: driver::Statements::OfEach(
            pages.numbers.iter().map(|page| pages.list.request(client::JSON, *page, 0)).collect(),
        ),
        load: pages.load(client::JSON),
    };
    driver::measure(context, report, engine, filled, &read)
}
