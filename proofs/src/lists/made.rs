//! An account that is made up for lists: few values, so that many records have the same, and names that differ in case alone.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::model::{FIELD, List, Query, World, text};
use crate::service::{NO_LIMIT, Random};

/// The account.
pub(crate) const ACCOUNT: &str = "AccountL";
/// Seasons with their status; the first is the active one, and their names are in another order than their slugs.
const SEASONS: [(&str, &str, &str); 3] =
    [("SeasonOn", "active", "Second"), ("SeasonUp", "archived", "First"), ("SeasonDr", "draft", "Third")];
/// Chapters with the number of their season and their name.
const CHAPTERS: [(&str, usize, &str); 6] = [
    ("ChapZulu", 0, "Zulu"),
    ("ChapAlph", 0, "alpha"),
    ("ChapAlpi", 0, "Alpha"),
    ("ChapOldA", 1, "Alpha"),
    ("ChapOldB", 1, "Åland"),
    ("ChapDraf", 2, "Beta"),
];
/// Categories with the number of their season, their name and their parent.
const CATEGORIES: [(&str, usize, &str, Option<&str>); 8] = [
    ("CategTop", 0, "Design", None),
    ("CategLow", 0, "design", None),
    ("CategPos", 0, "Posters", Some("CategTop")),
    ("CategBoo", 0, "Books", Some("CategTop")),
    ("CategZin", 0, "Zines", Some("CategLow")),
    ("CategOld", 1, "Books", None),
    ("CategOlx", 1, "Ångström", Some("CategOld")),
    ("CategDra", 2, "Drafts", None),
];
const PRICES: [(&str, usize); 3] = [("PriceOne", 0), ("PriceTwo", 0), ("PriceOld", 1)];
const STATUSES: [&str; 6] =
    ["submitted", "in_progress", "resubmission_required", "resubmitted", "invited", "not_approved_for_submission"];
const MODERATIONS: [&str; 3] = ["undecided", "approved", "rejected"];
const REVIEWS: [&str; 3] = ["", "started", "a & b"];
const STAGES: [&str; 2] = ["StageOne", "StageTwo"];
const TAGS: [&str; 3] = ["red", "Red", "long tag"];
const TITLES: [&str; 6] = ["Straße", "STRASSE", "100% a_b", "ångström", "\u{130}stanbul", "plain"];
const NAMES: [&str; 8] = ["Åsa", "asa", "Zoë", "zoe", "", "Straße", "strasse", "李"];
const ROLES: [&str; 3] = ["RoleMana", "RoleJudg", "RoleEntr"];
const METHODS: [&str; 4] = ["card", "", "invoice", "Card"];
const LANGUAGES: [&str; 2] = ["en_GB", "de_DE"];
const CREATED_BY: [&str; 4] = ["manual", "registration", "invited", "api"];

/// How many records of people there are of each kind.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) users: u32,
    pub(crate) entries: u32,
    pub(crate) orders: u32,
}

/// A slug or token: an odd factor permutes the numbers, so that names are in no order.
pub(crate) fn name(prefix: &str, number: u32) -> String {
    let mut rest = u64::from(number).wrapping_mul(1_234_567_891) % 26_u64.pow(4);
    let mut name = prefix.to_owned();
    for _ in 0..4 {
        name.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    name
}

pub(crate) fn pick<'v, T>(values: &'v [T], random: &mut Random) -> &'v T {
    &values[random.below(u32::try_from(values.len()).unwrap_or_default()) as usize]
}

/// One of few times, years before the proof runs.
fn time(random: &mut Random) -> String {
    format!("2025-01-{:02}T{:02}:00:00.000000Z", 1 + random.below(10), 12 * random.below(2))
}

