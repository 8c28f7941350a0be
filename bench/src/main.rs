//! The benchmark: what the service costs beside the limit of its parts, told as ratios made in one run.

// A benchmark measures the real clock of the real machine.
#![allow(clippy::disallowed_methods)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bare;
mod client;
mod context;
mod driver;
mod engine;
mod entry;
mod flat;
mod limit;
mod load;
mod machine;
mod plaudit;
mod put;
mod read;
mod replay;
mod report;
mod start;
mod statements;
mod wire;

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};

use crate::context::{Context, Engines, RunArguments};
use crate::engine::Engine;
use crate::machine::{Cores, Machine};
use crate::plaudit::Server;
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
    if ["orders", "pages", "start"].iter().any(|name| wanted(name)) {
        report.part(&format!("{label}: an account with many orders"), |report| {
            // Orders name entries, and a thousand of them are as good for that as a million.
            let filled = engine.filled(context, context.entries.min(1_000), context.orders)?;
            if wanted("start") {
                report.part(&format!("{label}: start"), |report| start::measure(context, report, engine, &filled));
            }
            let server = Server::start(context, &filled.url)?;
            if wanted("orders") {
                report.part(&format!("{label}: orders"), |report| {
                    read::against_the_limit(context, report, engine, &filled, &server)
                });
            }
            if wanted("pages") {
                report.part(&format!("{label}: pages"), |report| {
                    flat::measure(context, report, engine, &filled, &server)
                });
            }
            server.stop()?;
            if wanted("orders") && matches!(engine, Engine::Postgres(_)) {
                report.part(&format!("{label}: orders against the driver"), |report| {
                    read::against_the_driver(context, report, engine, &filled)
                });
            }
            engine.release(context, &filled)
        });
    }
    if wanted("entries") {
        report.part(&format!("{label}: entries"), |report| {
            let filled = engine.filled(context, context.entries, 0)?;
            match engine {
                Engine::Sqlite => put::against_group_commits(context, report, &filled)?,
                Engine::Postgres(_) => put::against_the_driver(context, report, engine, &filled)?,
            }
            engine.release(context, &filled)
        });
    }
    if wanted("entry-reads") {
        report.part(&format!("{label}: reads of entries"), |report| {
            let filled = engine.filled(context, context.entries, entry::ORDER_COUNT)?;
            let server = Server::start(context, &filled.url)?;
            let slugs = entry::slugs(&server, &filled.key)?;
            let measured = entry::measure(context, report, engine, (&filled, &slugs), &server);
            server.stop()?;
            let measured = measured.and_then(|()| match engine {
                Engine::Sqlite => Ok(()),
                Engine::Postgres(_) => entry::against_the_driver(context, report, engine, (&filled, &slugs)),
            });
            engine.release(context, &filled)?;
            measured
        });
    }
    if wanted("entry-statements") {
        report.part(&format!("{label}: statements of reads of entries"), |report| {
            entry::statements(context, report, engine)
        });
    }
    if wanted("statements") {
        report.part(&format!("{label}: statements"), |report| statements::measure(context, report, engine));
    }
}
