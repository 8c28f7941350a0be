//! The operations of orders.

mod items;
mod payment;
mod place;
mod refund;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Sight;
use crate::http::list::person;
use crate::http::{ApiError, Body, Caller, Path, Reader, Reply, Writer, Writing};
use crate::order_flow;
use crate::program::Record;
use crate::records::orders::list::LIST;
use crate::records::orders::store::{self, Single};
use crate::records::orders::{Changes, Order};
use crate::records::users;
use crate::resources::people_list::people_list;
use crate::services::App;
use db::Tx;
use kernel::json::Object as JsonObject;
use kernel::kind::Kind;
use kernel::text::Slug;

/// The routes of orders.
pub(crate) fn routes() -> OpenApiRouter<App> {
    let about = "A page of orders. Without `order` what was changed last comes first.";
    OpenApiRouter::new()
        .routes(people_list(("GetOrderCollectionV23", "Orders"), about, &LIST, |_, renderer, texts| {
            // Who ordered is shown without the global id.
            Ok(renderer.naming(person(texts[0], texts[1], "")?).item(texts[2], None)?)
        }))
        .routes(routes!(show, update, delete))
        .routes(items::route())
        .routes(routes!(place::quote))
        .routes(routes!(place::place))
        .routes(routes!(payment::record))
        .routes(routes!(refund::refund))
}

/// An order, with its payments and, for a credit note, the order that it credits.
#[utoipa::path(get, path = "/order/{slug}", operation_id = "GetOrderV23", tag = "Orders")]
pub async fn show(caller: Caller, Path(slug): Path<Slug>, _: Reader) -> Result<Reply, ApiError> {
    let Single { document, revision, purchaser, .. } = seen(&caller, slug).await?;
    Ok(Reply::ok(document, revision).showing(purchaser))
}

/// An order that the caller sees.
async fn seen(caller: &Caller, slug: Slug) -> Result<Single, ApiError> {
    let access = caller.access();
    let read = store::show(&caller.app().db, caller.account(), slug, access.chapters()).await?;
    let (_, found) = read.filter(|(version, _)| *version == caller.program().version).ok_or(ApiError::Stale)?;
    found.filter(|found| access.order(found.order.user, found.is_of_chapters)).ok_or(ApiError::NotFound)
}

/// Changes what the body names; everything else keeps its value. `payment_status` paid records a manual payment of the rest;
/// `awaiting_payment` takes manual payments back.
#[utoipa::path(
    put, path = "/order/{slug}", operation_id = "PutOrderV23", tag = "Orders", request_body = ref("UpdateOrder")
)]
pub async fn update(caller: Caller, Path(slug): Path<Slug>, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_update(tx, writing))).await
}

/// An order that is not in the trash, locked, with its document.
async fn live<S>(tx: &mut Tx, writing: &Writing<S>, slug: Slug) -> Result<(Record<Order>, String), ApiError> {
    store::find_for_update(tx, writing.account(), slug).await?.ok_or(ApiError::NotFound)
}

async fn write_update(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let (before, doc) = live(tx, writing, *slug).await?;
    let changes = Changes::read(body, &writing.program.context)?;
    let after = changes.apply(&before.value, writing.origin.at)?.map_err(ApiError::State)?;
    precondition(tx, writing, (&before, &doc)).await?;
    finish(tx, writing, (&before, doc), &after).await
}

/// [`Writing::precondition`] of an order.
async fn precondition<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    (before, doc): (&Record<Order>, &str),
) -> Result<(), ApiError> {
    if !writing.compares_what_is_shown() {
        return writing.precondition(before.revision);
    }
    let purchaser = users::store::person(tx, writing.account(), before.value.user).await?;
    let document = store::single(&before.value, doc);
    writing.precondition_seen((&document, None, Sight::Whole), purchaser.as_slice())
}

/// Writes an order, and shows it.
async fn finish<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    before: (&Record<Order>, String),
    after: &Order,
) -> Result<Reply, ApiError> {
    let written = order_flow::change(tx, &writing.program, &writing.origin, before, after).await?;
    reply(tx, writing, after, written, false).await
}

/// An order that was written, as a single read shows it; 201 where it is new.
async fn reply<S>(
    tx: &mut Tx,
    writing: &Writing<S>,
    order: &Order,
    (revision, doc): (i64, String),
    is_new: bool,
) -> Result<Reply, ApiError> {
    let purchaser = users::store::person(tx, writing.account(), order.user).await?;
    let document = store::single(order, &doc);
    let reply = if is_new {
        Reply::created(document, revision, Kind::Order, order.slug.as_str())
    } else {
        Reply::ok(document, revision)
    };
    Ok(reply.showing(purchaser))
}

/// Puts an order into the trash, as long as nothing was paid on it.
#[utoipa::path(delete, path = "/order/{slug}", operation_id = "DeleteOrderV23", tag = "Orders")]
pub async fn delete(caller: Caller, Path(slug): Path<Slug>, _: Writer) -> Result<Reply, ApiError> {
    caller.write(slug, |tx, writing| Box::pin(write_delete(tx, writing))).await
}

async fn write_delete(tx: &mut Tx, writing: &Writing<Slug>) -> Result<Reply, ApiError> {
    let (before, doc) = live(tx, writing, *writing.state).await?;
    if let Err(why) = before.value.check_deletable() {
        return Err(ApiError::State(why.to_owned()));
    }
    precondition(tx, writing, (&before, &doc)).await?;
    let after = Order { deleted: true, ..before.value.clone() };
    order_flow::change(tx, &writing.program, &writing.origin, (&before, doc), &after).await?;
    Ok(Reply::NoContent)
}
