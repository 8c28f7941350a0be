//! Taxes: which apply to a buyer, and whether they are charged.
//!
//! - The taxes of the buyer's region apply; where it has none, those of the whole country. A region so replaces what its
//!   country has (as the Canary Islands do in Spain, or HST in Ontario), and several taxes apply together where several
//!   are set up for it (as GST and QST in Quebec), each on the same base and none on another.
//! - A person who is exempt is charged none. Otherwise, a buyer with a VAT number in a country of the reverse charge is charged
//!   none and owes it himself (Directive 2006/112/EC, articles 44 and 196). In both cases the taxes are told with nothing.
//! - A VAT number has a digit and does not begin with the two letters of another country. The prefix is that of ISO 3166-1,
//!   EL for Greece and XI for Northern Ireland (article 215). Whether it is registered is not asked here.
//! - Prices are exclusive, so that taxes are added, or inclusive, so that the taxes that apply are contained: the tax is then
//!   `amount * rates / (100 % + rates)`, rounded once (at 20 % the VAT fraction 1/6), spread over the taxes by their rates.
//!   Who is charged none pays an inclusive price without the taxes in it.

use kernel::text::{Rate, Slug};

/// A tax that is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tax<'a> {
    /// Its slug.
    pub slug: Slug,
    /// The code of the country, ISO 3166-1 alpha-2.
    pub country: &'a str,
    /// The code of the region that it is limited to.
    pub region: Option<&'a str>,
    /// What it is called on an invoice.
    pub term: &'a str,
    /// The rate.
    pub rate: Rate,
}

/// What an account has decided about taxes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaxRules<'a> {
    /// Whether prices contain the taxes.
    pub inclusive: bool,
    /// The countries whose buyers with a VAT number owe the tax themselves.
    pub reverse_charge: &'a [String],
}

/// What taxes depend on of the buyer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buyer<'a> {
    /// The code of the country, ISO 3166-1 alpha-2; empty where it is not known.
    pub country: &'a str,
    /// The code of the region or state; empty where it is not known.
    pub region: &'a str,
    /// The number for value-added tax; empty where there is none.
    pub vat_number: &'a str,
    /// Whether the person is exempt.
    pub is_exempt: bool,
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

/// The taxes of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taxation<'a> {
    /// Those that apply, by slug.
    pub taxes: Vec<Tax<'a>>,
    /// Whether prices contain them.
    pub inclusive: bool,
    /// Whether they are charged.
    pub treatment: Treatment,
}

/// The taxes of an order of a buyer.
pub fn taxation<'a>(taxes: &[Tax<'a>], rules: &TaxRules<'_>, buyer: &Buyer<'_>) -> Taxation<'a> {
    let of_country = || taxes.iter().filter(|tax| tax.country.eq_ignore_ascii_case(buyer.country)).copied();
    let region = buyer.region.trim();
    let is_of_region = |tax: &Tax<'_>| tax.region.is_some_and(|of| of.eq_ignore_ascii_case(region));
    let mut taxes: Vec<Tax<'a>> = of_country().filter(is_of_region).collect();
    if taxes.is_empty() {
        taxes.extend(of_country().filter(|tax| tax.region.is_none()));
    }
    taxes.sort_by_key(|tax| tax.slug);
    let is_reversed = rules.reverse_charge.iter().any(|country| country.eq_ignore_ascii_case(buyer.country))
        && is_vat_number(buyer.vat_number, buyer.country);
    let treatment = match (buyer.is_exempt, is_reversed) {
        (true, _) => Treatment::Exempt,
        (false, true) => Treatment::ReverseCharge,
        (false, false) => Treatment::Charged,
    };
    Taxation { taxes, inclusive: rules.inclusive, treatment }
}

/// Whether a text can be a VAT number of a country.
pub fn is_vat_number(text: &str, country: &str) -> bool {
    let separators = |character: &char| !matches!(character, ' ' | '.' | '-');
    let number: String = text.chars().filter(separators).collect::<String>().to_ascii_uppercase();
    let is_well_formed = number.len() >= 4
        && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && number.bytes().any(|byte| byte.is_ascii_digit());
    let prefixes: [&str; 2] = match country {
        "GR" => ["EL", "GR"],
        "GB" => ["GB", "XI"],
        other => [other, other],
    };
    let has_prefix = number.bytes().take(2).all(|byte| byte.is_ascii_alphabetic());
    is_well_formed && (!has_prefix || prefixes.iter().any(|prefix| number.starts_with(prefix)))
}
