//! The invariants of ARCHITECTURE.md, checked on the source text of the tree.
//!
//! A rule is a function from the tree to its [`Findings`]. The rules read text, not types: [`source`] parts code from
//! comments and strings, and that is enough for every one of them. What a rule cannot see (a path built by a macro,
//! say) is left to the compiler, to clippy and to review.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

mod ambient;
mod arrows;
mod hygiene;
mod layers;
mod licences;
mod operations;
mod paths;
mod signature;
mod size;
mod source;
mod tenants;
mod tree;

use source::Source;
use tree::Tree;

/// What the rules found.
#[derive(Default)]
struct Findings {
    violations: Vec<String>,
    exceptions: Vec<String>,
    /// What is worth knowing of a tree in which all is well.
    notes: Vec<String>,
}

/// A rule of the design and how it is checked.
struct Rule {
    name: &'static str,
    check: fn(&Tree, &mut Findings),
}

const RULES: &[Rule] = &[
    Rule { name: "only a store contains SQL", check: layers::sql },
    Rule { name: "rules are pure", check: layers::pure_rules },
    Rule { name: "a folder imports only what stands above it", check: arrows::order },
    Rule { name: "one place knows XML", check: layers::formats },
    Rule { name: "a store function takes the account first", check: tenants::account_first },
    Rule { name: "time comes from clock", check: ambient::time },
    Rule { name: "randomness comes from ids", check: ambient::randomness },
    Rule { name: "the environment comes from config", check: ambient::environment },
    Rule { name: "a file is small", check: size::files },
    Rule { name: "a function is small", check: size::functions_of_tree },
    Rule { name: "nothing is put off", check: hygiene::unfinished },
    Rule { name: "no path of one machine", check: hygiene::absolute_paths },
    Rule { name: "every operation has a test", check: operations::tested },
];

/// `cargo xtask tidy`.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    check(root)?;
    Ok(ExitCode::SUCCESS)
}

/// Applies every rule, prints what was found, and is an error where an invariant is broken.
pub(crate) fn check(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let mut findings = Findings::default();
    for rule in RULES {
        let before = findings.violations.len();
        (rule.check)(&tree, &mut findings);
        findings.name_rule(before, rule.name);
    }
    let before = findings.violations.len();
    licences::check(&proofs::metadata::read(root, false)?, &mut findings);
    findings.name_rule(before, "licences are permissive");
    for note in &findings.notes {
        println!("{note}");
    }
    for exception in &findings.exceptions {
        println!("exception: {exception}");
    }
    for violation in &findings.violations {
        println!("{violation}");
    }
    if !findings.violations.is_empty() {
        bail!("tidy: {} violations in {} files", findings.violations.len(), tree.files.len());
    }
    println!("tidy: {} rules hold in {} files", RULES.len() + 1, tree.files.len());
    Ok(())
}

impl Findings {
    fn violation(&mut self, source: &Source, line: usize, message: impl std::fmt::Display) {
        self.violations.push(format!("{}:{line}: {message}", source.path));
    }

    fn exception(&mut self, source: &Source, line: usize, message: impl std::fmt::Display) {
        self.exceptions.push(format!("{}:{line}: {message}", source.path));
    }

    fn name_rule(&mut self, since: usize, name: &str) {
        for violation in &mut self.violations[since..] {
            *violation = format!("{violation} [{name}]");
        }
    }
}

/// What a rule finds in a tree of these files: for the tests of the rules.
#[cfg(test)]
fn found(check: fn(&Tree, &mut Findings), files: &[(&str, &str)]) -> Findings {
    let tree = Tree { files: files.iter().map(|(path, text)| Source::new(*path, *text)).collect() };
    let mut findings = Findings::default();
    check(&tree, &mut findings);
    findings
}

/// The violations that a rule finds in a tree of one file.
#[cfg(test)]
fn violations(check: fn(&Tree, &mut Findings), path: &str, text: &str) -> Vec<String> {
    found(check, &[(path, text)]).violations
}
