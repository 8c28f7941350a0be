//! Properties of every invoice and credit note, whatever the amounts, taxes and texts.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use invoicing::{Buyer, Invoice, Kind, Line, Seller, Tax, Treatment, html, ubl};
use kernel::text::{Money, Rate};
use proptest::prelude::*;
use support::{currency, date, rules};

/// Texts that break what is careless.
const HOSTILE: [&str; 12] = [
    "]]>",
    "<script>alert(1)</script>",
    "</style><!-- --> <![CDATA[",
    "&amp; &#0; &nosuch; %",
    "\" onload=\"x' y",
    "a\u{0}b\u{1}\u{1b}\u{7f}\u{85}\u{9f}c",
    "\u{fffe}\u{ffff}\u{feff}\u{10ffff}",
    "שלום עולם \u{202e}txt.exe\u{202c}",
    "مرحبا\u{200f}",
    "\r\n line \r two \t",
    "👩‍👩‍👧‍👦 e\u{301}",
    "{{7*7}} ${jndi:x} =1+1",
];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[A-Za-z ]{1,20}",
        2 => prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => prop::sample::select(HOSTILE.to_vec()).prop_map(|text| text.repeat(500)),
    ]
}

/// The quantity of a line, its price, its discount in thousandths, its fee and whether taxes are on that.
type DrawnLine = (u32, i64, i64, i64, bool);

fn line() -> impl Strategy<Value = DrawnLine> {
    (0..5_u32, -2_000..100_000_i64, 0..=1_000_i64, -100..500_i64, any::<bool>())
}

/// What is drawn of an invoice.
#[derive(Clone, Debug)]
struct Drawn {
    texts: Vec<String>,
    currency: &'static str,
    is_credit: bool,
    rates: Vec<Rate>,
    treatment: Treatment,
    lines: Vec<DrawnLine>,
    paid: i64,
    seller: &'static str,
    buyer: (&'static str, &'static str),
}

prop_compose! {
    fn drawn()(
        texts in prop::collection::vec(texts(), 12),
        currency in prop::sample::select(vec!["EUR", "EUR", "GBP", "JPY", "KWD"]),
        is_credit in any::<bool>(),
        rates in prop::collection::vec(prop_oneof![Just(190_000), Just(0), 1_i64..1_000_000], 2),
        taxes in prop::sample::select(vec![0, 1, 1, 1, 1, 2]),
        treatment in prop::sample::select(vec![
            Treatment::Charged, Treatment::Charged, Treatment::ReverseCharge, Treatment::Exempt,
        ]),
        lines in prop_oneof![9 => prop::collection::vec(line(), 1..6), 1 => prop::collection::vec(line(), 150..260)],
        paid in prop_oneof![Just(0), 0..50_000_i64],
        seller in prop::sample::select(vec!["DE123456789", "EL 123-456-789", "12/345/67890", ""]),
        buyer in prop::sample::select(vec![("FR", "FR12345678901"), ("ES", "B12345678"), ("US", ""), ("", "")]),
    ) -> Drawn {
        let rates = rates.into_iter().take(taxes).map(|rate| Rate::from_ten_thousandths(rate).unwrap()).collect();
        Drawn { texts, currency, is_credit, rates, treatment, lines, paid, seller, buyer }
    }
}

impl Drawn {
    /// Whether nothing is missing, the taxes have a place in EN 16931, and too little is rounded to matter.
    fn is_complete(&self) -> bool {
        let has_texts = self.texts.iter().all(|text| !text.trim().is_empty());
        let is_known = !self.seller.is_empty() && !self.buyer.0.is_empty() && self.currency != "KWD";
        let is_counted = self.lines.iter().all(|(quantity, base, ..)| *quantity > 0 || *base == 0);
        let is_rounded_a_little = self.lines.len() < 190 && self.currency != "JPY";
        // Validators take what is below half a percent for nothing.
        let has_rates = self.rates.iter().all(|rate| rate.is_zero() || rate.ten_thousandths() >= 5_000);
        let has_debtor = self.treatment != Treatment::ReverseCharge || !self.buyer.1.is_empty();
        let has_one_tax = self.rates.len() <= 1;
        has_texts && is_known && is_counted && is_rounded_a_little && has_rates && has_debtor && has_one_tax
    }

