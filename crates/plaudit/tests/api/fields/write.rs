//! `PostFieldV23`, `PutFieldV23` and `GetFieldV23`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::{BASE, JSON, NOW, Server, XML, tree};

/// The body of a new field of this type.
fn body(kind: &str) -> Value {
    json!({"type": kind, "tab": "TabGener", "translated": {"title": {"en_GB": "Why & how"}}})
}

/// The same with more members.
fn with(kind: &str, members: Value) -> Value {
    let mut body = body(kind);
    let Value::Object(members) = members else { panic!("{members} is no object") };
    body.as_object_mut().unwrap().extend(members);
    body
}

async fn create(server: &Server, body: &Value) -> Value {
    server.post("/field", &body.to_string()).await.expect(201).json()
}

fn reference(kind: &str, slug: &str, name: &str) -> Value {
    json!({"slug": slug, "link": format!("{BASE}/{kind}/{slug}"), "name": {"en_GB": name}})
}

/// A field as it is shown that says the least.
fn plain(slug: &str) -> Value {
    json!({
        "applicant_read_access": true,
        "applicant_write_access": true,
        "auto_scoring": 0,
        "categories": ["*"],
        "category_count": "all",
        "conditional_field": null,
        "created": NOW,
        "file_types": [],
        "form": reference("form", "FormEntr", "Entry form"),
        "help_text": {"en_GB": ""},
        "hint_text": {"en_GB": ""},
        "label": {"en_GB": "Why &amp; how"},
        "max_file_size": null,
        "maximum_characters": null,
        "maximum_words": null,
        "minimum_characters": null,
        "minimum_words": null,
        "options": [],
        "order": 6,
        "protection": "standard",
        "registration": null,
        "required": false,
        "resource": "entries",
        "searchable": false,
        "season": reference("season", "SeasonAc", "Season 2026"),
        "slug": slug,
        "tab": {
            "slug": "TabGener", "type": "General",
            "created_at": "2025-01-01T00:00:00.000000Z", "updated_at": "2025-01-02T00:00:00.000000Z"
        },
        "title": {"en_GB": "Why & how"},
        "type": "text",
        "updated": NOW,
        "visibility": []
    })
}

