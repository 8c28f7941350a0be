//! How the amounts of an order come about, line by line. It is what invoices, credit notes and differences are made of, and hidden in
//! the document.
//!
//! - What the lines have adds up to what the order has.
//! - An order that states none has what follows from its amounts: tax and fee are spread over the lines in proportion to what
//!   remains of them, and the one tax is that which the order names. Only what is otherwise is stored.
//! - `credited` is what the credit notes of an order take from its lines, in sums.

use super::ENTRANT;
use super::record::{ITEMS, Item, Order, TEXT_LENGTH, money, rate, reference};
use super::rules::Totals;
use crate::program::choices;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::text::{Currency, Money, Rate, Slug};
use pricing::{Amounts, CreditLine, PricingError, Treatment, left, spread};

/// The most taxes of an order.
const TAXES: usize = 100;

choices! {
    /// Whether the taxes of an order are charged.
    pub enum TaxTreatment {
        /// They are.
        Charged "charged",
        /// The buyer owes them.
        ReverseCharge "reverse_charge",
        /// The buyer is exempt.
        Exempt "exempt",
    }
}

/// A tax of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedTax {
    /// The tax that was set up; none where only its rate is known.
    pub tax: Option<Slug>,
    /// What it is called.
    pub term: String,
    /// Its rate, whether it is charged or not.
    pub rate: Rate,
}

/// What a line has beside its amount and its discount, in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineParts {
    /// What it costs by its price now, with the taxes in it where prices contain them.
    pub listed: i64,
    /// What is taken off that.
    pub reduction: i64,
    /// The price that is for it now, where its entry was moved since it was sold.
    pub price: Option<Slug>,
    /// Its part of the processing fee.
    pub fee: i64,
    /// What the taxes are charged on, or would be.
    pub taxable: i64,
    /// Its taxes, in the order of those of the order.
    pub taxes: Vec<i64>,
}

/// How the amounts of an order come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calculation {
    /// The taxes that apply.
    pub taxes: Vec<AppliedTax>,
    /// Whether prices contain them.
    pub inclusive: bool,
    /// Whether they are charged.
    pub treatment: TaxTreatment,
    /// The lines, in the order of the items.
    pub lines: Vec<LineParts>,
}

impl From<Treatment> for TaxTreatment {
    fn from(treatment: Treatment) -> Self {
        match treatment {
            Treatment::Charged => Self::Charged,
            Treatment::ReverseCharge => Self::ReverseCharge,
            Treatment::Exempt => Self::Exempt,
        }
    }
}

impl From<TaxTreatment> for Treatment {
    fn from(treatment: TaxTreatment) -> Self {
        match treatment {
            TaxTreatment::Charged => Self::Charged,
            TaxTreatment::ReverseCharge => Self::ReverseCharge,
            TaxTreatment::Exempt => Self::Exempt,
        }
    }
}

impl Calculation {
    /// What follows from the amounts of an order that states nothing else.
    pub(super) fn derived(items: &[Item], totals: &Totals, (tax, term, rate): (Option<Slug>, &str, Rate)) -> Self {
        let has_tax = tax.is_some() || !rate.is_zero() || !totals.tax.is_zero();
        let taxes = has_tax.then(|| AppliedTax { tax, term: term.to_owned(), rate });
        let remaining: Vec<i64> =
            items.iter().map(|item| item.amount.minor().saturating_sub(item.discount.minor())).collect();
        let fees = spread_signed(totals.processing_fee.minor(), &remaining);
        let of_tax = spread_signed(totals.tax.minor(), &remaining);
        let lines =
            items.iter().zip(remaining).zip(fees.into_iter().zip(of_tax)).map(|((item, remains), (fee, of_tax))| {
                let taxes = taxes.iter().map(|_| of_tax).collect();
                let (listed, reduction) = (item.amount.minor(), item.discount.minor());
                LineParts { listed, reduction, price: None, fee, taxable: remains, taxes }
            });
        let lines = lines.collect();
        Self { taxes: taxes.into_iter().collect(), inclusive: false, treatment: TaxTreatment::Charged, lines }
    }

    /// Why it is not that of these amounts.
    fn check(&self, items: usize, totals: &Totals) -> Result<(), String> {
        if self.lines.len() != items {
            return Err(format!("must have as many lines as the order, {items}"));
        }
        if self.lines.iter().any(|line| line.taxes.len() != self.taxes.len()) {
            return Err("must have an amount of each of its taxes on each line".to_owned());
        }
        if items == 0 {
            return Ok(());
        }
        let sum = |amounts: &mut dyn Iterator<Item = i64>| amounts.map(i128::from).sum::<i128>();
        let fee = sum(&mut self.lines.iter().map(|line| line.fee));
        let tax = sum(&mut self.lines.iter().flat_map(|line| line.taxes.iter().copied()));
        match [(fee, totals.processing_fee, "processing_fee"), (tax, totals.tax, "tax")]
            .into_iter()
            .find(|(sum, stated, _)| *sum != i128::from(stated.minor()))
        {
            Some((_, _, name)) => Err(format!("has lines that do not add up to the {name} of the order")),
            None => Ok(()),
        }
    }

