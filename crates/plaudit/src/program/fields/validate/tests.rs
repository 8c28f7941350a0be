use proptest::prelude::*;

use super::super::tests::field;
use super::*;
use crate::program::Record;
use crate::program::Records;
use crate::program::fields::scores::{points, score_among};
use kernel::json::parse_value;
use kernel::text::Slug;

fn json(text: &str) -> Json<'_> {
    parse_value(text.as_bytes()).unwrap()
}

fn checked(members: &str, answer: &str) -> Result<(), String> {
    check_answer(&field("FieldAAA", members), &json(answer)).map_err(|wrong| wrong.to_string())
}

fn validated(members: &str, answer: &str) -> Result<(), String> {
    validate_answer(&field("FieldAAA", members), &json(answer)).map_err(|wrong| wrong.to_string())
}

/// Members, an answer that fits them and one that does not.
const SHAPES: &[(&str, &str, &str)] = &[
    (r#""type":"checkbox""#, "true", r#""true""#),
    (r#""type":"checkboxlist","options":["a","b"]"#, r#"["b","a"]"#, r#""a""#),
    (r#""type":"radio","options":["a"]"#, r#""a""#, r#"["a"]"#),
    (r#""type":"drop-down-list","options":["anything"]"#, r#""anything""#, "1"),
    (r#""type":"country""#, r#""NZ""#, r#""nz""#),
    (r#""type":"country""#, r#""GB""#, r#""UK""#),
    (r#""type":"currency","currency":"USD""#, "12.50", "12.505"),
    (r#""type":"currency","currency":"JPY""#, "12", "12.5"),
    (r#""type":"currency","currency":"USD""#, "-3", r#""3""#),
    (r#""type":"numeric""#, "-1e3", r#""1""#),
    (r#""type":"numeric""#, "0.1234567890123456789", "1e999"),
    (r#""type":"date""#, r#""2024-02-29""#, r#""2023-02-29""#),
    (r#""type":"datetime""#, r#""2024-02-29 23:59""#, r#""2024-02-29 24:00""#),
    (r#""type":"datetime""#, r#""2024-02-29T10:00:00.000000Z""#, r#""2024-02-29""#),
    (r#""type":"datetime""#, r#""2024-02-29T10:00:00Z""#, r#""2024-02-29T10:00:00+01:00""#),
    (r#""type":"time""#, r#""00:00""#, r#""8:30""#),
    (r#""type":"time""#, r#""23:59""#, r#""23:60""#),
    (r#""type":"email""#, r#""a@b.org""#, r#""a b@c.org""#),
    (r#""type":"phone""#, r#""+441632960123""#, r#""01632960123""#),
    (r#""type":"url""#, r#""https://example.org/a""#, r#""http://example.org""#),
    (r#""type":"table","columns":[{"key":"A"}]"#, r#"{"A1":"x","A12":""}"#, r#"{"A1":1}"#),
    (r#""type":"table","columns":[{"key":"A"}]"#, "{}", r#"{"A0":"x"}"#),
    (r#""type":"table","columns":[{"key":"A"}]"#, r#"{"A4294967295":"x"}"#, r#"{"A4294967296":"x"}"#),
    (r#""type":"table","columns":[{"key":"A"}]"#, "{}", "[]"),
    (r#""type":"text""#, r#""""#, "1"),
    (r#""type":"textarea""#, r#""a\nb""#, "[]"),
    (r#""type":"lookup""#, r#""anything""#, "{}"),
    (r#""type":"content""#, "null", r#""x""#),
    (r#""type":"formula""#, "null", "1"),
];

#[test]
fn answers_have_the_shape_of_their_type() {
    for (members, right, wrong) in SHAPES {
        for judge in [checked, validated] {
            assert_eq!(judge(members, right), Ok(()), "{members} {right}");
            assert!(judge(members, wrong).is_err(), "{members} {wrong}");
            assert_eq!(judge(members, "null"), Ok(()), "{members}: null is no answer");
        }
    }
}

#[test]
fn a_file_is_uploaded_and_not_given() {
    let file = r#""type":"file""#;
    assert_eq!(checked(file, r#""TokenTokenToken""#), Ok(()));
    assert!(checked(file, r#""short""#).is_err());
    assert!(validated(file, r#""TokenTokenToken""#).is_err());
    assert_eq!(validated(file, "null"), Ok(()));
}

#[test]
fn the_empty_string_takes_an_answer_back() {
    for kind in ["text", "email", "date", "numeric", "country", "checkbox", "lookup"] {
        assert_eq!(validated(&format!(r#""type":"{kind}""#), r#""""#), Ok(()), "{kind}");
    }
    let field = field("FieldAAA", r#""type":"date""#);
    assert_eq!(merged(field.kind, Some(&json(r#""2024-02-29""#)), &json(r#""""#)), None);
    assert_eq!(merged(field.kind, Some(&json(r#""2024-02-29""#)), &Json::Null), None);
    assert_eq!(merged(field.kind, None, &json(r#""2024-02-29""#)), Some(json(r#""2024-02-29""#)));
    assert!(validated(r#""type":"formula""#, r#""""#).is_err());
}

#[test]
fn what_is_chosen_is_an_option_and_chosen_once() {
    let list = r#""type":"checkboxlist","options":["a","b"]"#;
    assert_eq!(validated(list, r#"["b","a"]"#), Ok(()));
    assert_eq!(validated(list, "[]"), Ok(()));
    assert!(validated(list, r#"["a","c"]"#).unwrap_err().contains("a, b"));
    assert!(validated(list, r#"["a","a"]"#).unwrap_err().contains("twice"));
    for kind in ["radio", "drop-down-list", "lookup"] {
        assert!(validated(&format!(r#""type":"{kind}","options":["a"]"#), r#""b""#).is_err(), "{kind}");
    }
    assert_eq!(checked(list, r#"["c"]"#), Ok(()), "what is stored may be of options that are no more");
}

#[test]
fn a_cell_is_one_of_a_column_unless_it_is_cleared() {
    let table = r#""type":"table","columns":[{"key":"A"},{"key":"B C"}]"#;
    assert_eq!(validated(table, r#"{"A1":"x","B C2":"y"}"#), Ok(()));
    assert!(validated(table, r#"{"B1":"x"}"#).unwrap_err().contains("A, B C"));
    assert_eq!(validated(table, r#"{"B1":""}"#), Ok(()), "what a column left behind can be cleared");
    assert_eq!(checked(table, r#"{"B1":"x"}"#), Ok(()));
}

#[test]
fn characters_are_what_a_reader_sees_and_words_are_those_of_unicode() {
    for (text, counted, worded) in [
        ("", 0, 0),
        ("abc", 3, 1),
        ("e\u{301}", 1, 1),
        ("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}", 1, 0),
        ("\u{1f1f3}\u{1f1ff}", 1, 0),
        ("a\r\nb", 3, 2),
        ("The quick (\"brown\") fox can't jump 32.3 feet, right?", 52, 9),
        ("  blanks  ", 10, 1),
        ("Ärger im Büro", 13, 3),
        ("مرحبا بالعالم", 13, 2),
        ("नमस्ते", 3, 1),
    ] {
        assert_eq!((characters(text), words(text)), (counted, worded), "{text}");
    }
}

#[test]
fn a_text_keeps_within_its_limits_and_an_empty_one_is_none() {
    let limits = r#""type":"text","minimum_characters":2,"maximum_characters":8,"minimum_words":2,"maximum_words":3"#;
    assert_eq!(validated(limits, r#""a b""#), Ok(()));
    assert_eq!(validated(limits, r#""""#), Ok(()));
    assert!(validated(limits, r#""abc""#).unwrap_err().contains("at least 2 words, and has 1"));
    let wrong = validated(limits, r#""a b c d e f""#).unwrap_err();
    assert!(wrong.contains("at most 8 characters, and has 11") && wrong.contains("at most 3 words, and has 6"));
    assert_eq!(checked(limits, r#""abc""#), Ok(()), "what is stored may be older than a limit");
    let flags = r#""type":"text","maximum_characters":2"#;
    assert_eq!(validated(flags, "\"\u{1f1f3}\u{1f1ff}e\u{301}\""), Ok(()));
}

#[test]
fn a_table_is_merged_by_cell() {
    let before = json(r#"{"A1":"x","B1":"y","A2":"z"}"#);
    let after = |given: &str| merged(FieldType::Table, Some(&before), &json(given)).map(|after| after.to_string());
    assert_eq!(after("{}").unwrap(), r#"{"A1":"x","B1":"y","A2":"z"}"#);
    assert_eq!(after(r#"{"A10":"w","A1":"v","B1":""}"#).unwrap(), r#"{"A1":"v","A2":"z","A10":"w"}"#);
    assert_eq!(after(r#"{"A1":"","B1":"","A2":""}"#), None);
    assert_eq!(after("null"), None);
    assert_eq!(merged(FieldType::Table, None, &json(r#"{"A1":""}"#)), None);
    assert_eq!(merged(FieldType::Text, Some(&json(r#""a""#)), &json(r#""b""#)), Some(json(r#""b""#)));
}

#[test]
fn what_says_nothing_is_no_answer() {
    for (kind, none, some) in [
        (FieldType::Text, r#""""#, r#"" ""#),
        (FieldType::Checkbox, "false", "true"),
        (FieldType::CheckboxList, "[]", r#"["a"]"#),
        (FieldType::Table, r#"{"A1":""}"#, r#"{"A1":"x"}"#),
        (FieldType::Numeric, "null", "0"),
    ] {
        assert!(!is_answered(kind, &json(none)), "{none}");
        assert!(is_answered(kind, &json(some)), "{some}");
    }
}

#[test]
fn a_file_is_of_a_type_and_not_too_large() {
    let field = field("FieldAAA", r#""type":"file","file_types":["PDF","image/*"],"max_file_size":10"#);
    assert_eq!(validate_file(&field, "a.bin", "application/pdf", 10), Ok(()));
    assert_eq!(validate_file(&field, "a", "image/webp", 0), Ok(()));
    let wrong = validate_file(&field, "a.pdf", "text/plain", 11).unwrap_err().to_string();
    assert!(wrong.contains("pdf, image/*") && wrong.contains("at most 10 bytes, and has 11"), "{wrong}");
}

#[test]
fn an_answer_adds_points_by_its_options_or_all_of_them() {
    let points = |members: &str, answer: &str| points(&field("FieldAAA", members), &json(answer));
    assert_eq!(points(r#""type":"text""#, r#""x""#), 0);
    assert_eq!(points(r#""type":"text","auto_scoring":5"#, r#""x""#), 5);
    assert_eq!(points(r#""type":"text","auto_scoring":5"#, r#""""#), 0);
    assert_eq!(points(r#""type":"checkbox","auto_scoring":5"#, "true"), 5);
    assert_eq!(points(r#""type":"checkbox","auto_scoring":5"#, "false"), 0);
    assert_eq!(points(r#""type":"radio","options":["a"],"auto_scoring":5"#, r#""a""#), 5);
    let options = r#""options":[{"value":"a","score":2},{"value":"b","score":4},"c"],"auto_scoring":5"#;
    let radio = format!(r#""type":"radio",{options}"#);
    assert_eq!(["a", "b", "c", "d"].map(|value| points(&radio, &format!("\"{value}\""))), [2, 4, 0, 0]);
    let list = format!(r#""type":"checkboxlist",{options}"#);
    assert_eq!([r#"["a"]"#, r#"["c"]"#, r#"["a","b"]"#].map(|answer| points(&list, answer)), [2, 0, 5]);
}

#[test]
fn the_score_counts_live_fields_of_entries_that_are_shown() {
    let mut fields = Records::default();
    for (value, deleted) in [
        (field("FieldAAA", r#""type":"checkbox","auto_scoring":1"#), false),
        (field("FieldBBB", r#""type":"text","auto_scoring":10,"conditional_field":"FieldAAA""#), false),
        (field("FieldCCC", r#""type":"text","auto_scoring":100"#), true),
        (field("FieldDDD", r#""type":"text","auto_scoring":1000,"resource":"contributors""#), false),
    ] {
        fields.insert(value.slug, Record { value, revision: 1, deleted });
    }
    let (yes, no, text) = (json("true"), json("false"), json(r#""x""#));
    let slug = |text: &str| Slug::parse(text).unwrap();
    let score = |ticked| {
        let answers = [("FieldAAA", ticked), ("FieldBBB", &text), ("FieldCCC", &text), ("FieldDDD", &text)];
        score_among(&fields, &answers.map(|(field, answer)| (slug(field), answer)).into())
    };
    assert_eq!((score(&yes), score(&no)), (11, 0));
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>(), 0..40).prop_map(|chars| chars.into_iter().collect())
}

fn tables() -> impl Strategy<Value = Json<'static>> {
    proptest::collection::btree_map("[A-C][1-9]", "x?", 0..8).prop_map(|cells| {
        Json::Object(JsonObject::of_distinct(
            cells.into_iter().map(|(cell, text)| (cell.into(), Json::String(text.into()))),
        ))
    })
}

fn filled(table: Option<&Json>) -> std::collections::BTreeMap<String, String> {
    let cells = table.and_then(Json::as_object).into_iter().flat_map(JsonObject::iter);
    let texts = cells.map(|(cell, text)| (cell.to_owned(), text.as_str().unwrap().to_owned()));
    texts.filter(|(_, text)| !text.is_empty()).collect()
}

proptest! {
    #[test]
    fn no_value_makes_judging_fail(text in texts(), shape in 0..SHAPES.len()) {
        let field = field("FieldAAA", SHAPES[shape].0);
        for value in [
            Json::String(text.clone().into()), Json::Number("1".into()), Json::Array(vec![Json::String(text.into())]),
        ] {
            // What may be given always has the shape of what is stored.
            if validate_answer(&field, &value).is_ok() && value.as_str() != Some("") {
                prop_assert_eq!(check_answer(&field, &value), Ok(()));
            }
            prop_assert_eq!(points(&field, &value), 0);
        }
    }

    #[test]
    fn words_and_characters_never_outnumber_what_they_are_made_of(text in texts()) {
        prop_assert!(characters(&text) <= text.chars().count());
        prop_assert!(words(&text) <= text.chars().count());
        prop_assert_eq!(characters(&text) == 0, text.is_empty());
    }

    #[test]
    fn the_limits_are_inclusive(text in texts()) {
        let count = i64::try_from(characters(&text)).unwrap();
        let limits = |minimum, maximum| Limits { minimum_characters: minimum, maximum_characters: maximum, ..Limits::default() };
        prop_assert_eq!(within(&limits(Some(count), Some(count)), &text), Ok(()));
        prop_assert!(within(&limits(Some(count + 1), None), &text).is_err());
        prop_assert!(count == 0 || within(&limits(None, Some(count - 1)), &text).is_err());
    }

    #[test]
    fn a_merged_table_has_every_cell_given_and_every_other_that_it_had(before in tables(), given in tables()) {
        let after = merged(FieldType::Table, Some(&before), &given);
        let mut expected = filled(Some(&before));
        for (cell, text) in given.as_object().unwrap().iter() {
            expected.insert(cell.to_owned(), text.as_str().unwrap().to_owned());
        }
        expected.retain(|_, text| !text.is_empty());
        prop_assert_eq!(filled(after.as_ref()), expected);
        prop_assert_eq!(merged(FieldType::Table, after.as_ref(), &given), after.clone(), "the same again changes nothing");
        prop_assert!(after.is_none_or(|after| is_answered(FieldType::Table, &after)));
    }
}
