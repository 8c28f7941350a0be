use serde_json::{Value, json};

use crate::lists::page::ListQuery;
use crate::lists::page::openapi::*;
use crate::lists::page::tests::{FEED, SPEC};

/// The parameters of a specification as they stand in the document.
fn described(spec: &ListSpec) -> Vec<Value> {
    spec.parameters().iter().map(|parameter| serde_json::to_value(parameter).unwrap()).collect()
}

fn one(name: &str) -> Value {
    described(&SPEC).into_iter().find(|parameter| parameter["name"] == name).unwrap()
}

#[test]
fn filters_come_first_and_then_what_every_list_takes() {
    let parameters = described(&SPEC);
    let names: Vec<&str> = parameters.iter().filter_map(|parameter| parameter["name"].as_str()).collect();
    let dates = ["updated_at[before]", "updated_at[after]", "updated_at[on]", "updated_at[between]"];
    let filters = ["status", "season", "category", "condition", "title", "language", "include"];
    let paging = ["deleted", "page", "per_page", "order", "dir", "cursor", "count"];
    assert_eq!(names, [&filters[..], &dates, &paging].concat());
    for parameter in &parameters {
        assert_eq!((&parameter["in"], &parameter["required"]), (&json!("query"), &json!(false)));
        let about = parameter["description"].as_str().unwrap();
        assert!(about.ends_with('.') && !about.contains(".."), "{about}");
    }
}

#[test]
fn every_kind_of_filter_has_its_schema() {
    let schema = |name: &str| one(name)["schema"].clone();
    assert_eq!(schema("status"), json!({"type": "string", "enum": ["paid", "awaiting_payment"]}));
    assert_eq!(schema("category"), json!({"type": "string", "pattern": "^[A-Za-z]{8}$"}));
    assert_eq!(schema("season"), json!({"type": "string", "pattern": "^([A-Za-z]{8}|all)$"}));
    assert_eq!(schema("condition"), json!({"type": "string", "pattern": "^([A-Za-z]{8}|only|none)$"}));
    let pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
    assert_eq!(schema("title"), json!({"type": "string", "minLength": 1, "maxLength": 5, "pattern": pattern}));
    let locales: Vec<&str> = Locale::ALL.iter().map(|locale| locale.code()).collect();
    assert_eq!(schema("language"), json!({"type": "string", "enum": locales}));
    let include = one("include");
    assert_eq!((&include["style"], &include["explode"]), (&json!("form"), &json!(false)));
    let items = json!({"type": "string", "enum": ["attachments", "contributors"]});
    assert_eq!(include["schema"], json!({"type": "array", "items": items, "minItems": 1}));
}

#[test]
fn a_default_is_literal_where_it_is_a_value_and_told_where_it_is_none() {
    let (deleted, season) = (one("deleted"), one("season"));
    assert_eq!(deleted["schema"]["default"], "none");
    assert_eq!(
        deleted["description"],
        "What is in the trash: `only` that, `included` with the rest, or `none` of it. Left out: `none`."
    );
    assert_eq!(season["schema"]["default"], Value::Null);
    assert_eq!(season["description"], "The season. Left out: the active season.");
    assert_eq!(one("status")["description"], "Whether they are paid.");
}

#[test]
fn a_date_filter_is_a_parameter_for_each_bracket() {
    let either = json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]});
    assert_eq!(one("updated_at[before]")["schema"], either);
    assert_eq!(one("updated_at[after]")["schema"], either);
    assert_eq!(one("updated_at[on]")["schema"], json!({"type": "string", "format": "date"}));
    let between = one("updated_at[between]");
    assert_eq!(between["schema"], json!({"type": "array", "items": either, "minItems": 2, "maxItems": 2}));
    assert_eq!((&between["style"], &between["explode"]), (&json!("form"), &json!(false)));
    assert_eq!(one("updated_at[on]")["description"], "The last change: on this date in UTC.");
}

#[test]
fn pages_and_sorts_have_their_bounds_words_and_defaults() {
    let schema = |name: &str| one(name)["schema"].clone();
    assert_eq!(schema("page"), json!({"type": "integer", "minimum": 1, "default": 1}));
    assert_eq!(schema("per_page"), json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 10}));
    assert_eq!(schema("order"), json!({"type": "string", "examples": ["created_at", "total"]}));
    assert_eq!(schema("dir"), json!({"type": "string", "enum": ["asc", "desc"]}));
    assert_eq!(schema("cursor"), json!({"type": "string", "maxLength": 4096}));
    assert_eq!(schema("count"), json!({"type": "string", "enum": ["none"]}));
    assert_eq!(
        one("order")["description"],
        "What the list is sorted by: `created_at`, `total` or the slug of a field that the records answer. Left out, or \
         another value: by `updated`, descending."
    );
    assert_eq!(
        one("dir")["description"],
        "The direction. Left out: `asc` for an `order` that is named, `desc` without one."
    );
    let sorted = ListSpec { about_orders: "Names are folded.", ..ListSpec::new(&[], &["name"]) };
    assert_eq!(
        sorted.about_order(),
        "What the list is sorted by: `name`. Left out, or another value: by `updated`, descending. Names \
         are folded."
    );
}

#[test]
fn what_is_walked_alone_has_a_cursor_and_pages_of_its_own_size() {
    let parameters = described(&FEED);
    let names: Vec<&str> = parameters.iter().filter_map(|parameter| parameter["name"].as_str()).collect();
    assert_eq!(names, ["slug", "wait", "per_page", "cursor"]);
    assert_eq!(parameters[1]["schema"], json!({"type": "integer", "minimum": 1, "maximum": 30}));
    assert_eq!(parameters[2]["schema"]["maximum"], 1_000);
}

#[test]
fn what_has_no_pages_is_described_by_its_filters_alone() {
    const SUMMARY: ListSpec = ListSpec::of_filters(&[Filter::season("The season")]);
    let parameters = described(&SUMMARY);
    assert_eq!((parameters.len(), &parameters[0]["name"]), (1, &json!("season")));
}

#[test]
fn what_the_schema_of_a_parameter_allows_is_what_is_read() {
    let values = [
        "",
        "paid",
        "Paid",
        "all",
        "only",
        "none",
        "AbCdEfGh",
        "AbCdEfG1",
        "éééééé",
        "ééééé",
        "en_GB",
        "en",
        "asc",
        "up",
    ];
    let judged = ["status", "season", "category", "condition", "title", "language", "deleted", "dir", "count", "order"];
    for name in judged {
        let schema = jsonschema::validator_for(&one(name)["schema"]).unwrap();
        for value in values {
            let is_read = ListQuery::parse(Some(&format!("{name}={value}")), &SPEC).is_ok();
            assert_eq!(schema.is_valid(&json!(value)), is_read, "{name}={value}");
        }
    }
    for name in ["page", "per_page"] {
        let schema = jsonschema::validator_for(&one(name)["schema"]).unwrap();
        for value in [-1, 0, 1, 100, 101] {
            let is_read = ListQuery::parse(Some(&format!("{name}={value}")), &SPEC).is_ok();
            assert_eq!(schema.is_valid(&json!(value)), is_read, "{name}={value}");
        }
    }
}
