//! A rush at a deadline: thousands of submissions in the last second before a round closes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Who is in time is in, and nobody else is.
pub(crate) const PROOF: Proof = Proof {
    name: "deadline",
    claim: "Of 2,000 submissions in the last second of a round those acknowledged are in, those after it are refused, and \
            no number is given twice or left out.",
    run: |context| on_each_engine(context, show),
};

/// How many submissions are under way at the same time.
const CONNECTIONS: usize = 32;

/// How long before the round closes the last one of them is asked for: some are sent too late on purpose.
const RUSH: Duration = Duration::from_millis(1_100);
/// How long before the end the rush begins.
const BEFORE: Duration = Duration::from_secs(1);

/// How long the round is open after it was set up.
const OPEN: Duration = Duration::from_secs(6);

/// The time zone of the account, which is not that of any clock here, and what its clocks are ahead of UTC.
const ZONE: (&str, u64) = ("Asia/Kathmandu", (5 * 60 + 45) * 60);

/// One submission: of an entry that is there, or of a new one.
#[derive(Clone, Debug)]
enum Submission {
    Of(String),
    New(usize),
}

/// What became of it.
#[derive(Clone, Debug)]
struct Outcome {
    submission: Submission,
    sent: Duration,
    answered: Duration,
    status: u16,
    body: Value,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let submissions = if context.short { 200 } else { 2_000 };
    // Every third entry of a program is in progress.
    let there = u32::try_from(submissions / 2)?;
    let program = Program { entries: there * 3, detail_every: 0, orders: 0, ..Program::small(5) };
    let mut service = Service::new(context, engine)?;
    let file = service.directory().join("program.jsonl");
    let mut in_progress = Vec::new();
    program.write_with(&file, |_, record| {
        if record["kind"] == "account" {
            record["timezone"] = json!(ZONE.0);
        }
        if record["kind"] == "entry" && record["status"] == "in_progress" {
            in_progress.push(record["slug"].as_str().unwrap_or_default().to_owned());
        }
    })?;
    service.import_file(&file)?.succeeded()?;
    service.start()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let before = entries(&service.export(&program.account)?)?;
    in_progress.truncate(submissions / 2);
    let asked: Vec<Submission> = in_progress
        .iter()
        .enumerate()
        .flat_map(|(number, slug)| [Submission::Of(slug.clone()), Submission::New(number)])
        .collect();

    let end = open_round(&service, &program)?;
    let outcomes = rush(&client, &program, asked, end)?;
    let mut checks = Checks::default();
    let (taken, refused) = judge(&outcomes, end, &mut checks);
    println!("  {}: {taken} taken, {refused} refused of {submissions}", engine.name());
    checks
        .check(taken > 0 && refused > 0, || format!("{taken} were taken and {refused} refused, so nothing was shown"));

    service.kill()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", String::from_utf8_lossy(&doctor.stdout)));
    let after = entries(&service.export(&program.account)?)?;
    compare(&before, &after, &outcomes, &mut checks);
    Ok(checks.verdict(&format!("{taken} of {submissions} in, {refused} refused, {} numbers", after.len())))
}

/// Opens a round of the active season's form and gives the time at which it closes, since 1970.
fn open_round(service: &Service, program: &Program) -> Result<Duration> {
    let end = Duration::from_secs((now()? + OPEN).as_secs());
    let round = json!({
        "kind": "round", "slug": "RoundOne", "season": program.slug(Kind::Season, 0), "form": program.slug(Kind::Form, 0),
        "name": {"en_GB": "Entries"}, "type": "entry", "start_date": null, "end_date": local(end.as_secs() + ZONE.1),
    });
    let file = service.directory().join("round.jsonl");
    fs::write(&file, format!("{round}\n"))?;
    service.run(&["import", "--account", &program.account, &file.to_string_lossy()])?.succeeded()?;
    Ok(end)
}

/// A time of a clock, from the seconds that have passed on it since 1970.
fn local(seconds: u64) -> String {
    let time = jiff::Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(seconds));
    time.unwrap_or(jiff::Timestamp::MAX).strftime("%F %T").to_string()
}

fn now() -> Result<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).context("the clock stands before 1970")
}

/// Sends every submission at its own time, over many connections.
fn rush(client: &Client, program: &Program, asked: Vec<Submission>, end: Duration) -> Result<Vec<Outcome>> {
    let count = u32::try_from(asked.len().max(1))?;
    let begin = end.saturating_sub(BEFORE);
    let planned: Vec<(Duration, Submission)> =
        (0..).zip(asked).map(|(number, submission)| (begin + RUSH * number / count, submission)).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|connection| {
                let mine = planned.iter().skip(connection).step_by(CONNECTIONS);
                let (client, mine) = (client.apart(), mine.cloned().collect::<Vec<_>>());
                scope.spawn(move || -> Result<Vec<Outcome>> {
                    // The connection is made before it counts.
                    client.get("/account")?.expect_status(200)?;
                    mine.into_iter().map(|(at, submission)| submit(&client, program, at, submission)).collect()
                })
            })
            .collect();
        let mut outcomes = Vec::new();
        for thread in threads {
            outcomes.extend(thread.join().map_err(|_| anyhow!("a thread panicked"))??);
        }
        Ok(outcomes)
    })
}

