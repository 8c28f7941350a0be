//! The rules of entries written down a second time: what every operation must be answered, and what it makes of an entry.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::service::Random;

/// The account.
pub(crate) const ACCOUNT: &str = "RulesAcc";
/// The season that is active.
pub(crate) const SEASON: &str = "SeasonAA";
/// Users who have entries.
pub(crate) const USERS: &[&str] = &["UserAAAA", "UserBBBB", "UserCCCC"];
/// Chapters: two that are active, one that is not.
pub(super) const CHAPTERS: &[&str] = &["ChapterA", "ChapterB", "ChapterX"];
const TITLES: &[&str] = &["One", "Two", "Three <&\"", ""];
const TAGS: &[&str] = &["red", "blue", "red,green", " blue , ,grün", ","];
const STATUSES: &[&str] = &["submitted", "in_progress", "resubmission_required", "resubmitted"];
const MODERATION: &[&str] = &["undecided", "approved", "rejected"];

/// A category as the rules see it.
pub(super) struct Category {
    pub(super) slug: &'static str,
    /// Whether it is on the form that has fields, a minimum and an open round.
    pub(super) has_form: bool,
    pub(super) is_open: bool,
    pub(super) only: Option<&'static str>,
    pub(super) divisions: i64,
    pub(super) most: Option<usize>,
}

const fn category(slug: &'static str) -> Category {
    Category { slug, has_form: true, is_open: true, only: None, divisions: 1, most: None }
}

/// The categories.
pub(super) const CATEGORIES: &[Category] = &[
    category("CategAAA"),
    Category { only: Some("ChapterB"), ..category("CategOnl") },
    Category { divisions: 3, ..category("CategDiv") },
    Category { most: Some(2), ..category("CategMax") },
    Category { is_open: false, ..category("CategLck") },
    Category { is_open: false, ..category("CategOff") },
    Category { has_form: false, ..category("CategNon") },
];

fn category_of(slug: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.slug == slug)
}

/// An operation, as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    act: Act,
}

#[derive(Clone, Debug)]
enum Act {
    Create,
    Update(usize),
    Tag(usize, bool, &'static str),
    Trash(usize),
    Restore(usize),
    Copy(usize),
    Show(usize),
}

/// What the answer must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A status without a record.
    Status(u16),
    /// 422 with these members in `errors`.
    Members(Vec<String>),
    /// 422 without `errors`.
    State,
    /// This status, and the entry at this position.
    Entry(u16, usize),
}

/// An entry as the rules see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) slug: String,
    pub(crate) is_trashed: bool,
    title: String,
    status: &'static str,
    is_submitted: bool,
    entrant: &'static str,
    /// Whether its form is the one that has fields, a minimum and an open round.
    has_form: bool,
    category: &'static str,
    chapter: &'static str,
    answers: BTreeMap<String, Value>,
    moderation: &'static str,
    deadline: &'static str,
    division: Option<i64>,
    score: i64,
    eligibility: &'static str,
    tags: Vec<String>,
}

/// The account as it must be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) entries: Vec<Entry>,
}

impl Model {
    /// An operation that may be right or wrong.
    pub(crate) fn operation(&self, random: &mut Random) -> Operation {
        let count = u32::try_from(self.entries.len()).unwrap_or(0);
        if count == 0 || (count < 200 && random.below(12) == 0) {
            return Operation { method: "POST", path: "/entry".to_owned(), body: Some(new(random)), act: Act::Create };
        }
        let at = usize::try_from(random.below(count)).unwrap_or(0);
        let slug = &self.entries[at].slug;
        let update =
            |path: String, body: Value| Operation { method: "PUT", path, body: Some(body), act: Act::Update(at) };
        let simple = |method, path: String, act| Operation { method, path, body: None, act };
        match random.below(20) {
            0..=5 => update(format!("/entry/{slug}"), changes(random)),
            6 => update(format!("/entry/{slug}/update-title"), json!({"title": pick(random, TITLES)})),
            7..=9 => {
                let (field, value) = answer(random);
                update(format!("/entry/{slug}/update-field/{field}"), json!({"value": value}))
            }
            10 => update(format!("/entry/{slug}/update-category"), json!({"category": any_category(random)})),
            11 => update(format!("/entry/{slug}/update-chapter"), json!({"chapter": pick(random, CHAPTERS)})),
            12 | 13 => {
                let tags = pick(random, TAGS);
                let is_added = random.below(2) == 0;
                let path = format!("/entry/{slug}/tag/{}", encoded(tags));
                simple(if is_added { "PUT" } else { "DELETE" }, path, Act::Tag(at, is_added, tags))
            }
            14 => simple("DELETE", format!("/entry/{slug}"), Act::Trash(at)),
            15 | 16 => simple("POST", format!("/entry/{slug}/restore"), Act::Restore(at)),
            17 if count < 200 => simple("POST", format!("/entry/{slug}/copy"), Act::Copy(at)),
            _ => simple("GET", format!("/entry/{slug}"), Act::Show(at)),
        }
    }

