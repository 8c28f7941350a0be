//! What the view of an account costs: the first list after a start, and the memory that it takes.

use anyhow::{Context as _, Result, bail};

use crate::client::{self, Client};
use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::listing::{List, count};
use crate::load::{float, median};
use crate::machine;
use crate::plaudit::Server;
use crate::report::Report;

/// Starts behind the median, after one that warms the cache of files.
const STARTS: usize = 3;

/// The list that is asked for first.
const QUERY: &str = "season=all";

/// The other sorts of a view with four of them, and the trash, so that every record is in every list.
const FOUR_SORTS: [&str; 4] = ["", "&order=created_at", "&order=invoice_number", "&order=total"];
const EVERY_ORDER: &str = "season=all&deleted=included";

/// The gauge of the server that tells how many bytes its views take.
const VIEW_BYTES: &str = "plaudit_view_bytes";

/// Bytes of a view with four sorts, a record.
const MEMORY_BAR: f64 = 110.0;

/// The time of the first list of an account after a start, whose bar grows with its records.
pub(crate) fn first_list(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let list = List::new("/order", QUERY, &filled.key);
    let (mut times, mut records) = (Vec::new(), 0);
    for start in 0..=if context.short { 1 } else { STARTS } {
        let server = Server::start(context, &filled.url)?;
        let mut client = Client::connect(server.address)?;
        let elapsed = client.time(&list.request(client::JSON, 1, 0))?;
        if start > 0 {
            times.push(elapsed.as_secs_f64());
        } else {
            let every = List::new("/order", EVERY_ORDER, &filled.key);
            records = count(&every.read(&mut client, 1)?.0, "total")?;
        }
        server.stop()?;
    }
    let seconds_a_million = match engine {
        Engine::Sqlite => 2.0,
        Engine::Postgres(_) => 4.0,
    };
    let bar = seconds_a_million * float(records) / 1e6;
    report.at_most(
        format!("{}: first list of {records} orders after a start", engine.label()),
        bar,
        median(times),
        "s",
    );
    Ok(())
}

/// The memory of the view of all orders with four sorts.
pub(crate) fn memory(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let label = engine.label();
    let server = Server::start(context, &filled.url)?;
    let mut client = Client::connect(server.address)?;
    let before = machine::resident_bytes(server.id())?;
    let mut records = 0;
    for sort in FOUR_SORTS {
        let list = List::new("/order", &format!("{EVERY_ORDER}{sort}"), &filled.key);
        records = count(&list.read(&mut client, 1)?.0, "total")?;
    }
    let bytes = server.metric(VIEW_BYTES).context("the memory of a view cannot be told")?;
    let grown = machine::resident_bytes(server.id())?.saturating_sub(before);
    server.stop()?;
    if bytes <= 0.0 {
        bail!("{VIEW_BYTES} is 0 after lists were answered");
    }
    report.figure(format!("{label}: records of the view"), float(records), "");
    report.figure(format!("{label}: bytes of the view with four sorts"), bytes, "bytes");
    report.figure(format!("{label}: memory of the server, grown by these lists"), float(grown), "bytes");
    let name = format!("{label}: memory of a view with four sorts");
    report.at_most(name, MEMORY_BAR, bytes / float(records), "bytes a record");
    Ok(())
}
