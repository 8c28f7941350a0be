//! `GetChapterCollectionV23`, `GetChapterV23`, `PostChapterV23`, `PutChapterV23` and `DeleteChapterV23`.
//! `PostChapterUploadV23`: `uploads`. Filters, sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, NOW, Server, XML, tree};

const NORTH: &str = "/chapter/ChapterN";

/// The chapter of the fixture as it is shown in the default language.
fn north() -> Value {
    json!({
        "slug": "ChapterN",
        "name": {"en_GB": "North"},
        "description": {"en_GB": "The north"},
        "status": "Active",
        "managers": [{
            "slug": "UserMana",
            "link": format!("{BASE}/user/UserMana"),
            "first_name": "Mara",
            "last_name": "Nolan"
        }],
        "season": {
            "slug": "SeasonAc",
            "link": format!("{BASE}/season/SeasonAc"),
            "name": {"en_GB": "Season 2026"}
        },
        "created": "2025-01-01T00:00:00.000000Z",
        "updated": "2025-01-02T00:00:00.000000Z"
    })
}

/// The entrant, who may manage chapters now.
const MANAGING: &str = r#"{"kind":"role","slug":"RoleProg","name":{"en_GB":"Program manager"},"type":"program_manager"}
{"kind":"user","slug":"UserEntr","first_name":"Åse","last_name":"O'Neil <&>","email":"ase@example.org","roles":["RoleProg"]}"#;

/// Updates the chapter and gives it back in all languages.
async fn update(server: &Server, body: &Value) -> Value {
    let answer = server.put_with(NORTH, &body.to_string(), &[("x-api-language", "all")]).await;
    answer.expect(200).json()
}

const NEW: &str = r#"{"season":"SeasonOl","status":"inactive","translated":{"name":{"en_GB":"East","de_DE":"Osten"},"image_heading":{"en_GB":"Look"}},"max_image_width":640,"managers":["UserMana"]}"#;

