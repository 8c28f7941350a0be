//! `GetRoundCollectionV23` and `GetRoundV23`. Filters, sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, XML, tree};

const ROUNDS: &str = r#"{"kind":"round","slug":"RoundOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Entries","de_DE":"Einreichung"},"type":"entry","chapters":["ChapterS","ChapterN"],"start_date":"2026-01-01 09:00:00","end_date":"2026-03-29 01:30:00","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-03T00:00:00.000000Z"}
{"kind":"round","slug":"RoundTwo","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"round","slug":"RoundDel","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Gone"},"type":"judge","deleted":true}"#;

fn chapter(slug: &str, name: &str) -> Value {
    json!({"slug": slug, "link": format!("{BASE}/chapter/{slug}"), "name": {"en_GB": name}})
}

fn first() -> Value {
    json!({
        "chapters": [chapter("ChapterS", "South"), chapter("ChapterN", "North")],
        "created": "2025-01-01T00:00:00.000000Z",
        "end_date": "2026-03-29 01:30:00",
        "start_date": "2026-01-01 09:00:00",
        "form": "FormEntr",
        "name": {"en_GB": "Entries"},
        "season": {
            "slug": "SeasonAc", "link": format!("{BASE}/season/SeasonAc"), "name": {"en_GB": "Season 2026"}
        },
        "slug": "RoundOne",
        "type": "entry",
        "updated": "2025-01-03T00:00:00.000000Z"
    })
}

both_engines! {
    async fn a_round_is_shown_with_every_member_in_order_and_its_times_as_they_are_set(server) {
        server.import(&of_account_a(ROUNDS)).await;
        assert_eq!(server.get("/round/RoundOne").await.expect(200).text(), first().to_string());
        let page = server.get("/round").await.expect(200).json();
        assert_eq!((&page["data"][0], &page["total"]), (&first(), &json!(2)));
        let bare = server.get("/round/RoundTwo").await.expect(200).json();
        assert_eq!((&bare["chapters"], &bare["start_date"], &bare["end_date"]), (&json!([]), &json!(null), &json!(null)));
        let all = server.get_with("/round/RoundOne", &[("x-api-language", "all")]).await.expect(200);
        assert_eq!(all.json()["name"], json!({"en_GB": "Entries", "de_DE": "Einreichung", "ar_AR": ""}));
        let xml = server.get_with("/round/RoundOne", &[("x-api-language", "all"), ("accept", XML)]).await.expect(200);
        tree::assert_same(&all.body, &xml.body);
    }

    async fn a_round_that_is_unknown_trashed_or_of_another_account_is_404(server) {
        server.import(&of_account_a(ROUNDS)).await;
        let foreign = r#"{"kind":"account","slug":"AccountB","name":"Awards B","default_language":"de_DE","languages":["de_DE"],"timezone":"Europe/Berlin","features":["api"],"rate_limit":1000000,"hosts":["b.example.org"],"created":"2025-01-01T00:00:00.000000Z"}
{"kind":"round","slug":"BRoundOn","season":"BSeasonA","form":"BFormEnt","name":{"de_DE":"Runde"},"type":"entry"}"#;
        server.import(foreign).await;
        for format in FORMATS {
            let unknown = server.get_with("/round/NoSuchRo", &[("accept", format)]).await.expect(404);
            for slug in ["RoundDel", "BRoundOn", "SeasonAc"] {
                let answer = server.get_with(&format!("/round/{slug}"), &[("accept", format)]).await.expect(404);
                assert_eq!(answer.body, unknown.body, "{slug}");
            }
            server.get_with("/round/Round1", &[("accept", format)]).await.expect(400);
        }
        assert_eq!(server.get("/round?trashed=only").await.json()["data"][0]["slug"], "RoundDel");
    }

    async fn the_tag_of_a_round_changes_with_it(server) {
        server.import(&of_account_a(ROUNDS)).await;
        for path in ["/round", "/round/RoundOne"] {
            let first = server.get(path).await.expect(200).header("etag").unwrap().to_owned();
            server.get_with(path, &[("if-none-match", &first)]).await.expect(304);
            let name = format!("Renamed {}", path.len());
            server.import(&of_account_a(&ROUNDS.replace("Entries", &name))).await;
            let answer = server.get_with(path, &[("if-none-match", &first)]).await.expect(200);
            assert!(answer.text().contains(&name), "{}", answer.text());
        }
    }
}
