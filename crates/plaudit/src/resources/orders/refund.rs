//! Credit notes.

use super::{live, precondition, reply};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::order_flow::Ordering;
use crate::records::orders;
use db::Tx;
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// Gives back lines of an order or an amount of it: makes a credit note, an order of its own with negative amounts.
#[utoipa::path(
    post, path = "/order/{slug}/refund", operation_id = "PostOrderRefundV23", tag = "Orders",
    request_body = ref("CreateRefund"),
    responses((status = 201, description = "The credit note", body = ref("Order"))),
)]
pub(super) async fn refund(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_refund(tx, writing))).await
}

async fn write_refund(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let before = live(tx, writing, *slug).await?;
    let order = &before.0.value;
    if order.credits.is_some() {
        return Err(ApiError::State("A credit note cannot be credited.".to_owned()));
    }
    let (lines, reason) = orders::read_refund(body, order)?;
    precondition(tx, writing, (&before.0, &before.1)).await?;
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let (note, written) = ordering.credit(tx, &before, (&lines, reason)).await?;
    reply(tx, writing, &note, written, true).await
}
