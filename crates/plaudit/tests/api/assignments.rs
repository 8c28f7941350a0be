//! `GetAssignmentCollectionV23`, `GetAssignmentV23`, `PostAssignmentV23`, `DeleteAssignmentV23`, `PutAssignmentScoreV23`,
//! `PutAssignmentAbstainV23`, `PostAssignmentConflictV23`, `PostAssignmentReopenV23`, `PutEntryRecuseV23`, `PutEntryUnrecuseV23`,
//! `GetAssignmentProgressV23` and `PostAssignmentReassignV23`.

use std::sync::Arc;

use plaudit::program::Program;
use plaudit::records::standings;
use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names};
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, BASE, JSON, Server};

/// Score sets of every mode, rounds, judges, and an entry that is judged by a role.
const JUDGING: &str = r#"{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"round","slug":"RoundEnt","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Entries"},"type":"entry"}
{"kind":"round","slug":"RoundEnd","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Over"},"type":"judge","end_date":"2020-01-01 00:00:00"}
{"kind":"score_set","slug":"ScorePoi","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Final"},"mode":"vip_judging","min_judges":2}
{"kind":"criterion","slug":"CritCraf","score_set":"ScorePoi","name":{"en_GB":"Craft"},"maximum":10,"weight":3}
{"kind":"criterion","slug":"CritIdea","score_set":"ScorePoi","name":{"en_GB":"Idea"},"maximum":5,"step":0.5}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying","qualifying":{"unsure_allowed":false}}
{"kind":"score_set","slug":"ScoreTop","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Best"},"mode":"top_pick","top_pick":{"preferences":2}}
{"kind":"score_set","slug":"ScoreVot","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Vote"},"mode":"voting","voting":{"votes_per_voter":5,"votes_per_entry":3,"votes_per_category":4,"reset":"daily"}}
{"kind":"score_set","slug":"ScoreGal","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Gallery"},"mode":"gallery"}
{"kind":"form","slug":"FormOthe","season":"SeasonAc","name":{"en_GB":"Another"}}
{"kind":"score_set","slug":"ScoreOth","season":"SeasonAc","form":"FormOthe","name":{"en_GB":"Other"},"mode":"gallery"}
{"kind":"user","slug":"UserJudg","first_name":"Grace","last_name":"Hopper","email":"grace@example.org","roles":["RoleJury"]}
{"kind":"user","slug":"UserJudB","first_name":"Edsger","last_name":"Dijkstra","email":"edsger@example.org","roles":["RoleJury"]}
{"kind":"user","slug":"UserJudC","first_name":"Barbara","last_name":"Liskov","email":"barbara@example.org","roles":["RoleJury"]}
{"kind":"assignment","entry":"EntryOne","role":"RoleJury","score_set":"ScorePoi"}"#;

async fn prepared(server: &Server) {
    server.import(&of_account_a(JUDGING)).await;
}

fn slug(entry: &str, judge: &str, set: &str) -> String {
    format!("{entry}{judge}{set}J")
}

/// Assigns a judge to an entry; gives the address of the assignment.
async fn linked(server: &Server, entry: &str, judge: &str, set: &str) -> String {
    let body = json!({"score_set": set, "entry": entry, "judge": judge, "rounds": ["RoundJud"]});
    server.post("/assignment", &body.to_string()).await.expect(201);
    format!("/assignment/{}", slug(entry, judge, set))
}

/// The members that are wrong, in order.
fn wrong(answer: &Answer) -> Vec<String> {
    let mut names = error_names(answer, JSON).unwrap_or_default();
    names.sort();
    names
}

