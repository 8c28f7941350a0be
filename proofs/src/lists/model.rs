//! What the lists of people's records are by definition: filters and sorts as functions of a record and the records around
//! it, and a list as what is left and sorted of all records.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

/// All records of an account as a program file has them, by kind and slug or token. A copy shares the records.
#[derive(Clone, Default)]
pub(crate) struct World(BTreeMap<&'static str, BTreeMap<String, Arc<Value>>>);

/// What a query asks: the parameters in order.
pub(crate) type Query = Vec<(&'static str, String)>;

/// What records are sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Number(i64),
    Text(String),
}

type Holds = fn(&World, &Value, &str) -> bool;
type Sort = fn(&World, &Value) -> Key;
type Shows = fn(&World, &Value) -> Value;

/// A list by definition.
pub(crate) struct List {
    /// Its path.
    pub(crate) path: &'static str,
    /// The kind of its records.
    pub(crate) kind: &'static str,
    /// The member that names a record.
    pub(crate) name: &'static str,
    /// What holds of a record where these filters are left out, and of all records.
    pub(crate) otherwise: fn(&World, &Value, &Query) -> bool,
    /// The filters.
    pub(crate) filters: &'static [(&'static str, Holds)],
    /// The orders; the first is that of a list without one.
    pub(crate) sorts: &'static [(&'static str, Sort)],
    /// What a record of the list shows, by JSON pointer.
    pub(crate) shows: &'static [(&'static str, Shows)],
}

impl World {
    /// The records of a kind.
    pub(crate) fn all(&self, kind: &str) -> impl Iterator<Item = (&String, &Arc<Value>)> {
        self.0.get(kind).into_iter().flatten()
    }

    /// A record; null where there is none.
    pub(crate) fn get(&self, kind: &str, name: &str) -> &Value {
        self.0.get(kind).and_then(|records| records.get(name)).map_or(&Value::Null, |record| record)
    }

    /// Adds or replaces a record.
    pub(crate) fn put(&mut self, kind: &'static str, name: &str, record: Value) {
        self.0.entry(kind).or_default().insert(name.to_owned(), Arc::new(record));
    }

    /// Sets members of a record.
    pub(crate) fn set(&mut self, kind: &'static str, name: &str, members: &[(&str, Value)]) {
        let mut record = self.get(kind, name).clone();
        for (member, value) in members {
            record[*member] = value.clone();
        }
        self.put(kind, name, record);
    }

    fn entry<'w>(&'w self, child: &Value) -> &'w Value {
        self.get("entry", text(child, "entry"))
    }

    fn active_season(&self) -> &str {
        let active = self.all("season").find(|(_, season)| season["status"] == "active");
        active.map_or("", |(slug, _)| slug)
    }

    /// The name of a record of the set-up.
    fn called(&self, kind: &str, slug: &str) -> &str {
        self.get(kind, slug)["name"]["en_GB"].as_str().unwrap_or_default()
    }

    /// The seasons in which a user has an entry, by their status.
    fn is_in(&self, user: &Value, season: impl Fn(&str, &Value) -> bool) -> bool {
        let entries = self.all("entry").filter(|(_, entry)| entry["entrant"] == user["slug"] && !is(entry, "deleted"));
        entries.map(|(_, entry)| text(entry, "season")).any(|slug| season(slug, self.get("season", slug)))
    }

    /// The counts of entries by chapter, category and status, for a season or all of them.
    pub(crate) fn summary(&self, season: &str) -> BTreeMap<(String, String), i64> {
        let mut counts = BTreeMap::new();
        let season = if season.is_empty() { self.active_season() } else { season };
        for (_, entry) in self.all("entry") {
            if is(entry, "deleted") || is(entry, "archived") || (season != "all" && entry["season"] != season) {
                continue;
            }
            for group in [String::new(), text(entry, "chapter").to_owned(), text(entry, "category").to_owned()] {
                for status in [String::new(), text(entry, "status").to_owned()] {
                    *counts.entry((group.clone(), status)).or_default() += 1;
                }
            }
        }
        counts
    }
}

