//! The list of attachments: of entries that are not in the trash.

use list_view::Holds;

use crate::http::page::{Filter, FilterKind, ListSpec};
use crate::kind::Kind;
use crate::list::{ATTACHMENTS, By, ENTRIES, List, Narrow, Shown, Table, column};

/// Attachments as views hold them.
pub static LISTED: Table = Table {
    kind: Kind::Attachment,
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

/// `GET /attachment` (contract, section 4).
pub(super) static LIST: List = List {
    path: "/attachment",
    spec: ListSpec::new(
        &[
            Filter::new("category", FilterKind::Slug),
            Filter::new("chapter", FilterKind::Slug),
            Filter::new("entry", FilterKind::Slug),
            Filter::new("season", FilterKind::SlugOrAll),
            Filter::new("tab", FilterKind::Slug),
        ],
        &["created", "entry", "order", "tab", "updated"],
    ),
    table: ATTACHMENTS,
    filters: &[
        ("category", Narrow::Is("entry.category")),
        ("chapter", Narrow::Is("entry.chapter")),
        ("entry", Narrow::Is("entry")),
        ("season", Narrow::Season("entry.season")),
        ("tab", Narrow::Is("tab")),
    ],
    always: &[("deleted", "0"), ("entry.deleted", "0")],
    sorts: &[
        ("created", By::Number("created")),
        ("entry", By::Text("entry.title_key")),
        ("order", By::Number("place")),
        ("tab", By::Value("tab")),
        ("updated", By::Number("updated")),
    ],
    shown: Shown {
        columns: "r.doc, e.title, f.doc",
        count: 3,
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry \
                LEFT JOIN files f ON f.account = r.account AND f.token = r.token",
    },
};
