//! The records of a document: a mapping of plural kind to a list of records.

use std::sync::Arc;

use super::super::Error;
use super::super::fault::{Faults, SourceLocation};
use super::super::marks::Mark;
use super::super::reading::RecordReader;
use super::{Node, Value, read, record};
use kernel::json::Json;
use kernel::kind::Kind;

/// The one kind of which a file has one record, which stands by itself.
const ACCOUNT: &str = "account";

impl RecordReader {
    /// Reads a file in YAML.
    pub(in crate::transfer) fn read_yaml(&mut self, text: &[u8], faults: &mut Faults<'_>) -> Result<(), Error> {
        let start = Mark { line: 1, column: 1 };
        let Ok(text) = std::str::from_utf8(text) else {
            faults.file("is not UTF-8");
            return Ok(());
        };
        let (root, problems) = read(text);
        for problem in problems {
            faults.at(problem.mark, None, problem.message);
        }
        let members = match root {
            Some(Node { value: Value::Map(members), .. }) => members,
            None | Some(Node { value: Value::Scalar(Json::Null), .. }) => return Ok(()),
            Some(node) => {
                faults.at(node.mark.max(start), None, "must be a mapping such as seasons: to a list of records");
                return Ok(());
            }
        };
        for (name, mark, node) in members {
            self.list(&name, mark, node, faults)?;
        }
        Ok(())
    }

    /// The records of a kind.
    fn list(&mut self, name: &str, mark: Mark, node: Node, faults: &mut Faults<'_>) -> Result<(), Error> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.is_in_files() && kind.plural() == name);
        let kind = kind.or_else(|| (name == ACCOUNT).then_some(Kind::Account));
        let Some(kind) = kind else {
            faults.at(mark, Some(name), unknown(name, self.is_applied));
            return Ok(());
        };
        let items = match node.value {
            Value::List(items) => items,
            // A kind of which there is nothing yet.
            Value::Scalar(Json::Null) => return Ok(()),
            Value::Map(_) if name == ACCOUNT => vec![node],
            _ => {
                let wanted = if name == ACCOUNT { "one record" } else { "a list of records" };
                faults.at(mark, Some(name), format!("must be {wanted}"));
                return Ok(());
            }
        };
        for Node { mark, value } in items {
            let Value::Map(members) = value else {
                faults.at(mark, Some(name), format!("must be a {kind}, a mapping of members"));
                continue;
            };
            let (mut object, marks) = record(mark, members);
            let location = SourceLocation { marks: Some(Arc::new(marks)), ..SourceLocation::new(mark.line, kind, "") };
            let stated = object.set("kind", Json::String(kind.name().into()));
            if stated.is_some_and(|stated| stated.as_str() != Some(kind.name())) {
                faults.member(&location, "kind", format!("must be {kind} or left out"));
            }
            self.record(location, object, None, faults)?;
        }
        Ok(())
    }
}

fn unknown(name: &str, is_applied: bool) -> String {
    if let Some(kind) = Kind::named(name).filter(|kind| kind.is_in_files()) {
        return format!("is one record; a file has a list of them under {}", kind.plural());
    }
    let is_taken =
        |kind: &Kind| if is_applied { kind.is_setup() } else { kind.is_in_files() && *kind != Kind::Account };
    let names: Vec<_> = Kind::ALL.into_iter().filter(is_taken).map(Kind::plural).collect();
    format!("is no kind of record; a program file has {ACCOUNT}, {}", names.join(", "))
}
