//! Credit notes: orders of their own with negative amounts, which take from the lines of the order that they name. Pure.

use super::document::item_slug;
use super::record::{Item, LONG_TEXT_LENGTH, Order, Payment, PaymentStatus, money};
use super::rules::Totals;
use super::{Calculation, LineParts};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Money, MoneyError, Slug, Timestamp};
use pricing::{Amounts, Asked, CreditLine, PricingError, credit};

/// Reads the body of `POST /order/{slug}/refund`, which is closed: what it takes from the lines of the order, and why. A credit note has
/// no lines of which anything is left.
pub fn read_refund(body: &JsonObject<'_>, order: &Order) -> Result<(Vec<CreditLine>, String), Violations> {
    let mut members = Members::closed(body);
    let slugs: Vec<Slug> = (1..=order.items.len()).map(|number| item_slug(order.slug, number)).collect();
    let asked = members.optional("items", input::distinct(slugs.len().max(1), input::slug));
    let lines = asked.map(|asked| {
        if asked.is_empty() {
            members.fault("items", "must name at least 1 item");
        }
        let mut lines = Vec::with_capacity(asked.len());
        for slug in asked {
            match slugs.iter().position(|known| *known == slug) {
                Some(line) => lines.push(line),
                None => members.fault("items", format!("{slug} is no item of the order")),
            }
        }
        lines
    });
    let amount = members.optional("amount", |json| match money(order.currency)(json)? {
        amount if amount.minor() > 0 => Ok(amount.minor()),
        _ => Err("must be above 0".to_owned()),
    });
    match (members.has("items"), members.has("amount")) {
        (false, false) => members.fault("amount", "is required where there are no items"),
        (true, true) => members.fault("amount", "must be left out where there are items"),
        _ => {}
    }
    let (member, asked) = match (&lines, amount) {
        (Some(lines), _) if !lines.is_empty() => ("items", Some(Asked::Lines(lines))),
        (None, Some(amount)) => ("amount", Some(Asked::Amount(amount))),
        _ => ("", None),
    };
    let lines = asked.and_then(|asked| {
        let credited = credit(&order.amounts(), &order.credited, asked);
        credited.map_err(|error| members.fault(member, refused(&error, order))).ok()
    });
    let reason = members.required("reason", input::filled_text(LONG_TEXT_LENGTH));
    members.finish().or(lines.zip(reason))
}

fn refused(error: &PricingError, order: &Order) -> String {
    match error {
        PricingError::MoreThanLeft { left } => {
            format!("is more than is left to credit, {}", Money::new(*left, order.currency).formatted())
        }
        PricingError::NothingToCredit => "names something of which nothing is left to credit".to_owned(),
        error => error.to_string(),
    }
}

/// The credit note of these lines of an order, without a number yet.
pub(crate) fn credit_note(
    order: &Order,
    lines: &[CreditLine],
    reason: String,
    (slug, now): (Slug, Timestamp),
) -> Order {
    let money = |minor| Money::new(minor, order.currency);
    let taken = lines.iter().filter_map(|line| Some((order.items.get(line.line)?, &line.amounts)));
    let items = taken.map(|(item, amounts)| Item {
        amount: money(amounts.base),
        discount: money(amounts.discount),
        ..item.clone()
    });
    let parts = lines.iter().map(|CreditLine { amounts, .. }| LineParts {
        listed: amounts.base,
        reduction: amounts.discount,
        price: None,
        fee: amounts.fee,
        taxable: amounts.taxable,
        taxes: amounts.taxes.clone(),
    });
    let sum =
        |part: fn(&Amounts) -> i64| money(lines.iter().map(|line| part(&line.amounts)).fold(0, i64::saturating_add));
    let totals = Totals {
        discount: sum(|amounts| amounts.discount),
        subtotal: sum(|amounts| amounts.base),
        tax: sum(|amounts| amounts.taxes.iter().copied().fold(0, i64::saturating_add)),
        processing_fee: sum(|amounts| amounts.fee),
        total: sum(|amounts| amounts.total),
    };
    let mut note = Order {
        slug,
        invoice_number: String::new(),
        created_at: now,
        transaction_date: None,
        totals,
        payment: Payment { payment_status: PaymentStatus::Paid, ..Payment::default() },
        items: items.collect(),
        calculation: Calculation { lines: parts.collect(), ..order.calculation.clone() },
        credited: Vec::new(),
        payments: Vec::new(),
        credits: Some(order.slug),
        adjusts: None,
        note: String::new(),
        updated: now,
        ..order.clone()
    };
    note.billing.comments = reason;
    note
}

impl Order {
    /// The order after a credit note of these lines.
    pub(crate) fn after_credit(&self, lines: &[CreditLine]) -> Result<Self, MoneyError> {
        let mut after = self.clone();
        for line in lines {
            match after.credited.iter_mut().find(|credited| credited.line == line.line) {
                Some(credited) => {
                    credited.amounts = credited.amounts.plus(&line.amounts).map_err(|_| MoneyError::TooLarge)?;
                }
                None => after.credited.push(line.clone()),
            }
        }
        after.credited.sort_by_key(|line| line.line);
        after.update_payment_status()?;
        Ok(after)
    }
}
