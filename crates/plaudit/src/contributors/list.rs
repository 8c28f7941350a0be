//! The list of contributors: of entries that are not in the trash.

use list_view::Holds;

use crate::entries;
use crate::http::page::{Filter, FilterKind, ListSpec};
use crate::kind::Kind;
use crate::list::{By, CONTRIBUTORS, ENTRIES, List, Narrow, Shown, Table, column};

/// Contributors as views hold them.
pub static LISTED: Table = Table {
    kind: Kind::Contributor,
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

/// `GET /contributor` (contract, section 4).
const LIST: List = List {
    path: "/contributor",
    spec: ListSpec::new(
        &[
            Filter::new("entry", FilterKind::Slug),
            Filter::new("tab", FilterKind::Slug),
            Filter::new(
                "status",
                FilterKind::OneOf(&["submitted", "in_progress", "resubmission_required", "resubmitted"]),
            ),
            Filter::new("payment_status", FilterKind::OneOf(&["paid", "awaiting_payment"])),
            Filter::new("moderation", FilterKind::OneOf(&["approved", "undecided", "rejected"])),
            Filter::new("review_status", FilterKind::Text { max: 255 }),
            Filter::new("tag", FilterKind::Text { max: 255 }),
            Filter::new("category", FilterKind::Slug),
            Filter::new("chapter", FilterKind::Slug),
            Filter::new("season", FilterKind::SlugOrAll),
        ],
        &["entry", "tab", "created", "updated"],
    ),
    table: CONTRIBUTORS,
    filters: &[
        ("entry", Narrow::Is("entry")),
        ("tab", Narrow::Is("tab")),
        ("status", Narrow::Is("entry.status")),
        ("payment_status", Narrow::Stands("entry.payment", entries::PAYMENTS)),
        ("moderation", Narrow::Is("entry.moderation")),
        ("review_status", Narrow::Is("entry.review_key")),
        ("tag", Narrow::Has("entry.tags")),
        ("category", Narrow::Is("entry.category")),
        ("chapter", Narrow::Is("entry.chapter")),
        ("season", Narrow::Season("entry.season")),
    ],
    always: &[("deleted", "0"), ("entry.deleted", "0")],
    sorts: &[
        ("entry", By::Text("entry.title_key")),
        ("tab", By::Value("tab")),
        ("created", By::Number("created")),
        ("updated", By::Number("updated")),
    ],
    shown: Shown {
        columns: "r.doc, e.title, e.season",
        count: 3,
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry",
    },
};

/// Sorted by what contributors have.
pub(super) static NAMED: List = LIST;
/// Sorted also by the answers to a field.
pub(super) static BY_FIELD: List = List { spec: ListSpec { orders_by_field: true, ..LIST.spec }, ..LIST };
