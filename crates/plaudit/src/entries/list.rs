//! The list of entries.
//!
//! - `title` holds where the title contains the text, both after case folding and by their first 512 characters. `tag` is
//!   the whole tag. `price` holds where a line of an order that is not in the trash names the entry at that price.
//! - `category`, `chapter` and `parent_category` sort by name in the account's default language after case folding; entries
//!   of a category without a parent come first.

use list_view::Holds;

use super::{STATUS_LENGTH, TITLE_LENGTH};
use crate::http::page::{Filter, FilterKind, ListSpec};
use crate::kind::Kind;
use crate::list::{By, ENTRIES, List, Narrow, Shown, Table, Values, column};
use crate::program::Program;
use crate::text::{Slug, Translated, folded};

use super::document::MEMBERS;

/// Entries as views hold them.
pub static LISTED: Table = Table {
    kind: Kind::Entry,
    sql: "entries",
    name: "slug",
    columns: &[
        column("local_id", Holds::Number),
        column("season", Holds::Code),
        column("category", Holds::Code),
        column("chapter", Holds::Code),
        column("form", Holds::Code),
        column("entrant", Holds::Code),
        column("status", Holds::Code),
        column("moderation", Holds::Code),
        column("payment", Holds::Code),
        column("review_key", Holds::Code),
        column("title_key", Holds::Text),
        column("entrant_key", Holds::Text),
        column("updated", Holds::Number),
        column("archived", Holds::Flag),
        column("deleted", Holds::Flag),
        column("tags", Holds::Set),
        column("prices", Holds::Set),
    ],
    sets: &[
        Values { column: "tags", sql: "entry_tags", record: "slug", value: "tag", unless: "" },
        Values { column: "prices", sql: "order_entries", record: "entry", value: "price", unless: "deleted" },
    ],
};

const STATUSES: &[&str] = &["submitted", "in_progress", "resubmission_required", "resubmitted"];
/// The values of `payment_status`, with what is stored.
pub const PAYMENTS: &[(&str, &str)] = &[("paid", "Paid"), ("awaiting_payment", "Unpaid")];

/// `GET /entry` (contract, section 4).
const LIST: List = List {
    path: "/entry",
    spec: ListSpec::new(
        &[
            Filter::new("entrant", FilterKind::Slug),
            Filter::new("moderation", FilterKind::OneOf(&["approved", "undecided", "rejected"])),
            Filter::new("payment_status", FilterKind::OneOf(&["paid", "awaiting_payment"])),
            Filter::new("price", FilterKind::Slug),
            Filter::new("review_status", FilterKind::Text { max: STATUS_LENGTH }),
            Filter::new("status", FilterKind::OneOf(STATUSES)),
            Filter::new("title", FilterKind::Text { max: TITLE_LENGTH }),
            Filter::new("updated_at", FilterKind::Date),
            Filter::new("category", FilterKind::Slug),
            Filter::new("chapter", FilterKind::Slug),
            Filter::new("form", FilterKind::Slug),
            Filter::new("season", FilterKind::SlugOrAll),
            Filter::new("tag", FilterKind::Text { max: TITLE_LENGTH }),
            Filter::new("archived", FilterKind::OneOf(&["only", "all", "none"])),
            Filter::new("deleted", FilterKind::OneOf(&["only", "included", "none"])),
            Filter::new("include", FilterKind::ManyOf(&MEMBERS)),
        ],
        &["category", "chapter", "applicant", "local_id", "parent_category", "title", "updated"],
    ),
    table: ENTRIES,
    filters: &[
        ("entrant", Narrow::Is("entrant")),
        ("moderation", Narrow::Is("moderation")),
        ("payment_status", Narrow::Stands("payment", PAYMENTS)),
        ("price", Narrow::Has("prices")),
        ("review_status", Narrow::Is("review_key")),
        ("status", Narrow::Is("status")),
        ("title", Narrow::Contains("title_key")),
        ("updated_at", Narrow::Within("updated")),
        ("category", Narrow::Is("category")),
        ("chapter", Narrow::Is("chapter")),
        ("form", Narrow::Is("form")),
        ("season", Narrow::Season("season")),
        ("tag", Narrow::Has("tags")),
        ("archived", Narrow::Lifecycle("archived")),
        ("deleted", Narrow::Lifecycle("deleted")),
        ("include", Narrow::Nothing),
    ],
    always: &[],
    sorts: &[
        ("category", By::Named("category", category)),
        ("chapter", By::Named("chapter", chapter)),
        ("applicant", By::Text("entrant_key")),
        ("local_id", By::Number("local_id")),
        ("parent_category", By::Named("category", parent)),
        ("title", By::Text("title_key")),
        ("updated", By::Number("updated")),
    ],
    shown: Shown { columns: "r.doc", count: 1, joins: "" },
};

/// Without the members of the second document.
pub(super) static PLAIN: List = LIST;
/// With members of the second document.
pub(super) static DETAILED: List = List { shown: Shown { columns: "r.doc, r.detail", count: 2, joins: "" }, ..LIST };

fn called(program: &Program, name: Option<&Translated>) -> String {
    name.map_or_else(String::new, |name| folded(name.in_locale(program.account.default_language)))
}

fn category(program: &Program, category: Slug) -> String {
    called(program, program.categories.any(category).map(|category| &category.name))
}

fn chapter(program: &Program, chapter: Slug) -> String {
    called(program, program.chapters.any(chapter).map(|chapter| &chapter.name))
}

fn parent(program: &Program, category: Slug) -> String {
    let parent = program.categories.any(category).and_then(|category| category.parent);
    called(program, parent.and_then(|parent| program.categories.any(parent)).map(|parent| &parent.name))
}
