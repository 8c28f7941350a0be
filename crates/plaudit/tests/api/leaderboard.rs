//! `GetLeaderboardAnalysisV23` and `GetLeaderboardCollectionV23`.

mod decisions;

use db::Source;
use kernel::text::Slug;
use plaudit::records::{assignments, standings};
use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::FORMATS;
use crate::harness::fixture::of_account_a;
use crate::harness::{BASE, Server};

/// Score sets of the modes, judges, and entries that are judged.
const BOARDS: &str = r#"{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"score_set","slug":"ScorePoi","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging","min_judges":2,"tie_break":[{"by":"criterion","criterion":"CritIdea"}]}
{"kind":"criterion","slug":"CritCraf","score_set":"ScorePoi","name":{"en_GB":"Craft"},"maximum":10}
{"kind":"criterion","slug":"CritIdea","score_set":"ScorePoi","name":{"en_GB":"Idea"},"maximum":10}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying","qualifying":{"responses_needed":2,"share":50}}
{"kind":"score_set","slug":"ScoreTop","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Best"},"mode":"top_pick","top_pick":{"preferences":2}}
{"kind":"score_set","slug":"ScoreVot","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Vote"},"mode":"voting"}
{"kind":"score_set","slug":"ScoreDen","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Dense"},"mode":"voting","places":"dense"}
{"kind":"score_set","slug":"ScoreGal","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Gallery"},"mode":"gallery"}
{"kind":"user","slug":"UserJudA","first_name":"Grace","last_name":"Hopper","email":"grace@example.org","roles":["RoleJury"]}
{"kind":"user","slug":"UserJudB","first_name":"Edsger","last_name":"Dijkstra","email":"edsger@example.org","roles":["RoleJury"]}
{"kind":"entry","slug":"BoardAAA","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"A"}
{"kind":"entry","slug":"BoardBBB","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"B"}
{"kind":"entry","slug":"BoardCCC","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"C","tags":"Best"}"#;

pub(crate) async fn prepared(server: &Server) {
    server.import(&of_account_a(BOARDS)).await;
}

/// A sheet of a judge for an entry.
pub(crate) async fn sheet(server: &Server, entry: &str, judge: &str, set: &str, body: Value) {
    let link = json!({"score_set": set, "entry": entry, "judge": judge, "rounds": ["RoundJud"]});
    server.post("/assignment", &link.to_string()).await.expect(201);
    server.put(&format!("/assignment/{entry}{judge}{set}J/score"), &body.to_string()).await.expect(200);
}

/// Slugs and ranks of a page.
async fn ranks(server: &Server, query: &str) -> Vec<(String, Value)> {
    let page = server.get(&format!("/leaderboard?{query}")).await.expect(200).json();
    let items = page["data"].as_array().unwrap().iter();
    items.map(|item| (item["slug"].as_str().unwrap().to_owned(), item["rank"].clone())).collect()
}

fn expected(of: &[(&str, Value)]) -> Vec<(String, Value)> {
    of.iter().map(|(slug, rank)| ((*slug).to_owned(), rank.clone())).collect()
}

/// The last letters of the entries of a page.
async fn order(server: &Server, query: &str) -> String {
    ranks(server, query).await.into_iter().filter_map(|(slug, _)| slug.chars().last()).collect()
}

both_engines! {
    async fn a_board_is_in_any_order_of_its_entries_and_follows_them(server) {
        let entry = |letter: char, more: &str| {
            let slug = format!("Board{}", letter.to_string().repeat(3));
            format!(r#"{{"kind":"entry","slug":"{slug}","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"{letter}"{more}}}"#)
        };
        let link = |entry: &str| format!(r#"{{"kind":"assignment","entry":"{entry}","judge":"UserJudA","score_set":"ScoreQua"}}"#);
        let (set_up, _) = BOARDS.split_once("\n{\"kind\":\"entry\"").unwrap();
        // The assignments come before their entries.
        let lines = [
            link("BoardAAA"), link("BoardBBB"), link("BoardCCC"), set_up.to_owned(),
            entry('A', r#","division":2,"auto_score":-1.5,"tags":"b,a","submitted":"2025-06-02T10:00:00Z","status":"submitted""#),
            entry('B', r#","division":3,"auto_score":10,"tags":"A","submitted":"2025-06-01T10:00:00Z","status":"submitted""#),
            entry('C', r#","auto_score":9.25,"tags":"""#),
        ];
        server.import(&of_account_a(&lines.join("\n"))).await;
        let board = "score_set=ScoreQua&order";
        for (by, expected) in [("division", "CAB"), ("submitted", "CBA"), ("auto_score", "ACB"), ("tags", "CBA"), ("title", "ABC")] {
            assert_eq!(order(&server, &format!("{board}={by}")).await, expected, "{by}");
            let reversed: String = expected.chars().rev().collect();
            assert_eq!(order(&server, &format!("{board}={by}&dir=desc")).await, reversed, "{by}");
        }
        server.put("/entry/BoardCCC/tag/c", "").await.expect(201);
        assert_eq!(order(&server, &format!("{board}=tags")).await, "BAC");
        server.import(&of_account_a(&entry('A', r#","division":4,"auto_score":20,"tags":"b,a""#))).await;
        assert_eq!(order(&server, &format!("{board}=division")).await, "CBA");
        assert_eq!(order(&server, &format!("{board}=auto_score")).await, "CBA");
        server.post("/assignment", r#"{"score_set":"ScoreVot","entry":"BoardAAA","judge":"UserJudA","rounds":["RoundJud"]}"#).await.expect(201);
        server.post("/assignment", r#"{"score_set":"ScoreVot","entry":"BoardBBB","judge":"UserJudA","rounds":["RoundJud"]}"#).await.expect(201);
        assert_eq!(order(&server, "score_set=ScoreVot&order=division").await, "BA");
    }

    async fn entries_have_places_by_their_points_and_ties_are_told_apart(server) {
        prepared(&server).await;
        for (entry, judge, craft, idea) in [
            ("BoardAAA", "UserJudA", 8, 2), ("BoardAAA", "UserJudB", 8, 2),
            ("BoardBBB", "UserJudA", 4, 6), ("BoardBBB", "UserJudB", 5, 5),
            ("BoardCCC", "UserJudA", 10, 10),
        ] {
            sheet(&server, entry, judge, "ScorePoi", json!({"criteria": {"CritCraf": craft, "CritIdea": idea}})).await;
        }
        let board = "score_set=ScorePoi";
        let best_first = expected(&[("BoardBBB", json!(1)), ("BoardAAA", json!(2)), ("BoardCCC", Value::Null)]);
        assert_eq!(ranks(&server, &format!("{board}&order=rank")).await, best_first);
        assert_eq!(ranks(&server, &format!("{board}&order=score&dir=desc")).await, best_first);
        let least_first = expected(&[("BoardCCC", Value::Null), ("BoardAAA", json!(2)), ("BoardBBB", json!(1))]);
        assert_eq!(ranks(&server, &format!("{board}&order=score")).await, least_first);
        assert_eq!(ranks(&server, &format!("{board}&order=rank&per_page=1&page=2")).await, best_first[1..2]);
        assert_eq!(ranks(&server, &format!("{board}&order=title&dir=desc")).await[2], ("BoardAAA".to_owned(), json!(2)));
        assert_eq!(ranks(&server, &format!("{board}&entry=BoardAAA&order=rank")).await, best_first[1..2]);
        let page = server.get(&format!("/leaderboard?{board}&order=rank")).await.expect(200).json();
        assert_eq!(page["score_set"], json!({"slug": "ScorePoi", "name": {"en_GB": "Final"}, "mode": "vip_judging", "form": "FormEntr"}));
        assert_eq!(page["season"]["slug"], "SeasonAc");
        let first = &page["data"][0];
        assert_eq!(first["scores"]["total_score"], json!({"value": 10, "max_score": 20, "final_score": "10/20"}));
        assert_eq!(first["scores"]["criteria"][1]["value"], 5.5);
        assert_eq!(first["link"], format!("{BASE}/entry/BoardBBB"));
        assert_eq!(first["tie_steps"], json!([{"by": "criterion", "criterion": "CritIdea", "value": "5.500000", "tied": 1}]));
        let names: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
        let members = [
            "slug", "title", "tags", "category", "chapter", "division", "submitted", "auto_score", "status", "grant_status", "link",
            "scores", "rank", "sheets", "tie_steps",
        ];
        assert_eq!(names, members);
        // Among other entries, another place.
        assert_eq!(ranks(&server, &format!("{board}&tag=Best")).await, expected(&[("BoardCCC", Value::Null)]));
        sheet(&server, "BoardCCC", "UserJudB", "ScorePoi", json!({"criteria": {"CritCraf": 10, "CritIdea": 10}})).await;
        assert_eq!(ranks(&server, &format!("{board}&order=rank")).await[0], ("BoardCCC".to_owned(), json!(1)));
        assert_eq!(ranks(&server, &format!("{board}&order=rank")).await[2], ("BoardAAA".to_owned(), json!(3)));
        server.delete("/entry/BoardBBB").await.expect(204);
        assert_eq!(ranks(&server, &format!("{board}&order=rank")).await[1], ("BoardAAA".to_owned(), json!(2)));
    }

    async fn an_analysis_tells_the_severity_of_judges_from_the_scores(server) {
        prepared(&server).await;
        let asked = "/leaderboard/analysis?score_set=ScorePoi";
        let none = server.get(asked).await.expect(422).json();
        assert_eq!(none["message"], "The sheets of the score set have no analysis: there are no observations.");
        for (entry, judge, points) in [
            ("BoardAAA", "UserJudA", 5), ("BoardAAA", "UserJudB", 8), ("BoardBBB", "UserJudA", 3), ("BoardBBB", "UserJudB", 5),
            ("BoardCCC", "UserJudB", 10),
        ] {
            sheet(&server, entry, judge, "ScorePoi", json!({"criteria": {"CritCraf": points, "CritIdea": 0}})).await;
        }
        let found = server.get(asked).await.expect(200).json();
        let entries: Vec<(&str, f64, i64)> = found["entries"].as_array().unwrap().iter().map(|entry| {
            (entry["entry"]["title"].as_str().unwrap(), entry["raw"].as_f64().unwrap(), entry["rank"].as_i64().unwrap())
        }).collect();
        assert_eq!(entries, [("A", 6.5, 1), ("B", 4.0, 2)], "too few have judged C");
        let severities: Vec<f64> = found["judges"].as_array().unwrap().iter().map(|of| of["severity"].as_f64().unwrap()).collect();
        assert!(severities[0] < 0.0 && severities[1] > 0.0, "{severities:?}");
        assert_eq!(found["judges"][1]["judge"]["name"], "Edsger Dijkstra");
        assert_eq!((&found["components"], &found["agreement"]["n"]), (&json!(1), &json!(4)));
        sheet(&server, "BoardCCC", "UserJudA", "ScorePoi", json!({"criteria": {"CritCraf": 9, "CritIdea": 0}})).await;
        let found = server.get(asked).await.expect(200).json();
        assert_eq!(found["entries"][0]["entry"]["title"], "C", "current with the next request");
        assert_eq!(found["entries"].as_array().unwrap().len(), 3);
        assert_eq!(server.get(asked).await.expect(200).json(), found);
        server.put("/entry/BoardCCC/update-title", r#"{"title":"D"}"#).await.expect(200);
        assert_eq!(server.get(asked).await.expect(200).json()["entries"][0]["entry"]["title"], "D", "nothing out of date is kept");
        server.put("/entry/BoardCCC/update-title", r#"{"title":"C"}"#).await.expect(200);
        for (selection, titles) in [("tag=Best", vec!["C"]), ("category=CategChi", vec!["C", "A", "B"]), ("tag=none", vec![])] {
            let answer = server.get(&format!("{asked}&{selection}")).await;
            if titles.len() < 2 {
                answer.expect(422);
                continue;
            }
            let found = answer.expect(200).json();
            let shown: Vec<&str> = found["entries"].as_array().unwrap().iter().map(|of| of["entry"]["title"].as_str().unwrap()).collect();
            assert_eq!(shown, titles, "{selection}");
        }
        server.get("/leaderboard/analysis?score_set=ScoreVot").await.expect(422);
        server.get("/leaderboard/analysis?score_set=NoSuchSc").await.expect(404);
        server.get("/leaderboard/analysis?category=CategChi").await.expect(400);
    }

    async fn decisions_votes_and_preferences_have_boards(server) {
        prepared(&server).await;
        for (entry, judge, decision) in [
            ("BoardAAA", "UserJudA", "pass"), ("BoardAAA", "UserJudB", "fail"), ("BoardBBB", "UserJudA", "fail"),
            ("BoardBBB", "UserJudB", "fail"), ("BoardCCC", "UserJudA", "unsure"),
        ] {
            sheet(&server, entry, judge, "ScoreQua", json!({"decision": decision})).await;
        }
        let page = server.get("/leaderboard?score_set=ScoreQua&order=slug").await.expect(200).json();
        let decisions: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|item| &item["scores"]["final_decision"]).collect();
        assert_eq!(decisions, [&json!("pass"), &json!("fail"), &json!("unsure")]);
        for (entry, judge, votes) in [("BoardAAA", "UserJudA", 3), ("BoardBBB", "UserJudA", 5), ("BoardCCC", "UserJudB", 5)] {
            for set in ["ScoreVot", "ScoreDen"] {
                sheet(&server, entry, judge, set, json!({"votes": votes})).await;
            }
        }
        let dense = expected(&[("BoardBBB", json!(1)), ("BoardCCC", json!(1)), ("BoardAAA", json!(2))]);
        assert_eq!(ranks(&server, "score_set=ScoreDen&order=rank").await, dense);
        let votes = expected(&[("BoardBBB", json!(1)), ("BoardCCC", json!(1)), ("BoardAAA", json!(3))]);
        assert_eq!(ranks(&server, "score_set=ScoreVot&order=rank").await, votes);
        let least_first = expected(&[("BoardAAA", json!(3)), ("BoardBBB", json!(1)), ("BoardCCC", json!(1))]);
        assert_eq!(ranks(&server, "score_set=ScoreVot&order=rank&dir=desc").await, least_first, "ties go by slug in both directions");
        assert_eq!(ranks(&server, "score_set=ScoreVot&order=score").await, least_first);
        for (entry, judge, preference) in [
            ("BoardAAA", "UserJudA", 1), ("BoardBBB", "UserJudA", 2), ("BoardAAA", "UserJudB", 1), ("BoardCCC", "UserJudB", 2),
        ] {
            sheet(&server, entry, judge, "ScoreTop", json!({"preference": preference})).await;
        }
        let top = ranks(&server, "score_set=ScoreTop&order=rank").await;
        assert_eq!(top[0], ("BoardAAA".to_owned(), json!(1)));
        let page = server.get("/leaderboard?score_set=ScoreTop&order=rank").await.expect(200).json();
        assert_eq!(page["data"][0]["scores"], json!({"preference_1": 2, "preference_2": 0}));
    }

    async fn what_a_lot_would_decide_is_a_tie_for_the_steps_of_the_score_set(server) {
        prepared(&server).await;
        for (at, method) in ["stv", "meek", "kemeny", "schulze", "borda"].into_iter().enumerate() {
            let set = format!("ScoreTi{}", char::from(b'A' + u8::try_from(at).unwrap()));
            let line = json!({"kind": "score_set", "slug": set, "season": "SeasonAc", "form": "FormEntr", "name": {"en_GB": method},
                "mode": "top_pick", "top_pick": {"preferences": 2, "winners": 1, "method": method}});
            server.import(&of_account_a(&line.to_string())).await;
            sheet(&server, "BoardAAA", "UserJudA", &set, json!({"preference": 1})).await;
            sheet(&server, "BoardBBB", "UserJudB", &set, json!({"preference": 1})).await;
            let board = format!("score_set={set}&order=rank");
            assert_eq!(ranks(&server, &board).await, expected(&[("BoardAAA", json!(1)), ("BoardBBB", json!(1))]), "{method}");
            let vote = json!({"score_set": set, "entries": ["BoardBBB", "BoardAAA"], "reason": "The chair"});
            server.put("/leaderboard/casting-vote", &vote.to_string()).await.expect(200);
            assert_eq!(ranks(&server, &board).await, expected(&[("BoardBBB", json!(1)), ("BoardAAA", json!(2))]), "{method}");
            let page = server.get(&format!("/leaderboard?{board}")).await.expect(200).json();
            assert_eq!(page["data"][0]["tie_steps"][0]["by"], "casting_vote", "{method} {page}");
        }
    }

    async fn a_board_needs_a_score_set_that_is_judged(server) {
        prepared(&server).await;
        for format in FORMATS {
            let answer = server.get_with("/leaderboard", &[("accept", format)]).await.expect(400);
            assert!(answer.text().contains("score_set"), "{}", answer.text());
            server.get_with("/leaderboard?score_set=NoSuchSc", &[("accept", format)]).await.expect(404);
            server.get_with("/leaderboard?score_set=ScoreGal", &[("accept", format)]).await.expect(422);
            server.get_with("/leaderboard?score_set=ScorePoi&status=submitted", &[("accept", format)]).await.expect(400);
        }
        assert_eq!(ranks(&server, "score_set=ScorePoi").await, []);
    }

    async fn places_on_every_page_are_those_of_the_whole_board(server) {
        prepared(&server).await;
        let styles = ["competition", "dense", "modified"];
        let mut lines = Vec::new();
        let slug = |at: usize| format!("Place{}", char::from(b'a' + u8::try_from(at).unwrap()).to_string().repeat(3));
        // Groups of one score, of which the idea tells some apart.
        let points = [(5, 5), (6, 4), (4, 6), (5, 5), (9, 9), (4, 4), (3, 5), (4, 4), (2, 1), (1, 2), (1, 1), (0, 0), (0, 0)];
        for (at, _) in points.iter().enumerate() {
            lines.push(json!({"kind": "entry", "slug": slug(at), "season": "SeasonAc", "form": "FormEntr", "category": "CategChi",
                "chapter": "ChapterN", "entrant": "UserEntr", "title": slug(12 - at)}));
        }
        for (number, places) in styles.iter().enumerate() {
            let letter = ["A", "B", "C"][number];
            let (set, craft, idea) = (format!("ScorePl{letter}"), format!("CritCra{letter}"), format!("CritIde{letter}"));
            let name = json!({"en_GB": set});
            lines.push(json!({"kind": "score_set", "slug": set, "season": "SeasonAc", "form": "FormEntr", "name": name,
                "mode": "vip_judging", "places": places, "tie_break": [{"by": "criterion", "criterion": idea}]}));
            for criterion in [&craft, &idea] {
                let name = json!({"en_GB": criterion});
                lines.push(json!({"kind": "criterion", "slug": criterion, "score_set": set, "name": name, "maximum": 10}));
            }
            for (at, (of_craft, of_idea)) in points.iter().enumerate() {
                lines.push(json!({"kind": "assignment", "entry": slug(at), "judge": "UserJudA", "score_set": set, "scores": [
                    {"criterion": craft, "value": of_craft}, {"criterion": idea, "value": of_idea}]}));
            }
        }
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        server.import(&of_account_a(&lines.join("\n"))).await;
        let account = server.account("AccountA").await;
        let program = server.app.programs.reload(account).await.unwrap().unwrap();
        let vote = json!({"entries": [slug(11), slug(12)], "reason": "The chair"});
        for is_voted in [false, true] {
            for set in ["ScorePlA", "ScorePlB", "ScorePlC"] {
                if is_voted {
                    let mut vote = vote.clone();
                    vote["score_set"] = json!(set);
                    server.put("/leaderboard/casting-vote", &vote.to_string()).await.expect(200);
                }
                let score_set = program.score_sets.live(Slug::parse(set).unwrap()).unwrap();
                let mut source = Source::Db(&server.db);
                let decided = standings::store::decided(&mut source, account, score_set.slug, &program.context).await.unwrap();
                let of_set = (score_set.slug, None);
                let sheets = assignments::store::of_score_set(&mut source, account, of_set, &program.context).await.unwrap();
                let entries = sheets.iter().map(|sheet| sheet.entry).collect();
                let whole = standings::whole::board(&program, (score_set, &decided), &entries, &sheets).unwrap();
                let mut whole: Vec<_> = whole.into_iter().map(|placed| (placed.entry.to_string(), json!(placed.rank))).collect();
                whole.sort_by(|one, other| one.0.cmp(&other.0));
                for (order, per_page) in [("rank", 1), ("rank", 3), ("rank&dir=desc", 2), ("title", 4), ("score", 100)] {
                    let mut shown = Vec::new();
                    for page in 1..=points.len().div_ceil(per_page) {
                        shown.extend(ranks(&server, &format!("score_set={set}&order={order}&per_page={per_page}&page={page}")).await);
                    }
                    shown.sort_by(|one, other| one.0.cmp(&other.0));
                    assert_eq!(shown, whole, "{set} {order} {per_page}");
                }
            }
        }
        let last = ranks(&server, "score_set=ScorePlB&order=rank&dir=desc&per_page=1").await;
        assert_eq!(last[0].1, 11);
    }
}
