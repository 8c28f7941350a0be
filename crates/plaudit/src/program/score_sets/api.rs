//! The operations of score sets, which read only.

use axum::Router;
use axum::routing::get;

use super::{Mode, document, rules};
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::{Filter, FilterKind, ListQuery, ListSpec, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Listing, is_in_season, is_selected_by_trash};

/// The routes of score sets.
pub fn routes() -> Router<App> {
    Router::new().route("/score-set", get(list)).route("/score-set/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("mode", FilterKind::OneOf(words!(Mode)), "How their entries are judged"),
    Filter::new("form", FilterKind::Slug, "The form"),
    Filter::season("The season, or `all`"),
    Filter::archived(),
    Filter::trashed(),
];
const SPEC: ListSpec = ListSpec::new(FILTERS, &["created", "mode", "name", "updated"]);
list_parameters!(Query, SPEC);

/// A page of score sets. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/score-set",
    operation_id = "GetScoreSetCollectionV23",
    tag = "Score sets",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    let program = caller.program();
    let records = program.score_sets.all().filter(|record| {
        let score_set = &record.value;
        query.word("mode").is_none_or(|mode| mode == score_set.mode().name())
            && query.slug("form").is_none_or(|form| form == score_set.form)
            && is_in_season(&query, program, Some(score_set.season))
            && is_selected_by_trash(&query, "archived", score_set.archived)
            && is_selected_by_trash(&query, "trashed", record.deleted)
    });
    let listing = Listing {
        path: "/score-set",
        query: &query,
        records: records.collect(),
        key: &|score_set, order| rules::key(score_set, order, program),
        document: &|record| document(&record.value),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}

/// A score set.
#[utoipa::path(
    get,
    path = "/score-set/{slug}",
    operation_id = "GetScoreSetV23",
    tag = "Score sets",
    params(("slug" = String, Path, description = "The score set", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The score set"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let score_set = caller.program().score_sets.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, score_set.revision, document(&score_set.value)).await
}
