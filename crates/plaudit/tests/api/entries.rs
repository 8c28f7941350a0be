//! `PutEntryUpdateChapterV23`.

pub mod create;
mod list;
mod realtime;
mod show;
mod tags;
mod trash;
mod update;

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, NOW, Server, XML, tree};

const FIRST: &str = "/entry/EntryOne/update-chapter";

async fn move_to(server: &Server, chapter: &str) -> crate::harness::Answer {
    server.put(FIRST, &json!({ "chapter": chapter }).to_string()).await
}

fn reference(kind: &str, slug: &str, name: &str) -> Value {
    json!({"slug": slug, "link": format!("{BASE}/{kind}/{slug}"), "name": {"en_GB": name}})
}

fn tab(slug: &str, kind: &str) -> Value {
    json!({"slug": slug, "type": kind, "created_at": "2025-01-01T00:00:00.000000Z", "updated_at": "2025-01-02T00:00:00.000000Z"})
}

/// The members that every answer has, and then its own.
fn answer(slug: &str, label: &str, title: &str, translated: &str, own: Value) -> Value {
    let mut all = json!({
        "slug": slug,
        "link": format!("{BASE}/field/{slug}"),
        "label": {"en_GB": label},
        "title": {"en_GB": title},
        "translated": {"en_GB": translated}
    });
    let Value::Object(own) = own else { panic!("members") };
    all.as_object_mut().unwrap().extend(own);
    all
}

fn entry_fields(download: &str) -> Value {
    json!([
        answer("FieldTxt", "<b>Abstract</b>", "Abstract", "An abstract", json!({"value": "An abstract"})),
        answer(
            "FieldTab",
            "Budget",
            "Budget",
            "",
            json!({
                "dynamicRows": [1, 2],
                "values": {"A1": "Paper", "B1": "12", "A2": "Ink"},
                "schema": {"columns": [
                    {"key": "A", "label": {"en_GB": "Item"}},
                    {"key": "B", "label": {"en_GB": "Cost"}}
                ]}
            })
        ),
        answer(
            "FieldFil",
            "Logo",
            "Logo",
            "",
            json!({
                "value": null,
                "token": "TokenOfTheLogoFileOfAllX",
                "download": download
            })
        ),
        answer("FieldRad", "Published", "Published", "yes", json!({"value": "yes"})),
    ])
}

/// The first entry after it was moved south: every member of sections 2.2 to 2.5, in their order.
fn moved_entry(global_id: &str, logo: &str, notes: &str) -> Value {
    let attached = "TokenOfTheFirstFileOfAll";
    json!({
        "slug": "EntryOne",
        "local_id": 1,
        "title": "First <entry> & \"more\"",
        "status": "submitted",
        "created": "2025-06-01T10:00:00.000000Z",
        "submitted": "2025-06-02T10:00:00.000000Z",
        "updated": NOW,
        "entrant": {
            "slug": "UserEntr",
            "link": format!("{BASE}/user/UserEntr"),
            "name": "Åse O'Neil <&>",
            "first_name": "Åse",
            "last_name": "O'Neil <&>",
            "email": "ase@example.org",
            "global_id": global_id
        },
        "entry_fields": entry_fields(logo),
        "attachments": [{
            "token": attached,
            "link": format!("{BASE}/attachment/{attached}"),
            "file": {
                "token": attached,
                "link": format!("{BASE}/file/{attached}"),
                "filename": "notes.txt",
                "download": notes
            },
            "attachment_fields": [answer("FieldAtt", "Caption", "Caption", "A caption", json!({"value": "A caption"}))],
            "tab": tab("TabAttac", "Attachments")
        }],
        "contributors": [{
            "slug": "Contribu",
            "tab": tab("TabContr", "Contributors"),
            "contributor_fields": [answer("FieldCtr", "Role", "Role", "Author", json!({"value": "Author"}))]
        }],
        "contributor_count": 1,
        "files_count": 2,
        "auto_score": 0,
        "category": reference("category", "CategChi", "Posters"),
        "parent_category": reference("category", "CategPar", "Design"),
        "chapter": reference("chapter", "ChapterS", "South"),
        "form": reference("form", "FormEntr", "Entry form"),
        "season": reference("season", "SeasonAc", "Season 2026"),
        "comments": "",
        "user_comments": "",
        "custom_deadline": "-",
        "division": null,
        "eligibility_status": "",
        "moderation_status": "undecided",
        "payment_status": "Unpaid",
        "plagiarism_scan_status": "unscanned",
        "review_status": "",
        "grant_status": null,
        "grant_end_date": null,
        "tags": "red,blue"
    })
}

