//! The operations of seasons, which read only.

use axum::Router;
use axum::routing::get;

use super::{document, rules};
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::{ListQuery, ListSpec, list_parameters};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Listing};

/// The routes of seasons.
pub fn routes() -> Router<App> {
    Router::new().route("/season", get(list)).route("/season/{slug}", get(show))
}

const SPEC: ListSpec = ListSpec::new(&[], &["created", "name", "status", "updated"]);
list_parameters!(Query, SPEC);

/// A page of seasons. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/season",
    operation_id = "GetSeasonCollectionV23",
    tag = "Seasons",
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
    let listing = Listing {
        path: "/season",
        query: &query,
        records: program.seasons.all().filter(|record| !record.deleted).collect(),
        key: &|season, order| rules::key(season, order, program),
        document: &|record| document(&record.value),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}

/// A season.
#[utoipa::path(
    get,
    path = "/season/{slug}",
    operation_id = "GetSeasonV23",
    tag = "Seasons",
    params(("slug" = String, Path, description = "The season", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The season"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let season = caller.program().seasons.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, season.revision, document(&season.value)).await
}
