//! `cargo xtask test`: everything that a change must pass, here and in continuous integration.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::tidy;
use proofs::postgres::Postgres;
use proofs::process::{self, Cargo};

/// The steps that have run.
#[derive(Default)]
struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    duration: Duration,
    failure: Option<String>,
}

/// Runs every step, goes on after one that fails, and ends with a summary. All of it is built in the release profile,
/// so that each dependency is built once and the proofs run on what is shipped.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let cargo = |arguments: &[&str]| Cargo::new(root, arguments);
    let mut steps = Steps::default();
    steps.run("format", || cargo(&["fmt", "--all", "--check"]).run());
    steps.run("clippy", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--release", "--", "--deny", "warnings"]).run()
    });
    steps.run("tidy", || tidy::check(root));
    steps.run("tests", || {
        let (postgres, typesetter) = (Postgres::start(false)?, process::typesetter(root)?);
        let tests = cargo(&["test", "--release", "--workspace", "--no-fail-fast"]);
        tests
            .env("PLAUDIT_TEST_POSTGRES", postgres.url("postgres"))
            .env("INSTA_UPDATE", "no")
            .env("PLAUDIT_TEST_TYPESETTER", typesetter.display().to_string())
            .run()
    });
    steps.run("tests of the typesetter", || {
        let folder = proofs::metadata::target(root)?.join("typeset").display().to_string();
        let workspace = process::of_typesetter(&folder);
        cargo(&["fmt", "--manifest-path", "typeset/Cargo.toml", "--check"]).run()?;
        let lint = ["--release", "--all-targets"];
        cargo(&[&["clippy"], &workspace[..], &lint, &["--", "--deny", "warnings"]].concat()).run()?;
        cargo(&[&["test", "--release"], &workspace[..]].concat()).run()
    });
    steps.run("build", || cargo(process::BUILD).run());
    let context = proofs::Context::new(root.to_path_buf(), true, None);
    for name in proofs::names() {
        steps.run(&format!("prove {name} --short"), || proofs::run(name, &context));
    }
    drop(context);
    steps.summary()
}

impl Steps {
    fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        println!("\n== {name}");
        let begun = Instant::now();
        let failure = step().err().map(|error| format!("{error:#}"));
        let duration = begun.elapsed();
        if let Some(failure) = &failure {
            println!("{failure}");
        }
        println!("== {name}: {} in {:.1} s", verdict(failure.as_ref()), duration.as_secs_f64());
        self.done.push(Step { name: name.to_owned(), duration, failure });
    }

    fn summary(&self) -> Result<ExitCode> {
        println!("\n== summary, the slowest last");
        let mut by_duration: Vec<&Step> = self.done.iter().collect();
        by_duration.sort_by_key(|step| step.duration);
        for step in by_duration {
            let verdict = verdict(step.failure.as_ref());
            println!("{verdict:<6} {:>7.1} s  {}", step.duration.as_secs_f64(), step.name);
        }
        let failures = self.done.iter().filter_map(|step| Some(format!("{}: {}", step.name, step.failure.as_ref()?)));
        let failures: Vec<String> = failures.collect();
        if !failures.is_empty() {
            bail!("{} of {} steps failed: {}", failures.len(), self.done.len(), failures.join("; "));
        }
        println!("all {} steps passed", self.done.len());
        Ok(ExitCode::SUCCESS)
    }
}

fn verdict(failure: Option<&String>) -> &'static str {
    if failure.is_some() { "FAILED" } else { "ok" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_fails_the_whole_and_the_next_still_runs() {
        let mut steps = Steps::default();
        steps.run("one", || bail!("no"));
        steps.run("two", || Ok(()));
        assert_eq!(steps.done.len(), 2);
        assert_eq!(steps.summary().unwrap_err().to_string(), "1 of 2 steps failed: one: no");
    }
}
