//! `GetScoreSetCollectionV23` and `GetScoreSetV23`. Filters, sorts and pages: `setup_lists`.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, XML, tree};

const SCORE_SETS: &str = r#"{"kind":"score_set","slug":"ScoreOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Jury","de_DE":"Jury"},"mode":"vip_judging","order":3,"created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-03T00:00:00.000000Z"}
{"kind":"score_set","slug":"ScoreTwo","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Public vote"},"mode":"voting","created":"2025-01-01T00:00:00.000000Z","updated":"2025-01-02T00:00:00.000000Z"}
{"kind":"score_set","slug":"ScoreArc","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Archived"},"mode":"gallery","archived":true}
{"kind":"score_set","slug":"ScoreDel","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Gone"},"mode":"gallery","deleted":true}"#;

fn jury() -> Value {
    json!({
        "created": "2025-01-01T00:00:00.000000Z",
        "form": "FormEntr",
        "mode": "vip_judging",
        "name": {"en_GB": "Jury"},
        "order": 3,
        "season": {
            "slug": "SeasonAc", "link": format!("{BASE}/season/SeasonAc"), "name": {"en_GB": "Season 2026"}
        },
        "slug": "ScoreOne",
        "updated": "2025-01-03T00:00:00.000000Z"
    })
}

both_engines! {
    async fn a_score_set_is_shown_with_every_member_in_order(server) {
        server.import(&of_account_a(SCORE_SETS)).await;
        assert_eq!(server.get("/score-set/ScoreOne").await.expect(200).text(), jury().to_string());
        let page = server.get("/score-set").await.expect(200).json();
        assert_eq!((&page["data"][0], &page["total"]), (&jury(), &json!(2)));
        assert_eq!(page["path"], format!("{BASE}/score-set"));
        assert_eq!(server.get("/score-set/ScoreTwo").await.expect(200).json()["order"], json!(null));
        let all = server.get_with("/score-set/ScoreOne", &[("x-api-language", "all")]).await.expect(200);
        let xml = server.get_with("/score-set/ScoreOne", &[("x-api-language", "all"), ("accept", XML)]).await.expect(200);
        tree::assert_same(&all.body, &xml.body);
    }

    async fn a_score_set_that_is_unknown_trashed_or_of_another_account_is_404(server) {
        server.import(&of_account_a(SCORE_SETS)).await;
        for format in FORMATS {
            let unknown = server.get_with("/score-set/NoSuchSc", &[("accept", format)]).await.expect(404);
            for slug in ["ScoreDel", "BFormEnt", "SeasonAc"] {
                let answer = server.get_with(&format!("/score-set/{slug}"), &[("accept", format)]).await.expect(404);
                assert_eq!(answer.body, unknown.body, "{slug}");
            }
            server.get_with("/score-set/Score1", &[("accept", format)]).await.expect(400);
        }
        server.get("/score-set/ScoreArc").await.expect(200);
        let key = server.new_key("AccountB", plaudit::program::keys::Scope::Read).await;
        server.get_with("/score-set/ScoreOne", &[("x-api-key", &key)]).await.expect(404);
    }

    async fn the_tag_of_a_score_set_changes_with_it(server) {
        server.import(&of_account_a(SCORE_SETS)).await;
        for path in ["/score-set", "/score-set/ScoreOne"] {
            let first = server.get(path).await.expect(200).header("etag").unwrap().to_owned();
            server.get_with(path, &[("if-none-match", &first)]).await.expect(304);
            let name = format!("Renamed {}", path.len());
            server.import(&of_account_a(&SCORE_SETS.replace("Jury", &name))).await;
            let answer = server.get_with(path, &[("if-none-match", &first)]).await.expect(200);
            assert!(answer.text().contains(&name), "{}", answer.text());
        }
    }
}
