//! The set-up whose rules are held to: small, and each member of it is there because a rule looks at it.

use serde_json::{Value, json};

use super::model::{ACCOUNT, CATEGORIES, CHAPTERS, SEASON, USERS};

/// The program file of the set-up.
pub(crate) fn lines() -> String {
    let name = json!({"en_GB": "Name"});
    let mut records = vec![
        json!({"kind": "account", "slug": ACCOUNT, "name": "Rules", "default_language": "en_GB", "languages": ["en_GB"],
               "timezone": "America/St_Johns", "features": ["api"], "rate_limit": 1_000_000}),
        json!({"kind": "season", "slug": SEASON, "name": name, "status": "active"}),
        json!({"kind": "form", "slug": "FormAAAA", "season": SEASON, "name": name, "type": "entry", "minimum_auto_score": 5}),
        json!({"kind": "form", "slug": "FormBBBB", "season": SEASON, "name": name, "type": "entry"}),
        json!({"kind": "tab", "slug": "TabAAAAA", "form": "FormAAAA", "type": "General"}),
        json!({"kind": "round", "slug": "RoundAAA", "season": SEASON, "form": "FormAAAA", "name": name, "type": "entry",
               "start_date": "2020-01-01 00:00:00", "end_date": null}),
        json!({"kind": "round", "slug": "RoundBBB", "season": SEASON, "form": "FormBBBB", "name": name, "type": "entry",
               "start_date": null, "end_date": "2020-01-01 00:00:00"}),
    ];
    for chapter in CHAPTERS {
        let status = if *chapter == "ChapterX" { "inactive" } else { "active" };
        records.push(json!({"kind": "chapter", "slug": chapter, "season": SEASON, "name": name, "status": status,
                            "created": "2025-01-01T00:00:00.000000Z"}));
    }
    for category in CATEGORIES {
        let chapters: Vec<&str> = category.only.into_iter().collect();
        records.push(json!({
            "kind": "category", "slug": category.slug, "season": SEASON, "name": name,
            "form": if category.has_form { "FormAAAA" } else { "FormBBBB" }, "chapters": chapters,
            "status": if category.slug == "CategOff" { "inactive" } else { "active" },
            "locked": category.slug == "CategLck", "divisions": category.divisions, "entrant_max_entries": category.most,
        }));
    }
    let field = |slug: &str, kind: &str, more: Value| {
        let mut field = json!({"kind": "field", "slug": slug, "form": "FormAAAA", "tab": "TabAAAAA", "resource": "entries",
                               "type": kind, "title": name});
        if let (Some(field), Value::Object(more)) = (field.as_object_mut(), more) {
            field.extend(more);
        }
        field
    };
    records.extend([
        field("FieldTxt", "text", json!({"required": true, "maximum_words": 2})),
        field(
            "FieldRad",
            "radio",
            json!({"auto_scoring": 5, "options": [{"value": "a", "score": 5}, {"value": "b", "score": 1}]}),
        ),
        field(
            "FieldUrl",
            "url",
            json!({"required": true, "auto_scoring": 2,
              "conditional": {"field": "FieldRad", "operator": "equals", "value": "b"}}),
        ),
        field("FieldTab", "table", json!({"columns": [{"key": "A"}, {"key": "B"}]})),
    ]);
    for user in USERS {
        records.push(json!({"kind": "user", "slug": user, "first_name": user, "last_name": "Name"}));
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n")
}
