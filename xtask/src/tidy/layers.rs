//! Who may know what: SQL, the database, the formats.

use super::Findings;
use super::paths::{self, Module};
use super::source::Source;
use super::tree::Tree;

/// How a statement begins. In lower case or in the middle of a sentence the words are prose.
const STATEMENTS: &[&str] = &["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH "];

/// What rules may not know: they are functions of a program and a record.
const IMPURE: &[&str] = &["db", "axum"];

/// SQL stands in a store, in `db`, and where the database is tested and measured.
pub(super) fn sql(tree: &Tree, findings: &mut Findings) {
    for source in tree.shipped().filter(|source| !source.is_or_is_under(&["store.rs", "store", "db"])) {
        let own = source.strings.iter().filter(|string| !source.in_unit_tests(string.start));
        for string in own.filter(|string| is_statement(&string.content)) {
            findings.violation(source, source.line(string.start), "SQL outside a store.rs");
        }
    }
}

fn is_statement(text: &str) -> bool {
    // A string that is continued on the next line begins after the backslash.
    let begun = text.trim_start_matches(|character: char| character.is_whitespace() || character == '\\');
    STATEMENTS.iter().any(|statement| {
        let words = begun.split_whitespace().zip(statement.split_whitespace()).all(|(word, wanted)| word == wanted);
        words && begun.split_whitespace().count() > statement.split_whitespace().count()
    })
}

/// Rules import neither the database nor HTTP and never wait.
pub(super) fn pure_rules(tree: &Tree, findings: &mut Findings) {
    for source in tree.server().filter(|source| source.is_or_is_under(&["rules.rs", "rules"])) {
        for word in ["async", "await"] {
            for position in source.words(word) {
                findings.violation(source, source.line(position), format!("`{word}` in rules"));
            }
        }
        let module = Module::of(&source.path);
        for path in paths::used(source) {
            let root = path.resolved(&module).into_iter().next();
            if root.as_deref().is_some_and(|root| IMPURE.contains(&root)) {
                findings.violation(source, source.line(path.position), format!("`{}` in rules", path.text));
            }
        }
    }
}

/// What a response looks like in XML is known to `render/mod.rs` and to the documents that it renders.
pub(super) fn formats(tree: &Tree, findings: &mut Findings) {
    for source in tree.server().filter(|source| !may_know_formats(source)) {
        for position in source.words("xml_envelope") {
            findings.violation(source, source.line(position), "XML outside render/mod.rs and document/");
        }
    }
}

fn may_know_formats(source: &Source) -> bool {
    let folders = ["crates/plaudit/src/render/", "crates/kernel/src/document/"];
    folders.iter().any(|folder| source.path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;

    const API: &str = "crates/plaudit/src/program/chapters/api.rs";
    const RULES: &str = "crates/plaudit/src/program/chapters/rules.rs";
    const STORE: &str = "crates/plaudit/src/program/chapters/store.rs";

    #[test]
    fn sql_is_found_outside_a_store() {
        let text = "let sql = \"\\\n  SELECT slug FROM chapter\";";
        assert_eq!(violations(sql, API, text).len(), 1);
        assert_eq!(violations(sql, API, "f(\"WITH all AS (SELECT 1)\"); g(r\"DELETE FROM entry\")").len(), 2);
        for path in [STORE, "crates/db/src/row.rs", "crates/plaudit/src/orders/store/list.rs", "bench/src/main.rs"] {
            assert!(violations(sql, path, text).is_empty(), "{path}");
        }
        assert!(violations(sql, API, "f(\"UPDATED since\"); // SELECT 1\n g(\"SELECTED\")").is_empty());
    }

    #[test]
    fn rules_that_are_not_pure_are_found() {
        assert_eq!(violations(pure_rules, RULES, "pub async fn check() {}").len(), 1);
        assert_eq!(violations(pure_rules, RULES, "use crate::{text::Slug, db::Db};").len(), 1);
        assert_eq!(violations(pure_rules, RULES, "fn f(db: super::super::super::db::Db) {}").len(), 1);
        assert_eq!(violations(pure_rules, RULES, "use axum::Json;").len(), 1);
        assert!(violations(pure_rules, RULES, "use crate::text::Slug; // never async\nfn f() {}").is_empty());
        assert!(violations(pure_rules, API, "use axum::Json; async fn f() {}").is_empty());
    }

    #[test]
    fn xml_is_found_outside_rendering() {
        assert_eq!(violations(formats, API, "xml_envelope::write(body)").len(), 1);
        assert!(violations(formats, "crates/plaudit/src/render/mod.rs", "use xml_envelope::write;").is_empty());
        assert!(violations(formats, "crates/kernel/src/document/xml.rs", "use xml_envelope::write;").is_empty());
    }
}
