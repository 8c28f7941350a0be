//! Reads of entries: one against the limit, and a page with what belongs to its entries against a page of orders; and that
//! their numbers of statements are the same at every number of rows.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::client::{self, Client};
use crate::context::Context;
use crate::driver;
use crate::engine::{self, Engine, Filled};
use crate::limit::Limit;
use crate::listing::{List, Pages, count, in_no_order};
use crate::load::{self, Load, float};
use crate::plaudit::Server;
use crate::report::Report;
use crate::statements::smallest_of;

/// The list of entries that every figure of a page is about, and the one of orders that it is held against, byte by byte.
const PAGE: [&str; 2] = ["/entry", "season=all&include=entry_fields,attachments,contributors"];
const ORDERS: [&str; 2] = ["/order", "season=all"];

/// The reads, on an account with that many entries.
pub(crate) fn measure(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let (label, server) = (engine.label(), Server::start(context, &filled.url)?);
    let slugs = slugs(&server, &filled.key)?;
    let get = |slug: &String| get(filled, slug);
    let answer = Client::connect(server.address)?.ask_ok(&get(&slugs[0]))?;
    report.figure(format!("{label}: bytes of GET /entry/{{slug}}"), bytes(&answer.body), "bytes");
    let (limit, processes) = (Limit::start(context, &answer, None)?, server.processes(None));
    report.figure(format!("{label}: entries that are read, in no order"), float(slugs.len().try_into()?), "");
    let (same, all) = (load::same(&get(&slugs[0])), load::in_turn(slugs.iter().map(get).collect()));
    let most = Load { address: limit.address, connections: &same, watched: &limit.processes() };
    let single = Load { address: server.address, connections: &all, watched: &processes };
    let [most, single] = load::measure_in_turn(&[most, single], context.duty)?;
    drop(limit);
    report.load(&format!("{label}: the limit of GET /entry/{{slug}}"), most);
    report.load(&format!("{label}: GET /entry/{{slug}}"), single);
    let (name, ratio) = (format!("{label}: GET /entry/{{slug}} of the limit"), single.rate / most.rate);
    match engine {
        Engine::Sqlite => {
            report.figure(name, ratio, "");
            let bare = Limit::start(context, &answer, Some((&engine::file(context, &filled.name), &filled.account)))?;
            let least = Load { address: bare.address, connections: &all, watched: &bare.processes() };
            let single = Load { address: server.address, connections: &all, watched: &processes };
            let [least, single] = load::measure_in_turn(&[least, single], context.duty)?;
            report.load(&format!("{label}: axum sending a row of an entry"), least);
            let name = format!("{label}: GET /entry/{{slug}} against axum sending its row");
            report.at_least(name, 0.40, single.rate / least.rate);
            report.figure(format!("{label}: axum sending its row of the limit"), least.rate / most.rate, "");
        }
        // PostgreSQL works on other cores as well.
        Engine::Postgres(_) => report.figure(name, ratio, ""),
    }

    let mut page = |[address, query]: [&str; 2]| -> Result<f64> {
        // The first connection has been idle for longer than the server keeps one open.
        let client = &mut Client::connect(server.address)?;
        let pages = Pages::of(client, List::new(address, query, &filled.key), usize::MAX)?;
        let path = pages.list.path();
        report.figure(format!("{label}: bytes of {path}, the mean of some pages"), pages.bytes, "bytes");
        let measured = load::measure(server.address, &pages.load(client::JSON), context.duty, &processes)?;
        report.load(&format!("{label}: GET {path}"), measured);
        Ok(measured.microseconds / pages.bytes)
    };
    let (entries, orders) = (page(PAGE)?, page(ORDERS)?);
    let name = format!("{label}: processor time a byte, 100 entries with all that belongs to them against 100 orders");
    report.at_most(name, 1.3, entries / orders, "");
    server.stop()?;
    match engine {
        Engine::Sqlite => Ok(()),
        Engine::Postgres(_) => against_the_driver(context, report, engine, (filled, &slugs)),
    }
}

