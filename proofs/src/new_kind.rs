//! `new-kind`: a made-up kind of people's record, put in at the places that the compiler names, works everywhere.
//!
//! The patch beside this file adds nominations: a table, a record, a list, five operations. Where the tree changes under it,
//! `git apply` says where it no longer applies; `git diff` of a tree in which it was put right is the new patch.

use std::fs;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use super::service::{Checks, Client, Kind, Program, Service, on_each_engine};
use super::{Context, Engine, Proof, Verdict};
use crate::process;
use crate::weight::copied;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "new-kind",
    claim: "A made-up kind of people's record, put in by a patch of at most 350 lines, works in API, import, export, doctor \
            and OpenAPI.",
    run,
};

/// The patch.
const PATCH: &str = "proofs/src/new_kind/nominations.patch";
/// The most lines that it may add and take away.
const MOST_LINES: usize = 350;

fn run(context: &Context) -> Result<Verdict> {
    let patch = context.root.join(PATCH);
    let text = fs::read_to_string(&patch)?;
    let is_change =
        |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++ ") && !line.starts_with("--- ");
    let lines = text.lines().filter(is_change).count();
    process::output(Command::new("git").current_dir(&context.root).args(["apply", "--check"]).arg(&patch))?;
    if context.short {
        return Ok(Verdict::new(lines <= MOST_LINES, format!("it applies, and has {lines} lines")));
    }
    let scratch = context.scratch()?;
    let tree = copied(&context.root, scratch.path())?;
    process::output(Command::new("git").current_dir(&tree).args(["apply"]).arg(&patch))?;
    // Kept between runs, and apart from what is built of the tree without the patch.
    let target = context.target()?.join("patched");
    process::Cargo::new(&tree, &["build", "--release"]).env("CARGO_TARGET_DIR", &target).run()?;
    let patched = context.with_binary(target.join("release/plaudit"));
    let shown = on_each_engine(&patched, show)?;
    Ok(Verdict::new(shown.holds && lines <= MOST_LINES, format!("{lines} lines; {}", shown.figure)))
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let program = Program { entries: 4, orders: 0, ..Program::small(1) };
    let service = Service::with(context, engine, &[&program])?;
    let client = service.client(&service.key(&program.account, "read_write")?);
    let category = program.slug(Kind::Category, 0);
    let mut checks = Checks::default();
    let made = operations(&client, &category, &mut checks)?;
    list(&client, &category, &mut checks)?;
    described(&client, &mut checks)?;

    let export = service.export(&program.account)?;
    let nominations = export.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{\"kind\":\"nomination\""));
    checks.check(nominations.count() == made, || "the export has not every nomination".to_owned());
    let again = Service::new(context, engine)?;
    let file = again.directory().join("again.jsonl");
    fs::write(&file, &export)?;
    again.import_file(&file)?.succeeded()?;
    checks.check(again.export(&program.account)? == export, || "export, import, export are other bytes".to_owned());
    let faulty = String::from_utf8(export)?.replace("\"points\":3", "\"points\":\"three\"");
    fs::write(&file, faulty)?;
    let refused = again.import_file(&file)?;
    let is_named = refused.code == Some(1) && refused.stderr.contains("points: must be an integer");
    checks.check(is_named, || format!("a fault is told as: {}", refused.stderr));

    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || format!("doctor: {}", doctor.last_line()));
    service.tamper(context, "UPDATE nominations SET doc = replace(doc, 'Second', 'Secret')")?;
    let doctor = service.run(&["doctor"])?;
    let printed = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let is_seen = doctor.code == Some(1) && printed.contains("nomination");
    checks.check(is_seen, || format!("doctor does not see a changed nomination: {printed}"));
    Ok(checks.verdict("API, list, import, export, doctor, OpenAPI"))
}

fn post(client: &Client, body: &Value) -> Result<super::service::Answer> {
    let headers = [("content-type", "application/json")];
    client.send("POST", "/nomination", &headers, Some(body.to_string().as_bytes()))
}