/// The set-up as lines of a program file.
pub(crate) fn setup(account: &str) -> Vec<Value> {
    let named = |name: &str| json!({"en_GB": name, "de_DE": format!("~{}", name.len())});
    let mut lines = vec![json!({
        "kind": "account", "slug": account, "name": "L", "default_language": "en_GB", "languages": LANGUAGES,
        "timezone": "Europe/London", "features": ["api"], "rate_limit": NO_LIMIT,
    })];
    lines
        .extend(SEASONS.map(
            |(slug, status, name)| json!({"kind": "season", "slug": slug, "name": named(name), "status": status}),
        ));
    for form in ["FormOnes", "FormTwos"] {
        lines.push(json!({"kind": "form", "slug": form, "name": named(form), "type": "entry"}));
    }
    for (slug, of) in TABS {
        lines.push(json!({"kind": "tab", "slug": slug, "form": "FormOnes", "type": of}));
    }
    lines.push(json!({
        "kind": "field", "slug": FIELD, "form": "FormOnes", "tab": "TabContr", "resource": "contributors",
        "type": "numeric", "title": named("Share"),
    }));
    lines.extend(CHAPTERS.map(|(slug, season, name)| {
        json!({"kind": "chapter", "slug": slug, "season": SEASONS[season].0, "name": named(name), "status": "active"})
    }));
    lines.extend(CATEGORIES.map(|(slug, season, name, parent)| {
        json!({"kind": "category", "slug": slug, "season": SEASONS[season].0, "name": named(name),
            "status": "active", "parent": parent})
    }));
    lines.extend(STAGES.map(|slug| {
        json!({"kind": "review_stage", "slug": slug, "season": SEASONS[0].0, "form": "FormOnes", "name": named(slug),
            "timing": "after_submission", "start": "manual", "reviewer_kinds": ["entrant"]})
    }));
    lines.extend(PRICES.map(|(slug, season)| {
        json!({"kind": "price", "type": "ticket", "slug": slug, "season": SEASONS[season].0, "title": named(slug),
            "amounts": [{"currency": "GBP", "amount": 50.0}]})
    }));
    lines.extend(
        ROLES
            .iter()
            .zip(["program_manager", "judge", "entrant"])
            .map(|(slug, of)| json!({"kind": "role", "slug": slug, "name": named(slug), "type": of})),
    );
    lines
}

const TABS: [(&str, &str); 5] = [
    ("TabStart", "Start"),
    ("TabContr", "Contributors"),
    ("TabContX", "Contributors"),
    ("TabAttac", "Attachments"),
    ("TabAttaX", "Attachments"),
];

/// A user with other values each time.
pub(crate) fn user(account: &str, number: u32, random: &mut Random) -> Value {
    let confirmed = random.below(2) == 0;
    let letters = account.to_lowercase();
    json!({
        "kind": "user", "slug": name("User", number), "first_name": pick(&NAMES, random),
        "last_name": pick(&NAMES, random), "language": pick(&LANGUAGES, random),
        "email": format!("{}{number}@{letters}.example", pick(&["B", "a", "Ä"], random)),
        "mobile": null, "roles": ROLES.iter().filter(|_| random.below(2) == 0).collect::<Vec<_>>(),
        "created_by": pick(&CREATED_BY, random), "created_at": time(random),
        "confirmed_at": (confirmed && random.below(4) > 0).then(|| time(random)),
        "confirmation": if confirmed { "Confirmed" } else { "Invited" }, "updated": time(random),
        "season_joined": pick(&[Some("SeasonOn"), Some("SeasonUp"), None], random), "deleted": random.below(6) == 0,
    })
}

/// An entry with other values each time; its form stays.
pub(crate) fn entry(size: Size, number: u32, random: &mut Random) -> Value {
    let season = if random.below(4) == 0 { random.below(3) as usize } else { 0 };
    let categories: Vec<_> = CATEGORIES.iter().filter(|(_, of, ..)| *of == season).collect();
    let chapters: Vec<_> = CHAPTERS.iter().filter(|(_, of, _)| *of == season).collect();
    let status = if random.below(2) == 0 { "submitted" } else { *pick(&STATUSES, random) };
    let tags: Vec<_> = TAGS.into_iter().filter(|_| random.below(4) == 0).collect();
    let more = if random.below(3) == 0 { "" } else { " more" };
    json!({
        "kind": "entry", "slug": name("Entr", number), "local_id": number * 7 % 10_007 + 1, "season": SEASONS[season].0,
        "category": pick(&categories, random).0, "chapter": pick(&chapters, random).0,
        "form": if number.is_multiple_of(3) { "FormTwos" } else { "FormOnes" },
        "entrant": name("User", random.below(size.users)), "status": status,
        "moderation_status": pick(&MODERATIONS, random),
        "review_status": if random.below(4) == 0 { *pick(&REVIEWS, random) } else { "" },
        "payment_status": pick(&["Paid", "Unpaid"], random), "title": format!("{}{more}", pick(&TITLES, random)),
        "tags": tags.join(", "), "created": "2024-12-01T00:00:00Z",
        "submitted": (status == "submitted").then_some("2024-12-02T00:00:00Z"), "updated": time(random),
        "archived": random.below(10) == 0, "deleted": random.below(10) == 0,
    })
}