/// A member that is a text; empty where it is none.
pub(crate) fn text<'r>(record: &'r Value, member: &str) -> &'r str {
    record[member].as_str().unwrap_or_default()
}

fn is(record: &Value, flag: &str) -> bool {
    record[flag] == true
}

/// A time in microseconds.
pub(crate) fn time(text: &str) -> i64 {
    text.parse::<Timestamp>().map_or(i64::MIN, Timestamp::as_microsecond)
}

/// A text as lists compare it.
pub(crate) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The first microsecond of a time or day, and the first one behind it.
fn span(value: &str) -> (i64, i64) {
    const DAY: i64 = 86_400_000_000;
    if value.len() == 10 {
        let begin = time(&format!("{value}T00:00:00.000000Z"));
        (begin, begin + DAY)
    } else {
        (time(value), time(value) + 1)
    }
}

fn number(record: &Value, member: &str, factor: f64) -> Key {
    #[allow(clippy::cast_possible_truncation, reason = "amounts are small")]
    Key::Number((record[member].as_f64().unwrap_or_default() * factor).round() as i64)
}

fn words(record: &Value, member: &str) -> Key {
    Key::Text(text(record, member).to_owned())
}

fn moment(record: &Value, member: &str) -> Key {
    Key::Number(time(text(record, member)))
}

fn folded(record: &Value, member: &str) -> Key {
    Key::Text(fold(text(record, member)))
}

fn value_of<'q>(query: &'q Query, name: &str) -> Option<&'q str> {
    query.iter().find(|(filter, _)| *filter == name).map(|(_, value)| value.as_str())
}

fn lifecycle(record: &Value, flag: &str, value: &str) -> bool {
    match value {
        "only" => is(record, flag),
        "all" | "included" => true,
        _ => !is(record, flag),
    }
}

fn season(world: &World, record: &Value, value: Option<&str>) -> bool {
    match value {
        Some("all") => true,
        Some(season) => record["season"] == season,
        None => record["season"] == world.active_season(),
    }
}

fn has_tag(entry: &Value, tag: &str) -> bool {
    text(entry, "tags").split(',').any(|held| held.trim() == tag)
}

fn is_priced(world: &World, entry: &Value, price: &str) -> bool {
    world.all("order").any(|(_, order)| {
        let items = order["items"].as_array().into_iter().flatten();
        !is(order, "deleted")
            && !is(order, "test")
            && items.into_iter().any(|item| item["entry"] == entry["slug"] && item["price"] == price)
    })
}

fn is_paid(entry: &Value, value: &str) -> bool {
    (entry["payment_status"] == "Paid") == (value == "paid")
}

/// A person's whole name.
pub(crate) fn name_of(user: &Value) -> String {
    format!("{} {}", text(user, "first_name"), text(user, "last_name")).trim().to_owned()
}

/// What a contributor answers to the field of the proofs: nothing first, then the numbers.
fn answer(contributor: &Value, field: &str) -> Key {
    let answer = contributor["fields"][field].as_f64();
    #[allow(clippy::cast_possible_truncation, reason = "answers are small")]
    Key::Number(answer.map_or(i64::MIN, |number| (number * 100.0).round() as i64))
}

/// The field of contributors that lists are sorted by.
pub(crate) const FIELD: &str = "FieldNum";

/// Orders.
pub(crate) static ORDERS: List = List {
    path: "/order",
    kind: "order",
    name: "slug",
    otherwise: |world, order, query| {
        season(world, order, value_of(query, "season"))
            && lifecycle(order, "deleted", value_of(query, "deleted").unwrap_or_default())
    },
    filters: &[
        ("status", |_, order, value| order["payment_status"] == value),
        ("test", |_, order, value| is(order, "test") == (value == "only")),
        ("season", |_, _, _| true),
        ("deleted", |_, _, _| true),
    ],
    sorts: &[
        ("", |_, order| moment(order, "updated")),
        ("created_at", |_, order| moment(order, "created_at")),
        ("invoice_number", |_, order| Key::Number(text(order, "invoice_number").parse().unwrap_or_default())),
        ("payment_method", |_, order| words(order, "payment_method")),
        ("payment_status", |_, order| words(order, "payment_status")),
        ("season", |world, order| Key::Text(world.called("season", text(order, "season")).to_owned())),
        ("total", |_, order| number(order, "total", 100.0)),
    ],
    shows: &[
        ("/invoice_number", |_, order| order["invoice_number"].clone()),
        ("/payment_status", |_, order| order["payment_status"].clone()),
    ],
};

