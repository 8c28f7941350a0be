//! The list of review tasks: of entries that are not in the trash.

use list_view::Holds;

use crate::lists::page::{Ask, Filter, FilterKind, ListQuery, ListSpec, Narrow};
use crate::lists::{By, ENTRIES, List, REVIEW_TASKS, Shown, Table, Values, column};
use crate::program::review_stages::Decision;
use crate::program::{NAME_LENGTH, Program};
use crate::records::review_tasks::reviewer_key;

/// The time of a decision that there is not: behind all that lists are asked for.
pub(super) const NO_TIME: i64 = i64::MAX;

/// Review tasks as views hold them.
pub static LISTED: Table = Table {
    sql: "review_tasks",
    name: "token",
    columns: &[
        column("entry", Holds::Reference(ENTRIES)),
        column("review_stage", Holds::Code),
        column("decision", Holds::Code),
        column("action_at", Holds::Number),
        column("created", Holds::Number),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
        column("reviewers", Holds::Set),
    ],
    sets: &[Values {
        column: "reviewers",
        sql: "review_task_reviewers",
        record: "token",
        value: "reviewer",
        unless: "",
    }],
};

const FILTERS: &[Filter] = &[
    Filter::new("action_at", FilterKind::Date, "The time of the decision").by(Narrow::Within("action_at")),
    Filter::new("created_at", FilterKind::Date, "The time at which the task was made").by(Narrow::Within("created")),
    Filter::new("updated_at", FilterKind::Date, "The time of the last change").by(Narrow::Within("updated")),
    Filter::new("decision", FilterKind::OneOf(Decision::NAMES), "What was decided").by(Narrow::Is("decision")),
    Filter::new("review_stage", FilterKind::Slug, "The review stage").by(Narrow::Is("review_stage")),
    Filter::new(
        "reviewer",
        FilterKind::Text { max: NAME_LENGTH },
        "The e-mail address or the name of a reviewer, whatever its case",
    )
    .by(Narrow::By(of_reviewer)),
    Filter::season("The season of the entry, or `all`").by(Narrow::Season("entry.season")),
    Filter::deleted().by(Narrow::Lifecycle("deleted")),
];

/// `GET /review-task` (contract, section 4).
pub(crate) static LIST: List = List {
    path: "/review-task",
    spec: ListSpec { always: &[("entry.deleted", "0")], ..ListSpec::new(FILTERS, &[]) },
    table: REVIEW_TASKS,
    sorts: &[],
    default_sort: By::Number("updated"),
    shown: Shown {
        held: &[],
        columns: &["r.doc", "e.title", "e.category", "e.season", "e.chapter"],
        joins: " JOIN entries e ON e.account = r.account AND e.slug = r.entry",
    },
};

fn of_reviewer(query: &ListQuery, _: &Program) -> Vec<Ask> {
    query.text("reviewer").map(|reviewer| Ask::Has("reviewers", vec![reviewer_key(reviewer)])).into_iter().collect()
}
