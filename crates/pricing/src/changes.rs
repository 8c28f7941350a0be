//! Differences: what a change of category makes of lines that have been ordered.
//!
//! - A line is calculated twice on the terms of its order, at the price that it had and at the one that it has now, and the
//!   difference is ordered or credited. So a rounding that was done once is not done against the buyer a second time.
//! - A share is taken off the new price as well. Of an amount that was taken off the order, each line keeps its part, up to what
//!   it costs now. A discount that is not for the new price takes nothing off it.
//! - Where a discount falls away, what it took off is a part of what the line costs more, so that no order has a discount below
//!   nothing.
//! - The fixed fee is neither charged again nor given back; the fee's rate follows the price.
//! - Where the lines together cost more, there is an order of the difference; where they cost less, the difference is what is
//!   to be credited of these lines ([`crate::Asked::AmountOf`]), as far as it is left; where the totals are equal, nothing.

use crate::discounts::{Granted, Off};
use crate::error::PricingError;
use crate::exact;
use crate::orders::{Amounts, Item, Line, Quote, Terms, amounts};

/// A line of an order, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// What was ordered.
    pub was: Item,
    /// What was taken off it ([`Line::reduction`]).
    pub reduction: i64,
    /// What it is now; of the price nothing where no price applies any more.
    pub is: Item,
}

/// What a change comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference<'a> {
    /// Nothing.
    Nothing,
    /// An order, whose lines have the new items and the differences of all amounts.
    Order(Quote<'a>),
    /// An amount above nothing to be credited of the lines, in minor units.
    Credit(i64),
}

/// The difference that changes of lines make, on the terms of their order.
pub fn difference<'a>(changes: &[Change], terms: &Terms<'a>) -> Result<Difference<'a>, PricingError> {
    let lines = changes.iter().map(|change| line(change, terms)).collect::<Result<Vec<_>, _>>()?;
    let quote = Quote::of(lines, terms)?;
    match quote.sums.total {
        0 => Ok(Difference::Nothing),
        1.. => Ok(Difference::Order(quote)),
        below => Ok(Difference::Credit(below.checked_neg().ok_or(PricingError::Overflow)?)),
    }
}

/// What a line comes to without a part of the fixed fee, from what it costs by its price and what is taken off that.
pub fn total(listed: i64, reduction: i64, terms: &Terms<'_>) -> Result<i64, PricingError> {
    Ok(amounts(listed, reduction, 0, terms)?.total)
}

/// What is taken off a line after a change.
pub fn reduction(change: &Change, terms: &Terms<'_>) -> Result<i64, PricingError> {
    Ok(reduction_of(change, listed(&change.is)?, terms))
}

fn reduction_of(change: &Change, is: i64, terms: &Terms<'_>) -> i64 {
    match &terms.discount {
        Some(discount) if discount.is_for(&change.is) => match discount.off {
            Off::Share(rate) => exact::percentage(rate, is),
            Off::Amount(_) => change.reduction.min(is),
        },
        Some(Granted { .. }) | None => 0,
    }
}

/// What an item costs by its price.
fn listed(item: &Item) -> Result<i64, PricingError> {
    exact::narrow(i128::from(exact::not_negative(item.unit)?) * i128::from(item.quantity))
}

fn line(change: &Change, terms: &Terms<'_>) -> Result<Line, PricingError> {
    let (was, is) = (listed(&change.was)?, listed(&change.is)?);
    if !(0..=was).contains(&change.reduction) {
        return Err(PricingError::Negative);
    }
    let reduction = reduction_of(change, is, terms);
    let before = amounts(was, change.reduction, 0, terms)?;
    let amounts = amounts(is, reduction, 0, terms)?.minus(&before)?;
    let reduced = reduction - change.reduction;
    Ok(Line {
        item: change.is,
        listed: is - was - reduced.min(0),
        reduction: reduced.max(0),
        amounts: Amounts { base: amounts.base - amounts.discount.min(0), discount: amounts.discount.max(0), ..amounts },
    })
}
