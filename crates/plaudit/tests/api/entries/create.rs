//! `PostEntryV23`, `PostEntryCopyV23`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, JSON, NOW, Server, XML, tree};

/// A round of the fixture's form until noon of 28 February in London.
pub const ROUND: &str = r#"{"kind":"round","slug":"RoundEnt","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Entries"},"type":"entry","end_date":"2026-02-28 12:00:00"}"#;

fn body(more: &Value) -> String {
    let mut body = json!({"category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body.to_string()
}

pub async fn make(server: &Server, more: Value) -> Answer {
    server.post("/entry", &body(&more)).await
}

async fn copy(server: &Server, slug: &str) -> Answer {
    server.send(server.request("POST", &format!("/entry/{slug}/copy"), &[], None)).await
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names
}

both_engines! {
    async fn a_new_entry_is_answered_whole_at_its_address(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = make(&server, json!({"entry_fields": {"FieldTxt": "text", "FieldRad": "yes"}})).await.expect(201);
        let shown = answer.json();
        let slug = shown["slug"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location"), Some(format!("{BASE}/entry/{slug}").as_str()));
        for (member, value) in [
            ("local_id", json!(4)),
            ("title", json!("New")),
            ("status", json!("in_progress")),
            ("created", json!(NOW)),
            ("updated", json!(NOW)),
            ("submitted", Value::Null),
            ("auto_score", json!(0)),
            ("division", Value::Null),
            ("custom_deadline", json!("-")),
            ("eligibility_status", json!("")),
            ("moderation_status", json!("undecided")),
            ("payment_status", json!("Unpaid")),
            ("plagiarism_scan_status", json!("unscanned")),
            ("tags", json!("")),
        ] {
            assert_eq!(shown[member], value, "{member}");
        }
        assert_eq!((&shown["chapter"]["slug"], &shown["form"]["slug"]), (&json!("ChapterN"), &json!("FormEntr")));
        let read = server.get(&format!("/entry/{slug}")).await.expect(200);
        assert_eq!(read.text(), answer.text());
        assert_eq!(read.header("etag"), answer.header("etag"));
        assert_eq!(server.changes("AccountA").await[changes..], [format!("entry {slug} created entry_created")]);
    }

    async fn the_xml_of_a_new_entry_is_the_tree_of_what_is_read(server) {
        let headers = [("accept", XML), ("x-api-language", "all")];
        let made = server.post_with("/entry", &body(&json!({})), &headers).await.expect(201);
        let slug = made.header("location").unwrap().rsplit('/').next().unwrap().to_owned();
        let headers = [("accept", JSON), ("x-api-language", "all")];
        let read = server.get_with(&format!("/entry/{slug}"), &headers).await.expect(200);
        tree::assert_same(&read.body, &made.body);
    }

    async fn numbers_have_no_gaps_whatever_is_refused_or_trashed(server) {
        for number in 4..8 {
            make(&server, json!({"title": ""})).await.expect(422);
            let made = make(&server, json!({})).await.expect(201).json();
            assert_eq!(made["local_id"], number);
            if number % 2 == 0 {
                server.delete(&format!("/entry/{}", made["slug"].as_str().unwrap())).await.expect(204);
            }
        }
        copy(&server, "EntryOne").await.expect(201);
        assert_eq!(make(&server, json!({})).await.expect(201).json()["local_id"], 9);
    }

    async fn an_entry_is_made_submitted_while_a_round_is_open(server) {
        make(&server, json!({"status": "submitted"})).await.expect(422);
        server.import(&of_account_a(ROUND)).await;
        let changes = server.changes("AccountA").await.len();
        let shown = make(&server, json!({"status": "submitted"})).await.expect(201).json();
        assert_eq!((&shown["status"], &shown["submitted"]), (&json!("submitted"), &json!(NOW)));
        let told = server.changes("AccountA").await.split_off(changes);
        assert!(told[0].ends_with(" created entry_created,entry_submitted"), "{told:?}");
        server.clock.advance(28 * 24 * 3_600);
        let late = make(&server, json!({"status": "submitted"})).await.expect(422);
        assert_eq!(error_names(&late, JSON), None);
        let deadline = json!({"status": "submitted", "custom_deadline": "2026-03-01 12:00"});
        make(&server, deadline).await.expect(201);
        make(&server, json!({"status": "resubmission_required"})).await.expect(201);
    }

    async fn what_is_unknown_hides_nothing_else_that_is_wrong_and_invents_nothing(server) {
        let fields = json!({"FieldTxt": 1});
        let answer = make(&server, json!({"category": "NoSuchCa", "chapter": "NoSuchCh", "entry_fields": fields})).await;
        assert_eq!(sorted(error_names(&answer.expect(422), JSON).unwrap()), ["category", "chapter", "entry_fields.FieldTxt"]);
        let mut body: Value = serde_json::from_str(&body(&json!({"chapter": "NoSuchCh", "entry_fields": fields}))).unwrap();
        body.as_object_mut().unwrap().shift_remove("category");
        let answer = server.post("/entry", &body.to_string()).await.expect(422);
        assert_eq!(sorted(error_names(&answer, JSON).unwrap()), ["category", "chapter", "entry_fields.FieldTxt"]);
        let answer = make(&server, json!({"season": "NoSuchSe"})).await.expect(422);
        assert_eq!(answer.json()["errors"], json!({"season": ["NoSuchSe is no season of the account"]}));
    }

    async fn everything_that_is_wrong_with_a_new_entry_is_named(server) {
        server.delete("/chapter/ChapterS").await.expect(204);
        let wrong = json!({
            "category": "CategOld", "entrant": "NoSuchUs", "season": "SeasonAc", "title": "x".repeat(256),
            "chapter": "ChapterS", "form": "FormEntr", "status": "invited", "moderation_status": "maybe",
            "color": "red",
            "entry_fields": {"FieldTxt": 1, "FieldCtr": "x", "FieldFil": "TokenOfTheLogoFileOfAllX"},
            "custom_deadline": "2026-02-30 10:00", "grant_end_date": "soon"
        });
        let expected = [
            "category",
            "chapter",
            "color",
            "custom_deadline",
            "entrant",
            "entry_fields.FieldCtr",
            "entry_fields.FieldFil",
            "entry_fields.FieldTxt",
            "grant_end_date",
            "moderation_status",
            "status",
            "title",
        ];
        for format in FORMATS {
            let answer = server.post_with("/entry", &wrong.to_string(), &[("accept", format)]).await.expect(422);
            assert_eq!(sorted(error_names(&answer, format).unwrap()), expected);
        }
        let nothing = server.post("/entry", "{}").await.expect(422);
        assert_eq!(sorted(error_names(&nothing, JSON).unwrap()), ["category", "entrant", "season", "title"]);
        server.post("/entry", "").await.expect(400);
        server.post("/entry", "[]").await.expect(400);
        for foreign in [json!({"category": "BCategor"}), json!({"entrant": "BUserEnt"}), json!({"season": "BSeasonA"})] {
            make(&server, foreign).await.expect(422);
        }
    }

    async fn an_entrant_in_the_trash_or_a_season_that_is_over_takes_no_entries(server) {
        server
            .import(&of_account_a(r#"{"kind":"user","slug":"UserGone","first_name":"G","last_name":"G","deleted":true}"#))
            .await;
        let gone = make(&server, json!({"entrant": "UserGone"})).await.expect(422);
        assert_eq!(error_names(&gone, JSON).unwrap(), ["entrant"]);
        let old = json!({"season": "SeasonOl", "category": "CategOld", "chapter": "ChapterO", "form": "FormEntr"});
        let old = make(&server, old).await.expect(422);
        assert!(error_names(&old, JSON).unwrap().contains(&"season".to_owned()));
    }

    async fn a_category_divides_and_limits_its_entries(server) {
        server
            .import(&of_account_a(
                r#"{"kind":"category","slug":"CategDiv","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"D"},"status":"active","divisions":3,"entrant_max_entries":4}"#,
            ))
            .await;
        let mut divisions = Vec::new();
        let mut slugs = Vec::new();
        for _ in 0..4 {
            let shown = make(&server, json!({"category": "CategDiv"})).await.expect(201).json();
            divisions.push(shown["division"].as_i64().unwrap());
            slugs.push(shown["slug"].as_str().unwrap().to_owned());
        }
        assert_eq!(divisions, [1, 2, 3, 1]);
        let full = make(&server, json!({"category": "CategDiv"})).await.expect(422);
        assert_eq!(error_names(&full, JSON).unwrap(), ["category"]);
        let copied = copy(&server, &slugs[0]).await.expect(422);
        assert_eq!(error_names(&copied, JSON), None);
        let there = r#"{"category":"CategDiv"}"#;
        let refused = server.put("/entry/EntryTwo/update-category", there).await.expect(422);
        assert_eq!(error_names(&refused, JSON).unwrap(), ["category"]);
        server.delete(&format!("/entry/{}", slugs[1])).await.expect(204);
        let moved = server.put("/entry/EntryTwo/update-category", there).await.expect(200);
        assert_eq!(moved.json()["division"], 2);
        server.put("/entry/EntryTwo/update-category", r#"{"category":"CategChi"}"#).await.expect(200);
        let other = make(&server, json!({"category": "CategDiv", "entrant": "UserMana"})).await.expect(201).json();
        assert_eq!(other["division"], 2);
    }

    async fn a_copy_has_title_answers_and_contributors_and_its_own_number(server) {
        let changes = server.changes("AccountA").await.len();
        server.clock.advance(60);
        let answer = copy(&server, "EntryOne").await.expect(201);
        let (first, copied) = (server.get("/entry/EntryOne").await.json(), answer.json());
        let slug = copied["slug"].as_str().unwrap();
        assert_eq!(answer.header("location"), Some(format!("{BASE}/entry/{slug}").as_str()));
        assert_eq!((&copied["local_id"], &copied["title"]), (&json!(4), &first["title"]));
        assert_eq!((&copied["status"], &copied["submitted"]), (&json!("in_progress"), &Value::Null));
        assert_eq!((&copied["created"], &copied["tags"]), (&json!("2026-01-31T12:01:00.000000Z"), &json!("")));
        for kept in ["category", "chapter", "form", "season", "entrant"] {
            assert_eq!(copied[kept], first[kept]);
        }
        let answered = copied["entry_fields"].as_array().unwrap().iter().map(|field| field["slug"].as_str().unwrap());
        let answered: Vec<&str> = answered.collect();
        assert_eq!(answered, ["FieldTxt", "FieldTab", "FieldRad"], "files stay with the first one");
        assert_eq!((&copied["attachments"], &copied["files_count"]), (&json!([]), &json!(0)));
        assert_eq!(copied["contributor_count"], 1);
        let contributor = &copied["contributors"][0];
        assert_ne!(contributor["slug"], "Contribu");
        assert_eq!(contributor["contributor_fields"], first["contributors"][0]["contributor_fields"]);
        let told = server.changes("AccountA").await.split_off(changes);
        let made = format!("contributor {} created", contributor["slug"].as_str().unwrap());
        assert_eq!(told, [made, format!("entry {slug} created entry_created,entry_copied")]);
        copy(&server, "NoSuchEn").await.expect(404);
        copy(&server, "BEntryOn").await.expect(404);
        copy(&server, "EntryOld").await.expect(422);
        copy(&server, "Entry1").await.expect(400);
    }

    async fn no_entry_is_copied_on_a_form_that_takes_none(server) {
        let form = r#"{"kind":"form","slug":"FormEntr","season":"SeasonAc","name":{"en_GB":"Entry form"},"type":"entry","chapter_option":"all","archived":true}"#;
        server.import(&of_account_a(form)).await;
        let answer = copy(&server, "EntryOne").await.expect(422).json();
        assert_eq!(answer["message"], "The entry cannot be copied: its form takes no entries in the season.");
    }

    async fn a_retried_creation_makes_one_entry(server) {
        let headers = [("idempotency-key", "once")];
        let first = server.post_with("/entry", &body(&json!({})), &headers).await.expect(201);
        let second = server.post_with("/entry", &body(&json!({})), &headers).await.expect(201);
        assert_eq!((first.text(), first.header("location")), (second.text(), second.header("location")));
        assert_eq!(make(&server, json!({})).await.expect(201).json()["local_id"], 5);
    }

    async fn what_was_made_is_exported_and_imported_as_the_same(server) {
        server.import(&of_account_a(ROUND)).await;
        let more = json!({"status": "submitted", "entry_fields": {"FieldTab": {"A1": "x", "B2": "y"}, "FieldTxt": "ü"}});
        let made = make(&server, more).await.expect(201).json();
        let slug = made["slug"].as_str().unwrap();
        server.send(server.request("PUT", &format!("/entry/{slug}/tag/a,b"), &[], None)).await.expect(201);
        let exported = server.export("AccountA").await;
        assert!(exported.contains(slug));
        let changes = server.changes("AccountA").await;
        assert!(server.try_import(&exported).await.is_empty());
        assert_eq!(server.export("AccountA").await, exported);
        assert_eq!(server.changes("AccountA").await, changes, "nothing was made anew");
    }
}
