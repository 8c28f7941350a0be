//! `schemathesis`: requests that are made from the OpenAPI document, right ones and wrong ones, are answered as it says.
//!
//! What the document cannot say is not asked for, by name:
//!
//! - `x-api-language` takes the languages of the account, and `cursor` what an answer gave: the one has a value of this account
//!   here, the other is left out.
//! - `updated_at[between]` takes two times, the earlier one first: it is left out.
//! - `If-Match` and `Idempotency-Key` are left out: random ones are refused, rightly, with 412 and 422.
//! - A body that fits its schema may name records that there are not, or leave out a text in the account's own language: 422. A
//!   body of more than 1 MB is 413, whatever is wrong in it.
//! - Streams do not end.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::service::{Checks, Client, JSON, Program, Service, XML};
use super::tools::Tools;
use super::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "schemathesis",
    claim: "20,000 requests made from the OpenAPI document, over all operations and in both formats, are answered as it \
            says.",
    run,
};

const PYTHON: &[&str] = &["schemathesis==4.32.5"];

/// How many requests are sent at least, of both formats together.
const CASES: u64 = 20_000;

/// Headers whose values the document cannot tell.
const LEFT_OUT: [&str; 3] = ["IfMatch", "IfNoneMatch", "IdempotencyKey"];

/// The languages that every account has; empty elements of a list are passed over (RFC 9110, section 5.6.1.2).
const LANGUAGES: &str = "^[ ,]*(all *)?(,[ ,]*(all *)?)*$";

const SETTINGS: &str = r#"
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
"#;

fn run(context: &Context) -> Result<Verdict> {
    let program = Program::small(1);
    let mut service = Service::new(context, Engine::Sqlite)?;
    service.import(&program)?;
    service.set("PLAUDIT_LIMITS_REQUESTS_PER_MINUTE", "1000000");
    service.start()?;
    let document = service.bare().get("/openapi.json")?.expect_status(200)?.json()?;
    let key = service.key(&program.account, "read_write")?;
    let mut checks = Checks::default();
    if context.short {
        let sent = each_operation(&service.client(&key), &document, &mut checks)?;
        return Ok(checks.verdict(&format!("{sent} requests to every operation answered as described")));
    }
    let tools = Tools::install(context, "schemathesis", PYTHON, &[])?;
    let directory = tools.directory();
    fs::write(directory.join("openapi.json"), askable(document).to_string())?;
    fs::write(directory.join("schemathesis.toml"), SETTINGS)?;
    let mut cases = 0;
    for (format, seed) in [(JSON, "1"), (XML, "2")] {
        let mut command = tools.python("schemathesis");
        command.current_dir(directory).args(["run", "openapi.json", "--no-color", "--continue-on-failure"]);
        command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", "120", "--seed", seed]);
        // An answer may be held back for 30 s (`wait`).
        command.args(["--request-timeout", "40"]);
        command.args([
            "--url",
            &service.base(),
            "-H",
            &format!("x-api-key: {key}"),
            "-H",
            &format!("Accept: {format}"),
        ]);
        let output = command.output().context("schemathesis cannot be started")?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let report = directory.join(format!("report-{seed}.txt"));
        fs::write(&report, &printed)?;
        checks.check(output.status.success(), || format!("{format}: see {}", report.display()));
        cases += generated(&printed).unwrap_or_default();
        println!("  {format}: {cases} requests so far");
    }
    checks.check(cases >= CASES, || format!("{cases} requests were made"));
    Ok(checks.verdict(&format!("{cases} requests in both formats")))
}

/// The document without what it cannot say.
fn askable(mut document: Value) -> Value {
    document["components"]["parameters"]["Language"]["schema"] = json!({ "pattern": LANGUAGES });
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, item) in paths.filter(|(path, _)| !path.ends_with("/stream")) {
        for operation in item.as_object_mut().into_iter().flat_map(|item| item.values_mut()) {
            if let Some(parameters) = operation["parameters"].as_array_mut() {
                let is_left_out = |parameter: &Value| {
                    let named = parameter["$ref"].as_str().and_then(|name| name.rsplit('/').next()).unwrap_or_default();
                    LEFT_OUT.contains(&named)
                        || parameter["name"] == "cursor"
                        || parameter["name"].as_str().is_some_and(|name| name.ends_with("[between]"))
                };
                parameters.retain(|parameter| !is_left_out(parameter));
            }
        }
    }
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.retain(|path, _| !path.ends_with("/stream"));
    }
    document
}

/// How many requests were made, by the summary.
fn generated(printed: &str) -> Option<u64> {
    let line = printed.lines().find(|line| line.contains(" generated,"))?;
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}

/// Sends each operation what nobody may and what nothing has, in both formats; gives how many requests that were.
fn each_operation(client: &Client, document: &Value, checks: &mut Checks) -> Result<u64> {
    let mut sent = 0;
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        let named = path.replace("{token}", "AAAAAAAAA").replace("{tags}", "a").replace("{id}", "msg_1_0_000000000000");
        let missing = named.replace(['{', '}'], "");
        let missing =
            ["slug", "field", "tab"].iter().fold(missing, |path, name| path.replace(&format!("/{name}"), "/AAAAAAAA"));
        let missing = missing.replace("/assignment/AAAAAAAA", &format!("/assignment/{}", "AAAAAAAA".repeat(3) + "J"));
        for format in [JSON, XML] {
            let client = client.with("accept", format);
            for (method, operation) in item.as_object().into_iter().flatten() {
                let method = method.to_uppercase();
                let body = operation.get("requestBody").map(|_| b"{}".as_slice());
                let mut expect = |client: &Client, path: &str, statuses: &[u16]| -> Result<()> {
                    let answer = client.send(&method, path, &[("content-type", "application/json")], body)?;
                    sent += 1;
                    checks.check(statuses.contains(&answer.status), || format!("{method} {path}: {}", answer.status));
                    let described = &operation["responses"][answer.status.to_string()];
                    checks.check(described.is_object(), || {
                        format!("{method} {path}: {} is not described", answer.status)
                    });
                    let media = answer.header("content-type").unwrap_or(format);
                    checks.check(media == format, || format!("{method} {path}: {media}"));
                    Ok(())
                };
                expect(&client.without("x-api-key"), &missing, &[401])?;
                if path.contains('{') {
                    expect(&client, &missing, &[404, 422])?;
                    expect(&client, &path.replace('{', "%7B").replace('}', "%7D"), &[400, 404, 422])?;
                } else if body.is_some() {
                    expect(&client, path, &[422])?;
                } else if !path.ends_with("/stream") {
                    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
                    let required =
                        parameters.iter().find(|parameter| parameter["in"] == "query" && parameter["required"] == true);
                    match required.and_then(|parameter| parameter["name"].as_str()) {
                        // A list of a record that there is not.
                        Some(name) => expect(&client, &format!("{path}?{name}=AAAAAAAA"), &[200, 404])?,
                        None => expect(&client, path, &[200])?,
                    }
                }
            }
        }
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_requests_is_read_from_the_summary() {
        assert_eq!(generated("Test cases:\n  8,119 generated, 37 found 38 unique failures, 60 skipped\n"), Some(8_119));
        assert_eq!(generated("  9069 generated, 206 found"), Some(9_069));
        assert_eq!(generated("nothing"), None);
    }
}
