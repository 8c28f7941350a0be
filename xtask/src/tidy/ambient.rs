//! Time, randomness and the environment come from one place each, so that tests can fix them.

use super::Findings;
use super::tree::Tree;

/// Only `clock.rs` asks what time it is.
pub(super) fn time(tree: &Tree, findings: &mut Findings) {
    let ways = ["SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now"];
    refuse(tree, findings, &ways, &["clock.rs"], "time comes from clock");
}

/// Only `ids.rs` draws a random number.
pub(super) fn randomness(tree: &Tree, findings: &mut Findings) {
    let ways = ["rand::", "getrandom", "fastrand", "RandomState::new"];
    refuse(tree, findings, &ways, &["ids.rs"], "randomness comes from ids");
}

/// Only `config.rs` and `main.rs` look at the environment.
pub(super) fn environment(tree: &Tree, findings: &mut Findings) {
    let ways = ["std::env", "env::var", "env::vars", "env::var_os", "env::args", "env::temp_dir", "env::current_dir"];
    refuse(tree, findings, &ways, &["config.rs", "config", "main.rs"], "the environment comes from config");
}

fn refuse(tree: &Tree, findings: &mut Findings, ways: &[&str], home: &[&str], instead: &str) {
    for source in tree.shipped().filter(|source| !source.is_or_is_under(home)) {
        let positions = ways.iter().flat_map(|way| source.words(way)).filter(|at| !source.in_unit_tests(*at));
        let mut lines: Vec<usize> = positions.map(|position| source.line(position)).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            findings.violation(source, line, instead);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    const API: &str = "crates/plaudit/src/orders/api.rs";

    #[test]
    fn each_ambient_source_is_found_outside_its_home() {
        for (rule, text, home) in [
            (time as fn(&Tree, &mut Findings), "let now = std::time::Instant::now();", "clock.rs"),
            (time, "jiff::Timestamp::now()", "clock.rs"),
            (randomness, "getrandom::fill(&mut bytes)", "ids.rs"),
            (randomness, "rand::rng()", "ids.rs"),
            (environment, "std::env::var(\"HOME\")", "config.rs"),
            (environment, "use std::env;", "main.rs"),
        ] {
            assert_eq!(violations(rule, API, text).len(), 1, "{text}");
            assert!(violations(rule, &format!("crates/plaudit/src/{home}"), text).is_empty(), "{text}");
            assert!(violations(rule, "xtask/src/main.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_the_compiler_reads_is_not_the_environment() {
        assert!(violations(environment, API, "env!(\"CARGO_PKG_VERSION\"); // std::env::var").is_empty());
    }
}
