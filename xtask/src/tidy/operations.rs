//! The contract's operations: each is tested.

use super::Findings;
use super::source::Source;
use super::tree::Tree;

/// Every operation's identifier appears in the API tests.
pub(super) fn tested(tree: &Tree, findings: &mut Findings) {
    let tests: Vec<&Source> =
        tree.rust().filter(|source| source.path.starts_with("crates/plaudit/tests/api/")).collect();
    for source in tree.server() {
        let own = source.strings.iter().filter(|string| !source.in_unit_tests(string.start));
        for id in own.filter(|string| is_operation(&string.content)) {
            if !tests.iter().any(|test| test.text.contains(&id.content)) {
                let message = format!("the operation `{}` appears in no test", id.content);
                findings.violation(source, source.line(id.start), message);
            }
        }
    }
}

/// Whether a text is the identifier of an operation, such as `GetOrderCollectionV23`.
fn is_operation(text: &str) -> bool {
    let verb = ["Get", "Post", "Put", "Delete"].into_iter().find_map(|verb| text.strip_prefix(verb));
    let name = verb.and_then(|name| name.strip_suffix("V23"));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const HANDLERS: &str = "crates/plaudit/src/resources/orders.rs";
    const TEST: &str = "crates/plaudit/tests/api/orders.rs";

    #[test]
    fn an_operation_without_a_test_is_found_also_in_a_macro() {
        for handler in ["#[utoipa::path(get, operation_id = \"GetOrderV23\")]", "reads! { \"/order\" \"GetOrderV23\" }"]
        {
            assert_eq!(found(tested, &[(HANDLERS, handler)]).violations.len(), 1);
            assert!(found(tested, &[(HANDLERS, handler), (TEST, "// GetOrderV23\n")]).violations.is_empty());
        }
        assert!(found(tested, &[(HANDLERS, "f(\"V23\"); f(\"Get it, V23\")")]).violations.is_empty());
    }
}
