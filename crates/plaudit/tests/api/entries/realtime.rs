//! `PutEntryUpdateTitleV23`, `PutEntryUpdateFieldV23`, `PutEntryUpdateCategoryV23`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, JSON, Server};

async fn put(server: &Server, what: &str, body: Value) -> Answer {
    server.put(&format!("/entry/EntryOne/{what}"), &body.to_string()).await
}

/// What an entry shows as the answer to a field: the value, or the cells of a table.
fn answer(entry: &Value, field: &str) -> Option<Value> {
    let answers = entry["entry_fields"].as_array().unwrap();
    let found = answers.iter().find(|answer| answer["slug"] == field)?;
    Some(found.get("values").unwrap_or(&found["value"]).clone())
}

/// The titles that lines of orders show of their entries.
async fn titles_in_orders(server: &Server) -> Vec<String> {
    let orders = server.get("/order?order=invoice_number&per_page=100").await.expect(200).json();
    let lines = orders["data"].as_array().unwrap().iter().flat_map(|order| order["items_array"].as_array().unwrap());
    lines.map(|line| line["entry"]["title"].as_str().unwrap_or("none").to_owned()).collect()
}

both_engines! {
    async fn each_changes_one_thing_and_answers_the_whole_entry(server) {
        server
            .import(&of_account_a(
                r#"{"kind":"category","slug":"CategNew","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"New"},"status":"active"}"#,
            ))
            .await;
        for (what, body, path, event) in [
            ("update-title", json!({"title": "Other"}), "/title", ""),
            ("update-field/FieldTxt", json!({"value": "Other"}), "/entry_fields", ",field_value_updated"),
            ("update-category", json!({"category": "CategNew"}), "/category", ",entry_category_changed"),
        ] {
            let mut before = server.get("/entry/EntryOne").await.json();
            let changes = server.changes("AccountA").await.len();
            let answer = put(&server, what, body.clone()).await.expect(200);
            let mut after = answer.json();
            assert_eq!(server.get("/entry/EntryOne").await.text(), answer.text());
            assert_ne!(after.pointer(path), before.pointer(path), "{what}");
            for shown in [&mut before, &mut after] {
                for path in [path, "/updated", "/parent_category"] {
                    *shown.pointer_mut(path).unwrap() = Value::Null;
                }
            }
            assert_eq!(after, before, "{what} changes nothing else");
            let mut told = server.changes("AccountA").await.split_off(changes);
            told.retain(|change| change.starts_with("entry "));
            assert_eq!(told, [format!("entry EntryOne updated entry_updated{event}")]);
            let again = put(&server, what, body).await.expect(200);
            assert_eq!(again.header("etag"), answer.header("etag"), "{what} twice changes nothing");
        }
    }

    async fn a_new_title_stands_in_the_orders_of_the_entry(server) {
        let before = titles_in_orders(&server).await;
        let first = "First <entry> & \"more\"";
        assert!(before.iter().any(|title| title == first));
        let title = "A \"title\"} é <b>";
        put(&server, "update-title", json!({"title": title})).await.expect(200);
        let expected: Vec<String> =
            before.into_iter().map(|old| if old == first { title.to_owned() } else { old }).collect();
        assert_eq!(titles_in_orders(&server).await, expected);
        let exported = server.export("AccountA").await;
        let changes = server.changes("AccountA").await;
        assert!(server.try_import(&exported).await.is_empty());
        assert_eq!(titles_in_orders(&server).await, expected);
        assert_eq!(server.changes("AccountA").await, changes, "an import makes the same documents");
    }

    async fn answers_of_every_kind_are_given_and_taken_back(server) {
        for (field, value, shown) in [
            ("FieldTxt", json!("text"), Some(json!("text"))),
            ("FieldTxt", json!(""), None),
            ("FieldRad", json!("no"), Some(json!("no"))),
            ("FieldRad", Value::Null, None),
            ("FieldTab", json!({"A1": "", "B2": "new"}), Some(json!({"B1": "12", "A2": "Ink", "B2": "new"}))),
            ("FieldCon", json!("https://example.org/x"), Some(json!("https://example.org/x"))),
        ] {
            let after = put(&server, &format!("update-field/{field}"), json!({"value": value})).await.expect(200).json();
            assert_eq!(answer(&after, field), shown, "{field}");
        }
    }

    async fn an_answer_that_is_none_is_refused_under_its_field(server) {
        for (field, value) in [
            ("FieldTxt", json!(1)),
            ("FieldRad", json!("maybe")),
            ("FieldTab", json!({"C1": "x"})),
            ("FieldCon", json!("http://example.org")),
            ("FieldFil", json!("TokenOfTheLogoFileOfAllX")),
            ("FieldCtr", json!("Author")),
        ] {
            for format in FORMATS {
                let path = format!("/entry/EntryOne/update-field/{field}");
                let body = json!({"value": value}).to_string();
                let refused = server.put_with(&path, &body, &[("accept", format)]).await.expect(422);
                assert_eq!(error_names(&refused, format).unwrap(), [format!("entry_fields.{field}")]);
            }
        }
        let empty = put(&server, "update-field/FieldTxt", json!({})).await.expect(422);
        assert_eq!(error_names(&empty, JSON).unwrap(), ["value"]);
        put(&server, "update-field/NoSuchFi", json!({"value": 1})).await.expect(404);
        put(&server, "update-field/Field1", json!({"value": 1})).await.expect(400);
        server.delete("/field/FieldTab").await.expect(204);
        put(&server, "update-field/FieldTab", json!({"value": {}})).await.expect(404);
    }

    async fn a_trashed_field_hides_its_answer_and_loses_nothing(server) {
        server.delete("/field/FieldTab").await.expect(204);
        let after = put(&server, "update-field/FieldTxt", json!({"value": "x"})).await.expect(200).json();
        assert_eq!(answer(&after, "FieldTab"), None);
        server.send(server.request("POST", "/field/FieldTab/restore", &[], None)).await.expect(204);
        let after = server.get("/entry/EntryOne").await.expect(200).json();
        assert_eq!(answer(&after, "FieldTab"), Some(json!({"A1": "Paper", "B1": "12", "A2": "Ink"})));
    }

    async fn titles_and_categories_that_are_none_are_refused(server) {
        for (what, body, name) in [
            ("update-title", json!({}), "title"),
            ("update-title", json!({"title": " "}), "title"),
            ("update-title", json!({"title": "x".repeat(256)}), "title"),
            ("update-title", json!({"title": null}), "title"),
            ("update-category", json!({}), "category"),
            ("update-category", json!({"category": "CategOld"}), "category"),
            ("update-category", json!({"category": "NoSuchCa"}), "category"),
            ("update-category", json!({"category": "BCategor"}), "category"),
        ] {
            for format in FORMATS {
                let path = format!("/entry/EntryOne/{what}");
                let refused = server.put_with(&path, &body.to_string(), &[("accept", format)]).await.expect(422);
                let mut names = error_names(&refused, format).unwrap();
                names.dedup();
                assert_eq!(names, [name], "{what} {body}");
            }
        }
        put(&server, "update-title", json!({"title": "😀".repeat(255)})).await.expect(200);
        for what in ["update-title", "update-category", "update-field/FieldTxt"] {
            server.put(&format!("/entry/NoSuchEn/{what}"), "{}").await.expect(404);
            server.put(&format!("/entry/BEntryOn/{what}"), "{}").await.expect(404);
            server.put(&format!("/entry/EntryOne/{what}"), "").await.expect(400);
        }
    }

    async fn each_obeys_if_match(server) {
        for (what, body) in [
            ("update-title", json!({"title": "Other"})),
            ("update-field/FieldTxt", json!({"value": "Other"})),
            ("update-category", json!({"category": "CategPar"})),
        ] {
            let tag = server.get("/entry/EntryOne").await.header("etag").unwrap().to_owned();
            let path = format!("/entry/EntryOne/{what}");
            let text = body.to_string();
            server.put_with(&path, &text, &[("if-match", "\"1.1.json\"")]).await.expect(412);
            server.put_with(&path, &text, &[("if-match", &tag)]).await.expect(200);
        }
    }
}
