//! The list of a leaderboard: the entries of a score set with what their sheets come to.
//!
//! - Places are those among the entries of the score set that `category`, `chapter`, `tag` and `archived` select; `entry` only says
//!   which of them is shown.
//! - The first entries of an order by `rank` are the best; an order by `score` begins with the least. Entries without a place come last
//!   in the first, and first in the second.

use list_view::Holds;

use crate::lists::page::{Ask, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::lists::{By, ENTRIES, List, STANDINGS, Shown, Table, column, names};
use crate::program::Program;
use crate::records::entries::filters;
use crate::records::entries::list::{category, chapter};

/// Standings as views hold them.
pub static LISTED: Table = Table {
    sql: "standings",
    name: "slug",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("score_set", Holds::Code),
        column("sheets", Holds::Number),
        column("score", Holds::Text),
        column("division", Holds::Number),
        column("submitted", Holds::Number),
        column("auto_score", Holds::Number),
        column("tags", Holds::Text),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};

const FILTERS: &[Filter] = &[
    Filter::new("score_set", FilterKind::Slug, "The score set").required().by(Narrow::Is("score_set")),
    filters::CATEGORY.by(Narrow::Is("entry.category")),
    filters::CHAPTER.by(Narrow::Is("entry.chapter")),
    Filter::new("entry", FilterKind::Slug, "The entry").by(Narrow::Is("entry")),
    filters::TAG.by(Narrow::Has("entry.tags")),
    Filter::archived().by(Narrow::Lifecycle("entry.archived")),
];
/// The order of places, and that of scores, which is the other way round.
pub(crate) const RANK: &str = "rank";
pub(crate) const SCORE: &str = "score";
const SORTS: &[(&str, By); 12] = &[
    ("category", By::Named("entry.category", category)),
    ("chapter", By::Named("entry.chapter", chapter)),
    ("division", By::Number("division")),
    ("link", By::Text("entry")),
    ("slug", By::Text("entry")),
    ("status", By::Value("entry.status")),
    ("submitted", By::Number("submitted")),
    ("auto_score", By::Number("auto_score")),
    ("title", By::Text("entry.title_key")),
    ("tags", By::Text("tags")),
    (SCORE, By::Text("score")),
    (RANK, By::Text("score")),
];

/// `GET /leaderboard` (contract, section 4).
pub(crate) static LIST: List = List {
    path: "/leaderboard",
    spec: ListSpec {
        about_orders: "`rank` begins with the best, and `score` with the least.",
        always: &[("deleted", "0"), ("entry.deleted", "0")],
        ..ListSpec::new(FILTERS, &names(SORTS))
    },
    table: STANDINGS,
    sorts: SORTS,
    default_sort: By::Number("entry.updated"),
    shown: Shown {
        held: &["score"],
        columns: &["r.slug", "r.doc", "e.doc"],
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry",
    },
};

/// What is asked of the entries among which there are places.
pub(crate) fn selected(query: &ListQuery, program: &Program) -> Vec<Ask> {
    LIST.spec.asks(query, program).into_iter().filter(|ask| !matches!(ask, Ask::Is("entry", _))).collect()
}
