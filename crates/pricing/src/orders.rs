//! Quotes: the whole calculation of an order, line by line.
//!
//! 1. A line costs its unit times its quantity: `listed`.
//! 2. The discount takes something off: `reduction` ([`crate::discounts`]).
//! 3. The processing fee is its rate of what remains, rounded on the line, and the fixed fee, spread over the lines in
//!    proportion to what remains of them. An order of which nothing remains has no fee.
//! 4. Exclusive prices: each tax is its rate of what remains of the line, with the fee where the fee is taxed.
//! 5. Inclusive prices: what a line costs, what remains of it, and what remains with the fee where the fee is taxed, each contain
//!    the taxes, which are taken out of it ([`crate::taxes`]). What the first is more than the second is the discount, and
//!    what the third is more than the second the fee; the taxes of the line are those in the third. A fee that is not taxed
//!    is added as it is.
//! 6. So all of [`Amounts`] is without taxes but for `taxes` and `total`, and on every line and in every sum
//!    `total = base - discount + fee + taxes`.
//!
//! Where an amount is spread over lines, the item is the key of its line.
//!
//! The fee belongs to what is taxed under article 78(b) of Directive 2006/112/EC; elsewhere it may not, so that
//! [`Fee::is_taxed`] says it.

use crate::discounts::Granted;
use crate::error::PricingError;
use crate::exact;
use crate::prices::PriceKind;
use crate::taxes::{Taxation, Treatment};
use kernel::text::{Currency, Rate, Slug};

/// What is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The entry that is paid for, if one is.
    pub entry: Option<Slug>,
    /// The price that it is sold at.
    pub price: Slug,
    /// What is paid for.
    pub kind: PriceKind,
    /// What one costs, in minor units, nothing or more.
    pub unit: i64,
    /// How many.
    pub quantity: u32,
}

/// The processing fee of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fee {
    /// The part of what remains after the discount.
    pub rate: Rate,
    /// What each order costs besides, in minor units of its currency, nothing or more.
    pub fixed: i64,
    /// Whether taxes are charged on it; under inclusive prices, whether it contains them.
    pub is_taxed: bool,
}

/// On what terms an order is made.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// The currency of all amounts.
    pub currency: Currency,
    /// The discount, if one is granted.
    pub discount: Option<Granted<'a>>,
    /// The processing fee.
    pub fee: Fee,
    /// The taxes.
    pub taxation: Taxation<'a>,
}

/// What a line, or a whole order, is made of, in minor units; `total = base - discount + fee + taxes`. On an order nothing
/// is below zero; on a credit note nothing is above it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amounts {
    /// What it costs before the discount, without taxes.
    pub base: i64,
    /// What is taken off, without taxes.
    pub discount: i64,
    /// The processing fee, without taxes.
    pub fee: i64,
    /// What the taxes are charged on, or would be.
    pub taxable: i64,
    /// The taxes, in the order of [`Taxation::taxes`].
    pub taxes: Vec<i64>,
    /// What is to be paid.
    pub total: i64,
}

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is ordered.
    pub item: Item,
    /// What it costs by its price, with the taxes in it where prices are inclusive.
    pub listed: i64,
    /// What is taken off that.
    pub reduction: i64,
    /// What it is made of.
    pub amounts: Amounts,
}

/// An order, calculated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The currency of all amounts.
    pub currency: Currency,
    /// Its lines, in the order of the items.
    pub lines: Vec<Line>,
    /// The sums of its lines.
    pub sums: Amounts,
    /// The taxes that `sums` and lines have.
    pub taxation: Taxation<'a>,
}

/// Calculates an order.
pub fn quote<'a>(items: &[Item], terms: &Terms<'a>) -> Result<Quote<'a>, PricingError> {
    let costs = items.iter().map(|item| {
        let listed = i128::from(exact::not_negative(item.unit)?) * i128::from(item.quantity);
        Ok((*item, exact::narrow(listed)?))
    });
    let costs = costs.collect::<Result<Vec<(Item, i64)>, PricingError>>()?;
    let reductions = match &terms.discount {
        Some(discount) => discount.reductions(&costs)?,
        None => vec![0; costs.len()],
    };
    let remaining: Vec<(i64, Item)> =
        costs.iter().zip(&reductions).map(|((item, listed), reduction)| (listed - reduction, *item)).collect();
    let fixed = if remaining.iter().any(|(remains, _)| *remains > 0) { terms.fee.fixed } else { 0 };
    let fixed = exact::spread(fixed, &remaining)?;
    let lines = costs.iter().zip(reductions).zip(fixed).map(|((&(item, listed), reduction), fixed)| {
        let amounts = amounts(listed, reduction, fixed, terms)?;
        Ok(Line { item, listed, reduction, amounts })
    });
    Quote::of(lines.collect::<Result<_, PricingError>>()?, terms)
}

