//! The entries of a synthetic account, with their contributors.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::plan::{CATEGORIES, CHAPTERS, OLD, Plan, Random};
use super::setup::{FIELDS, STAGES};
use kernel::kind::Kind;
use kernel::text::Timestamp;

/// An entry as a record of a program file, with its contributors nested in it.
pub(super) fn entry(plan: &Plan, place: u64) -> Value {
    let random = &mut plan.random(Kind::Entry, place);
    let (season, created) = Plan::season_and_time(place, plan.entries);
    let submitted = random.percent(70).then(|| created.plus(Duration::from_secs(random.below(20 * 86_400))));
    let updated = submitted.unwrap_or(created).plus(Duration::from_secs(random.below(10 * 86_400)));
    // One of the two chapters that offer every category, so that the entry fits into both.
    let chapter = random.below(2);
    let category = random.below(CATEGORIES);
    // The fields are the active season's.
    let is_active = season == 0;
    let entry_fields = if is_active { answers(plan, "entries", random, created) } else { Value::Object(Map::new()) };
    let contributors = if is_active { 0..plan.contributors } else { 0..0 };
    json!({
        "kind": Kind::Entry.name(), "slug": plan.slug(Kind::Entry, place), "local_id": place + 1,
        "title": plan.title(place), "status": if submitted.is_some() { "submitted" } else { "in_progress" },
        "created": created.to_string(), "submitted": submitted.map(|time| time.to_string()),
        "updated": updated.to_string(), "entrant": plan.slug(Kind::User, random.below(plan.users)),
        "entry_fields": entry_fields,
        "category": plan.slug(Kind::Category, Plan::of_season(season, category, CATEGORIES, OLD)),
        "chapter": plan.slug(Kind::Chapter, Plan::of_season(season, chapter, CHAPTERS, OLD)),
        "form": plan.slug(Kind::Form, season), "season": plan.slug(Kind::Season, season),
        "comments": if random.percent(20) { random.sentence(12) } else { String::new() },
        "moderation_status": if random.percent(60) { "approved" } else { "undecided" },
        "payment_status": if random.percent(70) { "Paid" } else { "Unpaid" },
        "tags": if random.percent(30) { "shortlist" } else { "" }, "deleted": random.percent(1),
        "contributors": contributors.map(|number| contributor(plan, place, number, random, created)).collect::<Vec<_>>(),
    })
}

fn contributor(plan: &Plan, entry: u64, number: u64, random: &mut Random, created: Timestamp) -> Value {
    json!({
        "slug": plan.slug(Kind::Contributor, entry * plan.contributors + number), "tab": plan.slug(Kind::Tab, 2),
        "fields": answers(plan, "contributors", random, created), "created": created.to_string(),
        "updated": created.to_string(),
    })
}

/// Answers to every field of a resource.
fn answers(plan: &Plan, resource: &str, random: &mut Random, time: Timestamp) -> Value {
    let mut answers = Map::new();
    for (place, (kind, _, _, _)) in (0..).zip(FIELDS).filter(|(_, (_, about, _, _))| *about == resource) {
        let value: Value = match *kind {
            "textarea" => json!(format!("{}.", random.sentence(30))),
            "numeric" => json!(1_000 + random.below(500) * 100),
            "drop-down-list" => json!(random.one_of(STAGES)),
            "checkbox" => json!(random.percent(50)),
            "date" => json!(time.date().to_string()),
            "table" => json!({
                "A1": random.sentence(4), "A2": random.sentence(4), "B1": "March", "B2": "September",
            }),
            _ => json!(random.sentence(6)),
        };
        answers.insert(plan.slug(Kind::Field, place).to_string(), value);
    }
    Value::Object(answers)
}
