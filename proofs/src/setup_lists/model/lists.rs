//! The contract's table of lists (section 4): filters, orders, and what they mean in a program file.

use serde_json::Value;

use super::{Key, Setup, UNKNOWN};

/// A list of the interface.
pub(crate) struct List {
    /// Where it is.
    pub(crate) path: &'static str,
    /// The kind of its records in a program file.
    pub(super) kind: &'static str,
    /// Its filters.
    pub(super) filters: &'static [(&'static str, Choice)],
    /// The values of `order`.
    pub(super) orders: &'static [&'static str],
}

/// What the value of a filter may be.
pub(super) enum Choice {
    /// One of these words.
    Words(&'static [&'static str]),
    /// The slug of a record of this kind.
    Slug(&'static str),
    /// One of these words, or the slug of a record of this kind.
    WordOrSlug(&'static [&'static str], &'static str),
    /// The slug of a season, or `all`.
    Season,
    /// The value of this member of a record.
    Text(&'static str),
}

use Choice::{Season, Slug, Text, WordOrSlug, Words};

const TRASH: Choice = Words(&["only", "all", "none"]);
const DELETED: Choice = Words(&["only", "included", "none"]);
const ACTIVE: Choice = Words(&["active", "inactive"]);

/// The lists of the set-up: the contract's table.
pub(crate) const LISTS: &[List] = &[
    List { path: "/season", kind: "season", filters: &[], orders: &["created", "name", "status", "updated"] },
    List {
        path: "/form",
        kind: "form",
        filters: &[
            ("form_type", Words(&["entry", "report"])),
            ("season", Season),
            ("archived", TRASH),
            ("deleted", DELETED),
        ],
        orders: &[
            "callToAction",
            "chapter_option",
            "content_block",
            "created",
            "name",
            "season",
            "slug",
            "type",
            "updated",
        ],
    },
    List {
        path: "/tax",
        kind: "tax",
        filters: &[],
        orders: &["country", "country_name", "created", "name", "rate", "region", "region_name", "term", "updated"],
    },
    List {
        path: "/round",
        kind: "round",
        filters: &[
            ("type", Words(&["entry", "judge", "feedback"])),
            ("form", Slug("form")),
            ("season", Season),
            ("slug", Slug("round")),
            ("trashed", TRASH),
        ],
        orders: &["created", "end_date", "name", "start_date", "type", "updated"],
    },
    List {
        path: "/score-set",
        kind: "score_set",
        filters: &[
            ("mode", Words(&["qualifying", "top_pick", "vip_judging", "voting", "gallery"])),
            ("form", Slug("form")),
            ("season", Season),
            ("archived", TRASH),
            ("trashed", TRASH),
        ],
        orders: &["created", "mode", "name", "updated"],
    },
    List {
        path: "/field",
        kind: "field",
        filters: &[
            ("conditional", WordOrSlug(&["only", "none"], "field")),
            ("protection", Words(&["standard", "elevated", "maximum"])),
            ("resource", Words(&["entries", "users", "attachments", "contributors"])),
            ("type", Words(FIELD_TYPES)),
            ("category", Slug("category")),
            ("form", Slug("form")),
            ("tab", Slug("tab")),
            ("season", Season),
            ("deleted", DELETED),
        ],
        orders: &[
            "title",
            "resource",
            "type",
            "updated",
            "created",
            "categories",
            "order",
            "tab",
            "form",
            "auto_scoring",
            "category_count",
        ],
    },
    List {
        path: "/chapter",
        kind: "chapter",
        filters: &[("status", ACTIVE), ("season", Season), ("deleted", DELETED)],
        orders: &["created", "name", "season", "status", "updated"],
    },
    List {
        path: "/category",
        kind: "category",
        filters: &[
            ("status", ACTIVE),
            ("chapter", Slug("chapter")),
            ("form", Slug("form")),
            ("parent", Slug("category")),
            ("season", Season),
            ("deleted", DELETED),
        ],
        orders: &[
            "chapter_count",
            "created",
            "divisions",
            "entry_count",
            "form",
            "name",
            "parent",
            "promoted",
            "season",
            "shortcode",
            "status",
            "updated",
        ],
    },
    List {
        path: "/webhook",
        kind: "webhook",
        filters: &[
            ("http_method", Words(&["get", "post"])),
            ("subscription_event", Words(EVENTS)),
            ("url", Text("url")),
        ],
        orders: &["events", "http_method", "notification_emails", "signing_keys", "title", "updated", "url"],
    },
];

/// Some of the events.
pub(super) const EVENTS: &[&str] =
    &["entry_created", "entry_updated", "entry_submitted", "role_granted", "user_updated"];

/// The types of fields.
pub(super) const FIELD_TYPES: &[&str] = &[
    "checkbox",
    "checkboxlist",
    "content",
    "country",
    "currency",
    "date",
    "datetime",
    "drop-down-list",
    "email",
    "file",
    "formula",
    "lookup",
    "numeric",
    "phone",
    "radio",
    "table",
    "text",
    "textarea",
    "time",
    "url",
];

impl List {
    /// Whether one of its filters selects the trash.
    pub(super) fn has_trash(&self) -> bool {
        self.filters.iter().any(|(name, _)| ["deleted", "trashed"].contains(name))
    }

    /// The filters that select as much as can be.
    pub(super) fn widest(&self) -> Vec<(&'static str, String)> {
        let widest = self.filters.iter().filter_map(|(name, _)| {
            let value = match *name {
                "season" | "archived" | "trashed" => "all",
                "deleted" => "included",
                _ => return None,
            };
            Some((*name, value.to_owned()))
        });
        widest.collect()
    }
}

impl Setup {
    /// Values of a filter: every word, and some slugs, one of which no record has.
    pub(super) fn values(&self, choice: &Choice) -> Vec<String> {
        let slugs = |kind: &str| {
            let mut slugs: Vec<String> =
                self.of(kind).take(4).filter_map(|record| record["slug"].as_str().map(str::to_owned)).collect();
            slugs.push(UNKNOWN.to_owned());
            slugs
        };
        match choice {
            Words(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            WordOrSlug(words, kind) => words.iter().map(|word| (*word).to_owned()).chain(slugs(kind)).collect(),
            Slug(kind) => slugs(kind),
            Text(member) => {
                let texts = self.of("webhook").take(4).filter_map(|record| record[*member].as_str().map(str::to_owned));
                texts.chain(["nothing".to_owned()]).collect()
            }
            Season => std::iter::once("all".to_owned()).chain(slugs("season")).collect(),
        }
    }

    /// Whether a filter, or leaving it out, selects a record.
    pub(super) fn selects(&self, list: &List, record: &Value, filter: &str, value: Option<&str>) -> bool {
        let is_flagged = |flag: &str| match value {
            Some("only") => record[flag] == true,
            Some("included" | "all") => true,
            _ => record[flag] != true,
        };
        match filter {
            "deleted" | "trashed" => is_flagged("deleted"),
            "archived" => is_flagged("archived"),
            "season" => match value {
                Some("all") => true,
                value => self.is_in_season(record, value.unwrap_or_else(|| self.active_season())),
            },
            _ => value.is_none_or(|value| match (list.kind, filter) {
                ("form", "form_type") => record["type"] == value,
                ("category", "chapter") => self.is_offered(record, value),
                ("field", "category") => self.is_asked_in(record, value),
                ("field", "form") => self.form_of(record) == Some(value),
                ("field", "conditional") => match (value, record["conditional"]["field"].as_str()) {
                    ("only", field) => field.is_some(),
                    ("none", field) => field.is_none(),
                    (value, field) => field == Some(value),
                },
                ("webhook", "http_method") => record["method"] == value,
                ("webhook", "subscription_event") => has(&record["events"], value),
                _ => record[filter] == value,
            }),
        }
    }

    /// Whether a record is in the list of a season: one that belongs to none is in that of each.
    fn is_in_season(&self, record: &Value, season: &str) -> bool {
        match self.season_of(record) {
            Some(own) => own == season,
            None => self.find("season", season).is_some(),
        }
    }

    /// The season of a record: a field that states none is of its form's.
    fn season_of<'r>(&'r self, record: &'r Value) -> Option<&'r str> {
        let of_form = || self.find("form", self.form_of(record)?)?["season"].as_str();
        record["season"].as_str().or_else(|| if record["kind"] == "field" { of_form() } else { None })
    }

    /// The form of a field, which may follow from its tab.
    fn form_of<'r>(&'r self, field: &'r Value) -> Option<&'r str> {
        field["form"].as_str().or_else(|| self.find("tab", field["tab"].as_str()?)?["form"].as_str())
    }

    /// Whether a category can be chosen in a chapter: it names the chapter, or names none and is of its season.
    fn is_offered(&self, category: &Value, chapter: &str) -> bool {
        let named = category["chapters"].as_array().map_or(&[][..], Vec::as_slice);
        let Some(chapter_of) = self.find("chapter", chapter) else { return false };
        if named.is_empty() {
            chapter_of["season"] == category["season"]
        } else {
            named.iter().any(|slug| slug == chapter)
        }
    }

    /// Whether a field is asked in a category: it names the category or all, and neither its season nor its form is
    /// another one.
    fn is_asked_in(&self, field: &Value, category: &str) -> bool {
        let Some(found) = self.find("category", category) else { return false };
        let is_named = field["categories"]
            .as_array()
            .is_some_and(|named| named.iter().any(|slug| slug == category || slug == "*"));
        let is_same = |one: Option<&str>, other: Option<&str>| one.is_none() || other.is_none() || one == other;
        is_named
            && is_same(self.season_of(field), found["season"].as_str())
            && is_same(self.form_of(field), found["form"].as_str())
    }

    /// What a record is sorted by.
    pub(super) fn key(&self, list: &List, record: &Value, order: &str) -> Key {
        let order = if list.orders.contains(&order) { order } else { "updated" };
        let name_of = |kind: &str| match record[order].as_str().and_then(|slug| self.find(kind, slug)) {
            Some(other) => key_of(&other["name"]),
            None => Key::Absent,
        };
        match (list.kind, order) {
            ("field", "categories" | "category_count" | "form" | "tab") => return self.key_of_field(record, order),
            ("category", "chapter_count" | "entry_count") => return self.count(record, order),
            ("webhook", _) => return key_of_webhook(record, order),
            _ => {}
        }
        match order {
            "season" => name_of("season"),
            "form" => name_of("form"),
            "parent" => name_of("category"),
            "content_block" => name_of("content_block"),
            "slug" => Key::Text(record[order].as_str().unwrap_or_default().to_owned()),
            // A time without a fraction is the beginning of its text with one.
            "created" | "updated" => {
                Key::Text(record[order].as_str().unwrap_or_default().trim_end_matches('Z').to_owned())
            }
            "rate" => Key::Number(ten_thousandths(&record[order])),
            member => key_of(&record[member]),
        }
    }
}

impl Setup {
    /// What a field is sorted by that is no text or number of its own.
    fn key_of_field(&self, field: &Value, order: &str) -> Key {
        // Fields of one form or tab stay together, also where another has the same name.
        let place = |kind: &str, slug: Option<&str>| {
            let found = slug.and_then(|slug| Some((self.find(kind, slug)?, slug)));
            found.map_or(Key::Absent, |(found, slug)| match key_of(&found["name"]) {
                Key::Text(name) => Key::Text(format!("{name}\0{}", folded(slug))),
                other => other,
            })
        };
        let categories = field["categories"].as_array().map_or(&[][..], Vec::as_slice);
        let is_all = categories.iter().any(|slug| slug == "*");
        let live = categories
            .iter()
            .filter_map(|slug| self.find("category", slug.as_str()?))
            .filter(|category| category["deleted"] != true);
        match order {
            "form" => place("form", self.form_of(field)),
            "tab" => place("tab", field["tab"].as_str()),
            // All categories are more than any number of them.
            "category_count" if is_all => Key::Number(i64::MAX),
            "category_count" => Key::Number(i64::try_from(live.count()).unwrap_or_default()),
            _ if is_all => Key::Text(char::MAX.to_string()),
            _ => {
                let name = |category: &Value| folded(category["name"]["en_GB"].as_str().unwrap_or_default());
                let mut names: Vec<String> = live.map(name).collect();
                names.sort_unstable();
                if names.is_empty() { Key::Absent } else { Key::Text(names.join("\0")) }
            }
        }
    }

    /// How many chapters a category names, and how many entries are in it.
    fn count(&self, category: &Value, order: &str) -> Key {
        let count = if order == "chapter_count" {
            category["chapters"].as_array().map_or(0, Vec::len)
        } else {
            self.of("entry").filter(|entry| entry["category"] == category["slug"] && entry["deleted"] != true).count()
        };
        Key::Number(i64::try_from(count).unwrap_or_default())
    }
}

fn has(list: &Value, value: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == value))
}

