//! One transaction over orders and the entries that they pay for.
//!
//! - An entry is `Paid` while a paid order pays for it, and once it was submitted where nothing is due; else it is `Unpaid`
//!   (contract, section 6). An order pays for what it names unless it is a test, in the trash, a credit note, or credited.
//! - What an order comes to is told by [`quote`]. It gets the next number of its series while the account's head is held, so that
//!   numbers have no gaps. An entry has one live order at the most, beside those of differences.
//! - What submitting, withdrawing and moving an entry does to its orders is worked out before the entry is written, and done
//!   after it ([`submission`]).
//! - `payment_success` fires when an order becomes paid, `payment_pending` when one is made that is to be paid, and for each payment
//!   that is stated to be pending.

mod quote;
mod submission;

use std::collections::{BTreeMap, BTreeSet};

use self::quote::{Buyer, Prices};
use crate::log::{Action, Event, Origin};
use crate::program::{Program, Record};
use crate::records::Refusal;
use crate::records::entries::{self, Entry, Payment};
use crate::records::orders::{
    Billed, Catalogue as _, E_INVOICE_STATUSES, Order, PaymentStatus, RelatedData, TransactionStatus, Wanted,
    credit_note, e_invoice_status, store,
};
use crate::records::users;
use db::{Source, Tx};
use kernel::ids::Ids;
use kernel::input::Violations;
use kernel::text::Slug;
use pricing::{Conditions, CreditLine};

pub use submission::Consequences;

/// What orders are made with.
#[derive(Clone, Copy, Debug)]
pub struct Ordering<'o> {
    /// The account's program, fresh within the transaction.
    pub program: &'o Program,
    /// Who acts, and when.
    pub origin: &'o Origin,
    /// Where slugs come from.
    pub ids: &'o Ids,
}

