use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// The root as JSON, and all problems with their places.
fn composed(text: &str) -> (String, Vec<String>) {
    let (root, problems) = read(text);
    let mut marks = Marks::new(Mark { line: 1, column: 1 });
    let json = root.map(|root| json_of(root, "", &mut marks).to_string()).unwrap_or_default();
    let reported =
        problems.iter().map(|problem| format!("{}:{}: {}", problem.mark.line, problem.mark.column, problem.message));
    (json, reported.collect())
}

fn right(text: &str) -> String {
    let (json, problems) = composed(text);
    assert_eq!(problems, Vec::<String>::new(), "{text}");
    json
}

/// Fails unless this is the first problem.
#[track_caller]
fn wrong(text: &str, expected: &str) {
    let (_, problems) = composed(text);
    let first = problems.first().map_or("nothing", String::as_str);
    assert!(first.starts_with(expected), "{first}");
}

#[test]
fn a_document_is_what_the_core_schema_makes_of_it() {
    let text = "\
a: no
b: [yes, on, NO, 'true', true, ~, 1.50, 2026-01-31]
c:
  d: |
    two
    lines
  e: >-
    one
    line
'f': {g: \"\\u00e9\"}
2026: year
";
    let json = r#"{"a":"no","b":["yes","on","NO","true",true,null,1.50,"2026-01-31"],"c":{"d":"two\nlines\n","e":"one line"},"f":{"g":"é"},"2026":"year"}"#;
    assert_eq!(right(text), json);
    assert_eq!(right(""), "");
    assert_eq!(right("# nothing but a comment\n"), "");
    assert_eq!(right("---\na: 1\n...\n"), r#"{"a":1}"#);
}

#[test]
fn a_key_stands_once() {
    wrong("a: 1\nb:\n  c: 1\n  'c': 2\na: 3\n", "4:3: the key `c` stands twice in this mapping");
    let (_, problems) = composed("a: 1\nb: 2\na: 3\nb: 4\n");
    assert_eq!(problems.len(), 2, "both are told: {problems:?}");
}

#[test]
fn what_is_no_yaml_is_told_with_its_place() {
    wrong("a: [1, 2\nb: 3\n", "2:");
    wrong("a: 1\n b: 2\n", "2:");
    wrong("a: \"x\n", "");
    wrong("a: 1\n---\nb: 2\n", "2:1: the file has a second document");
    wrong("? [a, b]\n: 1\n", "1:3: a key is a name");
    wrong("%TAG ! tag:example.org,2026:\n---\na: 1\n", "1:");
    wrong("a: !thing 1\n", "1:");
    wrong("a: !!binary aGk=\n", "1:");
    wrong("a: !thing [1]\n", "1:");
    wrong("a: .inf\n", "1:4: `.inf` is no number");
    wrong("a: *missing\n", "1:4: there is no anchor &missing");
}

#[test]
fn an_alias_stands_for_what_its_anchor_holds() {
    assert_eq!(right("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n"), r#"{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}"#);
    assert_eq!(right("a: &x 1\nb: &x 2\nc: *x\n"), r#"{"a":1,"b":2,"c":2}"#);
    wrong("a: &x [1, *x]\n", "1:11: the alias stands for something that it is a part of");
    // There is no merging of mappings in YAML 1.2.
    assert_eq!(right("a: &x {b: 1}\nc:\n  <<: *x\n"), r#"{"a":{"b":1},"c":{"<<":{"b":1}}}"#);
}

#[test]
fn a_small_file_does_not_become_a_large_one() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{aliases}]");
    }
    let (_, problems) = composed(&bomb);
    assert!(problems[0].contains("anchors and aliases up to here hold more than 100000 values"), "{}", problems[0]);
    assert_eq!(problems.len(), 1, "nothing is read after that");

    let many = format!("a: &a [{}]\nb: [{}]\n", vec!["x"; 90_000].join(","), vec!["*a"; 1_000].join(","));
    let (json, problems) = composed(&many);
    assert_eq!((json.len(), problems.len()), (0, 1), "{}", problems[0]);
    assert!(problems[0].starts_with("2:5: anchors and aliases"), "{}", problems[0]);
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1_000].join(","));
    let (json, problems) = composed(&long);
    assert_eq!((json.len(), problems.len()), (0, 1), "{}", problems[0]);
    let nested = format!("a: {}{}{}", "&a [".repeat(60), vec!["x"; 90_000].join(","), "]".repeat(60));
    assert_eq!(composed(&nested).1.len(), 1, "a copy for an anchor counts as one for an alias");
    wrong(&format!("{}: 1\n", "k".repeat(256)), "1:1: the key is longer than any name");

    let mut tower = String::from("a0: &a0 [x]\n");
    for level in 1..100 {
        let _ = writeln!(tower, "a{level}: &a{level} [*a{}]", level - 1);
    }
    let (_, problems) = composed(&tower);
    assert!(problems[0].contains("nested too deep"), "{}", problems[0]);

    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let deep = format!("a: {}x{}", open.repeat(10_000), close.repeat(10_000));
        wrong(&deep, "1:");
    }
    let mut block = String::new();
    for level in 0..200 {
        let _ = writeln!(block, "{}a:", " ".repeat(level));
    }
    assert_eq!(composed(&block).1.len(), 1);
}

