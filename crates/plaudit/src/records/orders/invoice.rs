//! The invoice, or the credit note, of an order: a page of HTML, or EN 16931 in UBL. Pure.

use std::str::FromStr;

use super::record::{Order, PaymentStatus};
use super::{TaxTreatment, TransactionStatus};
use crate::program::Program;
use invoicing::{Buyer, Invoice, Kind, Line, Seller, Tax, Treatment};
use jiff::tz::TimeZone;
use kernel::text::{Date, LocalTime, Slug, Timestamp};

/// A form of an invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A page of HTML.
    Html,
    /// EN 16931 in UBL 2.1.
    Ubl,
}

/// An order with what its invoice says of other records.
#[derive(Clone, Debug)]
pub struct Billed {
    /// The order.
    pub order: Order,
    /// The number of the invoice that it credits, and when that was made, for a credit note.
    pub credited: Option<(String, Timestamp)>,
    /// The name and the e-mail address of who ordered.
    pub purchaser: (String, String),
}

impl FromStr for Form {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let form = Self::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        form.map(|(form, _)| *form).ok_or_else(|| "must be html or ubl".to_owned())
    }
}

impl Form {
    const ALL: [(Self, &'static str); 2] = [(Self::Html, "Html"), (Self::Ubl, "Ubl")];

    /// What stands in the address of a download: the slug of the order and the form.
    pub(crate) fn token(self, order: Slug) -> String {
        let ending = Self::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, ending)| ending);
        format!("{order}{ending}")
    }

    /// The order and the form that stand in the address of a download. No token of a file is so short.
    pub fn of_token(token: &str) -> Option<(Slug, Self)> {
        let (slug, ending) = token.split_at_checked(8)?;
        let (form, _) = Self::ALL.iter().find(|(_, of)| *of == ending)?;
        Some((Slug::parse(slug)?, *form))
    }

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Ubl => "application/xml; charset=utf-8",
        }
    }

    /// The name of the file.
    pub fn filename(self, invoice_number: &str) -> String {
        let is_plain = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
        let number: String = invoice_number.chars().filter(is_plain).collect();
        let ending = match self {
            Self::Html => "html",
            Self::Ubl => "xml",
        };
        format!("invoice-{number}.{ending}")
    }

    /// The invoice of an order in this form; what it lacks, a line each.
    pub fn of(self, billed: &Billed, program: &Program) -> Result<String, String> {
        let invoice = invoice(billed, program);
        let written = match self {
            Self::Html => invoicing::html(&invoice),
            Self::Ubl => invoicing::ubl(&invoice),
        };
        written.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

/// What `e_invoice_status` says of an order that the service makes: that it lacks something, or can be sent as an electronic invoice.
/// A file may say something else.
pub(crate) const E_INVOICE_STATUSES: [&str; 2] = ["incomplete", "available"];

/// Which of them it is.
pub(crate) fn e_invoice_status(billed: &Billed, program: &Program) -> &'static str {
    E_INVOICE_STATUSES[usize::from(Form::Ubl.of(billed, program).is_ok())]
}

fn invoice<'i>(billed: &'i Billed, program: &'i Program) -> Invoice<'i> {
    let Billed { order, credited, purchaser } = billed;
    let zone = program.account.zone();
    let seller = &program.account.seller;
    let billing = &order.billing;
    let calculation = &order.calculation;
    let received = order.payments.iter().filter(|payment| payment.status == TransactionStatus::Success);
    let received = received.map(|payment| payment.amount.minor()).fold(0, i64::saturating_add);
    let left = order.totals.total.minor().max(0);
    let is_paid = order.payment.payment_status == PaymentStatus::Paid;
    Invoice {
        kind: match credited {
            Some((number, at)) => Kind::CreditNote { number, issued: Some(day(*at, &zone)) },
            None => Kind::Invoice,
        },
        number: &order.invoice_number,
        issued: day(order.created_at, &zone),
        due: None,
        terms: "Payable on receipt",
        currency: order.currency,
        seller: Seller {
            name: &seller.name,
            address: &seller.address,
            country: "",
            vat_number: &seller.vat_number,
            registration: &seller.registration,
            iban: &seller.iban,
            email: &seller.email,
        },
        buyer: Buyer {
            name: &purchaser.0,
            company: &billing.company,
            address: &billing.address,
            city: &billing.city,
            region: if billing.state.is_empty() { &billing.region } else { &billing.state },
            postcode: &billing.postcode,
            country: &billing.country,
            vat_number: &billing.vat_number,
            email: &purchaser.1,
        },
        taxes: calculation
            .taxes
            .iter()
            .map(|applied| {
                let tax = applied.tax.and_then(|tax| program.taxes.any(tax));
                let country = tax.map_or(billing.country.as_str(), |tax| &tax.country);
                Tax { term: &applied.term, rate: applied.rate, country }
            })
            .collect(),
        treatment: match calculation.treatment {
            TaxTreatment::Charged => Treatment::Charged,
            TaxTreatment::ReverseCharge => Treatment::ReverseCharge,
            TaxTreatment::Exempt => Treatment::Exempt,
        },
        lines: order
            .items
            .iter()
            .zip(order.amounts())
            .map(|(item, amounts)| Line {
                name: &item.name,
                description: &item.description,
                quantity: u32::try_from(item.quantity).unwrap_or(u32::MAX),
                base: amounts.base,
                discount: amounts.discount,
                fee: amounts.fee,
                taxable: amounts.taxable,
                taxes: amounts.taxes,
            })
            .collect(),
        // What a file says to be paid has no payments.
        paid: if is_paid && order.payments.is_empty() { left } else { received.clamp(0, left) },
        note: &order.billing.comments,
        is_test: order.test,
    }
}

/// The day of a moment by the clocks of the account.
fn day(at: Timestamp, zone: &TimeZone) -> Date {
    LocalTime::of(at, zone).date()
}
