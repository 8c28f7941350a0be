//! Random orders, calculated by `pricing`, with what their invoices say.

use anyhow::{Context as _, Result};
use invoicing::{Invoice, Kind, Line, Seller};
use kernel::text::{Currency, Rate, Slug};
use pricing::{
    Amounts, Asked, Buyer, Fee, Granted, Item, Off, PriceKind, Quote, Tax, TaxRules, Taxation, Terms, Treatment,
};

use super::date;
use crate::service::{HOSTILE_NAMES, Random};

/// Countries with a rate, their VAT numbers and whether they owe the tax themselves.
const COUNTRIES: [(&str, &str, &str); 6] = [
    ("DE", "19", "DE811907980"),
    ("FR", "20", "FR 40 303 265 045"),
    ("GR", "24", "EL123456789"),
    ("ES", "21", "B12345678"),
    ("NO", "0", "123456789 MVA"),
    ("US", "", ""),
];

/// An order.
pub(super) struct Made {
    order: Quote<'static>,
    buyer: invoicing::Buyer<'static>,
    seller: Seller<'static>,
    texts: [&'static str; 4],
    paid: u32,
    credited: u32,
}

impl Made {
    /// The order of a seed.
    pub(super) fn order(seed: u64) -> Result<Self> {
        let random = &mut Random::new(seed);
        let country = pick(random, &COUNTRIES);
        let vat_number = pick(random, &["", country.2]);
        let prices = Slug::parse("PriceAAA").context("no slug")?;
        let items: Vec<Item> = (0..=random.below(8))
            .map(|_| Item {
                entry: None,
                price: prices,
                kind: PriceKind::Entry,
                unit: i64::from(random.below(100_000)),
                quantity: 1 + random.below(4),
            })
            .collect();
        let off = match random.below(3) {
            0 => None,
            1 => Some(Off::Share(rate(random, 100)?)),
            _ => Some(Off::Amount(i64::from(random.below(50_000)))),
        };
        let code = pick(random, &["EUR", "EUR", "GBP", "SEK", "ISK"]);
        let terms = Terms {
            currency: Currency::parse(code).context("a currency is unknown")?,
            discount: off.map(|off| Granted { off, prices: &[] }),
            fee: Fee { rate: rate(random, 8)?, fixed: i64::from(random.below(300)), is_taxed: random.below(3) > 0 },
            taxation: taxation(random, country, vat_number)?,
        };
        let (name, company) = (pick(random, HOSTILE_NAMES), pick(random, &["", "Studio <Nord>"]));
        Ok(Self {
            order: pricing::quote(&items, &terms)?,
            buyer: invoicing::Buyer {
                name,
                company,
                address: pick(random, &["", "Am Hafen 2", "a\nb\nc\r\nd\n"]),
                city: pick(random, &["", "Ville"]),
                region: pick(random, &["", "Nord"]),
                postcode: pick(random, &["", "59000"]),
                country: country.0,
                vat_number,
                email: pick(random, &["", "ada@nord.example", "none"]),
            },
            seller: Seller {
                name: "Preis & Söhne GmbH",
                address: "Hauptstraße 1\n10115 Berlin",
                country: pick(random, &["", "DE"]),
                vat_number: pick(random, &["DE 123 456 789", "DE123456789", "12/345/67890"]),
                registration: "HRB 12345",
                iban: pick(random, &["DE75 5121 0800 1245 1261 99", "de75512108001245126199"]),
                email: pick(random, &["", "rechnung@preis.example"]),
            },
            texts: [(); 4].map(|()| pick(random, HOSTILE_NAMES)),
            paid: random.below(4),
            credited: 1 + random.below(1_000),
        })
    }

    /// Its invoice.
    pub(super) fn invoice(&self) -> Result<Invoice<'_>> {
        let [name, description, number, note] = self.texts;
        let lines = self.order.lines.iter().map(|line| written(name, description, line.item.quantity, &line.amounts));
        let taxation = &self.order.taxation;
        Ok(Invoice {
            kind: Kind::Invoice,
            number,
            issued: date("2026-03-02")?,
            due: Some(date("2026-03-16")?),
            terms: "",
            currency: self.order.currency,
            seller: self.seller,
            buyer: self.buyer,
            taxes: taxation
                .taxes
                .iter()
                .map(|tax| invoicing::Tax { term: tax.term, rate: tax.rate, country: tax.country })
                .collect(),
            treatment: match taxation.treatment {
                Treatment::Charged => invoicing::Treatment::Charged,
                Treatment::ReverseCharge => invoicing::Treatment::ReverseCharge,
                Treatment::Exempt => invoicing::Treatment::Exempt,
            },
            lines: lines.collect(),
            paid: self.order.sums.total / 3 * i64::from(self.paid),
            note,
            is_test: false,
        })
    }

    /// The lines of a credit of a part of it, or of all; nothing where there is nothing to give back.
    pub(super) fn credited(&self) -> Result<Option<Vec<Line<'_>>>> {
        let lines: Vec<Amounts> = self.order.lines.iter().map(|line| line.amounts.clone()).collect();
        let amount = i128::from(self.order.sums.total) * i128::from(self.credited) / 1_000;
        let Some(amount) = i64::try_from(amount).ok().filter(|amount| *amount > 0) else { return Ok(None) };
        let credit = pricing::credit(&lines, &[], Asked::Amount(amount))?;
        let [name, description, ..] = self.texts;
        let lines = credit.iter().map(|line| {
            let quantity = self.order.lines[line.line].item.quantity;
            written(name, description, quantity, &line.amounts)
        });
        Ok(Some(lines.collect()))
    }
}

fn written<'a>(name: &'a str, description: &'a str, quantity: u32, amounts: &Amounts) -> Line<'a> {
    let Amounts { base, discount, fee, taxable, ref taxes, .. } = *amounts;
    Line { name, description, quantity, base, discount, fee, taxable, taxes: taxes.clone() }
}

fn taxation(
    random: &mut Random,
    (country, percent, _): (&'static str, &str, &str),
    vat_number: &str,
) -> Result<Taxation<'static>> {
    let slug = Slug::parse("TaxTaxAA").context("no slug")?;
    let taxes: Vec<Tax<'static>> =
        Rate::parse(percent).map(|rate| Tax { slug, country, region: None, term: "VAT", rate }).into_iter().collect();
    let reverse_charge = if random.below(2) == 0 { vec![country.to_owned()] } else { Vec::new() };
    let rules = TaxRules { inclusive: random.below(2) == 0, reverse_charge: &reverse_charge };
    let buyer = Buyer { country, region: "", vat_number, is_exempt: random.below(6) == 0 };
    Ok(pricing::taxation(&taxes, &rules, &buyer))
}

fn rate(random: &mut Random, most: u32) -> Result<Rate> {
    Rate::from_ten_thousandths(random.below(most * 10_000 + 1).into()).context("no rate")
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[usize::try_from(random.below(u32::try_from(from.len()).unwrap_or(u32::MAX))).unwrap_or_default()]
}
