//! The benchmark: what the service costs beside the limit of its parts, told as ratios made in one run.

// A benchmark measures the real clock of the real machine.
#![allow(clippy::disallowed_methods)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bare;
mod by_id;
mod change;
mod client;
mod context;
mod driver;
mod engine;
mod entry;
mod flat;
mod limit;
mod listing;
mod load;
mod machine;
mod plaudit;
mod put;
mod read;
mod replay;
mod report;
mod sorts;
mod start;
mod statements;
mod view;
mod wire;

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};

use crate::context::{Context, Engines, RunArguments};
use crate::engine::Engine;
use crate::machine::{Cores, Machine};
use crate::report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tells the process that pins itself that it is pinned already, and which cores there were before.
const PINNED: &str = "BENCH_PINNED";

/// Where a PostgreSQL server for the benchmark is, in the order of preference.
const POSTGRES: [&str; 2] = ["PLAUDIT_BENCH_POSTGRES", "PLAUDIT_TEST_POSTGRES"];

#[derive(Parser)]
#[command(about = "Measures plaudit beside the limit of its parts")]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Subcommand)]
enum Part {
    /// The limit of a read: sends a file from memory.
    Limit(limit::LimitArguments),
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    match &arguments.part {
        Some(Part::Limit(limit)) => limit::serve(limit).map(|()| ExitCode::SUCCESS),
        None => run(&arguments.run),
    }
}

/// This process generates the load and runs the bare baselines, so it pins itself before it does anything.
fn pin() -> Result<Cores> {
    if let Ok(text) = std::env::var(PINNED) {
        let mut words = text.split(' ');
        let (server, generator, all) = (words.next(), words.next(), words.next());
        let (Some(server), Some(generator), Some(all)) = (server, generator, all) else {
            bail!("{PINNED} is set from outside");
        };
        return Ok(Cores { server: Some(server.parse()?), generator: Some(generator.parse()?), all: Some(all.into()) });
    }
    let cores = match Cores::choose() {
        Ok(cores) => cores,
        Err(reason) => {
            println!("{reason}");
            return Ok(Cores::default());
        }
    };
    let (Some(server), Some(generator), Some(all)) = (cores.server, cores.generator, &cores.all) else {
        return Ok(cores);
    };
    let error = Command::new("taskset")
        .args(["--cpu-list", &generator.to_string()])
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(PINNED, format!("{server} {generator} {all}"))
        .exec();
    Err(error).context("taskset")
}

/// The target directory of the build that this program comes from.
fn target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let profile = own.parent().context("this program stands in no directory")?;
    Ok(profile.parent().context("this program stands in no target directory")?.to_owned())
}

fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let cores = pin()?;
    let target = target()?;
    let url = POSTGRES.iter().find_map(|name| std::env::var(name).ok());
    let mut report = Report::new(Machine::describe(&cores), arguments.short());
    let context = Context::new(arguments, cores, &target, url)?;
    if !context.binary.is_file() {
        bail!("{} is missing: build it with `cargo build --release`", context.binary.display());
    }
    if arguments.engine != Engines::Postgres {
        measure(&context, &mut report, &Engine::Sqlite, arguments.only.as_deref());
    }
    match (arguments.engine, &context.postgres) {
        (Engines::Sqlite, _) => {}
        (_, Some(url)) => {
            measure(&context, &mut report, &Engine::Postgres(url.clone()), arguments.only.as_deref());
        }
        (_, None) => report.left_out(format!("PostgreSQL: {} is not set (`cargo xtask bench` sets it)", POSTGRES[0])),
    }
    let whole = report.finish(&target.join("bench.json"))?;
    if !context.keep {
        // The directory may still hold the log of a server that failed, which is worth more than order.
        drop(std::fs::remove_dir(&context.directory));
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every part of one engine.
fn measure(context: &Context, report: &mut Report, engine: &Engine, only: Option<&str>) {
    let label = engine.label();
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let part = |name: &str| format!("{label}: {name}");
    if OF_MANY_ORDERS.iter().any(|name| wanted(name)) {
        report.part(&part("an account with many orders"), |report| many_orders(context, report, engine, &wanted));
    }
    if wanted("first-list") {
        report.part(&part("first-list, a tenth of the orders"), |report| {
            let filled = engine.filled(context, context.entries, (context.orders / 10).max(1))?;
            view::first_list(context, report, engine, &filled)?;
            engine.release(context, &filled)
        });
    }
    if wanted("entries") {
        report.part(&part("entries"), |report| {
            let filled = engine.filled(context, context.entries, 0)?;
            match engine {
                Engine::Sqlite => put::against_group_commits(context, report, &filled)?,
                Engine::Postgres(_) => put::against_the_driver(context, report, engine, &filled)?,
            }
            engine.release(context, &filled)
        });
    }
    if OF_MANY_ENTRIES.iter().any(|name| wanted(name)) {
        report.part(&part("an account with many entries"), |report| many_entries(context, report, engine, &wanted));
    }
    if wanted("entry-statements") {
        report.part(&part("entry-statements"), |report| entry::statements(context, report, engine));
    }
    if wanted("statements") {
        report.part(&part("statements"), |report| statements::measure(context, report, engine));
    }
}

/// The parts that share an account with many orders.
const OF_MANY_ORDERS: [&str; 7] = ["start", "first-list", "memory", "orders", "sorts", "pages", "after-change"];

/// The parts that share an account with many entries.
const OF_MANY_ENTRIES: [&str; 3] = ["entry-reads", "entry-lists", "after-change"];

fn many_orders(context: &Context, report: &mut Report, engine: &Engine, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    let filled = engine.filled(context, context.entries, context.orders)?;
    let mut part = |name: &str, work: &dyn Fn(&mut Report) -> Result<()>| {
        if wanted(name) {
            report.part(&format!("{}: {name}", engine.label()), work);
        }
    };
    part("start", &|report| start::measure(context, report, engine, &filled));
    part("first-list", &|report| view::first_list(context, report, engine, &filled));
    part("memory", &|report| view::memory(context, report, engine, &filled));
    // Each starts a server of its own: the lists that one part asked for must not stand beside those of another one.
    part("orders", &|report| read::against_the_limit(context, report, engine, &filled));
    if matches!(engine, Engine::Postgres(_)) {
        part("orders", &|report| read::against_the_driver(context, report, engine, &filled));
    }
    part("sorts", &|report| sorts::measure(context, report, engine, &filled));
    part("pages", &|report| flat::orders(context, report, engine, &filled));
    part("after-change", &|report| change::measure(context, report, engine, &filled, "/order"));
    engine.release(context, &filled)
}

fn many_entries(context: &Context, report: &mut Report, engine: &Engine, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
    // As many orders, so that neither is in the cache of a reader where the other is not.
    let filled = engine.filled(context, context.entries, context.entries)?;
    let mut part = |name: &str, work: &dyn Fn(&mut Report) -> Result<()>| {
        if wanted(name) {
            report.part(&format!("{}: {name}", engine.label()), work);
        }
    };
    part("entry-reads", &|report| entry::measure(context, report, engine, &filled));
    part("entry-lists", &|report| flat::entries(context, report, engine, &filled));
    part("after-change", &|report| change::measure(context, report, engine, &filled, "/entry"));
    engine.release(context, &filled)
}