/// Entries.
pub(crate) static ENTRIES: List = List {
    path: "/entry",
    kind: "entry",
    name: "slug",
    otherwise: |world, entry, query| {
        season(world, entry, value_of(query, "season"))
            && lifecycle(entry, "archived", value_of(query, "archived").unwrap_or_default())
            && lifecycle(entry, "deleted", value_of(query, "deleted").unwrap_or_default())
    },
    filters: &[
        ("entrant", |_, entry, value| entry["entrant"] == value),
        ("moderation", |_, entry, value| entry["moderation_status"] == value),
        ("payment_status", |_, entry, value| is_paid(entry, value)),
        ("price", is_priced),
        ("review_status", |_, entry, value| entry["review_status"] == value),
        ("status", |_, entry, value| entry["status"] == value),
        ("title", |_, entry, value| fold(text(entry, "title")).contains(&fold(value))),
        ("updated_at[before]", |_, entry, value| time(text(entry, "updated")) < span(value).0),
        ("updated_at[after]", |_, entry, value| time(text(entry, "updated")) >= span(value).1),
        ("updated_at[on]", |_, entry, value| (span(value).0..span(value).1).contains(&time(text(entry, "updated")))),
        ("updated_at[between]", |_, entry, value| {
            let (from, until) = value.split_once(',').unwrap_or_default();
            (span(from).0..span(until).1).contains(&time(text(entry, "updated")))
        }),
        ("category", |_, entry, value| entry["category"] == value),
        ("chapter", |_, entry, value| entry["chapter"] == value),
        ("form", |_, entry, value| entry["form"] == value),
        ("season", |_, _, _| true),
        ("tag", |_, entry, value| has_tag(entry, value)),
        ("archived", |_, _, _| true),
        ("deleted", |_, _, _| true),
    ],
    sorts: &[
        ("", |_, entry| moment(entry, "updated")),
        ("updated", |_, entry| moment(entry, "updated")),
        ("category", |world, entry| Key::Text(fold(world.called("category", text(entry, "category"))))),
        ("chapter", |world, entry| Key::Text(fold(world.called("chapter", text(entry, "chapter"))))),
        ("applicant", |world, entry| Key::Text(fold(&name_of(world.get("user", text(entry, "entrant")))))),
        ("local_id", |_, entry| number(entry, "local_id", 1.0)),
        ("parent_category", |world, entry| {
            let category = world.get("category", text(entry, "category"));
            Key::Text(fold(world.called("category", text(category, "parent"))))
        }),
        ("title", |_, entry| folded(entry, "title")),
    ],
    shows: &[
        ("/title", |_, entry| entry["title"].clone()),
        ("/status", |_, entry| entry["status"].clone()),
        ("/chapter/slug", |_, entry| entry["chapter"].clone()),
        ("/category/name", |world, entry| world.get("category", text(entry, "category"))["name"].clone()),
        ("/entrant/slug", |_, entry| entry["entrant"].clone()),
        ("/entrant/name", |world, entry| name_of(world.get("user", text(entry, "entrant"))).into()),
    ],
};

