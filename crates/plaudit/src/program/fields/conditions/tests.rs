use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::tests::field;
use super::*;
use crate::program::Record;
use kernel::json::parse_value;

fn json(text: &str) -> Json<'_> {
    parse_value(text.as_bytes()).unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn records(fields: Vec<Field>) -> Records<Field> {
    let mut records = Records::default();
    for value in fields {
        let deleted = value.slug.as_str().ends_with("TTT");
        records.insert(value.slug, Record { value, revision: 1, deleted });
    }
    records
}

/// Whether a field whose condition has this operator and value is shown by an answer to a field of these members.
fn shown(members: &str, condition: &str, answer: Option<&str>) -> bool {
    let operator = format!(r#""type":"text","conditional":{{"field":"FieldAAA",{condition}}}"#);
    let (named, asked) = (field("FieldAAA", members), field("FieldBBB", &operator));
    compares(asked.conditional.as_ref().unwrap(), &named).unwrap();
    let answer = answer.map(json);
    let fields = records(vec![named, asked.clone()]);
    ShownFields::among(&fields, |_| answer.as_ref()).is_shown(&asked)
}

const TEXT: &str = r#""type":"text""#;
const LIST: &str = r#""type":"checkboxlist","options":["a","b","c"]"#;
const NUMBER: &str = r#""type":"numeric""#;
const BOX: &str = r#""type":"checkbox""#;

#[test]
fn each_operator_holds_as_its_name_says() {
    let cases: &[(&str, &str, Option<&str>, bool)] = &[
        (TEXT, r#""operator":"answered""#, Some(r#""x""#), true),
        (TEXT, r#""operator":"answered""#, Some(r#""""#), false),
        (TEXT, r#""operator":"answered""#, None, false),
        (TEXT, r#""operator":"unanswered""#, None, true),
        (TEXT, r#""operator":"unanswered""#, Some(r#""x""#), false),
        (TEXT, r#""operator":"equals","value":"yes""#, Some(r#""yes""#), true),
        (TEXT, r#""operator":"equals","value":"yes""#, Some(r#""Yes""#), false),
        (TEXT, r#""operator":"equals","value":"yes""#, None, false),
        (TEXT, r#""operator":"not_equals","value":"yes""#, None, true),
        (TEXT, r#""operator":"contains","value":"es""#, Some(r#""yes""#), true),
        (TEXT, r#""operator":"contains","value":"es""#, Some(r#""no""#), false),
        (TEXT, r#""operator":"not_contains","value":"es""#, None, true),
        (TEXT, r#""operator":"one_of","value":["a","b"]"#, Some(r#""b""#), true),
        (TEXT, r#""operator":"none_of","value":["a","b"]"#, Some(r#""b""#), false),
        (LIST, r#""operator":"contains","value":"b""#, Some(r#"["a","b"]"#), true),
        (LIST, r#""operator":"contains","value":"c""#, Some(r#"["a","b"]"#), false),
        (LIST, r#""operator":"one_of","value":["b","c"]"#, Some(r#"["a","b"]"#), true),
        (LIST, r#""operator":"none_of","value":["c"]"#, Some(r#"["a","b"]"#), true),
        (LIST, r#""operator":"none_of","value":["c"]"#, Some("[]"), true),
        (NUMBER, r#""operator":"equals","value":1"#, Some("1.00"), true),
        (NUMBER, r#""operator":"greater_than","value":9"#, Some("1e1"), true),
        (NUMBER, r#""operator":"greater_than","value":9"#, Some("9.0"), false),
        (NUMBER, r#""operator":"at_least","value":9"#, Some("9.0"), true),
        (NUMBER, r#""operator":"less_than","value":-9"#, Some("-10"), true),
        (NUMBER, r#""operator":"at_most","value":9"#, None, false),
        (BOX, r#""operator":"equals","value":true"#, Some("true"), true),
        (BOX, r#""operator":"equals","value":false"#, None, true),
        (BOX, r#""operator":"equals","value":false"#, Some("false"), true),
        (BOX, r#""operator":"not_equals","value":true"#, None, true),
        (BOX, r#""operator":"answered""#, Some("false"), false),
        (r#""type":"date""#, r#""operator":"less_than","value":"2026-01-31""#, Some(r#""2025-12-31""#), true),
        (r#""type":"time""#, r#""operator":"at_least","value":"09:30""#, Some(r#""10:00""#), true),
        (
            r#""type":"datetime""#,
            r#""operator":"equals","value":"2026-01-31 08:30""#,
            Some(r#""2026-01-31T09:30:00+01:00""#),
            true,
        ),
        (r#""type":"file""#, r#""operator":"answered""#, Some(r#""TokenTokenToken""#), true),
        (r#""type":"table","columns":[{"key":"A"}]"#, r#""operator":"answered""#, Some(r#"{"A1":""}"#), false),
    ];
    for (members, condition, answer, expected) in cases {
        assert_eq!(shown(members, condition, *answer), *expected, "{members} {condition} {answer:?}");
    }
}

#[test]
fn a_condition_compares_in_a_way_and_with_a_value_that_its_field_has() {
    let wrong = |members: &str, condition: &str| {
        let condition = format!(r#""type":"text","conditional":{{"field":"FieldAAA",{condition}}}"#);
        let condition = field("FieldBBB", &condition).conditional.unwrap();
        compares(&condition, &field("FieldAAA", members)).unwrap_err().0
    };
    for (members, condition, member) in [
        (TEXT, r#""operator":"answered","value":"x""#, "value"),
        (TEXT, r#""operator":"equals""#, "value"),
        (TEXT, r#""operator":"equals","value":1"#, "value"),
        (TEXT, r#""operator":"equals","value":"""#, "value"),
        (TEXT, r#""operator":"contains","value":"""#, "value"),
        (TEXT, r#""operator":"one_of","value":[]"#, "value"),
        (TEXT, r#""operator":"one_of","value":"a""#, "value"),
        (TEXT, r#""operator":"one_of","value":["a",null]"#, "value"),
        (TEXT, r#""operator":"at_least","value":"a""#, "operator"),
        (LIST, r#""operator":"contains","value":"d""#, "value"),
        (LIST, r#""operator":"equals","value":["a"]"#, "operator"),
        (NUMBER, r#""operator":"contains","value":1"#, "operator"),
        (NUMBER, r#""operator":"equals","value":"1""#, "value"),
        (BOX, r#""operator":"equals","value":"yes""#, "value"),
        (r#""type":"radio","options":["a"]"#, r#""operator":"equals","value":"b""#, "value"),
        (r#""type":"country""#, r#""operator":"one_of","value":["GB","UK"]"#, "value"),
        (r#""type":"file""#, r#""operator":"equals","value":"TokenTokenToken""#, "operator"),
        (r#""type":"content""#, r#""operator":"answered""#, "field"),
        (r#""type":"formula""#, r#""operator":"answered""#, "field"),
    ] {
        assert_eq!(wrong(members, condition), member, "{members} {condition}");
    }
}

#[test]
fn what_a_field_that_is_not_shown_was_answered_does_not_count() {
    let fields = records(vec![
        field("FieldAAA", BOX),
        field("FieldBBB", r#""type":"text","conditional":{"field":"FieldAAA","operator":"equals","value":true}"#),
        field("FieldCCC", r#""type":"text","conditional":{"field":"FieldBBB","operator":"answered"}"#),
        field("FieldDDD", r#""type":"text","conditional":{"field":"FieldBBB","operator":"unanswered"}"#),
        field("FieldEEE", r#""type":"text","conditional":{"field":"FieldTTT","operator":"answered"}"#),
        field("FieldFFF", r#""type":"text","conditional":{"field":"FieldTTT","operator":"not_equals","value":"x"}"#),
        field("FieldTTT", TEXT),
        field("FieldXXX", r#""type":"text","conditional":{"field":"FieldYYY","operator":"unanswered"}"#),
        field("FieldYYY", r#""type":"text","conditional":{"field":"FieldXXX","operator":"unanswered"}"#),
    ]);
    let shown_by = |ticked: &str| {
        let answers = BTreeMap::from([
            (slug("FieldAAA"), json(ticked)),
            (slug("FieldBBB"), json(r#""x""#)),
            (slug("FieldTTT"), json(r#""x""#)),
        ]);
        let mut among = ShownFields::among(&fields, |slug| answers.get(&slug));
        let shown = fields.all_live().filter(|field| among.is_shown(field));
        shown.map(|field| field.slug.as_str().chars().last().unwrap()).collect::<String>()
    };
    assert_eq!(shown_by("true"), "ABCF", "the answer to a trashed field is none, and a circle shows nothing");
    assert_eq!(shown_by("false"), "ADF");
}

#[test]
fn a_field_depends_on_every_field_of_its_chain() {
    let condition = |of: &str, on: &str| field(of, &format!(r#""type":"text","conditional_field":"{on}""#));
    let fields = records(vec![
        field("FieldAAA", TEXT),
        condition("FieldBBB", "FieldAAA"),
        condition("FieldCCC", "FieldBBB"),
        condition("FieldXXX", "FieldYYY"),
        condition("FieldYYY", "FieldXXX"),
    ]);
    let depends = |field: &str, other: &str| depends_on(&fields, fields.any(slug(field)).unwrap(), slug(other));
    assert!(depends("FieldCCC", "FieldAAA") && depends("FieldBBB", "FieldAAA"));
    assert!(!depends("FieldAAA", "FieldCCC") && !depends("FieldAAA", "FieldAAA"));
    assert!(!depends("FieldXXX", "FieldAAA"), "a circle ends");
}

/// A slug for each number.
fn numbered(number: usize) -> Slug {
    let digit = |place: u32| b'a' + u8::try_from(number / 26_usize.pow(place) % 26).unwrap();
    Slug::from_letters([b'F', b'i', b'e', b'l', digit(3), digit(2), digit(1), digit(0)]).unwrap()
}

/// Fields of which each but the first is shown by an answer to the one before it.
fn chain(length: usize) -> Records<Field> {
    let first = field(numbered(0).as_str(), TEXT);
    records(
        (0..length)
            .map(|number| {
                let condition =
                    Condition { field: numbered(number.max(1) - 1), operator: Operator::Answered, value: Json::Null };
                Field { slug: numbered(number), conditional: (number > 0).then_some(condition), ..first.clone() }
            })
            .collect(),
    )
}

#[test]
fn each_condition_is_evaluated_once_however_long_a_chain_is() {
    let text = json(r#""x""#);
    for length in [300, 3_000] {
        let fields = chain(length);
        let asked = std::cell::Cell::new(0);
        let mut shown = ShownFields::among(&fields, |_| {
            asked.set(asked.get() + 1);
            Some(&text)
        });
        assert!(fields.all_live().all(|field| shown.is_shown(field)));
        assert!(fields.all_live().all(|field| shown.is_shown(field)));
        assert_eq!(asked.get(), length - 1);
    }
}

#[test]
fn a_chain_is_walked_no_further_than_it_may_be_long() {
    let fields = chain(3 * CHAIN);
    let at = |number: usize| fields.any(numbered(number)).unwrap();
    let walked = |number: usize| deciding(&fields, at(number)).count();
    assert_eq!([walked(0), walked(CHAIN), walked(2 * CHAIN)], [0, CHAIN, CHAIN + 1]);
    assert!(!is_too_deep(&fields, at(CHAIN)) && is_too_deep(&fields, at(CHAIN + 1)));
    let fields = chain(CHAIN);
    assert_eq!([0, 1, CHAIN - 1].map(|number| dependants(&fields, numbered(number))), [CHAIN - 1, CHAIN - 2, 0]);
}

/// Fields in a row, each with or without a condition that names one before it.
fn forests() -> impl Strategy<Value = Vec<(Option<usize>, bool, bool)>> {
    proptest::collection::vec((any::<Option<proptest::sample::Index>>(), any::<bool>(), any::<bool>()), 1..12).prop_map(
        |drawn| {
            let named = |at: usize, index: Option<proptest::sample::Index>| {
                if at == 0 { None } else { index.map(|index| index.index(at)) }
            };
            drawn
                .into_iter()
                .enumerate()
                .map(|(at, (index, negated, given))| (named(at, index), negated, given))
                .collect()
        },
    )
}

fn name(at: usize) -> String {
    format!("FieldRo{}", char::from(b'a' + u8::try_from(at).unwrap()))
}

/// The same, straight from the rule.
fn expected(row: &[(Option<usize>, bool, bool)], at: usize) -> bool {
    let (named, negated, _) = row[at];
    named.is_none_or(|named| (expected(row, named) && row[named].2) != negated)
}

proptest! {
    #[test]
    fn a_chain_is_judged_from_its_beginning(row in forests()) {
        let made = row.iter().enumerate().map(|(at, (named, negated, _))| {
            let operator = if *negated { "unanswered" } else { "answered" };
            let condition = named.map_or(String::new(), |named| {
                format!(r#","conditional":{{"field":"{}","operator":"{operator}"}}"#, name(named))
            });
            field(&name(at), &format!("{TEXT}{condition}"))
        });
        let fields = records(made.collect());
        let text = json(r#""x""#);
        let answer = |field: Slug| {
            let at = (0..row.len()).find(|at| name(*at) == field.as_str())?;
            row[at].2.then_some(&text)
        };
        let mut shown = ShownFields::among(&fields, answer);
        for at in 0..row.len() {
            let field = fields.any(slug(&name(at))).unwrap();
            prop_assert_eq!(shown.is_shown(field), expected(&row, at), "{}", name(at));
            for other in 0..row.len() {
                let mut above = std::iter::successors(row[at].0, |named| row[*named].0);
                prop_assert_eq!(depends_on(&fields, field, slug(&name(other))), above.any(|named| named == other));
            }
        }
    }

    #[test]
    fn the_operators_of_a_pair_never_agree(
        kind in 0..FieldType::CHOICES.len(), number in -20_i64..20, wanted in -20_i64..20, is_given in any::<bool>(),
    ) {
        let kind = FieldType::CHOICES[kind].1;
        let (value, given) = match kind {
            FieldType::Numeric | FieldType::Currency => {
                (Json::Number(wanted.to_string().into()), Json::Number(format!("{number}.0").into()))
            }
            FieldType::CheckboxList => {
                (Json::String(wanted.to_string().into()), Json::Array(vec![Json::String(number.to_string().into())]))
            }
            FieldType::Checkbox => (Json::Bool(wanted > 0), Json::Bool(number > 0)),
            _ => (Json::String(wanted.to_string().into()), Json::String(number.to_string().into())),
        };
        let answer = is_given.then_some(&given);
        let holds_with = |operator, value: &Json| {
            let condition = Condition { field: slug("FieldAAA"), operator, value: value.clone().into_owned() };
            kind.is_compared_by(operator).then(|| holds(&condition, kind, answer))
        };
        let list = Json::Array(vec![value.clone()]);
        for (one, other, value) in [
            (Operator::Answered, Operator::Unanswered, &Json::Null),
            (Operator::Equals, Operator::NotEquals, &value),
            (Operator::Contains, Operator::NotContains, &value),
            (Operator::OneOf, Operator::NoneOf, &list),
        ] {
            prop_assert_eq!(holds_with(one, value), holds_with(other, value).map(|holds| !holds));
        }
        if is_given && !matches!(kind, FieldType::DateTime) {
            for (one, other) in [(Operator::GreaterThan, Operator::AtMost), (Operator::LessThan, Operator::AtLeast)] {
                prop_assert_eq!(holds_with(one, &value), holds_with(other, &value).map(|holds| !holds));
            }
        }
    }
}
