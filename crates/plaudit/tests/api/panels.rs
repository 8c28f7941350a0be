//! What panels assign follows entries, judges, conflicts and the panels themselves.

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::Server;
use crate::harness::fixture::of_account_a;

const SETUP: &str = r#"{"kind":"role","slug":"RoleCham","name":{"en_GB":"Entrant"},"type":"entrant"}
{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}"#;

fn panel(slug: &str, more: &str) -> String {
    format!(
        r#"{{"kind":"panel","slug":"{slug}","season":"SeasonAc","score_set":"ScoreQua","name":{{"en_GB":"{slug}"}},"rounds":["RoundJud"]{more}}}"#
    )
}

fn user(letter: char) -> String {
    json!({"kind": "user", "slug": format!("UserPan{letter}"), "first_name": letter.to_string(), "last_name": "Judge",
        "email": format!("{letter}@example.org"), "roles": ["RoleJury"]})
    .to_string()
}

fn entry(letter: char, tags: &str) -> String {
    json!({"kind": "entry", "slug": format!("EntryPa{letter}"), "local_id": 500 + u32::from(letter), "title": letter.to_string(),
        "status": "submitted", "season": "SeasonAc", "category": "CategChi", "chapter": "ChapterS", "form": "FormEntr",
        "entrant": "UserEntr", "tags": tags})
    .to_string()
}

async fn import(server: &Server, lines: &[String]) {
    server.import(&of_account_a(&lines.join("\n"))).await;
    server.settle().await;
}

