//! The figures and bars of a run, as a table and as JSON.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::load::Measured;
use crate::machine::Machine;

/// One figure.
#[derive(Debug, Serialize)]
struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
}

/// One bar, and whether it holds.
#[derive(Debug, Serialize)]
struct Bar {
    name: String,
    #[serde(rename = "bar")]
    condition: String,
    measured: f64,
    holds: bool,
    timed: bool,
}

/// The pages of one filter and sort order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Flatness {
    pub(crate) engine: &'static str,
    pub(crate) query: String,
    pub(crate) total: u64,
    pub(crate) page: u64,
    pub(crate) first_microseconds: f64,
    pub(crate) first_bytes: f64,
    pub(crate) middle_microseconds: f64,
    pub(crate) last_microseconds: f64,
    pub(crate) last_bytes: f64,
    pub(crate) ratio: f64,
}

/// What a run found.
pub(crate) struct Report {
    machine: Machine,
    short: bool,
    figures: Vec<Figure>,
    bars: Vec<Bar>,
    flatness: Vec<Flatness>,
    failures: Vec<String>,
    left_out: Vec<String>,
}

/// Whole microseconds and their fractions.
pub(crate) fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

impl Report {
    pub(crate) fn new(machine: Machine, short: bool) -> Self {
        println!("{}", machine.line());
        Self {
            machine,
            short,
            figures: Vec::new(),
            bars: Vec::new(),
            flatness: Vec::new(),
            failures: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// A figure without a bar; printed at once, because a run is long.
    pub(crate) fn figure(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        let name = name.into();
        println!("  {name:<64} {:>14} {unit}", number(value));
        self.figures.push(Figure { name, value, unit });
    }

    /// The figures of a load.
    pub(crate) fn load(&mut self, name: &str, measured: Measured) {
        self.figure(format!("{name}: rate"), measured.rate, "a second");
        self.figure(format!("{name}: processor time"), measured.microseconds, "us a request");
        self.figure(format!("{name}: core used"), measured.busy * 100.0, "%");
    }

    /// A value that must not be smaller.
    pub(crate) fn at_least(&mut self, name: impl Into<String>, bar: f64, measured: f64) {
        self.bar(name.into(), format!("at least {bar}"), measured, measured >= bar, true);
    }

    /// A value that must not be greater.
    pub(crate) fn at_most(&mut self, name: impl Into<String>, bar: f64, measured: f64, unit: &str) {
        let bar_text = if unit.is_empty() { format!("at most {bar}") } else { format!("at most {bar} {unit}") };
        self.bar(name.into(), bar_text, measured, measured <= bar, true);
    }

    /// A number that is counted and must be the same at every size.
    pub(crate) fn same(&mut self, name: impl Into<String>, values: &[f64]) {
        let first = values.first().copied().unwrap_or(f64::NAN);
        let holds = values.iter().all(|value| (value - first).abs() < 1e-9);
        // Where it does not hold, the greatest number is the one to look at.
        let measured = if holds { first } else { values.iter().copied().fold(f64::MIN, f64::max) };
        let shown: Vec<String> = values.iter().map(|value| number(*value)).collect();
        self.bar(name.into(), format!("the same: {}", shown.join(", ")), measured, holds, false);
    }

    fn bar(&mut self, name: String, condition: String, measured: f64, holds: bool, timed: bool) {
        println!("  {name:<64} {:>14} ({condition}) {}", number(measured), if holds { "holds" } else { "MISSED" });
        self.bars.push(Bar { name, condition, measured, holds, timed });
    }

    /// The pages of one filter and sort order.
    pub(crate) fn flatness(&mut self, row: Flatness) {
        self.flatness.push(row);
    }

    /// A part that this run cannot make.
    pub(crate) fn left_out(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        println!("left out: {reason}");
        self.left_out.push(reason);
    }

    /// Runs one part; a fault of it is reported, and the other parts still run.
    pub(crate) fn part(&mut self, name: &str, work: impl FnOnce(&mut Self) -> Result<()>) {
        println!("{name}");
        if let Err(error) = work(self) {
            println!("  FAILED: {error:#}");
            self.failures.push(format!("{name}: {error:#}"));
        }
    }

    /// Prints the table, writes the JSON, and tells whether every part ran.
    pub(crate) fn finish(&self, path: &Path) -> Result<bool> {
        self.print_flatness();
        println!("\nbars");
        for bar in &self.bars {
            let verdict = if bar.holds { "holds" } else { "MISSED" };
            println!("  {verdict:<7} {:<64} {:>12}  {}", bar.name, number(bar.measured), bar.condition);
        }
        for failure in &self.failures {
            println!("  FAILED  {failure}");
        }
        let value = json!({
            "machine": self.machine,
            "when": jiff::Timestamp::now().to_string(),
            "short": self.short,
            "figures": self.figures,
            "bars": self.bars,
            "flatness": self.flatness,
            "left_out": self.left_out,
            "failures": self.failures,
        });
        std::fs::write(path, serde_json::to_string_pretty(&value)?)?;
        println!("{}", path.display());
        Ok(self.failures.is_empty())
    }

    fn print_flatness(&self) {
        if self.flatness.is_empty() {
            return;
        }
        println!("\npages, microseconds (first, middle, last) and the last against the first by the byte");
        for row in &self.flatness {
            println!(
                "  {:<10} {:<86} {:>8} {:>8} {:>8} {:>6}",
                row.engine,
                format!("{} page {} of {} records", row.query, row.page, row.total),
                number(row.first_microseconds),
                number(row.middle_microseconds),
                number(row.last_microseconds),
                number(row.ratio)
            );
        }
    }
}

/// As many digits as say something.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Cores;

    #[test]
    fn a_number_that_differs_between_sizes_misses_its_bar() {
        let mut report = Report::new(Machine::describe(&Cores::default()), true);
        report.same("same", &[2.0, 2.0, 2.0]);
        report.same("grows", &[2.0, 2.0, 3.0]);
        let found: Vec<(bool, f64)> = report.bars.iter().map(|bar| (bar.holds, bar.measured)).collect();
        assert_eq!(found, [(true, 2.0), (false, 3.0)]);
    }

    #[test]
    fn a_part_that_fails_is_told_and_the_others_run() {
        let mut report = Report::new(Machine::describe(&Cores::default()), true);
        report.part("one", |_| anyhow::bail!("broken"));
        report.part("two", |report| {
            report.figure("figure", 1.0, "");
            Ok(())
        });
        assert_eq!(report.failures, ["one: broken"]);
        assert_eq!(report.figures.len(), 1);
    }
}
