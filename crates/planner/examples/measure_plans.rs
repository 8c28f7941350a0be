//! Measures plans for 10,000 entries, 500 judges and three judges an entry: `cargo run --release --example measure_plans`.
#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::error::Error;
use std::time::Instant;

use planner::{Affinity, Entry, Judge, Problem, check, exact, random, report, total};

fn problem(seed: u64, affinities: u32) -> Problem {
    let mut state = seed;
    let mut next = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).unwrap_or(0) % below
    };
    let mut affinity = |place| {
        let judge = if affinities == 500 { place } else { next(500) };
        Affinity { judge, weight: i32::try_from(next(1_000)).unwrap_or(0) }
    };
    let mut entry = |_| {
        let affinities = (0..affinities).map(&mut affinity).collect();
        Entry { wanted: 3, group: 0, affinities }
    };
    let judge = Judge { at_least: 60, at_most: 60, groups: None };
    Problem { entries: (0..10_000).map(&mut entry).collect(), judges: vec![judge; 500], seed, ..Problem::default() }
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, affinities) in [("random", 0), ("exact, 20 affinities an entry", 20), ("exact, dense", 500)] {
        for seed in 0..10 {
            let problem = problem(seed, affinities);
            let start = Instant::now();
            let plan = if affinities == 0 { random(&problem)? } else { exact(&problem)? };
            let spent = start.elapsed();
            let inflation = report(&problem, &plan, affinities > 0).inflation;
            check(&problem, &plan).map_err(|broken| format!("{broken:?}"))?;
            println!("{name}, seed {seed}: {spent:.2?}, sum {}, inflation {inflation:?}", total(&problem, &plan));
        }
        let status = std::fs::read_to_string("/proc/self/status")?;
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no peak known"));
    }
    Ok(())
}
