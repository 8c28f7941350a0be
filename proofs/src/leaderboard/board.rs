//! A large board that is read while scores arrive: every page is right at the end, an entry is right with the next request after its
//! score, and what pages take is measured.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Map, Value, json};

use crate::service::{Checks, Client, Kind, Program, Random, Service};
use crate::{Context, Engine};

struct Size {
    entries: u32,
    judges: u32,
    /// Scores that arrive, and how many a second.
    scores: u32,
    rate: u32,
}

const WHOLE: Size = Size { entries: 100_000, judges: 500, scores: 15_000, rate: 500 };
const SHORT: Size = Size { entries: 300, judges: 25, scores: 60, rate: 500 };

const SHEETS: u32 = 5;
const CRITERIA: u32 = 10;
/// The most points of a criterion.
const POINTS: u32 = 10;
const SCORE_SET: &str = "ScoreSet";
const WRITERS: u32 = 8;
/// Every so many scores the entry is read at once.
const READ_EVERY: u32 = 50;
/// The longest that a page may take, but for one in a hundred, in milliseconds.
const PAGE: f64 = 10.0;

/// The judge of an entry's sheet: no two sheets of an entry have the same.
pub(super) fn judge(entry: u32, sheet: u32, judges: u32) -> u32 {
    (entry * 7 + entry / judges + sheet * (judges / SHEETS)) % judges
}

/// The points of an entry's sheets, all told, and how many sheets have them.
type Sums = Vec<(u32, u32)>;

pub(super) fn show(context: &Context, engine: Engine, checks: &mut Checks) -> Result<String> {
    let size = if context.short { SHORT } else { WHOLE };
    let program =
        Program { entries: size.entries, users: size.judges, detail_every: 0, orders: 0, ..Program::small(71) };
    let mut service = Service::new(context, engine)?;
    service.import(&program)?;
    let (sums, seconds) = import(&service, &program, &size)?;
    println!("  {}: {} sheets imported in {seconds:.0} s", engine.name(), size.entries * SHEETS);
    service.start()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let begun = Instant::now();
    client.get(&page(1, "rank"))?.expect_status(200)?;
    println!("  {}: the first page after the start in {:.2} s", engine.name(), begun.elapsed().as_secs_f64());

    let begun = Instant::now();
    let (sums, mut pages) = while_scores_arrive(&client, &program, &size, sums, checks)?;
    let rate = f64::from(size.scores) / begun.elapsed().as_secs_f64();
    pages.sort_unstable_by(f64::total_cmp);
    let at =
        |hundredths: usize| pages.get((pages.len() * hundredths / 100).min(pages.len().saturating_sub(1))).copied();
    let (half, most) = (at(50).context("no page was read")?, at(99).context("no page was read")?);
    let figure = format!("pages of {} entries in {half:.1} ms, p99 {most:.1} ms", size.entries);
    println!("  {}: {figure}, {} pages, {rate:.0} scores a second", engine.name(), pages.len());
    if !context.short {
        checks.check(most < PAGE, || format!("the p99 of a page is {most:.1} ms"));
        checks.check(rate > f64::from(size.rate) * 0.95, || format!("only {rate:.0} scores arrived a second"));
    }
    compare(&client, &program, &sums, checks)?;
    Ok(figure)
}

fn page(number: u32, order: &str) -> String {
    format!("/leaderboard?score_set={SCORE_SET}&order={order}&per_page=100&page={number}")
}

/// Imports a score set and its sheets, of which the last one of each entry has no score; gives their points and how long it took.
fn import(service: &Service, program: &Program, size: &Size) -> Result<(Sums, f64)> {
    let (season, form, name) = (program.slug(Kind::Season, 0), program.slug(Kind::Form, 0), json!({"en_GB": "Name"}));
    let path = service.directory().join("judging.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    let round =
        json!({"kind": "round", "slug": "RoundJud", "season": season, "form": form, "name": name, "type": "judge"});
    let set = json!({"kind": "score_set", "slug": SCORE_SET, "season": season, "form": form, "name": name, "mode": "vip_judging",
        "vip_judging": {}});
    writeln!(file, "{round}\n{set}")?;
    for at in 0..CRITERIA {
        let criterion = criterion(at);
        let record =
            json!({"kind": "criterion", "slug": criterion, "score_set": SCORE_SET, "name": name, "maximum": POINTS});
        writeln!(file, "{record}")?;
    }
    let (mut random, mut sums) = (Random::new(72), Vec::new());
    for entry in 0..size.entries {
        let mut sum = 0;
        for sheet in 0..SHEETS {
            let mut record = json!({"kind": "assignment", "entry": program.slug(Kind::Entry, entry),
                "judge": program.slug(Kind::User, judge(entry, sheet, size.judges)), "score_set": SCORE_SET, "rounds": ["RoundJud"]});
            if sheet + 1 < SHEETS {
                let points: Vec<u32> = (0..CRITERIA).map(|_| random.below(POINTS + 1)).collect();
                sum += points.iter().sum::<u32>();
                let score = |(at, points): (u32, &u32)| json!({"criterion": criterion(at), "value": points});
                record["scores"] = (0..).zip(&points).map(score).collect();
            }
            writeln!(file, "{record}")?;
        }
        sums.push((sum, SHEETS - 1));
    }
    file.flush()?;
    let begun = Instant::now();
    service.run(&["import", &path.to_string_lossy(), "--account", &program.account])?.succeeded()?;
    Ok((sums, begun.elapsed().as_secs_f64()))
}

/// The slug of a criterion.
fn criterion(at: u32) -> String {
    format!("Criteri{}", char::from(b'A' + u8::try_from(at).unwrap_or_default()))
}

/// Sends the last sheets of entries at the rate of the size while pages are read; gives the points that there are then, and how long
/// each page took, in milliseconds.
fn while_scores_arrive(
    client: &Client,
    program: &Program,
    size: &Size,
    mut sums: Sums,
    checks: &mut Checks,
) -> Result<(Sums, Vec<f64>)> {
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| read_pages(&client.apart(), size, &has_ended));
        let begun = Instant::now();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write_scores(&client.apart(), program, size, (writer, begun))))
            .collect();
        let written: Vec<_> =
            writers.into_iter().map(|writer| writer.join().map_err(|_| anyhow!("a writer panicked"))).collect();
        has_ended.store(true, Ordering::SeqCst);
        let pages = reader.join().map_err(|_| anyhow!("the reader panicked"))??;
        for written in written {
            for (entry, points, shown) in written?? {
                let sum = sums.get_mut(usize::try_from(entry)?).context("there is no such entry")?;
                *sum = (sum.0 + points, SHEETS);
                if let Some(shown) = shown {
                    let wanted = f64::from(sum.0) / f64::from(SHEETS);
                    checks.check(is_near(shown, wanted), || {
                        format!("entry {entry} has {shown} right after its score, not {wanted}")
                    });
                }
            }
        }
        Ok((sums, pages))
    })
}

