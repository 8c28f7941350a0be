//! What becomes of the orders of an entry that is submitted, withdrawn or moved (contract, section 11).
//!
//! - Submitting an entry that has a price makes an order, unless a live one names it: a resubmission makes no second one. It is
//!   billed to where the last order of its entrant was. An entry for which there is no price is paid.
//! - Withdrawing it, which is taking it back or putting it into the trash, puts its order into the trash as long as nothing was paid;
//!   where that has other entries, a credit note takes its lines. What was paid is not touched: it is given back by a refund.
//! - Moving it to where another price is for it makes an order of the difference, or a credit note: first on what earlier
//!   differences made dearer. The terms are those of the order that it is on; an entry is not moved to where the price cannot be paid
//!   in its currency. Only the price of the entry itself follows, not those of tags.
//! - What was refunded by hand is a gift on its own order: it goes with the part of the price that the order stands for, and is made
//!   good neither by a later move nor from another order. Handing an entry in again bills a last difference that was given up unpaid.
//! - Bringing it back from the trash orders it again. An entry that is on no order, although there is a price for it, was paid
//!   elsewhere or not at all: moving it or bringing it back bills nothing.

use std::collections::BTreeMap;

use super::quote::{self, Prices};
use super::{Ordering, change, is_free};
use crate::program::discounts::Reduction;
use crate::records::Refusal;
use crate::records::entries::{Entry, Payment, Status};
use crate::records::orders::store::Locked;
use crate::records::orders::{ENTRY, Order, PaymentStatus, Wanted, store};
use db::{Source, Tx};
use kernel::input::Violations;
use kernel::text::Slug;
use pricing::{
    Asked, Change, Conditions, CreditLine, Difference, Fee, Granted, Item, Off, PriceKind, PricingError, Quote, Tax,
    Taxation, Terms, credit, difference, left,
};

/// What is done to orders once the entry is written.
#[derive(Debug, Default)]
pub struct Consequences {
    /// An order that is made.
    place: Option<Order>,
    /// Orders that are written as they have become.
    write: Vec<Order>,
    /// Lines of orders that are credited.
    credit: Vec<(Slug, Vec<CreditLine>)>,
    reason: &'static str,
}

/// Whether an entry is handed in.
pub(super) fn is_in_force(entry: &Entry, deleted: bool) -> bool {
    let is_handed_in = matches!(entry.status, Status::Submitted | Status::ResubmissionRequired | Status::Resubmitted);
    is_handed_in && !deleted
}

