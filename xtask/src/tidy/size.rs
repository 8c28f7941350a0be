//! Files and functions stay small enough to be read at once.

use super::Findings;
use super::signature::functions;
use super::tree::Tree;

const LINES_OF_A_FILE: usize = 600;

/// Counted from the line of `fn` to that of the closing brace: what a reader scrolls over.
const LINES_OF_A_FUNCTION: usize = 80;

/// What is written by hand as code; data, prose and what a program wrote may be as long as it is.
const CODE: &[&str] = &[".rs", ".sql", ".py", ".sh"];

/// A file has at most 600 lines.
pub(super) fn files(tree: &Tree, findings: &mut Findings) {
    for source in tree.files.iter().filter(|source| CODE.iter().any(|ending| source.path.ends_with(ending))) {
        let lines = source.text.lines().count();
        if lines > LINES_OF_A_FILE {
            findings.violation(source, lines, format!("a file of {lines} lines, more than {LINES_OF_A_FILE}"));
        }
    }
}

/// A function has at most 80 lines.
pub(super) fn functions_of_tree(tree: &Tree, findings: &mut Findings) {
    for source in tree.rust() {
        for function in functions(source) {
            let Some(end) = function.end else { continue };
            let line = source.line(function.start);
            let lines = source.line(end) - line + 1;
            if lines > LINES_OF_A_FUNCTION {
                let name = function.name;
                findings.violation(
                    source,
                    line,
                    format!("`{name}` has {lines} lines, more than {LINES_OF_A_FUNCTION}"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(violations(files, "a.rs", &"\n".repeat(601)).len(), 1);
        assert!(violations(files, "a.rs", &"\n".repeat(600)).is_empty());
        assert!(violations(files, "Cargo.lock", &"\n".repeat(601)).is_empty());
    }

    #[test]
    fn a_long_function_is_found() {
        let function = |lines: usize| format!("fn long() {{{}}}", "\n".repeat(lines - 1));
        assert_eq!(violations(functions_of_tree, "a.rs", &function(81)).len(), 1);
        assert!(violations(functions_of_tree, "a.rs", &function(80)).is_empty());
    }
}
