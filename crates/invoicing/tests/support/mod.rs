//! Invoices for tests.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    dead_code,
    reason = "helpers of tests, of which each file uses its own"
)]

pub(crate) mod rules;

use invoicing::{Buyer, Invoice, Kind, Line, Seller, Tax, Treatment};
use kernel::text::{Currency, Date, Rate};

pub(crate) fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

pub(crate) fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

pub(crate) fn tax(term: &'static str, percent: &str, country: &'static str) -> Tax<'static> {
    Tax { term, rate: Rate::parse(percent).unwrap(), country }
}

/// A line with a discount and a fee that taxes are on.
pub(crate) fn line(name: &'static str, quantity: u32, [base, discount, fee, tax]: [i64; 4]) -> Line<'static> {
    Line { name, quantity, base, discount, fee, taxable: base - discount + fee, taxes: vec![tax], ..Line::default() }
}

/// Two lines at 19 % in euros, partly paid.
pub(crate) fn invoice() -> Invoice<'static> {
    Invoice {
        kind: Kind::Invoice,
        number: "2026-17",
        issued: date("2026-03-02"),
        due: Some(date("2026-03-16")),
        terms: "",
        currency: currency("EUR"),
        seller: Seller {
            name: "Preis & Söhne GmbH",
            address: "Hauptstraße 1\nHinterhaus\n3. Stock\n10115 Berlin",
            country: "",
            vat_number: "DE 123 456 789",
            registration: "HRB 12345",
            iban: "DE75 5121 0800 1245 1261 99",
            email: "rechnung@preis.example",
        },
        buyer: Buyer {
            name: "Ada Müller",
            company: "Studio Nord",
            address: "Am Hafen 2",
            city: "Hamburg",
            region: "HH",
            postcode: "20095",
            country: "DE",
            vat_number: "",
            email: "ada@nord.example",
        },
        taxes: vec![tax("VAT", "19", "DE")],
        treatment: Treatment::Charged,
        lines: vec![
            Line { description: "Category: Posters", ..line("Entry “Night bus”", 1, [10_000, 1_000, 225, 1_753]) },
            line("Ticket", 3, [10_000, 0, 250, 1_948]),
        ],
        paid: 5_000,
        note: "Thank you.",
        is_test: false,
    }
}

/// A credit note on the first line.
pub(crate) fn credit_note() -> Invoice<'static> {
    let issued = Some(date("2026-03-02"));
    Invoice {
        kind: Kind::CreditNote { number: "2026-17", issued },
        number: "2026-18",
        issued: date("2026-03-09"),
        due: None,
        terms: "Paid back by the way of the payment.",
        lines: vec![line("Entry “Night bus”", 1, [-5_000, -500, -113, -876])],
        paid: 0,
        note: "",
        ..invoice()
    }
}
