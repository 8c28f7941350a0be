//! What an account decides about orders: who sells, in which currency, with which fee and which taxes.

use crate::program::taxes::country;
use crate::program::{Record, Shape, object_values};
use kernel::input;
use kernel::text::{Currency, Money, Points, Rate, is_country};

/// The most characters of a text about the seller.
const TEXT_LENGTH: usize = 255;
const COUNTRY: Shape = Shape::Pattern("^[A-Z]{2}$");

/// Who sells, as invoices say it; every member may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Record)]
pub struct Seller {
    /// The name.
    #[member(Text(TEXT_LENGTH))]
    pub name: String,
    /// The address, with lines.
    #[member(Text(1_000))]
    pub address: String,
    /// The number for value-added tax, with the prefix of its country.
    #[member(Text(TEXT_LENGTH))]
    pub vat_number: String,
    /// The number in a register of companies.
    #[member(Text(TEXT_LENGTH))]
    pub registration: String,
    /// The account that is paid into, ISO 13616.
    #[member(Text(TEXT_LENGTH))]
    pub iban: String,
    /// The e-mail address.
    #[member(Text(TEXT_LENGTH))]
    pub email: String,
}

/// What an order costs besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Record)]
pub struct ProcessingFee {
    /// The percentage of what remains after the discount.
    pub rate: Rate,
    /// What each order costs, in the account's currency; orders in others have none of it.
    #[member(default = Points::ZERO)]
    pub fixed: Points,
}

/// How taxes are charged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Record)]
pub struct TaxRules {
    /// Whether prices contain them.
    pub inclusive: bool,
    /// The countries whose buyers with a VAT number owe the tax themselves.
    #[member(Set(&COUNTRY, 300), read = input::distinct(300, country))]
    pub reverse_charge: Vec<String>,
}

object_values!(Seller, ProcessingFee, TaxRules);

impl Seller {
    /// The code of the country that its VAT number names, or else its IBAN.
    ///
    /// Prefixes are those of ISO 3166-1, but EL for Greece and XI for Northern Ireland (Directive 2006/112/EC, article 215).
    pub fn country(&self) -> Option<String> {
        [&self.vat_number, &self.iban].into_iter().find_map(|number| {
            let prefix = number.trim().get(..2)?.to_ascii_uppercase();
            match prefix.as_str() {
                "EL" => Some("GR".to_owned()),
                "XI" => Some("GB".to_owned()),
                code => is_country(code).then_some(prefix),
            }
        })
    }
}

impl ProcessingFee {
    /// What each order in a currency costs, where the account's is another one or none.
    pub fn fixed_in(&self, currency: Currency, of_account: Option<Currency>) -> Option<Money> {
        if of_account != Some(currency) {
            return Some(Money::zero(currency));
        }
        Money::parse(&self.fixed.to_string(), currency).ok()
    }
}
