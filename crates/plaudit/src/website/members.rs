//! Tables of the members of a schema, those of members in it included.

use maud::{Markup, html};
use serde_json::Value;

use super::line;
use super::operation::resolved;
use super::reference::text;

/// How deep members of members are told; schemas may lead back to themselves.
const DEPTH: usize = 4;
/// The longest pattern that tells a reader something.
const PATTERN: usize = 48;

/// A member, by its whole name.
struct Member<'d> {
    name: String,
    is_required: bool,
    schema: &'d Value,
}

/// The members of what a schema describes, each in a row; nothing where it has none.
pub(super) fn table(document: &Value, schema: &Value, of: &str) -> Markup {
    let about = text(&resolved(document, schema)["description"]);
    let mut members = Vec::new();
    collect(document, schema, "", 0, &mut members);
    html! {
        @if !about.is_empty() { p { (line(about)) } }
        @if !members.is_empty() {
            details .members {
                summary { (members.len()) " members" }
                div .wide tabindex="0" role="region" aria-label={ "Members of " (of) } { table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Type" } th scope="col" { "What it is" } } }
                    tbody { @for member in &members { tr {
                        th scope="row" { code { (member.name) } @if member.is_required { " " span .required { "required" } } }
                        td { (type_of(document, member.schema)) }
                        td { (line(description(document, member.schema))) (limits(document, member.schema)) }
                    } } }
                } }
            }
        }
    }
}

/// Adds the members of a schema behind the name of what has them.
fn collect<'d>(document: &'d Value, schema: &'d Value, before: &str, depth: usize, members: &mut Vec<Member<'d>>) {
    let schema = resolved(document, schema);
    if depth > DEPTH {
        return;
    }
    for choice in ["allOf", "anyOf"] {
        let begun = members.len();
        for schema in schema[choice].as_array().into_iter().flatten() {
            collect(document, schema, before, depth, members);
        }
        // What one of several forms requires, another one may not know.
        if choice == "anyOf" && schema[choice].as_array().is_some_and(|forms| forms.len() > 1) {
            members[begun..].iter_mut().for_each(|member| member.is_required = false);
        }
    }
    if schema["items"].is_object() {
        collect(document, &schema["items"], &format!("{before}[]"), depth, members);
    }
    let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let name = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        // Choices may have the same member.
        if members.iter().any(|known| known.name == name) {
            continue;
        }
        let is_required = required.iter().any(|required| **required == *name);
        members.push(Member { name: name.clone(), is_required, schema: member });
        collect(document, member, &name, depth + 1, members);
    }
}

/// What is said of a member, else of what it is.
fn description<'d>(document: &'d Value, schema: &'d Value) -> &'d str {
    let own = text(&schema["description"]);
    if own.is_empty() { text(&resolved(document, schema)["description"]) } else { own }
}

/// The type of a value in words.
fn type_of(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(choices) = schema["anyOf"].as_array() {
        let mut types: Vec<String> = choices.iter().map(|schema| type_of(document, schema)).collect();
        types.dedup();
        return types.join(" or ");
    }
    if let Some(first) = schema["allOf"].get(0) {
        return type_of(document, first);
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("array of {}", type_of(document, &schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// What a value is held to, beyond its type.
pub(super) fn limits(document: &Value, schema: &Value) -> Markup {
    let schema = resolved(document, schema);
    let number = |name: &str| schema.get(name).filter(|value| value.is_number());
    let choices: Vec<&str> = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let pattern = text(&schema["pattern"]);
    let limits: Vec<String> = [
        ("at least", "minimum", ""),
        ("more than", "exclusiveMinimum", ""),
        ("at most", "maximum", ""),
        ("at most", "maxLength", " characters"),
        ("at least", "minItems", " items"),
        ("at most", "maxItems", " items"),
    ]
    .into_iter()
    .filter_map(|(words, name, unit)| Some(format!("{words} {}{unit}", number(name)?)))
    .collect();
    html! {
        @if !limits.is_empty() { span .limit { (limits.join(", ")) } }
        @if !choices.is_empty() {
            span .limit { "One of " @for (index, choice) in choices.iter().enumerate() { @if index > 0 { ", " } code { (choice) } } }
        }
        @if !pattern.is_empty() && pattern.len() <= PATTERN { span .limit { "Pattern " code { (pattern) } } }
        @if schema["default"].is_string() || schema["default"].is_number() { span .limit { "Left out: " code { (schema["default"]) } } }
    }
}
