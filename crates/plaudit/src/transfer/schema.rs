//! The JSON Schema (2020-12) of program files that are applied, made from the members of the records.
//!
//! - The root is a file in YAML. A line of JSON Lines is `#/$defs/line`.
//! - A record has its kind's members and no others. What it owns may be nested in it, and then leaves out who owns it.
//! - The schema knows every record by itself. That references lead somewhere, and what records must be to each other,
//!   `plaudit apply --dry-run` tells.

use serde_json::{Map, Value, json};

use crate::program::accounts::Account;
use crate::program::{Member, Presence, RecordMembers as _, Usage, definitions, for_setup_kind, object_schema};
use kernel::kind::Kind;

/// The schema, as a file of its own.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

/// The members of the records of a kind of the set-up, the account included.
pub(super) fn members(kind: Kind) -> &'static [Member] {
    if kind == Kind::Account {
        return Account::MEMBERS;
    }
    for_setup_kind!(kind, T => T::MEMBERS).unwrap_or_default()
}

fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| *kind == Kind::Account || kind.is_setup())
}

/// Who owns records of a kind, where they may be nested: the member that names the owner, and what they share with it.
fn owned_by(kind: Kind) -> Vec<&'static str> {
    kind.owners().map(Kind::name).collect()
}

fn document() -> Value {
    let mut properties = Map::new();
    properties.insert("account".to_owned(), reference(Kind::Account));
    for kind in kinds() {
        let mut list = json!({ "description": format!("The {}.", words(kind.plural())), "type": ["array", "null"] });
        list["items"] = whole(kind);
        if kind == Kind::Account {
            list["description"] = json!("The account, as a list of one.");
            list["maxItems"] = json!(1);
        }
        properties.insert(kind.plural().to_owned(), list);
    }
    let mut all = definitions();
    let mut lines = Vec::new();
    for kind in kinds() {
        all.insert(kind.name().to_owned(), record(kind));
        lines.push(json!({ "allOf": [whole(kind), { "required": ["kind"] }] }));
    }
    all.insert("line".to_owned(), json!({ "description": "A line of a file in JSON Lines.", "anyOf": lines }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plaudit program file",
        "description": "The set-up of an account, for `plaudit apply`.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": all,
    })
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn reference(kind: Kind) -> Value {
    json!({ "$ref": format!("#/$defs/{}", kind.name()) })
}

/// A record that is not nested, so that it names its owner.
fn whole(kind: Kind) -> Value {
    let owners = owned_by(kind);
    let required: Vec<&str> = members(kind)
        .iter()
        .filter(|member| member.presence == Presence::Required && owners.contains(&member.name))
        .map(|member| member.name)
        .collect();
    if required.is_empty() {
        return reference(kind);
    }
    json!({ "allOf": [reference(kind), { "required": required }] })
}

/// The definition of a kind.
fn record(kind: Kind) -> Value {
    let owners = owned_by(kind);
    let mut schema = object_schema(members(kind), Usage::File);
    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({ "description": "The kind of the record.", "const": kind.name() }));
    let slug = format!("Its identifier, 8 letters. A {} without one is given one.", words(kind.name()));
    properties.insert("slug".to_owned(), json!({ "description": slug, "$ref": "#/$defs/slug" }));
    if kind != Kind::Account {
        let about = "Whether it is in the trash.";
        properties.insert("deleted".to_owned(), json!({ "description": about, "type": "boolean" }));
    }
    if let Some(Value::Object(own)) = schema.get_mut("properties") {
        properties.append(own);
    }
    for owned in kind.owned() {
        let about = format!("The {} that it has.", words(owned.plural()));
        let items = reference(owned);
        let list = json!({ "description": about, "type": ["array", "null"], "items": items });
        properties.insert(owned.plural().to_owned(), list);
    }
    schema["properties"] = Value::Object(properties);
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !owners.contains(&name)));
    }
    schema
}