/// What a webhook is sorted by; of its keys, by how many there are.
fn key_of_webhook(webhook: &Value, order: &str) -> Key {
    let texts =
        |name: &str| webhook[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    match order {
        "events" => Key::Text(texts("events").join(" ")),
        "notification_emails" => {
            let emails = texts(order);
            Key::Text(folded(&format!("{:02} {}", emails.len(), emails.join(" "))))
        }
        "signing_keys" => {
            Key::Number(webhook["replaced_keys"].as_array().map_or(0, Vec::len).try_into().unwrap_or(i64::MAX))
        }
        "http_method" => key_of(&webhook["method"]),
        "title" => key_of(&webhook["name"]),
        "updated" => Key::Text(webhook[order].as_str().unwrap_or_default().trim_end_matches('Z').to_owned()),
        member => key_of(&webhook[member]),
    }
}

/// The key of a member: a number by its value, a text and the English of a translated one without regard to case.
fn key_of(member: &Value) -> Key {
    match member {
        Value::Null => Key::Absent,
        Value::Number(number) => Key::Number(number.as_i64().unwrap_or_default()),
        Value::Object(texts) => Key::Text(folded(texts.get("en_GB").and_then(Value::as_str).unwrap_or_default())),
        other => Key::Text(folded(other.as_str().unwrap_or_default())),
    }
}

fn folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// A percentage with up to four decimals as a whole number.
fn ten_thousandths(rate: &Value) -> i64 {
    let text = rate.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{decimals:0<4}").parse().unwrap_or_default()
}
