//! The operations of rounds, which read only.

use axum::Router;
use axum::routing::get;

use super::{RoundType, document, rules};
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::{Filter, FilterKind, ListQuery, ListSpec, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Listing, is_in_season, is_selected_by_trash};

/// The routes of rounds.
pub fn routes() -> Router<App> {
    Router::new().route("/round", get(list)).route("/round/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("type", FilterKind::OneOf(words!(RoundType)), "What they are for"),
    Filter::new("form", FilterKind::Slug, "The form"),
    Filter::season("The season, or `all`"),
    Filter::new("slug", FilterKind::Slug, "The round itself"),
    Filter::trashed(),
];
const SPEC: ListSpec = ListSpec::new(FILTERS, &["created", "end_date", "name", "start_date", "type", "updated"]);
list_parameters!(Query, SPEC);

/// A page of rounds. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/round",
    operation_id = "GetRoundCollectionV23",
    tag = "Rounds",
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
    let records = program.rounds.all().filter(|record| {
        let round = &record.value;
        query.word("type").is_none_or(|kind| kind == round.kind.name())
            && query.slug("form").is_none_or(|form| form == round.form)
            && query.slug("slug").is_none_or(|slug| slug == round.slug)
            && is_in_season(&query, program, Some(round.season))
            && is_selected_by_trash(&query, "trashed", record.deleted)
    });
    let listing = Listing {
        path: "/round",
        query: &query,
        records: records.collect(),
        key: &|round, order| rules::key(round, order, program),
        document: &|record| document(&record.value, program),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}

/// A round.
#[utoipa::path(
    get,
    path = "/round/{slug}",
    operation_id = "GetRoundV23",
    tag = "Rounds",
    params(("slug" = String, Path, description = "The round", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The round"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let round = program.rounds.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, round.revision, document(&round.value, program)).await
}
