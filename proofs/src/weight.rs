//! `weight`: what the tree weighs: lines of code, processor time of a build, seconds from an edit to its tests, size of the binary.
//!
//! A line of code is one that is neither blank nor a comment, outside tests. Builds are made from a copy of what is committed
//! and changed, into a target directory of their own. The bars of the build and of the binary were set for the first twelve groups: what
//! each part adds in lines, it may add in seconds and in bytes as well.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::service::Checks;
use super::{Context, Proof, Verdict};
use crate::process::{self, Cargo};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "weight",
    claim: "The crates of the server have no more lines of code than each part of it may have. For 35,000 of these lines a release \
            build from nothing takes at most 450 s of processor time, and the stripped binary has at most 26 MB. An edit is tested \
            within 30 s.",
    run,
};

/// How many lines of code each part may add: a change that needs more says so here.
const LINES: [(&str, usize); 30] = [
    ("the first twelve groups", 35_000),
    ("webhooks, deliveries, the feed of events, jobs and mail", 8_700),
    ("scoring and planning, as crates", 4_600),
    ("assignments, sheets and leaderboards", 3_300),
    ("review tasks, keys of persons", 2_500),
    ("the analysis of leaderboards, sheets as CSV", 500),
    ("plans of assignments, and what panels assign", 1_500),
    ("who goes on, casting votes and lots", 700),
    ("published results, their bundles and their verification", 1_000),
    ("what judges, reviewers and managers of chapters see and do", 650),
    ("reminders of judges, analyses that are kept", 350),
    ("prices, discounts, taxes, credits and differences, as a crate", 850),
    ("orders one by one, their lines and payments", 750),
    ("invoices and credit notes as pages and as EN 16931, as a crate", 900),
    ("orders of entries: quotes, numbers, credit notes, moves, the register, money in languages", 2_600),
    ("documents as records: files, list, read, delete", 350),
    ("documents made of templates: the typesetter's process, what templates find, the job, the preview", 1_450),
    ("pages for people: the start, the reference", 600),
    ("the command line: help in groups, lists, what things are called", 450),
    ("operation: lines of the log, measurements, settings told with their place, PostgreSQL by TLS, web clients", 950),
    ("a person is erased", 550),
    ("accounts that are imported in steps, and what is left of them", 250),
    ("traces of requests and jobs", 150),
    ("forms of documents, and rows that are rewritten", 250),
    ("sheets that come back, imports in YAML, forms of documents for webhooks", 150),
    ("sheets that are read with what they show, moves that are billed again, commits that go out with what waits", 100),
    ("notices of keys that end, bounds of what commands and users store", 200),
    ("webhooks that follow their address and their log, hidden fields in what is refused", 100),
    ("conflicts that are lifted, panels in parts, files that answers had before, backups that meet", 250),
    ("names of XML in any script, ties that a lot would decide, answers that tell all that is wrong", 250),
];

/// The other bars.
const BUILD: f64 = 450.0;
const EDIT: f64 = 30.0;
const BINARY: f64 = 26.0;

/// Crates that serve tests alone.
const OF_TESTS: [&str; 1] = ["test-bucket"];

/// What is changed to measure the way from an edit to its tests, and the tests that are run.
const EDITED: &str = "crates/plaudit/src/program/chapters/rules.rs";
const WORD: &str = "chapters";

/// How the kernel counts processor time, in parts of a second.
const TICKS: f64 = 100.0;