fn read_pages(client: &Client, size: &Size, has_ended: &AtomicBool) -> Result<Vec<f64>> {
    let (mut random, mut times) = (Random::new(73), Vec::new());
    while !has_ended.load(Ordering::SeqCst) {
        let order = ["rank", "score"][random.below(2) as usize];
        let path = page(random.below(size.entries / 100) + 1, order);
        let begun = Instant::now();
        client.get(&path)?.expect_status(200)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// A score that was acknowledged: the entry, the points of the sheet, and the mean that the board showed right after it, where that was
/// asked for.
type Written = (u32, u32, Option<f64>);

fn write_scores(
    client: &Client,
    program: &Program,
    size: &Size,
    (writer, begun): (u32, Instant),
) -> Result<Vec<Written>> {
    let (mut random, mut written) = (Random::new(u64::from(100 + writer)), Vec::new());
    for number in (writer..size.scores).step_by(usize::try_from(WRITERS)?) {
        let due = begun + Duration::from_secs(1) * number / size.rate;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        // Entries of everywhere, each once.
        let entry = number * (size.entries / size.scores);
        let slug = program.slug(Kind::Entry, entry);
        let of_judge = program.slug(Kind::User, judge(entry, SHEETS - 1, size.judges));
        let points: Vec<u32> = (0..CRITERIA).map(|_| random.below(POINTS + 1)).collect();
        let criteria: Map<String, Value> =
            (0..).zip(&points).map(|(at, points)| (criterion(at), json!(points))).collect();
        client
            .put(&format!("/assignment/{slug}{of_judge}{SCORE_SET}J/score"), &json!({"criteria": criteria}))?
            .expect_status(200)?;
        let shown = if number.is_multiple_of(READ_EVERY) { Some(mean_of(client, &slug)?) } else { None };
        written.push((entry, points.iter().sum(), shown));
    }
    Ok(written)
}

/// The mean that the board shows of an entry.
fn mean_of(client: &Client, entry: &str) -> Result<f64> {
    let path = format!("/leaderboard?score_set={SCORE_SET}&entry={entry}");
    let answer = client.get(&path)?.expect_status(200)?.json()?;
    mean(&answer["data"][0])
}

/// The mean of an item.
fn mean(item: &Value) -> Result<f64> {
    let value = &item["scores"]["total_score"]["value"];
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.with_context(|| format!("no score in {item}"))
}

/// Whether a number is the other, rounded for display.
fn is_near(shown: f64, exact: f64) -> bool {
    (shown - exact).abs() < 0.006
}

/// Every page of the board: each entry once, with its mean, its sheets and its place.
fn compare(client: &Client, program: &Program, sums: &Sums, checks: &mut Checks) -> Result<()> {
    let entries: HashMap<String, usize> =
        (0..program.entries).zip(0..).map(|(position, at)| (program.slug(Kind::Entry, position), at)).collect();
    // Means are compared exactly: a sum of 5 sheets as 4 times as much, and one of 4 as 5 times.
    let key = |at: usize| sums.get(at).map_or(0, |(sum, sheets)| sum * SHEETS * (SHEETS - 1) / sheets);
    let mut keys: Vec<u32> = (0..sums.len()).map(key).collect();
    keys.sort_unstable_by(|left, right| right.cmp(left));
    let place = |key: u32| keys.partition_point(|other| *other > key) + 1;
    let mut seen = vec![false; sums.len()];
    for number in 1..=program.entries / 100 {
        let answer = client.get(&page(number, "rank"))?.expect_status(200)?.json()?;
        for item in answer["data"].as_array().context("the page has no items")? {
            let slug = item["slug"].as_str().unwrap_or_default();
            let at = *entries.get(slug).with_context(|| format!("{slug} is no entry"))?;
            checks.check(!std::mem::replace(&mut seen[at], true), || format!("{slug} is on the board twice"));
            let (sum, sheets) = sums[at];
            let (shown, wanted) = (mean(item)?, f64::from(sum) / f64::from(sheets));
            checks.check(is_near(shown, wanted), || format!("{slug} has {shown}, not {wanted}"));
            let wanted = json!([place(key(at)), sheets]);
            let shown = json!([item["rank"], item["sheets"]]);
            checks.check(shown == wanted, || format!("{slug} has place and sheets {shown}, not {wanted}"));
        }
    }
    let missing = seen.iter().filter(|seen| !**seen).count();
    checks.check(missing == 0, || format!("{missing} entries are not on the board"));
    Ok(())
}
