//! The schemas of published results.

use serde_json::{Map, Value, json};

use super::components::{list, named, object, or_null, string};
use crate::program::component;
use crate::program::score_sets::{By, Mode, Places};

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let rank = json!({ "description": "The place; null for none.", "type": ["integer", "null"], "minimum": 1 });
    let place = object("An entry.", json!({ "entry": component("EntryReference"), "rank": rank }));
    let remark = object(
        "What a judge wrote.",
        json!({
            "criterion": or_null("The name of the criterion; null for the whole entry.", &component("Translated")),
            "comment": string("The text."),
        }),
    );
    let comments = object(
        "An entry of the person of the key.",
        json!({ "entry": component("EntryReference"), "comments": list("By criterion.", &remark) }),
    );
    let mut publish = object(
        "What is published.",
        json!({
            "score_set": component("Slug"),
            "embargo_until": or_null("Until when only managers and auditors see it; null for no embargo.", &component("Timestamp")),
            "feedback": { "description": "Whether entrants see what judges wrote about their entries.", "type": "boolean" },
        }),
    );
    publish["required"] = json!(["score_set"]);
    publish["additionalProperties"] = json!(false);
    named(json!({
        "PublishResult": publish,
        "PublishedPlaces": list("The entries in the order of their places.", &place),
        "PublishedComments": list("By the slugs of the entries.", &comments),
        "ResultBundle": bundle(&rank),
    }))
}

fn integer(about: &str) -> Value {
    json!({ "description": about, "type": "integer" })
}

fn of_names(about: &str, names: &[&str]) -> Value {
    json!({ "description": about, "type": "string", "enum": names })
}

fn free(about: &str) -> Value {
    json!({ "description": about, "type": ["object", "null"] })
}

/// An exact number as a text.
fn exact(about: &str) -> Value {
    json!({
        "description": about, "type": ["string", "null"], "pattern": "^-?[0-9]+([.][0-9]+|/[0-9]+)?$", "examples": ["22/3"],
    })
}

fn hexadecimal(about: &str, digits: usize) -> Value {
    json!({
        "description": about, "type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$"),
        "examples": ["0a".repeat(digits / 2)],
    })
}

fn inputs() -> Value {
    let mut sheet = object(
        "A sheet that counts, by the mode of the score set.",
        json!({
            "judge": component("Slug"),
            "decision": of_names("The decision.", &["pass", "fail", "unsure"]),
            "preference": integer("The preference."),
            "scores": {
                "description": "The points by criterion, exact.",
                "type": "object", "propertyNames": component("Slug"), "additionalProperties": { "type": "string" },
            },
            "votes": integer("The votes."),
        }),
    );
    sheet["required"] = json!(["judge"]);
    let entry =
        object("An entry.", json!({ "slug": component("Slug"), "sheets": list("By the slugs of judges.", &sheet) }));
    let criterion = object(
        "A criterion.",
        json!({
            "slug": component("Slug"), "minimum": exact("The fewest points."), "maximum": exact("The most points."),
            "step": exact("By how many points scores differ."), "weight": integer("How much it weighs."),
            "order": integer("Its place."),
        }),
    );
    let score_set = object(
        "The rules of the score set.",
        json!({
            "slug": component("Slug"), "mode": of_names("How it is judged.", Mode::NAMES), "min_judges": integer("How many sheets a place needs."),
            "places": of_names("How places are numbered.", Places::NAMES), "rules": free("What is particular to the mode."),
            "tie_break": list("The steps by which equal entries are told apart.", &free("A step.")),
        }),
    );
    let slugs = |about: &str| list(about, &component("Slug"));
    let lot = object(
        "The entries as they were drawn, and the numbers that draw them.",
        json!({ "entries": slugs("The first first."), "numbers": list("As they were published.", &integer("A number.")) }),
    );
    let mut inputs = object(
        "What the result was made of.",
        json!({
            "casting_vote": slugs("What was decided of ties, the best first."),
            "criteria": list("In their order.", &criterion), "entries": list("By their slugs.", &entry), "lot": lot,
            "score_set": score_set,
        }),
    );
    inputs["required"] = json!(["criteria", "entries", "score_set"]);
    inputs
}

fn bundle(rank: &Value) -> Value {
    let slug = || component("Slug");
    let count = || component("Count");
    let mut step = object(
        "A step.",
        json!({
            "by": of_names("What it goes by.", By::NAMES), "criterion": slug(), "tied": count(),
            "value": exact("What decided; null for nothing."),
        }),
    );
    step["required"] = json!(["by", "tied", "value"]);
    let result = object(
        "An entry.",
        json!({
            "entry": slug(), "rank": rank, "score": exact("The score; null where it is undecided."), "sheets": count(),
            "tie_steps": list("The steps that were taken.", &step), "totals": free("What the sheets add up to."),
        }),
    );
    let head = object(
        "Where the change log stood.",
        json!({ "hash": hexadecimal("The hash of the last change.", 64), "sequence": count() }),
    );
    let content = object(
        "What is signed: this member as canonical JSON (RFC 8785), with U+007F escaped.",
        json!({
            "account": slug(), "form": integer("The form of the bundle."), "head": head, "inputs": inputs(),
            "results": list("The entries in the order of their places.", &result),
        }),
    );
    let signature = object(
        "The signature.",
        json!({
            "algorithm": of_names("RFC 8032.", &["Ed25519"]), "public_key": hexadecimal("The public key.", 64),
            "value": hexadecimal("The signature.", 128),
        }),
    );
    object(
        "A result with what it was made of, signed. It has slugs alone: no names and no comments.",
        json!({ "bundle": content, "signature": signature }),
    )
}
