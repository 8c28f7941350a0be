//! The operation of taxes, which reads only.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Caller, RawQuery, Reply};
use crate::lists::page::{ListSpec, list_parameters};
use crate::program::taxes::{Tax, document};
use crate::resources::setup_list::{self, Of, SetupList, columns};
use crate::services::App;

/// The routes of taxes.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

const ORDERS: &[&str] =
    &["country", "country_name", "created", "name", "rate", "region", "region_name", "term", "updated"];
const CELLS: &[(&str, Of<Tax>); 10] = &[
    ("country", Of::Text(|tax, _| Some(tax.country.clone()))),
    ("country_name", Of::Text(|tax, _| Some(tax.country_name.clone()))),
    ("created", Of::Time(|tax| tax.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Text(|tax, _| tax.name.clone())),
    ("rate", Of::Number(|tax, _| tax.rate.ten_thousandths().into())),
    ("region", Of::Text(|tax, _| tax.region.clone())),
    ("region_name", Of::Text(|tax, _| tax.region_name.clone())),
    ("term", Of::Text(|tax, _| Some(tax.term.clone()))),
    ("updated", Of::Time(|tax| tax.updated)),
];

/// `GET /tax` (contract, section 4).
static LIST: SetupList<Tax> = SetupList {
    path: "/tax",
    spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(&[], ORDERS) },
    cells: CELLS,
    columns: &columns(CELLS),
};
list_parameters!(Query, LIST.spec);

/// A page of taxes. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/tax",
    operation_id = "GetTaxCollectionV23",
    tag = "Taxes",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("TaxPage")),
    ),
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    setup_list::page(&caller, raw.as_deref(), &LIST, document).await
}
