//! The list of contributors: of entries that are not in the trash.

use list_view::Holds;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{By, CONTRIBUTORS, ENTRIES, List, Shown, Table, column, names};
use crate::records::entries::{self, filters};

/// Contributors as views hold them.
pub static LISTED: Table = Table {
    sql: "contributors",
    name: "slug",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("tab", Holds::Code),
        column("created", Holds::Number),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[
    Filter::new("entry", FilterKind::Slug, "The entry").by(Narrow::Is("entry")),
    Filter::new("tab", FilterKind::Slug, "The tab").by(Narrow::Is("tab")),
    filters::STATUS.by(Narrow::Is("entry.status")),
    filters::PAYMENT_STATUS.by(Narrow::Stands("entry.payment", entries::PAYMENTS)),
    filters::MODERATION.by(Narrow::Is("entry.moderation")),
    filters::REVIEW_STATUS.by(Narrow::Is("entry.review_key")),
    filters::TAG.by(Narrow::Has("entry.tags")),
    filters::CATEGORY.by(Narrow::Is("entry.category")),
    filters::CHAPTER.by(Narrow::Is("entry.chapter")),
    filters::SEASON.by(Narrow::Season("entry.season")),
];
const SORTS: &[(&str, By); 4] = &[
    ("entry", By::Text("entry.title_key")),
    ("tab", By::Value("tab")),
    ("created", By::Number("created")),
    ("updated", By::Number("updated")),
];

/// `GET /contributor` (contract, section 4).
const LIST: List = List {
    path: "/contributor",
    spec: ListSpec {
        about_orders: "`entry` is by the title of the entry.",
        always: &[("deleted", "0"), ("entry.deleted", "0")],
        ..ListSpec::new(FILTERS, &names(SORTS))
    },
    table: CONTRIBUTORS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown {
        held: &[],
        columns: &["r.doc", "e.title", "e.season", "e.chapter", "e.entrant"],
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry",
    },
};

/// Sorted by what contributors have.
pub(crate) static NAMED: List = LIST;
/// Sorted also by the answers to a field.
pub(crate) static BY_FIELD: List = List { spec: ListSpec { orders_by_field: true, ..LIST.spec }, ..LIST };
