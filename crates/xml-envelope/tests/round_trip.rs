//! Properties: a strict parser reads the output back as the tree that the input is.

#![allow(clippy::expect_used)]

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;
use xml_envelope::{NoSlots, Slots, begin, end, member, members};

/// What a parser sees of an element.
#[derive(Debug, PartialEq)]
struct Element {
    name: String,
    nil: bool,
    text: String,
    children: Vec<Element>,
}

fn read(node: roxmltree::Node<'_, '_>) -> Element {
    let children: Vec<_> = node.children().filter(roxmltree::Node::is_element).map(read).collect();
    let attributes: Vec<_> = node.attributes().map(|attribute| (attribute.name(), attribute.value())).collect();
    assert!(attributes.is_empty() || attributes == [("nil", "true")], "no other attributes");
    Element {
        name: decoded(node.tag_name().name()),
        nil: !attributes.is_empty(),
        text: node.children().filter_map(|child| child.is_text().then(|| child.text()).flatten()).collect(),
        children,
    }
}

/// Decodes a name as the documentation says.
fn decoded(name: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = if name == "_x_" { "" } else { name };
    while let Some(character) = rest.chars().next() {
        let sequence = rest.strip_prefix("_x").filter(|tail| tail.as_bytes().get(4) == Some(&b'_'));
        let digits =
            sequence.and_then(|tail| tail.get(..4)).filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
        if let Some(digits) = digits {
            units.push(u16::from_str_radix(digits, 16).expect("four digits"));
            rest = &rest[7..];
        } else {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            rest = &rest[character.len_utf8()..];
        }
    }
    String::from_utf16(&units).expect("no lone surrogates in the input")
}

/// What a parser should see of a member.
fn expected(name: &str, value: &Value, elements: &mut Vec<Element>) {
    let mut element = Element { name: name.to_owned(), nil: false, text: String::new(), children: Vec::new() };
    match value {
        Value::Null => element.nil = true,
        Value::Bool(_) | Value::Number(_) => element.text = value.to_string(),
        Value::String(text) => element.text = text.chars().map(allowed).collect(),
        Value::Object(map) => map.iter().for_each(|(name, value)| expected(name, value, &mut element.children)),
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Array(inside) if !inside.is_empty() => {
                        let mut list =
                            Element { name: name.to_owned(), nil: false, text: String::new(), children: Vec::new() };
                        expected(name, item, &mut list.children);
                        elements.push(list);
                    }
                    _ => expected(name, item, elements),
                }
            }
            return;
        }
    }
    elements.push(element);
}

fn allowed(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => character,
        '\0'..' ' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => character,
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let hostile = prop::sample::select(vec![
        '<', '>', '&', '"', '\'', '\\', '/', '\0', '\u{1}', '\r', '\n', '\t', '\u{7f}', '\u{85}', '\u{2028}',
        '\u{fffe}', '\u{ffff}', '\u{fffd}', '！', ']', '_', 'x', 'X', '0', '4', 'F', 'f', ':', '-', '.', ' ', 'é', '×',
        '日', '😀',
    ]);
    prop_oneof![
        "[a-z_]{0,40}",
        prop::collection::vec(prop_oneof![3 => hostile, 1 => any::<char>()], 0..90).prop_map(String::from_iter),
        "(_[xX][0-9A-Fa-f]{3,5}[_:x]?){1,3}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_text(), inside), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes the same value another way: white space between tokens, escape sequences where none are needed.
fn spelt(value: &Value, choices: &mut impl Iterator<Item = u8>) -> String {
    let space = |choice: u8| [" ", "", "\n", "\t \r\n"][usize::from(choice % 4)];
    match value {
        Value::String(text) => spelt_string(text, choices),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| spelt(item, choices)).collect();
            let before = space(choices.next().unwrap_or(1));
            format!("{before}[{}{before}]", items.join(&format!("{before},{before}")))
        }
        Value::Object(map) => {
            let members: Vec<_> = map
                .iter()
                .map(|(name, value)| {
                    let between = space(choices.next().unwrap_or(1));
                    format!("{between}{}{between}:{}", spelt_string(name, choices), spelt(value, choices))
                })
                .collect();
            format!("{{{}{}}}", members.join(","), space(choices.next().unwrap_or(1)))
        }
        _ => format!("{}{value}", space(choices.next().unwrap_or(1))),
    }
}

fn spelt_string(text: &str, choices: &mut impl Iterator<Item = u8>) -> String {
    let mut json = "\"".to_owned();
    for character in text.chars() {
        if choices.next().unwrap_or(1).is_multiple_of(3) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(json, "\\u{unit:04x}").expect("a string takes all");
            }
        } else {
            let plain = serde_json::to_string(&character).expect("a character is JSON");
            json.push_str(&plain[1..plain.len() - 1]);
        }
    }
    json + "\""
}

/// Goes on as if there were no slots.
struct Ignore;

impl Slots for Ignore {
    fn value(&self, _: &mut Vec<u8>, _: &str, _: &str) {}

    fn object(&self, _: &mut Vec<u8>, _: &str, _: &str, _: &str) {}

    fn members(&self, _: &mut Vec<u8>, _: &str, _: &str) {}
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_strict_parser_reads_the_same_tree(name in any_text(), value in any_value()) {
        let mut out = Vec::new();
        begin(&mut out);
        member(&mut out, &name, &value.to_string(), &NoSlots);
        end(&mut out);
        let xml = String::from_utf8(out).expect("the output is UTF-8");
        let document = roxmltree::Document::parse(&xml).map_err(|error| TestCaseError::fail(format!("{error}: {xml}")))?;
        let mut elements = Vec::new();
        expected(&name, &value, &mut elements);
        prop_assert_eq!(read(document.root_element()).children, elements);
    }

    #[test]
    fn the_spelling_of_the_json_does_not_matter(value in any_value(), choices in prop::collection::vec(any::<u8>(), 0..400)) {
        let (mut plain, mut other) = (Vec::new(), Vec::new());
        member(&mut plain, "a", &value.to_string(), &NoSlots);
        member(&mut other, "a", &spelt(&value, &mut choices.into_iter()), &NoSlots);
        prop_assert_eq!(String::from_utf8(plain), String::from_utf8(other));
    }

    #[test]
    fn what_is_no_json_does_no_harm(
        json in prop_oneof![any_text(), r#"([\[\]{},:"\\u0-9n a-z\x7f<é]|"\x7f|":|","){0,80}"#],
    ) {
        let mut out = Vec::new();
        member(&mut out, "a", &json, &NoSlots);
        members(&mut out, &json, &Ignore);
        prop_assert!(String::from_utf8(out).is_ok());
    }
}
