//! Whole documents, as they are written.

mod support;

use invoicing::{Invoice, Treatment, html, ubl};
use support::{credit_note, invoice, rules};

#[test]
fn an_invoice_in_both_forms() {
    insta::assert_snapshot!("invoice.html", html(&invoice()).unwrap());
    insta::assert_snapshot!("invoice.xml", ubl(&invoice()).unwrap());
    assert_eq!(rules::broken(&ubl(&invoice()).unwrap()), [""; 0]);
}

#[test]
fn a_credit_note_in_both_forms() {
    insta::assert_snapshot!("credit-note.html", html(&credit_note()).unwrap());
    insta::assert_snapshot!("credit-note.xml", ubl(&credit_note()).unwrap());
    assert_eq!(rules::broken(&ubl(&credit_note()).unwrap()), [""; 0]);
}

#[test]
fn a_page_says_that_an_invoice_is_a_test() {
    assert!(html(&Invoice { is_test: true, ..invoice() }).unwrap().contains("<p class=\"test\">Test: "));
    assert!(!html(&invoice()).unwrap().contains("class=\"test\""));
}

#[test]
fn a_page_says_why_no_tax_is_charged() {
    let free = |treatment| {
        let mut invoice = Invoice { treatment, ..invoice() };
        invoice.lines.iter_mut().for_each(|line| line.taxes = vec![0]);
        html(&invoice).unwrap()
    };
    assert!(free(Treatment::ReverseCharge).contains("Reverse charge: the buyer is liable for the tax."));
    assert!(free(Treatment::Exempt).contains("The buyer is exempt from taxes."));
    assert!(!free(Treatment::Charged).contains("Reverse charge"));
}

#[test]
fn a_page_has_a_column_for_each_tax_and_none_that_is_empty() {
    let mut canadian = Invoice { currency: support::currency("CAD"), ..invoice() };
    canadian.taxes = vec![support::tax("GST", "5", "CA"), support::tax("QST", "9.975", "CA")];
    canadian.lines = vec![invoicing::Line { taxes: vec![224, 447], ..support::line("Entry", 1, [4_484, 0, 0, 0]) }];
    let page = html(&canadian).unwrap();
    for text in ["<th scope=\"col\">QST 9.975 %</th>", "GST 5 % of CAD 44.84", "CAD 51.55"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Discount") && !page.contains("Processing fee"));
}

#[test]
fn a_page_asks_for_nothing_from_elsewhere_and_runs_nothing() {
    for page in [html(&invoice()).unwrap(), html(&credit_note()).unwrap()] {
        for sign in ["<script", "<link", "<img", "src=", "href=", "url(", "@import", "http:", "https:"] {
            assert!(!page.contains(sign), "{sign}");
        }
    }
}