    /// Writes the member `calculation`.
    pub(super) fn write(&self, object: &mut Object<'_>, currency: Currency) {
        object.object("calculation", |object| {
            object.list("taxes", |list| {
                for tax in &self.taxes {
                    list.object(|object| {
                        object.optional_slug("tax", tax.tax);
                        object.text("term", &tax.term);
                        object.rate("rate", tax.rate);
                    });
                }
            });
            object.flag("inclusive", self.inclusive);
            object.text("treatment", self.treatment.name());
            object.list("lines", |list| {
                for line in &self.lines {
                    list.object(|object| {
                        let mut amount = |name, minor| object.money(name, Money::new(minor, currency));
                        amount("listed", line.listed);
                        amount("reduction", line.reduction);
                        amount("fee", line.fee);
                        amount("taxable", line.taxable);
                        if let Some(price) = line.price {
                            object.slug("price", price);
                        }
                        write_amounts("taxes", &line.taxes, object, currency);
                    });
                }
            });
        });
    }
}

/// The parts of an amount of any sign; where the weights are nothing or of both signs, the first line has all of it.
fn spread_signed(amount: i64, weights: &[i64]) -> Vec<i64> {
    let keyed: Vec<(i64, usize)> = weights.iter().map(|weight| weight.saturating_abs()).zip(0..).collect();
    let is_mixed = weights.iter().any(|weight| *weight < 0) && weights.iter().any(|weight| *weight > 0);
    let parts = if is_mixed { Err(PricingError::Negative) } else { spread(amount.saturating_abs(), &keyed) };
    match parts {
        Ok(parts) => parts.into_iter().map(|part| part * amount.signum()).collect(),
        Err(_) => weights.iter().zip(0..).map(|(_, index)| if index == 0 { amount } else { 0 }).collect(),
    }
}

fn write_amounts(name: &str, amounts: &[i64], object: &mut Object<'_>, currency: Currency) {
    object.list(name, |list| {
        for minor in amounts {
            list.raw(&Money::new(*minor, currency).to_decimal());
        }
    });
}

/// Reads the member `calculation`; what follows from the amounts where there is none.
pub(super) fn read(
    members: &mut Members<'_>,
    (items, totals, currency): (&[Item], &Totals, Currency),
    tax: (Option<Slug>, &str, Rate),
) -> Option<Calculation> {
    if !members.has("calculation") {
        return Some(Calculation::derived(items, totals, tax));
    }
    let minor = |json: &kernel::json::Json| money(currency)(json).map(Money::minor);
    let read = members.object("calculation", |members| {
        let taxes = members.objects("taxes", TAXES, |members| {
            let tax = members.nullable("tax", reference).flatten();
            let term = members.required("term", input::text(TEXT_LENGTH));
            let rate = members.required("rate", rate);
            Some(AppliedTax { tax, term: term?, rate: rate? })
        });
        let inclusive = members.required("inclusive", input::flag);
        let treatment = members.required("treatment", input::one_of(TaxTreatment::CHOICES));
        let lines = members.objects("lines", ITEMS, |members| {
            let mut amount = |name| members.required(name, minor);
            let [listed, reduction, fee, taxable] = ["listed", "reduction", "fee", "taxable"].map(&mut amount);
            let taxes = members.required("taxes", input::list(TAXES, minor));
            let price = members.nullable("price", reference).flatten();
            let [listed, reduction] = [listed?, reduction?];
            Some(LineParts { listed, reduction, price, fee: fee?, taxable: taxable?, taxes: taxes? })
        });
        Some(Calculation {
            taxes: taxes?.into_iter().collect::<Option<_>>()?,
            inclusive: inclusive?,
            treatment: treatment?,
            lines: lines?.into_iter().collect::<Option<_>>()?,
        })
    });
    let calculation = read.flatten()?;
    match calculation.check(items.len(), totals) {
        Ok(()) => Some(calculation),
        Err(why) => {
            members.fault("calculation", why);
            None
        }
    }
}

