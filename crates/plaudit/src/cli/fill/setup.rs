//! The set-up and the users of a synthetic account, as records of a program file.

use serde_json::{Value, json};

use super::Filling;
use super::plan::{CATEGORIES, CHAPTERS, OLD, PRICES, Plan, SEASONS};
use crate::program::categories::Category;
use crate::program::chapters::Chapter;
use crate::program::fields::Field;
use crate::program::forms::Form;
use crate::program::prices::Price;
use crate::program::roles::Role;
use crate::program::seasons::Season;
use crate::program::tabs::Tab;
use crate::program::taxes::Tax;
use crate::program::{Record, SetupRecord, store};
use crate::records::users::{self, User};
use db::DbError;
use kernel::ids::derived_person;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The fields: type, resource, tab, title. Entries answer those that are about entries, in this order.
pub(super) const FIELDS: &[(&str, &str, u64, &str)] = &[
    ("text", "entries", 1, "Summary"),
    ("textarea", "entries", 1, "What makes it outstanding?"),
    ("numeric", "entries", 1, "Budget"),
    ("drop-down-list", "entries", 1, "Stage"),
    ("checkbox", "entries", 1, "Open to the public"),
    ("date", "entries", 1, "Begun on"),
    ("table", "entries", 1, "Milestones"),
    ("text", "contributors", 2, "Name"),
    ("text", "contributors", 2, "Part in the project"),
];

/// How many users manage chapters.
const MANAGERS: u64 = 2;

/// The options of the field with options.
pub(super) const STAGES: &[&str] = &["idea", "pilot", "in use"];

/// The account's own record.
pub(super) fn account(slug: Slug) -> Value {
    json!({
        "slug": slug, "name": format!("Synthetic {slug}"), "default_language": "en_GB",
        "languages": ["en_GB", "de_DE"], "timezone": "Europe/London", "features": ["api"], "suspended": false,
        "rate_limit": 1_000_000_000, "created": time(Plan::begin(SEASONS - 1)), "updated": time(Plan::begin(0)),
    })
}

fn time(time: Timestamp) -> String {
    time.to_string()
}

fn named(english: &str, german: &str) -> Value {
    json!({"en_GB": english, "de_DE": german})
}

/// Adds the times of a season's beginning.
fn dated(mut record: Value, season: u64) -> Value {
    record["created"] = json!(time(Plan::begin(season)));
    record["updated"] = json!(time(Plan::begin(season)));
    record
}

/// Writes all of it.
pub(super) async fn write(filling: &mut Filling<'_>, plan: &Plan) -> Result<(), DbError> {
    for season in 0..SEASONS {
        let year = 2026 - season;
        let status = if season == 0 { "active" } else { "archived" };
        let record = json!({
            "slug": plan.slug(Kind::Season, season), "status": status,
            "name": named(&format!("Season {year}"), &format!("Saison {year}")),
        });
        save::<Season>(filling, dated(record, season)).await?;
    }
    for season in 0..SEASONS {
        chapters(filling, plan, season).await?;
        form(filling, plan, season).await?;
        categories(filling, plan, season).await?;
        prices(filling, plan, season).await?;
    }
    fields(filling, plan).await?;
    let role = json!({"slug": plan.slug(Kind::Role, 0), "name": named("Entrant", "Teilnehmer"), "type": "entrant"});
    save::<Role>(filling, dated(role, SEASONS - 1)).await?;
    let role = json!({
        "slug": plan.slug(Kind::Role, 1), "name": named("Chapter manager", "Abteilungsleitung"), "type": "chapter_manager",
    });
    save::<Role>(filling, dated(role, SEASONS - 1)).await?;
    let tax = json!({
        "slug": plan.slug(Kind::Tax, 0), "country": "GB", "country_name": "United Kingdom", "name": "Standard rate",
        "rate": 20, "term": "VAT", "region": null,
    });
    save::<Tax>(filling, dated(tax, SEASONS - 1)).await?;
    users(filling, plan).await
}

async fn save<T: SetupRecord>(filling: &mut Filling<'_>, record: Value) -> Result<(), DbError> {
    let value: T = store::parse(&record.to_string(), &filling.context)?;
    let revision = filling.log(T::KIND, value.slug().as_str(), store::stored(&value)).await?;
    let account = filling.account;
    store::save(filling.tx()?, account, &Record { value, revision, deleted: false }).await
}

async fn chapters(filling: &mut Filling<'_>, plan: &Plan, season: u64) -> Result<(), DbError> {
    for place in 0..if season == 0 { CHAPTERS } else { OLD } {
        let number = place + 1;
        let managers: Vec<Slug> = (0..place % (MANAGERS + 1)).map(|manager| plan.slug(Kind::User, manager)).collect();
        let record = json!({
            "slug": plan.slug(Kind::Chapter, Plan::of_season(season, place, CHAPTERS, OLD)),
            "season": plan.slug(Kind::Season, season), "status": "active", "managers": managers,
            "name": named(&format!("Chapter {number}"), &format!("Abteilung {number}")),
            "description": named("One of the regions of the program.", "Eine der Regionen des Programms."),
        });
        save::<Chapter>(filling, dated(record, season)).await?;
    }
    Ok(())
}