/// Users.
pub(crate) static USERS: List = List {
    path: "/user",
    kind: "user",
    name: "slug",
    otherwise: |_, user, query| {
        let words = ["deleted", "trashed"].map(|name| value_of(query, name));
        let is_shown = |word: &&str| lifecycle(user, "deleted", word);
        if words == [None, None] { !is(user, "deleted") } else { words.iter().flatten().all(is_shown) }
    },
    filters: &[
        ("active_in_season", |world, user, value| world.is_in(user, |slug, _| slug == value)),
        ("season_joined", |_, user, value| user["season_joined"] == value),
        ("confirmation", |_, user, value| (user["confirmation"] == "Confirmed") == (value == "confirmed")),
        ("entries", |world, user, value| {
            let has = |status: &str| world.is_in(user, |_, season| season["status"] == status);
            match value {
                "current_season" => has("active"),
                "none_current_season" => !has("active"),
                "archived_season" => has("archived"),
                _ => !world.is_in(user, |_, _| true),
            }
        }),
        ("language", |_, user, value| user["language"] == value),
        ("role", |_, user, value| user["roles"].as_array().is_some_and(|roles| roles.iter().any(|role| role == value))),
        ("deleted", |_, _, _| true),
        ("trashed", |_, _, _| true),
    ],
    sorts: &[
        ("", |_, user| moment(user, "updated")),
        ("updated", |_, user| moment(user, "updated")),
        ("confirmed_at", |_, user| moment(user, "confirmed_at")),
        ("created_at", |_, user| moment(user, "created_at")),
        ("created_by", |_, user| words(user, "created_by")),
        ("email", |_, user| Key::Text(text(user, "email").to_lowercase())),
        ("first_name", |_, user| folded(user, "first_name")),
        ("last_name", |_, user| folded(user, "last_name")),
        ("mobile", |_, user| words(user, "mobile")),
        ("name", |_, user| Key::Text(fold(&name_of(user)))),
    ],
    shows: &[
        ("/first_name", |_, user| user["first_name"].clone()),
        ("/name", |_, user| name_of(user).into()),
        ("/updated", |_, user| user["updated"].clone()),
    ],
};

/// Attachments.
pub(crate) static ATTACHMENTS: List = List {
    path: "/attachment",
    kind: "attachment",
    name: "token",
    otherwise: |world, child, query| {
        let entry = world.entry(child);
        !is(child, "deleted") && !is(entry, "deleted") && season(world, entry, value_of(query, "season"))
    },
    filters: &[
        ("category", |world, child, value| world.entry(child)["category"] == value),
        ("chapter", |world, child, value| world.entry(child)["chapter"] == value),
        ("entry", |_, child, value| child["entry"] == value),
        ("season", |_, _, _| true),
        ("tab", |_, child, value| child["tab"] == value),
    ],
    sorts: &[
        ("", |_, child| moment(child, "updated")),
        ("updated", |_, child| moment(child, "updated")),
        ("created", |_, child| moment(child, "created")),
        ("entry", |world, child| folded(world.entry(child), "title")),
        ("order", |_, child| number(child, "order", 1.0)),
        ("tab", |_, child| words(child, "tab")),
    ],
    shows: CHILD,
};

const CHILD: &[(&str, Shows)] = &[
    ("/entry/slug", |_, child| child["entry"].clone()),
    ("/entry/title", |world, child| world.entry(child)["title"].clone()),
    ("/tab/slug", |_, child| child["tab"].clone()),
    ("/updated", |_, child| child["updated"].clone()),
];

/// Contributors.
pub(crate) static CONTRIBUTORS: List = List {
    path: "/contributor",
    kind: "contributor",
    name: "slug",
    otherwise: ATTACHMENTS.otherwise,
    filters: &[
        ("entry", |_, child, value| child["entry"] == value),
        ("tab", |_, child, value| child["tab"] == value),
        ("status", |world, child, value| world.entry(child)["status"] == value),
        ("payment_status", |world, child, value| is_paid(world.entry(child), value)),
        ("moderation", |world, child, value| world.entry(child)["moderation_status"] == value),
        ("review_status", |world, child, value| world.entry(child)["review_status"] == value),
        ("tag", |world, child, value| has_tag(world.entry(child), value)),
        ("category", |world, child, value| world.entry(child)["category"] == value),
        ("chapter", |world, child, value| world.entry(child)["chapter"] == value),
        ("season", |_, _, _| true),
    ],
    sorts: &[
        ("", |_, child| moment(child, "updated")),
        ("updated", |_, child| moment(child, "updated")),
        ("created", |_, child| moment(child, "created")),
        ("entry", |world, child| folded(world.entry(child), "title")),
        ("tab", |_, child| words(child, "tab")),
        (FIELD, |_, child| answer(child, FIELD)),
    ],
    shows: CHILD,
};