impl Ordering<'_> {
    /// What an order of entries comes to, without a number. They are of one season and of one entrant.
    /// `violations` are what is wrong with the request already.
    pub async fn quote(
        &self,
        tx: &mut Tx,
        wanted: &Wanted,
        entries: &[&Entry],
        mut violations: Violations,
    ) -> Result<Order, Refusal> {
        let (program, account) = (self.program, self.program.id);
        let Some(first) = entries.first() else { return Err(violations.into()) };
        let is_of_one_season = entries.iter().all(|entry| entry.season == first.season);
        let is_of_one_entrant = entries.iter().all(|entry| entry.entrant == first.entrant);
        if !is_of_one_season {
            violations.add("entries", "must be of one season");
        }
        if !is_of_one_entrant {
            violations.add("entries", "must be of one entrant");
        }
        if !(is_of_one_season && is_of_one_entrant) {
            return Err(violations.into());
        }
        let (season, user) = (first.season, first.entrant);
        let found = users::store::find(account, Source::Snapshot(tx), user).await?.ok_or_else(missing)?;
        let is_entrant = Prices::of(program, season).has_entrant_price()
            && store::has_entrant_line(account, Source::Snapshot(tx), (season, user)).await?;
        let discount = quote::discount(program, season, &wanted.discount_code);
        let limits = discount.map(|discount| (discount.limit, discount.limit_per_user)).unwrap_or_default();
        let counted = match limits {
            (None, None) => pricing::Uses::default(),
            limits => store::uses(account, Source::Snapshot(tx), (season, &wanted.discount_code), user, limits).await?,
        };
        let (member_number, is_tax_exempt) = (found.member_number, found.tax_exempt);
        let buyer = Buyer { user, member_number, is_tax_exempt, is_entrant, uses: counted };
        Ok(quote::order(program, wanted, entries, (&buyer, user), (self.origin.at, violations))?)
    }

    /// Makes an order of entries that are locked; gives it with its revision and its document. `violations` are what is wrong with the
    /// request already.
    pub async fn place(
        &self,
        tx: &mut Tx,
        wanted: &Wanted,
        entries: &[&Entry],
        mut violations: Violations,
    ) -> Result<(Order, (i64, String)), Refusal> {
        // Neither a limit of a discount nor the one live order of an entry is overrun by another order at the same time.
        tx.head(self.program.id).await?;
        let slugs: Vec<Slug> = entries.iter().map(|entry| entry.slug).collect();
        if !wanted.test {
            for (entry, order) in store::live_orders(self.program.id, Source::Snapshot(tx), &slugs).await? {
                violations.add("entries", format!("{entry} is on the order {order} already"));
            }
        }
        let order = self.quote(tx, wanted, entries, violations).await?;
        if order.items.is_empty() {
            return Err(Refusal::State("Nothing is to be paid: no price is for these entries.".to_owned()));
        }
        let titles = entries.iter().map(|entry| (entry.slug, entry.title.clone())).collect();
        let (order, written) = self.insert(tx, order, titles).await?;
        refresh_payment_status(tx, self.program, self.origin, &slugs, false).await?;
        Ok((order, written))
    }

    /// Gives an order its slug and its number, and writes it; the entries that it names have these titles.
    async fn insert(
        &self,
        tx: &mut Tx,
        order: Order,
        titles: BTreeMap<Slug, String>,
    ) -> Result<(Order, (i64, String)), Refusal> {
        let tax = order.tax_rate_details.and_then(|tax| self.program.tax(tax));
        self.insert_shown(tx, order, &RelatedData { tax, titles }).await
    }

    async fn insert_shown(
        &self,
        tx: &mut Tx,
        order: Order,
        related: &RelatedData,
    ) -> Result<(Order, (i64, String)), Refusal> {
        let account = self.program.id;
        let slug = loop {
            let slug = self.ids.slug();
            if !store::is_taken(tx, account, slug).await? {
                break slug;
            }
        };
        tx.head(account).await?;
        let last = store::last_number(tx, account, order.series()).await?;
        let invoice_number = order.series().number(last.saturating_add(1));
        let mut order = Order { slug, invoice_number, ..order };
        order.payment.e_invoice_status = e_invoice_status_of(tx, self.program, &order).await?.to_owned();
        let is_due = order.payment.payment_status == PaymentStatus::AwaitingPayment;
        let event = match (order.test, order.credits) {
            (false, None) if is_due => Some(Event::PaymentPending),
            (false, None) => Some(Event::PaymentSuccess),
            _ => None,
        };
        let written = store::insert(tx, account, self.origin, event.as_slice(), (&order, related)).await?;
        Ok((order, written))
    }

    /// Credits lines of an order, which is locked: makes the credit note, and notes it on the order. Gives the credit note.
    pub async fn credit(
        &self,
        tx: &mut Tx,
        (before, doc): &store::Locked,
        (lines, reason): (&[CreditLine], String),
    ) -> Result<(Order, (i64, String)), Refusal> {
        let order = &before.value;
        let note = credit_note(order, lines, reason, (order.slug, self.origin.at));
        let made = self.insert_shown(tx, note, &store::related(doc)?).await?;
        let after = order.after_credit(lines).map_err(|error| quote::fault_of("amount", &error))?;
        change(tx, self.program, self.origin, (before, doc.clone()), &after).await?;
        Ok(made)
    }
}

fn missing() -> Refusal {
    Refusal::Failed("an order is made of no entry, or of that of a user who does not exist".to_owned())
}

/// Whether an order can be sent as an electronic invoice.
async fn e_invoice_status_of(tx: &mut Tx, program: &Program, order: &Order) -> Result<&'static str, Refusal> {
    let purchaser = users::store::find(program.id, Source::Snapshot(tx), order.user).await?.ok_or_else(missing)?;
    let purchaser = (purchaser.name(), purchaser.email.unwrap_or_default());
    let credited = match order.credits {
        Some(credited) => store::billed(program.id, Source::Snapshot(tx), credited.as_str()).await?,
        None => None,
    };
    let credited = credited.map(|found| (found.order.invoice_number, found.order.created_at));
    Ok(e_invoice_status(&Billed { order: order.clone(), credited, purchaser }, program))
}

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
    let mut after = Order { updated: origin.at, ..after.clone() };
    // What a file states in words of its own stays.
    let is_ours = E_INVOICE_STATUSES.contains(&before.value.payment.e_invoice_status.as_str());
    if is_ours && before.value.billing != after.billing {
        after.payment.e_invoice_status = e_invoice_status_of(tx, program, &after).await?.to_owned();
    }
    let events = events(&before.value, &after);
    let written = store::change(tx, program.id, origin, (action, &events), (&after, &doc)).await?;
    let moved: Vec<Slug> = paid_otherwise(Some(&before.value), &after).into_iter().collect();
    refresh_payment_status(tx, program, origin, &moved, false).await?;
    Ok(written)
}