/// The read of one against the bare driver.
fn against_the_driver(
    context: &Context,
    report: &mut Report,
    engine: &Engine,
    (filled, slugs): (&Filled, &[String]),
) -> Result<()> {
    let requests: Vec<Vec<u8>> = slugs.iter().map(|slug| get(filled, slug)).collect();
    let read = driver::Read {
        name: "GET /entry/{slug}".to_owned(),
        statements: driver::Statements::ForSubjects {
            samples: requests.iter().take(driver::SAMPLES + 1).cloned().collect(),
            subjects: slugs,
        },
        load: load::in_turn(requests),
    };
    driver::measure(context, report, engine, filled, &read)
}

fn get(filled: &Filled, slug: &str) -> Vec<u8> {
    client::get(&format!("/entry/{slug}"), client::JSON, &filled.key)
}

fn bytes(body: &[u8]) -> f64 {
    float(u64::try_from(body.len()).unwrap_or(u64::MAX))
}

/// All entries of the account, in an order that has nothing to do with where they are stored.
fn slugs(server: &Server, key: &str) -> Result<Vec<String>> {
    let mut client = Client::connect(server.address)?;
    let mut slugs: Vec<String> = Vec::new();
    for page in 1.. {
        let path = format!("/entry?per_page=100&season=all&order=local_id&page={page}");
        let envelope: Value = serde_json::from_slice(&client.ask_ok(&client::get(&path, client::JSON, key))?.body)?;
        let data = envelope.get("data").and_then(Value::as_array).context("a page without `data`")?;
        slugs.extend(data.iter().filter_map(|entry| Some(entry.get("slug")?.as_str()?.to_owned())));
        if data.len() < 100 {
            break;
        }
    }
    if slugs.is_empty() {
        bail!("the filled account has no entries");
    }
    in_no_order(&mut slugs);
    Ok(slugs)
}

/// Counts the statements of each read at every size and holds the numbers against each other.
pub(crate) fn statements(context: &Context, report: &mut Report, engine: &Engine) -> Result<()> {
    let label = engine.label();
    let mut counted: Vec<(&str, Vec<f64>)> = [
        "GET /entry/{slug}",
        "GET /entry, the first page",
        "GET /entry, the last page",
        "GET /entry by category",
        "GET /entry with all that belongs to its entries",
        "GET /entry/summary",
        "GET /contributor, the last page",
        "GET /attachment",
        "GET /user, the last page",
    ]
    .map(|name| (name, Vec::new()))
    .into();
    for size in context.sizes {
        let filled = engine.filled(context, size, size)?;
        let server = Server::start(context, &filled.url)?;
        let slug = slugs(&server, &filled.key)?.swap_remove(0);
        let mut client = Client::connect(server.address)?;
        // A page has at most as many entries as the smallest account, and so every account has several.
        let path = "/entry?per_page=3&season=all";
        let mut last = |path: &str| -> Result<String> {
            let body = client.ask_ok(&client::get(path, client::JSON, &filled.key))?.body;
            Ok(format!("{path}&page={}", count(&serde_json::from_slice(&body)?, "last_page")?))
        };
        let paths = [
            format!("/entry/{slug}"),
            path.to_owned(),
            last(path)?,
            format!("{path}&order=category&dir=desc"),
            format!("{path}&include=entry_fields,attachments,contributors"),
            "/entry/summary?season=all".to_owned(),
            last("/contributor?per_page=3&season=all")?,
            "/attachment?per_page=3&season=all".to_owned(),
            last("/user?per_page=3&order=name")?,
        ];
        for ((_, counts), path) in counted.iter_mut().zip(&paths) {
            let requests =
                (0..).map(|spelling| client::respelled(path, client::JSON, &filled.key, spelling % client::SPELLINGS));
            counts.push(smallest_of(&server, &mut client, requests)?);
        }
        server.stop()?;
        engine.release(context, &filled)?;
    }
    let sizes = context.sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    for (name, counts) in counted {
        report.same(format!("{label}: statements of {name} at {sizes} rows"), &counts);
    }
    Ok(())
}
