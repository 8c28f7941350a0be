//! What the crate takes in memory for all totals and places, and for a board that is corrected for its judges.

use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use scoring::correction::{VarianceMethod, correct};
use scoring::modes::scored;
use scoring::sheet::{Criterion, Method, Scale, Totals, Units};
use scoring::{Score, ScoreTable};

use crate::service::{Checks, Random};

const CRITERIA: u32 = 10;
const SHEETS: u32 = 5;
/// The most points of a criterion.
const POINTS: u32 = 10;
/// How often each figure is measured; the middle one counts.
const RUNS: usize = 9;

/// The bars, in milliseconds.
const FULL: f64 = 5.0;
const CORRECTED: f64 = 50.0;

/// Measures, and compares totals that are kept by differences with those of all sheets.
pub(super) fn show(is_short: bool, checks: &mut Checks) -> Result<String> {
    let (entries, judges, operations) = if is_short { (500, 25, 2_000) } else { (100_000, 500, 100_000) };
    let mut random = Random::new(71);
    let criteria: Vec<Criterion> = (0..CRITERIA).map(|at| Criterion::points(&at.to_string(), POINTS, at + 1)).collect();
    let scale = Scale::new(&criteria, Method::Sum).map_err(|error| anyhow!("{error:?}"))?;
    let entry_of: Vec<u32> = (0..entries * SHEETS).map(|sheet| sheet / SHEETS).collect();
    let mut scores: Vec<u8> = Vec::new();
    for _ in 0..entries * SHEETS * CRITERIA {
        scores.push(u8::try_from(random.below(POINTS + 1))?);
    }
    let all = |scores: &[u8]| {
        let mut totals = vec![Totals::default(); entry_of.len() / SHEETS as usize];
        scale.add_sheets(&entry_of, scores, &mut totals);
        totals
    };

    let full = middle(|| {
        let totals = all(&scores);
        scored::rank(&totals, 1).entries().len() == totals.len()
    })?;

    let mut totals = all(&scores);
    for _ in 0..operations {
        let sheet = random.below(entries * SHEETS);
        let at = (sheet * CRITERIA) as usize..((sheet + 1) * CRITERIA) as usize;
        let kept = scores.get_mut(at).context("there is no such sheet")?;
        let units = |scores: &[u8]| Units::Whole(scale.units_of_all(scores));
        let of_entry = totals.get_mut((sheet / SHEETS) as usize).context("there is no such entry")?;
        of_entry.remove(&units(kept));
        for score in kept.iter_mut() {
            *score = u8::try_from(random.below(POINTS + 1))?;
        }
        of_entry.add(&units(kept));
    }
    checks.check(totals == all(&scores), || format!("after {operations} changes totals are not those of all sheets"));

    let value = |sheet: u32| {
        let at = (sheet * CRITERIA) as usize..((sheet + 1) * CRITERIA) as usize;
        scores.get(at).map_or(0.0, |scores| f64::from(scores.iter().map(|score| u32::from(*score)).sum::<u32>()))
    };
    let score = |sheet: u32| Score {
        entry: (sheet / SHEETS) as usize,
        judge: (super::board::judge(sheet / SHEETS, sheet % SHEETS, judges)) as usize,
        value: value(sheet),
    };
    let table = ScoreTable::new((0..entries * SHEETS).map(score).collect()).map_err(|error| anyhow!("{error:?}"))?;
    let corrected = middle(|| {
        correct(&table, VarianceMethod::HendersonThree).is_ok_and(|corrected| corrected.places.len() == table.entries())
    })?;
    if !is_short {
        checks.check(full < FULL, || format!("all totals and places take {full:.1} ms"));
        checks.check(corrected < CORRECTED, || format!("the corrected board takes {corrected:.1} ms"));
    }
    let figure =
        format!("{entries} entries in memory in {full:.2} ms, corrected for {judges} judges in {corrected:.1} ms");
    println!("  {figure}, the middle of {RUNS} runs");
    Ok(figure)
}

/// How long something takes that must succeed, in milliseconds, the middle of several runs.
fn middle(work: impl Fn() -> bool) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let has_succeeded = std::hint::black_box(work());
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        has_succeeded.then_some(()).context("what is measured has failed")?;
    }
    times.sort_unstable_by(f64::total_cmp);
    times.get(RUNS / 2).copied().context("nothing was measured")
}
