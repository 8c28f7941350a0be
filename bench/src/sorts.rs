//! Pages of 100 orders by every sort, in no order, against reading the same documents by their ids.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::by_id::{self, By, Orders};
use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{self, Engine, Filled};
use crate::listing::{List, Pages};
use crate::load::{self, Duty, median};
use crate::plaudit::Server;
use crate::replay;
use crate::report::Report;

/// The sorts of orders that have a name.
pub(crate) const SORTS: [&str; 6] =
    ["created_at", "invoice_number", "payment_method", "payment_status", "season", "total"];

/// A page costs at most so many times what it costs to read its documents.
const BAR: f64 = 1.5;

/// Pages of each sort: with their documents, more than any cache but the kernel's holds.
const PAGES: usize = 500;

/// Microseconds of processor time of one run.
#[derive(Clone, Copy)]
struct Run {
    page: f64,
    bare: f64,
    by_row: Option<f64>,
}

/// Measures every sort in both directions, and holds the worst ratio against the bar.
pub(crate) fn measure(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let (label, server) = (engine.label(), Server::start(context, &filled.url)?);
    let mut worst = (String::new(), f64::MIN);
    let named = SORTS.map(|sort| format!("order={sort}&"));
    for sort in std::iter::once("").chain(named.iter().map(String::as_str)) {
        for direction in ["asc", "desc"] {
            let mut client = Client::connect(server.address)?;
            let query = format!("season=all&{sort}dir={direction}");
            let pages = Pages::of(&mut client, List::new("/order", &query, &filled.key), PAGES)?;
            let runs = runs(context, engine, filled, &server, &pages)?;
            let middle = |figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
            let (page, bare) = (middle(|run| run.page), middle(|run| run.bare));
            let name = format!("{label}: {sort}dir={direction}");
            report.figure(format!("{name}: processor time"), page, "us a page");
            report.figure(format!("{name}: its documents by id, bare"), bare, "us a page");
            report.figure(format!("{name}: against its documents by id"), page / bare, "");
            if runs.iter().all(|run| run.by_row.is_some()) {
                let by_row = middle(|run| run.by_row.unwrap_or_default());
                report.figure(format!("{name}: against its documents by the numbers of rows"), page / by_row, "");
            }
            if page / bare > worst.1 {
                worst = (format!("{sort}dir={direction}"), page / bare);
            }
        }
    }
    let name = format!("{label}: processor time, pages by any sort against their documents by id, worst ({})", worst.0);
    report.at_most(name, BAR, worst.1, "");
    server.stop()
}

/// The server and the bare reader in turn, so that a machine that grows slower does so for both.
fn runs(context: &Context, engine: &Engine, filled: &Filled, server: &Server, pages: &Pages<'_>) -> Result<Vec<Run>> {
    // Fourteen lists: each is measured for less time than what is measured once.
    let once = if context.short {
        Duty { runs: 1, ..context.duty }
    } else {
        Duty { warm_up: Duration::from_millis(500), run: Duration::from_secs(3), runs: 1 }
    };
    let mut client = Client::connect(server.address)?;
    let slugs = pages.numbers.iter().map(|page| pages.list.slugs(&mut client, *page)).collect::<Result<Vec<_>>>()?;
    let (load, postmaster) = (pages.load(client::JSON), engine.postmaster()?);
    let processes = server.processes(postmaster);
    let mut bare: Box<dyn FnMut() -> Result<(f64, Option<f64>)>> = match engine {
        Engine::Sqlite => {
            let mut orders = Orders::open(&engine::file(context, &filled.name), &filled.account, &slugs)?;
            Box::new(move || Ok((orders.measure(By::Slug, once)?, Some(orders.measure(By::Row, once)?))))
        }
        Engine::Postgres(_) => {
            let units = Arc::new(by_id::statements(Engine::account(filled)?, &slugs)?);
            Box::new(move || {
                let connections = Engine::connections(filled)?;
                Ok((replay::read(&filled.url, &units, connections, once, postmaster)?.microseconds, None))
            })
        }
    };
    (0..context.duty.runs)
        .map(|_| {
            let page = load::measure(server.address, &load, once, &processes)?.microseconds;
            let (bare, by_row) = bare()?;
            Ok(Run { page, bare, by_row })
        })
        .collect()
}
