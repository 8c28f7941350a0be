//! What becomes of entries and of other stages.

use serde_json::{Value, json};

use super::{ask, decide, logged, set_up, standing, tasks, token};
use crate::both_engines;
use crate::harness::check::{FORMATS, error_names, every_record};
use crate::harness::fixture::of_account_a;
use crate::harness::{JSON, Server};

/// A body that hands an entry in, in time.
const SUBMIT: &str = r#"{"status":"submitted","custom_deadline":"2026-12-31 12:00"}"#;

/// Two stages after the submission of the same order, and two behind them, one of which waits for a request.
const AFTER: &str = r#"{"kind":"review_stage","slug":"StageOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"One"},"order":1,"timing":"after_submission","reviewer_kinds":["entrant"]}
{"kind":"review_stage","slug":"StageTwo","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Two"},"order":1,"timing":"after_submission","reviewer_kinds":["entrant"],"on_proceed":"approved"}
{"kind":"review_stage","slug":"StageThr","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Three"},"order":2,"timing":"after_submission","reviewer_kinds":["entrant"],"on_stop":"resubmission_required"}
{"kind":"review_stage","slug":"StageMan","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"By hand"},"order":2,"timing":"after_submission","reviewer_kinds":["entrant"],"start":"manual"}"#;

/// The task of a stage of an entry that waits.
async fn open(server: &Server, stage: &str) -> Value {
    let page = server.get(&format!("/review-task?review_stage={stage}&per_page=100")).await.expect(200).json();
    let waits = |task: &&Value| task["decision"].is_null();
    page["data"].as_array().unwrap().iter().find(waits).unwrap_or_else(|| panic!("{stage}: {page}")).clone()
}

both_engines! {
    async fn an_entry_is_submitted_when_every_stage_before_has_ended_with_proceed(server) {
        set_up(&server).await;
        for format in FORMATS {
            let refused = server.put_with("/entry/EntryTwo", SUBMIT, &[("accept", format)]).await.expect(422);
            assert_eq!(error_names(&refused, format), None, "a state precondition");
        }
        let mut body: Value = serde_json::from_str(SUBMIT).unwrap();
        body.as_object_mut().unwrap().extend(
            json!({"category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New"}).as_object().unwrap().clone(),
        );
        let refused = server.post("/entry", &body.to_string()).await.expect(422);
        assert_eq!(error_names(&refused, JSON), None, "nothing has agreed to a new entry");
        let first = ask(&server, "StageBef", "EntryTwo").await;
        server.put("/entry/EntryTwo", SUBMIT).await.expect(422);
        let changes = server.changes("AccountA").await.len();
        decide(&server, &first, "stop").await;
        assert_eq!(logged(&server, changes).await[1], "entry EntryTwo updated entry_updated,entry_status_changed");
        assert_eq!(standing(&server, "EntryTwo").await, ["not_approved_for_submission", "undecided", "stop"]);
        server.put("/entry/EntryTwo", SUBMIT).await.expect(422);
        server.put("/entry/EntryTwo", r#"{"status":"in_progress"}"#).await.expect(200);
        server.put("/entry/EntryTwo", SUBMIT).await.expect(422);
        // The later task of a stage says how it ended.
        server.clock.advance(1);
        let second = ask(&server, "StageBef", "EntryTwo").await;
        assert_eq!(standing(&server, "EntryTwo").await, ["in_progress", "undecided", "pending"]);
        decide(&server, &second, "proceed").await;
        server.put("/entry/EntryTwo", SUBMIT).await.expect(200);
        assert_eq!(standing(&server, "EntryTwo").await, ["submitted", "undecided", "proceed"]);
        server.put("/entry/EntryTwo", r#"{"status":"in_progress"}"#).await.expect(200);
        server.delete(&format!("/review-task/{}", token(&second))).await.expect(204);
        server.put("/entry/EntryTwo", SUBMIT).await.expect(422);
        every_record(&server.db).await;
    }

    async fn handing_in_begins_the_first_stages_and_their_end_the_next(server) {
        server.import(&of_account_a(AFTER)).await;
        let changes = server.changes("AccountA").await.len();
        server.put("/entry/EntryTwo", SUBMIT).await.expect(200);
        let made = logged(&server, changes).await;
        assert_eq!(made.iter().filter(|change| change.ends_with("created review_task_created")).count(), 2, "{made:?}");
        assert_eq!(made[2], "entry EntryTwo updated entry_updated,entry_status_changed,entry_submitted");
        assert_eq!(standing(&server, "EntryTwo").await, ["submitted", "undecided", "pending"]);
        assert_eq!(tasks(&server, "").await, ["StageOne EntryTwo -", "StageTwo EntryTwo -"]);
        decide(&server, &open(&server, "StageOne").await, "proceed").await;
        assert_eq!(tasks(&server, "&decision=proceed").await, ["StageOne EntryTwo proceed"]);
        decide(&server, &open(&server, "StageTwo").await, "proceed").await;
        assert_eq!(standing(&server, "EntryTwo").await, ["submitted", "approved", "pending"]);
        assert_eq!(tasks(&server, "").await, ["StageOne EntryTwo proceed", "StageThr EntryTwo -", "StageTwo EntryTwo proceed"]);
        server.clock.advance(60);
        decide(&server, &open(&server, "StageThr").await, "stop").await;
        assert_eq!(standing(&server, "EntryTwo").await, ["resubmission_required", "approved", "stop"]);
        server.clock.advance(60);
        server.put("/entry/EntryTwo", r#"{"status":"resubmitted"}"#).await.expect(200);
        assert_eq!(standing(&server, "EntryTwo").await, ["resubmitted", "approved", "pending"]);
        assert_eq!(tasks(&server, "&review_stage=StageOne").await, ["StageOne EntryTwo -", "StageOne EntryTwo proceed"]);
        every_record(&server.db).await;
    }

    async fn a_new_entry_that_is_submitted_begins_its_review(server) {
        server.import(&of_account_a(AFTER)).await;
        let body = json!({"category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New", "status": "submitted",
            "custom_deadline": "2026-12-31 12:00"});
        let made = server.post("/entry", &body.to_string()).await.expect(201).json();
        assert_eq!(made["review_status"], "pending");
        let slug = made["slug"].as_str().unwrap();
        assert_eq!(tasks(&server, "").await, [format!("StageOne {slug} -"), format!("StageTwo {slug} -")]);
        let copy = server.post(&format!("/entry/{slug}/copy"), "").await.expect(201).json();
        assert_eq!((&copy["review_status"], &copy["status"]), (&json!(""), &json!("in_progress")), "a copy has no review");
        assert_eq!(tasks(&server, "").await.len(), 2);
        every_record(&server.db).await;
    }

    async fn the_tasks_of_an_entry_go_to_the_trash_and_come_back_with_it(server) {
        server.import(&of_account_a(AFTER)).await;
        let task = ask(&server, "StageMan", "EntryOne").await;
        server.delete("/entry/EntryOne").await.expect(204);
        assert!(tasks(&server, "&deleted=included").await.is_empty());
        let path = format!("/review-task/{}", token(&task));
        server.get(&path).await.expect(404);
        server.put(&format!("{path}/decision"), r#"{"decision":"stop"}"#).await.expect(404);
        server.delete(&path).await.expect(404);
        server.post("/entry/EntryOne/restore", "").await.expect(204);
        server.get(&path).await.expect(200);
        decide(&server, &task, "proceed").await;
    }

    async fn nothing_is_decided_on_a_stage_in_the_trash_or_an_entry_of_a_season_that_is_over(server) {
        server.import(&of_account_a(AFTER)).await;
        let task = ask(&server, "StageMan", "EntryOne").await;
        let stage = AFTER.lines().last().unwrap();
        server.import(&of_account_a(&stage.replace(r#""start""#, r#""deleted":true,"start""#))).await;
        let path = format!("/review-task/{}/decision", token(&task));
        let refused = server.put(&path, r#"{"decision":"stop"}"#).await.expect(422);
        assert_eq!(error_names(&refused, JSON), None);
        assert_eq!(tasks(&server, "").await, ["StageMan EntryOne -"], "a stage in the trash keeps its tasks");
        server.import(&of_account_a(stage)).await;
        let season = r#"{"kind":"season","slug":"SeasonAc","name":{"en_GB":"Season 2026"},"status":"archived"}"#;
        server.import(&of_account_a(season)).await;
        for answer in [
            server.put(&path, r#"{"decision":"stop"}"#).await,
            server.delete(path.strip_suffix("/decision").unwrap()).await,
        ] {
            assert_eq!(error_names(&answer.expect(422), JSON), None);
        }
        server.import(&of_account_a(&season.replace("archived", "active"))).await;
        server.put(&path, r#"{"decision":"stop"}"#).await.expect(200);
    }
}
