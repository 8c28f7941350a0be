//! Entries that are made up, and what a list of them is by definition.

use kernel::text::Timestamp;
use plaudit::program::keys::Scope;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::harness::random::Random;

pub const ACCOUNT: &str = "AccountL";
/// Seasons with their names and status; the first is the active one.
const SEASONS: [(&str, &str); 3] = [("SeasonOn", "active"), ("SeasonUp", "archived"), ("SeasonDr", "draft")];
/// Chapters with the number of their season and their name; some names differ in case alone.
const CHAPTERS: [(&str, usize, &str); 6] = [
    ("ChapZulu", 0, "Zulu"),
    ("ChapAlph", 0, "alpha"),
    ("ChapAlpi", 0, "Alpha"),
    ("ChapOldA", 1, "Alpha"),
    ("ChapOldB", 1, "Åland"),
    ("ChapDraf", 2, "Beta"),
];
/// Prices with the number of their season.
const PRICES: [(&str, usize); 3] = [("PriceOne", 0), ("PriceTwo", 0), ("PriceOld", 1)];
const USERS: [(&str, &str, &str); 4] =
    [("UserAsaa", "Åsa", "Berg"), ("UserAsab", "åsa", "berg"), ("UserZoee", "Zoë", ""), ("UserBobb", "bob", "Zimmer")];
const STATUSES: [&str; 6] =
    ["submitted", "in_progress", "resubmission_required", "resubmitted", "invited", "not_approved_for_submission"];
const MODERATIONS: [&str; 3] = ["undecided", "approved", "rejected"];
const REVIEWS: [&str; 3] = ["", "started", "a & b"];
const TAGS: [&str; 3] = ["red", "Red", "long tag"];
const TITLES: [&str; 6] = ["Straße", "STRASSE", "100% a_b", "ångström", "\u{130}stanbul", "plain"];
/// 2025-01-01T00:00:00.000000Z.
const START: i64 = 1_735_689_600;

/// A category; it can be renamed and moved.
#[derive(Clone, Debug)]
pub struct Category {
    pub slug: &'static str,
    pub season: usize,
    pub name: String,
    pub parent: Option<&'static str>,
}

pub fn categories() -> Vec<Category> {
    let category = |slug, season, name: &str, parent| Category { slug, season, name: name.to_owned(), parent };
    vec![
        category("CategTop", 0, "Design", None),
        category("CategLow", 0, "design", None),
        category("CategPos", 0, "Posters", Some("CategTop")),
        category("CategBoo", 0, "Books", Some("CategTop")),
        category("CategZin", 0, "Zines", Some("CategLow")),
        category("CategOld", 1, "Books", None),
        category("CategOlx", 1, "Ångström", Some("CategOld")),
        category("CategDra", 2, "Drafts", None),
    ]
}

/// An entry as the model has it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub slug: String,
    pub local_id: usize,
    pub season: usize,
    pub category: &'static str,
    pub chapter: &'static str,
    pub form: &'static str,
    pub entrant: usize,
    pub status: &'static str,
    pub moderation: &'static str,
    pub is_paid: bool,
    pub review: &'static str,
    pub title: String,
    pub tags: Vec<&'static str>,
    pub prices: Vec<&'static str>,
    /// In seconds since 1970-01-01.
    pub updated: i64,
    pub archived: bool,
    pub deleted: bool,
}

fn slug(number: usize, prefix: &str) -> String {
    // An odd factor permutes the numbers, so that slugs are in no order.
    let mut rest = number.wrapping_mul(1_234_567_891) % 26_usize.pow(4);
    let mut slug = prefix.to_owned();
    for _ in 0..4 {
        slug.push(char::from(b'a' + u8::try_from(rest % 26).unwrap()));
        rest /= 26;
    }
    slug
}

pub fn time(seconds: i64) -> String {
    let mut text = Vec::new();
    Timestamp::from_seconds(seconds).write(&mut text);
    String::from_utf8(text).unwrap()
}

