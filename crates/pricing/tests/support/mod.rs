//! What the tests share.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part of these helpers of tests")]

use kernel::text::{Currency, Rate, Slug, Timestamp};
use pricing::{Amounts, Buyer, Fee, Granted, Item, Off, PriceKind, Quote, Tax, TaxRules, Taxation, Terms, taxation};

pub(crate) fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

/// A slug of its own for each number below 26.
pub(crate) fn numbered(name: &str, number: usize) -> Slug {
    let letter = char::from(b'A' + u8::try_from(number).unwrap());
    slug(&format!("{name}{}", letter.to_string().repeat(8 - name.len())))
}

pub(crate) fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

pub(crate) fn rate(percent: &str) -> Rate {
    Rate::parse(percent).unwrap()
}

pub(crate) fn time(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

/// One of an entry at a price.
pub(crate) fn item(number: usize, unit: i64) -> Item {
    let (entry, price) = (numbered("Entry", number), numbered("Price", 0));
    Item { entry: Some(entry), price, kind: PriceKind::Entry, unit, quantity: 1 }
}

pub(crate) fn tax(number: usize, percent: &str) -> Tax<'static> {
    Tax { slug: numbered("Tax", number), country: "GB", region: None, term: "VAT", rate: rate(percent) }
}

/// The taxes of these percentages, charged.
pub(crate) fn taxes(inclusive: bool, percentages: &[&str]) -> Taxation<'static> {
    let taxes: Vec<_> = percentages.iter().enumerate().map(|(number, percent)| tax(number, percent)).collect();
    let buyer = Buyer { country: "GB", ..Buyer::default() };
    taxation(&taxes, &TaxRules { inclusive, reverse_charge: &[] }, &buyer)
}

/// Terms without discount and fee.
pub(crate) fn terms(code: &str, taxation: Taxation<'static>) -> Terms<'static> {
    Terms { currency: currency(code), discount: None, fee: Fee::default(), taxation }
}

pub(crate) fn off(off: Off) -> Granted<'static> {
    Granted { off, prices: &[] }
}

pub(crate) fn lines(quote: &Quote<'_>) -> Vec<Amounts> {
    quote.lines.iter().map(|line| line.amounts.clone()).collect()
}
