//! An account that is made up from a seed: many values are the same, some are missing, some records are in the trash.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::lists::{EVENTS, FIELD_TYPES};

/// The types of tabs that each form has, with what their fields ask about.
const TABS: &[(&str, &str)] = &[
    ("General", "entries"),
    ("Contributors", "contributors"),
    ("Attachments", "attachments"),
    ("Referees", "referees"),
    ("Eligibility", "entries"),
];

/// Names of which several are alike but for their case.
const NAMES: &[&str] = &[
    "Alpha",
    "alpha",
    "ALPHA",
    "Beta",
    "stra\u{df}e",
    "STRASSE",
    "\u{c4}rger",
    "\u{e4}rger",
    "zoo",
    "Zebra",
    "\u{e9}t\u{e9}",
    "\u{65e5}\u{672c}",
    "\u{fb01}ne",
    "Fine",
    "100",
    "20",
    " blank",
    "",
];

/// What an account has set up.
pub(crate) struct Setup {
    /// The account's slug.
    pub(crate) account: &'static str,
    random: Random,
    records: Vec<Value>,
    /// Where the record of a slug stands.
    places: BTreeMap<String, usize>,
}

/// Numbers that look random and are the same from the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound.max(1) as u64).unwrap_or_default()
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// One of these, or null.
    fn maybe(&mut self, of: &[Value]) -> Value {
        if of.is_empty() || self.once_in(3) { Value::Null } else { self.pick(of).clone() }
    }

    fn name(&mut self) -> Value {
        let mut texts = Map::new();
        if !self.once_in(8) {
            texts.insert("en_GB".to_owned(), json!(self.pick(NAMES)));
        }
        if self.once_in(2) {
            texts.insert("de_DE".to_owned(), json!(self.pick(NAMES)));
        }
        Value::Object(texts)
    }

    /// One of a few times, so that many records have the same.
    fn time(&mut self) -> Value {
        let fraction = if self.once_in(4) { ".25" } else { "" };
        json!(format!("2025-03-{:02}T10:00:{:02}{fraction}Z", 1 + self.below(4), self.below(3)))
    }
}

impl Setup {
    /// The account of a size: 1 is small.
    pub(crate) fn new(seed: u64, size: usize) -> Self {
        let account = "LlAcount";
        let mut setup = Self { account, random: Random(seed), records: Vec::new(), places: BTreeMap::new() };
        setup.records.push(json!({
            "kind": "account", "slug": account, "name": "Lists", "default_language": "en_GB",
            "languages": ["en_GB", "de_DE"], "timezone": "Europe/London", "features": ["api"],
            "rate_limit": 100_000_000, "hosts": [], "domains": ["lists.example"], "product": "Plaudit",
            "global_id": "5f0c8a4e-0f4c-4c53-8f6c-3f8f0d1f2a11",
            "created": "2025-01-01T00:00:00.000000Z", "updated": "2025-01-02T00:00:00.000000Z",
        }));
        setup.make("season", 4 + 2 * size, Self::season);
        setup.make("chapter", 16 + 8 * size, Self::chapter);
        setup.make("content_block", 3, |setup, _| json!({"name": setup.random.name()}));
        setup.make("form", 16 * size, Self::form);
        setup.make("tab", TABS.len() * 16 * size, Self::tab);
        setup.make("category", 30 * size, Self::category);
        setup.make("field", 60 * size, Self::field);
        setup.make("round", 24 * size, Self::round);
        setup.make("score_set", 24 * size, Self::score_set);
        setup.make("tax", 24 * size, Self::tax);
        setup.make("webhook", 60, Self::webhook);
        setup.make("user", 1, |_, _| json!({"first_name": "Lou", "last_name": "List", "email": "lou@lists.example"}));
        setup.make("entry", 60 * size, Self::entry);
        setup
    }

    /// The program file.
    pub(crate) fn lines(&self) -> String {
        self.records.iter().fold(String::new(), |lines, record| format!("{lines}{record}\n"))
    }

