use super::*;
use crate::json::parse_value;

fn reported<T: std::fmt::Debug>(read: Result<T, Wrong<T>>) -> (Vec<String>, Option<T>) {
    let Wrong { messages, rest } = read.unwrap_err();
    (messages, rest)
}

#[test]
fn a_list_tells_of_every_item_and_keeps_those_that_are_right() {
    let read = |text: &str| slugs(4)(&parse_value(text.as_bytes()).unwrap());
    let [first, second] = ["RecordAA", "RecordBB"].map(|slug| Slug::parse(slug).unwrap());
    assert_eq!(read(r#"["RecordAA","RecordBB"]"#), Ok(vec![first, second]));
    let (messages, rest) = reported(read(r#"["RecordAA",5,"bad","RecordAA"]"#));
    let expected = [
        "item 2 must be a slug of 8 ASCII letters",
        "item 3 must be a slug of 8 ASCII letters",
        "names RecordAA twice",
    ];
    assert_eq!((messages, rest), (expected.map(str::to_owned).to_vec(), Some(vec![first])));
    assert_eq!(reported(read("[5]")).1, None, "a list without an item that is right is no list");
    assert_eq!(reported(read("[1,2,3,4,5]")), (vec!["must have at most 4 items".to_owned()], None));
    assert_eq!(reported(read("{}")), (vec!["must be a list".to_owned()], None));
}

#[test]
fn a_short_text_is_one_line_and_a_long_one_may_have_several() {
    let json = |text: &str| Json::String(text.to_owned().into());
    for character in ["\0", "\n", "\r", "\t", "\u{1b}", "\u{7f}", "\u{9b}"] {
        let wrong = Err("must not have control characters, such as line breaks".to_owned());
        assert_eq!(text(LINE_LENGTH)(&json(&format!("a{character}b"))), wrong);
        assert_eq!(filled_text(1)(&json(character)), wrong);
        let map = format!(r#"{{"en_GB":{}}}"#, json(character));
        let read = translated(&[Locale::EnGb], LINE_LENGTH)(&parse_value(map.as_bytes()).unwrap());
        assert_eq!(reported(read).0, ["en_GB must not have control characters, such as line breaks"]);
        assert_eq!(text(LINE_LENGTH + 1)(&json(character)), Ok(character.to_owned()));
    }
    for line in ["", "\u{a0}\u{200d}\u{202e}\u{2028}", "é 日本 😀"] {
        assert_eq!(text(LINE_LENGTH)(&json(line)), Ok(line.to_owned()));
    }
}

#[test]
fn an_unknown_member_is_told_by_the_beginning_of_its_name_and_a_message_is_cut() {
    let body = format!(r#"{{"{}":1}}"#, "x".repeat(1 << 20));
    let json = parse_value(body.as_bytes()).unwrap();
    let violations = Members::closed(json.as_object().unwrap()).finish();
    assert_eq!(violations.iter().next().unwrap().0, format!("{}…", "x".repeat(64)));
    let mut violations = Violations::default();
    violations.add("a", "é".repeat(1_001));
    assert_eq!(violations.iter().next().unwrap().1, format!("{}…", "é".repeat(1_000)));
}

#[test]
fn a_translated_name_tells_of_every_text() {
    let languages = [Locale::EnGb, Locale::DeDe];
    let read = |text: &str, is_new| {
        let json = parse_value(text.as_bytes()).unwrap();
        translated_name(Locale::EnGb, is_new, translated(&languages, 3))(&json)
    };
    assert_eq!(read(r#"{"en_GB":"One"}"#, true), Ok(Translated::of(Locale::EnGb, "One")));
    assert_eq!(read(r#"{"de_DE":"Ein"}"#, false), Ok(Translated::of(Locale::DeDe, "Ein")));
    assert_eq!(reported(read(r#"{"de_DE":"Ein"}"#, true)).0, ["en_GB is required"]);
    assert_eq!(reported(read(r#"{"en_GB":" "}"#, false)).0, ["en_GB must not be blank"]);
    assert_eq!(reported(read(r#"{"en_GB":5}"#, true)).0, ["en_GB must be a string"]);
    assert_eq!(reported(read("5", true)).0, ["must be a map from locale code to string"]);
    let (messages, rest) = reported(read(r#"{"fr_FR":"Un","en_GB":"","de_DE":"Eins"}"#, true));
    assert_eq!(
        messages,
        [
            "fr_FR is no language of the account; its languages are en_GB, de_DE",
            "de_DE must have at most 3 characters",
            "en_GB must not be blank",
        ]
    );
    assert_eq!(rest, Some(Translated::of(Locale::EnGb, "")));
}

#[test]
fn a_map_of_more_texts_than_there_are_locales_is_not_told_of_one_by_one() {
    let members: Vec<_> = (0..=Locale::ALL.len()).map(|index| format!(r#""l{index}":"""#)).collect();
    let json = format!("{{{}}}", members.join(","));
    let (messages, rest) = reported(translated(&[Locale::EnGb], 3)(&parse_value(json.as_bytes()).unwrap()));
    assert_eq!((messages.len(), rest), (1, None));
}
