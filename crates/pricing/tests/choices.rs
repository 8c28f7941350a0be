//! Which prices, discounts and taxes apply, and how payments count.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use kernel::text::{Money, Slug};
use pricing::{
    Buyer, Conditions, Discount, Entry, Item, Members, Off, Price, PriceAmount, PriceKind, PricingError, Reduction,
    Refused, Tax, TaxRules, Treatment, Uses, items, taxation,
};
use support::{currency, numbered, rate, slug, time};

fn amount(code: &str, minor: i64, from: Option<i64>) -> PriceAmount {
    PriceAmount { money: Money::new(minor, currency(code)), from: from.map(time) }
}

fn price(number: usize, amounts: &[PriceAmount]) -> Price<'_> {
    Price {
        slug: numbered("Price", number),
        kind: PriceKind::Entry,
        tag: None,
        categories: &[],
        chapters: &[],
        members: Members::All,
        amounts,
    }
}

fn entry(tags: &[String]) -> Entry<'_> {
    Entry { slug: slug("EntryAAA"), category: slug("CategAAA"), chapter: slug("ChaptAAA"), tags }
}

fn conditions() -> Conditions {
    Conditions { currency: currency("EUR"), now: time(100), is_member: false, has_paid_as_entrant: false }
}

/// The price and the unit of each item.
fn chosen(prices: &[Price<'_>], conditions: &Conditions) -> Result<Vec<(Slug, i64)>, PricingError> {
    let tags = ["late".to_owned(), "late".to_owned(), "new".to_owned()];
    let found = items(prices, &[entry(&tags)], conditions)?;
    let mut turned = prices.to_vec();
    turned.reverse();
    assert_eq!(items(&turned, &[entry(&tags)], conditions).as_ref(), Ok(&found), "an order of prices matters");
    Ok(found.iter().map(|item| (item.price, item.unit)).collect())
}

#[test]
fn the_most_particular_price_counts_and_then_the_lowest() {
    let (category, other, chapter) = ([slug("CategAAA")], [slug("CategBBB")], [slug("ChaptAAA")]);
    let (low, high) = ([amount("EUR", 10, None)], [amount("EUR", 90, None)]);
    let general = price(0, &low);
    let for_members = Price { members: Members::Only, ..price(1, &high) };
    let of_chapter = Price { chapters: &chapter, ..price(2, &high) };
    let of_category = Price { categories: &category, ..price(3, &high) };
    let elsewhere = Price { categories: &other, ..price(4, &low) };
    let of_both = Price { chapters: &chapter, ..Price { categories: &category, ..price(5, &high) } };
    let prices = [general, for_members, of_chapter, of_category, elsewhere, of_both];
    let member = Conditions { is_member: true, ..conditions() };
    for (count, number) in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (6, 5)] {
        assert_eq!(chosen(&prices[..count], &member).unwrap()[0].0, numbered("Price", number), "of {count}");
    }
    assert_eq!(chosen(&prices[..2], &conditions()).unwrap(), [(numbered("Price", 0), 10)]);
    assert_eq!(chosen(&[elsewhere], &conditions()), Ok(vec![]));
    let for_others = Price { members: Members::None, ..price(6, &high) };
    assert_eq!(chosen(&[general, for_others], &conditions()).unwrap(), [(numbered("Price", 6), 90)]);
    assert_eq!(chosen(&[general, for_others], &member).unwrap(), [(numbered("Price", 0), 10)]);
    assert_eq!(
        chosen(&[price(8, &high), price(9, &low), price(7, &low)], &member).unwrap(),
        [(numbered("Price", 7), 10)]
    );
}

#[test]
fn the_amount_that_began_last_holds() {
    let amounts = [
        amount("EUR", 70, Some(100)),
        amount("EUR", 50, None),
        amount("EUR", 90, Some(101)),
        amount("USD", 1, None),
        amount("EUR", 80, Some(100)),
    ];
    assert_eq!(chosen(&[price(0, &amounts)], &conditions()).unwrap()[0].1, 70);
    assert_eq!(chosen(&[price(0, &amounts)], &Conditions { now: time(99), ..conditions() }).unwrap()[0].1, 50);
    assert_eq!(chosen(&[price(0, &amounts)], &Conditions { now: time(101), ..conditions() }).unwrap()[0].1, 90);
}

#[test]
fn a_general_price_does_not_stand_in_for_one_that_cannot_be_paid() {
    let (euros, dollars, later) = ([amount("EUR", 5, None)], [amount("USD", 5, None)], [amount("EUR", 9, Some(101))]);
    let category = [slug("CategAAA")];
    for amounts in [&dollars, &later] {
        let of_category = Price { categories: &category, ..price(1, amounts) };
        let refused = PricingError::NotPayable { price: numbered("Price", 1), currency: currency("EUR") };
        assert_eq!(chosen(&[price(0, &euros), of_category], &conditions()), Err(refused));
    }
    assert_eq!(chosen(&[price(0, &dollars), price(1, &euros)], &conditions()).unwrap(), [(numbered("Price", 1), 5)]);
}

