//! What an invoice says. Texts may be empty where they are not known.

use kernel::text::{Currency, Date, Rate};

/// An invoice or a credit note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoice<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Its number.
    pub number: &'a str,
    /// The day on which it is issued.
    pub issued: Date,
    /// The day on which it is to be paid, if one is stated.
    pub due: Option<Date>,
    /// How it is to be paid, in words, such as `Payable on receipt`.
    pub terms: &'a str,
    /// The currency of all amounts.
    pub currency: Currency,
    /// Who sells.
    pub seller: Seller<'a>,
    /// Who buys.
    pub buyer: Buyer<'a>,
    /// The taxes that lines have, in the order of [`Line::taxes`].
    pub taxes: Vec<Tax<'a>>,
    /// Whether they are charged.
    pub treatment: Treatment,
    /// What is sold or given back.
    pub lines: Vec<Line<'a>>,
    /// What has been paid, or of a credit note paid back; nothing or more.
    pub paid: i64,
    /// What else is to be said.
    pub note: &'a str,
    /// Whether it only tries the service out.
    pub is_test: bool,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// An invoice.
    Invoice,
    /// A credit note.
    CreditNote {
        /// The number of the invoice that it credits.
        number: &'a str,
        /// When that was issued, if it is known.
        issued: Option<Date>,
    },
}

/// Who sells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seller<'a> {
    /// The name of the company.
    pub name: &'a str,
    /// The address in lines.
    pub address: &'a str,
    /// The country, ISO 3166-1 alpha-2. Where it is empty, it follows from the VAT number or else from the IBAN.
    pub country: &'a str,
    /// The number for value-added tax. One that begins with a country is the VAT identifier; another is a local tax number.
    pub vat_number: &'a str,
    /// The number in a register of companies.
    pub registration: &'a str,
    /// The account that is paid to.
    pub iban: &'a str,
    /// The address of electronic mail.
    pub email: &'a str,
}

/// Who buys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buyer<'a> {
    /// The name of the person.
    pub name: &'a str,
    /// The company that the person buys for.
    pub company: &'a str,
    /// Street and house, in lines.
    pub address: &'a str,
    /// The city.
    pub city: &'a str,
    /// The region or state.
    pub region: &'a str,
    /// The postcode.
    pub postcode: &'a str,
    /// The country, ISO 3166-1 alpha-2.
    pub country: &'a str,
    /// The number for value-added tax. One that does not begin with a country is one of the buyer's country.
    pub vat_number: &'a str,
    /// The address of electronic mail.
    pub email: &'a str,
}

/// A tax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tax<'a> {
    /// What it is called.
    pub term: &'a str,
    /// The rate.
    pub rate: Rate,
    /// The country, ISO 3166-1 alpha-2.
    pub country: &'a str,
}

/// Whether taxes are charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Treatment {
    /// They are.
    #[default]
    Charged,
    /// The buyer owes them.
    ReverseCharge,
    /// The buyer is exempt.
    Exempt,
}

/// A line, in minor units; `total = base - discount + fee + taxes`. On an invoice nothing is below zero but where it asks for
/// the difference of a change; on a credit note nothing is above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line<'a> {
    /// What is sold.
    pub name: &'a str,
    /// More of it.
    pub description: &'a str,
    /// How many.
    pub quantity: u32,
    /// What they cost before the discount, without taxes.
    pub base: i64,
    /// What is taken off, without taxes.
    pub discount: i64,
    /// The processing fee, without taxes.
    pub fee: i64,
    /// What taxes are on: with the fee where the fee is taxed, and without it where it is not.
    pub taxable: i64,
    /// The taxes, in the order of [`Invoice::taxes`].
    pub taxes: Vec<i64>,
}