    /// What the operation must be answered; the model is then as the account must be. A new entry has no slug yet.
    pub(crate) fn apply(&mut self, operation: &Operation) -> Expected {
        let body = operation.body.clone().unwrap_or_default();
        match operation.act {
            Act::Create => self.create(&body),
            Act::Restore(at) => self.restore(at),
            Act::Update(at) | Act::Tag(at, ..) | Act::Trash(at) | Act::Copy(at) | Act::Show(at)
                if self.entries[at].is_trashed =>
            {
                Expected::Status(404)
            }
            Act::Update(at) => self.update(at, operation, &body),
            Act::Tag(at, is_added, tags) => {
                let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
                let held = &mut self.entries[at].tags;
                for tag in tags {
                    if is_added && !held.iter().any(|held| held == tag) {
                        held.push(tag.to_owned());
                    } else if !is_added {
                        held.retain(|held| held != tag);
                    }
                }
                Expected::Entry(201, at)
            }
            Act::Trash(at) => {
                self.entries[at].is_trashed = true;
                Expected::Status(204)
            }
            Act::Copy(at) => self.copy(at),
            Act::Show(at) => Expected::Entry(200, at),
        }
    }

    fn held(&self, entrant: &str, category: &str) -> usize {
        let is_there = |entry: &&Entry| !entry.is_trashed && (entry.entrant, entry.category) == (entrant, category);
        self.entries.iter().filter(is_there).count()
    }

    fn is_full(&self, entrant: &str, category: &Category) -> bool {
        category.most.is_some_and(|most| self.held(entrant, category.slug) >= most)
    }

    fn division(&self, category: &Category) -> Option<i64> {
        let count = |division: i64| {
            let is_in = |entry: &&Entry| {
                !entry.is_trashed && entry.category == category.slug && entry.division == Some(division)
            };
            self.entries.iter().filter(is_in).count()
        };
        (category.divisions > 1).then(|| (1..=category.divisions).min_by_key(|division| count(*division)).unwrap_or(1))
    }

    fn create(&mut self, body: &Value) -> Expected {
        let text = |name: &str| body[name].as_str().unwrap_or_default();
        let entrant = USERS.iter().copied().find(|user| *user == text("entrant"));
        let category = category_of(text("category"));
        let mut wrong = Vec::new();
        if text("title").trim().is_empty() {
            wrong.push("title".to_owned());
        }
        if entrant.is_none() {
            wrong.push("entrant".to_owned());
        }
        let is_right = category.is_some_and(|category| category.is_open);
        let is_full = entrant.zip(category).is_some_and(|(entrant, category)| self.is_full(entrant, category));
        if !is_right || is_full {
            wrong.push("category".to_owned());
        }
        let default = category.and_then(|category| category.only).unwrap_or("ChapterA");
        let chapter = body["chapter"].as_str().map_or(default, |asked| pick_same(CHAPTERS, asked));
        if category.is_some() && !offers(category, chapter) {
            wrong.push("chapter".to_owned());
        }
        let mut entry = Entry {
            slug: String::new(),
            is_trashed: false,
            title: text("title").to_owned(),
            status: body["status"].as_str().map_or("in_progress", |asked| pick_same(STATUSES, asked)),
            is_submitted: text("status") == "submitted",
            entrant: entrant.unwrap_or_default(),
            has_form: category.is_none_or(|category| category.has_form),
            category: category.map_or("", |category| category.slug),
            chapter,
            answers: BTreeMap::new(),
            moderation: body["moderation_status"].as_str().map_or("undecided", |asked| pick_same(MODERATION, asked)),
            deadline: body["custom_deadline"].as_str().map_or("-", |asked| pick_same(DEADLINES, asked)),
            division: category.and_then(|category| self.division(category)),
            score: 0,
            eligibility: "",
            tags: Vec::new(),
        };
        entry.give(&body["entry_fields"], &mut wrong);
        if text("status") == "resubmitted" {
            wrong.push("status".to_owned());
        } else if entry.is_submitted && category.is_some() {
            entry.require(&mut wrong);
        }
        if !wrong.is_empty() {
            return members(wrong);
        }
        if entry.is_submitted && !entry.is_open() {
            return Expected::State;
        }
        entry.settle(entry.is_submitted);
        self.entries.push(entry);
        Expected::Entry(201, self.entries.len() - 1)
    }