#[test]
fn an_entry_its_tags_and_its_person_are_paid_for_once_each() {
    let amounts = [amount("EUR", 5, None)];
    let late = Price { kind: PriceKind::Tag, tag: Some("late"), ..price(1, &amounts) };
    let early = Price { kind: PriceKind::Tag, tag: Some("early"), ..price(2, &amounts) };
    let person = Price { kind: PriceKind::Entrant, ..price(3, &amounts) };
    let ticket = Price { kind: PriceKind::Ticket, ..price(4, &amounts) };
    let prices = [price(0, &amounts), late, early, person, ticket];
    let tags = ["late".to_owned(), "late".to_owned()];
    let entries = [entry(&tags), Entry { slug: slug("EntryBBB"), ..entry(&[]) }];
    let expected = [(Some("EntryAAA"), 0), (Some("EntryAAA"), 1), (Some("EntryBBB"), 0), (None, 3)];
    let kept = |item: &Item| (item.entry, item.price);
    let of = |items: Vec<Item>| items.iter().map(kept).collect::<Vec<_>>();
    let wanted = expected.map(|(entry, number)| (entry.map(slug), numbered("Price", number)));
    assert_eq!(of(items(&prices, &entries, &conditions()).unwrap()), wanted);
    let again = Conditions { has_paid_as_entrant: true, ..conditions() };
    assert_eq!(of(items(&prices, &entries, &again).unwrap()), wanted[..3]);
    assert_eq!(items(&prices, &[], &conditions()), Ok(vec![]));
}

#[test]
fn a_discount_holds_from_its_beginning_to_its_end_and_so_many_times() {
    let amounts = [Money::new(500, currency("EUR"))];
    let discount = Discount {
        reduction: Reduction::Amounts(&amounts),
        prices: &[],
        from: Some(time(10)),
        until: Some(time(20)),
        limit: Some(3),
        limit_per_user: Some(1),
    };
    let granted = |code, now, all, of_user| {
        discount.granted(currency(code), time(now), Uses { all, of_user }).map(|granted| granted.off)
    };
    assert_eq!(granted("EUR", 10, 2, 0), Ok(Off::Amount(500)));
    assert_eq!(granted("EUR", 19, 0, 0), Ok(Off::Amount(500)));
    assert_eq!(granted("EUR", 9, 0, 0), Err(Refused::NotYet));
    assert_eq!(granted("EUR", 20, 0, 0), Err(Refused::Ended));
    assert_eq!(granted("EUR", 15, 3, 0), Err(Refused::UsedUp));
    assert_eq!(granted("EUR", 15, 2, 1), Err(Refused::UsedUpByUser));
    assert_eq!(granted("USD", 15, 0, 0), Err(Refused::OtherCurrency));
}

#[test]
fn a_region_replaces_the_taxes_of_its_country() {
    let tax =
        |number, country, region| Tax { slug: numbered("Tax", number), country, region, term: "", rate: rate("1") };
    let taxes = [tax(3, "CA", Some("QC")), tax(1, "CA", Some("QC")), tax(0, "CA", None), tax(2, "ES", None)];
    let found = |country, region| {
        let buyer = Buyer { country, region, ..Buyer::default() };
        let found = taxation(&taxes, &TaxRules::default(), &buyer).taxes;
        found.iter().map(|tax| tax.slug).collect::<Vec<_>>()
    };
    assert_eq!(found("CA", " qc"), [numbered("Tax", 1), numbered("Tax", 3)]);
    assert_eq!(found("CA", "AB"), [numbered("Tax", 0)]);
    assert_eq!(found("CA", ""), [numbered("Tax", 0)]);
    assert_eq!(found("ES", "QC"), [numbered("Tax", 2)]);
    assert!(found("", "").is_empty());
}

#[test]
fn a_reverse_charge_needs_the_country_and_its_vat_number() {
    let countries = ["FR", "GR", "AT", "GB", "NO"].map(str::to_owned);
    let rules = TaxRules { inclusive: false, reverse_charge: &countries };
    let treatment = |country, vat_number, is_exempt| {
        taxation(&[], &rules, &Buyer { country, region: "", vat_number, is_exempt }).treatment
    };
    for (country, number) in [
        ("FR", "FR 40 303 265 045"),
        ("FR", "40303265045"),
        ("GR", "EL123456789"),
        ("AT", "U12345678"),
        ("GB", "XI123456789"),
        ("NO", "123-456.789 MVA"),
    ] {
        assert_eq!(treatment(country, number, false), Treatment::ReverseCharge, "{country} {number}");
        assert_eq!(treatment(country, number, true), Treatment::Exempt);
    }
    for (country, number) in [
        ("FR", ""),
        ("FR", " "),
        ("FR", "DE123456789"),
        ("FR", "none"),
        ("FR", "FR/123"),
        ("DE", "DE123456789"),
        ("", "123456"),
    ] {
        assert_eq!(treatment(country, number, false), Treatment::Charged, "{country} {number}");
    }
}
