//! `leaderboard`: a large board is right, current and quick while scores arrive, and what is kept by differences is what is worked out
//! from all sheets.

mod board;
mod incremental;
mod memory;

use anyhow::Result;

use super::service::{Checks, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "leaderboard",
    claim: "Of 100,000 entries with 5 judges and 10 criteria a page of the board comes in 10 ms (p99) while 500 scores arrive a \
            second; all totals and places take 5 ms in memory, the board corrected for 500 judges 50 ms; after 100,000 \
            random operations the board is that of all sheets.",
    run,
};

fn run(context: &Context) -> Result<Verdict> {
    let mut checks = Checks::default();
    let figure = memory::show(context.short, &mut checks)?;
    let in_memory = checks.verdict(&figure);
    let over_http = on_each_engine(context, on_engine)?;
    Ok(Verdict {
        holds: in_memory.holds && over_http.holds,
        figure: format!("{}; {}", in_memory.figure, over_http.figure),
    })
}

fn on_engine(context: &Context, engine: Engine) -> Result<Verdict> {
    let mut checks = Checks::default();
    let large = board::show(context, engine, &mut checks)?;
    let small = incremental::show(context, engine, &mut checks)?;
    Ok(checks.verdict(&format!("{large}, {small}")))
}
