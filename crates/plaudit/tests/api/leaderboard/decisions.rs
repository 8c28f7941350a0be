//! `PostLeaderboardAdvanceV23`, `GetLeaderboardCastingVoteV23`, `PutLeaderboardCastingVoteV23`, `DeleteLeaderboardCastingVoteV23`,
//! `GetLeaderboardLotV23` and `PutLeaderboardLotV23`.

use serde_json::{Value, json};

use super::{expected, prepared, ranks, sheet};
use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, JSON, Server};

const VOTE: &str = "/leaderboard/casting-vote";
const LOT: &str = "/leaderboard/lot";

/// Votes by which A and B are tied in front of C, in a score set of votes.
async fn tied(server: &Server) {
    prepared(server).await;
    for (entry, votes) in [("BoardAAA", 5), ("BoardBBB", 5), ("BoardCCC", 3)] {
        sheet(server, entry, "UserJudA", "ScoreVot", json!({ "votes": votes })).await;
    }
}

fn slugs(answer: &Value) -> [Vec<&str>; 2] {
    ["advanced", "tied"].map(|name| {
        let entries = answer[name].as_array().unwrap().iter();
        entries.map(|entry| entry["slug"].as_str().unwrap()).collect()
    })
}

/// Who goes on with this in the body, and who is tied across the line.
async fn advanced(server: &Server, more: Value) -> Value {
    let mut body = json!({"score_set": "ScoreVot", "tag": "final"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.post("/leaderboard/advance", &body.to_string()).await.expect(200).json()
}

async fn tags(server: &Server, entry: &str) -> String {
    server.get(&format!("/entry/{entry}")).await.expect(200).json()["tags"].as_str().unwrap().to_owned()
}

fn sorted_names(answer: &Answer, format: &str) -> Vec<String> {
    let mut names = error_names(answer, format).unwrap();
    names.sort_unstable();
    names
}

/// The steps of an entry on the board.
async fn steps(server: &Server, set: &str, entry: &str) -> Value {
    let page = server.get(&format!("/leaderboard?score_set={set}&entry={entry}")).await.expect(200).json();
    page["data"][0]["tie_steps"].clone()
}

both_engines! {
    async fn who_goes_on_is_tagged_and_logged_as_by_hand(server) {
        tied(&server).await;
        let before = server.changes("AccountA").await.len();
        let dry = advanced(&server, json!({"places": 2, "dry_run": true})).await;
        assert_eq!(slugs(&dry), [vec!["BoardAAA", "BoardBBB"], vec![]]);
        assert_eq!(dry["advanced"][0]["title"], "A");
        assert_eq!(server.changes("AccountA").await.len(), before, "a dry run changes nothing");
        assert_eq!(advanced(&server, json!({"places": 2})).await, dry);
        assert_eq!(server.changes("AccountA").await[before..], [
            "entry BoardAAA updated entry_updated,entry_tagged", "entry BoardBBB updated entry_updated,entry_tagged",
        ]);
        assert_eq!((tags(&server, "BoardBBB").await.as_str(), tags(&server, "BoardCCC").await.as_str()), ("final", "Best"));
        advanced(&server, json!({"places": 3})).await;
        assert_eq!(server.changes("AccountA").await.len(), before + 3, "who has the tag keeps it");
        assert_eq!(tags(&server, "BoardCCC").await, "Best,final");
        assert_eq!(ranks(&server, "score_set=ScoreVot&tag=final&order=rank").await.len(), 3);
    }

    async fn a_tie_across_the_line_goes_as_it_is_asked(server) {
        tied(&server).await;
        let both = vec!["BoardAAA", "BoardBBB"];
        for (more, on) in [
            (json!({"places": 1}), both.clone()), (json!({"places": 1, "ties": "include"}), both.clone()),
            (json!({"places": 1, "ties": "exclude"}), vec![]), (json!({"places": 1, "ties": "ask"}), vec![]),
        ] {
            let mut more = more;
            more["dry_run"] = json!(true);
            assert_eq!(slugs(&advanced(&server, more.clone()).await), [on, both.clone()], "{more}");
        }
        advanced(&server, json!({"places": 1, "ties": "ask"})).await;
        assert_eq!(tags(&server, "BoardAAA").await, "");
        let vote = json!({"score_set": "ScoreVot", "entries": ["BoardBBB"], "reason": "Bolder."});
        server.put(VOTE, &vote.to_string()).await.expect(200);
        assert_eq!(slugs(&advanced(&server, json!({"places": 1, "ties": "ask"})).await), [vec!["BoardBBB"], vec![]]);
        assert_eq!((tags(&server, "BoardAAA").await.as_str(), tags(&server, "BoardBBB").await.as_str()), ("", "final"));
    }

    async fn a_line_is_by_places_a_share_or_a_score_and_within_categories_or_chapters(server) {
        tied(&server).await;
        server.import(&of_account_a(
            r#"{"kind":"entry","slug":"BoardCCC","season":"SeasonAc","form":"FormEntr","category":"CategPar","chapter":"ChapterS","entrant":"UserEntr","title":"C"}
{"kind":"entry","slug":"BoardDDD","season":"SeasonAc","form":"FormEntr","category":"CategPar","chapter":"ChapterN","entrant":"UserEntr","title":"D"}"#,
        )).await;
        sheet(&server, "BoardDDD", "UserJudA", "ScoreVot", json!({"votes": 1})).await;
        let all = ["BoardAAA", "BoardBBB", "BoardCCC", "BoardDDD"];
        for (more, on) in [
            (json!({"share": 51}), &all[..3]), (json!({"share": 50}), &all[..2]), (json!({"share": 100}), &all[..]),
            (json!({"min_score": 5}), &all[..2]), (json!({"min_score": 5.0001}), &[][..]), (json!({"min_score": 0}), &all[..]),
            (json!({"places": 3}), &all[..3]), (json!({"places": 1, "by": "category"}), &all[..3]),
            (json!({"places": 1, "by": "chapter"}), &all[..3]), (json!({"places": 3, "by": "chapter"}), &["BoardAAA", "BoardBBB", "BoardDDD", "BoardCCC"]),
        ] {
            let mut more = more;
            more["dry_run"] = json!(true);
            assert_eq!(slugs(&advanced(&server, more.clone()).await)[0], on, "{more}");
        }
    }

    async fn every_mode_with_places_has_who_goes_on(server) {
        prepared(&server).await;
        for (entry, judge, points) in [
            ("BoardAAA", "UserJudA", 9), ("BoardAAA", "UserJudB", 8), ("BoardBBB", "UserJudA", 7), ("BoardBBB", "UserJudB", 7),
            ("BoardCCC", "UserJudA", 10),
        ] {
            sheet(&server, entry, judge, "ScorePoi", json!({"criteria": {"CritCraf": points, "CritIdea": 0}})).await;
            let decision = if points > 7 { "pass" } else { "fail" };
            sheet(&server, entry, judge, "ScoreQua", json!({ "decision": decision })).await;
        }
        sheet(&server, "BoardBBB", "UserJudA", "ScoreTop", json!({"preference": 1})).await;
        for (set, line, on) in [
            ("ScorePoi", json!({"min_score": 7}), vec!["BoardAAA", "BoardBBB"]), ("ScorePoi", json!({"min_score": 8.5}), vec!["BoardAAA"]),
            ("ScorePoi", json!({"places": 9}), vec!["BoardAAA", "BoardBBB"]), ("ScoreQua", json!({"min_score": 50}), vec!["BoardAAA"]),
            ("ScoreQua", json!({"share": 50}), vec!["BoardAAA"]), ("ScoreTop", json!({"places": 1}), vec!["BoardBBB"]),
        ] {
            let mut more = line;
            more["score_set"] = json!(set);
            assert_eq!(slugs(&advanced(&server, more.clone()).await)[0], on, "{more}");
        }
    }

    async fn what_is_wrong_with_a_cut_is_told_at_once(server) {
        tied(&server).await;
        for (body, names) in [
            (json!({}), vec!["min_score", "places", "score_set", "share", "tag"]),
            (json!({"score_set": "ScoreVot", "tag": "x"}), vec!["min_score", "places", "share"]),
            (json!({"score_set": "ScoreVot", "tag": "x", "places": 1, "share": 5}), vec!["places", "share"]),
            (json!({"score_set": "ScoreGal", "tag": "a,b", "places": 0, "by": "tag", "ties": "maybe", "dry_run": 1, "more": 1}),
                vec!["by", "dry_run", "more", "places", "score_set", "tag", "ties"]),
            (json!({"score_set": "ScoreTop", "tag": "x", "min_score": 1}), vec!["min_score"]),
            (json!({"score_set": "ScoreVot", "tag": " ", "share": 101}), vec!["share", "tag"]),
        ] {
            for format in FORMATS {
                let headers = [("accept", format)];
                let answer = server.post_with("/leaderboard/advance", &body.to_string(), &headers).await.expect(422);
                assert_eq!(sorted_names(&answer, format), names, "{body}");
            }
        }
    }

    async fn a_casting_vote_tells_apart_what_the_steps_leave_tied(server) {
        tied(&server).await;
        let board = "score_set=ScoreVot&order=rank";
        let equal = expected(&[("BoardAAA", json!(1)), ("BoardBBB", json!(1)), ("BoardCCC", json!(3))]);
        let decided = expected(&[("BoardBBB", json!(1)), ("BoardAAA", json!(2)), ("BoardCCC", json!(3))]);
        assert_eq!(ranks(&server, board).await, equal);
        server.get(&format!("{VOTE}?score_set=ScoreVot")).await.expect(404);
        let body = json!({"score_set": "ScoreVot", "entries": ["BoardCCC", "BoardBBB", "BoardAAA"], "reason": "Bolder."});
        let made = server.put(VOTE, &body.to_string()).await.expect(200);
        assert_eq!(made.json()["score_set"]["slug"], "ScoreVot");
        assert_eq!((&made.json()["entries"], &made.json()["reason"]), (&body["entries"], &body["reason"]));
        assert_eq!(ranks(&server, board).await, decided);
        assert_eq!(steps(&server, "ScoreVot", "BoardBBB").await, json!([{"by": "casting_vote", "value": "2.000000", "tied": 1}]));
        assert_eq!(steps(&server, "ScoreVot", "BoardCCC").await, json!([]));
        let read = server.get(&format!("{VOTE}?score_set=ScoreVot")).await.expect(200);
        assert_eq!((read.json(), read.header("etag")), (made.json(), made.header("etag")));
        // What is said again changes nothing, and another vote takes the place of the one before.
        let changes = server.changes("AccountA").await.len();
        server.put(VOTE, &body.to_string()).await.expect(200);
        assert_eq!(server.changes("AccountA").await.len(), changes);
        let other = json!({"score_set": "ScoreVot", "entries": ["BoardAAA"], "reason": "A second thought."}).to_string();
        server.put_with(VOTE, &other, &[("if-match", "\"1\"")]).await.expect(412);
        let etag = made.header("etag").unwrap();
        server.put_with(VOTE, &other, &[("if-match", etag)]).await.expect(200);
        assert_eq!(ranks(&server, board).await[0], ("BoardAAA".to_owned(), json!(1)));
        server.delete(&format!("{VOTE}?score_set=ScoreVot")).await.expect(204);
        assert_eq!(ranks(&server, board).await, equal);
        server.delete(&format!("{VOTE}?score_set=ScoreVot")).await.expect(404);
        server.put(VOTE, &body.to_string()).await.expect(200);
        let logged: Vec<String> = server.changes("AccountA").await[changes..].iter().map(|change| {
            let words: Vec<&str> = change.split(' ').collect();
            format!("{} {}", words[0], words[2])
        }).collect();
        assert_eq!(logged, ["casting_vote updated", "casting_vote trashed", "casting_vote created"]);
    }

    async fn a_casting_vote_names_entries_of_the_form_once(server) {
        tied(&server).await;
        server.import(&of_account_a(
            r#"{"kind":"form","slug":"FormOthr","season":"SeasonAc","name":{"en_GB":"Other"}}
{"kind":"category","slug":"CategOth","season":"SeasonAc","form":"FormOthr","name":{"en_GB":"Other"}}
{"kind":"entry","slug":"BoardOth","season":"SeasonAc","form":"FormOthr","category":"CategOth","chapter":"ChapterN","entrant":"UserEntr","title":"O"}"#,
        )).await;
        for (entries, message) in [
            (json!(["BoardAAA", "BoardAAA"]), "names BoardAAA twice"), (json!([]), "must have at least 1 item"),
            (json!(["BoardOth"]), "BoardOth must be on the form of the score set"), (json!(["NoSuchEn"]), "NoSuchEn is no entry of the account"),
        ] {
            let body = json!({"score_set": "ScoreVot", "entries": entries, "reason": "x"}).to_string();
            let wrong = server.put(VOTE, &body).await.expect(422).json();
            assert_eq!(wrong["errors"]["entries"], json!([message]));
        }
        for (path, names) in [(VOTE, vec!["entries", "reason", "score_set"]), (LOT, vec!["numbers", "score_set", "source"])] {
            assert_eq!(sorted_names(&server.put(path, "{}").await.expect(422), JSON), names);
            server.get(path).await.expect(400);
            server.get(&format!("{path}?score_set=NoSuchSc")).await.expect(404);
            server.get(&format!("{path}?score_set=ScoreGal")).await.expect(422);
        }
        server.delete(VOTE).await.expect(400);
        server.delete(&format!("{VOTE}?score_set=NoSuchSc")).await.expect(404);
    }

    async fn a_lot_is_drawn_by_the_published_numbers_and_comes_behind_the_vote(server) {
        tied(&server).await;
        let body = json!({"score_set": "ScoreVot", "numbers": [45, 9, 18], "source": "Lottery of 1 June"});
        let lot = server.put(LOT, &body.to_string()).await.expect(200).json();
        assert_eq!((&lot["numbers"], &lot["source"]), (&body["numbers"], &body["source"]));
        // By the SHA-256 of 0 and 1 as two bytes around `9.18.45./`, worked out apart.
        let of_number = ["BoardAAA", "BoardBBB", "BoardCCC"];
        let order = [1, 2, 0].map(|number: usize| of_number[number]);
        assert_eq!(lot["entries"], json!(order));
        assert_eq!(server.get(&format!("{LOT}?score_set=ScoreVot")).await.expect(200).json(), lot);
        let place = |entry: &str| order.iter().position(|drawn| *drawn == entry).unwrap() + 1;
        let [first, second] = if place("BoardAAA") < place("BoardBBB") { ["BoardAAA", "BoardBBB"] } else { ["BoardBBB", "BoardAAA"] };
        let board = "score_set=ScoreVot&order=rank";
        assert_eq!(ranks(&server, board).await[..2], expected(&[(first, json!(1)), (second, json!(2))]));
        let step = json!({"by": "lot", "value": format!("{}.000000", place(first)), "tied": 1});
        assert_eq!(steps(&server, "ScoreVot", first).await, json!([step]));
        // The vote comes first, and an entry that comes later changes nothing of the order.
        let vote = json!({"score_set": "ScoreVot", "entries": [second], "reason": "x"}).to_string();
        server.put(VOTE, &vote).await.expect(200);
        assert_eq!(ranks(&server, board).await[..2], expected(&[(second, json!(1)), (first, json!(2))]));
        server.delete(&format!("/entry/{first}")).await.expect(204);
        assert_eq!(server.get(&format!("{LOT}?score_set=ScoreVot")).await.expect(200).json(), lot);
        let again = server.put(LOT, &body.to_string()).await.expect(200).json();
        assert_eq!(again["entries"].as_array().unwrap().len(), 2, "who is on the board is drawn");
        let none = json!({"score_set": "ScoreDen", "numbers": [1], "source": "A die"}).to_string();
        server.put(LOT, &none).await.expect(422);
    }

    async fn the_configured_place_of_a_step_in_the_chain_holds(server) {
        prepared(&server).await;
        server.import(&of_account_a(
            r#"{"kind":"score_set","slug":"ScoreTop","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Best"},"mode":"top_pick","top_pick":{"preferences":2,"method":"borda"},"tie_break":[{"by":"lot","source":"A die"},{"by":"casting_vote","judge":"UserJudA"}]}"#,
        )).await;
        for (entry, judge, preference) in [
            ("BoardAAA", "UserJudA", 1), ("BoardBBB", "UserJudA", 2), ("BoardBBB", "UserJudB", 1), ("BoardAAA", "UserJudB", 2),
        ] {
            sheet(&server, entry, judge, "ScoreTop", json!({ "preference": preference })).await;
        }
        let lot = server.put(LOT, r#"{"score_set":"ScoreTop","numbers":[1],"source":"A die"}"#).await.expect(200).json();
        let order = lot["entries"].as_array().unwrap();
        let vote = json!({"score_set": "ScoreTop", "entries": [order[1], order[0]], "reason": "x"}).to_string();
        server.put(VOTE, &vote).await.expect(200);
        let found = ranks(&server, "score_set=ScoreTop&order=rank").await;
        assert_eq!(found[0], (order[0].as_str().unwrap().to_owned(), json!(1)), "the lot is first in the chain");
        assert_eq!(steps(&server, "ScoreTop", &found[0].0).await[0]["by"], "lot");
    }

    async fn an_import_holds_a_lot_to_its_numbers_and_takes_one_of_each_for_a_score_set(server) {
        tied(&server).await;
        server.put(LOT, r#"{"score_set":"ScoreVot","numbers":[7],"source":"A die"}"#).await.expect(200);
        let export = server.export("AccountA").await;
        let line = export.lines().find(|line| line.starts_with("{\"kind\":\"lot\"")).unwrap();
        server.import(&of_account_a(line)).await;
        let faults = |lines: String| { let server = &server; async move { server.try_import(&of_account_a(&lines)).await } };
        let found = faults(line.replace("[7]", "[]")).await;
        assert!(found[0].contains("numbers: must have at least 1 item"), "{found:?}");
        let mut record: Value = serde_json::from_str(line).unwrap();
        let slug = record["slug"].as_str().unwrap().to_owned();
        record["entries"].as_array_mut().unwrap().swap(0, 1);
        let found = faults(record.to_string()).await;
        assert!(found[0].contains("entries: must be in the order in which the numbers draw them"), "{found:?}");
        let other = line.replace(&slug, "LotOther");
        let found = faults(other.clone()).await;
        assert!(found[0].contains(&format!("score_set: is that of the lot {slug}")), "{found:?}");
        let found = faults(format!("{line}\n{other}")).await;
        assert!(found[0].contains("score_set: is that of line"), "{found:?}");
        let gone = line.replace("\"created\"", "\"deleted\":true,\"created\"");
        server.import(&of_account_a(&format!("{gone}\n{other}"))).await;
        assert_eq!(server.get(&format!("{LOT}?score_set=ScoreVot")).await.expect(200).json()["slug"], "LotOther");
    }
}
