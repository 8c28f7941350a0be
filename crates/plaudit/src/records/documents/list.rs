//! The list of documents.

use list_view::Holds;

use crate::lists::page::{Filter, FilterKind, ListSpec, Narrow};
use crate::lists::{By, DOCUMENTS, ENTRIES, List, Shown, Table, column, names};
use crate::records::users::list::{DELETED, TRASHED};

/// Documents as views hold them.
pub static LISTED: Table = Table {
    sql: "documents",
    name: "slug",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("recipient", Holds::Code),
        column("reader", Holds::Code),
        column("file", Holds::Text),
        column("file_type", Holds::Code),
        column("name", Holds::Text),
        column("filename", Holds::Text),
        column("shared", Holds::Number),
        column("created_at", Holds::Number),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[
    Filter::new("entrant", FilterKind::Slug, "The user whom it is for").by(Narrow::Is("recipient")),
    DELETED,
    TRASHED,
];
const SORTS: &[(&str, By); 6] = &[
    ("created_at", By::Number("created_at")),
    ("file", By::Text("filename")),
    ("file_type", By::Value("file_type")),
    ("name", By::Text("name")),
    ("shared_with_user", By::Number("shared")),
    ("updated_at", By::Number("updated")),
];

/// `GET /document` (contract, section 4).
pub(crate) static LIST: List = List {
    path: "/document",
    spec: ListSpec {
        about_orders: "`file` is by the name of the file, `name` by the name in the first of its languages.",
        ..ListSpec::new(FILTERS, &names(SORTS))
    },
    table: DOCUMENTS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown {
        held: &[],
        columns: &["r.doc", "e.title", "u.names", "e.chapter"],
        joins: " LEFT JOIN entries e ON e.account = r.account AND e.slug = r.entry \
                LEFT JOIN users u ON u.account = r.account AND u.slug = r.recipient",
    },
};
