//! One transaction over an order and the entries that it pays for.
//!
//! - An entry is `Paid` while a paid order names it that is no test, is not in the trash and is no credit note; else it is `Unpaid`
//!   (contract, section 6). It is refreshed whenever an order begins or ceases to pay for it.
//! - `payment_success` fires when an order becomes paid, `payment_pending` for each payment that is stated to be pending.

use crate::log::{Action, Event, Origin};
use crate::program::{Program, Record};
use crate::records::Refusal;
use crate::records::entries::{self, Entry, Payment};
use crate::records::orders::{Order, PaymentStatus, TransactionStatus, store};
use db::Tx;
use kernel::text::Slug;

/// Writes an order and the payment status of its entries; gives its revision and its document. An order without a change is not
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
    if pays(&before.value) != pays(&after) {
        let mut named: Vec<Slug> = after.entries().into_iter().map(|(entry, _)| entry).collect();
        named.dedup();
        refresh_payment_status(tx, program, origin, &named).await?;
    }
    Ok(written)
}

/// Whether an order pays for its entries.
fn pays(order: &Order) -> bool {
    let is_paid = order.payment.payment_status == PaymentStatus::Paid;
    is_paid && !order.test && !order.deleted && order.credits.is_none()
}

/// The events of a change of an order.
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

/// Writes the payment status of entries as their orders give it.
async fn refresh_payment_status(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    named: &[Slug],
) -> Result<(), Refusal> {
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
