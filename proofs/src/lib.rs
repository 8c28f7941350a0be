//! The proofs: each shows one claim about the release binary and ends in one line with the verdict.
//!
//! A proof is a module with `pub(crate) const PROOF: Proof`. It builds what it needs through [`Context`], prints its
//! figures as it goes, and returns a [`Verdict`]. An error means that the proof could not be carried out, which
//! counts as a failure but is told apart from a claim that falls short.

#![allow(clippy::disallowed_methods, reason = "a tool of the developer reads the environment and the clock itself")]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;
use tempfile::TempDir;

use self::postgres::Postgres;
use self::process::Cargo;

pub mod bench;
pub mod metadata;
pub mod postgres;
pub mod process;

mod apply;
mod bounds;
mod browser;
mod bundle;
mod clients;
mod confidential;
mod cores;
mod deadline;
mod delivery;
mod delivery_nodes;
mod delivery_speed;
mod doctor_sees;
mod documents;
mod e_invoice;
mod entry_rules;
mod entry_speed;
mod erase;
mod errors;
mod feed;
mod full_disk;
mod guides;
mod history;
mod hostile;
mod idempotent;
mod isolation;
mod jobs;
mod judging_cases;
mod kill;
mod leaderboard;
mod limit;
mod limit_nodes;
mod lists;
mod many_accounts;
mod money;
mod new_kind;
mod newcomer;
mod openapi;
mod operate;
mod orders;
mod packages;
mod panels;
mod planner;
mod race;
mod receiver;
mod rename;
mod restore_safe;
mod round_trip;
mod schemathesis;
mod service;
mod setup_bodies;
mod setup_lists;
mod snapshot;
mod speed;
mod ssrf;
mod statements;
mod streaming;
mod streams;
mod tls;
mod tools;
mod upgrade;
mod uploads;
mod webhook_verify;
mod weight;
mod xml;

/// Every proof, in the order in which `--all` runs them.
const PROOFS: &[Proof] = &[
    speed::PROOF,
    errors::PROOF,
    isolation::PROOF,
    confidential::PROOF,
    kill::PROOF,
    race::PROOF,
    limit::PROOF,
    limit_nodes::PROOF,
    idempotent::PROOF,
    full_disk::PROOF,
    guides::PROOF,
    round_trip::PROOF,
    browser::PROOF,
    bundle::PROOF,
    xml::PROOF,
    setup_lists::PROOF,
    apply::PROOF,
    snapshot::PROOF,
    setup_bodies::PROOF,
    openapi::PROOF,
    schemathesis::PROOF,
    lists::PROOF,
    many_accounts::PROOF,
    statements::PROOF,
    history::PROOF,
    rename::PROOF,
    entry_rules::PROOF,
    entry_speed::PROOF,
    deadline::PROOF,
    streams::PROOF,
    webhook_verify::PROOF,
    delivery::PROOF,
    delivery_nodes::PROOF,
    delivery_speed::PROOF,
    ssrf::PROOF,
    jobs::PROOF,
    judging_cases::PROOF,
    planner::PROOF,
    leaderboard::PROOF,
    panels::PROOF,
    money::PROOF,
    orders::invoices::PROOF,
    orders::payment_status::PROOF,
    e_invoice::PROOF,
    feed::PROOF,
    uploads::PROOF,
    streaming::PROOF,
    restore_safe::PROOF,
    doctor_sees::PROOF,
    hostile::PROOF,
    documents::PROOF,
    documents::job::PROOF,
    documents::safe::PROOF,
    documents::scripts::PROOF,
    operate::PROOF,
    clients::PROOF,
    tls::PROOF,
    packages::PROOF,
    erase::PROOF,
    bounds::PROOF,
    newcomer::PROOF,
    new_kind::PROOF,
    upgrade::PROOF,
    weight::PROOF,
];

/// A claim and how it is shown.
pub(crate) struct Proof {
    /// What it is called by on the command line.
    pub(crate) name: &'static str,
    /// What it shows, in one sentence.
    pub(crate) claim: &'static str,
    /// Shows it.
    pub(crate) run: fn(&Context) -> Result<Verdict>,
}

/// What a proof found.
pub(crate) struct Verdict {
    /// Whether the claim holds.
    pub(crate) holds: bool,
    /// The figure it rests on, in one line.
    pub(crate) figure: String,
}

/// A database that the service runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The embedded database.
    Sqlite,
    /// The database server.
    Postgres,
}

/// What a proof may use. Everything that costs something is made at first use and shared by the proofs of one run.
pub struct Context {
    /// Whether the form for the test suite is wanted: small data, few rounds, nothing timed.
    pub(crate) short: bool,
    /// The root of the source tree.
    pub(crate) root: PathBuf,
    /// The one engine that was asked for, if one was.
    pub(crate) engine: Option<Engine>,
    binary: OnceLock<PathBuf>,
    postgres: OnceLock<Postgres>,
}

