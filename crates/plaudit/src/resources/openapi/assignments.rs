//! The schemas of assignments: parts of answers, and bodies.

use serde_json::{Map, Value, json};

use super::components::{list, named, object, or_null, slug, string, text};
use crate::assigning::planning::asked::Method;
use crate::program::component;
use crate::records::assignments::{COMMENT_LENGTH, Decision, VOTES};
use kernel::input;

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = parts();
    schemas.extend(bodies());
    schemas.extend(plans());
    schemas.insert("AssignmentProgress".to_owned(), progress());
    schemas
}

/// Points, of how many, and both.
fn points() -> Value {
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
        "TotalScore": object("The points of all criteria, as they weigh.", points()),
        "CriterionScore": object("Points by a criterion.", criterion),
        "AssignmentScore": {
            "description": "What the judge gave, by the mode of the score set.",
            "anyOf": [
                object("Points by criterion.", json!({
                    "criteria": list("By criterion, in their order.", &component("CriterionScore")),
                    "total_score": component("TotalScore"),
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
        "criteria": component("PointsByCriterion"),
        "comments": component("CommentsByCriterion"),
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
        "PointsByCriterion": of_criteria(
            "Points by criterion; one that is left out keeps its points, null takes them away.",
            json!({ "type": ["number", "null"], "examples": [7] }),
        ),
        "CommentsByCriterion":
            of_criteria("Comments by criterion.", json!({ "type": ["string", "null"], "examples": ["Fine work."] })),
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

/// What is asked of a plan, and what comes of it.
fn plans() -> Map<String, Value> {
    let integer = |about: &str, least: i64| json!({ "description": about, "type": "integer", "minimum": least });
    let pair = || json!({ "entry": slug(), "judge": slug() });
    let with = |name: &str, schema: Value| {
        let mut properties = pair();
        properties[name] = schema;
        properties
    };
    let weight = json!({ "description": "The more, the better.", "type": "integer",
        "minimum": -planner::MAX_WEIGHT, "maximum": planner::MAX_WEIGHT });
    let filter = body(
        "What selects entries of the form and the season of the score set.",
        json!({
            "category": slug(), "chapter": slug(), "tag": text("A tag.", input::LINE_LENGTH),
        }),
        &[],
    );
    let common = json!({
        "score_set": slug(),
        "per_entry": integer("How many judges an entry is to have, those that it has included.", 1),
        "per_judge": component("JudgeLoad"),
        "method": { "enum": Method::NAMES },
        "affinities": list("How well judges suit entries, of the method affinity.", &component("Affinity")),
        "rounds": slugs("The judging rounds in which is judged; every one of the form where they are left out."),
        "seed": integer("What chance follows; 0 where it is left out.", 0),
    });
    let entries = [("entries", slugs("The entries.")), ("filter", component("EntryFilter"))];
    let judges = [("judges", slugs("Who is to judge.")), ("role", slug())];
    let asked: Vec<Value> = entries
        .iter()
        .flat_map(|entries| judges.iter().map(move |judges| [entries, judges]))
        .map(|of| {
            let mut properties = common.clone();
            for (name, schema) in of {
                properties[*name] = schema.clone();
            }
            let [entries, judges] = of.map(|(name, _)| *name);
            body(
                &format!("By {entries} and {judges}."),
                properties,
                &["score_set", "per_entry", "method", entries, judges],
            )
        })
        .collect();
    let kept = json!({ "description": "Whether it was there before.", "type": "boolean" });
    let plan = json!({
        "plan": slug(),
        "state": object("What was read.", json!({
            "sequence": integer("The last change of the account.", 0), "hash": string("The hash of everything that was read."),
        })),
        "assignments": list("Who judges what.", &object("A pair.", with("kept", kept))),
        "report": object("What the plan is worth.", json!({
            "components": integer("Groups of entries that have no judge in common, directly or through others.", 0),
            "bridges": list("Assignments that alone hold a group together.", &object("A pair.", pair())),
            "inflation": { "description": "How much more the difference of two entries varies than if the severity of judges \
                were known; null where there is not one group.", "type": ["number", "null"] },
            "loads": list("By judge.", &object("A judge.", json!({ "judge": slug(), "load": component("Count") }))),
            "optimal": { "description": "Whether no plan has a greater sum of affinities.", "type": "boolean" },
        })),
    });
    let mut made = pair();
    made["slug"] = component("AssignmentSlug");
    named(json!({
        "EntryFilter": filter,
        "JudgeLoad": body("How many entries of the score set a judge is to have.", json!({
            "min": integer("At least.", 0), "max": integer("At most.", 0),
        }), &[]),
        "Affinity": body("How well a judge suits an entry.", with("weight", weight), &["entry", "judge", "weight"]),
        "PlanAssignments": { "description": "What is asked of a plan.", "anyOf": asked },
        "AssignmentPlan": object("A plan of assignments.", plan),
        "ApplyPlan": body("Which plan.", json!({ "plan": slug() }), &["plan"]),
        "AppliedPlan": object("What was assigned.", json!({
            "assignments": list("What was assigned.", &object("An assignment.", made)), "undo": slug(),
        })),
        "UndoPlan": body("What is undone, as applying told.", json!({ "undo": slug() }), &["undo"]),
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