impl Ordering<'_> {
    /// What follows from a change of an entry, which is locked or new, before it is written; whether it is paid is set.
    pub async fn follow(
        &self,
        tx: &mut Tx,
        before: Option<(&Entry, bool)>,
        (after, deleted): (&mut Entry, bool),
    ) -> Result<Consequences, Refusal> {
        let was = before.is_some_and(|(entry, deleted)| is_in_force(entry, deleted));
        let is_restored = before.is_some_and(|(_, deleted)| deleted);
        let of_before = before.filter(|(_, deleted)| !deleted).map(|(entry, _)| entry);
        let place = |entry: &Entry| (entry.category, entry.chapter);
        let is_priced_otherwise = |first: &Entry| {
            let prices = Prices::of(self.program, after.season);
            !prices.is_empty() && !prices.are_same_for(self.program, first, after, self.origin.at)
        };
        let moved = of_before.filter(|first| !deleted && place(first) != place(after) && is_priced_otherwise(first));
        match (was, is_in_force(after, deleted)) {
            // What was on no order before it went into the trash is on none afterwards.
            (false, true) if is_restored && !store::is_ordered(tx, self.program.id, after.slug).await? => {
                Ok(Consequences::default())
            }
            (true, false) => self.withdrawn(tx, (after, deleted)).await,
            (false, false) if deleted && of_before.is_some() => self.withdrawn(tx, (after, deleted)).await,
            (was, is_submitted) => {
                // An entry can be on an order before it is handed in.
                let orders = match moved {
                    Some(_) => store::live_orders_for_update(tx, self.program.id, after.slug).await?,
                    None => Vec::new(),
                };
                match moved {
                    Some(first) if was || !orders.is_empty() => self.moved(tx, &orders, first, after).await,
                    _ if is_submitted && !was => self.submitted(tx, after).await,
                    _ => Ok(Consequences::default()),
                }
            }
        }
    }

    async fn submitted(&self, tx: &mut Tx, entry: &mut Entry) -> Result<Consequences, Refusal> {
        if Prices::of(self.program, entry.season).is_empty() {
            entry.payment_status = Payment::Paid;
            return Ok(Consequences::default());
        }
        let orders = store::live_orders_for_update(tx, self.program.id, entry.slug).await?;
        if !orders.is_empty() {
            let last = store::last_adjustment(tx, self.program.id, entry.slug).await?;
            let is_of_these = |last: &Order| orders.iter().any(|(order, _)| last.adjusts == Some(order.value.slug));
            // What was paid and given back is a gift.
            let is_open = |last: &Order| !last.is_live_for(entry.slug) && !last.has_payments();
            return if last.is_some_and(|last| is_of_these(&last) && is_open(&last)) {
                // An entry that is where it was goes in, whatever has become of its price.
                self.adjust(&orders, entry).map(Result::unwrap_or_default)
            } else {
                Ok(Consequences::default())
            };
        }
        // The limit of a discount is not overrun by another order at the same time.
        tx.head(self.program.id).await?;
        let latest = store::latest_of(self.program.id, Source::Snapshot(tx), entry.entrant).await?;
        let mut billing = latest.map(|order| order.billing).unwrap_or_default();
        billing.comments.clear();
        billing.ip_address.clear();
        let wanted = Wanted { billing, ..Wanted::default() };
        let order = self.quote(tx, &wanted, &[entry], Violations::default()).await.map_err(not_payable)?;
        let is_named = order.items.iter().any(|item| item.entry == Some(entry.slug));
        let is_paid = !is_named || order.payment.payment_status == PaymentStatus::Paid;
        entry.payment_status = if is_paid { Payment::Paid } else { Payment::Unpaid };
        let place = (!order.items.is_empty()).then_some(order);
        Ok(Consequences { place, ..Consequences::default() })
    }

    async fn withdrawn(&self, tx: &mut Tx, (entry, deleted): (&mut Entry, bool)) -> Result<Consequences, Refusal> {
        let mut consequences = Consequences { reason: "The entry was withdrawn.", ..Consequences::default() };
        for locked in store::live_orders_for_update(tx, self.program.id, entry.slug).await? {
            let order = &locked.0.value;
            if order.check_unpaid().is_err() {
                continue;
            }
            let is_for_others = order
                .items
                .iter()
                .filter_map(|item| item.entry)
                .any(|other| other != entry.slug && order.is_live_for(other));
            if !is_for_others && order.credited.is_empty() {
                let after = Order { deleted: true, ..order.clone() };
                consequences.write.push(after);
                continue;
            }
            let asked = if is_for_others {
                lines_left(order, &order.lines_of(entry.slug))
            } else {
                lines_left(order, &all(order))
            };
            if !asked.is_empty() {
                let lines =
                    credit(&order.amounts(), &order.credited, Asked::Lines(&asked)).map_err(|error| cannot(&error))?;
                consequences.credit.push((order.slug, lines));
            }
        }
        if !deleted {
            let paid = store::paid_entries(tx, self.program.id, &[entry.slug]).await?;
            entry.payment_status = if paid.is_empty() { Payment::Unpaid } else { Payment::Paid };
        }
        Ok(consequences)
    }

    async fn moved(
        &self,
        tx: &mut Tx,
        orders: &[Locked],
        before: &Entry,
        after: &mut Entry,
    ) -> Result<Consequences, Refusal> {
        if orders.is_empty() {
            if is_free(tx, self.program, self.origin, before).await? {
                return self.submitted(tx, after).await;
            }
            if is_free(tx, self.program, self.origin, after).await? {
                after.payment_status = Payment::Paid;
            }
        }
        self.adjust(orders, after)?.map_err(|error| cannot(&error))
    }

    /// Orders or credits what an entry costs more or less than its orders bill. The inner error says that its price cannot be paid in
    /// their currency.
    fn adjust(&self, orders: &[Locked], entry: &Entry) -> Result<Result<Consequences, PricingError>, Refusal> {
        let mut billed: Vec<Line<'_>> =
            orders.iter().filter_map(|(order, _)| Line::of(&order.value, entry.slug)).collect();
        // What differences made dearer is credited first.
        billed.sort_by_key(|line| line.order.adjusts.is_some());
        let Some(first) = billed.first().filter(|line| line.order.adjusts.is_none()).copied() else {
            return Ok(Ok(Consequences::default()));
        };
        let order = first.order;
        billed.retain(|line| line.order.slug == order.slug || line.order.adjusts == Some(order.slug));
        let conditions = Conditions {
            currency: order.currency,
            now: self.origin.at,
            is_member: !order.billing.member_number.is_empty(),
            has_paid_as_entrant: true,
        };
        let prices = Prices::of(self.program, entry.season);
        let is = match prices.item(entry, &conditions) {
            Ok(is) => is,
            Err(error) => return Ok(Err(error)),
        };
        let price = billed.last().map_or(order.slug, Line::price);
        let (unit, taken_off) = sum(&billed);
        let was = Item { entry: Some(entry.slug), price, kind: PriceKind::Entry, unit, quantity: 1 };
        // What was credited for a place without a price has the old price still, and stands for nothing.
        if is.is_some_and(|is| is.price == price && (unit > 0 || is.unit == 0)) {
            return Ok(Ok(Consequences::default()));
        }
        let is = is.unwrap_or(Item { unit: 0, ..was });
        let step = Change { was, reduction: taken_off, is };
        let discount = quote::discount(self.program, order.season, &order.discount_code);
        // Of a discount that is not set up any more the line keeps its part.
        let granted = match discount {
            Some(found) => Granted { off: off(&found.reduction), prices: &found.prices },
            None => Granted { off: Off::Amount(0), prices: &[] },
        };
        let terms = terms(order, Some(granted));
        let made = difference(&[step], &terms).map_err(|error| cannot(&error))?;
        let mut consequences = Consequences { reason: "The entry was moved.", ..Consequences::default() };
        match made {
            Difference::Nothing => {}
            Difference::Order(quote) => {
                consequences.place = Some(self.order_of_difference(order, &quote, (entry, is.price)));
                return Ok(Ok(consequences));
            }
            Difference::Credit(amount) => {
                let (mut rest, mut kept) = (amount, Vec::new());
                let mut is_forgone = false;
                for (at, line) in billed.iter().enumerate().rev() {
                    // The first order bears what is left, whatever it stands for.
                    let stands =
                        if at == 0 { rest } else { part(&billed, at, &terms).map_err(|error| cannot(&error))? };
                    let taken = stands.min(rest);
                    let is_live =
                        credit_of(&mut consequences, line.order, entry.slug, taken).map_err(|error| cannot(&error))?;
                    is_forgone |= !is_live && taken < stands;
                    rest -= taken;
                    kept.extend(is_live.then_some(*line));
                }
                // An order of which a gift leaves nothing stands for nothing, and no other for what it stood for.
                if is_forgone {
                    return Ok(Ok(consequences));
                }
                kept.reverse();
                billed = kept;
            }
        }
        if let Some((last, others)) = billed.split_last() {
            let reduction = pricing::reduction(&step, &terms).map_err(|error| cannot(&error))?;
            consequences.write.extend(last.with_the_rest_of((is, reduction), sum(others)));
        }
        Ok(Ok(consequences))
    }

    /// The order of what an entry costs more than it did on an order, at this price.
    fn order_of_difference(&self, order: &Order, quote: &Quote<'_>, (entry, price): (&Entry, Slug)) -> Order {
        let named = |_: &Item| {
            let title = self.program.prices.any(price).map(|price| &price.title);
            let title = title.map(|title| title.in_locale(self.program.account.default_language).to_owned());
            (entry.title.clone(), title.unwrap_or_default(), ENTRY)
        };
        Order {
            user: order.user,
            season: order.season,
            billing: order.billing.clone(),
            processing_fee_rate: order.processing_fee_rate,
            tax_rate_details: order.tax_rate_details,
            adjusts: Some(order.slug),
            ..quote::of_quote(order.slug, quote, named, self.origin.at)
        }
    }

    async fn locked(&self, tx: &mut Tx, order: Slug) -> Result<Locked, Refusal> {
        let found = store::find_for_update(tx, self.program.id, order).await?;
        found.ok_or_else(|| Refusal::Failed(format!("the order {order} is gone while it is locked")))
    }

    /// Does to orders what follows from the change of an entry, which is written.
    pub async fn finish(&self, tx: &mut Tx, entry: (Slug, &str), consequences: Consequences) -> Result<(), Refusal> {
        let Consequences { place, write, credit, reason } = consequences;
        for after in write {
            // Writing the entry may have given the order another title of it.
            let (before, doc) = self.locked(tx, after.slug).await?;
            change(tx, self.program, self.origin, (&before, doc), &after).await?;
        }
        for (order, lines) in credit {
            let found = self.locked(tx, order).await?;
            self.credit(tx, &found, (&lines, reason.to_owned())).await?;
        }
        if let Some(order) = place {
            let titles = BTreeMap::from([(entry.0, entry.1.to_owned())]);
            self.insert(tx, order, titles).await?;
        }
        Ok(())
    }
}

