//! New orders, and what they would come to.

use super::reply;
use crate::access::{Sight, applicant};
use crate::http::{ApiError, Body, Caller, Reply, Writer, Writing};
use crate::order_flow::Ordering;
use crate::records::entries::{self, Entry};
use crate::records::orders::{Wanted, quoted};
use db::Tx;
use kernel::input::Violations;
use kernel::json::Object as JsonObject;

/// Tells what an order of these entries would come to, line by line, and makes nothing.
#[utoipa::path(
    post, path = "/order/quote", operation_id = "PostOrderQuoteV23", tag = "Orders", request_body = ref("CreateOrder"),
    responses((status = 200, description = "The calculation", body = ref("OrderQuote"))),
)]
pub(super) async fn quote(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_quote(tx, writing))).await
}

async fn write_quote(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (wanted, entries, violations) = wanted(tx, writing).await?;
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let entries: Vec<&Entry> = entries.iter().collect();
    let order = ordering.quote(tx, &wanted, &entries, violations).await?;
    let titles = entries.iter().map(|entry| (entry.slug, entry.title.clone())).collect();
    let document = quoted(&order, &titles);
    // A quote has no revision: what it says is what tells it from others.
    Ok(Reply::ok(document.clone(), 0).naming(&[&document]))
}

/// Makes an order of entries, which are of one season and of one entrant and on no other live order.
#[utoipa::path(
    post, path = "/order", operation_id = "PostOrderV23", tag = "Orders", request_body = ref("CreateOrder"),
    responses((status = 201, description = "The order", body = ref("Order"))),
)]
pub(super) async fn place(caller: Caller, _: Writer, Body(body): Body) -> Result<Reply, ApiError> {
    caller.write(body, |tx, writing| Box::pin(write_order(tx, writing))).await
}

async fn write_order(tx: &mut Tx, writing: &Writing<JsonObject<'static>>) -> Result<Reply, ApiError> {
    let (wanted, entries, violations) = wanted(tx, writing).await?;
    let ordering = Ordering { program: &writing.program, origin: &writing.origin, ids: writing.ids() };
    let entries: Vec<&Entry> = entries.iter().collect();
    let (order, written) = ordering.place(tx, &wanted, &entries, violations).await?;
    reply(tx, writing, &order, written, true).await
}

/// The order that a body asks for, with its entries, locked, and what is wrong with it. Entries that are not seen are unknown.
async fn wanted(
    tx: &mut Tx,
    writing: &Writing<JsonObject<'static>>,
) -> Result<(Wanted, Vec<Entry>, Violations), ApiError> {
    let (mut wanted, mut violations) = Wanted::read(&writing.state, &writing.program.context);
    let is_bookkeeper = writing.access.keeps_books();
    if !is_bookkeeper && wanted.test {
        violations.add("test", applicant::NOT_THEIRS);
    }
    // Whoever locks several entries locks them in one order, so that none waits for another that waits for it.
    wanted.entries.sort_unstable();
    let mut entries = Vec::with_capacity(wanted.entries.len());
    for slug in &wanted.entries {
        let found = entries::store::find_for_update(tx, writing.account(), *slug).await?;
        let head = found.map(|found| found.head()).transpose()?;
        let is_seen = |entry: &Entry| {
            let sight = writing.access.entry(entry.chapter, entry.entrant);
            is_bookkeeper || matches!(sight, Some(Sight::Whole | Sight::Applicant))
        };
        match head.filter(is_seen) {
            Some(entry) => entries.push(entry),
            None => violations.add("entries", format!("{slug} does not exist")),
        }
    }
    Ok((wanted, entries, violations))
}