fn submit(client: &Client, program: &Program, at: Duration, submission: Submission) -> Result<Outcome> {
    if let Some(pause) = at.checked_sub(now()?) {
        thread::sleep(pause);
    }
    let sent = now()?;
    let answer = match &submission {
        Submission::Of(slug) => client.put(&format!("/entry/{slug}"), &json!({"status": "submitted"}))?,
        Submission::New(number) => {
            let body = json!({
                "category": program.slug(Kind::Category, 0), "entrant": program.slug(Kind::User, 0),
                "season": program.slug(Kind::Season, 0), "title": format!("New {number}"), "status": "submitted",
            });
            client.send("POST", "/entry", &[("content-type", "application/json")], Some(body.to_string().as_bytes()))?
        }
    };
    Ok(Outcome { submission, sent, answered: now()?, status: answer.status, body: answer.json()? })
}

/// Judges every answer by itself; returns how many submissions were taken and refused.
fn judge(outcomes: &[Outcome], end: Duration, checks: &mut Checks) -> (usize, usize) {
    let (mut taken, mut refused) = (0, 0);
    let closing = local(end.as_secs()).replace(' ', "T");
    for outcome in outcomes {
        let Outcome { submission, sent, answered, status, body } = outcome;
        match status {
            200 | 201 => {
                taken += 1;
                let submitted = body["submitted"].as_str().unwrap_or("9");
                checks.check(*sent < end && submitted < closing.as_str(), || {
                    format!("{submission:?} was sent at {sent:?} and taken, submitted {submitted}; the end was {end:?}")
                });
            }
            422 => {
                refused += 1;
                checks.check(*answered >= end && body.get("errors").is_none(), || {
                    format!("{submission:?} was refused at {answered:?}, before the end {end:?}: {body}")
                });
            }
            other => checks.check(false, || format!("{submission:?} was answered {other}: {body}")),
        }
    }
    (taken, refused)
}

/// The entries of an export, by slug.
fn entries(export: &[u8]) -> Result<BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for line in export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line)?;
        if record["kind"] == "entry" {
            let slug = record["slug"].as_str().context("an entry without a slug")?.to_owned();
            found.insert(slug, record);
        }
    }
    Ok(found)
}

/// Compares what is stored with what was answered.
fn compare(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
    outcomes: &[Outcome],
    checks: &mut Checks,
) {
    let mut made = BTreeSet::new();
    for Outcome { submission, status, body, .. } in outcomes {
        let is_taken = *status < 300;
        let slug = match submission {
            Submission::Of(slug) => slug.clone(),
            Submission::New(_) if is_taken => body["slug"].as_str().unwrap_or_default().to_owned(),
            Submission::New(_) => continue,
        };
        let stored = after.get(&slug).cloned().unwrap_or_default();
        let expected = if is_taken { "submitted" } else { "in_progress" };
        checks.check(stored["status"] == expected && (!is_taken || stored["submitted"] == body["submitted"]), || {
            format!("{slug} was answered {status} and is {}", stored["status"])
        });
        if let Submission::New(_) = submission {
            checks.check(stored["local_id"] == body["local_id"] && made.insert(slug.clone()), || {
                format!("{slug} was answered with the number {} and has {}", body["local_id"], stored["local_id"])
            });
        }
    }
    checks.check(after.len() == before.len() + made.len(), || {
        format!("{} entries were there, {} were made, and {} are there", before.len(), made.len(), after.len())
    });
    let numbers: BTreeSet<i64> = after.values().filter_map(|entry| entry["local_id"].as_i64()).collect();
    let count = i64::try_from(after.len()).unwrap_or_default();
    let is_gapless = numbers.len() == after.len() && numbers.first() == Some(&1) && numbers.last() == Some(&count);
    checks.check(is_gapless, || format!("{count} entries have {} numbers up to {:?}", numbers.len(), numbers.last()));
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn a_local_time_is_that_of_the_calendar() {
        assert_eq!(local(0), "1970-01-01 00:00:00");
        assert_eq!(local(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(local(1_772_366_399), "2026-03-01 11:59:59");
        assert_eq!(local(4_107_542_399), "2100-02-28 23:59:59");
    }
}