/// The line of an order that bills an entry itself.
#[derive(Clone, Copy)]
struct Line<'o> {
    order: &'o Order,
    number: usize,
}

impl<'o> Line<'o> {
    fn of(order: &'o Order, entry: Slug) -> Option<Self> {
        let number = order.items.iter().position(|item| item.entry == Some(entry) && item.item_type == ENTRY)?;
        Some(Self { order, number })
    }

    /// The price that it is for.
    fn price(&self) -> Slug {
        let (parts, item) = (&self.order.calculation.lines[self.number], &self.order.items[self.number]);
        parts.price.or(item.price).unwrap_or(self.order.slug)
    }

    /// Its order, where that changes, if the line stands for what an item costs by its price and what is taken off it, less what
    /// others stand for.
    fn with_the_rest_of(&self, (is, reduction): (Item, i64), (listed, taken_off): (i64, i64)) -> Option<Order> {
        let mut order = self.order.clone();
        let parts = &mut order.calculation.lines[self.number];
        let above = (taken_off - reduction).max(0);
        parts.listed = (is.unit - listed + above).max(0);
        parts.reduction = reduction - taken_off + above;
        parts.price = (self.order.items[self.number].price != Some(is.price)).then_some(is.price);
        (order != *self.order).then_some(order)
    }
}