    fn invoice(&self) -> Invoice<'_> {
        let text = |index: usize| self.texts[index].as_str();
        let sign = if self.is_credit { -1 } else { 1 };
        let lines = self.lines.iter().map(|&(quantity, base, discount, fee, is_fee_taxed)| {
            let discount = base.max(0) * discount / 1_000;
            let taxable = base - discount + if is_fee_taxed { fee } else { 0 };
            let of = |rate: &Rate| rate.of(Money::new(taxable, currency(self.currency))).minor();
            let charged = |rate| if self.treatment == Treatment::Charged { sign * of(rate) } else { 0 };
            Line {
                name: text(0),
                description: text(1),
                quantity,
                base: sign * base,
                discount: sign * discount,
                fee: sign * fee,
                taxable: sign * taxable,
                taxes: self.rates.iter().map(charged).collect(),
            }
        });
        let credited = Kind::CreditNote { number: text(2), issued: Some(date("2026-01-31")) };
        Invoice {
            kind: if self.is_credit { credited } else { Kind::Invoice },
            number: text(3),
            issued: date("2026-02-01"),
            due: None,
            terms: text(4),
            currency: currency(self.currency),
            seller: Seller {
                name: text(5),
                address: text(6),
                vat_number: self.seller,
                registration: "HRB 1",
                iban: "DE75 5121 0800 1245 1261 99",
                ..Seller::default()
            },
            buyer: Buyer {
                name: text(7),
                company: text(8),
                address: text(9),
                city: text(10),
                country: self.buyer.0,
                vat_number: self.buyer.1,
                ..Buyer::default()
            },
            taxes: self.rates.iter().map(|rate| Tax { term: text(11), rate: *rate, country: "DE" }).collect(),
            treatment: self.treatment,
            lines: lines.collect(),
            paid: self.paid,
            note: text(1),
            is_test: false,
        }
    }
}

proptest! {
    #[test]
    fn every_e_invoice_meets_every_rule_and_what_is_complete_is_one(drawn in drawn()) {
        let invoice = drawn.invoice();
        match ubl(&invoice) {
            Ok(xml) => {
                prop_assert_eq!(rules::broken(&xml), Vec::<String>::new());
                prop_assert_eq!(ubl(&invoice), Ok(xml));
            }
            Err(faults) => prop_assert!(!drawn.is_complete(), "{:?}", faults),
        }
    }

    #[test]
    fn every_page_is_well_formed_and_says_the_sums(drawn in drawn()) {
        let invoice = drawn.invoice();
        let page = html(&invoice).unwrap();
        prop_assert_eq!(html(&invoice), Ok(page.clone()));
        prop_assert!(!page.contains("<script") && !page.contains('\0'));
        prop_assert_eq!(page.matches("</style").count(), 1);
        // But for the two elements without an end, a page is written as XML is.
        let text = page.replace("\n<meta charset=\"utf-8\">", "").replace("initial-scale=1\">", "initial-scale=1\"/>");
        let text = text.replace("<!DOCTYPE html>\n", "");
        let document = roxmltree::Document::parse(&text).unwrap();
        let total: i64 = invoice.lines.iter().map(|line| line.base - line.discount + line.fee + line.taxes.iter().sum::<i64>()).sum();
        let total = if drawn.is_credit { -total } else { total };
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        for amount in [total, drawn.paid, total - drawn.paid] {
            let shown = Money::new(amount, invoice.currency).formatted();
            prop_assert!(texts.contains(&shown.as_str()), "{}", shown);
        }
        for table in document.descendants().filter(|node| node.has_tag_name("table")) {
            prop_assert!(table.children().any(|node| node.has_tag_name("caption")));
            prop_assert!(table.descendants().filter(|node| node.has_tag_name("th")).all(|node| node.has_attribute("scope")));
        }
        prop_assert_eq!(document.root_element().attribute("lang"), Some("en"));
    }
}