    /// The account's own record.
    pub(crate) fn record_of_account(&self) -> &Value {
        &self.records[0]
    }

    /// The records of a kind.
    pub(super) fn of<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        self.records.iter().filter(move |record| record["kind"] == kind)
    }

    /// A record, even in the trash.
    pub(super) fn find(&self, kind: &str, slug: &str) -> Option<&Value> {
        self.places.get(slug).map(|place| &self.records[*place]).filter(|record| record["kind"] == kind)
    }

    /// The season that is active.
    pub(super) fn active_season(&self) -> &str {
        let active = self.of("season").find(|season| season["status"] == "active");
        active.and_then(|season| season["slug"].as_str()).unwrap_or_default()
    }

    /// Adds records of a kind: slugs, times and whether they are in the trash come with the other members. The first
    /// ones never are in the trash.
    fn make(&mut self, kind: &str, count: usize, members: fn(&mut Self, usize) -> Value) {
        for number in 0..count {
            let mut record = members(self, number);
            let (created, updated) = (self.random.time(), self.random.time());
            let can_be_trashed = number > 0 && !["tab", "user"].contains(&kind) && record["type"] != "radio";
            if let Some(record) = record.as_object_mut() {
                record.insert("kind".to_owned(), json!(kind));
                record.insert("slug".to_owned(), json!(slug(kind, number)));
                record.insert(if kind == "user" { "created_at" } else { "created" }.to_owned(), created);
                record.insert("updated".to_owned(), updated);
                if can_be_trashed && self.random.once_in(6) {
                    record.insert("deleted".to_owned(), json!(true));
                }
            }
            self.places.insert(slug(kind, number), self.records.len());
            self.records.push(record);
        }
    }

    /// The slug of one of the seasons, that of the active one mostly.
    fn any_season(&mut self) -> Value {
        let seasons = self.of("season").count();
        json!(slug("season", if self.random.once_in(2) { 0 } else { self.random.below(seasons) }))
    }

    /// The slugs of the records of a kind that are of this season, or of none.
    fn slugs_in(&self, kind: &str, season: &Value) -> Vec<Value> {
        let in_season = self.of(kind).filter(|record| record["season"].is_null() || record["season"] == *season);
        in_season.map(|record| record["slug"].clone()).collect()
    }

    /// Some of these, in their order.
    fn some_of(&mut self, mut of: Vec<Value>, at_most: usize) -> Vec<Value> {
        let wanted = self.random.below(at_most + 1);
        while of.len() > wanted {
            of.remove(self.random.below(of.len()));
        }
        of
    }

    fn season(&mut self, number: usize) -> Value {
        let status = if number == 0 { "active" } else { *self.random.pick(&["draft", "archived", "destroyed"]) };
        json!({"name": self.random.name(), "status": status})
    }

    fn chapter(&mut self, number: usize) -> Value {
        // The first ones see to it that each season has a chapter.
        let season = json!(slug("season", number));
        let season =
            if self.find("season", season.as_str().unwrap_or_default()).is_some() { season } else { self.any_season() };
        json!({"season": season, "name": self.random.name(), "status": self.random.pick(&["active", "inactive"])})
    }

    fn form(&mut self, number: usize) -> Value {
        // The first one serves every season, so that each has a form.
        let season = if number == 0 || self.random.once_in(5) { Value::Null } else { self.any_season() };
        let blocks: Vec<Value> = self.of("content_block").map(|block| block["slug"].clone()).collect();
        let random = &mut self.random;
        let block = random.maybe(&blocks);
        json!({
            "season": season, "name": random.name(), "type": random.pick(&["entry", "entry", "report"]),
            "chapter_option": random.pick(&["all", "select"]), "callToAction": random.name(), "content_block": block,
            "archived": random.once_in(4),
        })
    }

    /// Each form has a tab of each of these types.
    fn tab(&mut self, number: usize) -> Value {
        json!({
            "form": slug("form", number / TABS.len()), "type": TABS[number % TABS.len()].0, "name": self.random.name(),
            "order": number % TABS.len(),
        })
    }

    fn category(&mut self, _: usize) -> Value {
        let season = self.any_season();
        let mut chapters = self.slugs_in("chapter", &season);
        chapters.retain(|_| !self.random.once_in(2));
        let chapters = if self.random.once_in(3) { Vec::new() } else { self.some_of(chapters, 4) };
        let (forms, parents) = (self.slugs_in("form", &season), self.slugs_in("category", &season));
        let random = &mut self.random;
        json!({
            "season": season, "name": random.name(), "shortcode": random.name(),
            "status": random.pick(&["active", "inactive"]), "form": random.maybe(&forms), "parent": random.maybe(&parents),
            "divisions": 1 + random.below(3), "promoted": random.pick(&[Value::Null, json!(0), json!(1)]),
            "chapters": chapters,
        })
    }

    fn field(&mut self, number: usize) -> Value {
        let forms = self.of("form").count();
        // The first field of each form is one that conditions can name.
        let form = json!(slug("form", if number < forms { number } else { self.random.below(forms) }));
        let of_form = self.find("form", form.as_str().unwrap_or_default()).map(|form| form["season"].clone());
        let of_form = of_form.unwrap_or_default();
        if number < forms {
            let tab = slug("tab", number * TABS.len());
            return json!({
                "form": form, "tab": tab, "resource": "entries", "type": "radio", "options": ["yes", "no"],
                "title": self.random.name(), "order": 0, "categories": ["*"], "season": of_form, "protection": "standard",
                "auto_scoring": 0,
            });
        }
        let is_of_users = self.random.once_in(6);
        let place = self.random.below(TABS.len());
        let season = if is_of_users || of_form.is_null() { self.any_season() } else { of_form };
        let mut categories = self.slugs_in("category", &season);
        categories.retain(|category| {
            let found = category.as_str().and_then(|slug| self.find("category", slug));
            found.is_some_and(|found| found["form"].is_null() || found["form"] == form)
        });
        let categories = if self.random.once_in(3) { vec![json!("*")] } else { self.some_of(categories, 3) };
        let random = &mut self.random;
        let kind = *random.pick(FIELD_TYPES);
        let mut record = json!({
            "resource": TABS[place].1, "type": kind, "title": random.name(), "order": random.below(5), "season": season,
            "categories": categories, "protection": random.pick(&["standard", "elevated", "maximum"]),
            "auto_scoring": random.below(4), "tab": slug("tab", number_of(&form, forms) * TABS.len() + place),
        });
        if is_of_users {
            record["resource"] = json!("users");
            record["tab"] = Value::Null;
        } else if random.once_in(2) {
            record["form"] = form.clone();
        }
        if ["checkboxlist", "drop-down-list", "radio"].contains(&kind) {
            record["options"] = json!(["yes", "no", "perhaps"]);
        } else if kind == "table" {
            record["columns"] = json!([{"key": "A", "label": {"en_GB": "Item"}}]);
        } else if kind == "currency" {
            record["currency"] = json!("GBP");
        }
        if !is_of_users && place == 0 && random.once_in(2) {
            let named = slug("field", number_of(&form, forms));
            record["conditional"] = json!({"field": named, "operator": "equals", "value": "yes"});
        }
        record
    }

    fn round(&mut self, _: usize) -> Value {
        let season = self.any_season();
        let (forms, chapters) = (self.slugs_in("form", &season), self.slugs_in("chapter", &season));
        let chapters = self.some_of(chapters, 3);
        let random = &mut self.random;
        let bound = |random: &mut Random, year: usize| {
            let day = 1 + random.below(3);
            if random.once_in(3) { Value::Null } else { json!(format!("{year}-03-{day:02} 09:30:00")) }
        };
        json!({
            "season": season, "form": random.pick(&forms), "name": random.name(), "chapters": chapters,
            "type": random.pick(&["entry", "judge", "feedback"]), "start_date": bound(random, 2025),
            "end_date": bound(random, 2026),
        })
    }

    fn score_set(&mut self, _: usize) -> Value {
        let season = self.any_season();
        let forms = self.slugs_in("form", &season);
        let random = &mut self.random;
        json!({
            "season": season, "form": random.pick(&forms), "name": random.name(),
            "mode": random.pick(&["qualifying", "top_pick", "vip_judging", "voting", "gallery"]),
            "order": random.pick(&[Value::Null, json!(1), json!(2)]), "archived": random.once_in(4),
        })
    }

    fn tax(&mut self, _: usize) -> Value {
        let random = &mut self.random;
        let maybe = |random: &mut Random| if random.once_in(3) { Value::Null } else { json!(random.pick(NAMES)) };
        let rates = [json!(0), json!(8.25), json!(8.2), json!(10), json!(19), json!(2), json!(100), json!(5.0625)];
        json!({
            "country": random.pick(&["GB", "CA", "US", "DE"]), "country_name": random.pick(NAMES), "name": maybe(random),
            "rate": random.pick(&rates), "region": maybe(random), "region_name": maybe(random),
            "term": random.pick(NAMES),
        })
    }

    fn webhook(&mut self, _: usize) -> Value {
        let random = &mut self.random;
        let name = NAMES[..NAMES.len() - 1][random.below(NAMES.len() - 1)];
        let mut events: Vec<&str> = EVENTS.iter().copied().filter(|_| random.once_in(2)).collect();
        if events.is_empty() {
            events.push("entry_created");
        }
        let emails: Vec<String> =
            (0..random.below(3)).map(|number| format!("{}{number}@lists.example", random.pick(&["a", "B"]))).collect();
        let keys: Vec<Value> = (0..random.below(3))
            .map(|number| json!({"key": format!("Key{number}"), "until": "2025-04-01T10:00:00Z"}))
            .collect();
        json!({
            "name": name, "method": random.pick(&["get", "post"]), "events": events, "notification_emails": emails,
            "url": format!("https://lists.example/{}", random.pick(&["a", "b", "B", "c?d=e"])), "replaced_keys": keys,
        })
    }

    fn entry(&mut self, number: usize) -> Value {
        let categories = self.of("category").count();
        let category = slug("category", self.random.below(categories / 2));
        let found = self.find("category", &category).cloned().unwrap_or_default();
        let named = found["chapters"].as_array().cloned().unwrap_or_default();
        let offered = if named.is_empty() { self.slugs_in("chapter", &found["season"]) } else { named };
        let form = if found["form"].is_null() { json!(slug("form", 0)) } else { found["form"].clone() };
        json!({
            "local_id": number + 1, "title": format!("Entry {number}"), "season": found["season"], "category": category,
            "chapter": self.random.pick(&offered), "form": form, "entrant": slug("user", 0),
        })
    }
}

/// The number of the form of a slug.
fn number_of(form: &Value, forms: usize) -> usize {
    (0..forms).find(|number| slug("form", *number) == *form).unwrap_or_default()
}

/// The slug of the record of a kind with a number; neighbours are scattered.
pub(super) fn slug(kind: &str, number: usize) -> String {
    let first = kind.chars().next().unwrap_or('x').to_ascii_uppercase();
    let mut scattered = number * 48_271 % 26_usize.pow(5);
    // A letter for the kind, because several begin alike.
    let sum: usize = kind.bytes().map(usize::from).sum();
    let mut slug = format!("{first}l{}", letter(sum));
    for _ in 0..5 {
        slug.push(letter(scattered % 26));
        scattered /= 26;
    }
    slug
}

fn letter(number: usize) -> char {
    char::from(b'a' + u8::try_from(number % 26).unwrap_or_default())
}
