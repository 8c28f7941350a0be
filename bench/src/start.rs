//! The start on a large database, and the memory of a server that rests.

use std::time::Duration;

use anyhow::Result;

use crate::context::Context;
use crate::engine::{Engine, Filled};
use crate::load::{float, median};
use crate::machine;
use crate::plaudit::Server;
use crate::report::{Report, microseconds};

/// Starts behind the median.
const STARTS: usize = 5;

/// Measures starts on a filled database.
pub(crate) fn measure(context: &Context, report: &mut Report, engine: &Engine, filled: &Filled) -> Result<()> {
    let label = engine.label();
    let size = float(engine.bytes(context, filled)?) / 1e9;
    report.figure(format!("{label}: size of the database"), size, "GB");
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..if context.short { 1 } else { STARTS } {
        let server = Server::start(context, &filled.url)?;
        times.push(microseconds(server.ready_after) / 1e3);
        // What the start leaves to be done in the background belongs to it.
        std::thread::sleep(Duration::from_secs(1));
        memory.push(float(machine::resident_bytes(server.id())?) / 1_048_576.0);
        server.stop()?;
    }
    report.at_most(format!("{label}: ready after its start"), 100.0, median(times), "ms");
    report.at_most(format!("{label}: memory at rest"), 64.0, median(memory), "MiB");
    Ok(())
}
