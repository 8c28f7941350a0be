//! One transaction over an order and the entries that it pays for.
//!
//! - An entry is `Paid` while a paid order names it that is no test, is not in the trash and is no credit note; else it is `Unpaid`
//!   (contract, section 6). It follows with every change of its orders.
//! - An order that becomes paid tells `payment_success`, and one that is told of a pending payment `payment_pending`.

use crate::log::{Action, Event, Origin};
use crate::program::{Program, Record};
use crate::records::Refusal;
use crate::records::entries::{self, Entry, Payment};
use crate::records::orders::{Order, PaymentStatus, TransactionStatus, store};
use db::Tx;
use kernel::text::Slug;

/// Writes what became of an order, and what follows for its entries; gives its revision and its document. What is as it was is not
/// written.
pub async fn change(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (before, doc): (&Record<Order>, String),
    after: &Order,
) -> Result<(i64, String), Refusal> {
    if before.value == *after {
        return Ok((before.revision, doc));
    }
    let action = if after.deleted { Action::Trashed } else { Action::Updated };
    let after = Order { updated: origin.at, ..after.clone() };
    let events = events(&before.value, &after);
    let written = store::change(tx, program.id, origin, (action, &events), (&after, &doc)).await?;
    let mut named: Vec<Slug> = after.entries().into_iter().map(|(entry, _)| entry).collect();
    named.dedup();
    follow(tx, program, origin, &named).await?;
    Ok(written)
}

/// What a change of an order tells.
fn events(before: &Order, after: &Order) -> Vec<Event> {
    let pending = |order: &Order| {
        let payments = order.payments.iter();
        payments.filter(|payment| payment.status == TransactionStatus::Pending).count()
    };
    let is_paid = |order: &Order| order.payment.payment_status == PaymentStatus::Paid;
    let success = (!is_paid(before) && is_paid(after)).then_some(Event::PaymentSuccess);
    let waits = (pending(after) > pending(before)).then_some(Event::PaymentPending);
    success.into_iter().chain(waits).collect()
}

/// Has entries be paid or not as their orders are.
async fn follow(tx: &mut Tx, program: &Program, origin: &Origin, named: &[Slug]) -> Result<(), Refusal> {
    let paid = store::paid_entries(tx, program.id, named).await?;
    for slug in named {
        let Some(stored) = entries::store::find_any_for_update(tx, program.id, *slug).await? else { continue };
        let head = stored.head()?;
        let payment_status = if paid.contains(slug) { Payment::Paid } else { Payment::Unpaid };
        if head.payment_status != payment_status {
            let after = Entry { payment_status, ..head.clone() };
            entries::store::write_head(tx, program, origin, (&stored, &head), after, stored.deleted).await?;
        }
    }
    Ok(())
}