#[test]
fn members_and_items_are_found() {
    let text = "seasons:\n  - slug: SeasonAA\n    name:\n      en_GB: 2026\n    list: [1, {x: 2}]\n";
    let Value::Map(members) = read(text).0.unwrap().value else { panic!() };
    let (_, _, node) = members.into_iter().next().unwrap();
    let Value::List(items) = node.value else { panic!() };
    let item = items.into_iter().next().unwrap();
    let Value::Map(members) = item.value else { panic!() };
    let (object, marks) = record(item.mark, members);
    assert_eq!(object.len(), 3);
    let at = |member: &str| (marks.of(member).line, marks.of(member).column);
    assert_eq!([at("slug"), at("name"), at("name.en_GB"), at("missing")], [(2, 5), (3, 5), (4, 7), (2, 5)]);
    assert_eq!([at("list.1"), at("list.2"), at("list.2.x"), at("name.de_DE")], [(5, 12), (5, 15), (5, 16), (3, 5)]);
}

#[test]
fn members_and_items_are_found_in_json() {
    let text = r#" {"a": 1, "bß" : {"c":[ "x,y", {"d\"e": null}]}, "f":[]}"#;
    let marks = marks_of_line(7, text);
    let column = |member: &str| marks.of(member).column;
    assert_eq!(marks.start(), Mark { line: 7, column: 2 });
    assert_eq!([column("a"), column("bß"), column("bß.c"), column("f")], [3, 11, 19, 50]);
    assert_eq!([column("bß.c.1"), column("bß.c.2"), column("bß.c.2.d\"e")], [25, 32, 33]);
    assert_eq!(column("missing"), 2, "what is missing is missing in the record");
    assert_eq!(column("bß.c.2.missing"), 32, "or in the innermost thing that is there");
    assert_eq!(marks.within("bß.c.2").of("d\"e").column, 33);
}

proptest! {
    #[test]
    fn every_member_of_any_json_is_where_it_stands(
        names in proptest::collection::vec("[a-z\"\\\\é]{1,6}", 1..6),
        texts in proptest::collection::vec("[ -~ß]{0,8}", 6),
    ) {
        let mut object = kernel::json::Object::new();
        for (name, text) in names.iter().zip(&texts) {
            object.set(name.clone(), Json::Array(vec![Json::String(text.clone().into()), Json::Null]));
        }
        let text = Json::from(object.clone()).to_string();
        let marks = marks_of_line(1, &text);
        for (name, _) in object.iter() {
            let column = marks.of(name).column;
            let rest: String = text.chars().skip(column - 1).collect();
            let quoted = Json::String(name.into()).to_string();
            prop_assert!(rest.starts_with(&quoted), "{} at {} in {}", name, column, text);
        }
    }
}
