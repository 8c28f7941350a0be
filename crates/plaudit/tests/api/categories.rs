//! `GetCategoryCollectionV23`, `GetCategoryV23`, `PostCategoryV23`, `PutCategoryV23` and `DeleteCategoryV23`.
//! `PostCategoryUploadV23`: `uploads`. Filters, sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, NOW, Server, XML, tree};

const POSTERS: &str = "/category/CategChi";

fn reference(kind: &str, slug: &str, name: &str) -> Value {
    json!({"slug": slug, "link": format!("{BASE}/{kind}/{slug}"), "name": {"en_GB": name}})
}

/// What a list and a single read have in common of the category of the fixture.
fn shared() -> Value {
    json!({
        "created": "2025-01-01T00:00:00.000000Z",
        "description": {"en_GB": ""},
        "divisions": 1,
        "form": reference("form", "FormEntr", "Entry form"),
        "name": {"en_GB": "Posters"},
        "parent": reference("category", "CategPar", "Design"),
        "promoted": null,
        "season": reference("season", "SeasonAc", "Season 2026"),
        "shortcode": {"en_GB": ""},
        "slug": "CategChi",
        "status": "active",
        "updated": "2025-01-02T00:00:00.000000Z"
    })
}

fn with(mut shared: Value, own: Value) -> Value {
    let Value::Object(own) = own else { panic!("members") };
    shared.as_object_mut().unwrap().extend(own);
    shared
}

/// The category of the fixture as a single read shows it.
fn posters() -> Value {
    let own = json!({
        "chapters": [
            reference("chapter", "ChapterN", "North"),
            reference("chapter", "ChapterS", "South"),
            reference("chapter", "ChapterX", "Closed")
        ],
        "entrant_max_entries": null,
        "entry_name_label": {"en_GB": ""},
        "fill_entry_name": false,
        "image_heading": {"en_GB": ""},
        "images": [],
        "max_image_width": null,
        "packing_slip_instructions": {"en_GB": ""},
        "pdf_packing_slip": false
    });
    with(shared(), own)
}

const WHOLE: &str = r#"{"season":"SeasonAc","status":"inactive","translated":{"name":{"en_GB":"Film","de_DE":"Kino"},"description":{"en_GB":"Moving"},"entry_name_label":{"en_GB":"Title"},"image_heading":{"en_GB":"Stills"},"packing_slip_instructions":{"en_GB":"Pack it"},"shortcode":{"en_GB":"F"}},"chapters":["ChapterN"],"divisions":2,"entrant_max_entries":3,"fill_entry_name":true,"max_image_width":640,"form":"FormEntr","parent":"CategPar","promoted":1,"pdf_packing_slip":true}"#;

/// A line for a category of the first account below a parent.
fn line(slug: &str, parent: &str) -> String {
    format!(
        r#"{{"kind":"category","slug":"{slug}","season":"SeasonAc","form":"FormEntr","parent":"{parent}","name":{{"en_GB":"{slug}"}},"status":"active","updated":"2025-01-02T00:00:00.000000Z"}}"#
    )
}

async fn parent(server: &Server, slug: &str) -> Value {
    server.get(&format!("/category/{slug}")).await.expect(200).json()["parent"]["slug"].clone()
}

