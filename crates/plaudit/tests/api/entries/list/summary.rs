//! The summary, and its agreement with the list.

use serde_json::{Value, json};

use super::model::{population, start};
use super::{page, slugs};
use crate::both_engines;
use crate::harness::random::Random;
use crate::harness::{BASE, XML, tree};

const STATUSES: [&str; 6] =
    ["in_progress", "submitted", "resubmission_required", "resubmitted", "invited", "not_approved_for_submission"];

fn statuses(counts: [i64; 6]) -> Value {
    Value::Object(STATUSES.into_iter().map(str::to_owned).zip(counts.map(Value::from)).collect())
}

both_engines! {
    async fn the_summary_tells_how_many_entries_there_are(server) {
        let answer = server.get("/entry/summary").await.expect(200);
        let reference = |kind: &str, slug: &str, name: &str| json!({"slug": slug, "link": format!("{BASE}/{kind}/{slug}"), "name": {"en_GB": name}});
        let counts = statuses([1, 1, 0, 0, 0, 0]);
        let expected = json!({
            "season": reference("season", "SeasonAc", "Season 2026"), "total": 2, "statuses": counts,
            "chapters": [{"chapter": reference("chapter", "ChapterN", "North"), "total": 2, "statuses": counts}],
            "categories": [{"category": reference("category", "CategChi", "Posters"), "total": 2, "statuses": counts}],
        });
        assert_eq!(answer.text(), expected.to_string());
        let xml = server.get_with("/entry/summary", &[("accept", XML)]).await.expect(200);
        tree::assert_same(&answer.body, &xml.body);
        let tag = answer.header("etag").unwrap();
        server.get_with("/entry/summary", &[("if-none-match", tag)]).await.expect(304);
        server.delete("/entry/EntryTwo").await.expect(204);
        assert_eq!(server.get_with("/entry/summary", &[("if-none-match", tag)]).await.expect(200).json()["total"], 1);
        let all = server.get("/entry/summary?season=all").await.expect(200).json();
        assert_eq!((&all["season"], &all["total"]), (&Value::Null, &json!(2)));
        let none = server.get("/entry/summary?season=NoSuchSe").await.expect(200).json();
        assert_eq!(none, json!({"season": null, "total": 0, "statuses": statuses([0; 6]), "chapters": [], "categories": []}));
        server.get("/entry/summary?season=x").await.expect(400);
        let passed_over = server.get("/entry/summary?season=all&page=0&status=submitted&include=x").await.expect(200);
        assert_eq!(passed_over.json(), all, "it is no list");
    }

    async fn the_summary_agrees_with_the_list(server) {
        let mut server = server;
        start(&mut server, &population(200, &mut Random(9))).await;
        for season in ["", "season=SeasonUp", "season=all"] {
            let summary = server.get(&format!("/entry/summary?{season}")).await.expect(200).json();
            assert_eq!(summary["total"], page(&server, season).await["total"]);
            for (groups, group) in [("chapters", "chapter"), ("categories", "category")] {
                let mut total = 0;
                for counted in summary[groups].as_array().unwrap() {
                    let slug = counted[group]["slug"].as_str().unwrap();
                    let listed = page(&server, &format!("{season}&{group}={slug}")).await;
                    assert_eq!(counted["total"], listed["total"], "{season} {slug}");
                    assert!(!slugs(&listed).is_empty());
                    for status in &STATUSES[..4] {
                        let listed = page(&server, &format!("{season}&{group}={slug}&status={status}")).await;
                        assert_eq!(counted["statuses"][status], listed["total"], "{season} {slug} {status}");
                    }
                    total += counted["total"].as_i64().unwrap();
                }
                assert_eq!(summary["total"], total);
            }
        }
    }

    async fn a_summary_takes_one_statement(server) {
        server.get("/entry/summary").await.expect(200);
        assert_eq!(server.statements_of("/entry/summary").await, 1);
        assert_eq!(server.statements_of("/entry/EntryOne").await, 1);
    }
}
