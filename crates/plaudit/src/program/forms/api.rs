//! The operations of forms, which read only.

use axum::Router;
use axum::routing::get;

use super::{FormType, document, rules};
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::{Filter, FilterKind, ListQuery, ListSpec, list_parameters, words};
use crate::http::{ApiError, Caller, PathSlug, RawQuery, Reply};
use crate::program::listing::{self, Listing, is_in_season, is_selected_by_trash};

/// The routes of forms.
pub fn routes() -> Router<App> {
    Router::new().route("/form", get(list)).route("/form/{slug}", get(show))
}

const FILTERS: &[Filter] = &[
    Filter::new("form_type", FilterKind::OneOf(words!(FormType)), "What they are for"),
    Filter::season("The season, or `all`; a form that belongs to no season is in the list of each"),
    Filter::archived(),
    Filter::deleted(),
];
const ORDERS: &[&str] =
    &["callToAction", "chapter_option", "content_block", "created", "name", "season", "slug", "type", "updated"];
const SPEC: ListSpec = ListSpec::new(FILTERS, ORDERS);
list_parameters!(Query, SPEC);

/// A page of forms. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/form",
    operation_id = "GetFormCollectionV23",
    tag = "Forms",
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
    let kind = query.word("form_type");
    let records = program.forms.all().filter(|record| {
        kind.is_none_or(|kind| kind == record.value.kind.name())
            && is_in_season(&query, program, record.value.season)
            && is_selected_by_trash(&query, "archived", record.value.archived)
            && is_selected_by_trash(&query, "deleted", record.deleted)
    });
    let listing = Listing {
        path: "/form",
        query: &query,
        records: records.collect(),
        key: &|form, order| rules::key(form, order, program),
        document: &|record| document(&record.value, program),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}

/// A form.
#[utoipa::path(
    get,
    path = "/form/{slug}",
    operation_id = "GetFormV23",
    tag = "Forms",
    params(("slug" = String, Path, description = "The form", pattern = "^[A-Za-z]{8}$")),
    responses(
        (status = 200, description = "The form"),
        (status = "4XX", description = "Why it is not shown", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn show(caller: Caller, PathSlug(slug): PathSlug) -> Result<Reply, ApiError> {
    let program = caller.program();
    let form = program.forms.live_record(slug).ok_or(ApiError::NotFound)?;
    listing::show(&caller, form.revision, document(&form.value, program)).await
}