/// Makes, reads, changes and deletes nominations; gives how many there are then, those in the trash included.
fn operations(client: &Client, category: &str, checks: &mut Checks) -> Result<usize> {
    let mut links = Vec::new();
    for (points, title) in [(3, "First"), (1, "Second"), (2, "third"), (9, "Last")] {
        let made =
            post(client, &json!({"category": category, "points": points, "title": title}))?.expect_status(201)?;
        let location = made.header("location").unwrap_or_default().to_owned();
        let read = client.get(location.split_at(location.find("/nomination").unwrap_or_default()).1)?;
        checks.check(read.status == 200 && read.body == made.body, || format!("{location} is not what was made"));
        let shown = made.json()?;
        checks.check(shown["category"]["name"].is_object(), || format!("the category is shown as {shown}"));
        links.push(format!("/nomination/{}", shown["slug"].as_str().unwrap_or_default()));
    }
    let wrong = post(client, &json!({"category": "AbCdEfGh", "points": -1, "titel": "x"}))?;
    let errors = wrong.json()?["errors"].clone();
    let are_all_told = ["category", "points", "title", "titel"].iter().all(|member| errors[member].is_array());
    checks.check(wrong.status == 422 && are_all_told, || format!("a wrong body is {}: {errors}", wrong.status));
    let before = client.get(&links[0])?;
    let tag = before.header("etag").unwrap_or_default().to_owned();
    let changed = client.put_if(&links[0], &json!({"title": "Fourth"}), Some(&tag))?.expect_status(200)?.json()?;
    checks.check(changed["title"] == "Fourth" && changed["points"] == 3, || format!("changed to {changed}"));
    let late = client.put_if(&links[0], &json!({"title": "Fifth"}), Some(&tag))?.status;
    checks.check(late == 412, || format!("a change of what has changed is {late}"));
    checks.check(client.delete(&links[3])?.status == 204, || "a nomination cannot be deleted".to_owned());
    for gone in
        [client.get(&links[3])?.status, client.delete(&links[3])?.status, client.get("/nomination/AbCdEfGh")?.status]
    {
        checks.check(gone == 404, || format!("what is not there is {gone}"));
    }
    Ok(links.len())
}

fn list(client: &Client, category: &str, checks: &mut Checks) -> Result<()> {
    let mut ask = |query: &str, expected: &[&str]| -> Result<()> {
        let page = client.get(&format!("/nomination?{query}"))?.expect_status(200)?.json()?;
        let titles = page["data"].as_array().into_iter().flatten().filter_map(|item| item["title"].as_str());
        let titles: Vec<_> = titles.collect();
        checks.check(titles == expected, || format!("{query} gives {titles:?}"));
        checks.check(page["total"] == expected.len(), || format!("{query} has the total {}", page["total"]));
        Ok(())
    };
    ask("", &["Fourth", "third", "Second"])?;
    ask("order=points&dir=asc", &["Second", "third", "Fourth"])?;
    ask("order=title&dir=desc", &["third", "Second", "Fourth"])?;
    ask(&format!("category={category}&deleted=only"), &["Last"])?;
    ask("category=AbCdEfGh", &[])?;
    let wrong = client.get("/nomination?color=red&deleted=maybe")?;
    let errors = wrong.json()?["errors"].clone();
    let are_told = errors["invalid_filter_names"] == "color" && errors["invalid_filter_values"]["deleted"].is_string();
    checks.check(wrong.status == 400 && are_told, || format!("a wrong query is {}: {errors}", wrong.status));
    Ok(())
}

fn described(client: &Client, checks: &mut Checks) -> Result<()> {
    let document = client.get("/openapi.json")?.expect_status(200)?.json()?;
    for (path, methods) in [("/nomination", &["get", "post"][..]), ("/nomination/{slug}", &["get", "put", "delete"])] {
        for method in methods {
            let operation = &document["paths"][path][method];
            checks.check(operation["operationId"].is_string(), || format!("{method} {path} is not described"));
        }
    }
    let schemas = &document["components"]["schemas"];
    for name in ["Nomination", "NominationPage", "CreateNomination", "UpdateNomination"] {
        let properties = schemas[name]["properties"].as_object();
        checks.check(properties.is_some_and(|properties| !properties.is_empty()), || format!("{name} has no schema"));
    }
    let points = &schemas["CreateNomination"]["properties"]["points"];
    checks.check(points["minimum"] == 0 && points["maximum"] == 1_000, || format!("points are described as {points}"));
    Ok(())
}
