//! The contract's operations: each is tested, each has its route, and no route is a secret.

use std::collections::BTreeMap;

use super::Findings;
use super::source::Source;
use super::tree::Tree;

/// What stands outside the interface and its document.
const OUTSIDE: &[&str] = &[
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/download/{account}/{token}",
    "/confirm/{account}/{token}",
    "/sign-in/{account}/{token}",
];

/// Every operation's identifier appears in the API tests.
pub(super) fn tested(tree: &Tree, findings: &mut Findings) {
    let tests: Vec<&Source> =
        tree.rust().filter(|source| source.path.starts_with("crates/plaudit/tests/api/")).collect();
    for (id, (source, line)) in literals(tree, "operation_id = ") {
        if !tests.iter().any(|test| test.text.contains(&id)) {
            findings.violation(source, line, format!("the operation `{id}` appears in no test"));
        }
    }
}

/// Every path that is routed is in the OpenAPI document, and the other way round.
pub(super) fn routed(tree: &Tree, findings: &mut Findings) {
    let documented = literals(tree, "path = ");
    let routed = literals(tree, ".route(");
    for (path, (source, line)) in &routed {
        if !documented.contains_key(path) && !OUTSIDE.contains(&path.as_str()) {
            findings.violation(source, *line, format!("the route `{path}` is not in the OpenAPI document"));
        }
    }
    for (path, (source, line)) in documented.iter().filter(|(path, _)| path.starts_with('/')) {
        if !routed.contains_key(path) {
            findings.violation(source, *line, format!("`{path}` of the OpenAPI document has no route"));
        }
    }
}

/// No two schemas of the document share a name: the second would silently describe what the first is about.
pub(super) fn schemas(tree: &Tree, findings: &mut Findings) {
    let mut named: BTreeMap<&str, (&Source, usize)> = BTreeMap::new();
    for source in tree.server() {
        for start in source.words("ToSchema").into_iter().filter(|start| !source.in_unit_tests(*start)) {
            let declared =
                source.code[start..].find("pub struct ").into_iter().chain(source.code[start..].find("pub enum "));
            let Some(end) = declared.min().map(|end| start + end) else { continue };
            let between = &source.code[start..end];
            let renamed = between.find("schema(as = ").map(|at| &between[at + "schema(as = ".len()..]);
            let own = source.code[end..].split(' ').nth(2).unwrap_or_default();
            let name =
                renamed.unwrap_or(own).split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            match named.get(name) {
                Some((other, line)) => {
                    let place = format!("{}:{line}", other.path);
                    findings.violation(
                        source,
                        source.line(end),
                        format!("the schema `{name}` is that of {place}, too"),
                    );
                }
                None => {
                    named.insert(name, (source, source.line(end)));
                }
            }
        }
    }
}

/// The strings that stand right behind some code, each with the first place it was found at.
fn literals<'a>(tree: &'a Tree, code: &str) -> BTreeMap<String, (&'a Source, usize)> {
    let mut found = BTreeMap::new();
    for source in tree.server() {
        for string in source.strings.iter().filter(|string| !source.in_unit_tests(string.start)) {
            let before = source.code[..string.start - 1].trim_end();
            if before.ends_with(code.trim_end()) {
                found.entry(string.content.clone()).or_insert_with(|| (source, source.line(string.start)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const API: &str = "crates/plaudit/src/orders/api.rs";
    const TEST: &str = "crates/plaudit/tests/api/orders.rs";
    const OPERATION: &str = "#[utoipa::path(get, path = \"/order\", operation_id = \"GetOrders\")]";

    #[test]
    fn an_operation_without_a_test_is_found() {
        assert_eq!(found(tested, &[(API, OPERATION)]).violations.len(), 1);
        assert!(found(tested, &[(API, OPERATION), (TEST, "// GetOrders\n")]).violations.is_empty());
    }

    #[test]
    fn two_schemas_of_one_name_are_found() {
        let schema = |more: &str, name: &str| format!("#[derive(utoipa::ToSchema)]\n{more}pub struct {name} {{\n}}\n");
        let other = "crates/plaudit/src/entries/api.rs";
        let count = |one: &str, two: &str| found(schemas, &[(API, one), (other, two)]).violations.len();
        assert_eq!(count(&schema("", "Update"), &schema("", "Update")), 1);
        assert_eq!(count(&schema("", "Update"), &schema("", "Create")), 0);
        assert_eq!(count(&schema("", "Update"), &schema("#[schema(as = UpdateEntry)]\n", "Update")), 0);
        assert_eq!(count(&schema("", "UpdateEntry"), &schema("#[schema(as = UpdateEntry)]\n", "Update")), 1);
    }

    #[test]
    fn a_route_and_the_document_are_held_together() {
        let route = |path: &str| format!("{OPERATION}\nfn routes() {{ router.route(\n \"{path}\", get(list)) }}");
        assert!(found(routed, &[(API, &route("/order"))]).violations.is_empty());
        assert_eq!(found(routed, &[(API, &route("/orders"))]).violations.len(), 2);
        assert_eq!(found(routed, &[(API, OPERATION)]).violations.len(), 1);
        assert!(found(routed, &[(API, "r.route(\"/openapi.json\", get(document))")]).violations.is_empty());
    }
}
