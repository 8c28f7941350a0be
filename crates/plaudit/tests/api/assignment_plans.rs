//! `PostAssignmentPlanV23`, `GetAssignmentPlanV23`, `PostAssignmentApplyV23` and `PostAssignmentUndoV23`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::error_names;
use crate::harness::fixture::of_account_a;
use crate::harness::{Answer, JSON, Server};
use crate::histories::execute;

const SETUP: &str = r#"{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"role","slug":"RoleNone","name":{"en_GB":"Nobody"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}
{"kind":"score_set","slug":"ScoreTwo","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Second look"},"mode":"qualifying"}"#;

/// So many entries and judges of a letter each, and the score sets.
async fn prepared(server: &Server, entries: usize, judges: usize) -> (Vec<String>, Vec<String>) {
    let named = |name: &str, count: usize| -> Vec<String> {
        (b'A'..).take(count).map(|letter| format!("{name}{}", char::from(letter))).collect()
    };
    let (entries, judges) = (named("EntryPl", entries), named("UserPla", judges));
    let mut lines = vec![SETUP.to_owned()];
    for (number, entry) in (1_000..).zip(&entries) {
        lines.push(json!({"kind": "entry", "slug": entry, "local_id": number, "title": entry, "status": "submitted",
            "season": "SeasonAc", "category": "CategChi", "chapter": "ChapterS", "form": "FormEntr", "entrant": "UserEntr",
            "tags": "planned"}).to_string());
    }
    for judge in &judges {
        lines.push(
            json!({"kind": "user", "slug": judge, "first_name": judge, "last_name": "Judge",
            "email": format!("{judge}@example.org"), "roles": ["RoleJury"]})
            .to_string(),
        );
    }
    server.import(&of_account_a(&lines.join("\n"))).await;
    (entries, judges)
}

fn asked(entries: &[String], judges: &[String]) -> Value {
    json!({"score_set": "ScoreQua", "entries": entries, "judges": judges, "per_entry": 2, "method": "random", "seed": 7})
}

async fn plan(server: &Server, body: &Value) -> Value {
    server.post("/assignment/plan", &body.to_string()).await.expect(200).json()
}

async fn apply(server: &Server, plan: &Value) -> Answer {
    server.post("/assignment/apply", &json!({"plan": plan["plan"]}).to_string()).await
}

async fn undo(server: &Server, applied: &Value) -> Answer {
    server.post("/assignment/undo", &json!({"undo": applied["undo"]}).to_string()).await
}

fn pairs(document: &Value) -> Vec<(String, String)> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let items = document["assignments"].as_array().unwrap().iter();
    items.map(|item| (text(item, "entry"), text(item, "judge"))).collect()
}

/// The entries and judges that are linked in a score set.
async fn linked(server: &Server, set: &str) -> Vec<(String, String)> {
    let page = server.get(&format!("/assignment?score_set={set}&per_page=100")).await.expect(200).json();
    let text = |item: &Value, name: &str| item[name]["slug"].as_str().unwrap().to_owned();
    let items = page["data"].as_array().unwrap().iter().filter(|item| item["method"] != "recused");
    let mut pairs: Vec<_> = items.map(|item| (text(item, "entry"), text(item, "judge"))).collect();
    pairs.sort();
    pairs
}

/// How many pairs each judge has.
fn loads(pairs: &[(String, String)]) -> BTreeMap<&str, usize> {
    let mut loads = BTreeMap::new();
    for (_, judge) in pairs {
        *loads.entry(judge.as_str()).or_default() += 1;
    }
    loads
}

/// A plan that can be applied and one that can be undone, for the answers of the interface.
pub async fn put(server: &Server) {
    let body = json!({"score_set": "ScoreQua", "entries": ["EntryTwo"], "judges": ["UserJudg"], "per_entry": 1, "method": "random"});
    let made = plan(server, &body).await["plan"].as_str().unwrap().to_owned();
    let named = format!("UPDATE assignment_plans SET slug = 'PlanAAAA', doc = replace(doc, '{made}', 'PlanAAAA')");
    let applied = "INSERT INTO assignment_plans SELECT account, 'PlanBBBB', until, asked, state, doc, 'UndoAAAA', \
                   '[\"EntryOneUserJudgScoreSetJ\"]', 0 FROM assignment_plans";
    execute(server, vec![named, applied.to_owned()]).await;
}

fn names(answer: &Answer) -> Vec<String> {
    let mut names = error_names(answer, JSON).unwrap_or_default();
    names.sort();
    names
}

