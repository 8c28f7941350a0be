//! `GetReviewTaskCollectionV23`, `PostReviewTaskV23`, `GetReviewTaskV23`, `DeleteReviewTaskV23` and
//! `PutReviewTaskDecisionV23`.

mod flow;
mod time;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::both_engines;
use crate::harness::check::{FORMATS, error_names, every_record};
use crate::harness::fixture::of_account_a;
use crate::harness::receiver::Receiver;
use crate::harness::{BASE, NOW, Server, XML, tree};

/// Stages of the form of entries, and others: before the submission one that is for it and one that is for another category; after
/// it one that asks the entrant and the managers.
const STAGES: &str = r#"{"kind":"field","slug":"FieldMai","form":"FormEntr","tab":"TabGener","resource":"entries","type":"email","title":{"en_GB":"Referee"}}
{"kind":"form","slug":"FormOthe","season":"SeasonAc","name":{"en_GB":"Another"},"type":"entry"}
{"kind":"review_stage","slug":"StageBef","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Consent","de_DE":"Zustimmung"},"timing":"before_submission","reviewers":[{"name":"Ada","email":"ada@example.org"}],"reviewer_fields":["FieldMai"]}
{"kind":"review_stage","slug":"StageAft","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Committee"},"timing":"after_submission","start":"manual","reviewer_kinds":["entrant","manager"],"on_proceed":"approved","on_stop":"rejected"}
{"kind":"review_stage","slug":"StageFor","season":"SeasonAc","form":"FormOthe","name":{"en_GB":"Of another form"},"timing":"after_submission","reviewer_kinds":["entrant"]}
{"kind":"review_stage","slug":"StageLim","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Limited"},"timing":"after_submission","start":"manual","reviewer_kinds":["entrant"],"categories":["CategPar"],"chapters":["ChapterS"]}
{"kind":"review_stage","slug":"StageDel","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Gone"},"timing":"after_submission","reviewer_kinds":["entrant"],"deleted":true}
{"kind":"form","slug":"FormOldX","season":"SeasonOl","name":{"en_GB":"Old"},"type":"entry"}
{"kind":"category","slug":"CategOlX","season":"SeasonOl","form":"FormOldX","name":{"en_GB":"Old"},"status":"active"}
{"kind":"review_stage","slug":"StageOld","season":"SeasonOl","form":"FormOldX","name":{"en_GB":"Old"},"timing":"after_submission","reviewer_kinds":["entrant"]}
{"kind":"entry","slug":"EntryOlX","title":"Old","status":"submitted","season":"SeasonOl","category":"CategOlX","chapter":"ChapterO","form":"FormOldX","entrant":"UserEntr"}
{"kind":"entry","slug":"EntryDel","title":"Gone","season":"SeasonAc","category":"CategChi","chapter":"ChapterN","form":"FormEntr","entrant":"UserEntr","deleted":true}"#;

async fn set_up(server: &Server) {
    server.import(&of_account_a(STAGES)).await;
}

/// Begins a stage of an entry; gives the task.
async fn ask(server: &Server, stage: &str, entry: &str) -> Value {
    server.post("/review-task", &json!({"review_stage": stage, "entry": entry}).to_string()).await.expect(200).json()
}

fn token(task: &Value) -> &str {
    task["token"].as_str().unwrap()
}

/// Decides on a task; gives it.
async fn decide(server: &Server, task: &Value, decision: &str) -> Value {
    let path = format!("/review-task/{}/decision", token(task));
    server.put(&path, &json!({"decision": decision}).to_string()).await.expect(200).json()
}

/// The tasks of a list: stage, entry and decision, in order.
async fn tasks(server: &Server, query: &str) -> Vec<String> {
    let page = server.get(&format!("/review-task?per_page=100{query}")).await.expect(200).json();
    let text = |task: &Value| {
        let decision = task["decision"].as_str().unwrap_or("-");
        format!(
            "{} {} {decision}",
            task["review_stage"]["slug"].as_str().unwrap(),
            task["entry"]["slug"].as_str().unwrap()
        )
    };
    let mut tasks: Vec<_> = page["data"].as_array().unwrap().iter().map(text).collect();
    tasks.sort();
    tasks
}

/// Status, moderation and review status of an entry.
async fn standing(server: &Server, entry: &str) -> [String; 3] {
    let entry = server.get(&format!("/entry/{entry}")).await.expect(200).json();
    ["status", "moderation_status", "review_status"].map(|member| entry[member].as_str().unwrap().to_owned())
}

/// What was logged since so many changes.
async fn logged(server: &Server, since: usize) -> Vec<String> {
    server.changes("AccountA").await.split_off(since)
}

