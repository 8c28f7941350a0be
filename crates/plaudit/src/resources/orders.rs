//! The operations of orders.

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{self, ApiError, Caller, RawQuery, Reply};
use crate::lists::page::{ListQuery, list_parameters};
use crate::records::orders::list::LIST;
use crate::render::Renderer;
use crate::services::App;

/// The routes of orders.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

list_parameters!(Query, LIST.spec);

/// A page of orders. Without `order` what was changed last comes first.
#[utoipa::path(get, path = "/order", operation_id = "GetOrderCollectionV23", tag = "Orders", params(Query))]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        // Who ordered is shown without the global id.
        renderer.naming(http::list::person(texts[0], texts[1], "")?).item(texts[2], None);
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), &show).await
}
