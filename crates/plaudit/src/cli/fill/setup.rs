//! The set-up and the users of a synthetic account, as records of a program file.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::plan::{CATEGORIES, CHAPTERS, OLD, PRICES, Plan, SEASONS};
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
fn account(slug: Slug) -> Value {
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

/// A program file that is being made.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, kind: Kind, mut record: Value) {
        record["kind"] = json!(kind.name());
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{record}");
    }
}

/// The program file.
pub(super) fn text(plan: &Plan) -> String {
    let mut lines = Lines::default();
    lines.add(Kind::Account, account(plan.account));
    for season in 0..SEASONS {
        let year = 2026 - season;
        let status = if season == 0 { "active" } else { "archived" };
        let record = json!({
            "slug": plan.slug(Kind::Season, season), "status": status,
            "name": named(&format!("Season {year}"), &format!("Saison {year}")),
        });
        lines.add(Kind::Season, dated(record, season));
        chapters(&mut lines, plan, season);
        form(&mut lines, plan, season);
        categories(&mut lines, plan, season);
        prices(&mut lines, plan, season);
    }
    fields(&mut lines, plan);
    let role = json!({"slug": plan.slug(Kind::Role, 0), "name": named("Entrant", "Teilnehmer"), "type": "entrant"});
    lines.add(Kind::Role, dated(role, SEASONS - 1));
    let role = json!({
        "slug": plan.slug(Kind::Role, 1), "name": named("Chapter manager", "Abteilungsleitung"), "type": "chapter_manager",
    });
    lines.add(Kind::Role, dated(role, SEASONS - 1));
    let tax = json!({
        "slug": plan.slug(Kind::Tax, 0), "country": "GB", "country_name": "United Kingdom", "name": "Standard rate",
        "rate": 20, "term": "VAT", "region": null,
    });
    lines.add(Kind::Tax, dated(tax, SEASONS - 1));
    users(&mut lines, plan);
    lines.0
}

fn chapters(lines: &mut Lines, plan: &Plan, season: u64) {
    for place in 0..if season == 0 { CHAPTERS } else { OLD } {
        let number = place + 1;
        let managers: Vec<Slug> = (0..place % (MANAGERS + 1)).map(|manager| plan.slug(Kind::User, manager)).collect();
        let record = json!({
            "slug": plan.slug(Kind::Chapter, Plan::of_season(season, place, CHAPTERS, OLD)),
            "season": plan.slug(Kind::Season, season), "status": "active", "managers": managers,
            "name": named(&format!("Chapter {number}"), &format!("Abteilung {number}")),
            "description": named("One of the regions of the program.", "Eine der Regionen des Programms."),
        });
        lines.add(Kind::Chapter, dated(record, season));
    }
}

fn form(lines: &mut Lines, plan: &Plan, season: u64) {
    let form = plan.slug(Kind::Form, season);
    let record = json!({
        "slug": form, "season": plan.slug(Kind::Season, season), "type": "entry", "chapter_option": "select",
        "name": named("Entry form", "Anmeldung"), "callToAction": named("Enter now", "Jetzt teilnehmen"),
    });
    lines.add(Kind::Form, dated(record, season));
    for (place, kind) in (0..).zip(["Start", "General", "Contributors", "Attachments"]) {
        let record = json!({
            "slug": plan.slug(Kind::Tab, season * 4 + place), "form": form, "type": kind, "order": place,
            "created_at": time(Plan::begin(season)), "updated_at": time(Plan::begin(season)),
        });
        lines.add(Kind::Tab, record);
    }
}

fn categories(lines: &mut Lines, plan: &Plan, season: u64) {
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
        lines.add(Kind::Category, dated(record, season));
    }
}

fn prices(lines: &mut Lines, plan: &Plan, season: u64) {
    for (place, title, amount) in [(0, "Early entry", 95), (1, "Entry", 150), (2, "Late entry", 220)] {
        let record = json!({
            "slug": plan.slug(Kind::Price, season * PRICES + place), "season": plan.slug(Kind::Season, season),
            "title": named(title, title), "amounts": [{"currency": "USD", "amount": amount}, {"currency": "EUR", "amount": amount}],
        });
        lines.add(Kind::Price, dated(record, season));
    }
}

fn fields(lines: &mut Lines, plan: &Plan) {
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
        lines.add(Kind::Field, dated(record, 0));
    }
}

fn users(lines: &mut Lines, plan: &Plan) {
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
            "season_joined": plan.slug(Kind::Season, season),
            "language": if random.percent(20) { "de_DE" } else { "en_GB" }, "roles": roles,
            "confirmed_at": is_confirmed.then(|| time(created)), "created_by": "registration",
            "created_at": time(created), "updated": time(created),
        });
        lines.add(Kind::User, record);
    }
}
