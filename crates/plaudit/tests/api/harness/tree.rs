//! Compares an answer in XML, read by a parser of its own, with the same answer in JSON.

use kernel::json::Json;
use kernel::json::parse_value;
use roxmltree::{Document, Node};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The name of a member, from its element: `_x_` is empty, and `_xHHHH_` is a UTF-16 code unit.
pub fn decoded(node: Node<'_, '_>) -> String {
    let name = node.tag_name().name();
    assert_eq!(node.tag_name().namespace(), None, "no name gains a prefix: {name}");
    if name == "_x_" {
        return String::new();
    }
    let mut units = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let unit = rest
            .strip_prefix("_x")
            .and_then(|rest| rest.get(..5))
            .and_then(|unit| unit.strip_suffix('_'))
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(|digits| u16::from_str_radix(digits, 16).unwrap());
        if let Some(unit) = unit {
            units.push(unit);
            rest = &rest[7..];
        } else {
            units.extend_from_slice(first.encode_utf16(&mut [0; 2]));
            rest = &rest[first.len_utf8()..];
        }
    }
    String::from_utf16(&units).unwrap()
}

/// A text as XML can hold it.
fn allowed(text: &str) -> String {
    let is_forbidden = |c: char| (c < ' ' && !"\t\n\r".contains(c)) || ['\u{fffe}', '\u{ffff}'].contains(&c);
    text.chars().map(|c| if is_forbidden(c) { '\u{fffd}' } else { c }).collect()
}

/// Asserts that two bodies are the same tree, member by member and in the same order.
#[track_caller]
pub fn assert_same(json: &[u8], xml: &[u8]) {
    let xml = std::str::from_utf8(xml).unwrap();
    assert!(xml.starts_with(r#"<?xml version="1.0" encoding="UTF-8"?>"#), "{xml}");
    let document = Document::parse(xml).unwrap_or_else(|error| panic!("{error} in {xml}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "root");
    assert_eq!(root.attributes().len(), 0, "the root has no attribute but its namespace");
    assert_eq!(root.lookup_prefix(XSI), Some("xsi"));
    let json = parse_value(json).unwrap();
    value(&json, root, "");
}

fn value(json: &Json, node: Node<'_, '_>, path: &str) {
    if matches!(json, Json::Null) {
        let attributes: Vec<_> = node.attributes().map(|at| (at.namespace(), at.name(), at.value())).collect();
        assert_eq!(attributes, [(Some(XSI), "nil", "true")], "{path}");
        assert!(!node.has_children(), "{path}");
        return;
    }
    assert_eq!(node.attributes().len(), 0, "{path} has attributes");
    let text = |expected: &str| {
        assert!(node.children().all(|child| child.is_text()), "{path} is no text");
        assert_eq!(node.text().unwrap_or_default(), expected, "{path}");
    };
    match json {
        Json::Object(object) => {
            let mut children = node.children();
            for (name, member) in object.iter() {
                members(name, member, &mut children, &format!("{path}/{name}"));
            }
            assert!(children.next().is_none(), "{path} has more than the JSON");
        }
        Json::Array(items) => {
            let mut children = node.children();
            members(path.rsplit('/').next().unwrap(), &Json::Array(items.clone()), &mut children, path);
        }
        Json::String(string) => text(&allowed(string)),
        Json::Number(number) => text(number),
        Json::Bool(flag) => text(&flag.to_string()),
        Json::Null => {}
    }
}

/// Takes the elements of one member.
fn members<'a, 'i: 'a>(name: &str, json: &Json, children: &mut impl Iterator<Item = Node<'a, 'i>>, path: &str) {
    let mut next = || {
        let node = children.next().unwrap_or_else(|| panic!("{path} is not in the XML"));
        assert!(node.is_element(), "{path}");
        assert_eq!(decoded(node), name, "{path}");
        node
    };
    match json {
        Json::Array(items) if items.is_empty() => {
            let node = next();
            assert!(!node.has_children() && node.attributes().len() == 0, "{path}");
        }
        Json::Array(items) => items.iter().for_each(|item| value(item, next(), path)),
        json => value(json, next(), path),
    }
}
