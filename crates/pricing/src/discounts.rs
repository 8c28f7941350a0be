//! Discounts: whether a code is good, and what it takes off.
//!
//! - A code is good from its beginning and no longer at its end, in so many orders, and in so many of one person.
//! - A share is that percentage of each line that it is for, rounded on the line.
//! - An amount is taken off the order once. It is spread over the lines that it is for in proportion to what they cost, so that
//!   the parts sum to it exactly; where they cost less together, it is what they cost.
//! - Either never takes off more than what a line costs.

use crate::error::PricingError;
use crate::exact;
use crate::orders::Item;
use kernel::text::{Currency, Money, Rate, Slug, Timestamp};

/// What a discount takes off.
#[derive(Clone, Copy, Debug)]
pub enum Reduction<'a> {
    /// A part of each line.
    Share(Rate),
    /// An amount of the order, in each currency that it is for.
    Amounts(&'a [Money]),
}

/// A discount of the season whose code was given.
#[derive(Clone, Copy, Debug)]
pub struct Discount<'a> {
    /// What it takes off.
    pub reduction: Reduction<'a>,
    /// The prices whose lines it is for; empty for all.
    pub prices: &'a [Slug],
    /// When it begins to hold; none for no bound.
    pub from: Option<Timestamp>,
    /// When it holds no longer; none for no bound.
    pub until: Option<Timestamp>,
    /// In how many orders it can be used; none for no limit.
    pub limit: Option<i64>,
    /// In how many orders of one person it can be used; none for no limit.
    pub limit_per_user: Option<i64>,
}

/// In how many orders a discount has been used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    /// Of anybody.
    pub all: i64,
    /// Of the buyer.
    pub of_user: i64,
}

/// Why a discount is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has not begun.
    #[error("does not hold yet")]
    NotYet,
    /// It has ended.
    #[error("holds no longer")]
    Ended,
    /// It was used as often as it can be.
    #[error("has been used as often as it can be")]
    UsedUp,
    /// The person has used it as often as one person can.
    #[error("has been used by this person as often as it can be")]
    UsedUpByUser,
    /// It takes no amount off in the currency.
    #[error("takes nothing off in this currency")]
    OtherCurrency,
}

/// What is taken off an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// A part of each line.
    Share(Rate),
    /// An amount of the order, in minor units.
    Amount(i64),
}

/// A discount that was granted.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a> {
    /// What it takes off.
    pub off: Off,
    /// The prices whose lines it is for; empty for all.
    pub prices: &'a [Slug],
}

impl<'a> Discount<'a> {
    /// The discount for an order in a currency at a moment, after so many uses; or why there is none.
    pub fn granted(&self, currency: Currency, now: Timestamp, uses: Uses) -> Result<Granted<'a>, Refused> {
        if self.from.is_some_and(|from| now < from) {
            return Err(Refused::NotYet);
        }
        if self.until.is_some_and(|until| until <= now) {
            return Err(Refused::Ended);
        }
        if self.limit.is_some_and(|limit| limit <= uses.all) {
            return Err(Refused::UsedUp);
        }
        if self.limit_per_user.is_some_and(|limit| limit <= uses.of_user) {
            return Err(Refused::UsedUpByUser);
        }
        let off = match self.reduction {
            Reduction::Share(rate) => Off::Share(rate),
            Reduction::Amounts(amounts) => {
                let amount = amounts.iter().find(|amount| amount.currency() == currency);
                Off::Amount(amount.ok_or(Refused::OtherCurrency)?.minor())
            }
        };
        Ok(Granted { off, prices: self.prices })
    }
}

impl Granted<'_> {
    /// Whether it is for an item.
    pub fn is_for(&self, item: &Item) -> bool {
        self.prices.is_empty() || self.prices.contains(&item.price)
    }

    /// What it takes off each item, of which each comes with what it costs.
    pub(crate) fn reductions(&self, items: &[(Item, i64)]) -> Result<Vec<i64>, PricingError> {
        let costs: Vec<(i64, Item)> =
            items.iter().map(|(item, cost)| (if self.is_for(item) { *cost } else { 0 }, *item)).collect();
        match self.off {
            Off::Share(rate) => Ok(costs.iter().map(|(cost, _)| exact::percentage(rate, *cost)).collect()),
            Off::Amount(amount) => {
                let whole = exact::sum(costs.iter().map(|(cost, _)| *cost))?;
                exact::spread(amount.min(whole), &costs)
            }
        }
    }
}