both_engines! {
    async fn a_plan_assigns_nothing_until_it_is_applied_and_nothing_is_left_when_it_is_undone(server) {
        let (entries, judges) = prepared(&server, 6, 4).await;
        let made = plan(&server, &asked(&entries, &judges)).await;
        assert_eq!(linked(&server, "ScoreQua").await, []);
        let planned = pairs(&made);
        assert_eq!(planned.len(), 12);
        assert!(loads(&planned).values().all(|load| *load == 3), "{planned:?}");
        assert_eq!(made["report"]["optimal"], true);
        assert_eq!(made["state"]["hash"].as_str().unwrap().len(), 64);
        let path = format!("/assignment/plan/{}", made["plan"].as_str().unwrap());
        assert_eq!(server.get(&path).await.expect(200).json(), made);
        let applied = apply(&server, &made).await.expect(200).json();
        assert_eq!(pairs(&applied), planned);
        assert_eq!(linked(&server, "ScoreQua").await, planned);
        let slug = applied["assignments"][0]["slug"].as_str().unwrap();
        assert_eq!(server.get(&format!("/assignment/{slug}")).await.expect(200).json()["method"], "random");
        assert!(apply(&server, &made).await.expect(422).json().get("errors").is_none());
        undo(&server, &applied).await.expect(204);
        assert_eq!(linked(&server, "ScoreQua").await, []);
        assert!(undo(&server, &applied).await.expect(422).json().get("errors").is_none());
        let again = plan(&server, &asked(&entries, &judges)).await;
        assert_eq!(pairs(&again), planned, "equal states make equal plans");
        assert_eq!(again["state"]["hash"], made["state"]["hash"]);
    }

    async fn a_plan_made_on_an_old_state_is_refused(server) {
        let (entries, judges) = prepared(&server, 3, 3).await;
        let entry = &entries[0];
        let changes: [(&str, String, Value); 6] = [
            ("PUT", format!("/entry/{entry}/recuse"), json!({"judge": judges[0], "score_set": "ScoreQua"})),
            ("PUT", format!("/entry/{entry}/update-category"), json!({"category": "CategPar"})),
            ("PUT", format!("/entry/{entry}/tag/other"), Value::Null),
            ("PUT", format!("/user/{}", judges[1]), json!({"roles": ["RoleNone"]})),
            ("POST", "/assignment".to_owned(),
                json!({"score_set": "ScoreQua", "entry": entry, "judge": judges[2], "rounds": ["RoundJud"]})),
            ("DELETE", format!("/entry/{entry}"), Value::Null),
        ];
        for (method, path, body) in changes {
            let made = plan(&server, &asked(&entries, &judges)).await;
            let before = linked(&server, "ScoreQua").await;
            let answer = match (method, body) {
                ("DELETE", _) => server.delete(&path).await,
                ("POST", body) => server.post(&path, &body.to_string()).await,
                (_, Value::Null) => server.put(&path, "").await,
                (_, body) => server.put(&path, &body.to_string()).await,
            };
            assert!(answer.status < 300, "{method} {path} {}", answer.text());
            let after = linked(&server, "ScoreQua").await;
            assert!(apply(&server, &made).await.expect(422).json().get("errors").is_none(), "{method} {path}");
            assert_eq!(linked(&server, "ScoreQua").await, after);
            assert!(after.len() <= before.len() + 1);
        }
    }

    async fn what_does_not_belong_to_a_plan_does_not_spoil_it(server) {
        let (entries, judges) = prepared(&server, 3, 3).await;
        let made = plan(&server, &asked(&entries, &judges)).await;
        server.put("/entry/EntryOne/tag/other", "").await.expect(201);
        server.put(&format!("/entry/{}/update-title", entries[0]), r#"{"title":"Another"}"#).await.expect(200);
        apply(&server, &made).await.expect(200);
    }

    async fn who_is_linked_stays_and_counts(server) {
        let (entries, judges) = prepared(&server, 4, 4).await;
        for (entry, judge) in [(&entries[0], &judges[0]), (&entries[1], &judges[0])] {
            let body = json!({"score_set": "ScoreQua", "entry": entry, "judge": judge, "rounds": ["RoundJud"]});
            server.post("/assignment", &body.to_string()).await.expect(201);
        }
        let abstains = format!("/assignment/{}{}ScoreQuaJ/abstain", entries[1], judges[0]);
        server.put(&abstains, r#"{"reason":"I am ill."}"#).await.expect(200);
        let made = plan(&server, &asked(&entries, &judges[1..])).await;
        let of = |entry: &String| pairs(&made).iter().filter(|(of, _)| of == entry).count();
        assert_eq!(entries.iter().map(of).collect::<Vec<_>>(), [2, 2, 2, 2]);
        let kept: Vec<&Value> =
            made["assignments"].as_array().unwrap().iter().filter(|item| item["kept"] == true).collect();
        assert_eq!(kept, [&json!({"entry": entries[0], "judge": judges[0], "kept": true})]);
        let applied = apply(&server, &made).await.expect(200).json();
        assert_eq!(applied["assignments"].as_array().unwrap().len(), 7);
        undo(&server, &applied).await.expect(204);
        assert_eq!(linked(&server, "ScoreQua").await.len(), 2, "what was there before stays");
    }

    async fn affinities_decide_and_a_judge_in_conflict_is_never_planned(server) {
        let (entries, judges) = prepared(&server, 3, 3).await;
        server.put(&format!("/entry/{}/recuse", entries[0]), &json!({"judge": judges[0]}).to_string()).await.expect(204);
        let affinity = |entry: usize, judge: usize| json!({"entry": entries[entry], "judge": judges[judge], "weight": 10});
        let mut body = asked(&entries, &judges);
        body["method"] = json!("affinity");
        body["per_entry"] = json!(1);
        body["per_judge"] = json!({"min": 1, "max": 1});
        body["affinities"] = json!([affinity(0, 0), affinity(1, 0), affinity(0, 2), affinity(2, 1)]);
        let made = plan(&server, &body).await;
        let pair = |entry: usize, judge: usize| (entries[entry].clone(), judges[judge].clone());
        assert_eq!(pairs(&made), [pair(0, 2), pair(1, 0), pair(2, 1)]);
        assert_eq!(made["report"]["loads"][0], json!({"judge": judges[0], "load": 1}));
        let applied = apply(&server, &made).await.expect(200).json();
        let slug = applied["assignments"][0]["slug"].as_str().unwrap();
        assert_eq!(server.get(&format!("/assignment/{slug}")).await.json()["method"], "manual");
    }

    async fn a_plan_that_cannot_be_names_the_rules_that_conflict(server) {
        let (entries, judges) = prepared(&server, 3, 2).await;
        let mut body = asked(&entries, &judges);
        body["per_judge"] = json!({"max": 2});
        let answer = server.post("/assignment/plan", &body.to_string()).await.expect(422);
        assert_eq!(names(&answer), ["plan"]);
        let message = answer.json()["errors"]["plan"].to_string();
        for named in ["per_entry is 2", "per_judge.max is 2", &entries[0], &judges[1]] {
            assert!(message.contains(named), "{named}: {message}");
        }
        body["per_judge"] = json!({"max": 3});
        server.post("/assignment/plan", &body.to_string()).await.expect(200);
    }

    async fn who_is_linked_already_and_not_asked_for_is_told_apart(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        let link = json!({"score_set": "ScoreQua", "entry": entries[0], "judge": judges[1], "rounds": ["RoundJud"]});
        server.post("/assignment", &link.to_string()).await.expect(201);
        let answer = server.post("/assignment/plan", &asked(&entries, &judges[..1]).to_string()).await.expect(422);
        let message = answer.json()["errors"]["plan"].to_string();
        let told = format!("who is linked already and not asked for gets no more: {}", judges[1]);
        assert!(message.contains(&told) && !message.contains("per_judge"), "{message}");
    }

    async fn who_is_not_there_is_told_beside_what_is_wrong_with_the_numbers(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        let mut body = asked(&entries, &judges);
        body["entries"] = json!([entries[0], "NoSuchEn"]);
        body["judges"] = json!([judges[0], "NoSuchUs"]);
        body["per_entry"] = json!(0);
        body["method"] = json!("none");
        let answer = server.post("/assignment/plan", &body.to_string()).await.expect(422);
        let mut named = names(&answer);
        named.sort_unstable();
        assert_eq!(named, ["entries", "judges", "method", "per_entry"]);
    }

    async fn what_a_judge_has_elsewhere_in_the_score_set_counts_towards_the_most(server) {
        let (entries, judges) = prepared(&server, 4, 2).await;
        let mut body = asked(&entries[..2], &judges);
        body["per_judge"] = json!({"max": 2});
        let first = plan(&server, &body).await;
        apply(&server, &first).await.expect(200);
        body["entries"] = json!(entries[2..]);
        assert_eq!(names(&server.post("/assignment/plan", &body.to_string()).await.expect(422)), ["plan"]);
        body["score_set"] = json!("ScoreTwo");
        server.post("/assignment/plan", &body.to_string()).await.expect(200);
    }

    async fn a_filter_and_a_role_select_who_is_there_and_who_comes_spoils_the_plan(server) {
        let (entries, _) = prepared(&server, 3, 2).await;
        let body = json!({"score_set": "ScoreQua", "filter": {"tag": "planned"}, "role": "RoleJury",
            "per_entry": 2, "method": "random"});
        let made = plan(&server, &body).await;
        assert_eq!(pairs(&made).len(), 2 * entries.len());
        server.put("/entry/EntryOne/tag/planned", "").await.expect(201);
        apply(&server, &made).await.expect(422);
    }

    async fn a_sheet_with_comments_alone_is_undone_and_kept(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        let made = plan(&server, &asked(&entries, &judges)).await;
        let applied = apply(&server, &made).await.expect(200).json();
        let slug = applied["assignments"][3]["slug"].as_str().unwrap();
        server.put(&format!("/assignment/{slug}/abstain"), r#"{"reason":"Ill"}"#).await.expect(200);
        undo(&server, &applied).await.expect(204);
        assert_eq!(server.get(&format!("/assignment/{slug}")).await.expect(200).json()["method"], "stray");
    }

    async fn nothing_is_undone_where_one_has_scores(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        let made = plan(&server, &asked(&entries, &judges)).await;
        let applied = apply(&server, &made).await.expect(200).json();
        let slug = applied["assignments"][3]["slug"].as_str().unwrap();
        server.put(&format!("/assignment/{slug}/score"), r#"{"decision":"pass"}"#).await.expect(200);
        let refused = undo(&server, &applied).await.expect(422);
        assert!(refused.json()["message"].to_string().contains(slug));
        assert_eq!(linked(&server, "ScoreQua").await.len(), 4);
    }

    async fn a_plan_is_gone_after_a_day_and_one_that_was_applied_can_be_undone(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        let (old, used) = (plan(&server, &asked(&entries, &judges)).await, plan(&server, &asked(&entries, &judges)).await);
        let applied = apply(&server, &used).await.expect(200).json();
        server.clock.advance(86_401);
        assert_eq!(names(&apply(&server, &old).await.expect(422)), ["plan"]);
        server.get(&format!("/assignment/plan/{}", old["plan"].as_str().unwrap())).await.expect(404);
        undo(&server, &applied).await.expect(204);
    }

    async fn everything_that_is_wrong_with_a_plan_is_told_at_once(server) {
        let (entries, judges) = prepared(&server, 2, 2).await;
        for (body, expected) in [
            (json!({}), vec!["entries", "judges", "method", "per_entry", "score_set"]),
            (json!({"score_set": "NoSuchSc", "entries": [], "filter": {}, "judges": judges, "role": "NoSuchRo", "per_entry": 0,
                "method": "best", "per_judge": {"min": 2, "max": 1}, "seed": -1, "more": 1}),
                vec!["entries", "filter", "method", "more", "per_entry", "per_judge.min", "role", "score_set", "seed"]),
            (json!({"score_set": "ScoreQua", "filter": {"category": "NoSuchCa", "chapter": "NoSuchCh"}, "role": "RoleNone",
                "per_entry": 1, "method": "random", "rounds": ["NoSuchRo"]}), vec!["filter.category", "filter.chapter", "rounds"]),
            (json!({"score_set": "ScoreQua", "entries": ["NoSuchEn", "bad"], "judges": ["UserEntr"], "per_entry": 1,
                "method": "random", "more": 1}), vec!["entries", "judges", "more"]),
            (json!({"score_set": "ScoreQua", "entries": ["NoSuchEn"], "judges": ["UserEntr"], "per_entry": 1,
                "method": "random"}), vec!["entries", "judges"]),
            (json!({"score_set": "ScoreQua", "entries": entries, "role": "RoleNone", "per_entry": 1, "method": "random"}),
                vec!["role"]),
            (json!({"score_set": "ScoreQua", "filter": {"tag": "nowhere"}, "judges": judges, "per_entry": 1,
                "method": "random"}), vec!["filter"]),
            (json!({"score_set": "ScoreQua", "entries": entries, "judges": judges, "per_entry": 1, "method": "affinity",
                "affinities": [{"entry": "EntryOne", "judge": "UserEntr", "weight": 1}]}),
                vec!["affinities.1.entry", "affinities.1.judge"]),
            (json!({"score_set": "ScoreQua", "entries": entries, "judges": judges, "per_entry": 1, "method": "random",
                "affinities": [{"entry": entries[0], "judge": judges[0], "weight": 1}]}), vec!["affinities"]),
        ] {
            let answer = server.post("/assignment/plan", &body.to_string()).await.expect(422);
            assert_eq!(names(&answer), expected, "{body}");
        }
        for path in ["apply", "undo"] {
            let answer = server.post(&format!("/assignment/{path}"), r#"{"more":1}"#).await.expect(422);
            assert_eq!(names(&answer), ["more", if path == "apply" { "plan" } else { "undo" }]);
        }
        assert_eq!(names(&server.post("/assignment/apply", r#"{"plan":"NoSuchPl"}"#).await.expect(422)), ["plan"]);
        assert_eq!(names(&server.post("/assignment/undo", r#"{"undo":"NoSuchPl"}"#).await.expect(422)), ["undo"]);
    }
}