both_engines! {
    async fn a_new_field_is_shown_with_every_member_in_order_and_has_an_address(server) {
        let (changes, version) = (server.changes("AccountA").await.len(), server.version("AccountA").await);
        let answer = server.post("/field", &body("text").to_string()).await.expect(201);
        let shown = answer.json();
        let slug = shown["slug"].as_str().unwrap();
        assert_eq!(answer.text(), plain(slug).to_string());
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/field/{slug}"));
        let read = server.get(&format!("/field/{slug}")).await.expect(200);
        assert_eq!((&read.body, read.header("etag")), (&answer.body, answer.header("etag")));
        assert_eq!(server.changes("AccountA").await[changes..], [format!("field {slug} created")]);
        assert_ne!(server.version("AccountA").await, version);
        let tag = [("if-none-match", answer.header("etag").unwrap())];
        server.get_with(&format!("/field/{slug}"), &tag).await.expect(304);
    }

    async fn the_xml_of_a_field_is_the_tree_of_its_json(server) {
        let members = json!({
            "options": ["a<b", {"value": "c", "label": {"de_DE": "C"}}], "categories": ["CategPar", "CategChi"],
            "conditional": {"field": "FieldRad", "operator": "equals", "value": "yes"}, "protection": "maximum",
        });
        let slug = create(&server, &with("checkboxlist", members)).await["slug"].as_str().unwrap().to_owned();
        for path in [format!("/field/{slug}"), "/field/FieldTxt".to_owned(), "/field?season=all".to_owned()] {
            for language in ["", "all", "de_DE"] {
                let headers = |format| [("accept", format), ("x-api-language", language)];
                let json = server.get_with(&path, &headers(JSON)).await.expect(200);
                let xml = server.get_with(&path, &headers(XML)).await.expect(200);
                tree::assert_same(&json.body, &xml.body);
            }
        }
        let made = server.post_with("/field", &body("text").to_string(), &[("accept", XML)]).await.expect(201);
        assert!(made.header("location").is_some() && made.text().contains("<category_count>all</category_count>"));
    }

    async fn every_member_that_is_written_is_shown(server) {
        let shown = create(&server, &with("checkboxlist", json!({
            "form": "FormEntr",
            "translated": {
                "title": {"en_GB": "Which", "de_DE": "Welche"}, "help_text": {"en_GB": "<p>Help</p>"},
                "hint_text": {"ar_AR": "تلميح"},
            },
            "options": ["a", {"value": "b", "label": {"en_GB": "B"}, "score": 2}],
            "required": true,
            "conditional": {"field": "FieldRad", "operator": "one_of", "value": ["yes", "no"]},
            "order": 17,
            "categories": ["CategChi"],
            "protection": "elevated",
        }))).await;
        let path = format!("/field/{}", shown["slug"].as_str().unwrap());
        let all = server.get_with(&path, &[("x-api-language", "all")]).await.expect(200).json();
        assert_eq!(all["title"], json!({"en_GB": "Which", "de_DE": "Welche", "ar_AR": ""}));
        assert_eq!(all["hint_text"]["ar_AR"], "تلميح");
        assert_eq!(all["help_text"]["en_GB"], "<p>Help</p>");
        assert_eq!(all["options"], json!(["a", "b"]));
        assert_eq!(shown["conditional_field"], reference("field", "FieldRad", "Published"));
        assert_eq!((&shown["categories"], &shown["category_count"]), (&json!(["CategChi"]), &json!(1)));
        assert_eq!((&shown["order"], &shown["required"], &shown["protection"]), (&json!(17), &json!(true), &json!("elevated")));
        let text = create(&server, &with("textarea", json!({
            "limits": {"minimum_words": 1, "maximum_words": 20, "minimum_characters": null, "maximum_characters": 300},
        }))).await;
        let limits = ["minimum_words", "maximum_words", "minimum_characters", "maximum_characters"];
        assert_eq!(limits.map(|name| text[name].clone()), [json!(1), json!(20), json!(null), json!(300)]);
        let file = create(&server, &with("file", json!({"file_types": ["PDF", "image/*"], "max_file_size": 1000}))).await;
        assert_eq!((&file["file_types"], &file["max_file_size"]), (&json!(["pdf", "image/*"]), &json!(1000)));
        create(&server, &with("currency", json!({"currency": "JPY"}))).await;
        create(&server, &with("table", json!({"columns": [{"key": "A", "label": {"en_GB": "Year"}}, {"key": "B"}]}))).await;
    }

    async fn the_tab_decides_what_is_asked_about(server) {
        for (tab, resource) in [("TabGener", "entries"), ("TabContr", "contributors"), ("TabAttac", "attachments")] {
            let shown = create(&server, &with("text", json!({"tab": tab}))).await;
            assert_eq!(shown["resource"], resource);
        }
    }

    async fn a_body_reports_every_violation_at_once(server) {
        let body = json!({
            "type": "text", "tab": "BTabGene", "form": "BFormEnt", "translated": {"title": {"de_DE": "Warum"}},
            "currency": "EUR", "options": ["a"], "conditional": {"field": "BFieldTx", "operator": "answered"},
            "categories": ["BCategor"], "limits": {"minimum_words": 2, "maximum_words": 1}, "label": {}, "slug": "FieldNew",
        });
        let expected = [
            "categories", "conditional.field", "currency", "form", "label", "limits.minimum_words", "options", "slug",
            "tab", "translated.title",
        ];
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            let answer = server.post_with("/field", &body.to_string(), &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, expected);
            let update = json!({"type": "url", "form": "BFormEnt", "options": "a", "order": 0.5, "conditional": 1, "x": 1});
            let answer = server.put_with("/field/FieldTxt", &update.to_string(), &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, ["conditional", "form", "options", "order", "type", "x"]);
        }
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn an_update_changes_what_it_names_alone(server) {
        let before = server.get("/field/FieldTxt").await.expect(200).json();
        let same = server.put("/field/FieldTxt", "{}").await.expect(200);
        assert_eq!(same.json(), before);
        let changes = server.changes("AccountA").await.len();
        server.clock.advance(60);
        let body = json!({"translated": {"title": {"ar_AR": "ملخص"}}, "required": true, "limits": {"maximum_words": 9}});
        let after = server.put_with("/field/FieldTxt", &body.to_string(), &[("x-api-language", "all")]).await.expect(200);
        let after = after.json();
        assert_eq!(after["title"], json!({"en_GB": "Abstract", "de_DE": "Kurzfassung", "ar_AR": "ملخص"}));
        assert_eq!((&after["required"], &after["maximum_words"]), (&json!(true), &json!(9)));
        assert_eq!((&after["updated"], &after["created"]), (&json!("2026-01-31T12:01:00.000000Z"), &before["created"]));
        assert_eq!((&after["order"], &after["tab"], &after["label"]["en_GB"]), (&before["order"], &before["tab"], &before["label"]["en_GB"]));
        assert_eq!(server.changes("AccountA").await[changes..], ["field FieldTxt updated"]);
        server.put("/field/FieldTxt", &body.to_string()).await.expect(200);
        assert_eq!(server.changes("AccountA").await.len(), changes + 1, "the same again is no change");
    }

    async fn an_update_is_shown_with_every_answer_at_once(server) {
        let title = json!({"translated": {"title": {"en_GB": "Summary"}}});
        server.put("/field/FieldTxt", &title.to_string()).await.expect(200);
        let entry = server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterN"}"#).await.expect(200).json();
        assert_eq!(entry["entry_fields"][0]["title"], json!({"en_GB": "Summary"}));
    }

    async fn an_update_obeys_if_match(server) {
        let tag = server.get("/field/FieldTxt").await.expect(200).header("etag").unwrap().to_owned();
        let put = async |tag: &str, body: &str| server.put_with("/field/FieldTxt", body, &[("if-match", tag)]).await.status;
        assert_eq!(put("\"1.1.j\"", r#"{"order":9}"#).await, 412);
        assert_eq!(put("\"1.1.j\"", r#"{"order":"x"}"#).await, 422);
        assert_eq!(put(&tag, r#"{"order":9}"#).await, 200);
        assert_eq!(put(&tag, r#"{"order":10}"#).await, 412);
    }

    async fn a_condition_makes_no_circle_and_can_be_taken_away(server) {
        let condition = |field: &str, operator: &str, value: Value| {
            json!({"conditional": {"field": field, "operator": operator, "value": value}}).to_string()
        };
        for wrong in [
            condition("FieldCon", "answered", Value::Null),
            condition("FieldRad", "answered", Value::Null),
            condition("FieldCtr", "answered", Value::Null),
            condition("NoSuchFi", "answered", Value::Null),
        ] {
            let answer = server.put("/field/FieldRad", &wrong).await.expect(422);
            assert_eq!(error_names(&answer, JSON).unwrap(), ["conditional.field"], "{wrong}");
        }
        let answer = server.put("/field/FieldRad", r#"{"options":["no"]}"#).await.expect(422);
        assert_eq!(error_names(&answer, JSON).unwrap(), ["options"], "a condition compares with the other option");
        let shown = server.put("/field/FieldCon", r#"{"conditional":null}"#).await.expect(200).json();
        assert_eq!(shown["conditional_field"], Value::Null);
        let shown = server.put("/field/FieldRad", &condition("FieldCon", "contains", json!("example"))).await.expect(200);
        assert_eq!(shown.json()["conditional_field"]["slug"], "FieldCon");
        server.delete("/field/FieldRad").await.expect(204);
    }

    async fn a_field_that_is_unknown_trashed_or_foreign_is_404(server) {
        server.delete("/field/FieldTxt").await.expect(204);
        for format in FORMATS {
            let headers = [("accept", format)];
            let unknown = server.get_with("/field/NoSuchFi", &headers).await.expect(404);
            let unchanged = server.put_with("/field/NoSuchFi", r#"{"order":"x"}"#, &headers).await.expect(404);
            for slug in ["FieldTxt", "BFieldTx", "TabGener"] {
                let path = format!("/field/{slug}");
                assert_eq!(server.get_with(&path, &headers).await.expect(404).body, unknown.body);
                let answer = server.put_with(&path, r#"{"order":"x"}"#, &headers).await.expect(404);
                assert_eq!(answer.body, unchanged.body);
            }
            server.get_with("/field/Field1", &headers).await.expect(400);
            server.put_with("/field/Field1", "{}", &headers).await.expect(400);
        }
    }

    async fn a_key_that_only_reads_reads_fields_and_writes_none(server) {
        let key = server.new_key("AccountA", plaudit::program::keys::Scope::Read).await;
        let headers = [("x-api-key", key.as_str())];
        server.get_with("/field", &headers).await.expect(200);
        server.get_with("/field/FieldTxt", &headers).await.expect(200);
        server.post_with("/field", &body("text").to_string(), &headers).await.expect(403);
        server.put_with("/field/FieldTxt", "{}", &headers).await.expect(403);
        server.post_with("/field/FieldTxt/restore", "", &headers).await.expect(403);
    }

    async fn a_field_of_an_idempotency_key_is_made_once(server) {
        let changes = server.changes("AccountA").await.len();
        let headers = [("idempotency-key", "once")];
        let first = server.post_with("/field", &body("text").to_string(), &headers).await.expect(201);
        let second = server.post_with("/field", &body("text").to_string(), &headers).await.expect(201);
        assert_eq!((&first.body, first.header("location")), (&second.body, second.header("location")));
        assert_eq!(server.changes("AccountA").await.len(), changes + 1);
    }
}
