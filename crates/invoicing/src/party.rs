//! Where sellers and buyers are, and their numbers for value-added tax.
//!
//! - A number begins with its country as in ISO 3166-1, but with EL for Greece and XI for Northern Ireland (article 215 of
//!   Directive 2006/112/EC). Blanks, dots and hyphens in it are left out.
//! - A seller is where the seller is said to be; else in the country that the VAT number begins with; else in that of the IBAN.
//!   EU, as numbers of the one-stop shop begin, is no country.

use kernel::text::is_country;

use crate::invoice::{Buyer, Seller};

/// The seller's country; nothing where it is not known.
pub(crate) fn country_of_seller(seller: &Seller<'_>) -> Option<String> {
    match seller.country.trim() {
        "" => country_of(seller.vat_number).or_else(|| country_of(seller.iban)),
        country => is_country(country).then(|| country.to_owned()),
    }
}

/// The seller's VAT identifier (BT-31); nothing where the number does not begin with a country.
pub(crate) fn vat_identifier_of_seller(seller: &Seller<'_>) -> Option<String> {
    country_of(seller.vat_number).map(|_| compact(seller.vat_number))
}

/// The buyer's VAT identifier (BT-48).
pub(crate) fn vat_identifier_of_buyer(buyer: &Buyer<'_>) -> Option<String> {
    let number = compact(buyer.vat_number);
    if number.is_empty() || country_of(&number).is_some() {
        return Some(number).filter(|number| !number.is_empty());
    }
    let prefix = if buyer.country == "GR" { "EL" } else { buyer.country };
    Some(format!("{prefix}{number}"))
}

/// A number without blanks, dots and hyphens, in upper case.
pub(crate) fn compact(number: &str) -> String {
    let separates = |character: &char| character.is_whitespace() || matches!(character, '.' | '-');
    number.chars().filter(|character| !separates(character)).collect::<String>().to_uppercase()
}

/// The country that a number begins with.
fn country_of(number: &str) -> Option<String> {
    let prefix: String = compact(number).chars().take(2).collect();
    let country = match prefix.as_str() {
        "EL" => "GR",
        "XI" => "GB",
        prefix => prefix,
    };
    is_country(country).then(|| country.to_owned())
}