/// Reads the member `credited` of an order that has so many lines and taxes.
pub(super) fn read_credited(
    members: &mut Members<'_>,
    currency: Currency,
    calculation: &Calculation,
) -> Option<Vec<CreditLine>> {
    if !members.has("credited") {
        return Some(Vec::new());
    }
    let minor = |json: &kernel::json::Json| money(currency)(json).map(Money::minor);
    let last = i64::try_from(calculation.lines.len()).unwrap_or(i64::MAX);
    let read = members.objects("credited", ITEMS, |members| {
        let line = members.required("line", input::integer(1..=last));
        let mut amount = |name| members.required(name, minor);
        let [base, discount, fee, taxable, total] = ["amount", "discount", "fee", "taxable", "total"].map(&mut amount);
        let taxes = members.required("taxes", input::list(TAXES, minor));
        let (base, discount, fee, taxable) = (base?, discount?, fee?, taxable?);
        let amounts = Amounts { base, discount, fee, taxable, taxes: taxes?, total: total? };
        Some(CreditLine { line: usize::try_from(line?).ok()?.checked_sub(1)?, amounts })
    })?;
    let read: Vec<CreditLine> = read.into_iter().collect::<Option<_>>()?;
    if read.iter().any(|line| line.amounts.taxes.len() != calculation.taxes.len()) {
        members.fault("credited", "must have an amount of each tax of the order on each line");
    }
    Some(read)
}

/// Writes the member `credited`.
pub(super) fn write_credited(credited: &[CreditLine], object: &mut Object<'_>, currency: Currency) {
    object.list("credited", |list| {
        for line in credited {
            list.object(|object| {
                object.integer("line", i64::try_from(line.line).unwrap_or(i64::MAX).saturating_add(1));
                let Amounts { base, discount, fee, taxable, taxes, total } = &line.amounts;
                let parts =
                    [("amount", base), ("discount", discount), ("fee", fee), ("taxable", taxable), ("total", total)];
                for (name, minor) in parts {
                    object.money(name, Money::new(*minor, currency));
                }
                write_amounts("taxes", taxes, object, currency);
            });
        }
    });
}

impl Order {
    /// What its lines are made of.
    pub fn amounts(&self) -> Vec<Amounts> {
        let lines = self.items.iter().zip(&self.calculation.lines);
        lines
            .map(|(item, parts)| {
                let (base, discount, fee) = (item.amount.minor(), item.discount.minor(), parts.fee);
                let taxes = parts.taxes.clone();
                let sum = [base, discount.saturating_neg(), fee].into_iter().chain(taxes.iter().copied());
                let total = sum.fold(0, i64::saturating_add);
                Amounts { base, discount, fee, taxable: parts.taxable, taxes, total }
            })
            .collect()
    }

    /// What its credit notes take from it, nothing or less.
    pub fn credited_total(&self) -> i64 {
        self.credited.iter().map(|line| line.amounts.total).fold(0, i64::saturating_add)
    }

    /// What is left of its total after its credit notes.
    pub fn left(&self) -> Money {
        Money::new(self.totals.total.minor().saturating_add(self.credited_total()), self.currency)
    }

    /// Whether credit notes take all of it, line by line: an order of nothing is credited by its lines as well.
    pub fn is_fully_credited(&self) -> bool {
        let is_nothing_left = || match left(&self.amounts(), &self.credited) {
            Ok(left) => left.iter().all(Amounts::is_nothing),
            Err(_) => false,
        };
        !self.credited.is_empty() && is_nothing_left()
    }

    /// Whether it pays for its entries, or will once it is paid: it is no test, not in the trash, no credit note and not
    /// fully credited.
    pub fn is_live(&self) -> bool {
        !self.test && !self.deleted && self.credits.is_none() && !self.is_fully_credited()
    }

    /// Whether it is or will be for this entry: it is live, and not all of the lines of the entry were credited.
    pub fn is_live_for(&self, entry: Slug) -> bool {
        self.is_live() && self.is_left_of(&self.lines_of(entry))
    }

    /// Whether it is for entering its season: it is live, and has a line for that which was not credited.
    pub fn is_live_for_entrant(&self) -> bool {
        let of_entrant: Vec<usize> =
            (0..).zip(&self.items).filter(|(_, item)| item.item_type == ENTRANT).map(|(line, _)| line).collect();
        !of_entrant.is_empty() && self.is_live() && self.is_left_of(&of_entrant)
    }

    /// Whether nothing of these lines was credited, or not all.
    fn is_left_of(&self, lines: &[usize]) -> bool {
        let is_credited = |line: &usize| self.credited.iter().any(|credited| credited.line == *line);
        let is_left = || match left(&self.amounts(), &self.credited) {
            Ok(left) => lines.iter().any(|line| left.get(*line).is_some_and(|left| left.total != 0)),
            Err(_) => true,
        };
        !lines.iter().any(is_credited) || is_left()
    }

    /// The lines that name an entry, counted from 0.
    pub fn lines_of(&self, entry: Slug) -> Vec<usize> {
        (0..).zip(&self.items).filter(|(_, item)| item.entry == Some(entry)).map(|(line, _)| line).collect()
    }
}
