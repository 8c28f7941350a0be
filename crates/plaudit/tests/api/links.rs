//! Links: each that is shown answers, and what has no list is read where they lead.
//!
//! `GetRoleV23`, `GetTaxV23`, `GetPriceV23`, `GetPanelV23`, `GetReviewStageV23` and `GetContentBlockV23`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, XML, tree};

/// A record of each kind that has no list, and what it refers to.
pub const RECORDS: &str = r#"{"kind":"content_block","slug":"BlockOne","name":{"en_GB":"Welcome","de_DE":"Willkommen"},"content":{"en_GB":"<p>Read this first.</p>"},"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"form","slug":"FormBloc","season":"SeasonAc","name":{"en_GB":"With a block"},"content_block":"BlockOne"}
{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"score_set","slug":"ScoreSet","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging"}
{"kind":"user","slug":"UserJudg","first_name":"Grace","last_name":"Hopper","email":"grace@example.org","roles":["RoleJury"]}
{"kind":"panel","slug":"PanelOne","season":"SeasonAc","score_set":"ScoreSet","name":{"en_GB":"The jury"},"judges":["UserJudg"],"roles":["RoleJury"],"rounds":["RoundJud"],"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}
{"kind":"review_stage","slug":"StageOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Consent"},"timing":"before_submission","reviewers":[{"name":"Ada","email":"ada@example.org"}]}
{"kind":"price","slug":"PriceOne","season":"SeasonAc","title":{"en_GB":"Fee"},"amounts":[{"currency":"GBP","amount":10.50}],"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-01T00:00:00.000000Z"}"#;

