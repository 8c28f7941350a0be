//! The project's own commands: `cargo xtask test`, `check`, `tidy`, `prove`, `bench`, `postgres`.
#![allow(clippy::disallowed_methods, reason = "a tool of the developer reads the environment and the clock itself")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};

use proofs::{bench, postgres};

mod check;
mod test;
mod tidy;

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything that a change must pass: format, lints, invariants, tests on both engines, short proofs.
    Test,
    /// Run the tests of the interface whose names contain a word, on both engines, in the development profile.
    Check {
        /// The word; without it, all of them.
        #[arg(default_value = "")]
        word: String,
    },
    /// Check the invariants of ARCHITECTURE.md on the source text.
    Tidy,
    /// Show one claim about the release binary; the last line is the verdict.
    Prove(Prove),
    /// Run the benchmark; arguments after the name are passed on to it.
    Bench {
        /// Passed on to the benchmark.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run a command beside a private PostgreSQL, whose address is in PLAUDIT_TEST_POSTGRES.
    Postgres {
        /// The command and its arguments.
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

#[derive(clap::Args)]
struct Prove {
    /// The claim to show.
    #[arg(required_unless_present_any = ["list", "all"], conflicts_with_all = ["list", "all"])]
    name: Option<String>,
    /// Name every proof and its claim.
    #[arg(long, conflicts_with = "all")]
    list: bool,
    /// Run every proof.
    #[arg(long)]
    all: bool,
    /// Run the form for the test suite: small data, few rounds, nothing timed.
    #[arg(long)]
    short: bool,
    /// Show it on one engine instead of both.
    #[arg(long, value_enum)]
    engine: Option<proofs::Engine>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match root().and_then(|root| run(arguments.command, &root)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, root: &Path) -> Result<ExitCode> {
    match command {
        Command::Test => test::run(root),
        Command::Check { word } => check::run(root, &word),
        Command::Tidy => tidy::run(root),
        Command::Prove(arguments) => prove(&arguments, root),
        Command::Bench { arguments } => bench::run(root, &arguments),
        Command::Postgres { command } => postgres::run_beside(&command),
    }
}

fn prove(arguments: &Prove, root: &Path) -> Result<ExitCode> {
    if arguments.list {
        proofs::list();
        return Ok(ExitCode::SUCCESS);
    }
    let context = proofs::Context::new(root.to_path_buf(), arguments.short, arguments.engine);
    if let Some(name) = &arguments.name {
        proofs::run(name, &context)?;
        return Ok(ExitCode::SUCCESS);
    }
    let failed = proofs::run_all(&context);
    if !failed.is_empty() {
        bail!("not shown: {}", failed.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

/// The source tree: above the manifest that cargo started us with, or the nearest one above the working directory.
fn root() -> Result<PathBuf> {
    if let Some(root) =
        std::env::var_os("CARGO_MANIFEST_DIR").as_ref().and_then(|manifest| Path::new(manifest).parent())
    {
        return Ok(root.to_path_buf());
    }
    let here = std::env::current_dir().context("there is no working directory")?;
    let is_root = |directory: &&Path| directory.join("xtask").is_dir() && directory.join("Cargo.toml").is_file();
    here.ancestors().find(is_root).map(Path::to_path_buf).context("run this inside the source tree")
}
