//! `PutEntryV23`.

use kernel::text::Timestamp;
use serde_json::{Value, json};

use super::create::{ROUND, make};
use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, JSON, NOW, Server, XML, tree};

async fn put(server: &Server, slug: &str, body: Value) -> Answer {
    server.put(&format!("/entry/{slug}"), &body.to_string()).await
}

/// Whether an answer is 422 without `errors`.
fn is_state(answer: Answer) -> bool {
    error_names(&answer.expect(422), JSON).is_none()
}

both_engines! {
    async fn a_member_that_is_left_out_keeps_its_value(server) {
        let before = server.get("/entry/EntryTwo").await.expect(200).json();
        server.clock.advance(30);
        let body = json!({
            "title": "Changed", "moderation_status": "approved", "chapter": "ChapterS", "entrant": "UserMana",
            "custom_deadline": "2026-10-25 01:30", "grant_status": "granted", "grant_end_date": "2027-01-01",
            "entry_fields": {"FieldTxt": "text"}
        });
        let changes = server.changes("AccountA").await.len();
        let after = put(&server, "EntryTwo", body).await.expect(200).json();
        for (member, value) in [
            ("title", json!("Changed")),
            ("moderation_status", json!("approved")),
            ("custom_deadline", json!("2026-10-25 01:30")),
            ("grant_status", json!("granted")),
            ("grant_end_date", json!("2027-01-01")),
            ("updated", json!("2026-01-31T12:00:30.000000Z")),
            ("status", json!("in_progress")),
        ] {
            assert_eq!(after[member], value, "{member}");
        }
        assert_eq!((&after["entrant"]["slug"], &after["entrant"]["name"]), (&json!("UserMana"), &json!("Mara Nolan")));
        assert_eq!((&after["chapter"]["slug"], &after["created"]), (&json!("ChapterS"), &before["created"]));
        let mut told = server.changes("AccountA").await.split_off(changes);
        told.retain(|change| change.starts_with("entry "));
        let events = "entry_updated,entry_moderated,entry_chapter_changed,field_value_updated";
        assert_eq!(told, [format!("entry EntryTwo updated {events}")]);
        let nothing =
            json!({"custom_deadline": null, "grant_status": null, "grant_end_date": null, "entry_fields": {"FieldTxt": null}});
        let undone = put(&server, "EntryTwo", nothing).await.expect(200).json();
        assert_eq!((&undone["custom_deadline"], &undone["grant_status"]), (&json!("-"), &Value::Null));
        assert_eq!((&undone["grant_end_date"], &undone["entry_fields"]), (&Value::Null, &json!([])));
    }

    async fn an_update_that_changes_nothing_is_not_logged(server) {
        // Within one minute addresses of files end at the same time.
        server.clock.advance(1);
        let before = server.get("/entry/EntryOne").await.expect(200);
        let changes = server.changes("AccountA").await;
        server.clock.advance(3);
        let title = "First <entry> & \"more\"";
        for body in [
            json!({}),
            json!({"status": "submitted", "title": title, "chapter": "ChapterN", "category": "CategChi"}),
            json!({"entry_fields": {"FieldTxt": "An abstract", "FieldTab": {"A1": "Paper"}, "FieldCon": ""}}),
        ] {
            let after = put(&server, "EntryOne", body).await.expect(200);
            assert_eq!(after.header("etag"), before.header("etag"));
        }
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn the_status_goes_the_ways_that_there_are(server) {
        server.import(&of_account_a(ROUND)).await;
        let to = async |status: &str| put(&server, "EntryTwo", json!({"status": status})).await;
        assert!(is_state(to("resubmitted").await) && is_state(to("resubmission_required").await));
        let changes = server.changes("AccountA").await.len();
        let submitted = to("submitted").await.expect(200).json();
        assert_eq!((&submitted["status"], &submitted["submitted"]), (&json!("submitted"), &json!(NOW)));
        assert!(is_state(to("resubmitted").await));
        assert_eq!(to("in_progress").await.expect(200).json()["submitted"], Value::Null);
        server.clock.advance(60);
        to("submitted").await.expect(200);
        let required = to("resubmission_required").await.expect(200).json();
        assert_eq!(required["submitted"], "2026-01-31T12:01:00.000000Z");
        assert!(is_state(to("submitted").await) && is_state(to("in_progress").await));
        server.clock.advance(60);
        let again = to("resubmitted").await.expect(200).json();
        assert_eq!((&again["status"], &again["submitted"]), (&json!("resubmitted"), &json!("2026-01-31T12:02:00.000000Z")));
        for status in ["submitted", "in_progress", "resubmission_required"] {
            assert!(is_state(to(status).await), "{status}");
        }
        let told = "entry EntryTwo updated entry_updated,entry_status_changed".to_owned();
        let submitted = format!("{told},entry_submitted");
        let resubmitted = format!("{told},entry_resubmitted");
        assert_eq!(
            server.changes("AccountA").await[changes..],
            [submitted.clone(), told.clone(), submitted, told, resubmitted]
        );
    }

    async fn a_submission_needs_an_open_round_by_the_clocks_of_the_account(server) {
        // Clocks in London are put forward on 29 March 2026 at 01:00 UTC; 12:00 is 11:00 UTC from then on.
        let round = ROUND.replace("2026-02-28 12:00:00", "2026-03-29 12:00:00");
        server.import(&of_account_a(&round)).await;
        let seconds = |text| Timestamp::parse(text).unwrap().as_seconds();
        server.clock.advance(seconds("2026-03-29T11:00:00.000000Z") - seconds(NOW) - 1);
        put(&server, "EntryTwo", json!({"status": "submitted"})).await.expect(200);
        put(&server, "EntryTwo", json!({"status": "in_progress"})).await.expect(200);
        server.clock.advance(1);
        for format in FORMATS {
            let late = server.put_with("/entry/EntryTwo", r#"{"status":"submitted"}"#, &[("accept", format)]).await;
            assert_eq!(error_names(&late.expect(422), format), None);
        }
        let longer = json!({"status": "submitted", "custom_deadline": "2026-03-29 12:01"});
        put(&server, "EntryTwo", longer).await.expect(200);
    }

    async fn a_submission_needs_every_required_answer_that_is_shown(server) {
        let field = |slug: &str, tab: &str, resource: &str, more: &str| {
            format!(
                r#"{{"kind":"field","slug":"{slug}","form":"FormEntr","tab":"{tab}","resource":"{resource}","title":{{"en_GB":"F"}},"required":true,{more}}}"#
            )
        };
        let condition = r#""type":"numeric","conditional":{"field":"FieldReq","operator":"equals","value":true}"#;
        let lines = [
            ROUND.to_owned(),
            field("FieldReq", "TabGener", "entries", r#""type":"checkbox""#),
            field("FieldCnd", "TabGener", "entries", condition),
            field("FieldCrq", "TabContr", "contributors", r#""type":"text""#),
        ];
        server.import(&of_account_a(&lines.join("\n"))).await;
        put(&server, "EntryTwo", json!({"title": "Asked for nothing"})).await.expect(200);
        let submit = async |slug: &str, answers: Value| {
            let answer = put(&server, slug, json!({"status": "submitted", "entry_fields": answers})).await;
            let mut names = error_names(&answer, JSON).unwrap_or_default();
            names.sort_unstable();
            (answer.status, names.join(" "))
        };
        assert_eq!(submit("EntryTwo", json!({})).await, (422, "entry_fields.FieldReq".to_owned()));
        assert_eq!(submit("EntryTwo", json!({"FieldReq": false})).await, (422, "entry_fields.FieldReq".to_owned()));
        assert_eq!(submit("EntryTwo", json!({"FieldReq": true})).await, (422, "entry_fields.FieldCnd".to_owned()));
        assert_eq!(submit("EntryTwo", json!({"FieldReq": true, "FieldCnd": 1.5})).await.0, 200);
        put(&server, "EntryOne", json!({"status": "in_progress"})).await.expect(200);
        let answers = json!({"FieldReq": true, "FieldCnd": 2});
        assert_eq!(submit("EntryOne", answers).await, (422, "contributors.Contribu.FieldCrq".to_owned()));
    }

    async fn an_entry_is_screened_when_it_is_handed_in(server) {
        let form = r#"{"kind":"form","slug":"FormEntr","season":"SeasonAc","name":{"en_GB":"Entry form"},"type":"entry","chapter_option":"all","minimum_auto_score":3}"#;
        let field = r#"{"kind":"field","slug":"FieldScr","form":"FormEntr","tab":"TabGener","resource":"entries","title":{"en_GB":"F"},"type":"radio","auto_scoring":9,"options":[{"value":"much","score":4},{"value":"little","score":1}]}"#;
        server.import(&of_account_a(&[ROUND, form, field].join("\n"))).await;
        let made = make(&server, json!({"entry_fields": {"FieldScr": "much"}})).await.expect(201).json();
        assert_eq!((&made["auto_score"], &made["eligibility_status"]), (&json!(4), &json!("")));
        let slug = made["slug"].as_str().unwrap();
        let changes = server.changes("AccountA").await.len();
        let submitted = put(&server, slug, json!({"status": "submitted"})).await.expect(200).json();
        assert_eq!(submitted["eligibility_status"], "eligible");
        let path = format!("/entry/{slug}/update-field/FieldScr");
        let less = server.put(&path, r#"{"value":"little"}"#).await.expect(200).json();
        assert_eq!((&less["auto_score"], &less["eligibility_status"]), (&json!(1), &json!("ineligible")));
        let told = server.changes("AccountA").await.split_off(changes);
        assert!(told[0].ends_with("entry_submitted,entry_eligible"), "{told:?}");
        assert!(told[1].ends_with("created payment_pending"), "{told:?}");
        assert!(told[2].ends_with("entry_ineligible,field_value_updated"), "{told:?}");
    }

    async fn everything_that_is_wrong_with_an_update_is_named(server) {
        let wrong = json!({
            "category": "CategOld", "entrant": "NoSuchUs", "title": "", "chapter": "NoSuchCh", "status": "invited",
            "moderation_status": 1, "entry_fields": [], "custom_deadline": "x", "grant_status": 1,
            "grant_end_date": "x", "season": "SeasonAc", "form": "FormEntr"
        });
        let mut expected: Vec<&String> = wrong.as_object().unwrap().keys().collect();
        expected.sort_unstable();
        for format in FORMATS {
            let answer = server.put_with("/entry/EntryOne", &wrong.to_string(), &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.iter().collect::<Vec<_>>(), expected);
        }
        for slug in ["NoSuchEn", "BEntryOn"] {
            put(&server, slug, wrong.clone()).await.expect(404);
        }
        server.put("/entry/EntryOne", "").await.expect(400);
        server.put("/entry/Entry1", "{}").await.expect(400);
        assert!(is_state(put(&server, "EntryOld", json!({"status": "in_progress"})).await));
    }

    async fn a_locked_category_keeps_what_entrants_give(server) {
        server
            .import(&of_account_a(
                r#"{"kind":"category","slug":"CategChi","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Posters"},"status":"active","locked":true}"#,
            ))
            .await;
        for body in [json!({"title": "x"}), json!({"entry_fields": {"FieldTxt": "x"}}), json!({"category": "CategPar"})] {
            assert!(is_state(put(&server, "EntryOne", body).await));
        }
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(422);
        server.put("/entry/EntryOne/update-title", r#"{"title":"x"}"#).await.expect(422);
        let refused = make(&server, json!({})).await.expect(422);
        assert_eq!(error_names(&refused, JSON).unwrap(), ["category"]);
        put(&server, "EntryOne", json!({"moderation_status": "rejected", "grant_status": "none"})).await.expect(200);
        server.send(server.request("PUT", "/entry/EntryOne/tag/x", &[], None)).await.expect(201);
    }

    async fn an_update_obeys_if_match_and_answers_in_xml(server) {
        let tag = server.get("/entry/EntryOne").await.header("etag").unwrap().to_owned();
        let body = r#"{"title":"Other"}"#;
        let xml = server.put_with("/entry/EntryOne", body, &[("if-match", &tag), ("accept", XML)]).await.expect(200);
        tree::assert_same(&server.get("/entry/EntryOne").await.body, &xml.body);
        server.put_with("/entry/EntryOne", r#"{"title":"Third"}"#, &[("if-match", &tag)]).await.expect(412);
    }
}
