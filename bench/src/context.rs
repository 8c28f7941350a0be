//! What every part of a run is given: sizes, times, cores and places.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};

use crate::load::Duty;
use crate::machine::Cores;

/// Which engines are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engines {
    /// SQLite only.
    Sqlite,
    /// PostgreSQL only.
    Postgres,
    /// Both, where there is a PostgreSQL.
    Both,
}

/// The options of a run.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Tiny data and one run of a tenth of a second: shows that the benchmark works, and what is counted and not timed.
    #[arg(long)]
    short: bool,
    /// The engines to measure.
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) engine: Engines,
    /// The orders of the account whose list is read.
    #[arg(long, value_name = "N")]
    orders: Option<u64>,
    /// The entries of the account whose entries are written.
    #[arg(long, value_name = "N")]
    entries: Option<u64>,
    /// Keeps the filled SQLite databases there, and uses those that are there already.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The server; by default `plaudit` in the release directory of the target directory.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Only the parts whose names contain this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
}

/// What every part of a run is given.
pub(crate) struct Context {
    /// The server's binary.
    pub(crate) binary: PathBuf,
    /// Where databases, logs and saved answers are.
    pub(crate) directory: PathBuf,
    /// Whether the filled databases stay after the run.
    pub(crate) keep: bool,
    /// Whether this run is only to show that the benchmark works.
    pub(crate) short: bool,
    pub(crate) cores: Cores,
    /// The address of a maintenance database of a PostgreSQL server.
    pub(crate) postgres: Option<String>,
    pub(crate) orders: u64,
    pub(crate) entries: u64,
    /// How long a load is measured.
    pub(crate) duty: Duty,
    /// Requests behind the median of a page.
    pub(crate) turns: usize,
    /// The numbers of rows between which the number of statements must not change.
    pub(crate) sizes: [u64; 3],
    /// How many entries the writes go to, and how many writes are recorded to be played again.
    pub(crate) written: usize,
}

impl RunArguments {
    /// Whether the run is only to show that the benchmark works.
    pub(crate) fn short(&self) -> bool {
        self.short
    }
}

impl Context {
    /// Takes the options of a run; `target` is the target directory of the build.
    pub(crate) fn new(arguments: &RunArguments, cores: Cores, target: &Path, postgres: Option<String>) -> Result<Self> {
        let short = arguments.short;
        let directory = arguments.keep.clone().unwrap_or_else(|| target.join("bench"));
        std::fs::create_dir_all(&directory).with_context(|| format!("{}", directory.display()))?;
        let duty = if short {
            Duty { warm_up: Duration::from_millis(20), run: Duration::from_millis(100), runs: 1 }
        } else {
            Duty { warm_up: Duration::from_secs(1), run: Duration::from_secs(8), runs: 3 }
        };
        Ok(Self {
            // It is started in the directory of the run.
            binary: std::path::absolute(
                arguments.binary.clone().unwrap_or_else(|| target.join("release").join("plaudit")),
            )?,
            directory: directory.canonicalize()?,
            keep: arguments.keep.is_some(),
            short,
            cores,
            postgres,
            orders: arguments.orders.unwrap_or(if short { 200 } else { 1_000_000 }),
            entries: arguments.entries.unwrap_or(if short { 200 } else { 100_000 }),
            duty,
            turns: if short { 5 } else { 30 },
            sizes: if short { [10, 200, 1_000] } else { [10, 1_000, 100_000] },
            written: if short { 200 } else { 20_000 },
        })
    }
}