/// The entries that an order is for, or pays for, after a change only or before it only.
pub fn paid_otherwise(before: Option<&Order>, after: &Order) -> BTreeSet<Slug> {
    let items = before.into_iter().chain([after]).flat_map(|order| &order.items);
    let named: BTreeSet<Slug> = items.filter_map(|item| item.entry).collect();
    let was = |entry| before.map_or((false, false), |before| standing(before, entry));
    named.into_iter().filter(|entry| was(*entry) != standing(after, *entry)).collect()
}

/// Whether an order is for an entry, and whether it pays for it.
fn standing(order: &Order, entry: Slug) -> (bool, bool) {
    let is_paid = order.payment.payment_status == PaymentStatus::Paid;
    let is_live = order.is_live_for(entry);
    (is_live, is_live && is_paid)
}

/// The events of a change of an order.
fn events(before: &Order, after: &Order) -> Vec<Event> {
    let pending = |order: &Order| {
        let payments = order.payments.iter();
        payments.filter(|payment| payment.status == TransactionStatus::Pending).count()
    };
    let is_paid = |order: &Order| order.payment.payment_status == PaymentStatus::Paid;
    let success = !is_paid(before) && is_paid(after) && !after.is_fully_credited();
    let success = success.then_some(Event::PaymentSuccess);
    let waits = (pending(after) > pending(before)).then_some(Event::PaymentPending);
    success.into_iter().chain(waits).collect()
}

/// Writes the payment status of entries as their orders give it, where it is another one.
pub async fn refresh_payment_status(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    named: &[Slug],
    is_imported: bool,
) -> Result<(), Refusal> {
    if named.is_empty() {
        return Ok(());
    }
    let paid = store::paid_entries(tx, program.id, named).await?;
    let live = store::live_orders(program.id, Source::Snapshot(tx), named).await?;
    let live: BTreeSet<Slug> = live.into_iter().map(|(entry, _)| entry).collect();
    for (slug, status) in entries::store::payment_statuses(tx, program.id, named).await? {
        let by_orders = if paid.contains(&slug) { Some(Payment::Paid) } else { None };
        let by_orders = by_orders.or_else(|| live.contains(&slug).then_some(Payment::Unpaid));
        if by_orders == Some(status) {
            continue;
        }
        let Some(stored) = entries::store::find_any_for_update(tx, program.id, slug).await? else { continue };
        let head = stored.head()?;
        let payment_status = match by_orders {
            Some(status) => status,
            None if submission::is_in_force(&head, stored.deleted) && is_free(tx, program, origin, &head).await? => {
                Payment::Paid
            }
            None => Payment::Unpaid,
        };
        if payment_status != status {
            let written = (payment_status, is_imported);
            entries::store::write_payment_status(tx, program, origin, (&stored, &head), written).await?;
        }
    }
    Ok(())
}

/// Whether no price is for an entry.
async fn is_free(tx: &mut Tx, program: &Program, origin: &Origin, entry: &Entry) -> Result<bool, Refusal> {
    let prices = Prices::of(program, entry.season);
    let Some(currency) = prices.default_currency(program).filter(|_| !prices.is_empty()) else { return Ok(true) };
    let is_free_to = |is_member| {
        let conditions = Conditions { currency, now: origin.at, is_member, has_paid_as_entrant: true };
        // A price that cannot be paid in the currency is one all the same.
        prices.items(&[entry], &conditions).is_ok_and(|items| items.is_empty())
    };
    let [to_members, to_others] = [true, false].map(is_free_to);
    if to_members == to_others {
        return Ok(to_others);
    }
    let entrant = users::store::find(program.id, Source::Snapshot(tx), entry.entrant).await?.ok_or_else(missing)?;
    Ok(if entrant.member_number.is_empty() { to_others } else { to_members })
}
