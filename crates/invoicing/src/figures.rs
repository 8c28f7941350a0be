//! The amounts of a document as it shows them, and whether they add up.
//!
//! - The total of a line is `base - discount + fee + taxes`, and every sum is a sum of lines.
//! - A line is taxed with its fee or without it: `taxable` is one of the two.
//! - Taxes that are not charged are nothing.

use crate::fault::Fault;
use crate::invoice::{Invoice, Kind, Line, Treatment};

/// The amounts of a line or of all lines.
#[derive(Default)]
pub(crate) struct Amounts {
    pub(crate) base: i64,
    pub(crate) discount: i64,
    pub(crate) fee: i64,
    /// The part of the fee that taxes are not on.
    pub(crate) untaxed_fee: i64,
    pub(crate) taxes: Vec<i64>,
    pub(crate) total: i64,
}

/// The amounts of a document.
pub(crate) struct Figures {
    pub(crate) lines: Vec<Amounts>,
    pub(crate) sums: Amounts,
    /// What remains to be paid.
    pub(crate) due: i64,
}

impl Figures {
    pub(crate) fn of(invoice: &Invoice<'_>) -> Result<Self, Vec<Fault>> {
        let (mut lines, mut faults) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(&invoice.lines) {
            match Amounts::of(line, invoice) {
                Ok(amounts) => lines.push(amounts),
                Err(what) => faults.push(Fault::new("BG-25", format!("line {number}: {what}"))),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let nothing = Amounts { taxes: vec![0; invoice.taxes.len()], ..Amounts::default() };
        let sums = lines.iter().try_fold(nothing, Amounts::plus);
        let sums = sums.and_then(|sums| Some((sums.total.checked_sub(invoice.paid)?, sums)));
        match sums {
            Some((due, sums)) if invoice.paid >= 0 => Ok(Self { lines, sums, due }),
            Some(_) => Err(vec![Fault::new("BT-113", "what has been paid is below nothing")]),
            None => Err(vec![Fault::new("BT-112", TOO_LARGE)]),
        }
    }
}

const TOO_LARGE: &str = "the amounts are too large to be added up";

impl Amounts {
    fn of(line: &Line<'_>, invoice: &Invoice<'_>) -> Result<Self, &'static str> {
        let is_invoice = matches!(invoice.kind, Kind::Invoice);
        // What has no opposite is too large whatever is shown.
        let shown = |amount: i64| {
            amount.checked_neg().map(|opposite| if is_invoice { amount } else { opposite }).ok_or(TOO_LARGE)
        };
        if line.taxes.len() != invoice.taxes.len() {
            return Err("its taxes are not those of the invoice");
        }
        if invoice.treatment != Treatment::Charged && line.taxes.iter().any(|tax| *tax != 0) {
            return Err("taxes are stated that are not charged");
        }
        let (base, discount, fee) = (shown(line.base)?, shown(line.discount)?, shown(line.fee)?);
        let net = base.checked_sub(discount).ok_or(TOO_LARGE)?;
        let with_fee = net.checked_add(fee).ok_or(TOO_LARGE)?;
        let untaxed_fee = match shown(line.taxable)? {
            taxable if taxable == with_fee => 0,
            taxable if taxable == net => fee,
            _ => return Err("what taxes are on is neither the price after the discount nor that with the fee"),
        };
        let taxes = line.taxes.iter().map(|tax| shown(*tax)).collect::<Result<Vec<_>, _>>()?;
        let total = taxes.iter().try_fold(with_fee, |sum, tax| sum.checked_add(*tax)).ok_or(TOO_LARGE)?;
        Ok(Self { base, discount, fee, untaxed_fee, taxes, total })
    }

    fn plus(self, other: &Self) -> Option<Self> {
        let taxes = self.taxes.iter().zip(&other.taxes).map(|(one, two)| one.checked_add(*two));
        let sums = Self {
            base: self.base.checked_add(other.base)?,
            discount: self.discount.checked_add(other.discount)?,
            fee: self.fee.checked_add(other.fee)?,
            untaxed_fee: self.untaxed_fee.checked_add(other.untaxed_fee)?,
            total: self.total.checked_add(other.total)?,
            taxes: taxes.collect::<Option<_>>()?,
        };
        // What is written between the parts and the total has to fit as well.
        let net = sums.base.checked_sub(sums.discount)?;
        net.checked_add(sums.fee)?;
        net.checked_add(sums.fee.checked_sub(sums.untaxed_fee)?)?;
        Some(sums)
    }

    /// What it costs after the discount.
    pub(crate) fn net(&self) -> i64 {
        self.base - self.discount
    }
}
