//! A query without a tenant does not compile: what a store offers takes the account first.

use super::Findings;
use super::signature::{Function, functions};
use super::source::{Source, is_name_byte};
use super::tree::Tree;

/// What a statement is run on; it may stand before the account.
const CONNECTIONS: &[&str] = &["Db", "Tx", "Source"];

/// What names the account: its number, or what carries it.
const TENANTS: &[&str] = &["AccountId", "Program", "Name"];

/// The comment above a function that is meant for every account, with the reason after it.
const EVERY_ACCOUNT: &str = "// tidy: every account -- ";

/// Every public function of a store that can reach the database, being handed a connection or waiting for one, has the
/// account as its first parameter, or as its second behind the connection.
pub(super) fn account_first(tree: &Tree, findings: &mut Findings) {
    for source in tree.server().filter(|source| source.is_or_is_under(&["store.rs", "store"])) {
        let public = functions(source).into_iter().filter(|function| function.is_public && reaches_database(function));
        for function in public.filter(|function| !source.in_unit_tests(function.start) && !takes_account(function)) {
            let line = source.line(function.start);
            let name = function.name;
            if let Some(reason) = exception(source, line) {
                findings.exception(source, line, format!("`{name}` is for every account: {reason}"));
            } else {
                findings.violation(source, line, format!("`{name}` does not take the AccountId first"));
            }
        }
    }
}

fn reaches_database(function: &Function) -> bool {
    function.is_async || function.parameters.iter().any(|parameter| CONNECTIONS.contains(&type_name(parameter)))
}

fn takes_account(function: &Function) -> bool {
    let types: Vec<&str> = function.parameters.iter().map(|parameter| type_name(parameter)).collect();
    match types.as_slice() {
        [first, ..] if TENANTS.contains(first) => true,
        [first, second, ..] => CONNECTIONS.contains(first) && TENANTS.contains(second),
        _ => false,
    }
}

/// The last name of a parameter's type, without its module, its reference and what it is generic over.
fn type_name(parameter: &str) -> &str {
    let written = parameter.split_once(": ").map_or("", |(_, written)| written);
    let bare = written.split('<').next().unwrap_or_default().trim_end();
    let start = bare.bytes().rposition(|byte| !is_name_byte(byte)).map_or(0, |before| before + 1);
    &bare[start..]
}

/// The reason given in the comment block right above a line.
fn exception(source: &Source, line: usize) -> Option<&str> {
    let lines: Vec<&str> = source.text.lines().collect();
    let above = lines[..line - 1].iter().rev().map(|text| text.trim());
    let block = above.take_while(|text| text.starts_with("//") || text.starts_with("#["));
    let reasons: Vec<&str> = block.filter_map(|text| text.strip_prefix(EVERY_ACCOUNT)).collect();
    reasons.first().copied().filter(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{found, violations};
    use super::*;

    const STORE: &str = "crates/plaudit/src/orders/store.rs";

    #[test]
    fn a_store_function_without_account_is_found() {
        assert_eq!(violations(account_first, STORE, "pub async fn find(db: &Db, slug: Slug) {}").len(), 1);
        assert_eq!(violations(account_first, STORE, "pub(super) async fn all(&self) {}").len(), 1);
        assert_eq!(violations(account_first, STORE, "pub async fn find(slug: Slug, account: AccountId) {}").len(), 1);
        assert_eq!(
            violations(account_first, STORE, "pub fn find(db: &Db, slug: Slug, account: AccountId) {}").len(),
            1
        );
    }

    #[test]
    fn a_store_function_with_account_passes() {
        for text in [
            "pub fn find(account: AccountId) {}",
            "pub async fn find(db: &Db, account: AccountId, slug: Slug) {}",
            "pub(crate) async fn find<'a>(\n  tx: &'a mut crate::db::Tx,\n  account: AccountId,\n) {}",
            "pub fn read(row: &Row<'_>) -> Order {}",
            "pub fn slug(&self) -> Slug {}",
            "fn private(db: &Db) {}",
        ] {
            assert!(violations(account_first, STORE, text).is_empty(), "{text}");
        }
        assert!(violations(account_first, "crates/plaudit/src/orders/api.rs", "pub fn find(db: &Db) {}").is_empty());
    }

    #[test]
    fn an_exception_needs_a_reason_and_is_listed() {
        let text = |reason: &str| {
            format!("/// All.\n// tidy: every account -- {reason}\n#[must_use]\npub fn all(db: &Db) {{}}")
        };
        let findings = found(account_first, &[(STORE, &text("the clean-up runs for all"))]);
        assert!(findings.violations.is_empty());
        assert_eq!(findings.exceptions.len(), 1);
        assert!(findings.exceptions[0].ends_with("the clean-up runs for all"));
        assert_eq!(violations(account_first, STORE, &text("")).len(), 1);
    }
}
