//! `judging-cases`: the worked examples of judging, each with a published answer. Tests of the crates hold their answers; here it is
//! seen that no example is left out.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::process::Cargo;
use super::service::Checks;
use super::{Context, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "judging-cases",
    claim: "Every worked example of judging has its published answer within its tolerance.",
    run,
};

/// Where the examples are, and the tests that read them.
const FOLDERS: [&str; 2] = ["crates/scoring/tests/cases", "crates/planner/tests/cases"];
const TESTS: [&str; 3] = ["cases", "cases_exact", "cases_models"];

fn run(context: &Context) -> Result<Verdict> {
    let mut checks = Checks::default();
    let wanted = examples(context)?;
    let mut arguments = vec!["test", "--release", "--workspace"];
    arguments.extend(TESTS.iter().flat_map(|test| ["--test", test]));
    arguments.extend(["--", "--nocapture", "--test-threads", "1"]);
    let (has_succeeded, printed) = Cargo::new(&context.root, &arguments).capture()?;
    checks.check(has_succeeded, || "an answer is another one than the published one".to_owned());
    // A test's name may stand before what it prints.
    let tried =
        printed.lines().filter_map(|line| line.split_once("case ")?.1.trim().strip_prefix('"')?.strip_suffix('"'));
    let tried: BTreeSet<&str> = tried.collect();
    for id in &wanted {
        checks.check(tried.contains(id.as_str()), || format!("no test tries {id}"));
    }
    Ok(checks.verdict(&format!("{} worked examples", wanted.len())))
}

/// The ids of all examples.
fn examples(context: &Context) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for folder in FOLDERS {
        for file in fs::read_dir(context.root.join(folder))? {
            let path = file?.path();
            let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path)?)
                .with_context(|| format!("{} has no list of examples", path.display()))?;
            for case in cases {
                ids.push(case["id"].as_str().context("an example has no id")?.to_owned());
            }
        }
    }
    Ok(ids)
}