both_engines! {
    async fn the_whole_entry_is_answered_with_every_member_in_order(server) {
        let answer = move_to(&server, "ChapterS").await.expect(200);
        let shown = answer.json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let global_id = text(&shown["entrant"]["global_id"]);
        assert_eq!(global_id.len(), 36);
        let logo = text(&shown["entry_fields"][2]["download"]);
        let notes = text(&shown["attachments"][0]["file"]["download"]);
        for (address, token) in [(&logo, "TokenOfTheLogoFileOfAllX"), (&notes, "TokenOfTheFirstFileOfAll")] {
            assert!(address.starts_with(&format!("{BASE}/download/AccountA/{token}?")), "{address}");
        }
        assert_eq!(answer.text(), moved_entry(&global_id, &logo, &notes).to_string());
    }

    async fn the_files_of_an_entry_can_be_downloaded_for_fifteen_minutes(server) {
        let shown = move_to(&server, "ChapterN").await.expect(200).json();
        let address = shown["attachments"][0]["file"]["download"].as_str().unwrap();
        let path = address.strip_prefix(BASE).unwrap().to_owned();
        let get = async |path: &str| server.send_anything(server.request("GET", path, &[("x-api-key", "")], None)).await;
        assert_eq!(get(&path).await.expect(200).text(), "hello");
        assert_ne!(get(&path.replace("AccountA", "AccountB")).await.status, 200);
        assert_ne!(get(&path.replace("TokenOfTheFirstFileOfAll", "TokenOfTheLogoFileOfAllX")).await.status, 200);
        server.clock.advance(16 * 60);
        assert!((400..500).contains(&get(&path).await.status));
    }

    async fn the_xml_of_an_entry_is_the_tree_of_its_json(server) {
        for language in ["", "all", "ar_AR"] {
            let headers = |format| [("accept", format), ("x-api-language", language)];
            let body = r#"{"chapter":"ChapterN"}"#;
            for path in [FIRST, "/entry/EntryTwo/update-chapter"] {
                let json = server.put_with(path, body, &headers(JSON)).await.expect(200);
                let xml = server.put_with(path, body, &headers(XML)).await.expect(200);
                tree::assert_same(&json.body, &xml.body);
            }
        }
    }

    async fn an_entry_without_anything_shows_every_member(server) {
        let body = r#"{"chapter":"ChapterS"}"#;
        let shown = server.put("/entry/EntryTwo/update-chapter", body).await.expect(200).json();
        let whole = moved_entry("", "", "");
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&shown), names(&whole));
        assert_eq!(shown["submitted"], Value::Null);
        for list in ["entry_fields", "attachments", "contributors"] {
            assert_eq!(shown[list], json!([]));
        }
        assert_eq!((&shown["contributor_count"], &shown["files_count"]), (&json!(0), &json!(0)));
    }

    async fn every_member_that_an_import_sets_is_shown(server) {
        server.import(&of_account_a(
            r#"{"kind":"entry","slug":"EntryAll","local_id":77,"title":"All","status":"resubmission_required","season":"SeasonAc","category":"CategPar","chapter":"ChapterN","form":"FormEntr","entrant":"UserMana","auto_score":12.50,"comments":"A (2026-01-01): b","user_comments":"c","custom_deadline":"2026-12-31 23:59","division":3,"eligibility_status":"eligible","moderation_status":"approved","payment_status":"Paid","plagiarism_scan_status":"scanned","review_status":"first","grant_status":"granted","grant_end_date":"2027-01-31","tags":"a","created":"2025-06-01T10:00:00.250000Z","submitted":"2025-06-02T10:00:00.000000Z","updated":"2025-06-03T10:00:00.000000Z"}"#,
        ))
        .await;
        let answer = server.put("/entry/EntryAll/update-chapter", r#"{"chapter":"ChapterN"}"#).await.expect(200);
        let shown = answer.json();
        for (name, value) in [
            ("local_id", json!(77)),
            ("status", json!("resubmission_required")),
            ("comments", json!("A (2026-01-01): b")),
            ("user_comments", json!("c")),
            ("custom_deadline", json!("2026-12-31 23:59")),
            ("division", json!(3)),
            ("eligibility_status", json!("eligible")),
            ("moderation_status", json!("approved")),
            ("payment_status", json!("Paid")),
            ("plagiarism_scan_status", json!("scanned")),
            ("review_status", json!("first")),
            ("grant_status", json!("granted")),
            ("grant_end_date", json!("2027-01-31")),
            ("tags", json!("a")),
            ("parent_category", Value::Null),
            ("created", json!("2025-06-01T10:00:00.250000Z")),
        ] {
            assert_eq!(shown[name], value, "{name}");
        }
        assert!(answer.text().contains(r#""auto_score":12.50,"#), "a number keeps its digits");
    }

    async fn a_move_changes_the_chapter_and_the_time_and_nothing_else(server) {
        let before = move_to(&server, "ChapterN").await.expect(200).json();
        server.clock.advance(90);
        let mut after = move_to(&server, "ChapterS").await.expect(200).json();
        assert_eq!(after["updated"], "2026-01-31T12:01:30.000000Z");
        assert_eq!(after["chapter"], reference("chapter", "ChapterS", "South"));
        assert_eq!(after["status"], before["status"]);
        after["updated"] = before["updated"].clone();
        after["chapter"] = before["chapter"].clone();
        for path in ["/entry_fields/2/download", "/attachments/0/file/download"] {
            *after.pointer_mut(path).unwrap() = before.pointer(path).unwrap().clone();
        }
        assert_eq!(after, before);
    }

    async fn naming_the_chapter_that_the_entry_is_in_changes_and_logs_nothing(server) {
        let changes = server.changes("AccountA").await;
        // Within one minute addresses of files end at the same time.
        server.clock.advance(1);
        let first = move_to(&server, "ChapterN").await.expect(200);
        assert_eq!(first.json()["updated"], "2025-06-03T10:00:00.000000Z");
        server.clock.advance(1);
        let second = move_to(&server, "ChapterN").await.expect(200);
        assert_eq!(first.header("etag"), second.header("etag"));
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn a_move_is_logged_with_its_events(server) {
        let changes = server.changes("AccountA").await.len();
        move_to(&server, "ChapterS").await.expect(200);
        assert_eq!(
            server.changes("AccountA").await[changes..],
            ["entry EntryOne updated entry_updated,entry_chapter_changed"]
        );
    }

    async fn a_move_needs_a_chapter_that_offers_the_category_in_the_season(server) {
        server.delete("/chapter/ChapterS").await.expect(204);
        let changes = server.changes("AccountA").await;
        for (cause, body) in [
            ("missing", "{}"),
            ("null", r#"{"chapter":null}"#),
            ("no string", r#"{"chapter":5}"#),
            ("empty", r#"{"chapter":""}"#),
            ("malformed", r#"{"chapter":"Chapter1"}"#),
            ("too long", r#"{"chapter":"ChapterNN"}"#),
            ("unknown", r#"{"chapter":"NoSuchCh"}"#),
            ("another account's", r#"{"chapter":"BChapter"}"#),
            ("trashed", r#"{"chapter":"ChapterS"}"#),
            ("inactive", r#"{"chapter":"ChapterX"}"#),
            ("another season's", r#"{"chapter":"ChapterO"}"#),
            ("without the category", r#"{"chapter":"ChapterW"}"#),
        ] {
            for format in FORMATS {
                let answer = server.put_with(FIRST, body, &[("accept", format)]).await;
                assert_eq!(answer.status, 422, "{cause}: {}", answer.text());
                assert_eq!(error_names(&answer, format).unwrap(), ["chapter"], "{cause}");
            }
        }
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn an_entry_of_an_archived_season_cannot_move(server) {
        for format in FORMATS {
            let headers = [("accept", format)];
            let body = r#"{"chapter":"ChapterP"}"#;
            let answer = server.put_with("/entry/EntryOld/update-chapter", body, &headers).await.expect(422);
            assert_eq!(error_names(&answer, format), None);
        }
        let entry = server.shown_entry("AccountA", "EntryOld").await;
        assert_eq!(entry["chapter"]["slug"], "ChapterO");
    }

    async fn title_tags_moderation_and_grant_of_an_entry_of_an_archived_season_can_change(server) {
        server.put("/entry/EntryOld/update-title", r#"{"title":"Renamed"}"#).await.expect(200);
        let body = r#"{"moderation_status":"rejected","grant_status":"granted","grant_end_date":"2027-01-01"}"#;
        server.put("/entry/EntryOld", body).await.expect(200);
        server.put("/entry/EntryOld/tag/late", "").await.expect(201);
        let entry = server.shown_entry("AccountA", "EntryOld").await;
        let shown = ["title", "moderation_status", "grant_status", "tags"].map(|member| entry[member].as_str().unwrap());
        assert_eq!(shown, ["Renamed", "rejected", "granted", "late"]);
        server.delete("/entry/EntryOld/tag/late").await.expect(201);
    }

    async fn an_entry_of_a_destroyed_or_newly_archived_season_cannot_move(server) {
        for status in ["archived", "destroyed"] {
            move_to(&server, "ChapterN").await.expect(200);
            let season = |status: &str| {
                of_account_a(&format!(
                    r#"{{"kind":"season","slug":"SeasonAc","name":{{"en_GB":"Season 2026"}},"status":"{status}"}}"#
                ))
            };
            server.import(&season(status)).await;
            let answer = move_to(&server, "ChapterS").await.expect(422);
            assert_eq!(error_names(&answer, JSON), None, "{status}");
            server.import(&season("active")).await;
        }
    }

    async fn a_chapter_that_becomes_inactive_is_refused_at_once(server) {
        move_to(&server, "ChapterN").await.expect(200);
        server.put("/chapter/ChapterS", r#"{"status":"inactive"}"#).await.expect(200);
        move_to(&server, "ChapterS").await.expect(422);
        server.put("/chapter/ChapterS", r#"{"status":"active"}"#).await.expect(200);
        move_to(&server, "ChapterS").await.expect(200);
    }

    async fn a_move_obeys_if_match(server) {
        let tag = move_to(&server, "ChapterN").await.header("etag").unwrap().to_owned();
        let put = async |chapter: &str, tag: &str| {
            server.put_with(FIRST, &json!({"chapter": chapter}).to_string(), &[("if-match", tag)]).await.status
        };
        assert_eq!(put("ChapterS", &tag).await, 200);
        assert_eq!(put("ChapterN", &tag).await, 412);
        assert_eq!(put("ChapterX", &tag).await, 422);
        assert_eq!(put("ChapterN", "*").await, 200);
    }

    async fn the_counts_of_entries_follow_every_change(server) {
        let told = async || -> Vec<String> {
            let counts = server.entry_counts("AccountA").await.into_iter();
            counts.map(|(place, total)| format!("{place} {total}")).collect()
        };
        let (both, one, old) = ("CategChi 0 2", "CategChi 0 1", "CategOld 0 1");
        assert_eq!(told().await, [both, old]);
        move_to(&server, "ChapterS").await.expect(200);
        move_to(&server, "ChapterX").await.expect(422);
        assert_eq!(told().await, [both, old]);
        let line = |members: &str| {
            of_account_a(&format!(
                r#"{{"kind":"entry","slug":"EntryTwo","local_id":2,"title":"Second","season":"SeasonAc","category":"CategChi","chapter":"ChapterS","form":"FormEntr","entrant":"UserEntr",{members}}}"#
            ))
        };
        server.import(&line(r#""status":"submitted""#)).await;
        assert_eq!(told().await, [both, old]);
        for _ in 0..2 {
            server.import(&line(r#""status":"submitted","deleted":true"#)).await;
            assert_eq!(told().await, [one, old]);
        }
        server.import(&line(r#""status":"invited","division":2"#)).await;
        assert_eq!(told().await, [one, "CategChi 2 1", old]);
        assert!(!server.try_import(&line(r#""status":"nothing""#)).await.is_empty());
        assert_eq!(told().await.len(), 3);
    }

    async fn an_entry_shows_the_new_parent_of_its_category(server) {
        let changes = server.changes("AccountA").await.len();
        let line = |parent: &str| {
            of_account_a(&format!(
                r#"{{"kind":"category","slug":"CategNew","season":"SeasonAc","form":"FormEntr","name":{{"en_GB":"New"}},"status":"active"}}
{{"kind":"category","slug":"CategChi","season":"SeasonAc","form":"FormEntr","parent":{parent},"name":{{"en_GB":"Posters"}},"status":"active"}}"#
            ))
        };
        server.import(&line(r#""CategNew""#)).await;
        for format in FORMATS {
            let body = r#"{"chapter":"ChapterN"}"#;
            let answer = server.put_with(FIRST, body, &[("accept", format)]).await.expect(200);
            assert!(answer.text().contains("/category/CategNew"), "{}", answer.text());
        }
        server.import(&line("null")).await;
        assert_eq!(move_to(&server, "ChapterN").await.expect(200).json()["parent_category"], Value::Null);
        let changes = server.changes("AccountA").await.split_off(changes);
        assert!(changes.iter().all(|change| change.starts_with("category ")), "no entry is written: {changes:?}");
    }

    async fn an_entry_shows_the_new_name_of_its_entrant(server) {
        server.import(&of_account_a(
            r#"{"kind":"user","slug":"UserEntr","first_name":"Asa","last_name":"Neil","email":"asa@example.org"}"#,
        ))
        .await;
        let entrant = move_to(&server, "ChapterN").await.expect(200).json()["entrant"].clone();
        assert_eq!((&entrant["name"], &entrant["email"]), (&json!("Asa Neil"), &json!("asa@example.org")));
    }
}
