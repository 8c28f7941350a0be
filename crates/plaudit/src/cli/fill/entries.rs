//! The entries of a synthetic account, with their contributors.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Filling;
use super::plan::{CATEGORIES, CHAPTERS, OLD, Plan, Random};
use super::setup::{FIELDS, STAGES};
use crate::program::{Record, store};
use crate::records::answers::Answers;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::{
    self, CountChanges, Counts, Eligibility, Entry, Moderation, NO_DEADLINE, Payment, RelatedData, Status,
};
use crate::records::people;
use crate::records::users;
use db::DbError;
use kernel::json::parse_value;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// What is written before a commit: how many entries were added in which places, and in which seasons their entrants have
/// some.
#[derive(Default)]
struct Added {
    counts: CountChanges,
    seasons: BTreeMap<Slug, BTreeMap<Slug, bool>>,
}

/// Writes all of them.
pub(super) async fn write<'d>(mut filling: Filling<'d>, plan: &Plan) -> Result<Filling<'d>, DbError> {
    let mut added = Added::default();
    for place in 0..plan.entries {
        one(&mut filling, plan, place, &mut added).await?;
        if filling.is_full() {
            flush(&mut filling, std::mem::take(&mut added)).await?;
            filling = filling.commit().await?;
        }
    }
    flush(&mut filling, added).await?;
    Ok(filling)
}

async fn flush(filling: &mut Filling<'_>, added: Added) -> Result<(), DbError> {
    let account = filling.account;
    for (user, seasons) in added.seasons {
        users::store::note_seasons(&mut filling.tx, account, user, &seasons).await?;
    }
    entries::store::write_counts(&mut filling.tx, account, added.counts).await
}

async fn one(filling: &mut Filling<'_>, plan: &Plan, place: u64, added: &mut Added) -> Result<(), DbError> {
    let mut random = plan.random(Kind::Entry, place);
    let entry = entry(plan, place, &mut random)?;
    let contributors = contributors(plan, place, &entry, &mut random)?;
    let account = filling.account;
    let counts = Counts { contributors: i64::try_from(contributors.len()).unwrap_or(i64::MAX), files: 0 };
    let user = random.below(plan.users);
    let around = RelatedData { contributors, attachments: Vec::new(), counts };
    let entry = Entry { entrant: plan.slug(Kind::User, user), ..entry };
    let deleted = random.percent(1);
    let doc = entry.document(around.counts, deleted);
    let document = kernel::document::whole(&doc, &entries::detail(&entry.entry_fields, &around));
    if !deleted {
        added.seasons.entry(entry.entrant).or_default().insert(entry.season, true);
    }
    let revision = filling.log(Kind::Entry, entry.slug.as_str(), document).await?;
    let record = Record { value: entry, revision, deleted };
    entries::store::put(&mut filling.tx, account, &record, &around, None, &mut added.counts).await?;
    for contributor in around.contributors {
        let document = store::stored(&contributor);
        let revision = filling.log(Kind::Contributor, contributor.slug.as_str(), document).await?;
        let record = Record { value: contributor, revision, deleted: false };
        people::put(&mut filling.tx, account, &record).await?;
    }
    Ok(())
}

fn entry(plan: &Plan, place: u64, random: &mut Random) -> Result<Entry, DbError> {
    let (season, created) = Plan::season_and_time(place, plan.entries);
    let submitted = random.percent(70).then(|| created.plus(Duration::from_secs(random.below(20 * 86_400))));
    let updated = submitted.unwrap_or(created).plus(Duration::from_secs(random.below(10 * 86_400)));
    // One of the two chapters that offer every category, so that the entry fits into both.
    let chapter = random.below(2);
    let category = random.below(CATEGORIES);
    Ok(Entry {
        slug: plan.slug(Kind::Entry, place),
        local_id: i64::try_from(place + 1).unwrap_or(i64::MAX),
        title: plan.title(place),
        status: if submitted.is_some() { Status::Submitted } else { Status::InProgress },
        created,
        submitted,
        updated,
        entrant: plan.slug(Kind::User, 0),
        entry_fields: if season == 0 { answers(plan, "entries", random, created)? } else { Answers::default() },
        auto_score: "0".to_owned(),
        category: plan.slug(Kind::Category, Plan::of_season(season, category, CATEGORIES, OLD)),
        chapter: plan.slug(Kind::Chapter, Plan::of_season(season, chapter, CHAPTERS, OLD)),
        form: plan.slug(Kind::Form, season),
        season: plan.slug(Kind::Season, season),
        comments: if random.percent(20) { random.sentence(12) } else { String::new() },
        user_comments: String::new(),
        custom_deadline: NO_DEADLINE.to_owned(),
        division: None,
        eligibility_status: Eligibility::Unscreened,
        moderation_status: if random.percent(60) { Moderation::Approved } else { Moderation::Undecided },
        payment_status: if random.percent(70) { Payment::Paid } else { Payment::Unpaid },
        plagiarism_scan_status: "unscanned".to_owned(),
        review_status: String::new(),
        grant_status: None,
        grant_end_date: None,
        tags: if random.percent(30) { "shortlist" } else { "" }.to_owned(),
        archived: false,
    })
}

/// Answers to every field of a resource.
fn answers(plan: &Plan, resource: &str, random: &mut Random, time: Timestamp) -> Result<Answers, DbError> {
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
    let text = Value::Object(answers).to_string();
    let json = parse_value(text.as_bytes()).map_err(|error| DbError::Failed(error.to_string()))?;
    Answers::read(&json).map_err(|wrong| DbError::Failed(wrong.to_string()))
}

fn contributors(plan: &Plan, place: u64, entry: &Entry, random: &mut Random) -> Result<Vec<Contributor>, DbError> {
    // The fields about contributors are the active season's.
    let is_active = entry.season == plan.slug(Kind::Season, 0);
    let count = if is_active { plan.contributors } else { 0 };
    let mut made = Vec::new();
    for contributor in 0..count {
        made.push(Contributor {
            slug: plan.slug(Kind::Contributor, place * plan.contributors + contributor),
            entry: entry.slug,
            tab: plan.slug(Kind::Tab, 2),
            fields: answers(plan, "contributors", random, entry.created)?,
            created: entry.created,
            updated: entry.created,
        });
    }
    made.sort_by_key(|contributor| contributor.slug);
    Ok(made)
}
