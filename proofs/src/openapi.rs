//! `openapi`: what the interface says of itself is taken by the usual tools without a word, and clients that are made from it
//! do a job with nothing written by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::service::{Checks, Program, Service};
use super::tools::Tools;
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "openapi",
    claim: "The OpenAPI document has no error and no warning for three linters, and clients of two generators list, read, \
            create, update, upload and read errors with typed answers.",
    run,
};

/// What the tools of Python are.
const PYTHON: &[&str] = &["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1", "ruff==0.17.6"];
/// What the tools of Node are.
const NODE: &[&str] = &[
    "@redocly/cli@2.77.0",
    "@stoplight/spectral-cli@6.16.3",
    "openapi-typescript@7.13.0",
    "openapi-fetch@0.17.0",
    "typescript@5.9.3",
    "@types/node@22.0.0",
];

/// The jobs of the clients.
const JOB_OF_PYTHON: &str = include_str!("openapi/job.py");
const JOB_OF_NODE: &str = include_str!("openapi/job.mts");

fn run(context: &Context) -> Result<Verdict> {
    let program = Program::small(1);
    let service = Service::with(context, Engine::Sqlite, &[&program])?;
    let document = service.bare().get("/openapi.json")?.expect_status(200)?;
    let mut checks = Checks::default();
    let operations = complete(&document.json()?, &mut checks);
    if context.short {
        return Ok(checks.verdict(&format!("{operations} operations name what is there")));
    }
    let tools = Tools::install(context, "openapi", PYTHON, NODE)?;
    let file = tools.directory().join("openapi.json");
    fs::write(&file, document.text())?;
    lint(&tools, &file, &mut checks);
    let key = service.key(&program.account, "read_write")?;
    for (name, job) in [("Python", by_python as Job), ("TypeScript", by_node)] {
        done(&format!("the client of {name}"), job(&tools, &file, &[&service.base(), &key]), &mut checks);
    }
    Ok(checks.verdict(&format!("{operations} operations, 3 linters without a word, 2 clients did their job")))
}

type Job = fn(&Tools, &Path, &[&str]) -> Result<()>;

/// Checks that whatever the document names is there and that every operation tells what it answers; gives the number of
/// operations.
fn complete(document: &Value, checks: &mut Checks) -> usize {
    let mut named = BTreeSet::new();
    names(document, &mut named);
    for name in &named {
        let there = name.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        checks.check(there.is_some(), || format!("{name} is not there"));
    }
    let groups: Vec<&Value> = document["tags"].as_array().into_iter().flatten().map(|group| &group["name"]).collect();
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            operations += 1;
            let what = || format!("{method} {path}");
            let tags = operation["tags"].as_array().into_iter().flatten();
            checks.check(tags.clone().all(|tag| groups.contains(&tag)), || {
                format!("{} is of a group that is not told", what())
            });
            for text in ["operationId", "summary", "description"] {
                checks.check(operation[text].is_string(), || format!("{} has no {text}", what()));
            }
            for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                let is_named = response["$ref"].is_string();
                let media = response["content"].as_object().into_iter().flatten();
                let has_schemas = media.clone().all(|(_, media)| media["schema"].is_object());
                let has_body = !["202", "204", "304"].contains(&status.as_str());
                checks.check(is_named || has_schemas && has_body == (media.count() > 0), || {
                    format!("{}: the answer {status} has no schema", what())
                });
            }
        }
    }
    operations
}

fn done<T>(what: &str, outcome: Result<T>, checks: &mut Checks) {
    let fault = outcome.err().map(|error| format!("{what}: {error:#}"));
    checks.check(fault.is_none(), || fault.unwrap_or_default());
}

fn names(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            named.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| names(value, named));
        }
        Value::Array(items) => items.iter().for_each(|value| names(value, named)),
        _ => {}
    }
}

/// The linters with the rules that they come with; a warning is a failure.
fn lint(tools: &Tools, file: &Path, checks: &mut Checks) {
    let rules = tools.directory().join(".spectral.yaml");
    let written = fs::write(rules, "extends: [\"spectral:oas\"]\n");
    checks.check(written.is_ok(), || "the rules of spectral cannot be written".to_owned());
    let mut redocly = tools.node("redocly");
    // The contract has `/assignment/plan/{slug}` beside `/assignment/{slug}/score`: a slug of an assignment is never `plan`.
    redocly.args(["lint", "--format", "json", "--skip-rule", "no-ambiguous-paths"]).arg(file);
    // It succeeds with warnings.
    let is_clean = process::output(&mut redocly).is_ok_and(|printed| {
        serde_json::from_str::<Value>(&printed)
            .is_ok_and(|report| report["totals"] == serde_json::json!({"errors": 0, "warnings": 0, "ignored": 0}))
    });
    checks.check(is_clean, || format!("redocly has something to say of {}", file.display()));
    for (name, command) in [
        ("spectral", tools.node("spectral").args(["lint", "--fail-severity", "hint"]).arg(file)),
        ("openapi-spec-validator", tools.python("openapi-spec-validator").arg(file)),
    ] {
        done(name, process::output(command), checks);
    }
}

fn by_python(tools: &Tools, file: &Path, arguments: &[&str]) -> Result<()> {
    let client = tools.directory().join("client");
    let mut generate = tools.python("openapi-python-client");
    generate
        .args(["generate", "--overwrite", "--fail-on-warning", "--path"])
        .arg(file)
        .arg("--output-path")
        .arg(&client);
    process::output(&mut generate)?;
    let job = tools.directory().join("job.py");
    fs::write(&job, JOB_OF_PYTHON)?;
    process::output(tools.python("python").env("PYTHONPATH", &client).arg(job).args(arguments)).map(drop)
}

fn by_node(tools: &Tools, file: &Path, arguments: &[&str]) -> Result<()> {
    process::output(tools.node("openapi-typescript").arg(file).args(["--output", "api.d.ts"]))?;
    fs::write(tools.directory().join("job.mts"), JOB_OF_NODE)?;
    let compile =
        ["--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", "node", "job.mts"];
    process::output(tools.node("tsc").args(compile))?;
    let node = process::find("node").context("this proof needs Node.js")?;
    process::output(Command::new(node).current_dir(tools.directory()).arg("job.mjs").args(arguments)).map(drop)
}