impl<'a> Quote<'a> {
    /// The order of these lines.
    pub(crate) fn of(lines: Vec<Line>, terms: &Terms<'a>) -> Result<Self, PricingError> {
        let nothing = Amounts::nothing(terms.taxation.taxes.len());
        let sums = lines.iter().try_fold(nothing, |sums, line| sums.plus(&line.amounts))?;
        Ok(Self { currency: terms.currency, lines, sums, taxation: terms.taxation.clone() })
    }
}

/// What a line is made of, from what it costs, what is taken off and its part of the fixed fee.
pub(crate) fn amounts(listed: i64, reduction: i64, fixed: i64, terms: &Terms<'_>) -> Result<Amounts, PricingError> {
    let remaining = listed - reduction;
    let fee = exact::sum([exact::percentage(terms.fee.rate, remaining), fixed])?;
    let with_fee = if terms.fee.is_taxed { exact::sum([remaining, fee])? } else { remaining };
    let taxation = &terms.taxation;
    let rates: i128 = taxation.taxes.iter().map(|tax| i128::from(tax.rate.ten_thousandths())).sum();
    let contained = |gross: i64| {
        if taxation.inclusive { exact::part(gross, rates, exact::WHOLE + rates) } else { 0 }
    };
    // What is without taxes grows with what contains them, so that no difference of two such is below nothing.
    let net = |gross: i64| gross - contained(gross);
    let (base, after, taxable) = (net(listed), net(remaining), net(with_fee));
    let taxes = match (taxation.treatment, taxation.inclusive) {
        (Treatment::Charged, false) => taxation.taxes.iter().map(|tax| exact::percentage(tax.rate, taxable)).collect(),
        (Treatment::Charged, true) => {
            let weights: Vec<(i64, Slug)> =
                taxation.taxes.iter().map(|tax| (i64::from(tax.rate.ten_thousandths()), tax.slug)).collect();
            exact::spread(contained(with_fee), &weights)?
        }
        (Treatment::ReverseCharge | Treatment::Exempt, _) => vec![0; taxation.taxes.len()],
    };
    let fee = if terms.fee.is_taxed { taxable - after } else { fee };
    Amounts { base, discount: base - after, fee, taxable, taxes, total: 0 }.totalled()
}

impl Amounts {
    /// Nothing, with so many taxes.
    pub fn nothing(taxes: usize) -> Self {
        Self { taxes: vec![0; taxes], ..Self::default() }
    }

    /// Whether it is nothing in every part.
    pub fn is_nothing(&self) -> bool {
        *self == Self::nothing(self.taxes.len())
    }

    /// The sum, part by part; both have the same taxes.
    pub fn plus(&self, other: &Self) -> Result<Self, PricingError> {
        self.with(other, 1)
    }

    /// The difference, part by part; both have the same taxes.
    pub fn minus(&self, other: &Self) -> Result<Self, PricingError> {
        self.with(other, -1)
    }

    fn with(&self, other: &Self, sign: i128) -> Result<Self, PricingError> {
        if self.taxes.len() != other.taxes.len() {
            return Err(PricingError::OtherTaxes);
        }
        let add = |one: i64, two: i64| exact::narrow(i128::from(one) + sign * i128::from(two));
        Ok(Self {
            base: add(self.base, other.base)?,
            discount: add(self.discount, other.discount)?,
            fee: add(self.fee, other.fee)?,
            taxable: add(self.taxable, other.taxable)?,
            taxes: self.taxes.iter().zip(&other.taxes).map(|(one, two)| add(*one, *two)).collect::<Result<_, _>>()?,
            total: add(self.total, other.total)?,
        })
    }

    /// The same with the total that its parts give.
    pub(crate) fn totalled(self) -> Result<Self, PricingError> {
        let parts = [self.base, self.fee].into_iter().chain(self.taxes.iter().copied());
        let whole = parts.map(i128::from).sum::<i128>() - i128::from(self.discount);
        Ok(Self { total: exact::narrow(whole)?, ..self })
    }
}
