use proptest::prelude::*;

use super::*;

fn problem(source: &str) -> Problem {
    parse_value(source.as_bytes()).unwrap_err().problem
}

fn place(source: &[u8]) -> (usize, usize) {
    let error = parse_value(source).unwrap_err();
    (error.line, error.column)
}

#[test]
fn a_body_keeps_the_order_of_its_members_and_the_text_of_its_numbers() {
    let source = br#" {"b": 12.50, "a": [1e2, -0, 123456789012345678901234567890], "c": {"d": null, "e": true}} "#;
    let object = parse_object(source).unwrap();
    let mut out = Vec::new();
    object.write_json(&mut out);
    let compact = r#"{"b":12.50,"a":[1e2,-0,123456789012345678901234567890],"c":{"d":null,"e":true}}"#;
    assert_eq!(String::from_utf8(out).unwrap(), compact);
    assert_eq!(Json::from(object).to_string(), compact);
}

#[test]
fn values_are_reached_by_their_type() {
    let body =
        parse_object(br#"{"text":"a","number":12.0,"half":0.5,"yes":true,"list":[1],"nothing":null,"o":{"p":1}}"#)
            .unwrap();
    assert_eq!(body.get("text").and_then(Json::as_str), Some("a"));
    assert_eq!(body.get("number").and_then(Json::as_i64), Some(12));
    assert_eq!(body.get("number").and_then(Json::as_number), Some("12.0"));
    assert_eq!(body.get("half").and_then(Json::as_i64), None);
    assert_eq!(body.get("yes").and_then(Json::as_bool), Some(true));
    assert_eq!(body.get("list").and_then(Json::as_array).map(<[Json]>::len), Some(1));
    assert!(body.get("nothing").is_some_and(Json::is_null));
    assert_eq!(body.get("o").and_then(|inner| inner.get("p")).and_then(Json::as_i64), Some(1));
    assert_eq!(body.get("absent"), None);
    assert_eq!(body.get("text").and_then(Json::as_i64), None);
}

#[test]
fn members_are_set_and_removed_in_place() {
    let mut object = parse_object(br#"{"a":1,"b":2}"#).unwrap();
    assert_eq!(object.set("a", Json::Null), Some(Json::Number("1".into())));
    assert_eq!(object.set("c", Json::Bool(true)), None);
    assert_eq!(object.remove("b"), Some(Json::Number("2".into())));
    assert_eq!(object.remove("b"), None);
    assert_eq!(Json::Object(object).to_string(), r#"{"a":null,"c":true}"#);
}

#[test]
fn a_member_that_comes_twice_is_named() {
    assert_eq!(problem(r#"{"a":1,"a":1}"#), Problem::DuplicateName("a".into()));
    assert_eq!(problem(r#"{"x":[{"a":1,"\u0061":1}]}"#), Problem::DuplicateName("a".into()));
    let many: Vec<String> = (0..100).map(|index| format!("\"m{index}\":0")).collect();
    assert!(parse_value(format!("{{{}}}", many.join(",")).as_bytes()).is_ok());
    assert_eq!(problem(&format!("{{{},\"m7\":0}}", many.join(","))), Problem::DuplicateName("m7".into()));
    assert_eq!(problem(&format!("{{{},\"m99\":0}}", many.join(","))), Problem::DuplicateName("m99".into()));
}

#[test]
fn a_body_is_one_object_and_nothing_else() {
    assert_eq!(parse_object(b"[]").unwrap_err().to_string(), "line 1, column 1: expected an object, not an array");
    assert_eq!(problem(""), Problem::Empty);
    assert_eq!(problem(" \n"), Problem::Empty);
    assert_eq!(problem("{} {}"), Problem::TrailingData);
    assert_eq!(problem("{},"), Problem::TrailingData);
    assert_eq!(problem("\u{feff}{}"), Problem::ByteOrderMark);
}

#[test]
fn broken_json_is_refused() {
    for (source, expected) in [
        ("{\"a\":1,}", Problem::Expected("the name of a member in quotes")),
        ("{a:1}", Problem::Expected("the name of a member in quotes")),
        ("{\"a\" 1}", Problem::Expected("a colon")),
        ("{\"a\":1 \"b\":2}", Problem::Expected("a comma or `}`")),
        ("[1 2]", Problem::Expected("a comma or `]`")),
        ("[1,]", Problem::Expected("a value")),
        ("[", Problem::Expected("a value")),
        ("nul", Problem::Expected("a value")),
        ("NaN", Problem::Expected("a value")),
        ("'a'", Problem::Expected("a value")),
        ("truer", Problem::TrailingData),
        ("01", Problem::Number),
        ("1.", Problem::Number),
        ("-", Problem::Number),
        ("\"a", Problem::EndlessString),
        ("\"\\", Problem::Escape),
        ("\"\\x\"", Problem::Escape),
        ("\"\\u12g4\"", Problem::Escape),
        ("\"\\u12", Problem::Escape),
        ("\"\\ud800\"", Problem::LoneSurrogate),
        ("\"\\ud800\\u0041\"", Problem::LoneSurrogate),
        ("\"\\udc00\"", Problem::LoneSurrogate),
        ("\"a\u{1}b\"", Problem::ControlCharacter),
    ] {
        assert_eq!(problem(source), expected, "{source}");
    }
    assert_eq!(parse_value(b"\"a\xffb\"").unwrap_err().problem, Problem::NotUtf8);
}

#[test]
fn escapes_are_resolved() {
    let value = parse_value(br#""\"\\\/\b\f\n\r\t\u00e9\ud83c\udfc6\u0000""#).unwrap();
    assert_eq!(value.as_str(), Some("\"\\/\u{8}\u{c}\n\r\té🏆\0"));
}

#[test]
fn an_error_says_where_it_is() {
    assert_eq!(place(b"{\n  \"a\": 1,\n  \"a\": 2\n}"), (3, 3));
    assert_eq!(place("{\"é🏆\": x}".as_bytes()), (1, 8));
    assert_eq!(place(b"{\"a\":\xff}"), (1, 6));
    assert_eq!(place(b"[\n"), (2, 1));
    let error = parse_object(b"{\"a\":1 2}").unwrap_err();
    assert_eq!(error.to_string(), "line 1, column 8: expected a comma or `}`");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_value(nested(MAXIMUM_DEPTH).as_bytes()).is_ok());
    assert_eq!(problem(&nested(MAXIMUM_DEPTH + 1)), Problem::TooDeep);
    assert_eq!(problem(&"[".repeat(1_000_000)), Problem::TooDeep);
}

/// The same value as the reference parser sees it; nothing when it has a number that is out of its range.
fn as_reference(value: &Json) -> Option<serde_json::Value> {
    Some(match value {
        Json::Null => serde_json::Value::Null,
        Json::Bool(value) => (*value).into(),
        Json::Number(text) => serde_json::from_str(text).ok()?,
        Json::String(text) => (&**text).into(),
        Json::Array(elements) => elements.iter().map(as_reference).collect::<Option<Vec<_>>>()?.into(),
        Json::Object(object) => {
            let member = |(name, value): (&str, &Json)| Some((name.to_owned(), as_reference(value)?));
            serde_json::Value::Object(object.iter().map(member).collect::<Option<_>>()?)
        }
    })
}

fn agrees_with_the_reference(source: &[u8]) -> Result<(), TestCaseError> {
    let reference = serde_json::from_slice::<serde_json::Value>(source);
    match (parse_value(source), reference) {
        (Ok(value), Ok(reference)) => prop_assert_eq!(as_reference(&value), Some(reference)),
        (Ok(value), Err(error)) => prop_assert_eq!(as_reference(&value), None, "the reference says {}", error),
        (Err(error), Ok(_)) => {
            let is_our_own_rule = matches!(error.problem, Problem::DuplicateName(_) | Problem::TooDeep);
            prop_assert!(is_our_own_rule, "{} in {:?}", error, String::from_utf8_lossy(source));
        }
        (Err(_), Err(_)) => {}
    }
    Ok(())
}

fn values() -> impl Strategy<Value = Json<'static>> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,6})?([eE][-+]?[0-9]{1,2})?".prop_map(|text| Json::Number(text.into())),
        any::<String>().prop_map(|text| Json::String(text.into())),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Json::Array),
            proptest::collection::vec((any::<String>(), inner), 0..24).prop_map(|members| {
                let mut object = Object::new();
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
    fn what_is_written_reads_back(value in values()) {
        let text = value.to_string();
        prop_assert_eq!(&parse_value(text.as_bytes()).unwrap(), &value);
        if let Some(reference) = as_reference(&value) {
            let pretty = serde_json::to_string_pretty(&reference).unwrap();
            prop_assert!(parse_value(pretty.as_bytes()).is_ok());
            agrees_with_the_reference(pretty.as_bytes())?;
        }
    }

    #[test]
    fn any_bytes_are_judged_as_the_reference_does(source in proptest::collection::vec(any::<u8>(), 0..64)) {
        agrees_with_the_reference(&source)?;
    }

    #[test]
    fn nearly_json_is_judged_as_the_reference_does(source in r#"([\[\]{}:,"\\0-9eE.+\-abnrtuf /]|true|null|"a"|\\u00e9|\\ud83c\\udfc6){0,24}"#) {
        agrees_with_the_reference(source.as_bytes())?;
    }

    #[test]
    fn damaged_json_is_judged_as_the_reference_does(value in values(), at: prop::sample::Index, byte: u8, how in 0..3) {
        let mut source = value.to_string().into_bytes();
        let at = at.index(source.len());
        match how {
            0 => source[at] = byte,
            1 => source.insert(at, byte),
            _ => { source.remove(at); }
        }
        agrees_with_the_reference(&source)?;
    }
}
