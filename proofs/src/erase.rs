//! Persons are erased while the service writes, and no word of theirs is left.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

/// Whoever is erased is gone.
pub(crate) const PROOF: Proof = Proof {
    name: "erase",
    claim: "Persons with entries, orders, sheets and files are erased while the service writes: no word of theirs is in the database, \
            deliveries, storage or an export; the log verifies, results and totals stand.",
    run: |context| on_each_engine(context, show),
};

/// The file that they are imported from.
const PERSONS: &str = "persons.jsonl";

/// A word that a person, and nobody else, has in everything.
fn word(person: u32) -> String {
    // Letters alone, so that it stands in names, addresses and JSON as it is.
    let letters: String = person.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect();
    format!("zqx{letters}xqz")
}

fn named(kind: &str, number: u32) -> String {
    let letters: String = format!("{number:04}").bytes().map(|digit| char::from(b'A' + digit - b'0')).collect();
    format!("{kind}{letters}")
}

/// The lines of persons, each with a user, an entry, an answer, an order, a file and a sheet about somebody else's entry.
fn lines(program: &Program, persons: u32) -> Vec<Value> {
    let at = |kind: Kind| program.slug(kind, 0);
    let time = "2025-06-01T10:00:00.000000Z";
    let mut lines = vec![
        json!({"kind": "score_set", "slug": "SetErase", "season": at(Kind::Season), "form": at(Kind::Form), "mode": "vip_judging",
            "name": {"en_GB": "Jury"}, "order": 9}),
        json!({"kind": "criterion", "slug": "CritEras", "score_set": "SetErase", "order": 1, "name": {"en_GB": "Idea"},
            "maximum": 10}),
    ];
    for person in 0..persons {
        let word = word(person);
        let (user, entry) = (named("User", person), named("Entr", person));
        let token = format!("TokenOfAPerson{}", named("File", person));
        lines.extend([
            json!({"kind": "user", "slug": user, "first_name": format!("First{word}"), "last_name": format!("Last{word}"),
                "email": format!("{word}@example.org"), "comments": word, "created_at": time, "updated": time}),
            json!({"kind": "file", "token": token, "filename": format!("{word}.txt"), "data": base64(&word), "created": time}),
            json!({"kind": "entry", "slug": entry, "local_id": 1_000_000 + person, "title": format!("Title {word}"),
                "season": at(Kind::Season), "category": at(Kind::Category), "chapter": at(Kind::Chapter), "form": at(Kind::Form),
                "entrant": user, "user_comments": word, "created": time, "updated": time}),
            json!({"kind": "attachment", "token": token, "entry": entry, "tab": program.slug(Kind::Tab, 3), "order": 0,
                "created": time, "updated": time}),
            json!({"kind": "order", "slug": named("Orde", person), "invoice_number": (1_000_000 + person).to_string(),
                "season": at(Kind::Season), "user": user, "currency": "GBP", "payment_status": "paid", "payment_method": "card",
                "company": format!("{word} Ltd"), "address": word, "country": "GB", "total": 10.00, "created_at": time,
                "updated": time}),
        ]);
        // Everybody judges the entry of the next one.
        let judged = named("Entr", (person + 1) % persons);
        let comment = json!({"slug": named("Comm", person), "comment": format!("I think {word}"), "user": user,
            "created_at": time, "updated_at": time});
        lines.push(
            json!({"kind": "assignment", "slug": format!("{judged}{user}SetEraseJ"), "entry": judged, "judge": user,
            "score_set": "SetErase", "scores": [{"criterion": "CritEras", "value": 7, "comment": comment}],
            "comment": comment, "created": time, "updated": time}),
        );
    }
    lines
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let persons = if context.short { 8 } else { 100 };
    let program = Program { entries: 20, orders: 20, ..Program::small(9) };
    let mut service = Service::with(context, engine, &[&program])?;
    let file = service.directory().join(PERSONS);
    let written: Vec<String> = lines(&program, persons).iter().map(Value::to_string).collect();
    fs::write(&file, written.join("\n"))?;
    service.run(&["import", &file.to_string_lossy(), "--account", &program.account])?.succeeded()?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let mut checks = Checks::default();
    let known = kept(context, &service)?;
    for person in 0..persons {
        checks.check(!places(&known, &word(person)).is_empty(), || format!("{} is nowhere", word(person)));
    }
    let before = totals(&client)?;
    let changed = erase_beside_writers(&client, &program, persons, &mut checks)?;
    let after = totals(&client)?;
    checks.check(before == after, || format!("there were {before}, and there are {after}"));
    let doctor = service.run(&["doctor", "--files"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {} {}", doctor.last_line(), doctor.stderr));
    service.stop()?;
    let export = String::from_utf8(service.export(&program.account)?)?;
    let known = kept(context, &service)?;
    for person in 0..persons {
        let word = word(person);
        let places = places(&known, &word);
        checks.check(places.is_empty(), || format!("{word} is in {places:?}"));
        checks.check(!export.contains(&word), || format!("{word} is in the export"));
    }
    println!("  {}: {persons} persons erased beside {changed} changes of others", engine.name());
    Ok(checks.verdict(&format!("{persons} persons erased, none found again")))
}

/// How many entries and orders there are.
fn totals(client: &Client) -> Result<Value> {
    let total = |path: &str| -> Result<Value> { Ok(client.get(path)?.expect_status(200)?.json()?["total"].clone()) };
    let paid = "/order?season=all&status=paid&per_page=1";
    Ok(json!([
        total("/entry?season=all&archived=all&per_page=1")?,
        total("/order?season=all&per_page=1")?,
        total(paid)?
    ]))
}

/// Erases every person while others write; returns how many changes these made.
fn erase_beside_writers(client: &Client, program: &Program, persons: u32, checks: &mut Checks) -> Result<u64> {
    let (is_done, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    let refused = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (client, is_done, changes) = (client.apart(), &is_done, &changes);
                scope.spawn(move || -> Result<()> {
                    let mut round = 0_u32;
                    while !is_done.load(Ordering::Relaxed) {
                        round += 1;
                        let path = format!("/entry/{}/update-title", program.slug(Kind::Entry, writer));
                        client.put(&path, &json!({"title": format!("Title {round}")}))?.expect_status(200)?;
                        changes.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        let erased: Result<Vec<_>> = (0..persons)
            .map(|person| {
                let answer = client.post(&format!("/user/{}/erase", named("User", person)), &json!({}))?;
                Ok((answer.status != 204).then(|| format!("{}: {} {}", word(person), answer.status, answer.text())))
            })
            .collect();
        is_done.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().map_err(|_| anyhow!("a writer panicked"))??;
        }
        erased
    })?;
    for refused in refused.into_iter().flatten() {
        checks.check(false, || refused);
    }
    Ok(changes.into_inner())
}

/// Everything that is kept, each with where it is: the files of the installation's folder, and the dump of PostgreSQL.
fn kept(context: &Context, service: &Service) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    read_all(service.directory(), &mut found)?;
    found.extend(service.dump(context)?.map(|dump| ("the dump".to_owned(), dump)));
    Ok(found)
}

fn read_all(folder: &Path, found: &mut Vec<(String, String)>) -> Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.is_dir() {
            read_all(&path, found)?;
        // The proof itself has written this one.
        } else if !path.ends_with(PERSONS) {
            found.push((path.display().to_string(), String::from_utf8_lossy(&fs::read(&path)?).into_owned()));
        }
    }
    Ok(())
}

/// Where a word is.
fn places<'k>(kept: &'k [(String, String)], word: &str) -> Vec<&'k str> {
    kept.iter().filter(|(_, text)| text.contains(word)).map(|(place, _)| place.as_str()).collect()
}