async fn form(filling: &mut Filling<'_>, plan: &Plan, season: u64) -> Result<(), DbError> {
    let form = plan.slug(Kind::Form, season);
    let record = json!({
        "slug": form, "season": plan.slug(Kind::Season, season), "type": "entry", "chapter_option": "select",
        "name": named("Entry form", "Anmeldung"), "callToAction": named("Enter now", "Jetzt teilnehmen"),
    });
    save::<Form>(filling, dated(record, season)).await?;
    for (place, kind) in (0..).zip(["Start", "General", "Contributors", "Attachments"]) {
        let record = json!({
            "slug": plan.slug(Kind::Tab, season * 4 + place), "form": form, "type": kind, "order": place,
            "created_at": time(Plan::begin(season)), "updated_at": time(Plan::begin(season)),
        });
        save::<Tab>(filling, record).await?;
    }
    Ok(())
}

async fn categories(filling: &mut Filling<'_>, plan: &Plan, season: u64) -> Result<(), DbError> {
    let count = if season == 0 { CATEGORIES } else { OLD };
    for place in 0..count {
        let number = place + 1;
        // The first two chapters offer every category, each of the others offers some.
        let chapters: Vec<Slug> = (0..if season == 0 { CHAPTERS } else { OLD })
            .filter(|chapter| *chapter < 2 || (chapter + place).is_multiple_of(4))
            .map(|chapter| plan.slug(Kind::Chapter, Plan::of_season(season, chapter, CHAPTERS, OLD)))
            .collect();
        let slug = |place| plan.slug(Kind::Category, Plan::of_season(season, place, CATEGORIES, OLD));
        let record = json!({
            "slug": slug(place), "season": plan.slug(Kind::Season, season), "form": plan.slug(Kind::Form, season),
            "name": named(&format!("Category {number}"), &format!("Kategorie {number}")),
            "description": named("What belongs into this category.", "Was in diese Kategorie gehört."),
            "shortcode": named(&format!("C{number}"), &format!("K{number}")), "status": "active", "divisions": 1,
            "parent": (place >= count / 2 && count > 4).then(|| slug(place % 4)), "chapters": chapters,
        });
        save::<Category>(filling, dated(record, season)).await?;
    }
    Ok(())
}

async fn prices(filling: &mut Filling<'_>, plan: &Plan, season: u64) -> Result<(), DbError> {
    for (place, title, amount) in [(0, "Early entry", 95), (1, "Entry", 150), (2, "Late entry", 220)] {
        let record = json!({
            "slug": plan.slug(Kind::Price, season * PRICES + place), "season": plan.slug(Kind::Season, season),
            "title": named(title, title), "amounts": [{"currency": "USD", "amount": amount}, {"currency": "EUR", "amount": amount}],
        });
        save::<Price>(filling, dated(record, season)).await?;
    }
    Ok(())
}

async fn fields(filling: &mut Filling<'_>, plan: &Plan) -> Result<(), DbError> {
    for (place, (kind, resource, tab, title)) in (0..).zip(FIELDS) {
        let mut record = json!({
            "slug": plan.slug(Kind::Field, place), "season": plan.slug(Kind::Season, 0),
            "form": plan.slug(Kind::Form, 0), "tab": plan.slug(Kind::Tab, *tab), "resource": resource, "type": kind,
            "title": named(title, title), "label": named(&format!("<p>{title}</p>"), &format!("<p>{title}</p>")),
            "order": place + 1, "categories": ["*"],
        });
        if *kind == "drop-down-list" {
            record["options"] = json!(STAGES);
        }
        if *kind == "table" {
            let column = |key: &str, title: &str| json!({"key": key, "label": named(title, title)});
            record["columns"] = json!([column("A", "Milestone"), column("B", "Month")]);
        }
        save::<Field>(filling, dated(record, 0)).await?;
    }
    Ok(())
}

async fn users(filling: &mut Filling<'_>, plan: &Plan) -> Result<(), DbError> {
    let account = filling.account;
    for place in 0..plan.users {
        let (first_name, last_name) = plan.name(place);
        // The first users manage chapters.
        let roles: Vec<Slug> =
            (0..if place < MANAGERS { 2 } else { 1 }).map(|role| plan.slug(Kind::Role, role)).collect();
        let slug = plan.slug(Kind::User, place);
        let (season, created) = Plan::season_and_time(place, plan.users);
        let mut random = plan.random(Kind::Role, place);
        let is_confirmed = random.percent(90);
        let record = json!({
            "slug": slug, "first_name": first_name, "last_name": last_name, "email": plan.email(place),
            "global_id": derived_person(plan.account, slug), "season_joined": plan.slug(Kind::Season, season),
            "language": if random.percent(20) { "de_DE" } else { "en_GB" }, "roles": roles,
            "confirmed_at": is_confirmed.then(|| time(created)), "created_by": "registration",
            "created_at": time(created), "updated": time(created),
        });
        let value: User = store::parse(&record.to_string(), &filling.context)?;
        let logged = users::logged(&users::shown(&value), &users::extra_columns(&value)).unwrap_or_default();
        let revision = filling.log(Kind::User, value.slug.as_str(), logged).await?;
        users::store::people::add(filling.tx()?, &value.global_id, None).await?;
        for contact in value.contacts() {
            users::store::people::claim_free(filling.tx()?, &value.global_id, &contact).await?;
        }
        let record = Record { value, revision, deleted: false };
        users::store::put(filling.tx()?, account, &record).await?;
    }
    Ok(())
}
