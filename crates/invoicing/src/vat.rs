//! The categories of value-added tax (BG-23) and what stands in each.
//!
//! | what is on the invoice | category |
//! |---|---|
//! | one tax above 0 % that is charged | S, standard rate |
//! | one tax of 0 % that is charged | Z, zero rated |
//! | reverse charge | AE, `VATEX-EU-AE` |
//! | taxes from which the buyer is exempt | E, exempt |
//! | no tax at all | O, not subject to VAT, `VATEX-EU-O` |
//!
//! - O and not Z for no tax at all: Z is a rate that the law has, while nothing is said here of the supply but that no tax
//!   applies. Rules BR-O-02 to BR-O-04 want no VAT identifiers on such an invoice, so that they are left out.
//! - A fee that taxes are not on is a charge of its own in E, unless the invoice is in E or O as a whole.
//! - EN 16931 knows one value-added tax on each base. Several on one base are refused, and sales taxes of the United States.
//! - The tax of a category is the sum of its lines, each rounded on its own (BR-CO-14). By BR-CO-17 it is the rate of their sum.
//!   The published validation lets both differ by less than one unit of the currency; what differs by more is refused.

use kernel::text::Rate;

use crate::fault::Fault;
use crate::figures::Figures;
use crate::invoice::{Invoice, Tax, Treatment};

/// A category with its rate.
#[derive(Clone, Copy)]
pub(crate) struct Category {
    /// The code (UNCL 5305).
    pub(crate) code: &'static str,
    /// The rate; nothing where there cannot be one.
    pub(crate) rate: Option<Rate>,
    /// Why nothing is charged: the code of the VATEX list, if there is one, and the text.
    pub(crate) reason: Option<(&'static str, &'static str)>,
}

/// What is in a category.
pub(crate) struct Group {
    pub(crate) category: Category,
    /// The processing fee in it.
    pub(crate) fee: i64,
    pub(crate) taxable: i64,
    pub(crate) tax: i64,
}

const ZERO: Option<Rate> = Some(Rate::ZERO);

/// The category of the lines.
pub(crate) fn category(invoice: &Invoice<'_>) -> Result<Category, Fault> {
    let (code, rate, reason) = match (invoice.treatment, invoice.taxes.as_slice()) {
        (Treatment::ReverseCharge, _) => ("AE", ZERO, Some(("VATEX-EU-AE", "Reverse charge"))),
        (_, []) => ("O", None, Some(("VATEX-EU-O", "Not subject to VAT"))),
        (Treatment::Exempt, _) => ("E", ZERO, Some(("", "Exempt from VAT"))),
        (Treatment::Charged, [tax]) if tax.country == "US" => return Err(no_vat(tax)),
        (Treatment::Charged, [tax]) if tax.rate.is_zero() => ("Z", ZERO, None),
        (Treatment::Charged, [tax]) => ("S", Some(tax.rate), None),
        (Treatment::Charged, _) => return Err(several(&invoice.taxes)),
    };
    Ok(Category { code, rate, reason })
}

fn no_vat(tax: &Tax<'_>) -> Fault {
    let what =
        "is a sales tax of the United States, and EN 16931 knows value-added tax alone; there is no such e-invoice";
    Fault::new("BG-23", format!("{} {what}", tax.term))
}

fn several(taxes: &[Tax<'_>]) -> Fault {
    let terms = taxes.iter().map(|tax| tax.term).collect::<Vec<_>>().join(", ");
    let what = "are charged on one base, and EN 16931 knows one tax on each; there is no such e-invoice";
    Fault::new("BG-23", format!("{terms} {what}"))
}

/// What is in each category: the lines with the fee that goes with them, and a fee that taxes are not on.
pub(crate) fn groups(invoice: &Invoice<'_>, figures: &Figures, category: Category) -> Result<Vec<Group>, Fault> {
    let sums = &figures.sums;
    let is_apart = sums.untaxed_fee != 0 && !["E", "O"].contains(&category.code);
    let apart = if is_apart { sums.untaxed_fee } else { 0 };
    // All of it was found to fit when it was added up.
    let (fee, tax) = (sums.fee - apart, sums.taxes.iter().sum());
    let taxable = sums.net() + fee;
    let mut groups = vec![Group { category, fee, taxable, tax }];
    if let Some(rate) = category.rate.filter(|rate| !is_tolerated(invoice.currency.decimals(), taxable, *rate, tax)) {
        let what = "differs from the rate of the sum of the lines by a unit of the currency or more, since it is rounded on \
                    each line; validators refuse that (BR-CO-17)";
        return Err(Fault::new("BT-117", format!("the tax of {rate} % {what}")));
    }
    if is_apart {
        let category = Category { code: "E", rate: ZERO, reason: Some(("", "Not part of the taxable amount")) };
        groups.push(Group { category, fee: apart, taxable: apart, tax: 0 });
    }
    Ok(groups)
}

/// Whether a tax is near enough to its rate of an amount for the published validation, which calculates in hundredths.
fn is_tolerated(decimals: u32, taxable: i64, rate: Rate, tax: i64) -> bool {
    const UNIT: i128 = 100;
    const HALF_A_PERCENT: u32 = 5_000;
    const WHOLE: i128 = 1_000_000;
    let hundredths = |amount: i64| i128::from(amount).abs() * 10_i128.pow(2_u32.saturating_sub(decimals));
    let expected = (hundredths(taxable) * i128::from(rate.ten_thousandths()) + WHOLE / 2) / WHOLE;
    if rate.is_zero() {
        return tax == 0;
    }
    // It rounds the rate to see whether it is nothing.
    let (expected, bound) = if rate.ten_thousandths() < HALF_A_PERCENT { (0, UNIT / 2) } else { (expected, UNIT) };
    (hundredths(tax) - expected).abs() < bound
}
