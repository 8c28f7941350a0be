//! Measures a board of 100,000 entries, 5 judges an entry and 10 criteria: totals, order, one change.
//!
//! Run with `cargo run --release -p scoring --example measure_totals`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use scoring::modes::scored;
use scoring::sheet::{Criterion, InvalidScale, Method, Scale, Totals, Units};

const ENTRIES: u32 = 100_000;
const JUDGES: u32 = 5;
const CRITERIA: u32 = 10;
/// Each figure is the best of so many.
const ROUNDS: u32 = 50;

/// Numbers below 65,536 that look random and are the same in every run.
fn mixed(number: u32) -> u32 {
    number.wrapping_add(1).wrapping_mul(0x9e37_79b9) >> 16
}

#[expect(clippy::disallowed_methods, reason = "a measurement asks for the time")]
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let once = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..ROUNDS).map(once).min().unwrap_or_default()
}

fn main() -> Result<(), InvalidScale> {
    let criteria: Vec<Criterion> = (0..CRITERIA).map(|index| Criterion::points("criterion", 100, 1 + index)).collect();
    let scale = Scale::new(&criteria, Method::Mean)?;
    let entries: Vec<u32> = (0..ENTRIES).flat_map(|entry| [entry; JUDGES as usize]).collect();
    let scores: Vec<u16> =
        (0..ENTRIES * JUDGES * CRITERIA).map(|at| u16::try_from(mixed(at) % 101).unwrap_or(0)).collect();
    let sheets: Vec<i64> = scores.chunks(CRITERIA as usize).map(|scores| scale.units_of_all(scores)).collect();

    let from_scores = || {
        let mut totals = vec![Totals::default(); ENTRIES as usize];
        scale.add_sheets(&entries, &scores, &mut totals);
        totals
    };
    let from_sheets = || -> Vec<Totals> {
        let sheets = sheets.chunks(JUDGES as usize);
        sheets.map(|sheets| Totals { sum: sheets.iter().sum(), sheets: JUDGES, parts: None }).collect()
    };
    let mut totals = from_scores();
    println!("all totals from {} scores: {:?}", scores.len(), best(from_scores));
    println!("all totals from {} sheets: {:?}", sheets.len(), best(from_sheets));
    println!("order of {ENTRIES} entries: {:?}", best(|| scored::rank(&totals, 1)));
    let entries: Vec<u32> = (0..ENTRIES).map(mixed).collect();
    let changes = best(|| {
        for entry in &entries {
            let (totals, sheet) = (&mut totals[*entry as usize], Units::Whole(sheets[(entry * JUDGES) as usize]));
            totals.remove(&sheet);
            totals.add(&sheet);
        }
    });
    println!("one change of a sheet: {:?}", changes / ENTRIES);
    Ok(())
}
