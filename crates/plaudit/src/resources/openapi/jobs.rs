//! The schemas of jobs.

use serde_json::{Map, Value, json};

use super::components::{list, object, or_null, string};
use crate::jobs::State;
use crate::program::component;

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    [("Job".to_owned(), job()), ("JobPage".to_owned(), page())].into_iter().collect()
}

fn page() -> Value {
    object(
        "A page of jobs.",
        json!({
            "data": list("The jobs; what was added last comes first.", &component("Job")),
            "next_cursor": {
                "description": "Where the next page begins; null at the end.",
                "type": ["string", "null"],
                "examples": [null],
            },
        }),
    )
}

fn job() -> Value {
    let count = |about: &str| json!({ "description": about, "type": "integer", "minimum": 0, "examples": [3] });
    let progress = object(
        "How far it is.",
        json!({
            "done": count("Items that are done."),
            "total": {
                "description": "Items that there are; null until that is known.",
                "type": ["integer", "null"],
                "examples": [200],
            },
            "failed": count("Items that failed."),
        }),
    );
    let error = object(
        "Something that failed.",
        json!({
            "item": string("What failed; empty for the job as a whole."),
            "message": string("Why."),
        }),
    );
    let result = object(
        "A record by its address; one of the set-up by its name as well.",
        json!({
            "slug": string("Its slug."),
            "link": component("Link"),
            "name": component("Translated"),
        }),
    );
    let time = |about: &str| or_null(about, &component("Timestamp"));
    object(
        "Work that goes on after the answer to the request that began it. One that failed in part is done, with errors.",
        json!({
            "slug": component("Slug"),
            "kind": { "description": "What it does.", "type": "string", "examples": ["webhook_replay"] },
            "state": { "description": "Where it stands.", "type": "string", "enum": State::NAMES, "examples": ["running"] },
            "progress": progress,
            "results": list("What it made, changed or found as it should be, the first 1,000 of it.", &result),
            "errors": list("What failed, the first 1,000 of it.", &error),
            "created": component("Timestamp"),
            "started": time("When it was first begun."),
            "finished": time("When it ended."),
        }),
    )
}