impl Engine {
    /// The name as the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl Context {
    /// A context that has started and built nothing yet.
    #[must_use]
    pub fn new(root: PathBuf, short: bool, engine: Option<Engine>) -> Self {
        Self { short, root, engine, binary: OnceLock::new(), postgres: OnceLock::new() }
    }

    /// The engines to show the claim on: the one asked for, or both.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        self.engine.map_or_else(|| vec![Engine::Sqlite, Engine::Postgres], |engine| vec![engine])
    }

    /// The release binary of the service, built at the first call.
    pub(crate) fn binary(&self) -> Result<PathBuf> {
        if let Some(binary) = self.binary.get() {
            return Ok(binary.clone());
        }
        self.cargo(process::BUILD).run()?;
        let binary = self.target()?.join("release").join("plaudit");
        if !binary.is_file() {
            bail!("the build left no {}", binary.display());
        }
        Ok(self.binary.get_or_init(|| binary).clone())
    }

    /// The same with another binary of the service, and with a PostgreSQL of its own.
    pub(crate) fn with_binary(&self, binary: PathBuf) -> Self {
        let context = Self::new(self.root.clone(), self.short, self.engine);
        context.binary.get_or_init(|| binary);
        context
    }

    /// The typesetter, built at the first call.
    pub(crate) fn typesetter(&self) -> Result<PathBuf> {
        process::typesetter(&self.root)
    }

    /// A private PostgreSQL, started at the first call: with the durable settings of a production server, but for the short form,
    /// which does not wait for the disk.
    pub(crate) fn postgres(&self) -> Result<&Postgres> {
        if let Some(postgres) = self.postgres.get() {
            return Ok(postgres);
        }
        let started = Postgres::start(!self.short)?;
        Ok(self.postgres.get_or_init(|| started))
    }

    /// A directory of its own, removed when it is dropped.
    #[allow(clippy::unused_self, reason = "a proof takes all it uses from its context")]
    pub(crate) fn scratch(&self) -> Result<TempDir> {
        tempfile::Builder::new().prefix("plaudit-proof-").tempdir().context("no temporary directory can be made")
    }

    /// Where `python3` is: the second implementation that answers are read back with.
    #[allow(clippy::unused_self, reason = "a proof takes all it uses from its context")]
    pub(crate) fn python(&self) -> Result<PathBuf> {
        process::find("python3").context("this proof needs python3: install the package python3")
    }

    /// A run of cargo in the source tree.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Cargo {
        Cargo::new(&self.root, arguments)
    }

    /// The directory that cargo builds into.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        crate::metadata::target(&self.root)
    }
}

/// Prints the name and the claim of every proof.
pub fn list() {
    for proof in PROOFS {
        println!("{:<13} {}", proof.name, proof.claim);
    }
}

/// The names of all proofs.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROOFS.iter().map(|proof| proof.name).collect()
}

/// Runs the proof of that name and prints its verdict as the last line; the verdict is the error where it falls short.
pub fn run(name: &str, context: &Context) -> Result<()> {
    let Some(proof) = PROOFS.iter().find(|proof| proof.name == name) else {
        bail!("there is no proof `{name}`; there are: {}", names().join(", "));
    };
    println!("{}: {}", proof.name, proof.claim);
    let begun = Instant::now();
    let verdict = (proof.run)(context).with_context(|| format!("{name}: cannot be shown"))?;
    println!("({:.1} s)", begun.elapsed().as_secs_f64());
    ensure!(verdict.holds, verdict.line(proof.name));
    println!("{}", verdict.line(proof.name));
    Ok(())
}

/// Runs every proof, goes on after one that fails, and returns the names of those that do not hold.
pub fn run_all(context: &Context) -> Vec<&'static str> {
    let mut failed = Vec::new();
    for name in names() {
        println!();
        if let Err(error) = run(name, context) {
            println!("{error:#}");
            failed.push(name);
        }
    }
    failed
}

impl Verdict {
    /// A verdict with its figure.
    pub(crate) fn new(holds: bool, figure: impl Into<String>) -> Self {
        Self { holds, figure: figure.into() }
    }

    fn line(&self, name: &str) -> String {
        let verdict = if self.holds { "holds" } else { "FALLS SHORT" };
        format!("{name}: {verdict}: {}", self.figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_one_line_with_the_figure() {
        assert_eq!(Verdict::new(true, "60 of 60").line("limit"), "limit: holds: 60 of 60");
        assert_eq!(Verdict::new(false, "59 of 60").line("limit"), "limit: FALLS SHORT: 59 of 60");
    }

    #[test]
    fn names_are_unique_and_claims_are_sentences() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROOFS.len());
        assert!(PROOFS.iter().all(|proof| proof.claim.ends_with('.')), "a claim ends in a full stop");
    }
}
