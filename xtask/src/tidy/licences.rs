//! Every crate that is built may be passed on under the project's own licences.

use serde_json::Value;

use super::Findings;

/// Licences that ask for no more than the notice they come with.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Exceptions that only take away from what a licence asks for.
const EXCEPTIONS: &[&str] = &["LLVM-exception"];

/// Looks at every package that `cargo metadata` names.
pub(super) fn check(metadata: &Value, findings: &mut Findings) {
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or("a package without a name");
        match package["license"].as_str() {
            None => findings.violations.push(format!("{name}: names no licence")),
            Some(expression) if is_permissive(expression) => {}
            Some(expression) => findings.violations.push(format!("{name}: `{expression}` is not on the list")),
        }
    }
}

/// Whether an SPDX expression leaves a choice that is on the list.
fn is_permissive(expression: &str) -> bool {
    // Old packages part alternatives by a slash.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    alternatives(&mut words).unwrap_or(false) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// `OR` binds least; none where the expression cannot be read.
fn alternatives(words: &mut Words) -> Option<bool> {
    let mut permitted = all_of(words)?;
    while words.next_if_eq(&"OR").is_some() {
        permitted |= all_of(words)?;
    }
    Some(permitted)
}

fn all_of(words: &mut Words) -> Option<bool> {
    let mut permitted = licence(words)?;
    while words.next_if_eq(&"AND").is_some() {
        permitted &= licence(words)?;
    }
    Some(permitted)
}

fn licence(words: &mut Words) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let permitted = alternatives(words)?;
        return (words.next()? == ")").then_some(permitted);
    }
    let mut permitted = PERMISSIVE.contains(&word);
    if words.next_if_eq(&"WITH").is_some() {
        permitted &= EXCEPTIONS.contains(&words.next()?);
    }
    Some(permitted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expressions_are_judged() {
        for permitted in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        ] {
            assert!(is_permissive(permitted), "{permitted}");
        }
        for refused in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "", "(MIT", "MIT MIT", "Apache-2.0 WITH other"] {
            assert!(!is_permissive(refused), "{refused}");
        }
    }

    #[test]
    fn the_list_is_that_of_cargo_deny() {
        let configured = include_str!("../../../deny.toml");
        for licence in PERMISSIVE {
            assert!(configured.contains(&format!("    \"{licence}\",\n")), "{licence}");
        }
        let quoted = configured.lines().filter(|line| line.starts_with("    \"")).count();
        assert_eq!(quoted, PERMISSIVE.len() + EXCEPTIONS.len());
    }

    #[test]
    fn a_package_without_a_permissive_licence_is_found() {
        let mut findings = Findings::default();
        let metadata = json!({"packages": [
            {"name": "good", "license": "MIT"},
            {"name": "bad", "license": "AGPL-3.0-only"},
            {"name": "none", "license": null},
        ]});
        check(&metadata, &mut findings);
        assert_eq!(findings.violations.len(), 2);
    }
}