/// A panel of the judges A to C, of the entries A to D that are tagged.
async fn prepared(server: &Server, more: &str) {
    let mut lines =
        vec![SETUP.to_owned(), panel("PanelAAA", &format!(r#","roles":["RoleJury"],"tags":["judged"]{more}"#))];
    lines.extend(['A', 'B', 'C'].map(user));
    lines.extend(['A', 'B', 'C', 'D'].map(|letter| entry(letter, "judged")));
    import(server, &lines).await;
}

/// The assignments that are of one of these kinds, each by the letters of its entry and its judge.
async fn pairs(server: &Server, method: &str) -> Vec<String> {
    let page =
        server.get(&format!("/assignment?score_set=ScoreQua&method={method}&per_page=100")).await.expect(200).json();
    let last = |item: &Value| item["slug"].as_str().unwrap().chars().last().unwrap();
    let items = page["data"].as_array().unwrap().iter();
    let mut pairs: Vec<String> =
        items.map(|item| [last(&item["entry"]), last(&item["judge"])].iter().collect()).collect();
    pairs.sort();
    pairs
}

async fn automatic(server: &Server) -> Vec<String> {
    server.settle().await;
    pairs(server, "automatic").await
}

fn slug(pair: &str) -> String {
    let mut letters = pair.chars();
    format!("EntryPa{}UserPan{}ScoreQuaJ", letters.next().unwrap(), letters.next().unwrap())
}

both_engines! {
    async fn every_judge_of_a_panel_judges_every_entry_of_it(server) {
        prepared(&server, "").await;
        let all = ["AA", "AB", "AC", "BA", "BB", "BC", "CA", "CB", "CC", "DA", "DB", "DC"];
        assert_eq!(automatic(&server).await, all);
        let shown = server.get(&format!("/assignment/{}", slug("AB"))).await.expect(200).json();
        assert_eq!((&shown["panels"][0]["slug"], &shown["rounds"][0]["slug"]), (&json!("PanelAAA"), &json!("RoundJud")));
        let changes = server.changes("AccountA").await.len();
        server.settle().await;
        assert_eq!(server.changes("AccountA").await.len(), changes, "nothing is written again");
    }

    async fn assignments_follow_entries_roles_and_panels(server) {
        prepared(&server, "").await;
        server.delete("/entry/EntryPaA/tag/judged").await.expect(201);
        server.put("/user/UserPanC", r#"{"roles":["RoleCham"]}"#).await.expect(200);
        server.delete("/entry/EntryPaD").await.expect(204);
        assert_eq!(automatic(&server).await, ["BA", "BB", "CA", "CB"]);
        server.put("/entry/EntryPaA/tag/judged", "").await.expect(201);
        server.put("/user/UserPanC", r#"{"roles":["RoleJury"]}"#).await.expect(200);
        server.put("/entry/EntryPaB", r#"{"moderation_status":"rejected"}"#).await.expect(200);
        assert_eq!(automatic(&server).await, ["AA", "AB", "AC", "CA", "CB", "CC"]);
        import(&server, &[panel("PanelAAA", r#","judges":["UserPanA"],"roles":[],"tags":["judged"]"#)]).await;
        assert_eq!(automatic(&server).await, ["AA", "CA"]);
        import(&server, &[panel("PanelAAA", r#","judges":["UserPanA"],"roles":[],"tags":["judged"],"status":"inactive""#)]).await;
        assert_eq!(automatic(&server).await, [""; 0]);
    }

    async fn a_sheet_that_was_begun_is_stray_without_its_cause_and_counts_again_with_it(server) {
        prepared(&server, "").await;
        server.put(&format!("/assignment/{}/score", slug("AA")), r#"{"decision":"pass"}"#).await.expect(200);
        let sheets = async || server.get("/leaderboard?score_set=ScoreQua&entry=EntryPaA").await.json()["data"][0]["sheets"].clone();
        assert_eq!(sheets().await, 1);
        server.delete("/entry/EntryPaA/tag/judged").await.expect(201);
        assert_eq!(automatic(&server).await.iter().filter(|pair| pair.starts_with('A')).count(), 0);
        assert_eq!(pairs(&server, "stray").await, ["AA"]);
        assert_eq!(sheets().await, 0);
        server.put("/entry/EntryPaA/tag/judged", "").await.expect(201);
        assert_eq!(automatic(&server).await.len(), 12);
        assert_eq!(sheets().await, 1);
    }

    async fn a_link_that_is_deleted_and_leaves_its_sheet_is_replaced(server) {
        prepared(&server, r#","judges_per_entry":2"#).await;
        let first = automatic(&server).await;
        let path = format!("/assignment/{}", slug(&first[0]));
        server.put(&format!("{path}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let shown = server.get(&path).await.expect(200).json();
        let body = json!({"entry": shown["entry"]["slug"], "judge": shown["judge"]["slug"], "score_set": "ScoreQua", "rounds": ["RoundJud"]});
        server.post("/assignment", &body.to_string()).await.expect(201);
        server.settle().await;
        assert_eq!(automatic(&server).await.len(), 7);
        server.delete(&path).await.expect(204);
        assert_eq!(automatic(&server).await.len(), 8, "the entry has two judges again");
    }

    async fn limits_hold_and_a_judge_who_drops_out_is_replaced(server) {
        prepared(&server, r#","judges_per_entry":2,"entries_per_judge":3"#).await;
        let first = automatic(&server).await;
        assert_eq!(first.len(), 8);
        for judge in ['A', 'B', 'C'] {
            assert!(first.iter().filter(|pair| pair.ends_with(judge)).count() <= 3, "{first:?}");
        }
        let (entry, judge) = first[0].split_at(1);
        let path = format!("/entry/EntryPa{entry}/recuse");
        server.put(&path, &json!({"judge": format!("UserPan{judge}")}).to_string()).await.expect(204);
        let second = automatic(&server).await;
        assert!(!second.contains(&first[0]));
        assert_eq!(pairs(&server, "recused").await, [first[0].clone()]);
    }

    async fn reassigning_leaves_the_place_to_the_panel(server) {
        prepared(&server, r#","judges_per_entry":1"#).await;
        let first = automatic(&server).await;
        let judge = first[0].chars().last().unwrap();
        let body = json!({"judge": format!("UserPan{judge}"), "score_set": "ScoreQua"});
        server.post("/assignment/reassign", &body.to_string()).await.expect(202);
        let second = automatic(&server).await;
        assert!(second.len() == 4 && second.iter().all(|pair| !pair.ends_with(judge)), "{second:?}");
        assert_eq!(pairs(&server, "manual").await, [""; 0]);
    }

    async fn nobody_in_conflict_and_no_link_of_others_is_touched(server) {
        let own = json!({"kind": "user", "slug": "UserEntr", "first_name": "Ann", "last_name": "Lister", "email": "ase@example.org",
            "roles": ["RoleJury"]});
        prepared(&server, "").await;
        import(&server, &[own.to_string()]).await;
        assert_eq!(automatic(&server).await.len(), 12, "who entered judges none of them");
        server.delete("/entry/EntryPaA/tag/judged").await.expect(201);
        assert_eq!(automatic(&server).await.len(), 9);
        let link = json!({"score_set": "ScoreQua", "entry": "EntryPaA", "judge": "UserPanB", "rounds": ["RoundJud"]});
        server.post("/assignment", &link.to_string()).await.expect(201);
        server.put("/entry/EntryPaA/tag/judged", "").await.expect(201);
        assert_eq!(automatic(&server).await.len(), 11);
        assert_eq!(pairs(&server, "manual").await, ["AB"]);
        server.post(&format!("/assignment/{}/conflict", slug("BB")), r#"{"comment":"My sister."}"#).await.expect(200);
        assert!(automatic(&server).await.contains(&"BB".to_owned()), "what a judge declares stays where it was declared");
    }

    async fn a_conflict_that_was_lifted_keeps_no_link(server) {
        prepared(&server, "").await;
        server.put(&format!("/assignment/{}/score", slug("AA")), r#"{"decision":"pass"}"#).await.expect(200);
        server.post(&format!("/assignment/{}/conflict", slug("AA")), r#"{"comment":"My sister."}"#).await.expect(200);
        server.settle().await;
        server.put("/entry/EntryPaA/unrecuse", r#"{"judge":"UserPanA"}"#).await.expect(204);
        assert_eq!(automatic(&server).await.len(), 12);
        server.delete("/entry/EntryPaA/tag/judged").await.expect(201);
        assert_eq!(automatic(&server).await.len(), 9);
        assert_eq!(pairs(&server, "stray").await, ["AA"]);
    }

    async fn what_a_panel_assigns_does_not_depend_on_the_order_of_changes(server) {
        prepared(&server, r#","judges_per_entry":1,"entries_per_judge":2"#).await;
        let first = automatic(&server).await;
        for letter in ['A', 'C', 'B', 'D'] {
            server.delete(&format!("/entry/EntryPa{letter}/tag/judged")).await.expect(201);
            server.settle().await;
        }
        assert_eq!(automatic(&server).await, [""; 0]);
        for letter in ['D', 'B', 'A', 'C'] {
            server.put(&format!("/entry/EntryPa{letter}/tag/judged"), "").await.expect(201);
            server.settle().await;
        }
        assert_eq!(automatic(&server).await, first);
    }
}