fn run(context: &Context) -> Result<Verdict> {
    let folders = lines_by_folder(&context.root)?;
    let total: usize = folders.values().sum();
    for (folder, lines) in &folders {
        println!("  {lines:>6}  {folder}");
    }
    let most = LINES.iter().map(|(_, lines)| lines).sum::<usize>();
    let mut checks = Checks::default();
    checks.check((1..=most).contains(&total), || format!("{total} lines of code, more than {most}"));
    if context.short {
        return Ok(checks.verdict(&format!("{total} lines of code in {} folders", folders.len())));
    }
    let scratch = context.scratch()?;
    let (copy, target) = (copied(&context.root, scratch.path())?, scratch.path().join("target"));
    let cargo = |arguments: &[&str]| Cargo::new(&copy, arguments).env("CARGO_TARGET_DIR", &target);
    let before = of_children()?;
    cargo(&["build", "--release"]).run()?;
    let build = of_children()? - before;
    let binary = stripped(&target.join("release/plaudit"))?;
    let tests = || cargo(&["xtask", "check", WORD]).run();
    tests()?;
    let edited = copy.join(EDITED);
    let text = fs::read_to_string(&edited)?;
    fs::write(&edited, format!("{text}\n#[allow(dead_code)]\nconst EDITED: u8 = 0;\n"))?;
    let begun = Instant::now();
    tests()?;
    let edit = begun.elapsed();
    println!("  {total} lines of code, {build:.0} s of a build, {} s to its tests, {binary:.1} MB", seconds(edit));
    let [first, all] = [LINES[0].1, most].map(u32::try_from);
    let times = f64::from(all?) / f64::from(first?);
    let [of_build, of_binary] = [BUILD * times, BINARY * times];
    checks.check(build <= of_build, || format!("a build from nothing takes {build:.0} s, more than {of_build:.0}"));
    checks.check(edit.as_secs_f64() <= EDIT, || format!("an edit is tested after {} s", seconds(edit)));
    checks.check(binary <= of_binary, || format!("the stripped binary has {binary:.1} MB, more than {of_binary:.1}"));
    Ok(checks.verdict(&format!("{total} lines, {build:.0} s, {} s, {binary:.1} MB", seconds(edit))))
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64())
}

/// The lines of code of the crates of the server: by crate, and by folder of the largest.
fn lines_by_folder(root: &Path) -> Result<BTreeMap<String, usize>> {
    let mut folders = BTreeMap::new();
    for file in process::output(Command::new("git").current_dir(root).args(["ls-files", "crates/*.rs"]))?.lines() {
        let parts: Vec<&str> = file.split('/').collect();
        let [_, name, "src", inner @ ..] = parts.as_slice() else { continue };
        let is_test = inner.iter().any(|part| ["tests", "tests.rs", "testing.rs"].contains(part));
        if is_test || OF_TESTS.contains(name) || !root.join(file).is_file() {
            continue;
        }
        let folder = match inner {
            [folder, _, ..] if *name == "plaudit" => format!("{name}/{folder}"),
            _ => (*name).to_owned(),
        };
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("{file} cannot be read"))?;
        *folders.entry(folder).or_default() += lines_of_code(&text);
    }
    Ok(folders)
}

/// Lines that are neither blank nor a comment, without modules of tests.
fn lines_of_code(text: &str) -> usize {
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code == "#[cfg(test)]" {
            let is_module = lines.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'));
            if is_module {
                lines.by_ref().find(|line| *line == "}");
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// What git knows of the tree, as it stands.
pub(crate) fn copied(root: &Path, scratch: &Path) -> Result<PathBuf> {
    let copy = scratch.join("tree");
    let files = process::output(Command::new("git").current_dir(root).args(["ls-files"]))?;
    for file in files.lines().filter(|file| root.join(file).is_file()) {
        let to = copy.join(file);
        fs::create_dir_all(to.parent().unwrap_or(&copy))?;
        fs::copy(root.join(file), to)?;
    }
    Ok(copy)
}

/// The size of a binary without its symbols, in MB.
fn stripped(binary: &Path) -> Result<f64> {
    let small = binary.with_extension("stripped");
    process::output(Command::new("strip").arg("-o").arg(&small).arg(binary))?;
    let bytes = u32::try_from(fs::metadata(small)?.len().div_ceil(1_000))?;
    Ok(f64::from(bytes) / 1_000.0)
}

/// The processor time of the processes that were waited for, and of those that they waited for (proc(5): `cutime` and `cstime`).
fn of_children() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("this proof needs /proc")?;
    // The name of the program stands in parentheses and may have blanks.
    let (_, fields) = text.rsplit_once(')').context("/proc/self/stat has another form")?;
    let of_children = fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u32>().ok());
    Ok(of_children.map(f64::from).sum::<f64>() / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_tests_are_no_lines_of_code() {
        let text = "//! A module.\n\nuse a::b;\n\n/// Says.\nfn one() {\n    // why\n    two();\n}\n\n#[cfg(test)]\nmod tests {\n    fn x() {}\n}\n";
        assert_eq!(lines_of_code(text), 4);
        assert_eq!(lines_of_code("#[cfg(test)]\nmod tests;\nfn one() {}\n"), 1);
    }
}
