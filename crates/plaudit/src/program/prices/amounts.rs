//! Amounts per currency, which prices and discounts have.

use crate::program::{Context, Member, MemberValue, Shape, Texts};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::text::{Currency, LocalTime, Money};

pub(in crate::program) const AMOUNT: Shape = Shape::Object(&[
    Member::required("currency", Currency::SHAPE, "The currency."),
    Member::required("amount", Shape::Number(Some(0), None), "How much, with at most the currency's own decimals."),
    Member::optional("from", Shape::LocalTime, "Since when; null or left out, before all others.").nullable(),
]);

/// The most amounts of a price or a discount.
pub const AMOUNTS: usize = 1_000;

/// An amount, and since when it is the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The amount.
    pub money: Money,
    /// The time in the account's time zone at which it begins to be the one of its currency; the first has none.
    pub from: Option<LocalTime>,
}

/// Reads those of a price.
#[allow(clippy::unnecessary_wraps, reason = "members are read so")]
pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Amount>> {
    Some(read_amounts(members, true))
}

/// Writes those of a price.
pub(super) fn write(amounts: &[Amount], object: &mut Object<'_>, _: Texts) {
    write_amounts(amounts, object);
}

/// Reads `amounts`, a list of `{currency, amount, from}`; each currency has at most one amount from the same time.
/// Only prices have `from`.
pub(in crate::program) fn read_amounts(members: &mut Members<'_>, has_from: bool) -> Vec<Amount> {
    let read = members.objects("amounts", AMOUNTS, |members| {
        let currency = members.required("currency", input::currency);
        // Without a currency, which is a fault of its own, there is no amount to judge.
        let money = members.required("amount", |json| currency.map(|of| input::amount(of)(json)).transpose());
        let from = if has_from { members.nullable("from", input::local_time).flatten() } else { None };
        Some(Amount { money: money.flatten()?, from })
    });
    let amounts: Vec<Amount> = read.unwrap_or_default().into_iter().flatten().collect();
    for (index, amount) in amounts.iter().enumerate() {
        let currency = amount.money.currency();
        if amounts[..index].iter().any(|other| (other.money.currency(), other.from) == (currency, amount.from)) {
            let from = amount.from.map_or_else(String::new, |from| format!(" from {from}"));
            members.fault("amounts", format!("has two amounts in {currency}{from}"));
        }
    }
    amounts
}

/// Writes `amounts`.
pub(in crate::program) fn write_amounts(amounts: &[Amount], object: &mut Object<'_>) {
    object.list("amounts", |list| {
        for amount in amounts {
            list.object(|object| {
                object.text("currency", amount.money.currency().code());
                object.money("amount", amount.money);
                if amount.from.is_some() {
                    object.optional_local_time("from", amount.from);
                }
            });
        }
    });
}
