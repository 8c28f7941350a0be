//! `GetSeasonCollectionV23` and `GetSeasonV23`. Sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, JSON, XML, tree};

fn active() -> Value {
    json!({
        "created": "2025-01-01T00:00:00.000000Z",
        "name": {"en_GB": "Season 2026"},
        "slug": "SeasonAc",
        "status": "active",
        "updated": "2025-01-02T00:00:00.000000Z"
    })
}

both_engines! {
    async fn a_season_is_shown_with_every_member_in_order(server) {
        let answer = server.get("/season/SeasonAc").await.expect(200);
        assert_eq!(answer.text(), active().to_string());
        let german = server.get_with("/season/SeasonAc", &[("x-api-language", "de_DE")]).await.expect(200);
        assert_eq!(german.json()["name"], json!({"de_DE": "Saison 2026"}));
        let all = server.get_with("/season/SeasonAc", &[("x-api-language", "all")]).await.expect(200);
        assert_eq!(all.json()["name"], json!({"en_GB": "Season 2026", "de_DE": "Saison 2026", "ar_AR": ""}));
        let xml = server.get_with("/season/SeasonAc", &[("x-api-language", "all"), ("accept", XML)]).await.expect(200);
        tree::assert_same(&all.body, &xml.body);
    }

    async fn a_list_shows_the_seasons_of_the_account_in_its_envelope(server) {
        let answer = server.get("/season").await.expect(200);
        let old = json!({
            "created": "2024-01-01T00:00:00.000000Z",
            "name": {"en_GB": "Season 2025"},
            "slug": "SeasonOl",
            "status": "archived",
            "updated": "2025-01-02T00:00:00.000000Z"
        });
        let page = format!("{BASE}/season?page=1");
        let expected = json!({
            "current_page": 1, "data": [active(), old],
            "first_page_url": page, "last_page": 1, "last_page_url": page, "next_page_url": "", "prev_page_url": "",
            "path": format!("{BASE}/season"), "per_page": 10, "from": 1, "to": 2, "total": 2
        });
        assert_eq!(answer.text(), expected.to_string());
        let xml = server.get_with("/season", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
    }

    async fn the_tag_of_a_season_changes_with_it(server) {
        for path in ["/season", "/season/SeasonAc"] {
            let first = server.get(path).await.expect(200).header("etag").unwrap().to_owned();
            server.get_with(path, &[("if-none-match", &first)]).await.expect(304);
            for other in [("accept", XML), ("x-api-language", "all")] {
                assert_ne!(server.get_with(path, &[other]).await.header("etag"), Some(first.as_str()), "{path}");
            }
            let name = format!("Renamed {}", path.len());
            let line = format!(r#"{{"kind":"season","slug":"SeasonAc","name":{{"en_GB":"{name}"}},"status":"active"}}"#);
            server.import(&of_account_a(&line)).await;
            let answer = server.get_with(path, &[("if-none-match", &first)]).await.expect(200);
            assert!(answer.text().contains(&name), "{}", answer.text());
        }
    }

    async fn a_season_that_is_unknown_trashed_or_of_another_account_is_404(server) {
        let line = r#"{"kind":"season","slug":"SeasonTr","name":{"en_GB":"Gone"},"status":"draft","deleted":true}"#;
        server.import(&of_account_a(line)).await;
        for format in FORMATS {
            let unknown = server.get_with("/season/NoSuchSe", &[("accept", format)]).await.expect(404);
            for slug in ["SeasonTr", "BSeasonA", "ChapterN"] {
                let answer = server.get_with(&format!("/season/{slug}"), &[("accept", format)]).await.expect(404);
                assert_eq!(answer.body, unknown.body, "{slug}");
            }
            server.get_with("/season/short", &[("accept", format)]).await.expect(400);
        }
        assert_eq!(server.get("/season").await.json()["total"], 2, "the list leaves out the trash");
    }

    async fn a_season_can_only_be_read(server) {
        for (method, path) in [("POST", "/season"), ("PUT", "/season/SeasonAc"), ("DELETE", "/season/SeasonAc")] {
            let request = server.request(method, path, &[("accept", JSON)], Some("{}"));
            let answer = server.send(request).await.expect(405);
            assert!(answer.header("allow").is_some_and(|allow| allow.contains("GET")), "{method} {path}");
        }
    }
}
