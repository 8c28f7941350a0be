//! Nothing is left for later, and nothing is tied to one machine.

use super::Findings;
use super::tree::Tree;

/// No test is switched off and no code is put off.
pub(super) fn unfinished(tree: &Tree, findings: &mut Findings) {
    for source in tree.rust() {
        for mark in ["#[ignore", "todo!", "unimplemented!"] {
            for (position, _) in source.code.match_indices(mark) {
                findings.violation(source, source.line(position), format!("`{mark}` is not committed"));
            }
        }
    }
}

/// No path names a directory that one machine has and another has not.
pub(super) fn absolute_paths(tree: &Tree, findings: &mut Findings) {
    // Put together here, so that this file does not break its own rule.
    let directories = ["work", "root", "home"].map(|name| format!("/{name}/"));
    for source in tree.files.iter().filter(|source| source.path != "Cargo.lock") {
        for directory in &directories {
            let found = source.text.match_indices(directory.as_str());
            let begun = found.filter(|(start, _)| begins_a_path(&source.text[..*start]));
            for (position, _) in begun {
                findings.violation(source, source.line(position), format!("a path below `{directory}`"));
            }
        }
    }
}

/// Whether what comes before leaves a path to begin here, instead of going on.
fn begins_a_path(before: &str) -> bool {
    let goes_on = |last: char| last.is_alphanumeric() || "._-~*/}>$)".contains(last);
    !before.ends_with(goes_on)
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn what_is_put_off_is_found() {
        let text = format!("#[{}]\nfn test() {{ {}!() }}", "ignore = \"slow\"", "todo");
        assert_eq!(violations(unfinished, "a.rs", &text).len(), 2);
        assert!(violations(unfinished, "a.rs", "// a todo! in a comment\nf(\"#[ignore]\")").is_empty());
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let path = |start: &str, name: &str| format!("{start}/{name}/someone/x");
        assert_eq!(violations(absolute_paths, "README.md", &path("cd ", "home")).len(), 1);
        assert_eq!(violations(absolute_paths, "a.rs", &path("\"", "root")).len(), 1);
        assert!(violations(absolute_paths, "README.md", &path("https://example.org", "home")).is_empty());
        assert!(violations(absolute_paths, "Cargo.lock", &path("", "work")).is_empty());
    }
}
