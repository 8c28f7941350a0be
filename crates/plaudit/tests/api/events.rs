//! Every event that the catalogue says is caused is caused by each operation that it names, and what a webhook is sent of it
//! fits the schema of the event.

use std::collections::BTreeSet;

use kernel::kind::Kind;
use plaudit::log::Event::{
    self, EntryCategoryChanged, EntryChapterChanged, EntryCopied, EntryCreated, EntryDeleted, EntryEligible,
    EntryIneligible, EntryModerated, EntryResubmitted, EntryStatusChanged, EntrySubmitted, EntryTagged, EntryUpdated,
    FieldValueUpdated, MembershipRegistered, RoleGranted, UserConfirmed, UserUpdated,
};
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

/// Requests one after the other, and the events of each. `SIGN_IN` stands for a link by which a user signs in.
fn requests() -> Vec<(&'static str, &'static str, Value, &'static [Event])> {
    let file = json!({"filename": "a.txt", "data": "aGVsbG8="});
    let made = |more: &Value| {
        let mut body = json!({"category": "CategChi", "entrant": "UserEntr", "season": "SeasonAc", "title": "New"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let submitted =
        json!({"status": "submitted", "moderation_status": "approved", "entry_fields": {"FieldScr": "much"}});
    let moved = json!({"category": "CategChi", "chapter": "ChapterN", "moderation_status": "rejected", "entry_fields": {"FieldTxt": "b"}});
    let handed_in = json!({"status": "submitted", "entry_fields": {"FieldScr": "much"}});
    let person = json!({"first_name": "Ada", "last_name": "Byron", "email": "ada@example.org", "password": "correct horse", "roles": ["RoleMana"]});
    vec![
        ("POST", "/entry", made(&json!({})), &[EntryCreated]),
        ("POST", "/entry", made(&submitted), &[EntryCreated, EntrySubmitted, EntryModerated, EntryEligible]),
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

const SIGN_IN: &str = "a link";

/// Sends a request, which must succeed; gives the operation as the catalogue calls it.
async fn ask(server: &Server, method: &str, path: &str, body: &Value) -> String {
    if path == SIGN_IN {
        let token = server.get("/user/UserEntr/auth-token").await.expect(200).json();
        let link = token["link"].as_str().unwrap().strip_prefix(BASE).unwrap();
        let request = server.request(method, link, &[("x-api-key", ""), ("accept", "")], None);
        server.send_anything(request).await.expect(200);
        return "a link that confirms or signs in".to_owned();
    }
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
        server.import(&of_account_a(&format!("{ROUND}\n{SCREENED}"))).await;
        let endpoint = Receiver::start().await;
        let hook = json!({"name": "All", "method": "post", "url": endpoint.url, "events": Event::NAMES});
        server.post("/webhook", &hook.to_string()).await.expect(201);
        let mut seen = BTreeSet::new();
        for (method, path, body, events) in requests() {
            let operation = ask(&server, method, path, &body).await;
            server.settle().await;
            let received = endpoint.take();
            let name = |received: &Received| received.json()["event"].as_str().unwrap().to_owned();
            let expected: Vec<&str> = events.iter().map(|event| event.name()).collect();
            assert_eq!(received.iter().map(name).collect::<Vec<_>>(), expected, "{method} {path}");
            for (event, received) in events.iter().zip(&received) {
                check(*event, received);
                seen.insert((*event, operation.clone()));
            }
        }
        // What is caused by judging and by review is held where these are tested.
        let is_here = |event: &Event| !matches!(event.kind(), Some(Kind::Assignment | Kind::ReviewTask));
        for event in Event::ALL.into_iter().filter(is_here) {
            let is_caused = seen.iter().any(|(other, _)| *other == event);
            assert_eq!(is_caused, !event.causes().is_empty(), "{event}");
            for operation in event.causes().split(", ").filter(|cause| cause.starts_with('`') && !cause.contains("/review-task/")) {
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
