//! The operations of score sets, which read only.

use axum::Router;
use axum::routing::get;

use super::{Mode, ScoreSet, document};
use crate::app::App;
use crate::http::page::{Filter, FilterKind, ListSpec, Narrow, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Of, SetupList, columns};

/// The routes of score sets.
pub fn routes() -> Router<App> {
    Router::new().route("/score-set", get(list)).route("/score-set/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("mode", FilterKind::OneOf(words!(Mode)), "How their entries are judged").by(Narrow::Is("mode")),
    Filter::new("form", FilterKind::Slug, "The form").by(Narrow::Is("form")),
    Filter::season("The season, or `all`").by(Narrow::Season("season")),
    Filter::archived().by(Narrow::Lifecycle("archived")),
    Filter::trashed().by(Narrow::Lifecycle("deleted")),
];
const CELLS: &[(&str, Of<ScoreSet>); 8] = &[
    ("archived", Of::Flag(|score_set| score_set.archived)),
    ("created", Of::Time(|score_set| score_set.created)),
    ("deleted", Of::Deleted),
    ("form", Of::Slug(|score_set| Some(score_set.form))),
    ("mode", Of::Word(|score_set| score_set.mode().name())),
    ("name", Of::Translated(|score_set, _| Some(&score_set.name))),
    ("season", Of::Slug(|score_set| Some(score_set.season))),
    ("updated", Of::Time(|score_set| score_set.updated)),
];

/// `GET /score-set` (contract, section 4).
static LIST: SetupList<ScoreSet> = SetupList {
    path: "/score-set",
    spec: ListSpec::new(FILTERS, &["created", "mode", "name", "updated"]),
    cells: CELLS,
    columns: &columns(CELLS),
};
list_parameters!(Query, LIST.spec);

/// A page of score sets. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/score-set",
    operation_id = "GetScoreSetCollectionV23",
    tag = "Score sets",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("ScoreSetPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    listing::page(&caller, raw.as_deref(), &LIST, document).await
}

/// A score set.
#[utoipa::path(
    get,
    path = "/score-set/{slug}",
    operation_id = "GetScoreSetV23",
    tag = "Score sets",
    responses(
        (status = 200, description = "The score set", body = ref("ScoreSet")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let score_set = caller.program().score_sets.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, score_set.revision, document(&score_set.value)).await
}
