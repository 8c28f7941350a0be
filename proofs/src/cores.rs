//! Cores and what is used of them: the service has one for itself, and this program the others.

use std::fs;
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result};

use crate::process;

/// The core of the service; what it is compared with has the others.
pub(crate) const SERVICE: usize = 0;

/// Keeps this program off the core of the service, where there is another.
pub(crate) struct Elsewhere {
    before: Option<String>,
}

impl Elsewhere {
    /// Begins to; it ends with what is given back.
    pub(crate) fn begin() -> Result<Self> {
        if cores() < 2 {
            return Ok(Self { before: None });
        }
        let shown = affinity(&["--cpu-list"])?;
        let before = shown.rsplit(": ").next().unwrap_or_default().trim().to_owned();
        affinity(&["--cpu-list", &format!("1-{}", cores() - 1)])?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = affinity(&["--cpu-list", before]);
        }
    }
}

/// How many cores there are.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The processor time that a process has used.
pub(crate) fn processor_seconds(process: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<_> = status.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u32>().ok()).map(f64::from);
    let used = ticks(11).zip(ticks(12)).map(|(user, system)| user + system).context("no times of the process")?;
    let a_second: f64 = process::output(Command::new("getconf").arg("CLK_TCK"))?.trim().parse()?;
    Ok(used / a_second)
}

fn affinity(arguments: &[&str]) -> Result<String> {
    let own = std::process::id().to_string();
    process::output(Command::new("taskset").args(["--all-tasks", "--pid"]).args(arguments).arg(own))
}
