//! Every event that the catalogue says is caused is caused by each operation that it names, and what a webhook is sent of it
//! fits the schema of the event.

use std::collections::BTreeSet;

use plaudit::log::Event::{
    self, AssignmentCompleted, AssignmentCreated, DocumentCreated, DocumentDeleted, EntryCategoryChanged,
    EntryChapterChanged, EntryCopied, EntryCreated, EntryDeleted, EntryEligible, EntryIneligible, EntryModerated,
    EntryResubmitted, EntryStatusChanged, EntrySubmitted, EntryTagged, EntryUpdated, FieldValueUpdated,
    MembershipRegistered, PaymentPending, PaymentSuccess, ReviewTaskCreated, ReviewTaskSubmitted, RoleGranted,
    UserConfirmed, UserUpdated,
};
use plaudit::review_flow::follow_up;
use serde_json::{Value, json};

use crate::both_engines;
use crate::entries::create::ROUND;
use crate::harness::described::{DOCUMENT, assert_answer, assert_body, described_path};
use crate::harness::fixture::of_account_a;
use crate::harness::receiver::{Received, Receiver};
use crate::harness::{BASE, Server};

/// A form that screens entries by the answers to a field, and a field for files of users.
const SCREENED: &str = r#"{"kind":"form","slug":"FormEntr","season":"SeasonAc","name":{"en_GB":"Entry form"},"type":"entry","chapter_option":"all","minimum_auto_score":3}
{"kind":"field","slug":"FieldScr","form":"FormEntr","tab":"TabGener","resource":"entries","title":{"en_GB":"F"},"type":"radio","auto_scoring":9,"options":[{"value":"much","score":4},{"value":"little","score":1}]}
{"kind":"field","slug":"FieldUpl","resource":"users","type":"file","title":{"en_GB":"Portrait"}}"#;

