//! The list of attachments: of entries that are not in the trash.

use list_view::Holds;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{ATTACHMENTS, By, ENTRIES, List, Shown, Table, column, names};
use crate::records::entries::filters;

/// Attachments as views hold them.
pub static LISTED: Table = Table {
    sql: "attachments",
    name: "token",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("tab", Holds::Code),
        column("place", Holds::Number),
        column("created", Holds::Number),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[
    filters::CATEGORY.by(Narrow::Is("entry.category")),
    filters::CHAPTER.by(Narrow::Is("entry.chapter")),
    Filter::new("entry", FilterKind::Slug, "The entry").by(Narrow::Is("entry")),
    filters::SEASON.by(Narrow::Season("entry.season")),
    Filter::new("tab", FilterKind::Slug, "The tab").by(Narrow::Is("tab")),
];
const SORTS: &[(&str, By); 5] = &[
    ("created", By::Number("created")),
    ("entry", By::Text("entry.title_key")),
    ("order", By::Number("place")),
    ("tab", By::Value("tab")),
    ("updated", By::Number("updated")),
];

/// `GET /attachment` (contract, section 4).
pub(crate) static LIST: List = List {
    path: "/attachment",
    spec: ListSpec {
        about_orders: "`entry` is by the title of the entry.",
        always: &[("deleted", "0"), ("entry.deleted", "0")],
        ..ListSpec::new(FILTERS, &names(SORTS))
    },
    table: ATTACHMENTS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown {
        held: &[],
        columns: &["r.doc", "e.title", "f.doc", "e.chapter", "e.entrant"],
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry \
                LEFT JOIN files f ON f.account = r.account AND f.token = r.token",
    },
};
