//! Measures the corrected board of 100,000 entries that 5 of 500 judges each have scored.
//!
//! Run with `cargo run --release -p scoring --example measure_models`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use scoring::correction::{VarianceMethod, correct};
use scoring::{ModelError, Score, ScoreTable};

const ENTRIES: usize = 100_000;
const JUDGES: usize = 500;
const PER_ENTRY: usize = 5;
/// How often each is measured; the best and the middle time are printed.
const ROUNDS: usize = 41;

fn main() -> Result<(), ModelError> {
    let scores = scores();
    let table = ScoreTable::new(scores.clone())?;
    measure("table from scores in order", ROUNDS, || ScoreTable::new(scores.clone()));
    measure("corrected board, method III", ROUNDS, || correct(&table, VarianceMethod::HendersonThree));
    measure("corrected board, REML", 1, || correct(&table, VarianceMethod::RestrictedLikelihood));
    let corrected = correct(&table, VarianceMethod::HendersonThree)?;
    measure("intervals of scores and judges", ROUNDS, || corrected.intervals(0.95));
    measure("intervals of places, 100 draws", 1, || corrected.rank_intervals(0.95, 100, [0; 32]));
    println!("sigma {:.3}, sigma_J {:.3}", corrected.residual_variance.sqrt(), corrected.judge_variance.sqrt());
    Ok(())
}

/// Scores with strengths, severities and errors from numbers that look random and are the same in every run.
fn scores() -> Vec<Score> {
    let mut state = 1_u64;
    let mut below = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % count
    };
    let mut scores = Vec::with_capacity(ENTRIES * PER_ENTRY);
    for entry in 0..ENTRIES {
        let strength = below(400);
        let (first, step) = (below(JUDGES), 1 + 2 * below(49));
        let mut judges: Vec<usize> = (0..PER_ENTRY).map(|position| (first + position * step) % JUDGES).collect();
        judges.sort_unstable();
        for judge in judges {
            let points = u32::try_from(strength + (judge * 37) % 100 + below(200)).unwrap_or(0);
            scores.push(Score { entry, judge, value: f64::from(points) / 10.0 });
        }
    }
    scores
}

#[expect(clippy::disallowed_methods, reason = "nothing is measured without a clock")]
fn measure<T>(what: &str, rounds: usize, work: impl Fn() -> T) {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            black_box(work());
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("{what}: best {:?}, middle {:?}", times[0], times[rounds / 2]);
}
