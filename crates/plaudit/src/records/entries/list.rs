//! The list of entries.
//!
//! - `title` holds where the title contains the text, both after case folding and by their first 512 characters. `tag` is
//!   the whole tag. `price` holds where a line of an order that is not in the trash names the entry at that price.
//! - `category`, `chapter` and `parent_category` sort by name in the account's default language after case folding; entries
//!   of a category without a parent come first.

use list_view::Holds;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{By, ENTRIES, List, Shown, Table, USERS, Values, column, names};
use crate::program::Program;
use crate::records::entries::document::MEMBERS;
use crate::records::entries::{TITLE_LENGTH, filters};
use kernel::text::{Slug, Translated, folded};

/// Entries as views hold them.
pub static LISTED: Table = Table {
    sql: "entries",
    name: "slug",
    columns: &[
        column("local_id", Holds::Number),
        column("season", Holds::Code),
        column("category", Holds::Code),
        column("chapter", Holds::Code),
        column("form", Holds::Code),
        column("entrant", Holds::Reference(USERS)),
        column("status", Holds::Code),
        column("moderation", Holds::Code),
        column("payment", Holds::Code),
        column("review_key", Holds::Code),
        column("title_key", Holds::Text),
        column("updated", Holds::Number),
        column("archived", Holds::Flag),
        column("deleted", Holds::Flag),
        column("tags", Holds::Set),
        column("prices", Holds::Set),
    ],
    sets: &[
        Values { column: "tags", sql: "entry_tags", record: "slug", value: "tag", unless: "" },
        Values { column: "prices", sql: "order_entries", record: "entry", value: "price", unless: "void" },
    ],
};

/// The values of `payment_status`, with what is stored.
pub const PAYMENTS: &[(&str, &str)] = &[("paid", "Paid"), ("awaiting_payment", "Unpaid")];

const FILTERS: &[Filter] = &[
    Filter::new("entrant", FilterKind::Slug, "The user who owns the entry").by(Narrow::Is("entrant")),
    filters::MODERATION.by(Narrow::Is("moderation")),
    filters::PAYMENT_STATUS.by(Narrow::Stands("payment", PAYMENTS)),
    Filter::new("price", FilterKind::Slug, "A price at which an order names the entry").by(Narrow::Has("prices")),
    filters::REVIEW_STATUS.by(Narrow::Is("review_key")),
    filters::STATUS.by(Narrow::Is("status")),
    Filter::new("title", FilterKind::Text { max: TITLE_LENGTH }, "A part of the title, whatever its case")
        .by(Narrow::Contains("title_key")),
    Filter::new("updated_at", FilterKind::Date, "The time of the last change").by(Narrow::Within("updated")),
    filters::CATEGORY.by(Narrow::Is("category")),
    filters::CHAPTER.by(Narrow::Is("chapter")),
    Filter::new("form", FilterKind::Slug, "The form of the entry").by(Narrow::Is("form")),
    filters::SEASON.by(Narrow::Season("season")),
    filters::TAG.by(Narrow::Has("tags")),
    Filter::archived().by(Narrow::Lifecycle("archived")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
    Filter::new("include", FilterKind::ManyOf(&MEMBERS), "Members of a single read that are shown as well"),
];
const SORTS: &[(&str, By); 7] = &[
    ("category", By::Named("category", category)),
    ("chapter", By::Named("chapter", chapter)),
    ("applicant", By::Text("entrant.name")),
    ("local_id", By::Number("local_id")),
    ("parent_category", By::Named("category", parent)),
    ("title", By::Text("title_key")),
    ("updated", By::Number("updated")),
];

/// What is shown of their entrants.
const ENTRANT: &[&str] = &["entrant", "entrant.names", "entrant.person"];

/// `GET /entry` (contract, section 4).
const LIST: List = List {
    path: "/entry",
    spec: ListSpec::new(FILTERS, &names(SORTS)),
    table: ENTRIES,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown { held: ENTRANT, columns: &["r.doc"], joins: "" },
};

/// Without the members of the second document.
pub(crate) static PLAIN: List = LIST;
/// With members of the second document.
pub(crate) static DETAILED: List =
    List { shown: Shown { held: ENTRANT, columns: &["r.doc", "r.detail"], joins: "" }, ..LIST };

fn called(program: &Program, name: Option<&Translated>) -> String {
    name.map_or_else(String::new, |name| folded(name.in_locale(program.account.default_language)))
}

pub(crate) fn category(program: &Program, category: Slug) -> String {
    called(program, program.categories.any(category).map(|category| &category.name))
}

pub(crate) fn chapter(program: &Program, chapter: Slug) -> String {
    called(program, program.chapters.any(chapter).map(|chapter| &chapter.name))
}

fn parent(program: &Program, category: Slug) -> String {
    let parent = program.categories.any(category).and_then(|category| category.parent);
    called(program, parent.and_then(|parent| program.categories.any(parent)).map(|parent| &parent.name))
}