    fn update(&mut self, at: usize, operation: &Operation, body: &Value) -> Expected {
        let before = self.entries[at].clone();
        let (mut entry, mut wrong) = (before.clone(), Vec::new());
        let body = match operation.path.split_once("/update-field/") {
            Some((_, field)) => json!({"entry_fields": {field: body["value"]}}),
            None => body.clone(),
        };
        let mut place = category_of(before.category);
        if let Some(title) = body["title"].as_str() {
            title.clone_into(&mut entry.title);
            if title.trim().is_empty() {
                wrong.push("title".to_owned());
            }
        }
        if let Some(entrant) = body["entrant"].as_str().filter(|entrant| *entrant != before.entrant) {
            match USERS.iter().find(|user| **user == entrant) {
                Some(user) => entry.entrant = user,
                None => wrong.push("entrant".to_owned()),
            }
        }
        let is_known_entrant = !wrong.contains(&"entrant".to_owned());
        if let Some(asked) = body["category"].as_str().filter(|asked| *asked != before.category) {
            match category_of(asked) {
                None => wrong.push("category".to_owned()),
                Some(found) => {
                    let is_same_form = before.has_form == found.has_form;
                    let is_offered =
                        body["chapter"].is_string() || found.only.is_none_or(|only| only == before.chapter);
                    if !found.is_open || !is_same_form || !is_offered {
                        wrong.push("category".to_owned());
                    }
                    entry.category = found.slug;
                    entry.division = self.division(found);
                    place = Some(found);
                }
            }
        }
        if let Some(chapter) = body["chapter"].as_str() {
            entry.chapter = pick_same(CHAPTERS, chapter);
            let is_asked_always = operation.path.ends_with("/update-chapter");
            let has_moved = (entry.category, entry.chapter) != (before.category, before.chapter);
            if (is_asked_always || has_moved) && !offers(place, entry.chapter) {
                wrong.push("chapter".to_owned());
            }
        }
        let is_new_there = (entry.entrant, entry.category) != (before.entrant, before.category) || !is_known_entrant;
        if is_new_there && is_known_entrant && place.is_some_and(|place| self.is_full(entry.entrant, place)) {
            wrong.push("category".to_owned());
        }
        entry.give(&body["entry_fields"], &mut wrong);
        entry.moderation =
            body["moderation_status"].as_str().map_or(entry.moderation, |asked| pick_same(MODERATION, asked));
        entry.deadline = body["custom_deadline"].as_str().map_or(entry.deadline, |asked| pick_same(DEADLINES, asked));
        let to = body["status"].as_str().map_or(before.status, |asked| pick_same(STATUSES, asked));
        let is_handed_in =
            matches!((before.status, to), ("in_progress", "submitted") | ("resubmission_required", "resubmitted"));
        if is_handed_in {
            entry.require(&mut wrong);
        }
        if !wrong.is_empty() {
            return members(wrong);
        }
        // An entry never gets into a category that is locked, so that no other state stands in the way.
        match (before.status, to) {
            (one, other) if one == other => {}
            ("in_progress", "submitted") if !entry.is_open() => return Expected::State,
            ("in_progress", "submitted") | ("resubmission_required", "resubmitted") => entry.is_submitted = true,
            ("submitted", "in_progress") => entry.is_submitted = false,
            ("submitted", "resubmission_required") => {}
            _ => return Expected::State,
        }
        entry.status = to;
        if is_handed_in || (&entry.answers, entry.category) != (&before.answers, before.category) {
            entry.settle(is_handed_in);
        }
        self.entries[at] = entry;
        Expected::Entry(200, at)
    }

    fn restore(&mut self, at: usize) -> Expected {
        let entry = &self.entries[at];
        let is_full = category_of(entry.category).is_some_and(|category| self.is_full(entry.entrant, category));
        if !entry.is_trashed || is_full {
            return Expected::State;
        }
        self.entries[at].is_trashed = false;
        Expected::Status(204)
    }

