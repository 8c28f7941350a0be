//! The list of assignments: of entries that are not in the trash.
//!
//! - `state` tells assignments of archived entries from the others: `current` and `none` are without them, `archived` and `only`
//!   have them alone.
//! - `deleted` and `trashed` are two vocabularies for one thing, as in the list of users.

use list_view::Holds;

use super::{AssignmentSlug, Method, Status};
use crate::lists::page::{Ask, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::lists::{ASSIGNMENTS, By, ENTRIES, List, Shown, Table, Values, column, names};
use crate::program::Program;
use crate::records::entries::filters;
use crate::records::users::list::{DELETED, TRASHED};
use kernel::text::Slug;

/// Assignments as views hold them.
pub static LISTED: Table = Table {
    sql: "assignments",
    name: "slug",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("judge", Holds::Code),
        column("role", Holds::Code),
        column("score_set", Holds::Code),
        column("method", Holds::Code),
        column("status", Holds::Code),
        column("conflicted", Holds::Flag),
        column("created", Holds::Number),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
        column("panels", Holds::Set),
    ],
    sets: &[Values { column: "panels", sql: "assignment_panels", record: "slug", value: "panel", unless: "" }],
};

const FILTERS: &[Filter] = &[
    Filter::new("slug", FilterKind::Letters { count: AssignmentSlug::LENGTH }, "The assignment")
        .by(Narrow::By(of_slug)),
    Filter::new("status", FilterKind::OneOf(Status::NAMES), "Where the sheet stands").by(Narrow::Is("status")),
    filters::CATEGORY.by(Narrow::Is("entry.category")),
    filters::CHAPTER.by(Narrow::Is("entry.chapter")),
    Filter::new("judge", FilterKind::Slug, "The judge").by(Narrow::Is("judge")),
    Filter::new("method", FilterKind::OneOf(Method::NAMES), "What the assignment is").by(Narrow::Is("method")),
    Filter::new("panel", FilterKind::Slug, "A panel that assigns").by(Narrow::Has("panels")),
    Filter::new("score_set", FilterKind::Slug, "The score set").by(Narrow::Is("score_set")),
    filters::SEASON.by(Narrow::Season("entry.season")),
    Filter::new(
        "state",
        FilterKind::OneOf(&["current", "archived", "all", "only", "none"]),
        "Of which entries: `current` or `none` for those that are not archived, `archived` or `only` for those that are, `all`",
    )
    .with_default("current")
    .by(Narrow::By(of_state)),
    filters::TAG.by(Narrow::Has("entry.tags")),
    DELETED,
    TRASHED,
];
const SORTS: &[(&str, By); 3] =
    &[("method", By::Value("method")), ("status", By::Value("status")), ("updated", By::Number("updated"))];

/// `GET /assignment` (contract, section 4).
pub(crate) static LIST: List = List {
    path: "/assignment",
    spec: ListSpec { always: &[("entry.deleted", "0")], ..ListSpec::new(FILTERS, &names(SORTS)) },
    table: ASSIGNMENTS,
    sorts: SORTS,
    default_sort: By::Number("updated"),
    shown: Shown {
        held: &[],
        columns: &["r.doc", "e.title", "e.category", "e.chapter", "e.form", "u.names"],
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry \
                LEFT JOIN users u ON u.account = r.account AND u.slug = r.judge",
    },
};

/// Whether the entry is archived.
fn of_state(query: &ListQuery, _: &Program) -> Vec<Ask> {
    let is_archived = match query.word("state") {
        Some("all") => return Vec::new(),
        Some("archived" | "only") => "1",
        _ => "0",
    };
    vec![Ask::Is("entry.archived", is_archived.to_owned())]
}

/// What a slug says of an assignment.
fn of_slug(query: &ListQuery, _: &Program) -> Vec<Ask> {
    let Some(text) = query.text("slug") else { return Vec::new() };
    let Some(slug) = AssignmentSlug::parse(text) else { return vec![Ask::Never] };
    let other = |other: Option<Slug>| other.map_or_else(String::new, |slug| slug.to_string());
    vec![
        Ask::Is("entry", slug.entry().to_string()),
        Ask::Is("judge", other(slug.judge())),
        Ask::Is("role", other(slug.role())),
        Ask::Is("score_set", slug.score_set().to_string()),
    ]
}
