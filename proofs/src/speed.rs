//! `speed`: the bars of the benchmark, told as ratios measured in one run.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{Context, Proof, Verdict};
use crate::bench;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "speed",
    claim: "Reads, pages of any filter, sort and depth, lists after a start or a change, and durable writes reach their \
            share of what the machine can do, with bounded memory and the same number of statements at any size.",
    run,
};

fn run(context: &Context) -> Result<Verdict> {
    shown(context, &[])
}

/// Runs the benchmark with these arguments and judges the bars that it reports.
pub(super) fn shown(context: &Context, arguments: &[&str]) -> Result<Verdict> {
    let figures = context.target()?.join("bench.json");
    remove(&figures)?;
    context.binary()?;
    let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    if context.short {
        arguments.push("--short".to_owned());
    }
    if let Some(engine) = context.engine {
        arguments.extend(["--engine".to_owned(), engine.name().to_owned()]);
    }
    let (succeeded, _) = bench::command(&context.root, context.postgres()?, &arguments)?.capture()?;
    let text = fs::read_to_string(&figures).with_context(|| format!("the benchmark left no {}", figures.display()))?;
    let figures: Value = serde_json::from_str(&text).context("the figures of the benchmark are not JSON")?;
    let mut verdict = judge(&figures, context.short)?;
    if !succeeded {
        // A benchmark that stops half-way may have written figures that hold.
        verdict = Verdict::new(false, format!("the benchmark did not run to its end; {}", verdict.figure));
    }
    Ok(verdict)
}

/// Figures of an earlier run must not be taken for those of this one.
fn remove(figures: &Path) -> Result<()> {
    match fs::remove_file(figures) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).context("old figures cannot be removed"),
        _ => Ok(()),
    }
}

/// Holds when every bar holds. The suite contains nothing timed, so its form looks only at what is counted.
fn judge(figures: &Value, short: bool) -> Result<Verdict> {
    let bars = figures["bars"].as_array().context("the figures of the benchmark have no `bars`")?;
    let counts = |bar: &&Value| !short || bar["timed"] == Value::Bool(false);
    let judged: Vec<&Value> = bars.iter().filter(counts).collect();
    if judged.is_empty() {
        bail!("the benchmark reports no bar to judge");
    }
    let missed: Vec<&&Value> = judged.iter().filter(|bar| bar["holds"] != Value::Bool(true)).collect();
    let shown = if missed.is_empty() { judged.iter().collect() } else { missed.clone() };
    let shown: Vec<String> = shown.into_iter().map(|bar| describe(bar)).collect();
    let mut figure = match missed.len() {
        0 => format!("{} bars: {}", judged.len(), shown.join("; ")),
        count => format!("{count} of {} bars missed: {}", judged.len(), shown.join("; ")),
    };
    for part in figures["left_out"].as_array().into_iter().flatten() {
        figure.push_str("; left out: ");
        figure.push_str(&plain(part));
    }
    Ok(Verdict::new(missed.is_empty(), figure))
}

fn describe(bar: &Value) -> String {
    format!("{} {} (bar {})", plain(&bar["name"]), plain(&bar["measured"]), plain(&bar["bar"]))
}

fn plain(value: &Value) -> String {
    match (value, value.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(number)) if number.fract() != 0.0 => format!("{number:.3}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures(statements: bool, ratio: bool) -> Value {
        json!({"bars": [
            {"name": "statements", "bar": "same", "measured": 2, "holds": statements, "timed": false},
            {"name": "GET /order", "bar": 0.2, "measured": 0.24, "holds": ratio, "timed": true},
        ]})
    }

    #[test]
    fn every_bar_counts_in_the_whole_form() {
        let verdict = judge(&figures(true, true), false).unwrap();
        assert!(verdict.holds);
        assert_eq!(verdict.figure, "2 bars: statements 2 (bar same); GET /order 0.240 (bar 0.200)");
        let verdict = judge(&figures(true, false), false).unwrap();
        assert!(!verdict.holds);
        assert_eq!(verdict.figure, "1 of 2 bars missed: GET /order 0.240 (bar 0.200)");
    }

    #[test]
    fn only_what_is_counted_counts_in_the_short_form() {
        assert!(judge(&figures(true, false), true).unwrap().holds);
        assert!(!judge(&figures(false, true), true).unwrap().holds);
    }

    #[test]
    fn what_was_left_out_is_told() {
        let mut figures = figures(true, true);
        figures["left_out"] = json!(["start on macOS"]);
        assert!(judge(&figures, false).unwrap().figure.ends_with("; left out: start on macOS"));
    }

    #[test]
    fn no_bars_are_no_proof() {
        assert!(judge(&json!({"bars": []}), false).is_err());
        assert!(judge(&json!({}), false).is_err());
    }
}