    fn copy(&mut self, at: usize) -> Expected {
        let entry = &self.entries[at];
        let Some(category) = category_of(entry.category) else { return Expected::State };
        if !offers(Some(category), entry.chapter) || self.is_full(entry.entrant, category) {
            return Expected::State;
        }
        let mut copy = Entry {
            slug: String::new(),
            status: "in_progress",
            is_submitted: false,
            moderation: "undecided",
            deadline: "-",
            division: self.division(category),
            eligibility: "",
            tags: Vec::new(),
            ..entry.clone()
        };
        copy.settle(false);
        self.entries.push(copy);
        Expected::Entry(201, self.entries.len() - 1)
    }
}

/// Whether a chapter can take an entry of a category.
fn offers(category: Option<&Category>, chapter: &str) -> bool {
    chapter != "ChapterX" && category.is_some_and(|category| category.only.is_none_or(|only| only == chapter))
}

/// Custom deadlines: none, one in the past, one in the future.
const DEADLINES: &[&str] = &["-", "2021-01-01 00:00", "2199-12-31 23:59"];

impl Entry {
    /// Whether it is asked anything in its category.
    fn is_asked(&self) -> bool {
        self.has_form && category_of(self.category).is_none_or(|category| category.has_form)
    }

    /// Gives answers; what is wrong is named. An answer can be taken back where it would not be asked for.
    fn give(&mut self, given: &Value, wrong: &mut Vec<String>) {
        for (field, value) in given.as_object().into_iter().flatten() {
            let is_right = self.has_form
                && match field.as_str() {
                    "FieldTxt" => {
                        value.as_str().is_some_and(|text| text.split_whitespace().count() <= 2) || value.is_null()
                    }
                    "FieldRad" => value.is_null() || matches!(value.as_str(), Some("a" | "b" | "")),
                    "FieldUrl" => {
                        value.is_null()
                            || value.as_str().is_some_and(|url| url.is_empty() || url.starts_with("https://"))
                    }
                    "FieldTab" => {
                        value.as_object().is_some_and(|cells| cells.keys().all(|cell| !cell.starts_with('C')))
                    }
                    _ => false,
                };
            if !is_right {
                wrong.push(format!("entry_fields.{field}"));
                continue;
            }
            let answer = match (value, self.answers.get(field)) {
                (Value::Object(cells), held) => {
                    let mut merged: Map<String, Value> = held.and_then(Value::as_object).cloned().unwrap_or_default();
                    merged.extend(cells.clone());
                    merged.retain(|_, cell| cell != "");
                    (!merged.is_empty()).then_some(Value::Object(merged))
                }
                (Value::Null, _) => None,
                (Value::String(text), _) if text.is_empty() => None,
                (other, _) => Some(other.clone()),
            };
            if answer.is_some() && !self.is_asked() {
                wrong.push(format!("entry_fields.{field}"));
                continue;
            }
            match answer {
                Some(answer) => drop(self.answers.insert(field.clone(), answer)),
                None => drop(self.answers.remove(field)),
            }
        }
    }

    /// Names the required fields that are shown and have no answer.
    fn require(&self, wrong: &mut Vec<String>) {
        if !self.is_asked() {
            return;
        }
        for field in ["FieldTxt", "FieldUrl"] {
            let is_shown = field == "FieldTxt" || self.answers.get("FieldRad") == Some(&json!("b"));
            let member = format!("entry_fields.{field}");
            if is_shown && !self.answers.contains_key(field) && !wrong.contains(&member) {
                wrong.push(member);
            }
        }
    }

    fn is_open(&self) -> bool {
        self.has_form || self.deadline.starts_with("2199")
    }

    fn settle(&mut self, is_handed_in: bool) {
        let chosen = self.answers.get("FieldRad").and_then(Value::as_str).unwrap_or_default();
        let shown_url = chosen == "b" && self.answers.contains_key("FieldUrl");
        let score = match chosen {
            "a" => 5,
            "b" => 1,
            _ => 0,
        };
        self.score = score + if shown_url { 2 } else { 0 };
        let is_screened = is_handed_in || !self.eligibility.is_empty();
        if is_screened && self.has_form {
            self.eligibility = if self.score >= 5 { "eligible" } else { "ineligible" };
        }
    }

