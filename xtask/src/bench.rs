//! `cargo xtask bench`: the benchmark, with a private PostgreSQL beside it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::postgres::Postgres;
use crate::process::Cargo;

/// Runs the benchmark; it prints its table and writes its figures to `bench.json` in the target directory.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    Cargo::new(root, &["build", "--release", "--package", "plaudit"]).run()?;
    let postgres = Postgres::start(true)?;
    command(root, &postgres, arguments).run()?;
    Ok(ExitCode::SUCCESS)
}

/// The run of the benchmark against that server.
pub(crate) fn command(root: &Path, postgres: &Postgres, arguments: &[String]) -> Cargo {
    let mut words = vec!["run".to_owned(), "--release".to_owned(), "--package".to_owned(), "bench".to_owned()];
    words.push("--".to_owned());
    words.extend_from_slice(arguments);
    Cargo::new(root, &words).env("PLAUDIT_BENCH_POSTGRES", postgres.url("postgres"))
}