both_engines! {
    async fn a_chapter_is_shown_alone_and_in_a_list(server) {
        let answer = server.get(NORTH).await.expect(200);
        assert_eq!(answer.text(), north().to_string());
        let tag = answer.header("etag").unwrap().to_owned();
        server.get_with(NORTH, &[("if-none-match", &tag)]).await.expect(304);
        server.put_with(NORTH, "{}", &[("if-match", &tag)]).await.expect(200);
        let page = server.get("/chapter?order=name").await.expect(200).json();
        let slugs: Vec<_> = page["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ["ChapterX", "ChapterN", "ChapterS", "ChapterW"]);
        assert_eq!(page["data"][1].to_string(), north().to_string());
        let german = server.get_with("/chapter?status=inactive", &[("x-api-language", "de_DE")]).await.expect(200).json();
        assert_eq!((&german["total"], &german["data"][0]["status"]), (&json!(1), &json!("Inaktiv")));
        for path in [NORTH, "/chapter?season=all"] {
            let json = server.get_with(path, &[("x-api-language", "all")]).await.expect(200);
            let xml = server.get_with(path, &[("x-api-language", "all"), ("accept", XML)]).await.expect(200);
            tree::assert_same(&json.body, &xml.body);
        }
        let list = server.get("/chapter").await.expect(200).header("etag").unwrap().to_owned();
        server.put(NORTH, r#"{"status":"inactive"}"#).await.expect(200);
        server.get_with("/chapter", &[("if-none-match", &list)]).await.expect(200);
        server.delete(NORTH).await.expect(204);
        server.get(NORTH).await.expect(404);
        let trashed = server.get("/chapter?deleted=only").await.expect(200).json();
        assert_eq!((&trashed["total"], &trashed["data"][0]["slug"]), (&json!(1), &json!("ChapterN")));
    }

    async fn a_new_chapter_is_what_its_body_says(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.post("/chapter", NEW).await.expect(201);
        let slug = answer.json()["slug"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/chapter/{slug}"));
        let expected = json!({
            "slug": slug,
            "name": {"en_GB": "East"},
            "description": {"en_GB": ""},
            "status": "Inactive",
            "managers": north()["managers"],
            "season": {"slug": "SeasonOl", "link": format!("{BASE}/season/SeasonOl"), "name": {"en_GB": "Season 2025"}},
            "created": NOW,
            "updated": NOW
        });
        assert_eq!(answer.text(), expected.to_string());
        let read = server.get(&format!("/chapter/{slug}")).await.expect(200);
        assert_eq!((read.text(), read.header("etag")), (answer.text(), answer.header("etag")));
        assert_eq!(server.changes("AccountA").await[changes..], [format!("chapter {slug} created")]);
        let xml = server.post_with("/chapter", NEW, &[("accept", XML), ("x-api-language", "de_DE")]).await.expect(201);
        assert!(xml.text().contains("<status>Inaktiv</status>"), "{}", xml.text());
        let keyed = [("idempotency-key", "new")];
        let first = server.post_with("/chapter", NEW, &keyed).await.expect(201);
        let second = server.post_with("/chapter", NEW, &keyed).await.expect(201);
        assert_eq!((first.text(), first.header("location")), (second.text(), second.header("location")));
    }

    async fn a_create_reports_every_violation_at_once(server) {
        let changes = server.changes("AccountA").await;
        let body = r#"{"season":"BSeasonA","status":"Active","translated":{"name":{"de_DE":"Osten"},"description":{"en_GB":"x"}},"max_image_width":0,"managers":["UserMana","UserEntr","BUserEnt"],"description":{}}"#;
        for format in FORMATS {
            let answer = server.post_with("/chapter", body, &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, [
                "description", "managers", "max_image_width", "season", "status", "translated.description", "translated.name",
            ]);
            let answer = server.post_with("/chapter", "{}", &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&answer, format).unwrap(), ["season", "status", "translated"]);
        }
        let errors = server.post("/chapter", body).await.json()["errors"].clone();
        assert_eq!(errors["managers"], json!([
            "UserEntr does not hold the role of a chapter manager", "BUserEnt is no user of the account",
        ]));
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn an_import_that_takes_the_role_from_a_manager_is_refused(server) {
        let line = r#"{"kind":"user","slug":"UserMana","first_name":"Mara","last_name":"Nolan","email":"mara@example.org","roles":[]}"#;
        let faults = server.try_import(&of_account_a(line)).await;
        assert!(faults.len() == 1 && faults[0].contains("UserMana does not hold the role"), "{faults:?}");
        let role = r#"{"kind":"role","slug":"RoleMana","name":{"en_GB":"Judge"},"type":"judge"}"#;
        assert_eq!(server.try_import(&of_account_a(role)).await.len(), 1);
        server.import(&of_account_a(&line.replace("\"roles\"", "\"deleted\":true,\"roles\""))).await;
    }

    async fn an_update_answers_with_every_member_in_order(server) {
        let answer = server.put(NORTH, "{}").await.expect(200);
        assert_eq!(answer.text(), north().to_string());
    }

    async fn the_xml_of_a_chapter_is_the_tree_of_its_json(server) {
        for language in ["", "all", "de_DE"] {
            let headers = |format| [("accept", format), ("x-api-language", language)];
            let json = server.put_with(NORTH, "{}", &headers(crate::harness::JSON)).await.expect(200);
            let xml = server.put_with(NORTH, "{}", &headers(XML)).await.expect(200);
            tree::assert_same(&json.body, &xml.body);
        }
        let body = r#"{"managers":[]}"#;
        let xml = server.put_with(NORTH, body, &[("accept", XML)]).await.expect(200);
        assert!(xml.text().contains("<managers/>"), "{}", xml.text());
    }

    async fn an_update_without_members_changes_and_logs_nothing(server) {
        let (changes, version) = (server.changes("AccountA").await, server.version("AccountA").await);
        server.clock.advance(3600);
        let first = server.put(NORTH, "{}").await.expect(200);
        let second = server.put(NORTH, r#"{"translated":{}}"#).await.expect(200);
        assert_eq!(first.json(), north());
        assert_eq!((first.header("etag"), &first.body), (second.header("etag"), &second.body));
        server.put(NORTH, r#"{"status":"active","managers":["UserMana"]}"#).await.expect(200);
        assert_eq!((server.changes("AccountA").await, server.version("AccountA").await), (changes, version));
    }

    async fn an_update_changes_the_status_alone_when_it_names_it_alone(server) {
        server.clock.advance(60);
        let mut expected = north();
        expected["status"] = json!("Inactive");
        expected["updated"] = json!("2026-01-31T12:01:00.000000Z");
        let answer = server.put(NORTH, r#"{"status":"inactive"}"#).await.expect(200);
        assert_eq!(answer.text(), expected.to_string());
        expected["status"] = json!("Active");
        let answer = server.put(NORTH, r#"{"status":"active"}"#).await.expect(200);
        assert_eq!(answer.text(), expected.to_string());
    }

    async fn an_update_of_a_name_keeps_the_other_locales(server) {
        let shown = update(&server, &json!({"translated": {"name": {"de_DE": "Nord"}}})).await;
        assert_eq!(shown["name"], json!({"en_GB": "North", "de_DE": "Nord", "ar_AR": "الشمال"}));
        assert_eq!(shown["updated"], NOW);
        let shown = update(&server, &json!({"translated": {"name": {"ar_AR": ""}}})).await;
        assert_eq!(shown["name"], json!({"en_GB": "North", "de_DE": "Nord", "ar_AR": ""}));
        assert_eq!(shown["description"], json!({"en_GB": "The north", "de_DE": "", "ar_AR": ""}));
    }

    async fn an_update_of_the_image_members_is_stored_and_logged(server) {
        let before = server.changes("AccountA").await.len();
        let body = json!({"translated": {"image_heading": {"en_GB": "Our north"}}, "max_image_width": 640});
        let shown = update(&server, &body).await;
        assert_eq!(shown["updated"], NOW);
        let names: Vec<_> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        let documented = ["slug", "name", "description", "status", "managers", "season", "created", "updated"];
        assert_eq!(names, documented, "they are written, and not among what is read");
        assert_eq!(server.changes("AccountA").await.len(), before + 1);
        update(&server, &body).await;
        assert_eq!(server.changes("AccountA").await.len(), before + 1, "the same again is no change");
        let account = server.account("AccountA").await;
        let sql = "SELECT doc FROM setup_records WHERE account = $1 AND kind = 'chapter' AND slug = 'ChapterN'";
        let doc = server.db.first(sql, &[account.into()], |row| Ok(row.text(0)?.to_owned())).await.unwrap().unwrap();
        assert!(doc.contains("Our north") && doc.contains("640"), "{doc}");
    }

    async fn managers_are_replaced_and_shown_in_the_order_given(server) {
        server.import(&of_account_a(MANAGING)).await;
        let shown = update(&server, &json!({"managers": ["UserEntr", "UserMana"]})).await;
        let managers = shown["managers"].as_array().unwrap();
        assert_eq!(managers[0].to_string(), json!({
            "slug": "UserEntr",
            "link": format!("{BASE}/user/UserEntr"),
            "first_name": "Åse",
            "last_name": "O'Neil <&>"
        }).to_string());
        assert_eq!(managers[1], north()["managers"][0]);
        assert_eq!(update(&server, &json!({"managers": []})).await["managers"], json!([]));
    }

    async fn an_update_reports_every_violation_at_once(server) {
        let body = json!({
            "status": "open",
            "translated": {"name": {"fr_FR": "Nord"}, "image_heading": 5, "description": {"en_GB": "x"}},
            "max_image_width": "wide",
            "managers": ["bad"],
            "season": "SeasonAc",
            "slug": "ChapterN",
        });
        for format in FORMATS {
            let answer = server.put_with(NORTH, &body.to_string(), &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, [
                "managers", "max_image_width", "season", "slug", "status",
                "translated.description", "translated.image_heading", "translated.name",
            ]);
        }
        let answer = server.put(NORTH, &body.to_string()).await;
        for messages in answer.json()["errors"].as_object().unwrap().values() {
            let messages = messages.as_array().unwrap();
            assert!(!messages.is_empty() && messages.iter().all(Value::is_string));
        }
        assert_eq!(server.put(NORTH, "{}").await.json(), north());
    }

    async fn everything_wrong_with_a_member_is_told_in_messages_of_their_own(server) {
        let body = json!({
            "translated": {"name": {"en_GB": " ", "fr_FR": "Nord", "de_DE": 5}},
            "managers": ["bad", "UserEntr", "UserMana", "NoSuchUs", "UserMana", 7],
        });
        let answer = server.put(NORTH, &body.to_string()).await.expect(422);
        assert_eq!(answer.json()["errors"], json!({
            "translated.name": [
                "fr_FR is no language of the account; its languages are en_GB, de_DE, ar_AR",
                "de_DE must be a string",
                "en_GB must not be blank",
            ],
            "managers": [
                "item 1 must be a slug of 8 ASCII letters",
                "item 6 must be a slug of 8 ASCII letters",
                "names UserMana twice",
                "NoSuchUs is no user of the account",
                "UserEntr does not hold the role of a chapter manager",
            ],
        }));
        let answer = server.post("/chapter", &body.to_string()).await.expect(422).json();
        assert_eq!(answer["errors"]["managers"].as_array().unwrap().len(), 5, "{answer}");
        assert_eq!(server.put(NORTH, "{}").await.json(), north());
    }

    async fn a_manager_who_does_not_exist_is_reported_with_the_other_violations(server) {
        let body = r#"{"status":"open","managers":["UserMana","NoSuchUs"]}"#;
        let mut names = error_names(&server.put(NORTH, body).await.expect(422), crate::harness::JSON).unwrap();
        names.sort();
        assert_eq!(names, ["managers", "status"]);
    }

    async fn each_wrong_member_is_named(server) {
        let long = "x".repeat(256);
        for (name, body) in [
            ("status", json!({"status": "Active"})),
            ("status", json!({"status": null})),
            ("status", json!({"status": true})),
            ("translated", json!({"translated": "North"})),
            ("translated.name", json!({"translated": {"name": "North"}})),
            ("translated.name", json!({"translated": {"name": {"en_GB": 5}}})),
            ("translated.name", json!({"translated": {"name": {"en_GB": " "}}})),
            ("translated.name", json!({"translated": {"name": {"en_GB": long}}})),
            ("translated.name", json!({"translated": {"name": {"english": "North"}}})),
            ("translated.image_heading", json!({"translated": {"image_heading": {"fr_FR": "Nord"}}})),
            ("max_image_width", json!({"max_image_width": 1.5})),
            ("max_image_width", json!({"max_image_width": "640"})),
            ("max_image_width", json!({"max_image_width": -1})),
            ("managers", json!({"managers": "UserMana"})),
            ("managers", json!({"managers": ["NoSuchUs"]})),
            ("managers", json!({"managers": ["BUserEnt"]})),
            ("managers", json!({"managers": ["UserEntr"]})),
            ("managers", json!({"managers": [5]})),
            ("name", json!({"name": {"en_GB": "North"}})),
        ] {
            let answer = server.put(NORTH, &body.to_string()).await;
            assert_eq!(answer.status, 422, "{body}: {}", answer.text());
            assert_eq!(error_names(&answer, crate::harness::JSON).unwrap(), [name], "{body}");
        }
    }

    async fn an_update_is_logged_and_gives_the_program_another_version(server) {
        let (changes, version) = (server.changes("AccountA").await, server.version("AccountA").await);
        server.put(NORTH, r#"{"status":"inactive"}"#).await.expect(200);
        let after = server.changes("AccountA").await;
        assert_eq!(after[changes.len()..], ["chapter ChapterN updated"]);
        assert_ne!(server.version("AccountA").await, version);
    }

    async fn the_status_is_a_label_in_the_first_language_asked_for(server) {
        let label = async |language: &str| {
            let answer = server.put_with(NORTH, "{}", &[("x-api-language", language)]).await.expect(200);
            answer.json()["status"].as_str().unwrap().to_owned()
        };
        assert_eq!(label("").await, "Active");
        assert_eq!(label("en_GB").await, "Active");
        assert_eq!(label("de_DE").await, "Aktiv");
        assert_eq!(label("de_DE,en_GB").await, "Aktiv");
        assert_eq!(label("en_GB,de_DE").await, "Active");
        let arabic = label("ar_AR,de_DE").await;
        assert!(!arabic.is_ascii(), "{arabic}");
        server.put(NORTH, r#"{"status":"inactive"}"#).await.expect(200);
        assert_eq!(label("").await, "Inactive");
        assert_eq!(label("de_DE").await, "Inaktiv");
        assert_ne!(label("ar_AR").await, arabic);
    }

    async fn if_match_lets_through_what_it_names_and_nothing_else(server) {
        let tag = async || server.put(NORTH, "{}").await.header("etag").unwrap().to_owned();
        let put = async |body: &str, tag: &str| server.put_with(NORTH, body, &[("if-match", tag)]).await.status;
        let (first, inactive) = (tag().await, r#"{"status":"inactive"}"#);
        assert_eq!(put(inactive, &first).await, 200);
        let second = tag().await;
        assert_ne!(first, second);
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            let headers = [("accept", format), ("if-match", first.as_str())];
            server.put_with(NORTH, r#"{"status":"active"}"#, &headers).await.expect(412);
            server.delete_with(NORTH, &headers).await.expect(412);
        }
        assert_eq!(server.changes("AccountA").await, changes);
        assert_eq!(put("{}", "*").await, 200);
        assert_eq!(put("{}", &format!("\"nothing\", {second}")).await, 200);
        assert_eq!(put("{}", &format!("W/{second}")).await, 412, "a weak tag never matches");
        let other = server.put_with(NORTH, "{}", &[("accept", XML)]).await;
        assert_eq!(put("{}", other.header("etag").unwrap()).await, 200, "it names the record, not the format");
        assert_eq!(put(r#"{"status":5}"#, &first).await, 422, "a wrong member is told first");
        server.put_with("/chapter/NoSuchCh", "{}", &[("if-match", "*")]).await.expect(404);
        server.delete_with(NORTH, &[("if-match", &second)]).await.expect(204);
    }

    async fn a_deleted_chapter_is_gone(server) {
        let changes = server.changes("AccountA").await.len();
        let answer = server.delete(NORTH).await.expect(204);
        assert!(answer.body.is_empty() && answer.header("content-type").is_none());
        for format in FORMATS {
            server.delete_with(NORTH, &[("accept", format)]).await.expect(404);
            server.put_with(NORTH, "{}", &[("accept", format)]).await.expect(404);
        }
        assert_eq!(server.changes("AccountA").await[changes..], ["chapter ChapterN trashed"]);
    }

    async fn entries_keep_the_reference_to_a_deleted_chapter_and_show_its_name(server) {
        server.delete(NORTH).await.expect(204);
        let entry = server.shown_entry("AccountA", "EntryOne").await;
        assert_eq!(entry["chapter"]["slug"], "ChapterN");
        assert_eq!(entry["chapter"]["name"], json!({"en_GB": "North"}));
    }

    async fn a_new_name_is_shown_by_every_entry_at_once(server) {
        server.put(NORTH, r#"{"translated":{"name":{"en_GB":"Far north"}}}"#).await.expect(200);
        let path = "/entry/EntryOne/update-chapter";
        let entry = server.put(path, r#"{"chapter":"ChapterN"}"#).await.expect(200).json();
        assert_eq!(entry["chapter"]["name"], json!({"en_GB": "Far north"}));
    }

    async fn a_manager_whose_name_changes_is_shown_with_the_new_one(server) {
        server.import(&of_account_a(
            r#"{"kind":"user","slug":"UserMana","first_name":"Maria","last_name":"Nolan","email":"mara@example.org","roles":["RoleMana"]}"#,
        ))
        .await;
        let shown = server.put(NORTH, "{}").await.expect(200).json();
        assert_eq!(shown["managers"][0]["first_name"], "Maria");
    }
}
