//! The operations of orders.

use axum::Router;
use axum::routing::get;

use super::list::LIST;
use crate::app::App;
use crate::http::openapi::Error;
use crate::http::page::ListQuery;
use crate::http::{self, ApiError, Caller, RawQuery, Renderer, Reply};

/// The routes of orders.
pub fn routes() -> Router<App> {
    Router::new().route("/order", get(list))
}

/// A page of orders. Without `order` what was changed last comes first.
#[utoipa::path(
    get,
    path = "/order",
    operation_id = "GetOrderCollectionV23",
    tag = "Orders",
    params(
        ("status" = Option<String>, Query, description = "`paid` or `awaiting_payment`"),
        ("test" = Option<String>, Query, description = "`only` test orders, or `hide` them"),
        ("season" = Option<String>, Query, description = "A season, or `all`; the active season without it"),
        ("deleted" = Option<String>, Query, description = "What is in the trash: `only`, `included`, `none`"),
        ("page" = Option<u32>, Query, description = "The page, from 1"),
        ("per_page" = Option<u32>, Query, description = "Records a page, 1 to 100; 10 without it"),
        ("order" = Option<String>, Query, description = "`created_at`, `invoice_number`, `payment_method`, \
            `payment_status`, `season` or `total`; the time of the last change without it"),
        ("dir" = Option<String>, Query, description = "`asc` or `desc`"),
        ("cursor" = Option<String>, Query, description = "Empty, or the `next_cursor` of a page"),
        ("count" = Option<String>, Query, description = "`none` leaves the total out"),
    ),
    responses(
        (status = 200, description = "The page"),
        (status = 400, description = "The query is wrong", body = Error),
        (status = 401, description = "No key", body = Error),
        (status = 403, description = "The key is not good here", body = Error),
        (status = 429, description = "Too many requests", body = Error),
    ),
    security(("key" = []))
)]
pub async fn list(caller: Caller, RawQuery(raw): RawQuery) -> Result<Reply, ApiError> {
    let query = ListQuery::parse(raw.as_deref(), &LIST.spec)?;
    let show = |renderer: &mut Renderer, texts: &[&str]| {
        renderer.item(texts.first().copied().unwrap_or_default(), None);
        Ok(())
    };
    http::list::page(&caller, raw.as_deref(), (&LIST, &query), "", &show).await
}
