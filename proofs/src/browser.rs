//! The pages for people in headless Chromium: read, searched and used, in every colour and size.

use std::collections::BTreeSet;
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
            keyboard an operation is found, called with a key and its answer shown, and the code made of it runs; no request leaves the service.",
    run,
};

const NODE: &[&str] = &["axe-core@4.14.1", "puppeteer-core@25.16.0", "tsx@4.23.15"];
const PYTHON: &[&str] = &["requests==2.34.2"];
const SCRIPT: &str = include_str!("browser/visit.mjs");
/// The pages that are looked at: five in two sizes and two colours, and three states.
const LOOKS: u64 = 22;

fn run(context: &Context) -> Result<Verdict> {
    let program = Program::small(3);
    let service = Service::with(context, Engine::Sqlite, &[&program])?;
    let mut checks = Checks::default();
    let pages = follow_links(&service, &mut checks)?;
    checks.check(pages > 100, || format!("{pages} pages are led to"));
    if context.short {
        return Ok(checks.verdict(&format!("{pages} pages, of which no link leads nowhere or elsewhere")));
    }
    let chromium = tools::debian("chromium", "chromium")?;
    let tools = Tools::install(context, "browser", PYTHON, NODE)?;
    let key = service.key(&program.account, "read")?;
    let pictures = context.target()?.join("browser");
    let script = tools.directory().join("visit.mjs");
    fs::write(&script, SCRIPT)?;
    let mut node = Command::new("node");
    node.arg(&script).arg(chromium).arg(service.base()).arg(&key).arg(&pictures);
    let visited: Value =
        serde_json::from_str(&process::output(&mut node)?).context("the visit ended without a word")?;
    let looks = visited["looks"].as_u64();
    checks.check(looks == Some(LOOKS), || format!("{looks:?} pages were looked at"));
    for fault in visited["faults"].as_array().context("the visit says nothing of faults")? {
        checks.check(false, || fault.to_string());
    }
    for (language, code) in visited["codes"].as_object().context("the visit made no code")? {
        let said = run_code(&tools, language, code.as_str().unwrap_or_default(), &key)?;
        checks.check(said.contains("<root ") && said.contains("</root>"), || {
            format!("the code in {language} says {said}")
        });
    }
    let figure = format!("{LOOKS} looks without a violation, {pages} pages; pictures are in {}", pictures.display());
    Ok(checks.verdict(&figure))
}

/// Runs the code that a page has made, with a key; gives what it says.
fn run_code(tools: &Tools, language: &str, code: &str, key: &str) -> Result<String> {
    let (name, mut command) = match language {
        "curl" => ("made.sh", Command::new("sh")),
        "python" => ("made.py", tools.python("python3")),
        _ => ("made.mts", tools.node("tsx")),
    };
    let file = tools.directory().join(name);
    fs::write(&file, code)?;
    process::output(command.arg(&file).env("PLAUDIT_KEY", key))
}

/// Follows every link from the start on; gives how many pages there are.
fn follow_links(service: &Service, checks: &mut Checks) -> Result<usize> {
    let client = service.bare().with("accept", "text/html");
    let (mut known, mut waiting, mut pages) = (BTreeSet::new(), vec!["/".to_owned()], 0);
    while let Some(path) = waiting.pop() {
        if !known.insert(path.clone()) {
            continue;
        }
        let answer = client.get(&path)?;
        checks.check(answer.status == 200, || format!("{path} is answered {}", answer.status));
        let text = answer.text();
        if !text.starts_with("<!DOCTYPE html>") {
            continue;
        }
        pages += 1;
        let addresses = ["href=\"", "src=\""].into_iter().flat_map(|name| text.split(name).skip(1));
        for address in addresses.filter_map(|rest| rest.split('"').next()) {
            checks.check(!address.contains(':') && !address.starts_with('/'), || format!("{path} leads to {address}"));
            if !address.starts_with('#') {
                waiting.push(target(&path, address));
            }
        }
    }
    Ok(pages)
}

/// Where a relative address of a page leads (RFC 3986, section 5.2).
fn target(page: &str, address: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').skip(1).collect();
    parts.pop();
    for part in address.split('#').next().unwrap_or_default().split('/') {
        match part {
            ".." => drop(parts.pop()),
            "" | "." => {}
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_address_leads_from_the_folder_of_its_page() {
        for (page, address, expected) in [
            ("/", "docs", "/docs"),
            ("/docs", "docs/GetEntryV23", "/docs/GetEntryV23"),
            ("/docs/GetEntryV23", "../", "/"),
            ("/docs/GetEntryV23", "../docs/website.css", "/docs/website.css"),
            ("/docs/GetEntryV23", "PutEntryV23#body", "/docs/PutEntryV23"),
        ] {
            assert_eq!(target(page, address), expected);
        }
    }
}