/// The number of sheets that count and the score of an entry, as leaderboards sort by it; all standings are what they must be.
async fn standing(server: &Server, entry: &str, set: &str) -> (i64, String) {
    let account = server.account("AccountA").await;
    let mut tx = server.db.snapshot().await.unwrap();
    let program = Program::load(&mut tx, account, &Arc::from(BASE), &server.clock).await.unwrap().unwrap();
    let mut differences = Vec::new();
    standings::store::each_wrong(&mut tx, account, &program, |wrong| differences.push(wrong)).await.unwrap();
    assert_eq!(differences, Vec::<String>::new());
    let sql = "SELECT sheets, score FROM standings WHERE account = $1 AND slug = $2";
    let name = format!("{entry}{set}");
    let values = [account.into(), name.as_str().into()];
    tx.first(sql, &values, |row| Ok((row.integer(0)?, row.text(1)?.to_owned()))).await.unwrap().unwrap()
}

/// The text by which a whole number is sorted.
fn whole(number: u32) -> String {
    format!("{number:020x}{}", "0".repeat(16))
}

async fn events(server: &Server) -> Vec<String> {
    let changes = server.changes("AccountA").await;
    changes.into_iter().filter(|change| change.contains("assignment_")).collect()
}

both_engines! {
    async fn a_judge_is_assigned_once_and_again_with_other_rounds(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        let first = server.get(&path).await.expect(200);
        let shown = first.json();
        let names: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "entry", "category", "chapter", "comments", "created", "form", "method", "panels", "judge", "role", "rounds", "score",
            "score_set", "slug", "status", "updated",
        ];
        assert_eq!(names, expected);
        assert_eq!(shown["judge"], json!({"slug": "UserJudg", "link": format!("{BASE}/user/UserJudg"), "name": "Grace Hopper"}));
        assert_eq!((&shown["method"], &shown["status"], &shown["score"]), (&json!("manual"), &json!("none"), &Value::Null));
        let again = json!({"score_set": "ScorePoi", "entry": "EntryOne", "judge": "UserJudg", "rounds": ["RoundEnd"]});
        let answer = server.post("/assignment", &again.to_string()).await.expect(201);
        assert_eq!(answer.header("location").unwrap(), format!("{BASE}{path}"));
        assert_eq!(answer.json()["rounds"][0]["slug"], "RoundEnd");
        assert_eq!(events(&server).await.len(), 1, "the second one made no assignment");
        assert_eq!(server.get("/assignment?judge=UserJudg").await.json()["total"], 1);
    }

    async fn everything_that_is_wrong_with_an_assignment_is_told(server) {
        prepared(&server).await;
        for (body, names) in [
            (json!({}), vec!["entry", "judge", "rounds", "score_set"]),
            (json!({"entries": [], "score_set": "NoSuchSc", "rounds": []}), vec!["entries", "judges", "rounds", "score_set"]),
            (json!({"entry": "NoSuchEn", "judge": "UserEntr", "score_set": "ScorePoi", "rounds": ["RoundEnt"], "x": 1}),
                vec!["entry", "judge", "rounds", "x"]),
            (json!({"entry": "EntryOne", "judge": "UserJudg", "score_set": "ScorePoi", "rounds": ["bad", "NoSuchRo"]}),
                vec!["rounds"]),
            (json!({"entry": "EntryOne", "judge": "NoSuchUs", "score_set": "ScoreOth", "rounds": ["RoundJud"]}),
                vec!["entry", "judge", "rounds"]),
            (json!({"entries": ["EntryOne", "EntryOld"], "judges": ["UserJudg", "UserMana"], "score_set": "ScorePoi",
                "rounds": ["RoundJud"]}), vec!["judges"]),
        ] {
            for format in FORMATS {
                let answer = server.post_with("/assignment", &body.to_string(), &[("accept", format)]).await.expect(422);
                let mut found = error_names(&answer, format).unwrap();
                found.sort();
                assert_eq!(found, names, "{body}");
            }
        }
        let body = json!({"entry": "EntryOne", "judge": "UserJudg", "score_set": "ScorePoi", "rounds": ["bad", "NoSuchRo"]});
        let answer = server.post("/assignment", &body.to_string()).await.expect(422).json();
        assert_eq!(answer["errors"]["rounds"].as_array().unwrap().len(), 2);
        server.get("/assignment/EntryOneUserJudgScorePoi").await.expect(400);
        server.get(&format!("/assignment/{}", slug("EntryOne", "UserJudg", "ScorePoi"))).await.expect(404);
    }

    async fn points_are_given_criterion_by_criterion(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        let score = format!("{path}/score");
        let answer = server.put(&score, r#"{"criteria":{"CritCraf":8},"comments":{"CritCraf":"Fine"}}"#).await.expect(200).json();
        assert_eq!((&answer["status"], &answer["score"]["total_score"]["value"]), (&json!("in_progress"), &Value::Null));
        assert_eq!(answer["comments"]["criteria"][0]["comments"][0]["comment"], "Fine");
        let answer = server.put(&score, r#"{"criteria":{"CritIdea":2.5},"comment":"Good"}"#).await.expect(200).json();
        assert_eq!(answer["status"], "complete");
        assert_eq!(answer["score"]["total_score"], json!({"value": 26.5, "max_score": 35, "final_score": "26.5/35"}));
        assert_eq!(answer["comments"]["judging"][0]["user"]["name"], "Grace Hopper");
        let second = linked(&server, "EntryOne", "UserJudB", "ScorePoi").await;
        server.put(&format!("{second}/score"), r#"{"criteria":{"CritCraf":10,"CritIdea":5}}"#).await.expect(200);
        let (sheets, score_of_two) = standing(&server, "EntryOne", "ScorePoi").await;
        assert_eq!((sheets, score_of_two), (2, format!("{:020x}c{}", 30, "0".repeat(15))), "30.75");
        assert_eq!(events(&server).await.len(), 4);
        let cleared = server.put(&score, r#"{"criteria":{"CritCraf":null}}"#).await.expect(200).json();
        assert_eq!((&cleared["status"], &cleared["score"]["criteria"][1]["value"]), (&json!("in_progress"), &json!(2.5)));
        assert_eq!(standing(&server, "EntryOne", "ScorePoi").await, (1, String::new()), "two judges are needed");
        for (body, names) in [
            (json!({"criteria": {"CritCraf": 11, "CritIdea": 0.25, "NoSuchCr": 1}}),
                vec!["criteria.CritCraf", "criteria.CritIdea", "criteria.NoSuchCr"]),
            (json!({"criteria": [], "comments": {"CritCraf": 5}, "decision": "pass"}), vec!["comments.CritCraf", "criteria", "decision"]),
        ] {
            assert_eq!(wrong(&server.put(&score, &body.to_string()).await.expect(422)), names);
        }
        let logged = server.changes("AccountA").await.len();
        server.put(&score, "{}").await.expect(200);
        assert_eq!(server.changes("AccountA").await.len(), logged);
    }

    async fn other_modes_take_a_decision_a_preference_or_votes(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await + "/score";
        assert_eq!(wrong(&server.put(&path, r#"{"decision":"unsure"}"#).await.expect(422)), ["decision"]);
        let answer = server.put(&path, r#"{"decision":"pass"}"#).await.expect(200).json();
        assert_eq!(answer["score"], json!({"final_decision": "pass"}));
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (1, whole(1)));
        let first = linked(&server, "EntryOne", "UserJudg", "ScoreTop").await + "/score";
        let second = linked(&server, "EntryTwo", "UserJudg", "ScoreTop").await + "/score";
        assert_eq!(server.put(&first, r#"{"preference":1}"#).await.expect(200).json()["score"], json!({"preference": 1}));
        for body in [r#"{"preference":1}"#, r#"{"preference":3}"#, "{}"] {
            assert_eq!(wrong(&server.put(&second, body).await.expect(422)), ["preference"]);
        }
        server.put(&first, r#"{"preference":null}"#).await.expect(200);
        server.put(&second, r#"{"preference":1}"#).await.expect(200);
        let first = linked(&server, "EntryOne", "UserJudg", "ScoreVot").await + "/score";
        let second = linked(&server, "EntryTwo", "UserJudg", "ScoreVot").await + "/score";
        assert_eq!(wrong(&server.put(&first, r#"{"votes":4}"#).await.expect(422)), ["votes"], "more than for an entry");
        assert_eq!(server.put(&first, r#"{"votes":3}"#).await.expect(200).json()["score"], json!({"total_votes": 3}));
        assert_eq!(wrong(&server.put(&second, r#"{"votes":2}"#).await.expect(422)), ["votes"], "more than for a category");
        server.put(&second, r#"{"votes":1}"#).await.expect(200);
        assert_eq!(standing(&server, "EntryOne", "ScoreVot").await, (1, whole(3)));
    }

    async fn a_sheet_does_not_come_back_with_what_others_were_given_meanwhile(server) {
        prepared(&server).await;
        for (set, given) in [("ScoreTop", r#"{"preference":1}"#), ("ScoreVot", r#"{"votes":3}"#)] {
            let first = linked(&server, "EntryOne", "UserJudg", set).await;
            let second = linked(&server, "EntryTwo", "UserJudg", set).await;
            let off = json!({"judge": "UserJudg", "score_set": set}).to_string();
            server.put(&format!("{first}/score"), given).await.expect(200);
            server.put(&format!("{first}/abstain"), "{}").await.expect(200);
            server.put(&format!("{second}/score"), given).await.expect(200);
            let refused = server.post(&format!("{first}/reopen"), r#"{"reason":"Back"}"#).await.expect(422);
            assert_eq!(error_names(&refused, JSON), None);
            server.put("/entry/EntryTwo/recuse", &off).await.expect(204);
            server.post(&format!("{first}/reopen"), r#"{"reason":"Back"}"#).await.expect(200);
            let put = async || server.put_with("/entry/EntryTwo/unrecuse", &off, &[("if-match", "\"0\"")]).await;
            assert_eq!(error_names(&put().await.expect(422), JSON), None, "the state is told before the precondition");
            server.put(&format!("{first}/abstain"), "{}").await.expect(200);
            put().await.expect(412);
            server.put("/entry/EntryTwo/unrecuse", &off).await.expect(204);
        }
    }

    async fn a_link_comes_back_without_what_others_were_given_meanwhile(server) {
        prepared(&server).await;
        for (set, given, left) in [("ScoreTop", r#"{"preference":1}"#, json!({"preference": null})), ("ScoreVot", r#"{"votes":3}"#, json!({"total_votes": 0}))] {
            let first = linked(&server, "EntryOne", "UserJudg", set).await;
            let second = linked(&server, "EntryTwo", "UserJudg", set).await;
            server.put(&format!("{first}/score"), given).await.expect(200);
            server.delete(&first).await.expect(204);
            assert_eq!(linked(&server, "EntryOne", "UserJudg", set).await, first);
            let kept = server.get(&first).await.expect(200).json();
            assert_eq!((&kept["status"], kept["score"] == left), (&json!("complete"), false), "nobody got it");
            server.delete(&first).await.expect(204);
            server.put(&format!("{second}/score"), given).await.expect(200);
            linked(&server, "EntryOne", "UserJudg", set).await;
            let back = server.get(&first).await.expect(200).json();
            assert!(back["score"].is_null() || back["score"] == left, "{back}");
            assert_ne!(back["status"], "complete");
        }
    }

    async fn an_entry_comes_back_without_what_others_were_given_meanwhile(server) {
        prepared(&server).await;
        for (set, given) in [("ScoreTop", r#"{"preference":1}"#), ("ScoreVot", r#"{"votes":3}"#)] {
            let first = linked(&server, "EntryOne", "UserJudg", set).await;
            let second = linked(&server, "EntryTwo", "UserJudg", set).await;
            server.put(&format!("{first}/score"), given).await.expect(200);
            server.delete("/entry/EntryOne").await.expect(204);
            server.post("/entry/EntryOne/restore", "").await.expect(204);
            assert_eq!(server.get(&first).await.expect(200).json()["status"], "complete", "nobody got it");
            server.delete("/entry/EntryOne").await.expect(204);
            server.put(&format!("{second}/score"), given).await.expect(200);
            server.post("/entry/EntryOne/restore", "").await.expect(204);
            assert_ne!(server.get(&first).await.expect(200).json()["status"], "complete");
            assert_eq!(server.get(&second).await.expect(200).json()["status"], "complete");
        }
    }

    async fn what_is_wrong_with_a_sheet_is_told_before_that_its_judge_was_taken_off(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.put("/entry/EntryOne/recuse", r#"{"judge":"UserJudg","score_set":"ScorePoi"}"#).await.expect(204);
        let put = async |body: &str| error_names(&server.put(&format!("{path}/score"), body).await.expect(422), JSON);
        assert_eq!(put(r#"{"criteria":{"CritCraf":11}}"#).await, Some(vec!["criteria.CritCraf".to_owned()]));
        assert_eq!(put(r#"{"criteria":{"CritCraf":1}}"#).await, None);
        assert_eq!(error_names(&server.put(&format!("{path}/abstain"), "{}").await.expect(422), JSON), None);
    }

    async fn lifting_makes_no_conflict(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.put(&format!("{path}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let before = standing(&server, "EntryOne", "ScoreQua").await;
        // The entrant judges as well: a conflict that came about after the link.
        let entrant = server.get("/entry/EntryOne").await.json()["entrant"]["slug"].as_str().unwrap().to_owned();
        assert_ne!(entrant, "UserJudg");
        server.put("/entry/EntryOne", r#"{"entrant":"UserJudg"}"#).await.expect(200);
        server.put("/entry/EntryOne/unrecuse", r#"{"judge":"UserJudg"}"#).await.expect(204);
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, before);
    }

    async fn nothing_is_given_outside_of_a_judging_round_or_without_a_sheet(server) {
        prepared(&server).await;
        let over = json!({"score_set": "ScoreQua", "entry": "EntryOne", "judge": "UserJudg", "rounds": ["RoundEnd"]});
        server.post("/assignment", &over.to_string()).await.expect(201);
        let gallery = linked(&server, "EntryOne", "UserJudg", "ScoreGal").await;
        for path in [
            format!("/assignment/{}/score", slug("EntryOne", "UserJudg", "ScoreQua")),
            format!("{gallery}/score"),
            "/assignment/EntryOneRoleJuryScorePoiR/score".to_owned(),
        ] {
            let answer = server.put(&path, r#"{"decision":"pass"}"#).await.expect(422);
            assert_eq!(error_names(&answer, JSON), None, "{path}");
        }
    }

    async fn an_abstention_is_taken_back_and_the_sheet_is_as_it_was(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.put(&format!("{path}/score"), r#"{"criteria":{"CritCraf":8,"CritIdea":5}}"#).await.expect(200);
        let answer = server.put(&format!("{path}/abstain"), r#"{"reason":"Ill"}"#).await.expect(200).json();
        assert_eq!((&answer["status"], &answer["comments"]["abstention"][0]["comment"]), (&json!("abstained"), &json!("Ill")));
        assert_eq!(standing(&server, "EntryOne", "ScorePoi").await, (0, String::new()));
        let refused = server.put(&format!("{path}/score"), "{}").await.expect(422);
        assert_eq!(error_names(&refused, JSON), None);
        assert_eq!(wrong(&server.post(&format!("{path}/reopen"), "{}").await.expect(422)), ["reason"]);
        let answer = server.post(&format!("{path}/reopen"), r#"{"reason":"Well again"}"#).await.expect(200).json();
        assert_eq!((&answer["status"], &answer["comments"]), (&json!("complete"), &Value::Null));
        assert_eq!(standing(&server, "EntryOne", "ScorePoi").await, (1, String::new()), "two judges are needed");
        let open = linked(&server, "EntryTwo", "UserJudg", "ScorePoi").await;
        server.post(&format!("{open}/reopen"), r#"{"reason":"Why not"}"#).await.expect(422);
    }

    async fn a_conflict_holds_in_every_score_set_until_a_manager_lifts_it(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        let other = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.put(&format!("{other}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        assert_eq!(wrong(&server.post(&format!("{path}/conflict"), "{}").await.expect(422)), ["comment"]);
        let answer = server.post(&format!("{path}/conflict"), r#"{"comment":"My sister"}"#).await.expect(200).json();
        assert_eq!(answer["comments"]["conflict"][0]["comment"], "My sister");
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (0, String::new()));
        server.put(&format!("{other}/score"), r#"{"decision":"fail"}"#).await.expect(422);
        let body = json!({"score_set": "ScoreTop", "entry": "EntryOne", "judge": "UserJudg", "rounds": ["RoundJud"]}).to_string();
        assert_eq!(wrong(&server.post("/assignment", &body).await.expect(422)), ["judge"]);
        server.put("/entry/EntryOne/unrecuse", r#"{"judge":"UserJudg"}"#).await.expect(204);
        server.post("/assignment", &body).await.expect(201);
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (1, whole(1)));
    }

    async fn a_link_that_comes_back_has_no_conflict_that_was_lifted_meanwhile(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        let other = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.post(&format!("{path}/conflict"), r#"{"comment":"My sister"}"#).await.expect(200);
        server.delete(&other).await.expect(204);
        server.put("/entry/EntryOne/unrecuse", r#"{"judge":"UserJudg"}"#).await.expect(204);
        linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.put(&format!("{other}/score"), r#"{"decision":"pass"}"#).await.expect(200);
    }

    async fn a_body_has_no_more_pairs_than_a_job_is_to_make(server) {
        prepared(&server).await;
        let letter = |number: usize| char::from(b'A' + u8::try_from(number % 26).unwrap());
        let slugs = |count: usize| -> Vec<String> {
            (0..count).map(|number| format!("Nobod{}{}{}", letter(number), letter(number / 26), letter(number / 676))).collect()
        };
        let body = json!({"score_set": "ScorePoi", "entries": slugs(1_001), "judges": slugs(1_000), "rounds": ["RoundJud"]});
        let refused = server.post("/assignment", &body.to_string()).await.expect(422).json();
        assert_eq!(refused["errors"]["entries"][0], "makes 1001000 assignments with `judges`; at most 1000000 are made at once");
    }

    async fn a_sheet_has_no_more_declarations_than_can_be_read(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.post(&format!("{path}/conflict"), r#"{"comment":"My sister"}"#).await.expect(200);
        let exported = server.export("AccountA").await;
        let line = exported.lines().find(|line| line.contains("My sister") && line.contains("ScorePoi")).unwrap();
        let mut sheet: Value = serde_json::from_str(line).unwrap();
        let one = sheet["conflict"][0].clone();
        sheet["conflict"] = vec![one; 999].into();
        server.import(&of_account_a(&sheet.to_string())).await;
        server.post(&format!("{path}/conflict"), r#"{"comment":"The last"}"#).await.expect(200);
        let answer = server.post(&format!("{path}/conflict"), r#"{"comment":"One more"}"#).await.expect(422).json();
        assert_eq!((&answer["message"], &answer["errors"]), (&json!("A sheet has at most 1000 declarations of conflicts."), &Value::Null));
        server.get(&path).await.expect(200);
    }

    async fn a_judge_who_was_taken_off_an_entry_is_not_assigned_again(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.put(&format!("{path}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let recuse = r#"{"judge":"UserJudg","score_set":"ScoreQua"}"#;
        for _ in 0..2 {
            server.put("/entry/EntryOne/recuse", recuse).await.expect(204);
        }
        let shown = server.get(&path).await.expect(200).json();
        assert_eq!((&shown["method"], &shown["score"]["final_decision"]), (&json!("recused"), &json!("pass")));
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (0, String::new()));
        let body = json!({"score_set": "ScoreQua", "entry": "EntryOne", "judge": "UserJudg", "rounds": ["RoundJud"]}).to_string();
        assert_eq!(wrong(&server.post("/assignment", &body).await.expect(422)), ["judge"]);
        linked(&server, "EntryOne", "UserJudg", "ScoreTop").await;
        server.put("/entry/EntryOne/unrecuse", recuse).await.expect(204);
        assert_eq!(server.get(&path).await.json()["method"], "manual");
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (1, whole(1)));
        server.put("/entry/EntryOne/recuse", r#"{"judge":"UserJudg"}"#).await.expect(204);
        server.put("/entry/EntryOne/unrecuse", recuse).await.expect(422);
        assert_eq!(wrong(&server.put("/entry/EntryOne/recuse", r#"{"judge":"NoSuchUs","score_set":"NoSuchSc"}"#).await.expect(422)),
            ["judge", "score_set"]);
        server.put("/entry/NoSuchEn/recuse", recuse).await.expect(404);
    }

    async fn a_deleted_link_leaves_its_sheet_as_a_stray_and_comes_back_with_it(server) {
        prepared(&server).await;
        let empty = linked(&server, "EntryTwo", "UserJudg", "ScoreQua").await;
        server.delete(&empty).await.expect(204);
        server.get(&empty).await.expect(404);
        assert_eq!(server.get("/assignment?deleted=only").await.json()["total"], 1);
        let path = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        server.put(&format!("{path}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        server.delete(&path).await.expect(204);
        assert_eq!(server.get(&path).await.expect(200).json()["method"], "stray");
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (0, String::new()));
        for lifted in ["recuse", "unrecuse"] {
            server.put(&format!("/entry/EntryOne/{lifted}"), r#"{"judge":"UserJudg"}"#).await.expect(204);
            assert_eq!(server.get(&path).await.expect(200).json()["method"], "stray", "{lifted}");
        }
        assert_eq!(error_names(&server.delete(&path).await.expect(422), JSON), None);
        linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        assert_eq!(server.get(&path).await.json()["score"]["final_decision"], "pass");
        assert_eq!(standing(&server, "EntryOne", "ScoreQua").await, (1, whole(1)));
        linked(&server, "EntryTwo", "UserJudg", "ScoreQua").await;
        server.delete("/entry/EntryTwo").await.expect(204);
        server.get(&empty).await.expect(404);
    }

    async fn a_job_assigns_each_judge_to_each_entry_once(server) {
        prepared(&server).await;
        let kept = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.put("/entry/EntryTwo/recuse", r#"{"judge":"UserJudB"}"#).await.expect(204);
        let body = json!({
            "score_set": "ScorePoi", "entries": ["EntryOne", "EntryTwo"], "judges": ["UserJudg", "UserJudB"], "rounds": ["RoundJud"],
        });
        for _ in 0..2 {
            let answer = server.post("/assignment", &body.to_string()).await.expect(202);
            assert_eq!(answer.text(), "");
            let job = answer.header("location").unwrap().strip_prefix(BASE).unwrap().to_owned();
            server.settle().await;
            let job = server.get(&job).await.expect(200).json();
            assert_eq!((&job["kind"], &job["state"]), (&json!("assignments"), &json!("done")));
            assert_eq!(job["progress"], json!({"done": 3, "total": 4, "failed": 1}));
            assert_eq!(job["errors"][0]["item"], slug("EntryTwo", "UserJudB", "ScorePoi"));
            let made = json!({"slug": slug("EntryOne", "UserJudg", "ScorePoi"), "link": format!("{BASE}{kept}"), "name": {}});
            assert_eq!((&job["results"][0], job["results"].as_array().unwrap().len()), (&made, 3));
        }
        assert_eq!(server.get("/assignment?score_set=ScorePoi&state=all").await.json()["total"], 4);
        assert_eq!(events(&server).await.len(), 3);
        assert_eq!(server.get(&kept).await.json()["method"], "manual");
    }

    async fn open_sheets_of_a_judge_who_drops_out_go_to_others(server) {
        prepared(&server).await;
        let done = linked(&server, "EntryTwo", "UserJudg", "ScoreQua").await;
        server.put(&format!("{done}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let open = linked(&server, "EntryOne", "UserJudg", "ScoreQua").await;
        linked(&server, "EntryTwo", "UserJudB", "ScoreQua").await;
        assert_eq!(wrong(&server.post("/assignment/reassign", "{}").await.expect(422)), ["judge", "score_set"]);
        let answer = server.post("/assignment/reassign", r#"{"judge":"UserJudg","score_set":"ScoreQua"}"#).await.expect(202);
        server.settle().await;
        let job = server.get(answer.header("location").unwrap().strip_prefix(BASE).unwrap()).await.json();
        assert_eq!((&job["state"], &job["progress"]["done"]), (&json!("done"), &json!(1)));
        assert_eq!(job["results"][0]["slug"], slug("EntryOne", "UserJudB", "ScoreQua"));
        assert_eq!(server.get(&open).await.json()["method"], "recused");
        assert_eq!(server.get(&done).await.json()["method"], "manual");
        server.get(&format!("/assignment/{}", slug("EntryOne", "UserJudB", "ScoreQua"))).await.expect(200);
    }

    async fn progress_tells_how_far_judges_are(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.put(&format!("{path}/score"), r#"{"criteria":{"CritCraf":8,"CritIdea":5}}"#).await.expect(200);
        linked(&server, "EntryOne", "UserJudB", "ScorePoi").await;
        linked(&server, "EntryTwo", "UserJudB", "ScorePoi").await;
        linked(&server, "EntryTwo", "UserJudC", "ScorePoi").await;
        server.put("/entry/EntryTwo/recuse", r#"{"judge":"UserJudC"}"#).await.expect(204);
        let shown = server.get("/assignment/progress?score_set=ScorePoi").await.expect(200).json();
        let of = |judge: &str| shown["by_judge"].as_array().unwrap().iter().find(|found| found["judge"]["slug"] == judge).unwrap().clone();
        assert_eq!((&of("UserJudg")["total"], &of("UserJudg")["complete"]), (&json!(1), &json!(1)));
        assert_eq!((&of("UserJudB")["total"], &of("UserJudC")["recused"]), (&json!(2), &json!(1)));
        assert_eq!(shown["by_category"][0]["category"]["slug"], "CategChi");
        assert_eq!(shown["by_category"][0]["total"], 3);
        let short: Vec<&str> = shown["short_of_judges"].as_array().unwrap().iter().map(|entry| entry["slug"].as_str().unwrap()).collect();
        assert_eq!(short, ["EntryTwo"]);
        server.get("/assignment/progress").await.expect(400);
        server.get("/assignment/progress?score_set=NoSuchSc").await.expect(404);
    }

    async fn assignments_are_listed_by_every_filter(server) {
        prepared(&server).await;
        let path = linked(&server, "EntryOne", "UserJudg", "ScorePoi").await;
        server.put(&format!("{path}/score"), r#"{"criteria":{"CritCraf":8}}"#).await.expect(200);
        linked(&server, "EntryTwo", "UserJudB", "ScoreQua").await;
        let listed = slug("EntryOne", "UserJudg", "ScorePoi");
        for (query, total) in [
            ("", 3), (&format!("slug={listed}"), 1), ("slug=EntryOneRoleJuryScorePoiR", 1), ("slug=EntryTwoUserJudgScorePoiJ", 0),
            ("status=in_progress", 1), ("status=none", 2), ("category=CategChi", 3), ("chapter=ChapterS", 0), ("judge=UserJudB", 1),
            ("method=manual", 3), ("method=stray", 0), ("panel=PanelOne", 0), ("score_set=ScoreQua", 1), ("season=SeasonOl", 0),
            ("season=all", 3), ("state=archived", 0), ("state=all", 3), ("tag=red", 2), ("deleted=only", 0), ("trashed=all", 3),
            ("order=status&dir=desc", 3), ("order=method", 3), ("order=updated", 3),
        ] {
            let page = server.get(&format!("/assignment?{query}")).await.expect(200).json();
            assert_eq!(page["total"], total, "{query}");
        }
        for query in ["slug=short", "status=done", "judge=x", "state=gone", "colour=red"] {
            server.get(&format!("/assignment?{query}")).await.expect(400);
        }
    }
}
