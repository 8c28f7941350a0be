//! `DeleteFieldV23`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
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
}
