//! `cargo xtask check WORD`: the tests of the interface whose names contain a word, on both engines, in the development profile.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use proofs::postgres::Postgres;
use proofs::process::{self, Cargo};

/// What is built and run; the word follows.
pub(crate) const TESTS: &[&str] = &["test", "--package", "plaudit-tests", "--test", "api"];

/// Runs the tests.
pub(crate) fn run(root: &Path, word: &str) -> Result<ExitCode> {
    let postgres = Postgres::start(false)?;
    let tests = Cargo::new(root, &[TESTS, &[word]].concat());
    let typesetter = process::typesetter(root)?.display().to_string();
    tests.env("PLAUDIT_TEST_POSTGRES", postgres.url("postgres")).env("PLAUDIT_TEST_TYPESETTER", typesetter).run()?;
    Ok(ExitCode::SUCCESS)
}