pub fn population(count: usize, random: &mut Random) -> Vec<Entry> {
    let all = categories();
    let entry = |number: usize, random: &mut Random| {
        let season = if random.once_in(4) { random.below(SEASONS.len()) } else { 0 };
        let categories: Vec<&'static str> =
            all.iter().filter(|category| category.season == season).map(|category| category.slug).collect();
        let chapters: Vec<&'static str> =
            CHAPTERS.iter().filter(|(_, of, _)| *of == season).map(|(chapter, _, _)| *chapter).collect();
        let prices = PRICES.iter().filter(|(_, of)| *of == season).map(|(price, _)| *price);
        Entry {
            slug: slug(number, "Entr"),
            local_id: (number * 7) % 10_007 + 1,
            season,
            category: random.pick(&categories),
            chapter: random.pick(&chapters),
            form: random.pick(&["FormOnes", "FormTwos"]),
            entrant: random.below(USERS.len()),
            status: if random.once_in(2) { "submitted" } else { random.pick(&STATUSES) },
            moderation: random.pick(&MODERATIONS),
            is_paid: random.once_in(2),
            review: if random.once_in(4) { random.pick(&REVIEWS) } else { "" },
            title: format!("{}{}", random.pick(&TITLES), if random.once_in(3) { "" } else { " more" }),
            tags: TAGS.into_iter().filter(|_| random.once_in(4)).collect(),
            prices: prices.filter(|_| random.once_in(5)).collect(),
            updated: START + i64::try_from(random.below(20)).unwrap() * 43_200,
            archived: random.once_in(10),
            deleted: random.once_in(10),
        }
    };
    (0..count).map(|number| entry(number, random)).collect()
}

impl Entry {
    pub fn line(&self) -> Value {
        let submitted = (self.status == "submitted").then(|| time(START));
        json!({
            "kind": "entry", "slug": self.slug, "local_id": self.local_id, "season": SEASONS[self.season].0,
            "category": self.category, "chapter": self.chapter, "form": self.form, "entrant": USERS[self.entrant].0,
            "status": self.status, "moderation_status": self.moderation, "review_status": self.review,
            "payment_status": if self.is_paid { "Paid" } else { "Unpaid" }, "title": self.title,
            "tags": self.tags.join(", "), "created": time(START), "submitted": submitted,
            "updated": time(self.updated), "archived": self.archived, "deleted": self.deleted,
        })
    }

    /// Orders that name the entry at its prices, and one in the trash that names it at another one.
    fn orders(&self, number: usize) -> Vec<Value> {
        let is_priced = |price: &&str| self.prices.contains(price);
        let of_season = PRICES.iter().filter(|(_, season)| *season == self.season).map(|(price, _)| *price);
        let prices = of_season.filter(|price| is_priced(price) || number.is_multiple_of(7));
        let order = |(at, price): (usize, &str)| {
            json!({
                "kind": "order", "slug": slug(number, ["Orda", "Ordb"][at]), "season": SEASONS[self.season].0,
                "invoice_number": (number * 2 + at + 1).to_string(), "user": USERS[0].0, "currency": "GBP",
                "payment_status": "paid", "payment_method": "card", "deleted": !is_priced(&price),
                "items": [{"description": "D", "name": "N", "item_type": "Entry", "amount": 50.0, "quantity": 1,
                    "entry": self.slug, "price": price}],
            })
        };
        prices.enumerate().map(order).collect()
    }
}

