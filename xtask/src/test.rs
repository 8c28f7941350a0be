//! `cargo xtask test`: everything that a change must pass, here and in continuous integration.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::tidy;
use proofs::postgres::Postgres;
use proofs::process::{self, Cargo};

/// The tests inside the server's own package, which are more code than the server and run once: they are not optimized.
const TESTS_OF_SERVER: &[&str] =
    &["--package", "plaudit", "--lib", "--config", "profile.release.package.plaudit.opt-level=0"];
const OTHER_TESTS: &[&str] = &["--workspace", "--exclude", "plaudit"];

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

/// Runs every step, goes on after one that fails, and ends with a summary. Dependencies are built in the release profile alone, once,
/// and the proofs run on what is shipped.
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
        let tests = |which: &[&str]| {
            cargo(&[&["test", "--release", "--no-fail-fast"], which].concat())
                .env("PLAUDIT_TEST_POSTGRES", postgres.url("postgres"))
                .env("INSTA_UPDATE", "no")
                .env("PLAUDIT_TEST_TYPESETTER", typesetter.display().to_string())
                .run()
        };
        let (of_server, others) = (tests(TESTS_OF_SERVER), tests(OTHER_TESTS));
        of_server.and(others)
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
    let program = proofs::metadata::target(root)?.join("release").join("xtask");
    steps.short_proofs(&program);
    steps.summary()
}

impl Step {
    fn print(&self) {
        if let Some(failure) = &self.failure {
            println!("{failure}");
        }
        println!("== {}: {} in {:.1} s", self.name, verdict(self.failure.as_ref()), self.duration.as_secs_f64());
    }
}

impl Steps {
    fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        println!("\n== {name}");
        let begun = Instant::now();
        let failure = step().err().map(|error| format!("{error:#}"));
        let step = Step { name: name.to_owned(), duration: begun.elapsed(), failure };
        step.print();
        self.done.push(step);
    }

    /// The short proofs, as many at a time as there are cores: most of them wait more than they work. Each is a process of its own, so
    /// that what it prints stays together. The program is the one just built: the file of the one that runs here may have been replaced.
    fn short_proofs(&mut self, program: &Path) {
        let (left, done) = (Mutex::new(proofs::names().into_iter()), Mutex::new(&mut self.done));
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let prove_in_turn = || {
            while let Some(name) = next() {
                let begun = Instant::now();
                let (printed, failure) = short_proof(program, name);
                let step = Step { name: format!("prove {name} --short"), duration: begun.elapsed(), failure };
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                println!("\n== {}\n{printed}", step.name);
                step.print();
                done.push(step);
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(prove_in_turn);
            }
        });
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

/// Runs the short form of a proof; gives what it printed, and what failed.
fn short_proof(program: &Path, name: &str) -> (String, Option<String>) {
    match Command::new(program).args(["prove", name, "--short"]).output() {
        Ok(output) => {
            let printed = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
            let failure = (!output.status.success()).then(|| printed.lines().last().unwrap_or_default().to_owned());
            (printed, failure)
        }
        Err(error) => (String::new(), Some(format!("`{}` cannot be started: {error}", program.display()))),
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
