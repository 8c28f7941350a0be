//! Writes YAML that people can go on from, and that is read as the same values.

use std::fmt::Write as _;

use kernel::json::{Json, Object as JsonObject};

/// How long a list or mapping on one line may be.
const LINE: usize = 100;

/// Writes a mapping in block style.
pub(in crate::transfer) fn mapping(object: &JsonObject, depth: usize, out: &mut String) {
    for (index, (name, value)) in object.iter().enumerate() {
        if index > 0 || depth == 0 {
            indent(depth, out);
        }
        out.push_str(&scalar(name));
        out.push(':');
        value_of(value, depth, out);
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes what stands behind a key.
fn value_of(value: &Json, depth: usize, out: &mut String) {
    match value {
        Json::Object(object) if object.is_empty() => out.push_str(" {}\n"),
        Json::Array(items) if items.is_empty() => out.push_str(" []\n"),
        Json::String(text) if is_literal(text) => literal(text, depth, out),
        _ => match flow(value).filter(|flow| flow.chars().count() <= LINE) {
            Some(flow) => {
                out.push(' ');
                out.push_str(&flow);
                out.push('\n');
            }
            None => block(value, depth, out),
        },
    }
}

fn block(value: &Json, depth: usize, out: &mut String) {
    out.push('\n');
    match value {
        Json::Object(object) => {
            indent(depth + 1, out);
            mapping(object, depth + 1, out);
        }
        Json::Array(items) => {
            for item in items {
                indent(depth + 1, out);
                out.push_str("- ");
                match item {
                    Json::Object(object) if flow(item).is_none_or(|flow| flow.chars().count() > LINE) => {
                        mapping(object, depth + 2, out);
                    }
                    _ => {
                        out.push_str(&inline(item));
                        out.push('\n');
                    }
                }
            }
        }
        _ => {
            indent(depth + 1, out);
            out.push_str(&inline(value));
            out.push('\n');
        }
    }
}

/// A value on one line, unless it is a list or mapping that holds another mapping.
fn flow(value: &Json) -> Option<String> {
    let is_nested = |value: &Json| matches!(value, Json::Object(object) if !object.is_empty());
    match value {
        Json::Object(object) if object.iter().any(|(_, value)| is_nested(value)) => None,
        Json::Array(items) if items.iter().any(is_nested) => None,
        _ => Some(inline(value)),
    }
}

/// A value on one line, however long.
fn inline(value: &Json) -> String {
    match value {
        Json::Object(object) => {
            let members: Vec<String> =
                object.iter().map(|(name, value)| format!("{}: {}", scalar(name), inline(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::String(text) => scalar(text),
        _ => value.to_string(),
    }
}

/// A string without quotes where it is one without them, else in double quotes.
fn scalar(text: &str) -> String {
    let is_inner = |character: char| character.is_alphanumeric() || " _-./()’".contains(character);
    let is_plain = text.starts_with(|character: char| character.is_alphabetic())
        && text.chars().all(is_inner)
        && !text.ends_with(' ')
        && matches!(super::scalar::plain(text), Ok(Json::String(_)));
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::new();
    // What JSON escapes, YAML reads; what YAML does not take as it is, JSON may leave as it is.
    for character in Json::String(text.into()).to_string().chars() {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted
}

/// Whether a text of several lines can stand as it is.
fn is_literal(text: &str) -> bool {
    let is_shown = |character: char| {
        !character.is_control() && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let has_edges = |line: &&str| line.starts_with([' ', '\t']) || line.ends_with([' ', '\t']);
    lines.len() > 1
        && !lines.iter().any(|line| has_edges(line) || !line.chars().all(is_shown))
        && lines.first().is_some_and(|line| !line.is_empty())
        && lines.last().is_some_and(|line| !line.is_empty())
}

fn literal(text: &str, depth: usize, out: &mut String) {
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            indent(depth + 1, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transfer::marks::{Mark, Marks};

    fn any_json() -> impl Strategy<Value = Json<'static>> {
        let text = prop_oneof![
            "[a-zA-Z \u{7f}\u{85}\u{a0}\u{2028}\u{feff}:#\\-\"'{}\\[\\],&*!|>%@`é\n\t]{0,12}",
            "(no|yes|true|null|~|12|1e3|0x1f|-|\\.|a b|a: b|a #b)",
            "[a-z]{1,5}(\n{1,2}[a-zA-Z:# ]{1,8}){1,3}\n?",
        ];
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i32>().prop_map(|number| Json::Number(number.to_string().into())),
            text.clone().prop_map(|text| Json::String(text.into())),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
                proptest::collection::vec(("[a-z :#é-]{1,6}", inner), 0..5).prop_map(|members| {
                    let mut object = JsonObject::new();
                    for (name, value) in members {
                        object.set(name, value);
                    }
                    Json::Object(object)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(values in proptest::collection::vec(any_json(), 1..4)) {
            let mut object = JsonObject::new();
            for (index, value) in values.into_iter().enumerate() {
                object.set(format!("key{index}"), value);
            }
            let mut text = String::new();
            mapping(&object, 0, &mut text);
            let (root, problems) = super::super::read(&text);
            prop_assert!(problems.is_empty(), "{:?} in\n{}", problems, text);
            let mut marks = Marks::new(Mark { line: 1, column: 1 });
            let read = super::super::json_of(root.unwrap(), "", &mut marks);
            prop_assert_eq!(read, Json::Object(object), "{}", text);
        }
    }

    #[test]
    fn it_looks_as_a_person_would_write_it() {
        let text = r#"{"name":{"en_GB":"Film","de_DE":"Film: neu"},"list":["a","12"],"help":"One\nTwo\n","items":[{"a":{"b":1}},{"c":"d"}],"none":null}"#;
        let object = kernel::json::parse_object(text.as_bytes()).unwrap();
        let mut out = String::new();
        mapping(&object, 0, &mut out);
        let expected = "\
name: {en_GB: Film, de_DE: \"Film: neu\"}
list: [a, \"12\"]
help: |
  One
  Two
items:
  - a: {b: 1}
  - {c: d}
none: null
";
        assert_eq!(out, expected);
    }
}