/// What lines come to by their prices, and what was taken off them.
fn sum(lines: &[Line<'_>]) -> (i64, i64) {
    let parts = lines.iter().map(|line| &line.order.calculation.lines[line.number]);
    parts.fold((0, 0), |(listed, taken_off), parts| {
        (parts.listed.saturating_add(listed), parts.reduction.saturating_add(taken_off))
    })
}

/// What the total of the order of a line has for what that stands for, on the terms of the first one.
fn part(billed: &[Line<'_>], at: usize, terms: &Terms<'_>) -> Result<i64, PricingError> {
    let total = |lines: &[Line<'_>]| {
        let (listed, taken_off) = sum(lines);
        pricing::total(listed, taken_off, terms)
    };
    Ok(total(&billed[..=at])?.saturating_sub(total(&billed[..at])?).max(0))
}

/// Credits as much as can be of an amount of the lines of an entry; gives whether the order is for the entry still.
fn credit_of(consequences: &mut Consequences, order: &Order, entry: Slug, amount: i64) -> Result<bool, PricingError> {
    let amounts = order.amounts();
    let lines = lines_left(order, &order.lines_of(entry));
    let left = left(&amounts, &order.credited)?;
    let whole = lines.iter().filter_map(|line| left.get(*line)).map(|left| left.total).fold(0, i64::saturating_add);
    let amount = amount.min(whole);
    if amount <= 0 {
        return Ok(true);
    }
    let lines = credit(&amounts, &order.credited, Asked::AmountOf(amount, &lines))?;
    let is_live = order.after_credit(&lines).map_err(|_| PricingError::Overflow)?.is_live_for(entry);
    consequences.credit.push((order.slug, lines));
    Ok(is_live)
}

/// Those of these lines of which something is left.
fn lines_left(order: &Order, lines: &[usize]) -> Vec<usize> {
    let left = left(&order.amounts(), &order.credited).unwrap_or_default();
    lines.iter().copied().filter(|line| left.get(*line).is_some_and(|left| !left.is_nothing())).collect()
}

fn all(order: &Order) -> Vec<usize> {
    (0..order.items.len()).collect()
}

fn off(reduction: &Reduction) -> Off {
    match reduction {
        Reduction::Percent(percent) => Off::Share(*percent),
        // Of an amount each line keeps its part.
        Reduction::Amounts(_) => Off::Amount(0),
    }
}

/// The terms on which an order was made.
fn terms<'o>(order: &'o Order, discount: Option<Granted<'o>>) -> Terms<'o> {
    let taxes = order.calculation.taxes.iter().map(|tax| Tax {
        slug: tax.tax.unwrap_or(order.slug),
        country: "",
        region: None,
        term: &tax.term,
        rate: tax.rate,
    });
    Terms {
        currency: order.currency,
        discount,
        fee: Fee { rate: order.processing_fee_rate, fixed: 0, is_taxed: true },
        taxation: Taxation {
            taxes: taxes.collect(),
            inclusive: order.calculation.inclusive,
            treatment: order.calculation.treatment.into(),
        },
    }
}

fn cannot(error: &PricingError) -> Refusal {
    Refusal::State(format!("The order of the entry cannot be made: {error}."))
}

/// What is wrong with an order is not wrong with a member of its entry.
fn not_payable(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid(violations) => {
            let faults: Vec<&str> = violations.iter().map(|(_, message)| message).collect();
            Refusal::State(format!("The entry cannot be paid for: {}.", faults.join("; ")))
        }
        other => other,
    }
}
