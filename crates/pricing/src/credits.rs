//! Credit notes: what is given back of an order, by lines or by amount, until nothing is left.
//!
//! - What is left of a line is what it has and what its credit notes, which are negative, take from it, part by part.
//! - By lines, all that is left of them is given back.
//! - By amount, taxes and fee included, the amount is spread over what is left of the lines, and on each line over what is left of
//!   its price, its fee and each of its taxes, so that a credit has taxes in the proportion in which the line has them. The
//!   discount that is left goes in proportion to the price, rounded down. The keys are what is left of a line and then its
//!   index; on a line, the place in this order.
//! - Where it is all that is left, every part is given back: an order and its credits are then exactly nothing in every part.
//! - A credit is never more than what is left.

use std::collections::BTreeMap;

use crate::error::PricingError;
use crate::exact;
use crate::orders::Amounts;

/// What is to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// All that is left of the order.
    Everything,
    /// All that is left of these lines, by index.
    Lines(&'a [usize]),
    /// An amount above nothing, in minor units, of all lines.
    Amount(i64),
    /// An amount above nothing, in minor units, of these lines.
    AmountOf(i64, &'a [usize]),
}

/// A line of a credit note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditLine {
    /// The index of the line of the order that it takes from.
    pub line: usize,
    /// What it takes; nothing in it is above zero.
    pub amounts: Amounts,
}

/// What is left of each line of an order after its credits.
pub fn left(order: &[Amounts], credits: &[CreditLine]) -> Result<Vec<Amounts>, PricingError> {
    let mut left = order.to_vec();
    for credit in credits {
        let line = left.get_mut(credit.line).ok_or(PricingError::Line(credit.line))?;
        *line = line.plus(&credit.amounts)?;
    }
    Ok(left)
}

/// The lines of a credit note on an order that has been credited so far by `credits`; only lines from which something is taken.
pub fn credit(order: &[Amounts], credits: &[CreditLine], asked: Asked<'_>) -> Result<Vec<CreditLine>, PricingError> {
    let left: BTreeMap<usize, Amounts> = (0..).zip(left(order, credits)?).collect();
    let of_lines = |lines: &[usize]| {
        let mut chosen = BTreeMap::new();
        for &line in lines {
            let amounts = left.get(&line).ok_or(PricingError::Line(line))?;
            if chosen.insert(line, amounts.clone()).is_some() {
                return Err(PricingError::Line(line));
            }
        }
        Ok(chosen)
    };
    let taken = match asked {
        Asked::Everything => left,
        Asked::Lines(lines) => {
            let chosen = of_lines(lines)?;
            if chosen.values().any(Amounts::is_nothing) {
                return Err(PricingError::NothingToCredit);
            }
            chosen
        }
        Asked::Amount(amount) => of_amount(amount, left)?,
        Asked::AmountOf(amount, lines) => of_amount(amount, of_lines(lines)?)?,
    };
    let lines = taken.into_iter().filter(|(_, amounts)| !amounts.is_nothing()).map(|(line, amounts)| {
        let amounts = Amounts::nothing(amounts.taxes.len()).minus(&amounts)?;
        Ok(CreditLine { line, amounts })
    });
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    if lines.is_empty() { Err(PricingError::NothingToCredit) } else { Ok(lines) }
}

/// What an amount takes from each line.
fn of_amount(amount: i64, left: BTreeMap<usize, Amounts>) -> Result<BTreeMap<usize, Amounts>, PricingError> {
    let whole = exact::sum(left.values().map(|line| line.total))?;
    if amount <= 0 {
        return Err(PricingError::NothingToCredit);
    }
    if amount >= whole {
        return if amount == whole { Ok(left) } else { Err(PricingError::MoreThanLeft { left: whole }) };
    }
    let weights: Vec<(i64, (&Amounts, usize))> =
        left.iter().map(|(line, amounts)| (amounts.total, (amounts, *line))).collect();
    let parts = exact::spread(amount, &weights)?;
    left.iter().zip(parts).map(|((line, amounts), part)| Ok((*line, of_line(part, amounts)?))).collect()
}

/// What an amount takes from the parts of a line.
fn of_line(amount: i64, left: &Amounts) -> Result<Amounts, PricingError> {
    if amount == left.total {
        // A line without a price to pay has nothing to take but what cancels out, which goes when everything does.
        return Ok(if amount == 0 { Amounts::nothing(left.taxes.len()) } else { left.clone() });
    }
    let price = exact::narrow(i128::from(left.base) - i128::from(left.discount))?;
    let weights: Vec<(i64, usize)> = [price, left.fee].into_iter().chain(left.taxes.iter().copied()).zip(0..).collect();
    let parts = exact::spread(amount, &weights)?;
    let (of_price, of_fee) = (parts[0], parts[1]);
    // The discount goes with the price; rounded down it is never more than what is left of it.
    let discount = match price {
        0 => 0,
        price => exact::narrow(i128::from(left.discount) * i128::from(of_price) / i128::from(price))?,
    };
    let taxes = parts.get(2..).unwrap_or_default().to_vec();
    let taxable = of_price + if left.taxable == price { 0 } else { of_fee };
    Amounts { base: of_price + discount, discount, fee: of_fee, taxable, taxes, total: 0 }.totalled()
}
