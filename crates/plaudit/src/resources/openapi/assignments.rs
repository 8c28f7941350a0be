//! The schemas of assignments: parts of answers, and bodies.

use serde_json::{Map, Value, json};

use super::components::{list, named, object, or_null, slug, string, text};
use crate::program::component;
use crate::records::assignments::{COMMENT_LENGTH, Decision, VOTES};

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = parts();
    schemas.extend(bodies());
    schemas.insert("AssignmentProgress".to_owned(), progress());
    schemas
}

/// Points, of how many, and both.
pub(super) fn points() -> Value {
    json!({
        "value": { "description": "The points; null where some are missing.", "type": ["number", "null"] },
        "max_score": { "description": "Of how many.", "type": "number" },
        "final_score": { "description": "Both in one text.", "type": ["string", "null"], "examples": ["7/10"] },
    })
}

/// Parts of assignments: what was written, and what the judge gave.
fn parts() -> Map<String, Value> {
    let mut criterion = points();
    criterion["name"] = component("Translated");
    criterion["weight"] = json!({ "description": "How much it weighs.", "type": "integer", "minimum": 1 });
    let comments = |about: &str| list(about, &component("Comment"));
    named(json!({
        "AssignmentSlug": {
            "description": "The slug of an assignment: those of entry, judge and score set with J, or of entry, role and score \
                set with R.",
            "type": "string",
            "pattern": "^[A-Za-z]{24}[JR]$",
            "examples": ["EntryAAAUserAAAAScoreAAAJ"],
        },
        "Comment": object("What somebody wrote.", json!({
            "slug": slug(),
            "comment": string("The text."),
            "created_at": component("Timestamp"),
            "updated_at": component("Timestamp"),
            "user": or_null("The judge; null where somebody else wrote it.", &component("Judge")),
        })),
        "AssignmentComments": object("What was written at an assignment.", json!({
            "judging": comments("What the judge says of the entry."),
            "abstention": comments("Why the judge does not judge it."),
            "conflict": comments("Conflicts of interest."),
            "criteria": list("By criterion.", &object("Comments by a criterion.", json!({
                "name": component("Translated"), "comments": comments("The comments."),
            }))),
        })),
        "AssignmentScore": {
            "description": "What the judge gave, by the mode of the score set.",
            "anyOf": [
                object("Points by criterion.", json!({
                    "criteria": list("By criterion, in their order.", &object("A criterion.", criterion)),
                    "total_score": object("All of them, as they weigh.", points()),
                })),
                object("Votes.", json!({ "total_votes": component("Count") })),
                object("A decision.", json!({ "final_decision": { "enum": Decision::NAMES } })),
                object("A place.", json!({ "preference": { "type": "integer", "minimum": 1 } })),
            ],
        },
    }))
}

/// A body with these members, of which these must be there.
pub(super) fn body(about: &str, properties: Value, required: &[&str]) -> Value {
    let mut body = object(about, properties);
    body["required"] = json!(required);
    body["additionalProperties"] = json!(false);
    body
}

fn slugs(about: &str) -> Value {
    json!({ "description": about, "type": "array", "items": slug(), "minItems": 1, "maxItems": 10_000, "uniqueItems": true })
}

fn bodies() -> Map<String, Value> {
    let rounds = || slugs("The judging rounds in which is judged.");
    let comment = || json!({ "description": "What the judge says; null takes it away.", "type": ["string", "null"] });
    let of_criteria = |about: &str, value: Value| {
        let mut map = json!({ "description": about, "type": "object", "propertyNames": slug() });
        map["additionalProperties"] = value;
        map
    };
    let one = json!({ "score_set": slug(), "entry": slug(), "judge": slug(), "rounds": rounds() });
    let many = json!({
        "score_set": slug(), "entries": slugs("The entries."), "judges": slugs("The judges."), "rounds": rounds(),
    });
    let points = json!({
        "criteria": of_criteria(
            "Points by criterion; one that is left out keeps its points, null takes them away.",
            json!({ "type": ["number", "null"], "examples": [7] }),
        ),
        "comments": of_criteria("Comments by criterion.", json!({ "type": ["string", "null"], "examples": ["Fine work."] })),
        "comment": comment(),
    });
    let decision = json!({ "decision": { "enum": Decision::NAMES }, "comment": comment() });
    let preference = json!({ "type": ["integer", "null"], "minimum": 1, "description": "The place; null for none." });
    let votes = json!({
        "type": "integer", "minimum": 0, "maximum": VOTES,
        "description": "The votes of the current period; those of earlier ones stay.",
    });
    named(json!({
        "CreateAssignment": {
            "description": "Who is to judge what: one judge and one entry, or each of many with each.",
            "anyOf": [
                body("One.", one, &["score_set", "entry", "judge", "rounds"]),
                body("Many.", many, &["score_set", "entries", "judges", "rounds"]),
            ],
        },
        "UpdateScore": {
            "description": "What the judge gives, by the mode of the score set.",
            "anyOf": [
                body("Of the mode vip_judging.", points, &[]),
                body("Of the mode qualifying.", decision, &["decision"]),
                body("Of the mode top_pick.", json!({ "preference": preference, "comment": comment() }), &["preference"]),
                body("Of the mode voting.", json!({ "votes": votes }), &["votes"]),
            ],
        },
        "Abstain": body("Why.", json!({ "reason": comment() }), &[]),
        "DeclareConflict": body("The conflict.", json!({ "comment": text("What it is.", COMMENT_LENGTH) }), &["comment"]),
        "Reopen": body("Why.", json!({ "reason": text("Why it is opened.", COMMENT_LENGTH) }), &["reason"]),
        "Recuse": body("Who.", json!({
            "judge": slug(),
            "score_set": { "description": "The score set; all of them without.", "anyOf": [slug(), { "type": "null" }] },
        }), &["judge"]),
        "Reassign": body("Who drops out of what.", json!({ "judge": slug(), "score_set": slug() }), &["judge", "score_set"]),
    }))
}

fn progress() -> Value {
    let counted = |about: &str, of: &str, schema: Value| {
        let mut properties = json!({});
        properties[of] = schema;
        for name in ["total", "complete", "in_progress", "abstained", "recused"] {
            properties[name] = component("Count");
        }
        object(about, properties)
    };
    object(
        "How far judges are.",
        json!({
            "by_judge": list("By judge.", &counted("Assignments of a judge.", "judge", component("Judge"))),
            "by_category":
                list("By category.", &counted("Assignments of a category.", "category", component("Reference"))),
            "short_of_judges": list("Entries that are short of judges.", &component("EntryReference")),
        }),
    )
}