/// What is judged and reviewed: entries of a category that has stages, the first by itself, and a score set with two judges.
const JUDGED: &str = r#"{"kind":"category","slug":"CategRev","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Reviewed"},"status":"active"}
{"kind":"review_stage","slug":"StageOne","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"One"},"timing":"after_submission","order":1,"categories":["CategRev"],"reviewers":[{"email":"ada@example.org"}],"on_proceed":"approved","deadline_days":2,"on_deadline":"proceed"}
{"kind":"review_stage","slug":"StageTwo","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Two"},"timing":"after_submission","order":2,"categories":["CategRev"],"reviewers":[{"email":"ben@example.org"}],"on_stop":"resubmission_required","deadline_days":2,"on_deadline":"stop"}
{"kind":"review_stage","slug":"StageMan","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"By hand"},"timing":"after_submission","order":9,"start":"manual","reviewers":[{"email":"cid@example.org"}]}
{"kind":"role","slug":"RoleJury","name":{"en_GB":"Jury"},"type":"judge"}
{"kind":"round","slug":"RoundJud","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"Judging"},"type":"judge"}
{"kind":"score_set","slug":"ScoreQua","season":"SeasonAc","form":"FormEntr","name":{"en_GB":"First look"},"mode":"qualifying"}
{"kind":"user","slug":"UserJudA","first_name":"Grace","last_name":"Hopper","email":"grace@example.org","roles":["RoleJury"]}
{"kind":"user","slug":"UserJudB","first_name":"Edsger","last_name":"Dijkstra","email":"edsger@example.org","roles":["RoleJury"]}
{"kind":"entry","slug":"JudgedAA","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"A"}
{"kind":"entry","slug":"JudgedBB","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"B"}
{"kind":"entry","slug":"JudgedCC","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"C"}
{"kind":"entry","slug":"JudgedDD","season":"SeasonAc","form":"FormEntr","category":"CategChi","chapter":"ChapterN","entrant":"UserEntr","title":"D","status":"submitted","tags":"paneled"}
{"kind":"entry","slug":"Reviewed","season":"SeasonAc","form":"FormEntr","category":"CategRev","chapter":"ChapterN","entrant":"UserEntr","title":"E","entry_fields":{"FieldTxt":"a"}}
{"kind":"document_template","slug":"TemplDoc","name":{"en_GB":"Certificate"},"resource":"entry","file_types":["PDF"],"layout":"certificate"}
{"kind":"document","slug":"DocuEntr","name":{"en_GB":"Certificate"},"file":"TokenOfTheLogoFileOfAllX","file_type":"PDF","filename":"a.pdf","entry":"JudgedAA","user":"UserJudA"}"#;

/// Whose judges judge what is tagged.
const PANEL_RECORD: &str = r#"{"kind":"panel","slug":"PanelAAA","season":"SeasonAc","score_set":"ScoreQua","name":{"en_GB":"Panel"},"rounds":["RoundJud"],"judges":["UserJudB"],"tags":["paneled"]}"#;

/// A request, and its events.
type Asked = (&'static str, &'static str, Value, &'static [Event]);

/// A body that makes an entry.
fn made(more: &Value) -> Value {
    let mut body = json!({"category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Requests one after the other, and the events of each. `SIGN_IN` stands for a link by which a user signs in, and so do others for what
/// is no request. The plan that is applied is made before, and a task is known by its stage.
fn requests() -> Vec<Asked> {
    let file = json!({"filename": "a.txt", "data": "aGVsbG8="});
    let submitted =
        json!({"status": "submitted", "moderation_status": "approved", "entry_fields": {"FieldScr": "much"}});
    let moved = json!({"category": "CategChi", "chapter": "ChapterN", "moderation_status": "rejected", "entry_fields": {"FieldTxt": "b"}});
    let handed_in = json!({"status": "submitted", "entry_fields": {"FieldScr": "much"}});
    let person = json!({"first_name": "Ada", "last_name": "Byron", "email": "ada@example.org", "password": "correct horse", "roles": ["RoleMana"]});
    vec![
        ("POST", "/entry", made(&json!({})), &[EntryCreated]),
        (
            "POST",
            "/entry",
            made(&submitted),
            &[EntryCreated, EntrySubmitted, EntryModerated, EntryEligible, PaymentPending],
        ),
        ("PUT", "/entry/EntryTwo/update-title", json!({"title": "Other"}), &[EntryUpdated]),
        ("PUT", "/entry/EntryTwo/tag/red,blue", Value::Null, &[EntryUpdated, EntryTagged]),
        ("DELETE", "/entry/EntryTwo/tag/red", Value::Null, &[EntryUpdated]),
        ("PUT", "/entry/EntryTwo/update-field/FieldTxt", json!({"value": "a"}), &[EntryUpdated, FieldValueUpdated]),
        ("POST", "/entry/EntryTwo/upload/FieldFil", file.clone(), &[EntryUpdated, FieldValueUpdated]),
        (
            "PUT",
            "/entry/EntryTwo/update-category",
            json!({"category": "CategPar"}),
            &[EntryUpdated, EntryCategoryChanged],
        ),
        ("PUT", "/entry/EntryTwo/update-chapter", json!({"chapter": "ChapterS"}), &[EntryUpdated, EntryChapterChanged]),
        (
            "PUT",
            "/entry/EntryTwo",
            moved,
            &[EntryUpdated, EntryModerated, EntryCategoryChanged, EntryChapterChanged, FieldValueUpdated],
        ),
        (
            "PUT",
            "/entry/EntryTwo",
            handed_in,
            &[EntryUpdated, EntryStatusChanged, EntrySubmitted, EntryEligible, FieldValueUpdated],
        ),
        (
            "PUT",
            "/entry/EntryTwo/update-field/FieldScr",
            json!({"value": "little"}),
            &[EntryUpdated, EntryIneligible, FieldValueUpdated],
        ),
        ("PUT", "/entry/EntryTwo", json!({"status": "resubmission_required"}), &[EntryUpdated, EntryStatusChanged]),
        (
            "PUT",
            "/entry/EntryTwo",
            json!({"status": "resubmitted"}),
            &[EntryUpdated, EntryStatusChanged, EntryResubmitted],
        ),
        ("POST", "/entry/EntryTwo/copy", Value::Null, &[EntryCreated, EntryCopied]),
        ("DELETE", "/entry/EntryTwo", Value::Null, &[EntryDeleted]),
        ("POST", "/entry/EntryTwo/restore", Value::Null, &[EntryUpdated]),
        ("PUT", "/contributor/Contribu/update-field/FieldCtr", json!({"value": "Editor"}), &[EntryUpdated]),
        ("POST", "/user", person, &[MembershipRegistered, RoleGranted]),
        ("PUT", "/user/UserEntr", json!({"roles": ["RoleMana"]}), &[UserUpdated, RoleGranted]),
        ("POST", "/user/UserEntr/upload/FieldUpl", file, &[UserUpdated]),
        ("POST", SIGN_IN, Value::Null, &[UserConfirmed, UserUpdated]),
    ]
}

/// The same, of judging and review.
fn judging() -> Vec<Asked> {
    let link = |entry: &str, judge: &str| json!({"score_set": "ScoreQua", "entry": entry, "judge": judge, "rounds": ["RoundJud"]});
    vec![
        ("POST", "/assignment", link("JudgedAA", "UserJudA"), &[AssignmentCreated]),
        ("PUT", "/assignment/JudgedAAUserJudAScoreQuaJ/score", json!({"decision": "pass"}), &[AssignmentCompleted]),
        ("PUT", "/assignment/JudgedAAUserJudAScoreQuaJ/abstain", json!({"reason": "No"}), &[]),
        ("POST", "/assignment/JudgedAAUserJudAScoreQuaJ/reopen", json!({"reason": "Yes"}), &[AssignmentCompleted]),
        ("POST", "/assignment", link("JudgedBB", "UserJudA"), &[AssignmentCreated]),
        ("POST", "/assignment", link("JudgedCC", "UserJudB"), &[AssignmentCreated]),
        ("POST", "/assignment/reassign", json!({"judge": "UserJudA", "score_set": "ScoreQua"}), &[AssignmentCreated]),
        ("POST", "/assignment/apply", Value::Null, &[AssignmentCreated]),
        ("POST", PANEL, Value::Null, &[AssignmentCreated]),
        (
            "POST",
            "/review-task",
            json!({"review_stage": "StageMan", "entry": "EntryOne"}),
            &[EntryUpdated, ReviewTaskCreated],
        ),
        (
            "POST",
            "/entry",
            made(
                &json!({"category": "CategRev", "chapter": "ChapterN", "status": "submitted", "entry_fields": {"FieldScr": "much"}}),
            ),
            &[EntryCreated, EntrySubmitted, EntryEligible, PaymentPending, ReviewTaskCreated],
        ),
        (
            "PUT",
            "/review-task/StageOne/decision",
            json!({"decision": "proceed"}),
            &[EntryUpdated, EntryModerated, ReviewTaskSubmitted, ReviewTaskCreated],
        ),
        (
            "PUT",
            "/review-task/StageTwo/decision",
            json!({"decision": "stop"}),
            &[EntryUpdated, EntryStatusChanged, ReviewTaskSubmitted],
        ),
        (
            "PUT",
            "/entry/Reviewed",
            json!({"status": "submitted", "entry_fields": {"FieldScr": "much"}}),
            &[
                EntryUpdated,
                EntryStatusChanged,
                EntrySubmitted,
                EntryEligible,
                FieldValueUpdated,
                PaymentPending,
                ReviewTaskCreated,
            ],
        ),
        ("POST", DEADLINE, Value::Null, &[EntryUpdated, EntryModerated, ReviewTaskSubmitted, ReviewTaskCreated]),
        ("POST", DEADLINE, Value::Null, &[EntryUpdated, EntryStatusChanged, ReviewTaskSubmitted]),
    ]
}

/// The same, of orders and documents.
fn paying() -> Vec<Asked> {
    let payment = |status: &str| json!({"provider": "bank", "reference": "1", "status": status, "amount": 9000, "date": "2026-01-31T10:00:00Z"});
    vec![
        ("POST", "/order/OrderTwo/payment", payment("pending"), &[PaymentPending]),
        ("POST", "/order/OrderTwo/payment", payment("success"), &[EntryUpdated, PaymentSuccess]),
        ("PUT", "/order/OrderOne", json!({"payment_status": "awaiting_payment"}), &[]),
        ("PUT", "/order/OrderOne", json!({"payment_status": "paid"}), &[EntryUpdated, PaymentSuccess]),
        ("PUT", "/order/OrderOne", json!({"city": "Ulm"}), &[]),
        ("POST", "/document", document(), &[DocumentCreated]),
        ("DELETE", "/document/DocuEntr", Value::Null, &[DocumentDeleted]),
    ]
}

fn document() -> Value {
    json!({
        "translated": {"name": {"en_GB": "Certificate"}}, "template": "TemplDoc", "fileType": "PDF", "shared": false,
        "resource": "entry", "selected": ["EntryOne"],
    })
}

const SIGN_IN: &str = "a link";
const PANEL: &str = "a panel";
const DEADLINE: &str = "the deadline of a task";

/// The path of a task that waits, which names its stage.
async fn of_task(server: &Server, path: &str) -> Option<String> {
    let (stage, rest) = path.strip_prefix("/review-task/")?.split_once('/')?;
    let page = server.get("/review-task?per_page=100").await.expect(200).json();
    let waits = |task: &&Value| task["review_stage"]["slug"] == stage && task["decision"].is_null();
    let task = page["data"].as_array().unwrap().iter().find(waits).unwrap();
    Some(format!("/review-task/{}/{rest}", task["token"].as_str().unwrap()))
}

/// A plan that is to be applied.
async fn plan(server: &Server) -> Value {
    let asked = json!({"score_set": "ScoreQua", "entries": ["EntryOne"], "judges": ["UserJudB"], "per_entry": 1, "method": "random"});
    let made = server.post("/assignment/plan", &asked.to_string()).await.expect(200).json();
    json!({"plan": made["plan"]})
}

/// Sends a request, which must succeed; gives the operation as the catalogue calls it.
async fn ask(server: &Server, method: &str, path: &str, body: &Value) -> String {
    if path == SIGN_IN {
        let token = server.get("/user/UserEntr/auth-token").await.expect(200).json();
        let link = token["link"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let request = server.request(method, link, &[("x-api-key", ""), ("accept", "")], None);
        server.send_anything(request).await.expect(200);
        return "a link that confirms or signs in".to_owned();
    }
    if path == PANEL {
        server.import(&of_account_a(PANEL_RECORD)).await;
        return PANEL.to_owned();
    }
    if path == DEADLINE {
        server.clock.advance(2 * 86_400);
        follow_up(&server.app).await.unwrap();
        return DEADLINE.to_owned();
    }
    let path = &of_task(server, path).await.unwrap_or_else(|| path.to_owned());
    let body = if path == "/assignment/apply" { &plan(server).await } else { body };
    let body = (!body.is_null()).then(|| body.to_string());
    let answer = server.send(server.request(method, path, &[], body.as_deref())).await;
    assert!(answer.status < 300, "{method} {path} {}", answer.text());
    format!("`{method} {}`", described_path(path).unwrap())
}

/// Panics where what was sent is not what the event's schema says, or has a member more than the record and the event have.
fn check(event: Event, received: &Received) {
    let what = || format!("{event}: {}", String::from_utf8_lossy(&received.body));
    let described = &DOCUMENT["webhooks"][event.name()]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let mut payload = received.json();
    assert_body(described, &payload, &what);
    let parts = DOCUMENT.pointer(&described["$ref"].as_str().unwrap()[1..]).unwrap()["allOf"].as_array().unwrap();
    for member in parts[1]["properties"].as_object().unwrap().keys() {
        assert!(payload.as_object_mut().unwrap().shift_remove(member).is_some(), "{member}: {}", what());
    }
    assert_answer(&parts[0], &payload, &what);
}

both_engines! {
    async fn every_event_is_caused_by_its_operations_and_is_sent_as_its_schema_says(server) {
        server.import(&of_account_a(&format!("{ROUND}\n{SCREENED}\n{JUDGED}"))).await;
        let endpoint = Receiver::start().await;
        let hook = json!({"name": "All", "method": "post", "url": endpoint.url, "events": Event::NAMES});
        server.post("/webhook", &hook.to_string()).await.expect(201);
        let mut seen = BTreeSet::new();
        for (method, path, body, events) in requests().into_iter().chain(judging()).chain(paying()) {
            let operation = ask(&server, method, path, &body).await;
            server.settle().await;
            let event = |received: &Received| Event::named(received.json()["event"].as_str().unwrap()).unwrap();
            let mut received = endpoint.take();
            // What is about several records comes in no order of these.
            received.sort_by_key(|received| event(received).kind().map(kernel::kind::Kind::name));
            assert_eq!(received.iter().map(event).collect::<Vec<_>>(), events, "{method} {path}");
            for (event, received) in events.iter().zip(&received) {
                check(*event, received);
                seen.insert((*event, operation.clone()));
            }
        }
        for event in Event::ALL {
            let is_caused = seen.iter().any(|(other, _)| *other == event);
            assert_eq!(is_caused, !event.causes().is_empty(), "{event}");
            for operation in event.causes().split(", ").filter(|cause| cause.starts_with('`') || [PANEL, DEADLINE].contains(cause)) {
                assert!(seen.contains(&(event, operation.to_owned())), "{event} is not caused by {operation}");
            }
        }
        // And whatever else causes an event is told by the catalogue, in words where there are many.
        for (event, operation) in &seen {
            let causes = event.causes();
            let is_told = causes.contains(operation.as_str()) || causes.contains("every operation");
            assert!(is_told, "the catalogue does not say that {operation} causes {event}");
        }
    }
}
