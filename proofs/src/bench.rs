//! `cargo xtask bench`: the benchmark, with a private PostgreSQL beside it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::metadata;
use crate::postgres::Postgres;
use crate::process::{BUILD, Cargo};

/// Runs the benchmark; it prints its table and writes its figures to `bench.json` in the target directory.
pub fn run(root: &Path, arguments: &[String]) -> Result<ExitCode> {
    Cargo::new(root, BUILD).run()?;
    let postgres = Postgres::start(true)?;
    command(root, &postgres, arguments)?.run()?;
    Ok(ExitCode::SUCCESS)
}

/// The run of the benchmark, which is built, against that server.
pub fn command(root: &Path, postgres: &Postgres, arguments: &[String]) -> Result<Cargo> {
    let program = metadata::target(root)?.join("release").join("bench");
    Ok(Cargo::built(&program, root, arguments).env("PLAUDIT_BENCH_POSTGRES", postgres.url("postgres")))
}
