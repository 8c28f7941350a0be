//! `planner`: plans of the size of a large award, how long they take and how much memory, and whether they keep every rule.

use std::fs;
use std::process;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use planner::{Affinity, Conflict, Entry, Judge, Pair, Problem};

use super::process::Cargo;
use super::service::{Checks, Random, memory_of};
use super::{Context, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "planner",
    claim: "10,000 entries get 3 of 500 judges each at random under balance in 0.2 s and 60 MB, with affinities exactly in \
            5 s, always by the rules; and no small problem has a better plan than the one that is made.",
    run,
};

/// How large the problems are.
struct Scale {
    entries: u32,
    judges: u32,
    per_entry: u32,
    seeds: u32,
    /// Small problems that are held against every possible plan.
    small: u32,
}

const WHOLE: Scale = Scale { entries: 10_000, judges: 500, per_entry: 3, seeds: 10, small: 10_000 };
const SHORT: Scale = Scale { entries: 400, judges: 25, per_entry: 3, seeds: 2, small: 200 };

/// The bars, in seconds and bytes.
const RANDOM: (f64, u64) = (0.2, 60_000_000);
const EXACT: f64 = 5.0;

fn run(context: &Context) -> Result<Verdict> {
    let scale = if context.short { SHORT } else { WHOLE };
    let mut checks = Checks::default();
    let mut figures = Vec::new();
    for (name, planned, has_affinities) in [
        ("at random", planner::random as fn(&Problem) -> Result<Vec<Pair>, Conflict>, false),
        ("exactly", planner::exact, true),
    ] {
        let (seconds, bytes) = middle(&scale, name, planned, has_affinities, &mut checks)?;
        let figure = format!("{name} in {seconds:.3} s and {:.1} MB", megabytes(bytes));
        println!("  {figure}, of {} seeds", scale.seeds);
        if !context.short {
            let (most, most_bytes) = if has_affinities { (EXACT, u64::MAX) } else { RANDOM };
            checks.check(seconds < most && bytes < most_bytes, || format!("{figure}: too much"));
        }
        figures.push(figure);
    }
    // Brute force is a property of the crate, tried here on many more problems.
    let tests = ["test", "--release", "--workspace", "--test", "properties"];
    let tests = Cargo::new(&context.root, &tests).env("PROPTEST_CASES", scale.small.to_string());
    let (has_succeeded, _) = tests.capture()?;
    checks.check(has_succeeded, || "a small problem has a better plan, or none where one exists".to_owned());
    Ok(checks.verdict(&format!("{}, {} small problems of each kind", figures.join(", "), scale.small)))
}

/// The middle of the seconds that plans take from as many seeds as the scale has, and the most bytes: later plans use memory again.
fn middle(
    scale: &Scale,
    name: &str,
    planned: fn(&Problem) -> Result<Vec<Pair>, Conflict>,
    has_affinities: bool,
    checks: &mut Checks,
) -> Result<(f64, u64)> {
    let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
    for seed in 0..scale.seeds {
        // Every other problem has conflicts, limits of judges, and assignments that stand.
        let problem = problem(scale, u64::from(seed), has_affinities, seed % 2 == 1);
        let before = begin_peak()?;
        let begun = Instant::now();
        let plan = planned(&problem).map_err(|conflict| anyhow!("{name}, seed {seed}: {conflict}"))?;
        seconds.push(begun.elapsed().as_secs_f64());
        bytes.push(memory_of(process::id(), "VmHWM:").saturating_sub(before));
        let broken = planner::check(&problem, &plan).err().unwrap_or_default();
        checks.check(broken.is_empty(), || {
            format!("{name}, seed {seed}: {} rules are broken: {:?}", broken.len(), broken[0])
        });
        checks
            .check(planned(&problem).is_ok_and(|again| again == plan), || format!("{name}, seed {seed}: another plan"));
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let middle = seconds.get(seconds.len() / 2).context("there are no seeds")?;
    Ok((*middle, bytes.into_iter().max().unwrap_or_default()))
}

/// A problem from a seed.
fn problem(scale: &Scale, seed: u64, has_affinities: bool, has_rules: bool) -> Problem {
    let mut random = Random::new(seed);
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let load = count(scale.entries * scale.per_entry / scale.judges);
    let entry = |random: &mut Random| Entry {
        wanted: count(scale.per_entry),
        group: if has_rules { random.below(4) } else { 0 },
        affinities: (0..if has_affinities { scale.judges } else { 0 })
            .map(|judge| Affinity { judge, weight: i32::try_from(random.below(1_000)).unwrap_or_default() })
            .collect(),
    };
    let judge = |number: u32| Judge {
        at_least: if has_rules { load / 2 } else { 0 },
        at_most: if has_rules { load + load / 2 } else { load + 1 },
        // Each judge has three of the four groups.
        groups: has_rules.then(|| (0..4).filter(|group| *group != number % 4).collect()),
    };
    let pair = |random: &mut Random| (count(random.below(scale.entries)), count(random.below(scale.judges)));
    let entries = (0..scale.entries).map(|_| entry(&mut random)).collect();
    let mut pairs: Vec<Pair> = (0..if has_rules { scale.entries } else { 0 }).map(|_| pair(&mut random)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let kept = pairs.iter().copied().filter(|pair| pair.0 % 10 == 0).collect();
    pairs.retain(|pair| pair.0 % 10 != 0);
    Problem { entries, judges: (0..scale.judges).map(judge).collect(), forbidden: pairs, kept, seed }
}

/// Begins the high-water mark of this process's memory anew, and gives what it has now, in bytes.
fn begin_peak() -> Result<u64> {
    fs::write("/proc/self/clear_refs", "5").context("the system does not begin a high-water mark anew")?;
    Ok(memory_of(process::id(), "VmRSS:"))
}

#[allow(clippy::cast_precision_loss, reason = "there are far fewer than a float counts exactly")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
