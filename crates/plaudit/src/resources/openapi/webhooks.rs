//! What is sent of events: the schemas of payloads and of the feed, and the document's webhooks (OpenAPI 3.1).

use serde_json::{Map, Value, json};

use super::components::{list, object, string};
use super::examples::{Examples, TIME};
use crate::log::{Action, Event};
use crate::program::{component, pascal};
use kernel::kind::Kind;

/// The sources that payloads name.
const SOURCES: [&str; 2] = ["ui", "api"];

/// The headers of a delivery.
const HEADERS: [(&str, &str, &str); 4] = [
    (
        "Signature",
        "The HMAC-SHA256 of the exact body under the signing key, in lower-case hexadecimal.",
        "c0b7a6b1d0f6f0b0a9c86e0f2d5a3b1c4e7f8a9b0c1d2e3f405162738495a6b7",
    ),
    (
        "webhook-id",
        "What tells the delivery from others; the same at every attempt, so that what came twice can be passed over.",
        "msg_12_0_9f86d081884c",
    ),
    ("webhook-timestamp", "The time of the attempt, in seconds since 1970-01-01 UTC.", "1769848200"),
    (
        "webhook-signature",
        "Signatures by the Standard Webhooks specification, with blanks between them: `v1,` and the base64 of the HMAC-SHA256 \
         of id, timestamp and body with full stops between them. The secret of its libraries is `whsec_` and the base64 of the \
         signing key. For 24 hours after a rotation there is one of each key.",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
];

/// The events whose records the interface shows, with the schemas of these records.
fn shown() -> impl Iterator<Item = (Event, String)> {
    Event::ALL.into_iter().filter_map(|event| Some((event, pascal(event.kind()?.name()))))
}

/// An example of the record that an event is about.
pub(in crate::resources) fn example(event: Event) -> String {
    let schemas = super::components::schemas();
    let record =
        event.kind().map(|kind| Examples { schemas: &schemas, made: Map::new() }.of(&pascal(kind.name()), false));
    record.unwrap_or_else(|| json!({ "slug": "AAAAAAAA" })).to_string()
}

/// The name of the schema of the event's payload.
fn payload(event: Event) -> String {
    pascal(event.name()) + "Event"
}

/// The schemas of payloads and of the feed.
pub(super) fn schemas() -> Map<String, Value> {
    let payloads = shown().map(|(event, record)| {
        let told = object(
            "What happened.",
            json!({
                "event": { "description": "The event.", "const": event.name() },
                "timestamp": component("Timestamp"),
                "source": { "description": "Through what it happened.", "type": "string", "enum": SOURCES },
            }),
        );
        let schema = json!({ "description": event.about(), "allOf": [component(&record), told] });
        (payload(event), schema)
    });
    payloads.chain([("EventPage".to_owned(), page()), ("LoggedEvent".to_owned(), logged())]).collect()
}

fn page() -> Value {
    object(
        "A page of the feed of changes.",
        json!({
            "data": list("The changes, in order.", &component("LoggedEvent")),
            "next_cursor": string("Where the next page begins. At the end it stays good, and gives what comes later."),
        }),
    )
}

fn logged() -> Value {
    let actor = object(
        "Who changed the record.",
        json!({
            "kind": { "description": "What it is.", "type": "string", "enum": ["key", "user", "operator", "system"] },
            "slug": {
                "description": "The slug of the key or of the user; null for the operator and the service itself.",
                "type": ["string", "null"],
                "examples": ["KeyAAAAA"],
            },
        }),
    );
    let words = |about: &str, words: &[&str], example: &str| json!({ "description": about, "type": "string", "enum": words, "examples": [example] });
    let events = json!({ "type": "string", "enum": Event::NAMES, "examples": [Event::EntryUpdated.name()] });
    object(
        "A change of a record.",
        json!({
            "sequence": { "description": "Its number. No number is left out.", "type": "integer", "minimum": 1, "examples": [12] },
            "timestamp": component("Timestamp"),
            "actor": actor,
            "source": words("Through what it happened.", &["api", "ui", "system"], "api"),
            "kind": words("The kind of the record.", &Kind::NAMES, "entry"),
            "slug": { "description": "The slug or token of the record.", "type": "string", "examples": ["EntryAAA"] },
            "link": {
                "description": "The address of the record; null where such records have none.",
                "type": ["string", "null"],
                "examples": ["https://awards.example.org/entry/EntryAAA"],
            },
            "action": words("What was done.", &Action::ALL.map(Action::name), "updated"),
            "events": list("The events that the change caused.", &events),
        }),
    )
}

/// The webhooks of the document, an operation of the endpoint for each event.
pub(super) fn webhooks(examples: &mut Examples<'_>) -> Value {
    let header = |(name, about, example): (&str, &str, &str)| {
        let schema = json!({ "type": "string" });
        json!({ "name": name, "in": "header", "required": true, "description": about, "schema": schema, "example": example })
    };
    let headers: Vec<Value> = HEADERS.map(header).into();
    let operation = |(event, record): (Event, String)| {
        let schema = payload(event);
        let example = examples.named(&schema, true, |examples| {
            let mut example = examples.of(&record, false);
            example["event"] = json!(event.name());
            example["timestamp"] = json!(TIME);
            example["source"] = json!("api");
            example
        });
        let about = format!(
            "{} Since version {}. Sent to webhooks whose method is `post`; those whose method is `get` get `event`, `slug` and \
             `timestamp` in the query and no body.",
            event.about(),
            event.since()
        );
        let post = json!({
            "operationId": format!("{schema}V23"),
            "tags": ["Webhooks"],
            "summary": event.about(),
            "description": about,
            "security": [],
            "parameters": headers,
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": component(&schema), "examples": example } },
            },
            "responses": {
                "2XX": { "description": "The delivery has arrived. Any other answer is followed by another attempt." },
                "410": { "description": "Nothing more is wanted: the webhook is disabled." },
            },
        });
        (event.name().to_owned(), json!({ "post": post }))
    };
    Value::Object(shown().map(operation).collect())
}