both_engines! {
    async fn a_category_is_shown_with_every_member_in_order(server) {
        let answer = server.get(POSTERS).await.expect(200);
        assert_eq!(answer.text(), posters().to_string());
        for language in ["", "all", "de_DE"] {
            let headers = |format| [("accept", format), ("x-api-language", language)];
            for path in [POSTERS, "/category?season=all"] {
                let json = server.get_with(path, &headers(JSON)).await.expect(200);
                let xml = server.get_with(path, &headers(XML)).await.expect(200);
                tree::assert_same(&json.body, &xml.body);
            }
        }
        let german = server.get_with(POSTERS, &[("x-api-language", "de_DE")]).await.expect(200).json();
        assert_eq!((&german["name"], &german["status"]), (&json!({"de_DE": "Plakate"}), &json!("active")));
    }

    async fn a_list_shows_counts_in_place_of_what_a_single_read_shows(server) {
        let page = server.get("/category?order=name").await.expect(200).json();
        let data = page["data"].as_array().unwrap();
        assert_eq!(data.iter().map(|item| item["slug"].as_str().unwrap()).collect::<Vec<_>>(), ["CategPar", "CategChi"]);
        assert_eq!(data[1].to_string(), with(shared(), json!({"chapter_count": 3, "entry_count": 2})).to_string());
        assert_eq!((&data[0]["chapter_count"], &data[0]["entry_count"]), (&json!(0), &json!(0)));
        let old = server.get("/category?season=SeasonOl").await.expect(200).json();
        assert_eq!((&old["total"], &old["data"][0]["entry_count"]), (&json!(1), &json!(1)));
        assert_eq!(old["data"][0]["form"], Value::Null);
        let all = server.get("/category?season=all&order=entry_count&dir=desc").await.expect(200).json();
        let counts: Vec<_> = all["data"].as_array().unwrap().iter().map(|item| item["entry_count"].as_i64().unwrap()).collect();
        assert_eq!(counts, [2, 1, 0]);
    }

    async fn the_tag_of_the_list_changes_with_the_count_of_entries(server) {
        let list = async || server.get("/category").await.expect(200);
        let first = list().await.header("etag").unwrap().to_owned();
        server.get_with("/category", &[("if-none-match", &first)]).await.expect(304);
        server.put("/entry/EntryOne/update-chapter", r#"{"chapter":"ChapterS"}"#).await.expect(200);
        server.get_with("/category", &[("if-none-match", &first)]).await.expect(304);
        server
            .import(&of_account_a(
                r#"{"kind":"entry","slug":"EntryNew","local_id":9,"title":"New","season":"SeasonAc","category":"CategPar","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr"}"#,
            ))
            .await;
        let answer = server.get_with("/category?order=name", &[("if-none-match", &first)]).await.expect(200);
        assert_eq!(answer.json()["data"][0]["entry_count"], 1);
        assert_ne!(list().await.header("etag").unwrap(), first);
        let single = server.get(POSTERS).await.expect(200).header("etag").unwrap().to_owned();
        server.get_with(POSTERS, &[("if-none-match", &single)]).await.expect(304);
    }

    async fn a_new_category_is_what_its_body_says(server) {
        let changes = server.changes("AccountA").await.len();
        server.clock.advance(60);
        let answer = server.post("/category", WHOLE).await.expect(201);
        let shown = answer.json();
        let slug = shown["slug"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}/category/{slug}"));
        let expected = json!({
            "created": "2026-01-31T12:01:00.000000Z",
            "description": {"en_GB": "Moving"},
            "divisions": 2,
            "form": reference("form", "FormEntr", "Entry form"),
            "name": {"en_GB": "Film"},
            "parent": reference("category", "CategPar", "Design"),
            "promoted": 1,
            "season": reference("season", "SeasonAc", "Season 2026"),
            "shortcode": {"en_GB": "F"},
            "slug": slug,
            "status": "inactive",
            "updated": "2026-01-31T12:01:00.000000Z",
            "chapters": [reference("chapter", "ChapterN", "North")],
            "entrant_max_entries": 3,
            "entry_name_label": {"en_GB": "Title"},
            "fill_entry_name": true,
            "image_heading": {"en_GB": "Stills"},
            "images": [],
            "max_image_width": 640,
            "packing_slip_instructions": {"en_GB": "Pack it"},
            "pdf_packing_slip": true
        });
        assert_eq!(answer.text(), expected.to_string());
        let read = server.get(&format!("/category/{slug}")).await.expect(200);
        assert_eq!((read.text(), read.header("etag")), (answer.text(), answer.header("etag")));
        assert_eq!(server.changes("AccountA").await[changes..], [format!("category {slug} created")]);
        let listed = server.get("/category?status=inactive").await.expect(200).json();
        assert_eq!((&listed["total"], &listed["data"][0]["slug"]), (&json!(1), &json!(slug)));
        let xml = server.post_with("/category", WHOLE, &[("accept", XML)]).await.expect(201);
        assert!(xml.text().contains("<images/>"), "{}", xml.text());
    }

    async fn a_new_category_needs_little(server) {
        let body = r#"{"season":"SeasonOl","status":"active","translated":{"name":{"en_GB":"A"}}}"#;
        let shown = server.post("/category", body).await.expect(201).json();
        assert_eq!((&shown["form"], &shown["divisions"], &shown["chapters"]), (&Value::Null, &json!(1), &json!([])));
        let body = body.replace("SeasonOl", "SeasonAc");
        let shown = server.post("/category", &body).await.expect(201).json();
        assert_eq!(shown["form"]["slug"], "FormEntr", "the first form of the season");
    }

    async fn a_create_reports_every_violation_at_once(server) {
        let body = r#"{"season":"BSeasonA","status":"open","translated":{"name":{"fr_FR":"Nord"},"packing_slip_instructions":{"en_GB":"x"},"title":{}},"chapters":["BChapter"],"divisions":0,"form":"BFormEnt","parent":"BCategor","promoted":2,"locked":true,"slug":"CategNew"}"#;
        let changes = server.changes("AccountA").await;
        for format in FORMATS {
            let answer = server.post_with("/category", body, &[("accept", format)]).await.expect(422);
            let mut names = error_names(&answer, format).unwrap();
            names.sort();
            assert_eq!(names, [
                "chapters", "divisions", "form", "locked", "parent", "pdf_packing_slip", "promoted", "season", "slug",
                "status", "translated.name", "translated.title",
            ]);
            let answer = server.post_with("/category", "{}", &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&answer, format).unwrap(), ["season", "status", "translated"]);
        }
        assert_eq!(server.changes("AccountA").await, changes);
    }

    async fn each_wrong_member_of_an_update_is_named(server) {
        let long = "x".repeat(256);
        server.delete("/chapter/ChapterW").await.expect(204);
        for (name, body) in [
            ("status", json!({"status": "Active"})),
            ("status", json!({"status": null})),
            ("translated", json!({"translated": []})),
            ("translated.name", json!({"translated": {"name": {"en_GB": ""}}})),
            ("translated.name", json!({"translated": {"name": {"de_DE": long}}})),
            ("translated.shortcode", json!({"translated": {"shortcode": "S"}})),
            ("translated.description", json!({"translated": {"description": {"en_GB": 1}}})),
            ("translated.entry_name_label", json!({"translated": {"entry_name_label": {"xx": "x"}}})),
            ("translated.image_heading", json!({"translated": {"image_heading": null}})),
            ("translated.packing_slip_instructions", json!({"translated": {"packing_slip_instructions": {"fr_FR": ""}}})),
            ("chapters", json!({"chapters": "ChapterN"})),
            ("chapters", json!({"chapters": ["ChapterN", "ChapterN"]})),
            ("chapters", json!({"chapters": ["ChapterO"]})),
            ("chapters", json!({"chapters": ["ChapterW"]})),
            ("chapters", json!({"chapters": [null]})),
            ("divisions", json!({"divisions": 1.5})),
            ("entrant_max_entries", json!({"entrant_max_entries": "3"})),
            ("fill_entry_name", json!({"fill_entry_name": 1})),
            ("max_image_width", json!({"max_image_width": 0})),
            ("parent", json!({"parent": "CategChi"})),
            ("parent", json!({"parent": "CategOld"})),
            ("parent", json!({"parent": ""})),
            ("pdf_packing_slip", json!({"pdf_packing_slip": null})),
            ("locked", json!({"locked": "yes"})),
            ("season", json!({"season": "SeasonAc"})),
            ("form", json!({"form": "FormEntr"})),
            ("promoted", json!({"promoted": 1})),
            ("images", json!({"images": []})),
        ] {
            let answer = server.put(POSTERS, &body.to_string()).await;
            assert_eq!(answer.status, 422, "{body}: {}", answer.text());
            assert_eq!(error_names(&answer, JSON).unwrap(), [name], "{body}");
        }
        assert_eq!(server.get(POSTERS).await.json(), posters());
    }

    async fn an_update_changes_what_it_names_and_nothing_else(server) {
        let changes = server.changes("AccountA").await.len();
        let unchanged = server.put(POSTERS, r#"{"status":"active","parent":"CategPar"}"#).await.expect(200);
        assert_eq!(unchanged.text(), posters().to_string());
        assert_eq!(server.changes("AccountA").await.len(), changes);
        let mut expected = posters();
        for (body, member, value) in [
            (r#"{"translated":{"name":{"de_DE":"Poster"}}}"#, "created", json!("2025-01-01T00:00:00.000000Z")),
            (r#"{"status":"inactive"}"#, "status", json!("inactive")),
            (r#"{"chapters":[]}"#, "chapters", json!([])),
            (r#"{"divisions":4}"#, "divisions", json!(4)),
            (r#"{"entrant_max_entries":0}"#, "entrant_max_entries", json!(0)),
            (r#"{"entrant_max_entries":null}"#, "entrant_max_entries", Value::Null),
            (r#"{"fill_entry_name":true}"#, "fill_entry_name", json!(true)),
            (r#"{"max_image_width":10000}"#, "max_image_width", json!(10_000)),
            (r#"{"parent":null}"#, "parent", Value::Null),
            (r#"{"pdf_packing_slip":true}"#, "pdf_packing_slip", json!(true)),
            (r#"{"translated":{"packing_slip_instructions":{"en_GB":"P"}}}"#, "packing_slip_instructions", json!({"en_GB": "P"})),
            (r#"{"locked":true}"#, "slug", json!("CategChi")),
        ] {
            let answer = server.put(POSTERS, body).await.expect(200);
            expected[member] = value;
            expected["updated"] = json!(NOW);
            assert_eq!(answer.text(), expected.to_string(), "{body}");
            assert_eq!(server.get(POSTERS).await.text(), answer.text());
        }
        let logged = server.changes("AccountA").await.split_off(changes);
        assert!(logged.len() == 12 && logged.iter().all(|change| change == "category CategChi updated"), "{logged:?}");
        let german = server.get_with(POSTERS, &[("x-api-language", "all")]).await.json();
        assert_eq!(german["name"], json!({"en_GB": "Posters", "de_DE": "Poster", "ar_AR": ""}));
    }

    async fn a_category_is_never_above_itself(server) {
        server.import(&of_account_a(&[line("CategTwo", "CategChi"), line("CategThr", "CategTwo")].join("\n"))).await;
        for below in ["CategPar", "CategChi", "CategTwo", "CategThr"] {
            let answer = server.put("/category/CategPar", &format!(r#"{{"parent":"{below}"}}"#)).await.expect(422);
            assert_eq!(error_names(&answer, JSON).unwrap(), ["parent"], "{below}");
        }
        server.put("/category/CategThr", r#"{"parent":"CategPar"}"#).await.expect(200);
        server.put("/category/CategTwo", r#"{"parent":"CategThr"}"#).await.expect(200);
        server.put("/category/CategThr", r#"{"parent":"CategTwo"}"#).await.expect(422);
        assert_eq!(parent(&server, "CategTwo").await, "CategThr");
    }

    async fn of_two_moves_that_would_make_a_circle_one_is_refused(server) {
        server.import(&of_account_a(&[line("CategTwo", "CategPar"), line("CategThr", "CategPar")].join("\n"))).await;
        for _ in 0..10 {
            let (one, other) = tokio::join!(
                server.put("/category/CategTwo", r#"{"parent":"CategThr"}"#),
                server.put("/category/CategThr", r#"{"parent":"CategTwo"}"#),
            );
            let mut statuses = [one.status, other.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 422]);
            server.put("/category/CategTwo", r#"{"parent":"CategPar"}"#).await.expect(200);
            server.put("/category/CategThr", r#"{"parent":"CategPar"}"#).await.expect(200);
        }
    }

    async fn deleting_a_category_moves_its_children_one_level_up(server) {
        let lines = [line("CategTwo", "CategChi"), line("CategThr", "CategTwo"), line("CategFou", "CategChi")];
        server.import(&of_account_a(&lines.join("\n"))).await;
        let changes = server.changes("AccountA").await.len();
        let answer = server.delete(POSTERS).await.expect(204);
        assert!(answer.body.is_empty());
        assert_eq!(server.changes("AccountA").await[changes..], [
            "category CategFou updated", "category CategTwo updated", "category CategChi trashed",
        ]);
        for (category, above) in [("CategTwo", "CategPar"), ("CategFou", "CategPar"), ("CategThr", "CategTwo")] {
            assert_eq!(parent(&server, category).await, above);
        }
        server.delete("/category/CategPar").await.expect(204);
        assert_eq!(parent(&server, "CategTwo").await, Value::Null);
        let trashed = server.get("/category?deleted=only&order=name").await.expect(200).json();
        let slugs: Vec<_> = trashed["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ["CategPar", "CategChi"]);
        for format in FORMATS {
            server.get_with(POSTERS, &[("accept", format)]).await.expect(404);
            server.put_with(POSTERS, "{}", &[("accept", format)]).await.expect(404);
            server.delete_with(POSTERS, &[("accept", format)]).await.expect(404);
        }
        let entry = server.shown_entry("AccountA", "EntryOne").await;
        assert_eq!((&entry["category"]["name"]["en_GB"], &entry["parent_category"]["slug"]), (&json!("Posters"), &json!("CategPar")));
    }

    async fn a_deleted_chapter_stays_named_by_its_categories(server) {
        server.delete("/chapter/ChapterS").await.expect(204);
        let shown = server.get(POSTERS).await.expect(200).json();
        assert_eq!(shown["chapters"][1]["slug"], "ChapterS");
        let body = r#"{"chapters":["ChapterN","ChapterS"]}"#;
        server.put(POSTERS, body).await.expect(200);
        server.put(POSTERS, r#"{"chapters":["ChapterN"]}"#).await.expect(200);
        server.put(POSTERS, body).await.expect(422);
    }

    async fn the_filter_chapter_selects_what_the_chapter_offers(server) {
        let slugs = async |query: &str| -> Vec<String> {
            let page = server.get(&format!("/category?order=name&{query}")).await.expect(200).json();
            page["data"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(slugs("chapter=ChapterN").await, ["CategPar", "CategChi"]);
        assert_eq!(slugs("chapter=ChapterW").await, ["CategPar"]);
        assert_eq!(slugs("chapter=ChapterO&season=all").await, ["CategOld"]);
        assert_eq!(slugs("parent=CategPar").await, ["CategChi"]);
        assert_eq!(slugs("chapter=NoSuchCh&season=all").await, [""; 0]);
    }

    async fn writes_of_a_category_obey_if_match(server) {
        let tag = server.get(POSTERS).await.header("etag").unwrap().to_owned();
        server.put_with(POSTERS, r#"{"divisions":2}"#, &[("if-match", &tag)]).await.expect(200);
        server.put_with(POSTERS, r#"{"divisions":3}"#, &[("if-match", &tag)]).await.expect(412);
        server.put_with(POSTERS, r#"{"divisions":0}"#, &[("if-match", &tag)]).await.expect(422);
        server.delete_with(POSTERS, &[("if-match", &tag)]).await.expect(412);
        server.delete_with(POSTERS, &[("if-match", "*")]).await.expect(204);
    }

    async fn an_import_refuses_what_a_category_cannot_be(server) {
        let with_image = line("CategTwo", "CategPar").replace(r#""status""#, r#""images":["NoSuchTokenOfAnyFile"],"status""#);
        let faults = server.try_import(&of_account_a(&with_image)).await;
        assert!(faults.len() == 1 && faults[0].contains("images: there is no file NoSuchTokenOfAnyFile"), "{faults:?}");
        let circle = [line("CategTwo", "CategThr"), line("CategThr", "CategTwo")].join("\n");
        let faults = server.try_import(&of_account_a(&circle)).await;
        assert!(!faults.is_empty() && faults.iter().all(|fault| fault.contains("descendant")), "{faults:?}");
    }
}