/// Every address that stands as a link in a document.
fn links(document: &Value, found: &mut BTreeSet<String>) {
    match document {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str().filter(|_| name == "link") {
                    Some(link) => drop(found.insert(link.to_owned())),
                    None => links(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| links(item, found)),
        _ => {}
    }
}

/// Fields with all that settings have: labels of options and columns in some languages, a score alone, a category that is
/// trashed later, and no tab.
const FIELDS: &str = r#"{"kind":"category","slug":"CategOth","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Other"},"status":"active"}
{"kind":"field","slug":"FieldOpt","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"radio","title":{"en_GB":"Choice"},"categories":["CategOth","CategChi"],"options":[{"value":"a","label":{"en_GB":"A","de_DE":"Das A"}},{"value":"b","score":3},"c"]}
{"kind":"field","slug":"FieldCol","season":"SeasonAc","form":"FormEntr","tab":"TabGener","resource":"entries","type":"table","title":{"en_GB":"Table"},"columns":[{"key":"A","label":{"de_DE":"Spalte"}},{"key":"B"}]}
{"kind":"field","slug":"FieldUsr","season":"SeasonAc","resource":"users","type":"text","title":{"en_GB":"About you"}}"#;

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

fn reference(path: &str, slug: &str, name: &str) -> Value {
    json!({"slug": slug, "link": format!("{BASE}/{path}/{slug}"), "name": {"en_GB": name}})
}

both_engines! {
    async fn every_link_that_is_shown_answers_and_shows_links_that_answer(server) {
        server.import(&of_account_a(RECORDS)).await;
        let (mut seen, mut open) = (BTreeSet::new(), BTreeSet::new());
        for path in [
            "/account", "/season", "/chapter", "/form?season=all", "/category", "/field?season=all", "/tax", "/round", "/score-set",
            "/entry?include=entry_fields,attachments,contributors", "/attachment", "/contributor", "/order", "/user", "/document",
        ] {
            links(&server.get(path).await.expect(200).json(), &mut open);
        }
        open.extend(["panel/PanelOne", "review-stage/StageOne", "price/PriceOne"].map(|path| format!("{BASE}/{path}")));
        while let Some(link) = open.pop_first() {
            let shown = server.get(link.strip_prefix(BASE).unwrap()).await.expect(200).json();
            seen.insert(link);
            links(&shown, &mut open);
            open = open.difference(&seen).cloned().collect();
        }
        for kind in ["role", "price", "panel", "review-stage", "content-block", "entry", "user", "chapter"] {
            assert!(seen.iter().any(|link| link.contains(&format!("/{kind}/"))), "{kind}: {seen:?}");
        }
    }

    async fn what_has_no_list_is_shown_as_its_reference_with_its_own_members(server) {
        server.import(&of_account_a(RECORDS)).await;
        let times = ("2025-01-01T00:00:00.000000Z", "2025-01-02T00:00:00.000000Z");
        let season = reference("season", "SeasonAc", "Season 2026");
        for (path, expected) in [
            ("/content-block/BlockOne", json!({
                "slug": "BlockOne", "link": format!("{BASE}/content-block/BlockOne"), "name": {"en_GB": "Welcome"},
                "content": {"en_GB": "<p>Read this first.</p>"}, "created": times.0, "updated": times.1,
            })),
            ("/role/RoleJury", json!({
                "slug": "RoleJury", "link": format!("{BASE}/role/RoleJury"), "name": {"en_GB": "Jury"}, "type": "judge",
                "created": times.0, "updated": times.0,
            })),
            ("/price/PriceOne", json!({
                "slug": "PriceOne", "link": format!("{BASE}/price/PriceOne"), "season": season,
                "title": {"en_GB": "Fee"}, "type": "entry", "tag": null, "categories": [], "chapters": [],
                "members": "all", "amounts": [{"currency": "GBP", "amount": 10.5}], "created": times.0, "updated": times.0,
            })),
            ("/panel/PanelOne", json!({
                "slug": "PanelOne", "link": format!("{BASE}/panel/PanelOne"), "season": season,
                "score_set": reference("score-set", "ScoreSet", "Final"), "name": {"en_GB": "The jury"}, "status": "active",
                "judges": [{
                    "slug": "UserJudg", "link": format!("{BASE}/user/UserJudg"), "first_name": "Grace", "last_name": "Hopper",
                }],
                "roles": [reference("role", "RoleJury", "Jury")], "rounds": [reference("round", "RoundJud", "Judging")],
                "categories": [], "chapters": [], "divisions": [], "tags": [], "statuses": ["submitted", "resubmitted"],
                "moderation": ["approved", "undecided"], "judges_per_entry": null, "entries_per_judge": null,
                "created": times.0, "updated": times.0,
            })),
        ] {
            let answer = server.get(path).await.expect(200);
            assert_eq!(answer.json(), expected, "{path}");
            let xml = server.get_with(path, &[("accept", XML)]).await.expect(200);
            tree::assert_same(&answer.body, &xml.body);
            server.get_with(path, &[("if-none-match", answer.header("etag").unwrap())]).await.expect(304);
            server.put(path, "{}").await.expect(405);
        }
        let tax = server.get("/tax/TaxVatGB").await.expect(200).json();
        assert_eq!((&tax["link"], &tax["rate"]), (&json!(format!("{BASE}/tax/TaxVatGB")), &json!(20)));
        let german = server.get_with("/content-block/BlockOne", &[("x-api-language", "de_DE")]).await.expect(200).json();
        assert_eq!((&german["name"], &german["content"]), (&json!({"de_DE": "Willkommen"}), &json!({"de_DE": ""})));
    }

    async fn what_can_be_written_can_be_read_as_settings_and_written_back(server) {
        server.import(&of_account_a(FIELDS)).await;
        server.delete("/category/CategOth").await.expect(204);
        for path in [
            "/chapter/ChapterN", "/category/CategChi", "/field/FieldTxt", "/field/FieldRad", "/field/FieldOpt", "/field/FieldCol",
            "/field/FieldUsr",
        ] {
            let plain = server.get(path).await.expect(200);
            let path_with = format!("{path}?include=settings");
            let headers = [("x-api-language", "all")];
            let answer = server.get_with(&path_with, &headers).await.expect(200);
            let xml = server.get_with(&path_with, &[headers[0], ("accept", XML)]).await.expect(200);
            tree::assert_same(&answer.body, &xml.body);
            assert_ne!(answer.header("etag"), server.get_with(path, &headers).await.header("etag"));
            let mut settings = answer.json()["settings"].clone();
            assert!(plain.json()["settings"].is_null() && settings["translated"].is_object(), "{settings}");
            // What only a create takes is no member of an update.
            let is_field = path.starts_with("/field/");
            for member in ["season", "form", "promoted"].into_iter().filter(|member| !is_field || *member == "season") {
                settings.as_object_mut().unwrap().shift_remove(member);
            }
            let before = server.changes("AccountA").await.len();
            server.put(path, &settings.to_string()).await.expect(200);
            assert_eq!(server.changes("AccountA").await.len(), before, "{path}: what was read and written back changed it");
            // So does what is shown in one language.
            let default = server.get(&path_with).await.expect(200).json();
            let mut settings = default["settings"].clone();
            for member in ["season", "form", "promoted"].into_iter().filter(|member| !is_field || *member == "season") {
                settings.as_object_mut().unwrap().shift_remove(member);
            }
            server.put(path, &settings.to_string()).await.expect(200);
            assert_eq!(server.changes("AccountA").await.len(), before, "{path}: what was read in one language changed it");
            let texts = default["settings"]["translated"].as_object().unwrap();
            assert!(texts.values().all(|text| text.as_object().unwrap().keys().eq(["en_GB"])), "{texts:?}");
        }
        let wrong = server.get("/chapter/ChapterN?include=everything").await.expect(400).json();
        assert_eq!(wrong["errors"]["invalid_filter_values"], json!({"include": "must be settings"}));
        server.get("/chapter/ChapterN?other=1").await.expect(200);
    }

    async fn the_tag_of_what_shows_addresses_of_files_changes_before_these_end(server) {
        server.post("/category/CategChi/upload", &json!({"filename": "a.png", "data": PNG}).to_string()).await.expect(201);
        for path in ["/category/CategChi", "/attachment?season=all"] {
            let first = server.get(path).await.expect(200);
            assert!(first.text().contains("/download/"), "{path}: {}", first.text());
            let tag = first.header("etag").unwrap().to_owned();
            server.get_with(path, &[("if-none-match", &tag)]).await.expect(304);
            server.clock.advance(16 * 60);
            let later = server.get_with(path, &[("if-none-match", &tag)]).await.expect(200);
            assert_ne!(later.body, first.body, "{path}");
        }
        let plain = server.get("/chapter/ChapterN").await.header("etag").unwrap().to_owned();
        server.clock.advance(16 * 60);
        server.get_with("/chapter/ChapterN", &[("if-none-match", &plain)]).await.expect(304);
    }

    async fn what_links_lead_to_is_404_when_it_is_unknown_trashed_or_foreign_and_400_when_it_is_malformed(server) {
        let trashed = RECORDS.replace(r#""slug":"RoleJury","name""#, r#""slug":"RoleJury","deleted":true,"name""#);
        let trashed: Vec<&str> = trashed.lines().filter(|line| line.contains(r#""kind":"role""#)).collect();
        server.import(&of_account_a(&trashed.join("\n"))).await;
        for kind in ["role", "tax", "price", "panel", "review-stage", "content-block"] {
            for format in FORMATS {
                for (slug, status) in [("NoSuchXX", 404), ("RoleJury", 404), ("short", 400)] {
                    server.get_with(&format!("/{kind}/{slug}"), &[("accept", format)]).await.expect(status);
                }
            }
        }
    }
}
