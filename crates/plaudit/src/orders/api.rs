//! The operations of orders.

use axum::Router;
use axum::routing::get;

use super::list::LIST;
use crate::app::App;
use crate::http::page::{ListQuery, list_parameters};
use crate::http::{self, ApiError, Caller, RawQuery, Renderer, Reply};

/// The routes of orders.
pub fn routes() -> Router<App> {
    Router::new().route("/order", get(list))
}

list_parameters!(Query, LIST.spec);

/// A page of orders. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/order",
    operation_id = "GetOrderCollectionV23",
    tag = "Orders",
    params(Query),
    responses(
        (status = 200, description = "The page", body = ref("OrderPage")),
    ),
    security(("key" = []))
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        // Who ordered is shown without the global id.
        renderer.naming(http::list::person(texts[0], texts[1], "")?).item(texts[2], None);
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), &show).await
}
