//! The pages for people in headless Chromium: read, searched and used, in every colour and size.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::service::{Checks, Program, Service};
use super::tools::{self, Tools};
use super::{Context, Engine, Proof, Verdict};
use crate::process;

/// A person finds an operation and tries it.
pub(crate) const PROOF: Proof = Proof {
    name: "browser",
    claim: "In Chromium `/` and `/docs` are read on a phone and a desktop, light and dark, without a violation that axe-core knows; by \
            keyboard an operation is found, called with a key and its answer shown; no request leaves the service.",
    run,
};

const NODE: &[&str] = &["axe-core@4.14.1", "puppeteer-core@25.16.0"];
const SCRIPT: &str = include_str!("browser/visit.mjs");
/// The pages that are looked at: five in two sizes and two colours, and three states.
const LOOKS: u64 = 22;

fn run(context: &Context) -> Result<Verdict> {
    let chromium = match process::find("chromium") {
        Some(chromium) => chromium,
        None if context.short => return Ok(Verdict::new(true, "there is no Chromium: the whole form installs it")),
        None => tools::debian("chromium", "chromium")?,
    };
    let tools = Tools::install(context, "browser", &[], NODE)?;
    let program = Program::small(3);
    let mut service = Service::new(context, Engine::Sqlite)?;
    service.import(&program)?;
    service.start()?;
    let key = service.key(&program.account, "read")?;
    let pictures = context.target()?.join("browser");
    let script = tools.directory().join("visit.mjs");
    fs::write(&script, SCRIPT)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(chromium).arg(format!("http://{}", service.address())).arg(&key).arg(&pictures);
    let visited: Value =
        serde_json::from_str(&process::output(&mut node)?).context("the visit ended without a word")?;
    let (looks, mut checks) = (visited["looks"].as_u64(), Checks::default());
    checks.check(looks == Some(LOOKS), || format!("{looks:?} pages were looked at"));
    for fault in visited["faults"].as_array().context("the visit says nothing of faults")? {
        checks.check(false, || fault.to_string());
    }
    Ok(checks.verdict(&format!("{LOOKS} pages without a violation; pictures are in {}", pictures.display())))
}
