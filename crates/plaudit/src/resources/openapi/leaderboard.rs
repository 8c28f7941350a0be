//! The schemas of leaderboards.

use serde_json::{Map, Value, json};

use super::assignments::body;
use super::components::{list, named, object, or_null, slug, string, text};
use super::kinds;
use crate::program::score_sets::{By, COUNT};
use crate::program::{component, page_of};
use crate::records::entries::rules::tags::TAG_LENGTH;
use kernel::kind::Kind;

/// The members that are those of the entry.
const OF_ENTRY: [&str; 11] = [
    "slug",
    "title",
    "tags",
    "category",
    "chapter",
    "division",
    "submitted",
    "auto_score",
    "status",
    "grant_status",
    "link",
];

/// The schemas.
pub(super) fn schemas() -> Map<String, Value> {
    let mut page = page_of("LeaderboardItem");
    page["properties"]["score_set"] = object(
        "The score set.",
        json!({
            "slug": component("Slug"), "name": component("Translated"), "mode": string("How it is judged."), "form": component("Slug"),
        }),
    );
    page["properties"]["season"] = component("Reference");
    if let Some(required) = page["required"].as_array_mut() {
        required.extend([json!("score_set"), json!("season")]);
    }
    named(json!({ "LeaderboardPage": page, "LeaderboardItem": item(), "LeaderboardAnalysis": analysis(),
        "Advance": advance(), "Advanced": advanced() }))
}

fn advance() -> Value {
    let exclusive = "One of places, share and min_score is given.";
    let count = |about: &str, most: i64| json!({ "description": format!("{about} {exclusive}"), "type": "integer", "minimum": 1, "maximum": most });
    let least = format!("Those go on who have at least so much: points, per cent of passes, or votes. {exclusive}");
    let choice = |about: &str, names: [&str; 3]| json!({ "description": about, "type": "string", "enum": names });
    body(
        "Who goes on.",
        json!({
            "score_set": slug(),
            "places": count("So many entries go on.", COUNT),
            "share": count("So many per cent of the entries that have a place go on, rounded up.", 100),
            "min_score": { "description": least, "type": "number", "minimum": 0, "maximum": 1_000_000_000 },
            "by": choice("Within what there is a line each; all where it is left out.", ["all", "category", "chapter"]),
            "tag": text("The tag of those who go on; it has no comma.", TAG_LENGTH),
            "ties": choice("What becomes of entries that are tied across the line; include where it is left out.", ["include", "exclude", "ask"]),
            "dry_run": { "description": "Nothing is tagged; false where it is left out.", "type": "boolean" },
        }),
        &["score_set", "tag"],
    )
}

fn advanced() -> Value {
    let entries = |about: &str| list(about, &component("EntryReference"));
    object(
        "Who goes on.",
        json!({
            "advanced": entries("Who goes on: part by part in the order of the slugs of categories or chapters, in each the best first."),
            "tied": entries("The entries that are tied across a line, whatever becomes of them."),
        }),
    )
}

fn analysis() -> Value {
    let number = |about: &str| json!({ "description": about, "type": "number" });
    let number_or_null = |about: &str| json!({ "description": about, "type": ["number", "null"] });
    let ends = object("Both ends.", json!({ "low": number("The lower end."), "high": number("The upper end.") }));
    let interval = or_null("Where that lies with 95 %; null where the sheets do not tell.", &ends);
    let place = |about: &str| json!({ "description": about, "type": "integer", "minimum": 1 });
    let places = object("Both ends.", json!({ "best": place("The best place."), "worst": place("The worst place.") }));
    let judge = object(
        "A judge.",
        json!({
            "judge": component("Judge"),
            "severity": number("How many points more than the others the judge gives."),
            "interval": interval.clone(),
            "sheets": component("Count"),
        }),
    );
    let entry = object(
        "An entry.",
        json!({
            "entry": component("EntryReference"),
            "raw": number("The mean of its sheets."),
            "corrected": number("The same without the severity of its judges."),
            "interval": interval,
            "rank": place("The place by the corrected score."),
            "rank_interval": or_null("Where the place lies with 95 %; null where the sheets do not tell.", &places),
            "component": place("Its component: entries of different ones have no judge in common, and are hardly comparable."),
        }),
    );
    let winners = list("Whose the first place is then.", &component("EntryReference"));
    let decisive = object(
        "A judge.",
        json!({
            "judge": component("Judge"),
            "winner_without": or_null("The entries; null where the other sheets do not tell.", &winners),
        }),
    );
    let agreement = object(
        "How far the judges agree.",
        json!({
            "krippendorff": number_or_null("Krippendorff's alpha of differences; null where it is not defined."),
            "icc": number_or_null("The intraclass correlation for absolute agreement; null where it is not defined."),
            "n": component("Count"),
        }),
    );
    object(
        "The analysis of a board of points, of entries with as many sheets as the score set asks for.",
        json!({
            "method": { "description": "How severity is told apart.", "type": "string", "enum": ["henderson_3"] },
            "judges": list("By their slugs.", &judge),
            "entries": list("By their places.", &entry),
            "agreement": agreement,
            "components": component("Count"),
            "decisive_judges": list("The judges without whom the first place would be another's.", &decisive),
        }),
    )
}

fn item() -> Value {
    let entry = kinds::description(Kind::Entry).map(|entry| entry.schemas()).unwrap_or_default();
    let entry = entry.into_iter().find(|(name, _)| name == "EntryItem").map(|(_, schema)| schema).unwrap_or_default();
    let mut members: Map<String, Value> =
        OF_ENTRY.into_iter().map(|name| (name.to_owned(), entry["properties"][name].clone())).collect();
    members["link"] = component("Link");
    members.insert("scores".to_owned(), scores());
    members.insert(
        "rank".to_owned(),
        json!({
            "description": "The place among the entries that are selected; null where too little was judged.",
            "type": ["integer", "null"], "minimum": 1,
        }),
    );
    members.insert("sheets".to_owned(), component("Count"));
    members.insert(
        "tie_steps".to_owned(),
        list("The steps by which the entry was told apart from others with its score.", &step()),
    );
    object("An entry on a leaderboard.", Value::Object(members))
}

fn step() -> Value {
    let mut step = object(
        "A step.",
        json!({
            "by": { "description": "What it goes by.", "type": "string", "enum": By::NAMES },
            "criterion": component("Slug"),
            "value": { "description": "What decided; null for nothing.", "type": ["string", "null"], "examples": ["7.500000"] },
            "tied": { "description": "How many entries were still tied after it, this one among them.", "type": "integer", "minimum": 1 },
        }),
    );
    if let Some(required) = step["required"].as_array_mut() {
        required.retain(|name| name != "criterion");
    }
    step
}

fn scores() -> Value {
    json!({
        "description": "What the sheets come to, by the mode of the score set.",
        "anyOf": [
            object("Points: the means of the sheets that count.", json!({
                "total_score": component("TotalScore"),
                "criteria": list("By criterion, in their order.", &component("CriterionScore")),
            })),
            object("Votes.", json!({ "total_votes": component("Count") })),
            object("A decision.", json!({
                "final_decision": { "description": "Null while too few have decided.", "enum": ["pass", "fail", "unsure", null] },
            })),
            {
                "description": "How many judges gave it each place, as `preference_1`, `preference_2` and so on.",
                "type": "object",
                "patternProperties": { "^preference_[0-9]+$": component("Count") },
                "additionalProperties": false,
                "minProperties": 1,
            },
        ],
    })
}
