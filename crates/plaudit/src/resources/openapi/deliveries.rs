//! The schemas of deliveries, and of what webhooks are asked to do.

use serde_json::{Map, Value, json};

use super::components::{list, object, or_null, string};
use crate::deliveries::store::State;
use crate::log::Event;
use crate::program::component;

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let mut detail = delivery();
    detail["properties"]["body"] = json!({
        "description": "What is sent, the same at every attempt; null where it is not made yet, and for what is sent by `get`.",
        "type": ["string", "null"],
        "examples": ["{\"slug\":\"EntryAAA\"}"],
    });
    if let Some(required) = detail["required"].as_array_mut() {
        required.push(json!("body"));
    }
    let schemas = [
        ("Delivery", delivery()),
        ("DeliveryDetail", detail),
        ("DeliveryPage", page()),
        (
            "TestWebhook",
            closed(object("What is tried.", json!({ "event": event("The event of which an example is sent.") }))),
        ),
        ("TestAttempt", object("What came of it.", Value::Object(outcome()))),
        ("ReplayRange", range()),
    ];
    schemas.map(|(name, schema)| (name.to_owned(), schema)).into_iter().collect()
}

fn closed(mut schema: Value) -> Value {
    schema["additionalProperties"] = json!(false);
    schema
}

fn event(about: &str) -> Value {
    json!({ "description": about, "type": "string", "enum": Event::NAMES, "examples": [Event::EntryUpdated.name()] })
}

fn outcome() -> Map<String, Value> {
    let or_none = |about: &str, kind: &str, example: Value| json!({ "description": about, "type": [kind, "null"], "examples": [example] });
    let outcome = json!({
        "status": or_none("The status of the answer; null where none came.", "integer", json!(204)),
        "duration_ms": { "description": "How long it took.", "type": "integer", "minimum": 0, "examples": [12] },
        "answer": string("The first 1,024 bytes of the answer."),
        "error": or_none("Why no answer came.", "string", Value::Null),
    });
    outcome.as_object().cloned().unwrap_or_default()
}

fn delivery() -> Value {
    let mut attempt = outcome();
    attempt.insert("at".to_owned(), component("Timestamp"));
    object(
        "An event of a change that is sent to a webhook.",
        json!({
            "id": { "description": "The `webhook-id`.", "type": "string", "examples": ["msg_12_0_9f86d081884c"] },
            "event": event("The event."),
            "sequence": { "description": "The number of the change.", "type": "integer", "minimum": 1, "examples": [12] },
            "kind": { "description": "The kind of the record.", "type": "string", "examples": ["entry"] },
            "slug": { "description": "The record.", "type": "string", "examples": ["EntryAAA"] },
            "state": {
                "description": "What has become of it.",
                "type": "string",
                "enum": State::NAMES,
                "examples": ["delivered"],
            },
            "attempts": list("The last 50 attempts.", &object("An attempt.", Value::Object(attempt))),
            "next_attempt": or_null(
                "When it is attempted next; null where that is under way or has an end. It is later where another delivery of the record \
                 is open, or the endpoint asked to be left alone.",
                &component("Timestamp"),
            ),
        }),
    )
}

fn page() -> Value {
    object(
        "A page of deliveries.",
        json!({
            "data": list("The deliveries, the newest first.", &component("Delivery")),
            "next_cursor": {
                "description": "Where the next page begins; null at the end.",
                "type": ["string", "null"],
                "examples": [null],
            },
        }),
    )
}

fn range() -> Value {
    let time = |about: &str| json!({ "description": about, "allOf": [component("Timestamp")] });
    let mut schema = closed(object(
        "What is delivered again.",
        json!({
            "after": time("The time from which on."),
            "before": time("The time before which."),
            "events": list("The events alone that are; left out, every one that the webhook is told of.", &event("An event.")),
        }),
    ));
    schema["required"] = json!(["after", "before"]);
    schema
}
