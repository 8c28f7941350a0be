//! `PostContributorV23`, `GetContributorV23`, `PutContributorV23`, `DeleteContributorV23` and
//! `PutContributorUpdateFieldV23`.

use serde_json::json;

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, NOW, Server};

const NEW: &str = r#"{"entry":"EntryTwo","tab":"TabContr","fields":{"FieldCtr":"Editor"}}"#;

async fn more(server: &Server) {
    server.import(&of_account_a(r#"{"kind":"tab","slug":"TabContX","form":"FormEntr","type":"Contributors","order":5}
{"kind":"field","slug":"FieldCtX","form":"FormEntr","tab":"TabContX","resource":"contributors","type":"file","title":{"en_GB":"Photo"}}
{"kind":"form","slug":"FormOthe","season":"SeasonAc","name":{"en_GB":"Another"},"type":"entry"}
{"kind":"tab","slug":"TabOther","form":"FormOthe","type":"Contributors","order":1}
{"kind":"entry","slug":"EntryDel","local_id":90,"title":"Gone","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr","deleted":true}"#)).await;
}

both_engines! {
    async fn what_was_answered_before_a_field_moved_to_another_tab_is_taken_back(server) {
        more(&server).await;
        server.import(&of_account_a(r#"{"kind":"tab","slug":"TabAttaX","form":"FormEntr","type":"Attachments","order":6}"#)).await;
        server.put("/field/FieldCtr", r#"{"tab":"TabContX"}"#).await.expect(200);
        server.put("/field/FieldAtt", r#"{"tab":"TabAttaX"}"#).await.expect(200);
        let other = server.put("/contributor/Contribu", r#"{"fields":{"FieldCtr":"Other"}}"#).await.expect(422);
        assert_eq!(error_names(&other, JSON).unwrap(), ["fields.FieldCtr"]);
        let shown = server.put("/contributor/Contribu", r#"{"fields":{"FieldCtr":null}}"#).await.expect(200).json();
        assert_eq!(shown["fields"], json!([]));
        server.put("/contributor/Contribu", r#"{"fields":{"FieldCtr":null}}"#).await.expect(422);
    }

    async fn a_contributor_is_added_and_its_entry_shows_it(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.post("/contributor", NEW).await.expect(201);
        let shown = answer.json();
        let slug = shown["slug"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/contributor/{slug}"));
        let names: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["entry", "created", "fields", "season", "slug", "tab", "updated"]);
        assert_eq!(shown["entry"], json!({"slug": "EntryTwo", "link": format!("{BASE}/entry/EntryTwo"), "title": "Second"}));
        assert_eq!((&shown["season"]["slug"], &shown["created"]), (&json!("SeasonAc"), &json!(NOW)));
        assert_eq!(shown["fields"][0]["value"], "Editor");
        assert_eq!(server.get(&format!("/contributor/{slug}")).await.text(), answer.text());
        let logged = [format!("contributor {slug} created"), "entry EntryTwo updated entry_updated".to_owned()];
        assert_eq!(server.changes("AccountA").await[changes..], logged);
        let entry = server.get("/entry/EntryTwo").await.json();
        assert_eq!((&entry["contributor_count"], &entry["updated"]), (&json!(1), &json!(NOW)));
        assert_eq!(entry["contributors"][0]["contributor_fields"], shown["fields"]);
        assert_eq!(entry["contributors"][0]["tab"], shown["tab"]);
    }

    async fn everything_that_is_wrong_with_a_new_contributor_is_told(server) {
        more(&server).await;
        for (body, names) in [
            (json!({}), vec!["entry", "tab"]),
            (json!({"entry": "short", "tab": 5, "fields": [], "slug": "x"}), vec!["entry", "tab", "fields", "slug"]),
            (json!({"entry": "NoSuchEn", "tab": "NoSuchTa"}), vec!["entry", "tab"]),
            (json!({"entry": "BEntryOn", "tab": "BTabGene"}), vec!["entry", "tab"]),
            (json!({"entry": "EntryDel", "tab": "TabContr"}), vec!["entry"]),
            (json!({"entry": "EntryTwo", "tab": "TabOther"}), vec!["tab"]),
            (json!({"entry": "EntryTwo", "tab": "TabAttac"}), vec!["tab"]),
            (json!({"entry": "EntryTwo", "tab": "TabContr", "fields": {"FieldTxt": "x", "NoSuchFi": 1, "FieldCtr": 5}}),
                vec!["fields.FieldTxt", "fields.NoSuchFi", "fields.FieldCtr"]),
            (json!({"entry": "EntryTwo", "tab": "TabContX", "fields": {"FieldCtX": "TokenOfTheLogoFileOfAllX"}}),
                vec!["fields.FieldCtX"]),
        ] {
            for format in FORMATS {
                let answer = server.post_with("/contributor", &body.to_string(), &[("accept", format)]).await.expect(422);
                let mut found = error_names(&answer, format).unwrap();
                let mut names = names.clone();
                found.sort();
                names.sort_unstable();
                assert_eq!(found, names, "{body}");
            }
        }
        let answer = server.post("/contributor", r#"{"entry":"EntryOld","tab":"TabContr"}"#).await.expect(422);
        assert_eq!(error_names(&answer, JSON), None, "the season is over");
    }

    async fn the_answers_of_a_contributor_are_changed(server) {
        let path = "/contributor/Contribu";
        let changed = server.put(path, r#"{"fields":{"FieldCtr":"Painter"}}"#).await.expect(200);
        assert_eq!(changed.text(), server.get(path).await.text());
        assert_eq!(changed.json()["fields"][0]["value"], "Painter");
        let entry = server.get("/entry/EntryOne").await.json();
        assert_eq!(entry["contributors"][0]["contributor_fields"][0]["value"], "Painter");
        let logged = server.changes("AccountA").await.len();
        let same = server.put(path, r#"{"fields":{"FieldCtr":"Painter"}}"#).await.expect(200);
        assert_eq!((same.text(), same.header("etag")), (changed.text(), changed.header("etag")));
        server.put(path, "{}").await.expect(200);
        assert_eq!(server.changes("AccountA").await.len(), logged);
        for (body, names) in [
            (r#"{"entry":"EntryTwo","tab":"TabContr"}"#, vec!["entry", "tab"]),
            (r#"{"fields":{"FieldTxt":"x"}}"#, vec!["fields.FieldTxt"]),
        ] {
            let answer = server.put(path, body).await.expect(422);
            assert_eq!(error_names(&answer, JSON).unwrap(), names);
        }
        let tag = changed.header("etag").unwrap();
        server.put_with(path, r#"{"fields":{"FieldCtr":null}}"#, &[("if-match", tag)]).await.expect(200);
        server.put_with(path, r#"{"fields":{"FieldCtr":"x"}}"#, &[("if-match", tag)]).await.expect(412);
        server.put("/contributor/NoSuchCo", "{}").await.expect(404);
        server.put("/contributor/short", "{}").await.expect(400);
    }

    async fn one_answer_of_a_contributor_is_changed_at_once(server) {
        let path = "/contributor/Contribu/update-field/FieldCtr";
        let answer = server.put(path, r#"{"value":"Printer"}"#).await.expect(201);
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/contributor/Contribu"));
        assert_eq!(answer.text(), server.get("/contributor/Contribu").await.text());
        assert_eq!(server.put(path, r#"{"value":""}"#).await.expect(201).json()["fields"], json!([]));
        assert_eq!(server.get("/contributor?order=FieldCtr").await.json()["total"], 1);
        for (field, body, status) in [
            ("FieldCtr", "{}", 422),
            ("FieldAtt", r#"{"value":"x"}"#, 422),
            ("NoSuchFi", r#"{"value":"x"}"#, 404),
            ("short", r#"{"value":"x"}"#, 400),
        ] {
            server.put(&format!("/contributor/Contribu/update-field/{field}"), body).await.expect(status);
        }
    }

    async fn a_contributor_in_the_trash_is_gone(server) {
        server.delete("/contributor/Contribu").await.expect(204);
        for (method, path) in [("GET", ""), ("DELETE", ""), ("PUT", ""), ("PUT", "/update-field/FieldCtr")] {
            let body = (method == "PUT").then_some("{}");
            server.send(server.request(method, &format!("/contributor/Contribu{path}"), &[], body)).await.expect(404);
        }
        let entry = server.get("/entry/EntryOne").await.json();
        assert_eq!((&entry["contributors"], &entry["contributor_count"]), (&json!([]), &json!(0)));
    }

    async fn the_contributors_of_a_locked_category_stay_as_they_are(server) {
        server.put("/category/CategChi", r#"{"locked":true}"#).await.expect(200);
        for (method, path, body) in [
            ("POST", "/contributor", Some(NEW)),
            ("PUT", "/contributor/Contribu", Some(r#"{"fields":{"FieldCtr":"x"}}"#)),
            ("DELETE", "/contributor/Contribu", None),
        ] {
            let answer = server.send(server.request(method, path, &[], body)).await.expect(422);
            assert_eq!(error_names(&answer, JSON), None, "{method} {path}");
        }
    }
}
