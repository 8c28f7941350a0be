//! `DeleteFieldV23`, `PostFieldRestoreV23`; the other operations of fields are in the modules below.

mod list;
mod write;

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names, message};
use crate::harness::fixture::of_account_a;
use crate::harness::{JSON, Server};

/// The slugs of the answers in a list of them.
fn slugs(answers: &Value) -> Vec<&str> {
    answers.as_array().unwrap().iter().map(|answer| answer["slug"].as_str().unwrap()).collect()
}

/// The first entry, as an update that changes nothing answers.
async fn entry(server: &Server) -> Value {
    server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterN"}"#).await.expect(200).json()
}

both_engines! {
    async fn a_deleted_field_is_gone(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.delete("/field/FieldTxt").await.expect(204);
        assert!(answer.body.is_empty() && answer.header("content-type").is_none() && answer.header("etag").is_none());
        for format in FORMATS {
            server.delete_with("/field/FieldTxt", &[("accept", format)]).await.expect(404);
        }
        assert_eq!(server.changes("AccountA").await[changes..], ["field FieldTxt trashed"]);
    }

    async fn a_deleted_field_hides_its_answers_and_loses_none_of_them(server) {
        assert_eq!(slugs(&entry(&server).await["entry_fields"]), ["FieldTxt", "FieldTab", "FieldFil", "FieldRad"]);
        let before = server.stored_entry("AccountA", "EntryOne").await;
        for (index, field) in ["FieldTxt", "FieldTab", "FieldFil"].into_iter().enumerate() {
            server.delete(&format!("/field/{field}")).await.expect(204);
            let left = ["FieldTab", "FieldFil", "FieldRad"];
            assert_eq!(slugs(&entry(&server).await["entry_fields"]), left[index..]);
        }
        let after = server.stored_entry("AccountA", "EntryOne").await;
        assert_eq!(after.1, before.1);
        assert!(after.1.contains("An abstract") && after.1.contains("Paper"), "{}", after.1);
    }

    async fn a_deleted_field_hides_its_answers_of_contributors_and_attachments(server) {
        let shown = entry(&server).await;
        assert_eq!(slugs(&shown["contributors"][0]["contributor_fields"]), ["FieldCtr"]);
        assert_eq!(slugs(&shown["attachments"][0]["attachment_fields"]), ["FieldAtt"]);
        server.delete("/field/FieldCtr").await.expect(204);
        server.delete("/field/FieldAtt").await.expect(204);
        let shown = entry(&server).await;
        assert_eq!(shown["contributors"][0]["contributor_fields"], json!([]));
        assert_eq!(shown["attachments"][0]["attachment_fields"], json!([]));
        assert_eq!(shown["contributor_count"], 1);
    }

    async fn a_field_that_a_live_condition_names_stays(server) {
        let changes = server.changes("AccountA").await.len();
        for format in FORMATS {
            let answer = server.delete_with("/field/FieldRad", &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&answer, format), None, "a state has no errors map");
        }
        assert_eq!(server.changes("AccountA").await.len(), changes);
        assert!(slugs(&entry(&server).await["entry_fields"]).contains(&"FieldRad"));
        server.delete("/field/FieldCon").await.expect(204);
        server.delete("/field/FieldRad").await.expect(204);
        server.delete("/field/FieldRad").await.expect(404);
    }

    async fn a_field_whose_condition_compares_with_an_option_that_went_meanwhile_stays_in_the_trash(server) {
        server.delete("/field/FieldCon").await.expect(204);
        server.put("/field/FieldRad", r#"{"options":["no"]}"#).await.expect(200);
        for format in FORMATS {
            let answer = server.post_with("/field/FieldCon/restore", "", &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&answer, format), None, "a state has no errors map");
            assert!(message(&answer, format).contains("its condition compares the field FieldRad (Published)"), "{}", answer.text());
        }
        // What is checked of all records still holds.
        server.import(&of_account_a("")).await;
        server.put("/field/FieldRad", r#"{"options":["no","yes"]}"#).await.expect(200);
        server.post("/field/FieldCon/restore", "").await.expect(204);
    }

    async fn a_file_that_nobody_can_upload_is_not_required(server) {
        let body = |required: bool| {
            json!({"type": "file", "tab": "TabContr", "required": required, "translated": {"title": {"en_GB": "Photo"}}}).to_string()
        };
        let answer = server.post("/field", &body(true)).await.expect(422);
        assert_eq!(error_names(&answer, JSON).unwrap(), ["required"]);
        let made = server.post("/field", &body(false)).await.expect(201).json();
        let path = format!("/field/{}", made["slug"].as_str().unwrap());
        assert_eq!(error_names(&server.put(&path, r#"{"required":true}"#).await.expect(422), JSON).unwrap(), ["required"]);
        // A file may say so; then it is not asked for.
        server.import(&of_account_a(r#"{"kind":"field","slug":"FieldCtF","form":"FormEntr","tab":"TabContr","resource":"contributors","type":"file","required":true,"title":{"en_GB":"Photo"}}
{"kind":"round","slug":"RoundEnt","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Entries"},"type":"entry","end_date":"2026-02-28 12:00:00"}"#)).await;
        server.put("/field/FieldCtF", r#"{"required":true}"#).await.expect(200);
        server.post("/contributor", r#"{"entry":"EntryTwo","tab":"TabContr"}"#).await.expect(201);
        server.put("/entry/EntryTwo", r#"{"status":"submitted"}"#).await.expect(200);
    }

    async fn a_deletion_obeys_if_match(server) {
        server.delete_with("/field/FieldTxt", &[("if-match", "\"1.1.j\"")]).await.expect(412);
        server.delete_with("/field/FieldRad", &[("if-match", "\"1.1.j\"")]).await.expect(422);
        server.delete_with("/field/FieldTxt", &[("if-match", "*")]).await.expect(204);
    }

    async fn a_deletion_takes_the_languages_that_the_account_has(server) {
        server.delete_with("/field/FieldTxt", &[("x-api-language", "fr_FR")]).await.expect(400);
        server.delete_with("/field/FieldTxt", &[("x-api-language", "de_DE")]).await.expect(204);
        assert_eq!(error_names(&server.delete("/field/FieldTxt").await.expect(404), JSON), None);
    }

    async fn a_restored_field_brings_its_answers_back(server) {
        let before = entry(&server).await;
        let field = server.get("/field/FieldTxt").await.expect(200);
        server.delete("/field/FieldTxt").await.expect(204);
        assert!(!slugs(&entry(&server).await["entry_fields"]).contains(&"FieldTxt"));
        let changes = server.changes("AccountA").await.len();
        let answer = server.send(server.request("POST", "/field/FieldTxt/restore", &[], None)).await.expect(204);
        assert!(answer.body.is_empty() && answer.header("content-type").is_none());
        assert_eq!(server.changes("AccountA").await[changes..], ["field FieldTxt restored"]);
        assert_eq!(entry(&server).await, before);
        assert_eq!(server.get("/field/FieldTxt").await.expect(200).body, field.body);
        server.delete("/field/FieldTxt").await.expect(204);
    }

    async fn a_field_is_restored_only_from_the_trash_and_only_when_what_it_stands_on_is_there(server) {
        for format in FORMATS {
            let headers = [("accept", format)];
            let refused = async |path: &str, status: u16| {
                let answer = server.send(server.request("POST", path, &headers, None)).await.expect(status);
                assert_eq!(error_names(&answer, format), None, "a state has no errors map");
                answer
            };
            refused("/field/FieldTxt/restore", 422).await;
            let unknown = refused("/field/NoSuchFi/restore", 404).await;
            assert_eq!(refused("/field/BFieldTx/restore", 404).await.body, unknown.body);
            refused("/field/Field/restore", 400).await;
        }
        server.delete("/field/FieldCon").await.expect(204);
        server.delete("/field/FieldRad").await.expect(204);
        let restore = async |slug: &str, tag: &str| {
            let path = format!("/field/{slug}/restore");
            server.send(server.request("POST", &path, &[("if-match", tag)], None)).await
        };
        let answer = restore("FieldCon", "*").await.expect(422);
        assert!(answer.text().contains("FieldRad"), "{}", answer.text());
        restore("FieldRad", "\"1.1.j\"").await.expect(412);
        restore("FieldRad", "*").await.expect(204);
        restore("FieldCon", "").await.expect(204);
        server.get("/field/FieldCon").await.expect(200);
        server.delete("/field/FieldAtt").await.expect(204);
        server.import(&of_account_a(
            r#"{"kind":"tab","slug":"TabAttac","form":"FormEntr","type":"Attachments","order":3,"deleted":true}"#,
        ))
        .await;
        let answer = restore("FieldAtt", "").await.expect(422);
        assert!(answer.text().contains("TabAttac"), "{}", answer.text());
    }
}
