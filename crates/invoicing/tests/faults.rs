//! What keeps an invoice from being a document, and how it is said.

#![allow(
    clippy::unwrap_used,
    clippy::inconsistent_digit_grouping,
    reason = "helpers of tests; amounts are euros and cents"
)]

mod support;

use invoicing::{Buyer, Invoice, Kind, Line, Seller, Treatment, html, ubl};
use kernel::text::Rate;
use support::{credit_note, currency, invoice, line, rules, tax};

fn terms(invoice: &Invoice<'_>) -> Vec<&'static str> {
    ubl(invoice).unwrap_err().into_iter().map(|fault| fault.term).collect()
}

fn with(change: impl FnOnce(&mut Invoice<'static>)) -> Invoice<'static> {
    let mut invoice = invoice();
    change(&mut invoice);
    invoice
}

/// The text of the first element of that name.
fn element(xml: &str, name: &str) -> String {
    let (_, rest) = xml.split_once(&format!("<{name}>")).unwrap_or_default();
    rest.split('<').next().unwrap_or_default().to_owned()
}

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let empty = Invoice {
        number: " ",
        due: None,
        seller: Seller::default(),
        buyer: Buyer::default(),
        lines: vec![line("", 1, [100, 0, 0, 19])],
        paid: 0,
        ..invoice()
    };
    assert_eq!(terms(&empty), ["BT-1", "BT-27", "BT-40", "BT-44", "BT-55", "BT-20", "BT-153", "BT-31", "BT-30"]);
    let fault = ubl(&empty).unwrap_err().swap_remove(1);
    assert_eq!(fault.to_string(), "BT-27: the seller's name is missing: set `seller.name`");
    assert!(html(&empty).is_ok());
    assert_eq!(terms(&with(|invoice| invoice.lines.clear())), ["BG-25"]);
    assert_eq!(terms(&with(|invoice| invoice.lines[0].quantity = 0)), ["BT-129"]);
    assert_eq!(terms(&Invoice { kind: Kind::CreditNote { number: "", issued: None }, ..credit_note() }), ["BT-25"]);
}

#[test]
fn a_country_of_the_seller_follows_from_the_vat_number_and_then_from_the_iban() {
    for (country, vat_number, iban, expected) in [
        ("", "DE 123456789", "FR76 3000", Some("DE")),
        ("AT", "DE 123456789", "", Some("AT")),
        ("", "el-123456789", "", Some("GR")),
        ("", "XI123456789", "", Some("GB")),
        ("", "EU372000000", "FR76 3000", Some("FR")),
        ("", "12/345/67890", "CH93 0076", Some("CH")),
        ("", "EU372000000", "", None),
        ("Germany", "DE123456789", "", None),
    ] {
        let invoice = with(|invoice| {
            invoice.seller = Seller { country, vat_number, iban, ..invoice.seller };
        });
        match expected {
            Some(expected) => assert_eq!(element(&ubl(&invoice).unwrap(), "cbc:IdentificationCode"), expected),
            None => assert_eq!(terms(&invoice), ["BT-40"]),
        }
    }
}

#[test]
fn numbers_are_vat_identifiers_where_they_begin_with_a_country() {
    let of_seller = |vat_number| ubl(&with(|invoice| invoice.seller.vat_number = vat_number)).unwrap();
    assert!(of_seller("de 123.456-789").contains("<cbc:CompanyID>DE123456789</cbc:CompanyID>"));
    let local = of_seller("12/345/67890");
    assert!(local.contains("<cbc:ID>TAX</cbc:ID>") && rules::broken(&local).is_empty());
    let of_buyer = |country, vat_number| {
        let invoice = with(|invoice| {
            (invoice.buyer.country, invoice.buyer.vat_number) = (country, vat_number);
        });
        ubl(&invoice).unwrap()
    };
    for (country, vat_number, written) in
        [("ES", "B12345678", "ESB12345678"), ("GR", "123456789", "EL123456789"), ("FR", "XX999999999", "FRXX999999999")]
    {
        assert!(
            of_buyer(country, vat_number).contains(&format!("<cbc:CompanyID>{written}</cbc:CompanyID>")),
            "{written}"
        );
    }
}

#[test]
fn taxes_decide_the_category() {
    let free = |treatment, taxes: Vec<_>| {
        with(|invoice| {
            invoice.buyer = Buyer { country: "FR", vat_number: "FR12345678901", ..invoice.buyer };
            invoice.treatment = treatment;
            invoice.lines.iter_mut().for_each(|line| line.taxes = vec![0; taxes.len()]);
            invoice.taxes = taxes;
        })
    };
    for (treatment, taxes, expected) in [
        (Treatment::ReverseCharge, vec![], "AE"),
        (Treatment::ReverseCharge, vec![tax("GST", "5", "CA"), tax("QST", "9.975", "CA")], "AE"),
        (Treatment::Exempt, vec![tax("VAT", "20", "FR")], "E"),
        (Treatment::Exempt, vec![], "O"),
        (Treatment::Charged, vec![], "O"),
        (Treatment::Charged, vec![tax("VAT", "0", "FR")], "Z"),
    ] {
        let xml = ubl(&free(treatment, taxes)).unwrap();
        assert!(
            xml.contains(&format!("<cac:ClassifiedTaxCategory>\n        <cbc:ID>{expected}</cbc:ID>")),
            "{expected}"
        );
        assert_eq!(rules::broken(&xml), [""; 0], "{expected}");
    }
    let mut reversed = free(Treatment::ReverseCharge, vec![]);
    reversed.buyer.vat_number = "";
    assert_eq!(terms(&reversed), ["BT-48"]);
    let mut outside = free(Treatment::Charged, vec![]);
    outside.seller.registration = "";
    assert_eq!(terms(&outside), ["BT-30"]);
}

#[test]
fn a_fee_that_taxes_are_not_on_is_exempt() {
    let xml = ubl(&with(|invoice| {
        invoice.lines = vec![Line { taxable: 9_000, ..line("Entry", 1, [10_000, 1_000, 225, 1_710]) }];
    }));
    let xml = xml.unwrap();
    assert_eq!(rules::broken(&xml), [""; 0]);
    assert!(xml.contains("<cbc:TaxExemptionReason>Not part of the taxable amount</cbc:TaxExemptionReason>"));
    assert!(xml.contains("<cbc:TaxableAmount currencyID=\"EUR\">90.00</cbc:TaxableAmount>"));
}

#[test]
fn what_en_16931_has_no_place_for_is_refused() {
    assert_eq!(terms(&with(|invoice| invoice.is_test = true)), ["BT-3"]);
    assert_eq!(terms(&with(|invoice| invoice.currency = currency("KWD"))), ["BT-5"]);
    assert_eq!(terms(&with(|invoice| invoice.currency = currency("HRK"))), ["BT-5"]);
    assert_eq!(terms(&with(|invoice| invoice.taxes = vec![tax("Sales tax", "19", "US")])), ["BG-23"]);
    let several = with(|invoice| {
        invoice.taxes.push(tax("QST", "9.975", "CA"));
        invoice.lines.iter_mut().for_each(|line| line.taxes.push(1));
    });
    let fault = ubl(&several).unwrap_err().remove(0);
    let said =
        "BG-23: VAT, QST are charged on one base, and EN 16931 knows one tax on each; there is no such e-invoice";
    assert_eq!(fault.to_string(), said);
}

#[test]
fn a_tax_that_validators_would_refuse_is_refused() {
    let lines = |count: usize, currency_code, base, tax| {
        with(|invoice| {
            invoice.currency = currency(currency_code);
            invoice.lines = vec![line("Entry", 1, [base, 0, 0, tax]); count];
            invoice.paid = 0;
        })
    };
    // 19 % of 0.50 is 0.095, so that each line is half a cent too high.
    assert!(ubl(&lines(199, "EUR", 50, 10)).is_ok());
    assert_eq!(terms(&lines(200, "EUR", 50, 10)), ["BT-117"]);
    // 19 % of 8 yen is 1.52.
    assert!(ubl(&lines(2, "JPY", 8, 2)).is_ok());
    assert_eq!(terms(&lines(3, "JPY", 8, 2)), ["BT-117"]);
    let tiny = |tax_amount| {
        with(|invoice| {
            invoice.taxes = vec![support::tax("VAT", "0.4", "DE")];
            invoice.lines = vec![line("Entry", 1, [tax_amount * 250, 0, 0, tax_amount])];
            invoice.paid = 0;
        })
    };
    assert_eq!(Rate::parse("0.4").unwrap(), tiny(1).taxes[0].rate);
    assert!(ubl(&tiny(49)).is_ok());
    assert_eq!(terms(&tiny(50)), ["BT-117"]);
    let zero = with(|invoice| invoice.taxes = vec![tax("VAT", "0", "DE")]);
    assert_eq!(terms(&zero), ["BT-117"]);
}

#[test]
fn what_does_not_add_up_is_no_document() {
    let first = |change: fn(&mut Line<'static>)| with(|invoice| change(&mut invoice.lines[0]));
    for (invoice, term) in [
        (first(|line| line.taxable += 1), "BG-25"),
        (first(|line| line.taxes.push(0)), "BG-25"),
        (first(|line| line.base = i64::MIN), "BG-25"),
        (first(|line| line.discount = i64::MIN), "BG-25"),
        (with(|invoice| invoice.treatment = Treatment::Exempt), "BG-25"),
        (with(|invoice| invoice.lines = vec![line("Entry", 1, [i64::MAX, 0, 0, 0]); 2]), "BT-112"),
        (with(|invoice| invoice.paid = -1), "BT-113"),
    ] {
        assert_eq!(terms(&invoice)[0], term);
        assert_eq!(html(&invoice), Err(ubl(&invoice).unwrap_err()));
    }
}

#[test]
fn what_is_due_needs_terms() {
    let open = with(|invoice| invoice.due = None);
    assert_eq!(terms(&open), ["BT-20"]);
    assert!(ubl(&Invoice { terms: "Payable on receipt", ..open.clone() }).is_ok());
    let paid = Invoice { paid: 23_176, ..open };
    let xml = ubl(&paid).unwrap();
    assert!(xml.contains("<cbc:PayableAmount currencyID=\"EUR\">0.00</cbc:PayableAmount>"));
    assert!(!xml.contains("PaymentMeans"));
    assert_eq!(terms(&Invoice { terms: "", due: Some(support::date("2026-04-01")), ..credit_note() }), ["BT-20"]);
}
