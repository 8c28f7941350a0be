//! Tests of the forms of an order and of its amounts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::records::orders::document::exported;
use crate::records::orders::*;
use kernel::input::{Members, Violations};
use kernel::json::parse_object;
use kernel::text::{Rate, Timestamp};
use pricing::{Amounts, CreditLine};

struct Shop;

impl Catalogue for Shop {
    fn price(&self, price: Slug, currency: Currency, _: Timestamp) -> Option<Money> {
        (price.as_str() == "PriceAAA" && currency.code() == "USD").then(|| Money::new(1250, currency))
    }

    fn tax(&self, tax: Slug) -> Option<TaxDetails> {
        Some(TaxDetails {
            slug: tax,
            name: None,
            term: "VAT".to_owned(),
            rate: Rate::parse("10").unwrap(),
            country: "GB".to_owned(),
            region: None,
        })
    }
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn read(json: &str) -> Result<Order, Violations> {
    let object = parse_object(json.as_bytes()).unwrap();
    let mut members = Members::closed(&object);
    let _ = members.get("kind");
    let own = members.required("slug", kernel::input::slug).unwrap();
    let order = Order::read(&mut members, own, &Shop, Timestamp::from_seconds(1_000));
    members.finish().or(order)
}

/// An order of which only what matters is stated.
fn short(members: &str) -> Result<Order, Violations> {
    read(&format!(r#"{{"slug":"OrderAAA","season":"SeasonAA","user":"UserAAAA","currency":"USD"{members}}}"#))
}

fn faults(members: &str) -> Vec<(String, String)> {
    let violations = short(members).unwrap_err();
    violations.iter().map(|(name, message)| (name.to_owned(), message.to_owned())).collect()
}

fn related(order: &Order) -> RelatedData {
    RelatedData {
        tax: order.tax_rate_details.and_then(|tax| Shop.tax(tax)),
        titles: order
            .items
            .iter()
            .filter_map(|item| Some((item.entry?, "A title".to_owned())))
            .collect::<BTreeMap<_, _>>(),
    }
}

#[test]
fn amounts_follow_from_prices_and_rates() {
    let order = short(
        r#","tax_rate_details":"TaxAAAAA","processing_fee_rate":2.5,
        "items":[{"price":"PriceAAA","quantity":2,"discount":5},{"amount":"USD 1,000.10","name":"Ticket"}]"#,
    )
    .unwrap();
    let amounts = [
        order.totals.subtotal,
        order.totals.discount,
        order.totals.tax,
        order.totals.processing_fee,
        order.totals.total,
    ];
    assert_eq!(amounts.map(|amount| amount.to_decimal()), ["1025.10", "5.00", "102.01", "25.50", "1147.61"]);
    assert_eq!((order.tax_term.as_str(), order.payment.payment_status), ("VAT", PaymentStatus::AwaitingPayment));
    assert_eq!(order.updated, Timestamp::from_seconds(1_000));
}

#[test]
fn a_total_that_contradicts_is_named_with_both_amounts() {
    let fault = |name: &str, message: &str| (name.to_owned(), message.to_owned());
    assert_eq!(
        faults(r#","subtotal":12,"total":12.00,"items":[{"amount":12.50}]"#),
        [fault("subtotal", "is 12.00, but the items give 12.50"), fault("total", "is 12.00, but the items give 12.50")]
    );
    assert_eq!(
        faults(r#","subtotal":12,"tax":1,"discount":0,"processing_fee":0,"total":12"#),
        [fault("total", "is 12.00, but the other amounts give 13.00")]
    );
    assert_eq!(
        faults(r#","items":"<ul><li>Other</li></ul>""#),
        [fault("items", "is computed and must be <ul></ul> or left out")]
    );
}

#[test]
fn without_items_the_subtotal_follows_from_the_total() {
    let order = short(r#","total":11,"tax":1,"discount":2"#).unwrap();
    assert_eq!(order.totals.subtotal.to_decimal(), "12.00");
}

#[test]
fn what_is_wrong_with_an_item_is_named_with_its_place() {
    let names = |members: &str| faults(members).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(r#","items":[{"amount":1},{}]"#), ["items.2.amount"]);
    assert_eq!(names(r#","items":[{"amount":1.005}]"#), ["items.1.amount"]);
    assert_eq!(names(r#","items":[{"amount":1,"entry":"short"}]"#), ["items.1.entry"]);
    assert_eq!(names(r#","items":[{"amount":"EUR 1.00"}]"#), ["items.1.amount"]);
    assert_eq!(names(r#","items":[],"items_array":[]"#), ["items"]);
    assert_eq!(names(r#","color":1"#), ["color"]);
    assert_eq!(names(r#","note":"a\u0000""#), ["note"]);
}

#[test]
fn items_are_escaped_in_html() {
    let order = short(r#","items":[{"amount":1,"name":"<b>\"A\" & 'B'</b>","quantity":3}]"#).unwrap();
    assert_eq!(
        items_html(&order.items),
        "<ul><li>3 x &lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/b&gt; (USD 1.00)</li></ul>"
    );
}

#[test]
fn the_shown_members_stand_in_the_order_of_the_specification() {
    let order = short(
        r#","invoice_number":"7","tax_rate_details":"TaxAAAAA",
        "items":[{"amount":12.5,"price":"PriceAAA","entry":"EntryAAA","item_type":"Entry","name":"Early"}]"#,
    )
    .unwrap();
    let doc = shown(&order, &related(&order));
    let shown = parse_object(doc.as_bytes()).unwrap();
    let names: Vec<&str> = shown.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names.join(" "),
        "slug invoice_number created_at transaction_date season user company address city region state postcode country \
         member_number vat_number comments ip_address currency discount_code discount subtotal tax tax_rate \
         processing_fee processing_fee_rate total tax_term tax_rate_details payment_method payment_status \
         e_invoice_status transaction_provider transaction_reference transaction_status items items_array \u{7f}h41"
    );
    assert!(doc.contains(
        "\"items_array\":[{\"amount\":\"\u{7f}$USD 12.50\",\"description\":\"\",\"discount\":\"\u{7f}$USD 0.00\",\"entry\":{\"slug\":\
         \"EntryAAA\",\"link\":\"\u{7f}l/entry/EntryAAA\",\"title\":\"A title\"},\"item_type\":\"Entry\",\"name\":\"Early\",\
         \"price\":\"\u{7f}rpPriceAAA\",\"quantity\":1}]"
    ));
}

#[test]
fn invoice_numbers_sort_by_their_value() {
    let sorted = ["0", "00", "2", "02", "10", "99", "100", "007000", "A-1", "B", "ä"];
    let keys: Vec<String> = sorted.iter().map(|number| rules::invoice_key(number)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(rules::invoice_value(&keys[6]), Some(100));
    assert_eq!(rules::invoice_value(&keys[1]), Some(0));
}

/// Microseconds of the years 0 to 9892.
const TIMES: std::ops::Range<i64> = -62_000_000_000_000_000..250_000_000_000_000_000;

fn items() -> impl Strategy<Value = Vec<Item>> {
    let usd = Currency::parse("USD").unwrap();
    let item = (0_i64..1_000_000, 0_i64..1_000, "[ -~é\u{7f}\n]{0,12}", 1_i64..9, any::<[bool; 2]>()).prop_map(
        move |(amount, discount, text, quantity, [has_entry, has_price])| Item {
            amount: Money::new(amount, usd),
            description: text.clone(),
            discount: Money::new(discount, usd),
            entry: has_entry.then(|| slug("EntryAAA")),
            item_type: "Entry".to_owned(),
            name: text,
            price: has_price.then(|| slug("PriceAAA")),
            quantity,
        },
    );
    proptest::collection::vec(item, 0..5)
}

prop_compose! {
    fn orders()(
        items in items(),
        given in proptest::collection::vec(proptest::option::of(0_i64..100_000), 4),
        rates in (0_i64..=1_000_000, 0_i64..=1_000_000),
        text in "[ -~é]{0,12}",
        flags in any::<[bool; 4]>(),
        times in (TIMES, TIMES, TIMES),
        payments in proptest::collection::vec(-1_000_i64..1_000_000, 0..4),
    ) -> Order {
        let usd = Currency::parse("USD").unwrap();
        let rate = |value| Rate::from_ten_thousandths(value).unwrap();
        let money = |index: usize| given[index].map(|minor| Money::new(minor, usd));
        let [mut subtotal, mut discount] = [money(0), money(1)];
        if !items.is_empty() {
            (subtotal, discount) = (None, None);
        }
        let stated = Given { discount, subtotal, tax: money(2), processing_fee: money(3), total: None };
        let [test, deleted, is_paid, has_tax] = flags;
        let totals = totals(&items, &stated, (rate(rates.0), rate(rates.1)), usd).unwrap();
        let of_tax = (has_tax.then(|| slug("TaxAAAAA")), text.as_str(), rate(rates.0));
        let mut calculation = Calculation::derived(&items, &totals, of_tax);
        let mut credited = Vec::new();
        if has_tax && let Some(line) = calculation.lines.last_mut() {
            (line.listed, line.taxable) = (line.listed + 7, line.taxable - 1);
            let amounts = Amounts { base: -9, discount: -1, fee: -3, taxable: -8, taxes: vec![-2], total: -13 };
            credited.push(CreditLine { line: items.len() - 1, amounts });
            calculation.treatment = TaxTreatment::Exempt;
        }
        Order {
            slug: slug("OrderAAA"),
            invoice_number: text.clone(),
            created_at: Timestamp::from_microseconds(times.0),
            transaction_date: is_paid.then(|| Timestamp::from_microseconds(times.1)),
            season: slug("SeasonAA"),
            user: slug("UserAAAA"),
            billing: Billing { company: text.clone(), ip_address: text.clone(), ..Billing::default() },
            currency: usd,
            discount_code: text.clone(),
            totals,
            calculation,
            credited,
            adjusts: is_paid.then(|| slug("OrderCCC")),
            tax_rate: rate(rates.0),
            processing_fee_rate: rate(rates.1),
            tax_term: text.clone(),
            tax_rate_details: has_tax.then(|| slug("TaxAAAAA")),
            payment: Payment {
                payment_method: text.clone(),
                payment_status: if is_paid { PaymentStatus::Paid } else { PaymentStatus::AwaitingPayment },
                e_invoice_status: text.clone(),
                transaction_provider: text.clone(),
                transaction_reference: text.clone(),
                transaction_status: text.clone(),
            },
            items,
            payments: (1..).zip(&payments).map(|(number, minor)| Transaction {
                provider: text.clone() + "p",
                reference: number.to_string(),
                status: TransactionStatus::CHOICES[number % 3].1,
                amount: Money::new(*minor, usd),
                date: Timestamp::from_microseconds(times.1),
            }).collect(),
            credits: has_tax.then(|| slug("OrderBBB")),
            test,
            deleted,
            note: text,
            updated: Timestamp::from_microseconds(times.2),
        }
    }
}

proptest! {
    #[test]
    fn an_export_reads_back_and_makes_the_same_row(order in orders()) {
        let read = read(&exported(&order)).unwrap();
        prop_assert_eq!(&read, &order);
        prop_assert_eq!(exported(&read), exported(&order));
        let doc = shown(&order, &related(&order));
        prop_assert_eq!(&shown(&read, &related(&read)), &doc);
        prop_assert_eq!(document::related(&doc), Ok(related(&order)));
        prop_assert_eq!(document::read(&doc), Ok(order));
    }

    #[test]
    fn a_new_title_of_an_entry_is_all_that_changes(order in orders(), title in any::<String>()) {
        for entry in order.items.iter().filter_map(|item| item.entry) {
            let mut around = related(&order);
            let before = shown(&order, &around);
            around.titles.insert(entry, title.clone());
            let retitled = document::retitled(&before, entry, &title);
            prop_assert_eq!(&retitled, &shown(&order, &around));
            let before = around.titles.insert(entry, format!("{title}\"}}\\"));
            prop_assert!(before.is_some());
            let other = shown(&order, &around);
            prop_assert_eq!(document::retitled(&other, entry, &title), retitled);
        }
    }

    #[test]
    fn totals_always_equal_the_sums(order in orders()) {
        let Totals { discount, subtotal, tax, processing_fee, total } = order.totals;
        prop_assert_eq!(total.minor(), subtotal.minor() - discount.minor() + tax.minor() + processing_fee.minor());
        if !order.items.is_empty() {
            prop_assert_eq!(subtotal.minor(), order.items.iter().map(|item| item.amount.minor()).sum::<i64>());
            prop_assert_eq!(discount.minor(), order.items.iter().map(|item| item.discount.minor()).sum::<i64>());
        }
        let all = Given {
            discount: Some(discount),
            subtotal: Some(subtotal),
            tax: Some(tax),
            processing_fee: Some(processing_fee),
            total: Some(total),
        };
        prop_assert_eq!(totals(&order.items, &all, (order.tax_rate, order.processing_fee_rate), order.currency), Ok(order.totals));
        let wrong = Given { total: Some(Money::new(total.minor() + 1, order.currency)), ..all };
        prop_assert!(totals(&order.items, &wrong, (order.tax_rate, order.processing_fee_rate), order.currency).is_err());
    }

    #[test]
    fn no_two_invoice_numbers_have_one_key(one in "[0-9]{0,5}|[0-9~.A]{0,3}", other in "[0-9]{0,5}|[0-9~.A]{0,3}") {
        prop_assert_eq!(rules::invoice_key(&one) == rules::invoice_key(&other), one == other);
    }
}