/// An order with other values each time; the entry that it names stays.
pub(crate) fn order(size: Size, number: u32, random: &mut Random) -> Value {
    let names_one = size.entries > 0 && number.is_multiple_of(2);
    let season = if random.below(4) == 0 { random.below(3) as usize } else { 0 };
    let price = names_one.then(|| PRICES[number as usize / 2 % PRICES.len()].0);
    let mut item = json!({"description": "D", "name": "N", "item_type": "Entry", "amount": random.below(6) * 25,
        "quantity": 1});
    if let Some(price) = price {
        item["entry"] = name("Entr", number % size.entries).into();
        item["price"] = price.into();
    }
    json!({
        "kind": "order", "slug": name("Orde", number), "invoice_number": (number + 1).to_string(),
        "season": SEASONS[season].0, "user": name("User", 0), "currency": "GBP",
        "payment_status": pick(&["paid", "awaiting_payment"], random), "payment_method": pick(&METHODS, random),
        "test": random.below(4) == 0, "deleted": random.below(4) == 0, "created_at": time(random),
        // While a payment is pending, no withdrawal of the entry takes the order back.
        "payments": [{"provider": "bank", "reference": "1", "status": "pending", "amount": 1, "date": "2026-01-01T00:00:00Z"}],
        "updated": time(random), "total": item["amount"], "items": [item],
    })
}

/// A contributor or an attachment of an entry, with other values each time.
pub(crate) fn child(kind: &str, of: u32, place: u32, random: &mut Random) -> Value {
    let times = [time(random), time(random)];
    let (entry, deleted) = (name("Entr", of), random.below(8) == 0);
    let number = of * 4 + place;
    if kind == "attachment" {
        json!({"kind": "attachment", "token": name("TokenOfTheAttachment", number), "entry": entry,
            "tab": pick(&["TabAttac", "TabAttaX"], random), "order": random.below(3), "created": times[0],
            "updated": times[1], "deleted": deleted})
    } else {
        let is_asked = random.below(2) == 0;
        let answer = pick(&[None, Some(2.0), Some(-10.0), Some(10.0), Some(2.5)], random).filter(|_| is_asked);
        json!({"kind": "contributor", "slug": name("Cont", number), "entry": entry,
            "tab": if is_asked { "TabContr" } else { "TabContX" }, "fields": {FIELD: answer}, "created": times[0],
            "updated": times[1], "deleted": deleted})
    }
}

/// A review task of an entry, with other values each time.
fn review_task(of: u32, place: u32, random: &mut Random) -> Value {
    let decision = pick(&[None, Some("proceed"), Some("stop")], random);
    let reviewers: Vec<Value> = (0..random.below(3))
        .map(|_| {
            let name = *pick(&NAMES, random);
            json!({"name": name, "email": pick(&["ada@example.org", "BEN@example.org"], random)})
        })
        .collect();
    json!({"kind": "review_task", "token": name("TokenOfTheReview", of * 4 + place), "entry": name("Entr", of),
        "review_stage": pick(&STAGES, random), "decision": decision, "action_at": decision.map(|_| time(random)),
        "reviewer": reviewers, "created": time(random), "updated": time(random), "deleted": random.below(8) == 0})
}

/// Everything at first: the lines of a program file, and the records.
pub(crate) fn population(account: &str, size: Size, random: &mut Random) -> (Vec<Value>, World) {
    let mut lines = setup(account);
    lines.extend((0..size.users).map(|number| user(account, number, random)));
    for number in 0..size.entries {
        lines.push(entry(size, number, random));
        for place in 0..if number.is_multiple_of(3) { 0 } else { number % 4 } {
            lines.push(child("contributor", number, place, random));
            let attachment = child("attachment", number, place, random);
            lines.push(json!({"kind": "file", "token": attachment["token"], "filename": "a.txt", "data": "YQ=="}));
            lines.push(attachment);
            lines.push(review_task(number, place, random));
        }
    }
    lines.extend((0..size.orders).map(|number| order(size, number, random)));
    let mut world = World::default();
    take(&mut world, &lines);
    (lines, world)
}

/// The records of lines become those of the world.
pub(crate) fn take(world: &mut World, lines: &[Value]) {
    for line in lines {
        let kind = KINDS.into_iter().find(|kind| line["kind"] == *kind);
        let name = line["slug"].as_str().or(line["token"].as_str());
        if let (Some(kind), Some(name)) = (kind, name) {
            let mut line = line.clone();
            if kind == "category" {
                // What is shown without a language is the default one's.
                line["name"] = json!({"en_GB": line["name"]["en_GB"]});
            }
            world.put(kind, name, line);
        }
    }
}

const KINDS: [&str; 9] =
    ["season", "chapter", "category", "user", "entry", "order", "contributor", "attachment", "review_task"];

/// Lines as the text of a program file.
pub(crate) fn written(lines: &[Value]) -> String {
    lines.iter().fold(String::new(), |mut written, line| {
        let _ = writeln!(written, "{line}");
        written
    })
}