fn setup() -> Vec<Value> {
    let mut lines = vec![json!({
        "kind": "account", "slug": ACCOUNT, "name": "L", "default_language": "en_GB", "languages": ["en_GB", "de_DE"],
        "timezone": "Europe/London", "features": ["api"], "rate_limit": 100_000_000
    })];
    let named = |name: &str| json!({"en_GB": name, "de_DE": format!("~{}", name.len())});
    lines.extend(
        SEASONS.map(|(slug, status)| json!({"kind": "season", "slug": slug, "name": named(slug), "status": status})),
    );
    lines.extend(
        ["FormOnes", "FormTwos"]
            .map(|slug| json!({"kind": "form", "slug": slug, "name": named(slug), "type": "entry"})),
    );
    lines.extend(CHAPTERS.map(|(slug, season, name)| {
        json!({"kind": "chapter", "slug": slug, "season": SEASONS[season].0, "name": named(name), "status": "active"})
    }));
    lines.extend(categories().iter().map(|category| {
        json!({"kind": "category", "slug": category.slug, "season": SEASONS[category.season].0, "name": named(&category.name),
            "status": "active", "parent": category.parent})
    }));
    lines.extend(PRICES.map(|(slug, season)| {
        json!({"kind": "price", "slug": slug, "season": SEASONS[season].0, "title": named(slug),
            "amounts": [{"currency": "GBP", "amount": 50.0}]})
    }));
    lines.extend(USERS.map(|(slug, first, last)| {
        json!({"kind": "user", "slug": slug, "first_name": first, "last_name": last, "email": format!("{slug}@example.org")})
    }));
    lines
}

fn written(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Imports entries and makes a key of their account the server's.
pub async fn start(server: &mut Server, entries: &[Entry]) {
    let mut lines = setup();
    for (number, entry) in entries.iter().enumerate() {
        lines.push(entry.line());
        lines.extend(entry.orders(number));
    }
    server.import(&written(&lines)).await;
    server.key = server.new_key(ACCOUNT, Scope::ReadWrite).await;
}

/// Imports some entries again.
pub async fn import(server: &Server, entries: &[Entry]) {
    let mut lines = vec![setup().swap_remove(0)];
    lines.extend(entries.iter().map(Entry::line));
    server.import(&written(&lines)).await;
}

pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// What a request selects and how it sorts.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub filters: Vec<(&'static str, String)>,
    pub order: &'static str,
    pub dir: &'static str,
}

impl Query {
    pub fn text(&self) -> String {
        let encoded = |value: &str| {
            let escape = |byte: u8| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b',' | b':' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            };
            value.bytes().map(escape).collect::<String>()
        };
        let filters = self.filters.iter().map(|(name, value)| (*name, value.as_str()));
        let sort = [("order", self.order), ("dir", self.dir)].into_iter().filter(|(_, value)| !value.is_empty());
        filters.chain(sort).map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
    }

    fn filter(&self, name: &str) -> Option<&str> {
        self.filters.iter().find(|(filter, _)| *filter == name).map(|(_, value)| value.as_str())
    }

    fn selects(&self, entry: &Entry) -> bool {
        let lifecycle = |name: &str, is_set: bool| match self.filter(name) {
            Some("only") => is_set,
            Some("all" | "included") => true,
            _ => !is_set,
        };
        let season = self.filter("season").unwrap_or(SEASONS[0].0);
        lifecycle("archived", entry.archived)
            && lifecycle("deleted", entry.deleted)
            && (season == "all" || season == SEASONS[entry.season].0)
            && self.filters.iter().all(|(name, value)| {
                let is = |held: &str| held == value;
                match *name {
                    "entrant" => is(USERS[entry.entrant].0),
                    "moderation" => is(entry.moderation),
                    "payment_status" => entry.is_paid == is("paid"),
                    "price" => entry.prices.contains(&value.as_str()),
                    "review_status" => is(entry.review),
                    "status" => is(entry.status),
                    "title" => fold(&entry.title).contains(&fold(value)),
                    "category" => is(entry.category),
                    "chapter" => is(entry.chapter),
                    "form" => is(entry.form),
                    "tag" => entry.tags.contains(&value.as_str()),
                    // The texts of whole seconds and of days sort as their times do.
                    "updated_at[before]" => time(entry.updated).as_str() < value.as_str(),
                    "updated_at[after]" => time(entry.updated).as_str() > format!("{value}U").as_str(),
                    "updated_at[on]" => time(entry.updated).starts_with(value.as_str()),
                    "updated_at[between]" => {
                        let (from, until) = value.split_once(',').unwrap();
                        let time = time(entry.updated);
                        time.as_str() >= from && time.as_str() < format!("{until}U").as_str()
                    }
                    _ => true,
                }
            })
    }

    /// The slugs of the whole list.
    pub fn expected(&self, entries: &[Entry], categories: &[Category]) -> Vec<String> {
        let category = |slug: &str| categories.iter().find(|category| category.slug == slug).unwrap();
        let name = |slug: &str| fold(&category(slug).name);
        let chapter = |slug: &str| fold(CHAPTERS.iter().find(|(chapter, _, _)| *chapter == slug).unwrap().2);
        let key = |entry: &Entry| match self.order {
            "category" => name(entry.category),
            "parent_category" => category(entry.category).parent.map_or_else(String::new, name),
            "chapter" => chapter(entry.chapter),
            "applicant" => {
                let (_, first, last) = USERS[entry.entrant];
                fold([first, last].join(" ").trim())
            }
            "local_id" => format!("{:08}", entry.local_id),
            "title" => fold(&entry.title),
            _ => time(entry.updated),
        };
        let is_named = !["", "nothing"].contains(&self.order);
        let is_descending = self.dir == "desc" || (self.dir.is_empty() && !is_named);
        let mut selected: Vec<&Entry> = entries.iter().filter(|entry| self.selects(entry)).collect();
        selected.sort_by(|one, other| {
            let by_key = key(one).cmp(&key(other));
            let by_key = if is_descending { by_key.reverse() } else { by_key };
            // Ties go by slug, ascending in both directions.
            by_key.then_with(|| one.slug.cmp(&other.slug))
        });
        selected.into_iter().map(|entry| entry.slug.clone()).collect()
    }
}

