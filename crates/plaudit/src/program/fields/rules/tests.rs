use std::borrow::Cow;

use proptest::prelude::*;

use super::super::read;
use super::super::tests::{field, tabs};
use super::*;
use crate::program::bounds::CHAIN;
use crate::program::fields::{Protection, is_asked_in, rank};
use crate::program::testing::{context, numbered, program};
use crate::program::{Record, RecordMembers as _, store};
use kernel::document;
use kernel::json::{Json, Object as JsonObject};
use kernel::json::{parse_object, parse_value};

const SEASON: &str = r#""name":{"en_GB":"Season"},"status":"active""#;
const NAMED: &str = r#""name":{"en_GB":"Name"}"#;

/// Two forms of the season, and one of another season; a tab of every type on the first, and what there is to refer to.
fn related() -> Program {
    let of = |more: &str| format!("{NAMED},{more}");
    let tab = |form: &str, kind: &str| format!(r#""form":"{form}","type":"{kind}""#);
    let records = [
        ("season", "SeasonAA", SEASON.to_owned()),
        ("season", "SeasonBB", SEASON.replace("active", "archived")),
        ("form", "FormAAAA", of(r#""season":"SeasonAA""#)),
        ("form", "FormBBBB", of(r#""season":"SeasonAA""#)),
        ("form", "FormOOOO", of(r#""season":"SeasonBB""#)),
        ("tab", "TabStart", tab("FormAAAA", "Start")),
        ("tab", "TabAAAAA", tab("FormAAAA", "General")),
        ("tab", "TabGenrl", tab("FormAAAA", "General")),
        ("tab", "TabElegi", tab("FormAAAA", "Eligibility")),
        ("tab", "TabContr", tab("FormAAAA", "Contributors")),
        ("tab", "TabAttac", tab("FormAAAA", "Attachments")),
        ("tab", "TabRefer", tab("FormAAAA", "Referees")),
        ("tab", "TabOther", tab("FormBBBB", "General")),
        ("category", "CategAAA", of(r#""season":"SeasonAA","form":"FormAAAA""#)),
        ("category", "CategAny", of(r#""season":"SeasonAA""#)),
        ("category", "CategBBB", of(r#""season":"SeasonAA","form":"FormBBBB""#)),
        ("category", "CategOOO", of(r#""season":"SeasonBB""#)),
    ];
    let records: Vec<(&str, &str, &str)> =
        records.iter().map(|(kind, slug, members)| (*kind, *slug, members.as_str())).collect();
    let mut program = program(&records);
    for made in [
        field(
            "FieldRad",
            r#""type":"radio","form":"FormAAAA","order":7,"options":["yes",{"value":"no","label":{"de_DE":"Nein"},"score":3}]"#,
        ),
        field(
            "FieldCon",
            r#""type":"text","form":"FormAAAA","conditional":{"field":"FieldRad","operator":"equals","value":"yes"}"#,
        ),
        field("FieldNum", r#""type":"currency","currency":"EUR","form":"FormAAAA""#),
        field("FieldPpl", r#""type":"text","form":"FormAAAA","tab":"TabContr","resource":"contributors""#),
        field("FieldOth", r#""type":"text","form":"FormBBBB","tab":"TabOther""#),
        field("FieldTTT", r#""type":"text","form":"FormAAAA""#),
    ] {
        put(&mut program, made);
    }
    program
}

fn put(program: &mut Program, value: Field) {
    let deleted = value.slug.as_str().ends_with("TTT");
    program.fields.insert(value.slug, Record { value, revision: 1, deleted });
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn later() -> Timestamp {
    Timestamp::from_seconds(2_000)
}

fn created(program: &Program, body: &str) -> Result<Field, Violations> {
    let body = parse_object(body.as_bytes()).unwrap();
    create(program, slug("FieldNew"), read(&body, true, &context()), later())
}

fn updated(program: &Program, field: &str, body: &str) -> Result<Field, Violations> {
    let body = parse_object(body.as_bytes()).unwrap();
    update(program, program.fields.any(slug(field)).unwrap(), read(&body, false, &context()), later())
}

/// The members that something is wrong with, each once.
fn names(outcome: Result<Field, Violations>) -> Vec<String> {
    let violations = outcome.map(|field| store::stored(&field)).unwrap_err();
    let mut names: Vec<String> = violations.iter().map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// A body with the members that every new field needs.
fn with(kind: &str, more: &str) -> String {
    format!(r#"{{"type":"{kind}","tab":"TabAAAAA","translated":{{"title":{{"en_GB":"Why"}}}}{more}}}"#)
}

#[test]
fn a_new_field_belongs_where_its_tab_does_and_comes_last_there() {
    let program = related();
    let made = created(&program, &with("text", "")).unwrap();
    assert_eq!(
        (made.form, made.season, made.resource),
        (Some(slug("FormAAAA")), Some(slug("SeasonAA")), Resource::Entries)
    );
    assert_eq!((made.order, made.categories.as_ref(), made.created, made.updated), (8, None, later(), later()));
    for (tab, resource) in [
        ("TabElegi", Resource::Entries),
        ("TabContr", Resource::Contributors),
        ("TabAttac", Resource::Attachments),
        ("TabRefer", Resource::Referees),
    ] {
        let made = created(&program, &with("text", r#","form":"FormAAAA""#).replace("TabAAAAA", tab)).unwrap();
        assert_eq!((made.resource, made.order), (resource, 1), "{tab}");
    }
}

#[test]
fn a_tab_that_takes_no_fields_or_a_form_that_is_not_its_own_is_refused() {
    let mut program = related();
    for (body, wrong) in [
        (with("text", "").replace("TabAAAAA", "TabStart"), "tab"),
        (with("text", "").replace("TabAAAAA", "NoSuchTb"), "tab"),
        (with("text", r#","form":"FormBBBB""#), "form"),
        (with("text", r#","form":"NoSuchFo""#), "form"),
    ] {
        assert_eq!(names(created(&program, &body)), [wrong], "{body}");
    }
    let body = with("text", r#","form":"NoSuchFo""#).replace("TabAAAAA", "NoSuchTb");
    assert_eq!(names(created(&program, &body)), ["form", "tab"]);
    let form = program.forms.live(slug("FormAAAA")).unwrap().clone();
    program.forms.insert(form.slug, Record { value: form, revision: 2, deleted: true });
    assert_eq!(names(created(&program, &with("text", ""))), ["tab"]);
}

#[test]
fn every_type_but_a_formula_can_be_made_with_what_it_needs() {
    let program = related();
    for (name, kind) in FieldType::CHOICES {
        let needed = match kind {
            FieldType::Currency => r#","currency":"EUR""#,
            FieldType::Table => r#","columns":[{"key":"A"}]"#,
            FieldType::Lookup => "",
            _ if kind.has_options() => r#","options":["a"]"#,
            _ => "",
        };
        let outcome = created(&program, &with(name, needed));
        if *kind == FieldType::Formula {
            assert_eq!(names(outcome), ["type"]);
            continue;
        }
        assert_eq!(outcome.unwrap().kind, *kind);
        if !needed.is_empty() {
            let member = needed[2..].split('"').next().unwrap();
            assert_eq!(names(created(&program, &with(name, ""))), [member], "{name} needs it");
            let empty = if member == "currency" { "null" } else { "[]" };
            assert_eq!(names(created(&program, &with(name, &format!(r#","{member}":{empty}"#)))), [member]);
        }
    }
}

#[test]
fn a_member_belongs_to_its_types_alone() {
    let program = related();
    let members = [
        (r#""options":["a"]"#, "options", FieldType::has_options as fn(FieldType) -> bool),
        (r#""columns":[{"key":"A"}]"#, "columns", |kind| kind == FieldType::Table),
        (r#""currency":"EUR""#, "currency", |kind| kind == FieldType::Currency),
        (r#""limits":{"maximum_words":5}"#, "limits", FieldType::has_limits),
        (r#""file_types":["pdf"]"#, "file_types", |kind| kind == FieldType::File),
        (r#""max_file_size":1"#, "max_file_size", |kind| kind == FieldType::File),
        (r#""required":true"#, "required", FieldType::takes_answers),
    ];
    for (name, kind) in FieldType::CHOICES.iter().filter(|(_, kind)| *kind != FieldType::Formula) {
        for (member, path, belongs) in members {
            let needed = members.iter().filter(|(text, path, belongs)| {
                ["options", "columns", "currency"].contains(path) && belongs(*kind) && *text != member
            });
            let needed = needed.fold(String::new(), |needed, (text, ..)| needed + "," + text);
            let outcome = created(&program, &with(name, &format!("{needed},{member}")));
            if belongs(*kind) {
                outcome.unwrap();
            } else {
                assert_eq!(names(outcome), [path], "{name} {member}");
            }
        }
        let nothing = r#","limits":null,"file_types":[],"max_file_size":null,"required":false,"conditional":null"#;
        let needed = members[..3].iter().filter(|(.., belongs)| belongs(*kind));
        let needed = needed.fold(String::new(), |needed, (text, ..)| needed + "," + text);
        created(&program, &with(name, &format!("{needed}{nothing}"))).unwrap();
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let program = related();
    let body = r#"{
        "type": "essay", "tab": "TabStart", "form": "FormBBBB", "currency": "XXX",
        "translated": {"title": {"de_DE": "Warum"}, "help_text": 5, "hint_text": {"fr_FR": "x"}, "label": {}},
        "options": ["a", "a"], "required": "yes", "conditional": {"field": "FieldTTT", "operator": "is", "when": 1},
        "limits": {"minimum_words": 3, "maximum_words": 2, "maximum_characters": -1, "words": 1}, "order": -1,
        "categories": ["CategAAA", "CategBBB", "NoSuchCa"], "protection": "high", "columns": [{"key": "A1"}, 5, {}],
        "file_types": [".pdf"], "max_file_size": 0, "resource": "entries", "slug": "FieldNew"
    }"#;
    assert_eq!(
        names(created(&program, body)),
        [
            "categories",
            "columns.1.key",
            "columns.2",
            "columns.3.key",
            "conditional.field",
            "conditional.operator",
            "conditional.when",
            "currency",
            "file_types",
            "form",
            "limits.maximum_characters",
            "limits.minimum_words",
            "limits.words",
            "max_file_size",
            "options",
            "order",
            "protection",
            "required",
            "resource",
            "slug",
            "tab",
            "translated.help_text",
            "translated.hint_text",
            "translated.label",
            "translated.title",
            "type",
        ]
    );
    assert_eq!(names(created(&program, "{}")), ["tab", "translated", "type"]);
    assert_eq!(names(created(&program, &with("currency", r#","currency":"XXX""#))), ["currency"], "told once");
    let messages = created(&program, &with("currency", r#","currency":"XXX""#)).unwrap_err();
    assert_eq!(messages.iter().count(), 1);
}

#[test]
fn a_title_is_needed_in_the_default_language() {
    let program = related();
    for title in [r#"{"de_DE":"Warum"}"#, r#"{"en_GB":" "}"#, "{}", r#""Why""#] {
        let body = with("text", "").replace(r#"{"en_GB":"Why"}"#, title);
        assert_eq!(names(created(&program, &body)), ["translated.title"], "{title}");
    }
    assert_eq!(names(updated(&program, "FieldRad", r#"{"translated":{"title":{"en_GB":""}}}"#)), ["translated.title"]);
    let made = updated(&program, "FieldRad", r#"{"translated":{"title":{"de_DE":"F & A"}}}"#).unwrap();
    assert_eq!((made.title.in_locale(kernel::text::Locale::EnGb), made.title.iter().count()), ("Q & A", 2));
}

#[test]
fn categories_are_live_and_of_the_same_season_and_form() {
    let program = related();
    let made = created(&program, &with("text", r#","categories":["CategAAA","CategAny"]"#)).unwrap();
    assert_eq!(made.categories.unwrap().len(), 2);
    assert_eq!(created(&program, &with("text", r#","categories":["*"]"#)).unwrap().categories, None);
    assert_eq!(created(&program, &with("text", r#","categories":[]"#)).unwrap().categories, Some(vec![]));
    for wrong in
        [r#"["CategBBB"]"#, r#"["CategOOO"]"#, r#"["NoSuchCa"]"#, r#"["CategAAA","*"]"#, r#"["CategAAA","CategAAA"]"#]
    {
        assert_eq!(
            names(created(&program, &with("text", &format!(r#","categories":{wrong}"#)))),
            ["categories"],
            "{wrong}"
        );
    }
    let asked = |categories: &str, category: &str| {
        is_asked_in(&created(&program, &with("text", categories)).unwrap(), slug(category), &program)
    };
    assert!(asked("", "CategAAA") && asked("", "CategAny") && asked(r#","categories":["CategAAA"]"#, "CategAAA"));
    assert!(!asked("", "CategBBB") && !asked("", "CategOOO") && !asked("", "NoSuchCa"));
    assert!(!asked(r#","categories":["CategAAA"]"#, "CategAny"));
}

#[test]
fn a_condition_names_a_live_field_of_the_same_form_and_about_the_same() {
    let program = related();
    let condition =
        |field: &str| with("text", &format!(r#","conditional":{{"field":"{field}","operator":"answered"}}"#));
    assert_eq!(created(&program, &condition("FieldRad")).unwrap().conditional.unwrap().field, slug("FieldRad"));
    for wrong in ["FieldTTT", "FieldOth", "FieldPpl", "NoSuchFi"] {
        assert_eq!(names(created(&program, &condition(wrong))), ["conditional.field"], "{wrong}");
    }
    for (condition, wrong) in [
        ("{}", vec!["conditional.field", "conditional.operator"]),
        (r#"{"field":"FieldRad"}"#, vec!["conditional.operator"]),
        (r#"{"field":"FieldRad","operator":"at_least","value":1}"#, vec!["conditional.operator"]),
        (r#"{"field":"FieldRad","operator":"equals","value":"maybe"}"#, vec!["conditional.value"]),
        (r#""FieldRad""#, vec!["conditional"]),
    ] {
        assert_eq!(
            names(created(&program, &with("text", &format!(r#","conditional":{condition}"#)))),
            wrong,
            "{condition}"
        );
    }
}

#[test]
fn conditions_make_no_circle() {
    let mut program = related();
    let condition = |field: &str| format!(r#"{{"conditional":{{"field":"{field}","operator":"answered"}}}}"#);
    assert_eq!(names(updated(&program, "FieldRad", &condition("FieldRad"))), ["conditional.field"]);
    assert_eq!(names(updated(&program, "FieldRad", &condition("FieldCon"))), ["conditional.field"]);
    let third = updated(&program, "FieldNum", &condition("FieldCon")).unwrap();
    put(&mut program, third);
    assert_eq!(names(updated(&program, "FieldRad", &condition("FieldNum"))), ["conditional.field"]);
    let free = updated(&program, "FieldCon", r#"{"conditional":null}"#).unwrap();
    assert_eq!(free.conditional, None);
    put(&mut program, free);
    updated(&program, "FieldRad", &condition("FieldNum")).unwrap();
}

#[test]
fn no_more_conditions_follow_one_another_than_may() {
    let mut program = related();
    let name = |at: usize| numbered("FieldQ", at);
    let on = |at: usize| format!(r#""conditional":{{"field":"{}","operator":"answered"}}"#, name(at));
    let placed = |at: usize, more: &str| field(&name(at), &format!(r#""type":"text","form":"FormAAAA"{more}"#));
    for at in 0..=CHAIN + 1 {
        // The conditions of the first and the last field of the chain are still missing.
        let condition = if (2..=CHAIN).contains(&at) { format!(",{}", on(at - 1)) } else { String::new() };
        put(&mut program, placed(at, &condition));
    }
    let below = updated(&program, &name(1), &format!("{{{}}}", on(0))).unwrap();
    put(&mut program, below);
    let last = updated(&program, &name(CHAIN + 1), &format!("{{{}}}", on(CHAIN)));
    assert_eq!(names(last), ["conditional.field"]);
    let first = updated(&program, &name(0), &format!("{{{}}}", on(CHAIN + 1)));
    assert_eq!(names(first), ["conditional.field"], "those that follow count as well");
    let deep = placed(CHAIN + 1, &format!(",{}", on(CHAIN)));
    assert!(restore(&program, &deep).unwrap_err().contains("more than 50 conditions"));
    put(&mut program, deep.clone());
    assert_eq!(names(Err(check(&deep, &program))), ["conditional.field"]);
}

#[test]
fn an_update_changes_what_it_names_and_keeps_what_gives_answers_their_meaning() {
    let program = related();
    let before = program.fields.any(slug("FieldRad")).unwrap();
    assert_eq!(&updated(&program, "FieldRad", "{}").unwrap(), before);
    let restated = r#"{"type":"radio","form":"FormAAAA","tab":"TabAAAAA","options":["yes","no"],"translated":{}}"#;
    assert_eq!(&updated(&program, "FieldRad", restated).unwrap(), before, "bare options keep their labels and scores");
    let body = r#"{"required":true,"order":3,"protection":"maximum","tab":"TabElegi","options":["no","maybe","yes"]}"#;
    let after = updated(&program, "FieldRad", body).unwrap();
    assert_eq!((after.required, after.order, after.protection), (true, 3, Protection::Maximum));
    assert_eq!((after.tab, after.updated), (Some(slug("TabElegi")), later()));
    assert_eq!(after.options[0], before.options[1]);
    for (field, body, wrong) in [
        ("FieldRad", r#"{"type":"text"}"#, "type"),
        ("FieldRad", r#"{"form":"FormBBBB"}"#, "form"),
        ("FieldRad", r#"{"tab":"TabOther"}"#, "tab"),
        ("FieldRad", r#"{"tab":"TabContr"}"#, "tab"),
        ("FieldRad", r#"{"tab":"TabStart"}"#, "tab"),
        ("FieldRad", r#"{"currency":"EUR"}"#, "currency"),
        ("FieldRad", r#"{"options":[]}"#, "options"),
        ("FieldRad", r#"{"options":["no"]}"#, "options"),
        ("FieldNum", r#"{"currency":"USD"}"#, "currency"),
        ("FieldNum", r#"{"currency":null}"#, "currency"),
        ("FieldNum", r#"{"options":["a"]}"#, "options"),
        ("FieldRad", r#"{"resource":"users"}"#, "resource"),
    ] {
        assert_eq!(names(updated(&program, field, body)), [wrong], "{field} {body}");
    }
    updated(&program, "FieldNum", r#"{"currency":"EUR"}"#).unwrap();
}

#[test]
fn limits_are_changed_one_by_one() {
    let mut program = related();
    let body = with("textarea", r#","limits":{"minimum_words":2,"maximum_words":9,"maximum_characters":80}"#);
    let made = created(&program, &body).unwrap();
    assert_eq!((made.limits.minimum_words, made.limits.maximum_characters), (Some(2), Some(80)));
    put(&mut program, made);
    let limits = |body: &str| updated(&program, "FieldNew", &format!(r#"{{"limits":{body}}}"#));
    let after = limits(r#"{"maximum_words":2,"maximum_characters":null}"#).unwrap().limits;
    assert_eq!(after, Limits { minimum_words: Some(2), maximum_words: Some(2), ..Limits::default() });
    assert_eq!(names(limits(r#"{"maximum_words":1}"#)), ["limits.minimum_words"]);
    assert_eq!(names(limits(r#"{"minimum_words":10}"#)), ["limits.minimum_words"]);
    assert_eq!(limits("null").unwrap().limits, Limits::default());
}

#[test]
fn a_field_that_a_live_condition_names_cannot_be_trashed() {
    let mut program = related();
    assert!(trash(&program, slug("FieldRad")).unwrap_err().contains("FieldCon"));
    assert_eq!(trash(&program, slug("FieldCon")), Ok(()));
    let naming = program.fields.any(slug("FieldCon")).unwrap().clone();
    program.fields.insert(naming.slug, Record { value: naming, revision: 3, deleted: true });
    assert_eq!(trash(&program, slug("FieldRad")), Ok(()), "a trashed field has no say");
}

#[test]
fn a_field_comes_back_once_everything_it_stands_on_is_there() {
    let mut program = related();
    let trashed = field(
        "FieldZTT",
        r#""type":"text","form":"FormAAAA","tab":"TabGenrl","conditional":{"field":"FieldTTT","operator":"answered"}"#,
    );
    let missing = restore(&program, &trashed).unwrap_err();
    assert!(missing.contains("FieldTTT") && missing.ends_with("is in the trash."), "{missing}");
    let (tab, form) =
        (program.tabs.any(slug("TabGenrl")).unwrap().clone(), program.forms.any(slug("FormAAAA")).unwrap().clone());
    program.tabs.insert(tab.slug, Record { value: tab.clone(), revision: 2, deleted: true });
    program.forms.insert(form.slug, Record { value: form.clone(), revision: 2, deleted: true });
    let missing = restore(&program, &trashed).unwrap_err();
    assert!(["TabGenrl", "FormAAAA", "FieldTTT"].iter().all(|slug| missing.contains(slug)), "{missing}");
    program.tabs.insert(tab.slug, Record { value: tab, revision: 3, deleted: false });
    program.forms.insert(form.slug, Record { value: form, revision: 3, deleted: false });
    let named = program.fields.any(slug("FieldTTT")).unwrap().clone();
    program.fields.insert(named.slug, Record { value: named, revision: 2, deleted: false });
    assert_eq!(restore(&program, &trashed), Ok(()));
}

#[test]
fn answers_are_ordered_by_tab_then_field_then_slug() {
    let mut fields = [
        field("FieldAAA", r#""type":"text","resource":"users","tab":null"#),
        field("FieldBBB", r#""type":"text","tab":"TabBBBBB""#),
        field("FieldDDD", r#""type":"text","tab":"TabAAAAA","order":2"#),
        field("FieldCCC", r#""type":"text","tab":"TabAAAAA","order":2"#),
        field("FieldEEE", r#""type":"text","tab":"TabAAAAA","order":1"#),
    ];
    fields.sort_by_key(|field| rank(field, &tabs()));
    let slugs: Vec<String> = fields.iter().map(|field| field.slug.to_string()).collect();
    assert_eq!(slugs, ["FieldEEE", "FieldCCC", "FieldDDD", "FieldBBB", "FieldAAA"]);
}

#[test]
fn what_a_file_says_of_a_field_is_held_to_the_same() {
    let mut program = related();
    let wrong = |program: &Program, members: &str| {
        let violations = check(&field("FieldNew", members), program);
        violations.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    for (members, expected) in [
        (r#""type":"text","form":"FormBBBB""#, vec!["form"]),
        (r#""type":"text","tab":"TabContr""#, vec!["tab"]),
        (r#""type":"text","tab":"TabStart""#, vec!["tab"]),
        (r#""type":"text","resource":"users","tab":null"#, vec![]),
        (r#""type":"text","season":"SeasonBB""#, vec!["season"]),
        (r#""type":"radio""#, vec!["options"]),
        (r#""type":"table""#, vec!["columns"]),
        (r#""type":"date","minimum_words":1,"maximum_words":1"#, vec!["maximum_words", "minimum_words"]),
        (r#""type":"text","categories":["CategBBB"]"#, vec!["categories"]),
        (r#""type":"formula""#, vec![]),
    ] {
        assert_eq!(wrong(&program, members), expected, "{members}");
    }
    let condition = |members: &str| {
        field(
            "FieldNew",
            &format!(r#""type":"text","form":"FormAAAA","conditional":{{{members},"operator":"answered"}}"#),
        )
    };
    for (members, expected) in [
        (r#""field":"FieldRad""#, vec![]),
        // What is in the trash has no answer, and whether it could go there was asked of it.
        (r#""field":"FieldTTT""#, vec![]),
        (r#""field":"FieldOth""#, vec!["conditional.field"]),
        // There is no such field, which is told elsewhere.
        (r#""field":"NoSuchFi""#, vec![]),
    ] {
        put(&mut program, condition(members));
        let violations = check(&condition(members), &program);
        assert_eq!(violations.iter().map(|(name, _)| name).collect::<Vec<_>>(), expected, "{members}");
    }
    program
        .fields
        .insert(slug("FieldNew"), Record { value: condition(r#""field":"FieldOth""#), revision: 1, deleted: true });
    assert!(check(&condition(r#""field":"FieldOth""#), &program).is_empty(), "in the trash it is not judged");
}

/// Values for each member, right ones and wrong ones.
const VALUES: &[(&str, &[&str])] = &[
    (
        "type",
        &[
            r#""text""#,
            r#""textarea""#,
            r#""radio""#,
            r#""table""#,
            r#""currency""#,
            r#""file""#,
            r#""content""#,
            r#""formula""#,
            "1",
        ],
    ),
    ("tab", &[r#""TabAAAAA""#, r#""TabElegi""#, r#""TabContr""#, r#""TabOther""#, r#""TabStart""#, "null"]),
    ("form", &[r#""FormAAAA""#, r#""FormBBBB""#, "[]"]),
    (
        "translated",
        &[
            r#"{"title":{"en_GB":"Why"}}"#,
            r#"{"title":{"en_GB":"Why"},"hint_text":{"de_DE":"x"}}"#,
            r#"{"title":{"de_DE":"x"}}"#,
            "{}",
        ],
    ),
    ("currency", &[r#""EUR""#, r#""JPY""#, "null", r#""eur""#]),
    ("options", &[r#"["a","b"]"#, r#"[{"value":"a","label":{"en_GB":"A"},"score":1}]"#, "[]", r#"["a","a"]"#]),
    ("required", &["true", "false", "null"]),
    (
        "conditional",
        &[
            "null",
            r#"{"field":"FieldRad","operator":"equals","value":"yes"}"#,
            r#"{"field":"FieldPpl","operator":"answered"}"#,
            r#"{"field":"FieldNum","operator":"at_least","value":5}"#,
            r#"{"field":"FieldNum"}"#,
            "[]",
        ],
    ),
    (
        "limits",
        &[
            "null",
            r#"{"minimum_words":1}"#,
            r#"{"minimum_words":3,"maximum_words":2}"#,
            r#"{"maximum_characters":null}"#,
            "5",
        ],
    ),
    ("order", &["0", "5", "-1", "1.5"]),
    ("categories", &[r#"["*"]"#, r#"["CategAAA"]"#, r#"["CategBBB"]"#, "[]", r#""*""#]),
    ("protection", &[r#""elevated""#, r#""none""#]),
    ("columns", &[r#"[{"key":"A"},{"key":"B","label":{"en_GB":"b"}}]"#, "[]", r#"[{"key":"1"}]"#]),
    ("file_types", &[r#"["pdf"]"#, "[]", r#"["a b"]"#]),
    ("max_file_size", &["10", "null", "0"]),
    ("unknown", &["1"]),
];

/// Bodies with some of these members; early values, which are the right ones, come more often.
fn bodies() -> impl Strategy<Value = JsonObject<'static>> {
    let member = |(name, values): &'static (&str, &[&str])| {
        (0..4_usize, 0..values.len(), any::<bool>()).prop_map(move |(chance, index, is_early)| {
            let is_there = chance == 0 || (["type", "tab", "translated"].contains(name) && chance < 3);
            let index = if is_early { 0 } else { index };
            (is_there && *name != "unknown" || chance == 0 && index == 0 && *name == "unknown" && !is_early)
                .then(|| (Cow::Borrowed(*name), parse_value(values[index].as_bytes()).unwrap()))
        })
    };
    VALUES
        .iter()
        .map(member)
        .collect::<Vec<_>>()
        .prop_map(|members| JsonObject::of_distinct(members.into_iter().flatten()))
}

proptest! {
    #[test]
    fn what_the_interface_makes_is_what_a_file_may_say(body in bodies(), change in bodies()) {
        let mut program = related();
        let Ok(made) = create(&program, slug("FieldNew"), read(&body, true, &context()), later()) else { return Ok(()) };
        put(&mut program, made.clone());
        prop_assert_eq!(check(&made, &program), Violations::default());
        let stored = store::stored(&made);
        prop_assert_eq!(&store::parse::<Field>(&stored, &context()).unwrap(), &made);
        document::object(|object| made.write(object));
        let Ok(after) = update(&program, &made, read(&change, false, &context()), later()) else { return Ok(()) };
        put(&mut program, after.clone());
        prop_assert_eq!(check(&after, &program), Violations::default());
        prop_assert_eq!((after.kind, form_of(&after, &program), after.currency), (made.kind, form_of(&made, &program), made.currency));
        let again = update(&program, &after, read(&change, false, &context()), Timestamp::from_seconds(3_000));
        prop_assert_eq!(again, Ok(after), "the same again changes nothing");
    }

    #[test]
    fn no_sequence_of_updates_makes_a_circle_of_conditions(pairs in proptest::collection::vec((0..4_usize, 0..4_usize), 0..12)) {
        let mut program = related();
        let name = |at: usize| format!("FieldRo{}", char::from(b'a' + u8::try_from(at).unwrap()));
        for at in 0..4 {
            put(&mut program, field(&name(at), r#""type":"text","form":"FormAAAA""#));
        }
        let answer = Json::String("x".into());
        for (of, on) in pairs {
            let body = format!(r#"{{"conditional":{{"field":"{}","operator":"answered"}}}}"#, name(on));
            if let Ok(changed) = updated(&program, &name(of), &body) {
                put(&mut program, changed);
            }
            // Everything is shown where everything is answered, which a circle would not be.
            let mut shown = super::super::ShownFields::of(&program, |_| Some(&answer));
            for at in 0..4 {
                let field = program.fields.any(slug(&name(at))).unwrap();
                prop_assert!(shown.is_shown(field));
                prop_assert_eq!(check(field, &program), Violations::default());
            }
        }
    }
}
