//! Payments from outside.

use super::{finish, live, precondition};
use crate::http::{ApiError, Body, Caller, Path, Reply, Writer, Writing};
use crate::records::orders::Transaction;
use db::Tx;
use kernel::input::Members;
use kernel::json::Object as JsonObject;
use kernel::text::Slug;

/// Records what a provider says of a payment, once for each provider and reference: a pending one moves to success or failed, and
/// the same statement again changes nothing. An order is paid when its payments reach its total.
#[utoipa::path(
    post, path = "/order/{slug}/payment", operation_id = "PostOrderPaymentV23", tag = "Orders",
    request_body = ref("CreatePayment"),
    responses((status = 200, description = "The order", body = ref("Order"))),
)]
pub(super) async fn record(
    caller: Caller,
    Path(slug): Path<Slug>,
    _: Writer,
    Body(body): Body,
) -> Result<Reply, ApiError> {
    caller.write((slug, body), |tx, writing| Box::pin(write_payment(tx, writing))).await
}

async fn write_payment(tx: &mut Tx, writing: &Writing<(Slug, JsonObject<'static>)>) -> Result<Reply, ApiError> {
    let (slug, body) = &*writing.state;
    let (before, doc) = live(tx, writing, *slug).await?;
    let mut members = Members::closed(body);
    let stated = Transaction::stated(&mut members, before.value.currency);
    let after = before.value.with_payment(&members.finish().or(stated)?)?;
    if before.value.credits.is_some() {
        return Err(ApiError::State("A credit note takes no payments.".to_owned()));
    }
    precondition(tx, writing, (&before, &doc)).await?;
    finish(tx, writing, (&before, doc), &after).await
}