both_engines! {
    async fn a_task_is_made_by_hand_with_its_reviewers_and_shown_in_both_formats(server) {
        set_up(&server).await;
        server.put("/entry/EntryTwo/update-field/FieldMai", r#"{"value":"ref@example.org"}"#).await.expect(200);
        let changes = server.changes("AccountA").await.len();
        let made = ask(&server, "StageBef", "EntryTwo").await;
        let token = token(&made).to_owned();
        let reference = |path: &str, slug: &str, name: &str| json!({"slug": slug, "link": format!("{BASE}/{path}/{slug}"), "name": {"en_GB": name}});
        let expected = json!({
            "action_at": null, "category": reference("category", "CategChi", "Posters"), "created": NOW, "decision": null,
            "entry": {"slug": "EntryTwo", "link": format!("{BASE}/entry/EntryTwo"), "title": "Second"},
            "review_stage": reference("review-stage", "StageBef", "Consent"),
            "reviewer": [{"name": "Ada", "email": "ada@example.org"}, {"name": "", "email": "ref@example.org"}],
            "season": reference("season", "SeasonAc", "Season 2026"), "token": token, "updated": NOW,
        });
        assert_eq!(made.to_string(), expected.to_string());
        assert_eq!(logged(&server, changes).await, [
            format!("review_task {token} created review_task_created"),
            "entry EntryTwo updated entry_updated".to_owned(),
        ]);
        let path = format!("/review-task/{token}");
        let read = server.get(&path).await.expect(200);
        assert_eq!(read.json(), expected);
        tree::assert_same(&read.body, &server.get_with(&path, &[("accept", XML)]).await.expect(200).body);
        server.get_with(&path, &[("if-none-match", read.header("etag").unwrap())]).await.expect(304);
        server.put("/entry/EntryTwo/update-title", r#"{"title":"Another"}"#).await.expect(200);
        let retitled = server.get_with(&path, &[("if-none-match", read.header("etag").unwrap())]).await.expect(200).json();
        assert_eq!(retitled["entry"]["title"], "Another");
        let page = server.get("/review-task").await.expect(200).json();
        assert_eq!((&page["data"], &page["total"]), (&json!([retitled]), &json!(1)));
        let german = server.get_with(&path, &[("x-api-language", "de_DE")]).await.expect(200).json();
        assert_eq!(german["review_stage"]["name"], json!({"de_DE": "Zustimmung"}));
        every_record(&server.db).await;
    }

    async fn a_stage_that_waits_is_asked_once_more_and_never_twice(server) {
        set_up(&server).await;
        let made = ask(&server, "StageAft", "EntryOne").await;
        let names: Vec<_> = made["reviewer"].as_array().unwrap().iter().map(|reviewer| reviewer["email"].as_str().unwrap()).collect();
        assert_eq!(names, ["ase@example.org", "mara@example.org"], "the entrant and the manager of the chapter");
        let changes = server.changes("AccountA").await.len();
        assert_eq!(ask(&server, "StageAft", "EntryOne").await, made);
        assert!(logged(&server, changes).await.is_empty());
        server.put("/chapter/ChapterN", r#"{"managers":[]}"#).await.expect(200);
        let changes = server.changes("AccountA").await.len();
        let again = ask(&server, "StageAft", "EntryOne").await;
        assert_eq!((token(&again), again["reviewer"].as_array().unwrap().len()), (token(&made), 1));
        assert_eq!(logged(&server, changes).await, [format!("review_task {} updated", token(&made))]);
        decide(&server, &made, "proceed").await;
        assert_ne!(token(&ask(&server, "StageAft", "EntryOne").await), token(&made), "what has ended begins anew");
        assert_eq!(tasks(&server, "").await, ["StageAft EntryOne -", "StageAft EntryOne proceed"]);
        every_record(&server.db).await;
    }

    async fn everything_that_is_wrong_with_a_new_task_is_told_in_both_formats(server) {
        set_up(&server).await;
        for (body, names) in [
            ("{}", vec!["entry", "review_stage"]),
            (r#"{"review_stage":"x","entry":5,"colour":1}"#, vec!["colour", "entry", "review_stage"]),
            (r#"{"review_stage":"NoSuchSt","entry":"NoSuchEn"}"#, vec!["entry", "review_stage"]),
            (r#"{"review_stage":"StageDel","entry":"EntryDel"}"#, vec!["entry", "review_stage"]),
            (r#"{"review_stage":"StageAft","entry":"BEntryOn"}"#, vec!["entry"]),
            (r#"{"review_stage":"StageFor","entry":"EntryTwo"}"#, vec!["review_stage"]),
            (r#"{"review_stage":"StageLim","entry":"EntryTwo"}"#, vec!["review_stage"]),
            (r#"{"review_stage":"StageOld","entry":"EntryTwo"}"#, vec!["review_stage"]),
        ] {
            for format in FORMATS {
                let answer = server.post_with("/review-task", body, &[("accept", format)]).await.expect(422);
                let mut found = error_names(&answer, format).unwrap();
                found.sort();
                assert_eq!(found, names, "{body}");
            }
        }
        let limited = server.post("/review-task", r#"{"review_stage":"StageLim","entry":"EntryTwo"}"#).await.json();
        let messages = ["is not for the category of the entry", "is not for the chapter of the entry"];
        assert_eq!(limited["errors"]["review_stage"], json!(messages));
        for format in FORMATS {
            let body = r#"{"review_stage":"StageOld","entry":"EntryOlX"}"#;
            let answer = server.post_with("/review-task", body, &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&answer, format), None, "the season is over");
        }
        server.post("/review-task", "").await.expect(400);
        assert!(tasks(&server, "&season=all&deleted=included").await.is_empty());
    }

    async fn a_decision_is_made_once_and_its_faults_are_told_in_order(server) {
        set_up(&server).await;
        let made = ask(&server, "StageAft", "EntryOne").await;
        let path = format!("/review-task/{}/decision", token(&made));
        let stop = r#"{"decision":"stop","comment":"Not for us."}"#;
        for format in FORMATS {
            let send = async |path: &str, body: &str| server.put_with(path, body, &[("accept", format)]).await;
            send("/review-task/short/decision", stop).await.expect(400);
            send("/review-task/TokenOfNothingAtAll/decision", r#"{"decision":"maybe"}"#).await.expect(404);
            send(&path, "").await.expect(400);
            for (body, names) in [
                ("{}", vec!["decision"]),
                (r#"{"decision":"maybe","comment":1,"by":"me"}"#, vec!["by", "comment", "decision"]),
            ] {
                let answer = send(&path, body).await.expect(422);
                let mut found = error_names(&answer, format).unwrap();
                found.sort();
                assert_eq!(found, names, "{body}");
            }
            server.put_with(&path, stop, &[("accept", format), ("if-match", "\"1.1.j\"")]).await.expect(412);
        }
        server.clock.advance(60);
        let changes = server.changes("AccountA").await.len();
        let decided = server.put(&path, stop).await.expect(200).json();
        let later = "2026-01-31T12:01:00.000000Z";
        let members = ["decision", "action_at", "updated", "created"].map(|member| decided[member].clone());
        assert_eq!(members, [json!("stop"), json!(later), json!(later), json!(NOW)]);
        assert_eq!(logged(&server, changes).await, [
            format!("review_task {} updated review_task_submitted", token(&made)),
            "entry EntryOne updated entry_updated,entry_moderated".to_owned(),
        ]);
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", "rejected", "stop"]);
        let comments = server.get("/entry/EntryOne").await.json()["comments"].clone();
        assert_eq!(comments, format!("Committee ({later}): Not for us."));
        assert!(server.export("AccountA").await.contains(r#""comment":"Not for us.""#));
        for format in FORMATS {
            let again = server.put_with(&path, stop, &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&again, format), None, "it was decided already");
        }
        every_record(&server.db).await;
    }

    async fn of_decisions_at_once_one_wins(server) {
        set_up(&server).await;
        let made = ask(&server, "StageAft", "EntryOne").await;
        let path = format!("/review-task/{}/decision", token(&made));
        let server = Arc::new(server);
        let tries: Vec<_> = (0..20).map(|number| {
            let (server, path) = (Arc::clone(&server), path.clone());
            let body = format!(r#"{{"decision":"{}"}}"#, ["proceed", "stop"][number % 2]);
            tokio::spawn(async move { server.put(&path, &body).await })
        }).collect();
        let mut answers = Vec::new();
        for attempt in tries {
            answers.push(attempt.await.unwrap());
        }
        let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(won.len(), 1);
        assert!(answers.iter().all(|answer| [200, 422].contains(&answer.status)));
        let decision = won[0].json()["decision"].as_str().unwrap().to_owned();
        let moderation = if decision == "proceed" { "approved" } else { "rejected" };
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", moderation, &decision]);
        let submitted = server.changes("AccountA").await.into_iter().filter(|change| change.contains("review_task_submitted"));
        assert_eq!(submitted.count(), 1);
    }

    async fn a_task_in_the_trash_counts_no_more_and_is_like_one_that_never_was(server) {
        set_up(&server).await;
        let (first, second) = (ask(&server, "StageAft", "EntryOne").await, ask(&server, "StageBef", "EntryOne").await);
        decide(&server, &first, "proceed").await;
        let path = format!("/review-task/{}", token(&second));
        server.delete_with(&path, &[("if-match", "\"1.1.j\"")]).await.expect(412);
        let changes = server.changes("AccountA").await.len();
        server.delete(&path).await.expect(204);
        assert_eq!(logged(&server, changes).await, [
            format!("review_task {} trashed", token(&second)),
            "entry EntryOne updated entry_updated".to_owned(),
        ]);
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", "approved", "proceed"]);
        let decision = format!("{path}/decision");
        for format in FORMATS {
            let headers = [("accept", format)];
            let alike = [path.as_str(), "/review-task/TokenOfNothingAtAll"];
            let read = [server.get_with(alike[0], &headers).await, server.get_with(alike[1], &headers).await];
            assert!(read.iter().all(|answer| answer.status == 404) && read[0].body == read[1].body);
            server.put_with(&decision, r#"{"decision":"stop"}"#, &headers).await.expect(404);
            server.delete_with(&path, &headers).await.expect(404);
        }
        assert_eq!(tasks(&server, "&deleted=only").await, ["StageBef EntryOne -"]);
        assert_eq!(tasks(&server, "&deleted=included").await, ["StageAft EntryOne proceed", "StageBef EntryOne -"]);
        server.delete(&format!("/review-task/{}", token(&first))).await.expect(204);
        assert_eq!(standing(&server, "EntryOne").await, ["submitted", "approved", ""], "what came of it stays");
        every_record(&server.db).await;
    }

    async fn the_tasks_of_another_account_are_unknown_ones(server) {
        let of_b = crate::harness::fixture::ACCOUNT_B.lines().next().unwrap();
        let stage = r#"{"kind":"review_stage","slug":"BStageOn","season":"BSeasonA","form":"BFormEnt","name":{"de_DE":"Stufe"},"timing":"after_submission","reviewer_kinds":["entrant"]}
{"kind":"review_task","token":"TokenOfTheOtherAccount","review_stage":"BStageOn","entry":"BEntryOn"}"#;
        server.import(&format!("{of_b}\n{stage}")).await;
        let before = server.changes("AccountB").await;
        for token in ["TokenOfTheOtherAccount", "TokenOfNothingAtAll"] {
            let path = format!("/review-task/{token}");
            server.get(&path).await.expect(404);
            server.delete(&path).await.expect(404);
            server.put(&format!("{path}/decision"), r#"{"decision":"stop"}"#).await.expect(404);
        }
        for filter in ["review_stage=BStageOn", "reviewer=berta@example.org", "season=BSeasonA"] {
            assert!(tasks(&server, &format!("&{filter}")).await.is_empty());
        }
        assert_eq!(server.changes("AccountB").await, before);
    }

    async fn filters_narrow_the_list_and_the_last_change_comes_first(server) {
        set_up(&server).await;
        server.import(&of_account_a(r#"{"kind":"review_task","token":"TokenOfTaskA","review_stage":"StageAft","entry":"EntryOne","reviewer":[{"name":"Ada Lovelace","email":"ADA@example.org"}],"created":"2026-01-01T00:00:00Z","updated":"2026-01-05T00:00:00Z"}
{"kind":"review_task","token":"TokenOfTaskB","review_stage":"StageBef","entry":"EntryTwo","reviewer":[{"email":"ben@example.org"}],"decision":"proceed","action_at":"2026-01-03T00:00:00Z","created":"2026-01-02T00:00:00Z","updated":"2026-01-03T00:00:00Z"}
{"kind":"review_task","token":"TokenOfTaskC","review_stage":"StageBef","entry":"EntryOne","decision":"stop","action_at":"2026-01-04T00:00:00Z","created":"2026-01-03T00:00:00Z","updated":"2026-01-04T00:00:00Z"}
{"kind":"review_task","token":"TokenOfTaskD","review_stage":"StageOld","entry":"EntryOlX","created":"2025-01-03T00:00:00Z","updated":"2025-01-04T00:00:00Z"}
{"kind":"review_task","token":"TokenOfTaskE","review_stage":"StageAft","entry":"EntryDel","updated":"2026-01-09T00:00:00Z"}"#)).await;
        let found = async |query: &str| {
            let page = server.get(&format!("/review-task?{query}")).await.expect(200).json();
            let last = |task: &Value| token(task).chars().last().unwrap();
            page["data"].as_array().unwrap().iter().map(last).collect::<String>()
        };
        for (query, expected) in [
            ("", "ACB"), ("season=all", "ACBD"), ("season=SeasonOl", "D"), ("dir=asc", "BCA"), ("order=created", "ACB"),
            ("decision=proceed", "B"), ("decision=stop", "C"), ("review_stage=StageBef", "CB"), ("review_stage=NoSuchSt", ""),
            ("reviewer=ada@example.org", "A"), ("reviewer=Ada%20LOVELACE", "A"), ("reviewer=ben@example.org", "B"), ("reviewer=ben", ""),
            ("action_at[before]=2026-01-04", "B"), ("action_at[after]=2026-01-03", "C"), ("action_at[on]=2026-01-03", "B"),
            ("action_at[between]=2026-01-03,2026-01-04", "CB"), ("created_at[after]=2026-01-01", "CB"),
            ("created_at[before]=2026-01-02", "A"), ("updated_at[on]=2026-01-05", "A"), ("updated_at[before]=2026-01-05", "CB"),
            ("review_stage=StageBef&decision=stop", "C"), ("deleted=only", ""), ("deleted=included", "ACB"),
        ] {
            assert_eq!(found(query).await, expected, "{query}");
        }
        for query in ["decision=maybe", "season=x", "deleted=all", "action_at=2026-01-01", "review_stage=x", "entry=EntryOne", "reviewer="] {
            for format in FORMATS {
                server.get_with(&format!("/review-task?{query}"), &[("accept", format)]).await.expect(400);
            }
        }
    }

    async fn what_is_exported_is_imported_as_the_same_and_faults_are_told(server) {
        set_up(&server).await;
        let made = ask(&server, "StageAft", "EntryOne").await;
        decide(&server, &made, "proceed").await;
        let open = ask(&server, "StageBef", "EntryTwo").await;
        server.delete(&format!("/review-task/{}", token(&open))).await.expect(204);
        let exported = server.export("AccountA").await;
        assert!(server.try_import(&exported).await.is_empty());
        assert_eq!(server.export("AccountA").await, exported);
        let fresh = Server::empty(server.db.engine()).await;
        fresh.import(&exported).await;
        assert_eq!(fresh.export("AccountA").await, exported);
        every_record(&fresh.db).await;
        let line = |more: &str| {
            of_account_a(&format!(r#"{{"kind":"review_task","token":"TokenOfATask","review_stage":"StageAft","entry":"EntryOne",{more}}}"#))
        };
        for (more, fault) in [
            (r#""decision":"stop""#, "action_at"),
            (r#""decision":"maybe","action_at":"2026-01-01T00:00:00Z""#, "decision"),
            (r#""season":"SeasonOl""#, "season"),
            (r#""category":"NoSuchCa""#, "category"),
            (r#""reviewer":[{"name":"Ada"}]"#, "reviewer.1.email"),
            (r#""colour":"red""#, "colour"),
        ] {
            let faults = server.try_import(&line(more)).await;
            assert!(faults.iter().any(|told| told.contains(fault)), "{more}: {faults:?}");
        }
        let unknown = server.try_import(&line(r#""category":"CategChi""#).replace("StageAft", "NoSuchSt").replace("EntryOne", "NoSuchEn")).await;
        assert_eq!(unknown.len(), 2, "{unknown:?}");
        assert!(server.try_import(&line(r#""category":"CategChi","season":"SeasonAc""#)).await.is_empty());
    }

    async fn a_webhook_is_sent_the_task_as_a_single_read_shows_it(server) {
        set_up(&server).await;
        let endpoint = Receiver::start().await;
        for form in ["FormEntr", "FormOthe"] {
            let events = ["review_task_created", "review_task_submitted"];
            let body = json!({"name": form, "method": "post", "url": endpoint.url, "events": events, "form": form});
            server.post("/webhook", &body.to_string()).await.expect(201);
        }
        let made = ask(&server, "StageAft", "EntryOne").await;
        server.settle().await;
        let decided = decide(&server, &made, "proceed").await;
        server.settle().await;
        let received: Vec<Value> = endpoint.take().iter().map(crate::harness::receiver::Received::json).collect();
        let told = |task: &Value, event: &str| {
            let mut told = task.clone();
            told.as_object_mut().unwrap().extend(json!({"event": event, "timestamp": NOW, "source": "api"}).as_object().unwrap().clone());
            told
        };
        assert_eq!(received, [told(&made, "review_task_created"), told(&decided, "review_task_submitted")]);
    }
}