fn is_within(record: &Value, member: &str, value: &str) -> bool {
    let (from, until) = value.split_once(',').unwrap_or((value, value));
    record[member].is_string() && (span(from).0..span(until).1).contains(&time(text(record, member)))
}

fn is_before(record: &Value, member: &str, value: &str) -> bool {
    record[member].is_string() && time(text(record, member)) < span(value).0
}

fn is_after(record: &Value, member: &str, value: &str) -> bool {
    record[member].is_string() && time(text(record, member)) >= span(value).1
}

fn is_reviewer(task: &Value, value: &str) -> bool {
    let reviewers = task["reviewer"].as_array().into_iter().flatten();
    reviewers
        .into_iter()
        .any(|one| [&one["name"], &one["email"]].iter().any(|name| name.as_str().map(fold) == Some(fold(value))))
}

/// Review tasks.
pub(crate) static REVIEW_TASKS: List = List {
    path: "/review-task",
    kind: "review_task",
    name: "token",
    otherwise: |world, task, query| {
        let entry = world.entry(task);
        let is_asked = lifecycle(task, "deleted", value_of(query, "deleted").unwrap_or_default());
        is_asked && !is(entry, "deleted") && season(world, entry, value_of(query, "season"))
    },
    filters: &[
        ("action_at[before]", |_, task, value| is_before(task, "action_at", value)),
        ("action_at[after]", |_, task, value| is_after(task, "action_at", value)),
        ("action_at[on]", |_, task, value| is_within(task, "action_at", value)),
        ("action_at[between]", |_, task, value| is_within(task, "action_at", value)),
        ("created_at[before]", |_, task, value| is_before(task, "created", value)),
        ("created_at[after]", |_, task, value| is_after(task, "created", value)),
        ("updated_at[on]", |_, task, value| is_within(task, "updated", value)),
        ("updated_at[between]", |_, task, value| is_within(task, "updated", value)),
        ("decision", |_, task, value| task["decision"] == value),
        ("review_stage", |_, task, value| task["review_stage"] == value),
        ("reviewer", |_, task, value| is_reviewer(task, value)),
        ("season", |_, _, _| true),
        ("deleted", |_, _, _| true),
    ],
    sorts: &[("", |_, task| moment(task, "updated"))],
    shows: &[
        ("/entry/title", |world, task| world.entry(task)["title"].clone()),
        ("/category/slug", |world, task| world.entry(task)["category"].clone()),
        ("/season/slug", |world, task| world.entry(task)["season"].clone()),
        ("/decision", |_, task| task["decision"].clone()),
        ("/updated", |_, task| task["updated"].clone()),
    ],
};

/// All lists.
pub(crate) static LISTS: [&List; 6] = [&ORDERS, &ENTRIES, &USERS, &ATTACHMENTS, &CONTRIBUTORS, &REVIEW_TASKS];

impl List {
    /// The list by definition: the records that a query selects, by their keys, in order.
    pub(crate) fn expected<'w>(
        &self,
        world: &'w World,
        query: &Query,
        order: &str,
        is_descending: bool,
    ) -> Vec<(Key, &'w str, &'w Value)> {
        let holds = |record: &Value| {
            (self.otherwise)(world, record, query)
                && query.iter().all(|(name, value)| {
                    let filter = self.filters.iter().find(|(filter, _)| filter == name);
                    filter.is_none_or(|(_, holds)| holds(world, record, value))
                })
        };
        let sort = self.sorts.iter().find(|(name, _)| *name == order).unwrap_or(&self.sorts[0]).1;
        let selected = world.all(self.kind).filter(|(_, record)| holds(record));
        let mut found: Vec<_> =
            selected.map(|(name, record)| (sort(world, record), name.as_str(), &**record)).collect();
        found.sort_by(|one, other| compare((&one.0, one.1), (&other.0, other.1), is_descending));
        found
    }
}

/// The order of two records of a list. Ties go by name, ascending in both directions.
pub(crate) fn compare(one: (&Key, &str), other: (&Key, &str), is_descending: bool) -> Ordering {
    let by_key = one.0.cmp(other.0);
    (if is_descending { by_key.reverse() } else { by_key }).then_with(|| one.1.cmp(other.1))
}