/// The values of a filter, some of which nothing has.
pub(crate) fn values(list: &List, filter: &str, world: &World) -> Vec<String> {
    let slugs = |kind: &str| world.all(kind).map(|(slug, _)| slug.clone()).step_by(3).take(9).collect::<Vec<_>>();
    let fixed: &[&str] = match filter {
        "status" if list.kind == "order" => &["paid", "awaiting_payment"],
        "status" => &STATUSES[..4],
        "test" => &["only", "hide"],
        "payment_status" => &["paid", "awaiting_payment"],
        "moderation" => &MODERATIONS,
        "price" => &["PriceOne", "PriceTwo", "PriceOld", "NoSuchPr"],
        "review_status" => &["started", "a & b", "none"],
        "title" => &["strasse", "ß", "100%", "A_B", "%", "Å", "i\u{307}", "more", "nowhere"],
        "updated_at[before]" | "created_at[before]" | "action_at[before]" => {
            &["2025-01-05", "2025-01-05T12:00:00Z", "2024-01-01", "2030-01-01"]
        }
        "updated_at[after]" | "created_at[after]" | "action_at[after]" => {
            &["2025-01-05", "2025-01-05T12:00:00Z", "2025-02-01", "2040-01-01"]
        }
        "updated_at[on]" | "action_at[on]" => &["2025-01-03", "2025-02-03"],
        "updated_at[between]" | "action_at[between]" => {
            &["2025-01-03,2025-01-06", "2025-01-03T12:00:00Z,2025-01-03T12:00:00Z"]
        }
        "form" => &["FormOnes", "FormTwos", "NoSuchFo"],
        "season" => &["SeasonOn", "SeasonUp", "SeasonDr", "all", "NoSuchSe"],
        "active_in_season" | "season_joined" => &["SeasonOn", "SeasonUp", "SeasonDr", "NoSuchSe"],
        "tag" => &["red", "Red", "long tag", "blue"],
        "archived" | "trashed" => &["only", "all", "none"],
        "deleted" => &["only", "included", "none"],
        "tab" => &["TabContr", "TabContX", "TabAttac", "TabAttaX"],
        "confirmation" => &["confirmed", "pending"],
        "entries" => &["current_season", "none_current_season", "archived_season", "none"],
        "decision" => &["proceed", "stop"],
        "review_stage" => &["StageOne", "StageTwo", "NoSuchSt"],
        "reviewer" => &["ADA@example.org", "ben@example.org", "ÅSA", "zoë", "nobody"],
        "language" => &["en_GB", "de_DE", "fr_FR"],
        "role" => &["RoleMana", "RoleJudg", "RoleEntr", "NoSuchRo"],
        "entrant" => return slugs("user"),
        "category" | "chapter" | "entry" => return slugs(filter),
        _ => &[],
    };
    fixed.iter().map(|value| (*value).to_owned()).collect()
}

/// Some filters of a list with values.
pub(crate) fn filters(list: &List, world: &World, count: u32, random: &mut Random) -> Query {
    let mut query = Query::new();
    for _ in 0..count {
        let (filter, _) = pick(list.filters, random);
        // Two bounds of one time are a filter that is given twice.
        let stem = |name: &str| name.split('[').next().map(str::to_owned);
        if query.iter().all(|(other, _)| stem(other) != stem(filter)) {
            query.push((filter, pick(&values(list, filter, world), random).clone()));
        }
    }
    query
}

/// A part of the account's records with new values, as lines.
pub(crate) fn changes(account: &str, size: Size, count: u32, random: &mut Random) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    for _ in 0..count {
        let number = random.below(size.entries);
        let line = match random.below(8) {
            0 => user(account, random.below(size.users), random),
            1 | 2 => order(size, random.below(size.orders), random),
            5 if !number.is_multiple_of(3) && !number.is_multiple_of(4) => {
                review_task(number, random.below(number % 4), random)
            }
            3 | 4 if !number.is_multiple_of(3) && !number.is_multiple_of(4) => {
                child(["contributor", "attachment"][random.below(2) as usize], number, random.below(number % 4), random)
            }
            _ => entry(size, number, random),
        };
        let name = |line: &Value| (line["kind"].clone(), line["slug"].clone(), line["token"].clone());
        if lines.iter().all(|other| name(other) != name(&line)) {
            lines.push(line);
        }
    }
    // A user in the trash stays who they were.
    lines.sort_by_key(|line| {
        let kinds = ["user", "entry", "contributor", "attachment", "review_task", "order"];
        kinds.iter().position(|kind| text(line, "kind") == *kind)
    });
    lines
}
