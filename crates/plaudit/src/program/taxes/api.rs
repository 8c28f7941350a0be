//! The operation of taxes, which reads only.

use axum::Router;
use axum::routing::get;

use super::{document, rules};
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::{ListQuery, ListSpec, list_parameters};
use crate::http::{ApiError, Caller, RawQuery, Reply};
use crate::program::listing::{self, Listing};

/// The routes of taxes.
pub fn routes() -> Router<App> {
    Router::new().route("/tax", get(list))
}

const ORDERS: &[&str] =
    &["country", "country_name", "created", "name", "rate", "region", "region_name", "term", "updated"];
const SPEC: ListSpec = ListSpec::new(&[], ORDERS);
list_parameters!(Query, SPEC);

/// A page of taxes. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/tax",
    operation_id = "GetTaxCollectionV23",
    tag = "Taxes",
    params(Query),
    responses(
        (status = 200, description = "The page"),
        (status = "4XX", description = "Why there is none", body = Error),
    ),
    security(("key" = [])),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &SPEC)?;
    let listing = Listing {
        path: "/tax",
        query: &query,
        records: caller.program().taxes.all().filter(|record| !record.deleted).collect(),
        key: &rules::key,
        document: &|record| document(&record.value),
    };
    listing::reply(&caller, raw.as_deref(), listing).await
}