    /// Where an entry that is shown differs from what it must be.
    pub(crate) fn difference(&self, shown: &Value) -> Option<String> {
        let mut answers = BTreeMap::new();
        for answer in shown["entry_fields"].as_array().into_iter().flatten() {
            let value = answer.get("values").unwrap_or(&answer["value"]);
            answers.insert(answer["slug"].as_str().unwrap_or_default().to_owned(), value.clone());
        }
        [
            ("title", json!(self.title), shown["title"].clone()),
            ("status", json!(self.status), shown["status"].clone()),
            ("submitted", json!(self.is_submitted), json!(!shown["submitted"].is_null())),
            ("entrant", json!(self.entrant), shown["entrant"]["slug"].clone()),
            ("category", json!(self.category), shown["category"]["slug"].clone()),
            ("chapter", json!(self.chapter), shown["chapter"]["slug"].clone()),
            ("entry_fields", json!(self.answers), json!(answers)),
            ("moderation_status", json!(self.moderation), shown["moderation_status"].clone()),
            ("custom_deadline", json!(self.deadline), shown["custom_deadline"].clone()),
            ("division", json!(self.division), shown["division"].clone()),
            ("auto_score", json!(self.score), shown["auto_score"].clone()),
            ("eligibility_status", json!(self.eligibility), shown["eligibility_status"].clone()),
            ("tags", json!(self.tags.join(",")), shown["tags"].clone()),
        ]
        .into_iter()
        .find_map(|(member, expected, found)| {
            (expected != found).then(|| format!("{member} is {found}, not {expected}"))
        })
    }
}

fn members(mut wrong: Vec<String>) -> Expected {
    wrong.sort_unstable();
    wrong.dedup();
    Expected::Members(wrong)
}

fn pick<'t>(random: &mut Random, all: &[&'t str]) -> &'t str {
    let at = random.below(u32::try_from(all.len()).unwrap_or(1));
    usize::try_from(at).ok().and_then(|at| all.get(at)).copied().unwrap_or_default()
}

/// The constant that is this text.
fn pick_same(all: &[&'static str], text: &str) -> &'static str {
    all.iter().copied().find(|known| *known == text).unwrap_or_default()
}

fn any_category(random: &mut Random) -> &'static str {
    let slugs: Vec<&str> = CATEGORIES.iter().map(|category| category.slug).chain(["CategZZZ"]).collect();
    pick(random, &slugs)
}

/// A field and an answer that may be none of it.
fn answer(random: &mut Random) -> (&'static str, Value) {
    match random.below(12) {
        0..=2 => ("FieldTxt", json!("two words")),
        3 => ("FieldTxt", json!("three words here")),
        4 => ("FieldTxt", json!("")),
        5 => ("FieldRad", json!("a")),
        6 => ("FieldRad", json!("b")),
        7 => ("FieldRad", json!(if random.below(2) == 0 { Value::Null } else { json!("c") })),
        8 => ("FieldUrl", json!("https://example.org/")),
        9 => ("FieldUrl", json!(if random.below(2) == 0 { "" } else { "http://example.org/" })),
        10 => ("FieldTab", json!({"A1": "x", "B2": "", "A3": "y"})),
        _ => ("FieldTab", json!({"A1": "", "B2": "z", (pick(random, &["B3", "C3"])): "w"})),
    }
}

/// Members of a body, each there or not.
fn changes(random: &mut Random) -> Value {
    let mut body = Map::new();
    let mut perhaps = |name: &str, random: &mut Random, one_in: u32, value: &dyn Fn(&mut Random) -> Value| {
        if random.below(one_in) == 0 {
            body.insert(name.to_owned(), value(random));
        }
    };
    perhaps("status", random, 2, &|random| json!(pick(random, STATUSES)));
    perhaps("title", random, 6, &|random| json!(pick(random, TITLES)));
    perhaps("entrant", random, 8, &|random| json!(pick(random, &[USERS, &["UserZZZZ"]].concat())));
    perhaps("category", random, 6, &|random| json!(any_category(random)));
    perhaps("chapter", random, 6, &|random| json!(pick(random, CHAPTERS)));
    perhaps("moderation_status", random, 6, &|random| json!(pick(random, MODERATION)));
    perhaps("custom_deadline", random, 5, &|random| json!(pick(random, DEADLINES)));
    perhaps("entry_fields", random, 2, &|random| {
        let answers = [answer(random), answer(random)];
        Value::Object(answers.into_iter().map(|(field, value)| (field.to_owned(), value)).collect())
    });
    Value::Object(body)
}

/// The body of a new entry.
fn new(random: &mut Random) -> Value {
    let mut body = changes(random);
    for (name, value) in [
        ("category", any_category(random)),
        ("entrant", pick(random, USERS)),
        ("season", SEASON),
        ("title", pick(random, TITLES)),
    ] {
        body[name] = json!(value);
    }
    body
}

/// A text as a part of a path.
fn encoded(text: &str) -> String {
    let keep = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b',';
    text.bytes().map(|byte| if keep(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
