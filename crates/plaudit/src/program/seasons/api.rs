//! The operations of seasons, which read only.

use axum::Router;
use axum::routing::get;

use super::{Season, document};
use crate::app::App;
use crate::http::page::{ListSpec, list_parameters};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Of, SetupList, columns};

/// The routes of seasons.
pub fn routes() -> Router<App> {
    Router::new().route("/season", get(list)).route("/season/{slug}", get(show))
}

const CELLS: &[(&str, Of<Season>); 5] = &[
    ("created", Of::Time(|season| season.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Translated(|season, _| Some(&season.name))),
    ("status", Of::Word(|season| season.status.name())),
    ("updated", Of::Time(|season| season.updated)),
];

/// `GET /season` (contract, section 4).
static LIST: SetupList<Season> = SetupList {
    path: "/season",
    spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(&[], &["created", "name", "status", "updated"]) },
    cells: CELLS,
    columns: &columns(CELLS),
};
list_parameters!(Query, LIST.spec);

/// A page of seasons. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/season",
    operation_id = "GetSeasonCollectionV23",
    tag = "Seasons",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("SeasonPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    listing::page(&caller, raw.as_deref(), &LIST, document).await
}

/// A season.
#[utoipa::path(
    get,
    path = "/season/{slug}",
    operation_id = "GetSeasonV23",
    tag = "Seasons",
    responses(
        (status = 200, description = "The season", body = ref("Season")),
    ),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let season = caller.program().seasons.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, season.revision, document(&season.value)).await
}
