//! Random operations on entries against the rules written down a second time.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Result;
use serde_json::Value;

use super::service::{Answer, Checks, Client, Random, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};

mod model;
mod setup;

use model::{ACCOUNT, Expected, Model, Operation};

/// Entries are only ever in states that the rules name.
pub(crate) const PROOF: Proof = Proof {
    name: "entry-rules",
    claim: "10,000 random operations on entries are answered as the rules say, lead to no other state, and what is shown \
            then is what a new database makes of the records.",
    run: |context| on_each_engine(context, show),
};

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let count = if context.short { 1_500 } else { 10_000 };
    let mut service = Service::new(context, engine)?;
    let file = service.directory().join("rules.jsonl");
    fs::write(&file, setup::lines())?;
    service.import_file(&file)?.succeeded()?;
    service.start()?;
    let key = service.key(ACCOUNT, "read_write")?;
    let client = service.client(&key);
    let (mut model, mut random, mut checks) = (Model::default(), Random::new(11), Checks::default());
    let mut answered: BTreeMap<u16, usize> = BTreeMap::new();
    for number in 1..=count {
        let operation = model.operation(&mut random);
        let expected = model.apply(&operation);
        let answer = send(&client, &operation)?;
        *answered.entry(answer.status).or_default() += 1;
        check(&mut model, &operation, &expected, &answer, &mut checks)?;
        if !checks.all_hold() {
            // The model and the account are apart, so that nothing more can be told.
            return Ok(checks.verdict(&format!("{number} operations")));
        }
    }
    println!("  {}: {count} operations: {}", engine.name(), figures(&answered));
    let kinds = [200, 201, 204, 404, 422].iter().filter(|status| answered.contains_key(status)).count();
    checks.check(kinds == 5, || "not every kind of answer came, so not everything was shown".to_owned());

    let shown = shown(&client, &service.base(), &model, &mut checks)?;
    service.kill()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", String::from_utf8_lossy(&doctor.stdout)));
    service.start()?;
    let again = self::shown(&service.client(&key), &service.base(), &model, &mut checks)?;
    checks.check(again == shown, || "after a restart other entries are shown".to_owned());
    from_scratch(context, engine, &service, &model, &shown, &mut checks)?;
    let (entries, trashed) = (model.entries.len(), model.entries.iter().filter(|entry| entry.is_trashed).count());
    Ok(checks.verdict(&format!("{count} operations, {entries} entries of which {trashed} in the trash")))
}

fn figures(answered: &BTreeMap<u16, usize>) -> String {
    let figures: Vec<String> = answered.iter().map(|(status, count)| format!("{count} of {status}")).collect();
    figures.join(", ")
}

fn send(client: &Client, operation: &Operation) -> Result<Answer> {
    let body = operation.body.as_ref().map(Value::to_string);
    let headers: &[(&str, &str)] = if body.is_some() { &[("content-type", "application/json")] } else { &[] };
    client.send(operation.method, &operation.path, headers, body.as_deref().map(str::as_bytes))
}

/// Compares an answer with what it must be. A new entry gets the slug that it was answered with.
fn check(
    model: &mut Model,
    operation: &Operation,
    expected: &Expected,
    answer: &Answer,
    checks: &mut Checks,
) -> Result<()> {
    let told = || format!("{operation:?}: {expected:?} was expected, {} came: {}", answer.status, answer.text());
    match expected {
        Expected::Status(status) => checks.check(answer.status == *status, told),
        Expected::State => {
            let has_errors = answer.status != 422 || answer.json()?.get("errors").is_some();
            checks.check(!has_errors, told);
        }
        Expected::Members(members) => {
            let errors = answer.json()?["errors"].as_object().cloned().unwrap_or_default();
            let mut found: Vec<String> = errors.into_iter().map(|(member, _)| member).collect();
            found.sort_unstable();
            checks.check(answer.status == 422 && found == *members, told);
        }
        Expected::Entry(status, at) => {
            let shown = answer.json()?;
            let entry = &mut model.entries[*at];
            if entry.slug.is_empty() {
                shown["slug"].as_str().unwrap_or_default().clone_into(&mut entry.slug);
                checks
                    .check(shown["local_id"] == *at + 1, || format!("entry {at} has the number {}", shown["local_id"]));
            }
            checks.check(answer.status == *status, told);
            let difference = entry.difference(&shown);
            checks.check(difference.is_none(), || format!("{operation:?}: {}", difference.unwrap_or_default()));
        }
    }
    Ok(())
}

/// What is shown of every entry, each compared with the model, without the address of the service.
fn shown(client: &Client, base: &str, model: &Model, checks: &mut Checks) -> Result<Vec<String>> {
    let mut shown = Vec::new();
    for entry in &model.entries {
        let answer = client.get(&format!("/entry/{}", entry.slug))?;
        let expected = if entry.is_trashed { 404 } else { 200 };
        checks.check(answer.status == expected, || format!("{} is answered {}", entry.slug, answer.status));
        if answer.status == 200 {
            let difference = entry.difference(&answer.json()?);
            checks.check(difference.is_none(), || format!("{}: {}", entry.slug, difference.unwrap_or_default()));
        }
        shown.push(answer.text().replace(base, ""));
    }
    Ok(shown)
}

/// Exports the account and imports it elsewhere, where all documents are made from the records.
fn from_scratch(
    context: &Context,
    engine: Engine,
    service: &Service,
    model: &Model,
    shown: &[String],
    checks: &mut Checks,
) -> Result<()> {
    let mut fresh = Service::new(context, engine)?;
    let file = fresh.directory().join("export.jsonl");
    fs::write(&file, service.export(ACCOUNT)?)?;
    fresh.import_file(&file)?.succeeded()?;
    fresh.start()?;
    let client = fresh.client(&fresh.key(ACCOUNT, "read")?);
    let made = self::shown(&client, &fresh.base(), model, checks)?;
    for ((one, other), entry) in shown.iter().zip(&made).zip(&model.entries) {
        checks.check(one == other, || format!("{} is shown as {one} and made anew as {other}", entry.slug));
    }
    Ok(())
}