/// Every filter with its values.
pub fn filters() -> Vec<(&'static str, Vec<String>)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let categories: Vec<String> = categories().iter().map(|category| category.slug.to_owned()).collect();
    vec![
        ("entrant", texts(&["UserAsaa", "UserBobb", "NoSuchUs"])),
        ("moderation", texts(&MODERATIONS)),
        ("payment_status", texts(&["paid", "awaiting_payment"])),
        ("price", texts(&["PriceOne", "PriceTwo", "PriceOld", "NoSuchPr"])),
        ("review_status", texts(&["started", "a & b", "none"])),
        ("status", texts(&STATUSES[..4])),
        ("title", texts(&["strasse", "ß", "100%", "A_B", "%", "Å", "i\u{307}", "more", "nowhere"])),
        ("updated_at[before]", texts(&["2025-01-05", "2025-01-05T12:00:00.000000Z", "2024-01-01"])),
        ("updated_at[after]", texts(&["2025-01-05", "2025-01-05T12:00:00.000000Z", "2026-01-01"])),
        ("updated_at[on]", texts(&["2025-01-03", "2025-02-03"])),
        (
            "updated_at[between]",
            texts(&["2025-01-03,2025-01-06", "2025-01-03T12:00:00.000000Z,2025-01-03T12:00:00.000000Z"]),
        ),
        ("category", [categories, texts(&["NoSuchCa"])].concat()),
        ("chapter", texts(&["ChapZulu", "ChapAlph", "ChapOldA", "NoSuchCh"])),
        ("form", texts(&["FormOnes", "FormTwos"])),
        ("season", texts(&["SeasonOn", "SeasonUp", "SeasonDr", "all", "NoSuchSe"])),
        ("tag", texts(&["red", "Red", "long tag", "blue"])),
        ("archived", texts(&["only", "all", "none"])),
        ("deleted", texts(&["only", "included", "none"])),
    ]
}

pub const ORDERS: [&str; 9] =
    ["", "category", "chapter", "applicant", "local_id", "parent_category", "title", "updated", "nothing"];
