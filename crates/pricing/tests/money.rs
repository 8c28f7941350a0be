//! Properties of every order, credit and difference, for any prices, discounts, fees, taxes and quantities.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use kernel::text::{Rate, Slug};
use pricing::{
    Amounts, Asked, Change, Difference, Fee, Granted, Item, Off, PriceKind, PricingError, Tax, Taxation, Terms,
    Treatment, credit, difference, left, quote,
};
use proptest::prelude::*;
use support::{currency, item, lines, numbered, off, rate, taxes, terms};

fn rates(most: i64) -> impl Strategy<Value = Rate> {
    let whole = (0..=most / 10_000).prop_map(|percent| percent * 10_000);
    prop_oneof![whole, 0..=most].prop_map(|value| Rate::from_ten_thousandths(value).unwrap())
}

prop_compose! {
    fn order_items()(
        made in prop::collection::vec((0..3_usize, prop_oneof![0..40_i64, 0..1_000_000_i64], 0..4_u32), 0..9),
    ) -> Vec<Item> {
        let item = |(number, (price, unit, quantity))| Item {
            entry: Some(numbered("Entry", number)), price: numbered("Price", price), kind: PriceKind::Entry, unit, quantity,
        };
        made.into_iter().enumerate().map(item).collect()
    }
}

/// The price that a discount is for when it is not for all.
fn one_price() -> &'static [Slug] {
    static ONE: std::sync::OnceLock<[Slug; 1]> = std::sync::OnceLock::new();
    ONE.get_or_init(|| [numbered("Price", 1)])
}

prop_compose! {
    fn order_terms()(
        code in prop::sample::select(vec!["JPY", "EUR", "KWD", "CLF"]),
        share in rates(1_000_000),
        amount in prop_oneof![0..50_i64, 0..2_000_000_i64],
        (discount, is_for_all) in (0..3_u8, any::<bool>()),
        (fee_rate, fixed, is_taxed) in (rates(100_000), 0..500_i64, any::<bool>()),
        tax_rates in prop::collection::vec(rates(300_000), 0..4),
        (inclusive, treatment) in (any::<bool>(), prop::sample::select(vec![
            Treatment::Charged, Treatment::Charged, Treatment::ReverseCharge, Treatment::Exempt,
        ])),
    ) -> Terms<'static> {
        let prices: &[Slug] = if is_for_all { &[] } else { one_price() };
        let taxes = tax_rates.iter().enumerate();
        let taxes = taxes.map(|(number, rate)| Tax { rate: *rate, ..support::tax(number, "0") }).collect();
        Terms {
            currency: currency(code),
            discount: [None, Some(Off::Share(share)), Some(Off::Amount(amount))][usize::from(discount)]
                .map(|off| Granted { off, prices }),
            fee: Fee { rate: fee_rate, fixed, is_taxed },
            taxation: Taxation { taxes, inclusive, treatment },
        }
    }
}

fn sum(lines: &[Amounts], part: fn(&Amounts) -> i64) -> i64 {
    lines.iter().map(part).sum()
}

fn is_sound(amounts: &Amounts) -> bool {
    let parts = [amounts.base, amounts.discount, amounts.fee, amounts.taxable, amounts.total];
    amounts.total == amounts.base - amounts.discount + amounts.fee + amounts.taxes.iter().sum::<i64>()
        && parts.iter().chain(&amounts.taxes).all(|part| *part >= 0)
        && amounts.discount <= amounts.base
}

proptest! {
    #[test]
    fn an_order_is_the_sum_of_its_lines_and_never_negative(items in order_items(), terms in order_terms()) {
        let order = quote(&items, &terms).unwrap();
        let lines = lines(&order);
        prop_assert!(lines.iter().chain([&order.sums]).all(is_sound));
        for part in [|a: &Amounts| a.base, |a: &Amounts| a.discount, |a: &Amounts| a.fee, |a: &Amounts| a.taxable, |a: &Amounts| a.total] {
            prop_assert_eq!(sum(&lines, part), part(&order.sums));
        }
        for (index, tax) in order.sums.taxes.iter().enumerate() {
            prop_assert_eq!(lines.iter().map(|line| line.taxes[index]).sum::<i64>(), *tax);
        }
        if terms.taxation.treatment != Treatment::Charged {
            prop_assert!(order.sums.taxes.iter().all(|tax| *tax == 0));
        }
    }

    #[test]
    fn a_discount_takes_off_what_it_says_and_no_more(items in order_items(), terms in order_terms()) {
        let order = quote(&items, &terms).unwrap();
        let is_for = |item: &Item| terms.discount.is_some_and(|discount| discount.is_for(item));
        for line in &order.lines {
            let most = if is_for(&line.item) { line.listed } else { 0 };
            prop_assert!((0..=most).contains(&line.reduction));
        }
        if let Some(Granted { off: Off::Amount(amount), .. }) = terms.discount {
            let listed: i64 = order.lines.iter().filter(|line| is_for(&line.item)).map(|line| line.listed).sum();
            prop_assert_eq!(order.lines.iter().map(|line| line.reduction).sum::<i64>(), amount.min(listed));
        }
    }

    #[test]
    fn inclusive_prices_are_what_is_paid(items in order_items(), mut terms in order_terms()) {
        terms.taxation.inclusive = true;
        terms.taxation.treatment = Treatment::Charged;
        terms.fee.rate = Rate::ZERO;
        let order = quote(&items, &terms).unwrap();
        let remaining: i64 = order.lines.iter().map(|line| line.listed - line.reduction).sum();
        prop_assert_eq!(order.sums.total, remaining + if remaining > 0 { terms.fee.fixed } else { 0 });
    }

    #[test]
    fn the_order_of_items_and_taxes_does_not_matter(
        (items, turned) in order_items().prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
        terms in order_terms(),
    ) {
        let (one, other) = (quote(&items, &terms).unwrap(), quote(&turned, &terms).unwrap());
        prop_assert_eq!(&one.sums, &other.sums);
        for line in &one.lines {
            prop_assert!(other.lines.contains(line));
        }
        let mut turned = terms.clone();
        turned.taxation.taxes.reverse();
        let mut other = quote(&items, &turned).unwrap().sums;
        other.taxes.reverse();
        prop_assert_eq!(one.sums, other);
    }

    #[test]
    fn a_refund_of_everything_leaves_nothing(items in order_items(), terms in order_terms()) {
        let order = lines(&quote(&items, &terms).unwrap());
        match credit(&order, &[], Asked::Everything) {
            Ok(credits) => {
                prop_assert!(left(&order, &credits).unwrap().iter().all(Amounts::is_nothing));
                prop_assert!(credit(&order, &credits, Asked::Everything) == Err(PricingError::NothingToCredit));
                prop_assert!(credit(&order, &credits, Asked::Amount(1)).is_err());
            }
            Err(error) => {
                prop_assert_eq!(error, PricingError::NothingToCredit);
                prop_assert!(order.iter().all(Amounts::is_nothing));
            }
        }
    }

    #[test]
    fn refunds_in_parts_take_what_they_say_until_nothing_is_left(
        items in order_items(),
        terms in order_terms(),
        asked in prop::collection::vec((0..3_u8, 0..1_000_i64, any::<prop::sample::Index>()), 0..12),
    ) {
        let order = lines(&quote(&items, &terms).unwrap());
        let mut credits = Vec::new();
        for (kind, share, index) in asked {
            let before = left(&order, &credits).unwrap();
            prop_assert!(before.iter().all(is_sound));
            if order.is_empty() {
                continue;
            }
            let line = index.index(order.len());
            let of = |whole: i64| 1 + whole * share / 1_000;
            let (total, of_line) = (sum(&before, |line| line.total), before[line].total);
            let (asked, wanted, can_be) = match kind {
                0 => (Asked::Amount(of(total)), of(total), of(total) <= total),
                1 => (Asked::AmountOf(of(of_line), std::slice::from_ref(&line)), of(of_line), of(of_line) <= of_line),
                _ => (Asked::Lines(std::slice::from_ref(&line)), of_line, !before[line].is_nothing()),
            };
            let given = credit(&order, &credits, asked);
            prop_assert_eq!(given.is_ok(), can_be);
            let given = given.unwrap_or_default();
            if can_be {
                prop_assert_eq!(given.iter().map(|line| -line.amounts.total).sum::<i64>(), wanted);
            }
            for line in &given {
                let negated = Amounts::nothing(line.amounts.taxes.len()).minus(&line.amounts).unwrap();
                prop_assert!(is_sound(&negated));
            }
            credits.extend(given);
        }
        if let Ok(rest) = credit(&order, &credits, Asked::Everything) {
            credits.extend(rest);
        }
        prop_assert!(left(&order, &credits).unwrap().iter().all(Amounts::is_nothing));
    }

    #[test]
    fn a_difference_is_that_of_two_orders(
        items in order_items(),
        terms in order_terms(),
        (unit, price) in (0..1_000_000_i64, 0..3_usize),
    ) {
        // Without what belongs to an order as a whole, each line stands for itself.
        let mut terms = terms;
        terms.fee.fixed = 0;
        terms.discount = terms.discount.filter(|discount| matches!(discount.off, Off::Share(_)));
        for was in items {
            let is = Item { unit, price: numbered("Price", price), ..was };
            let before = quote(&[was], &terms).unwrap();
            let after = quote(&[is], &terms).unwrap();
            let change = Change { was, reduction: before.lines[0].reduction, is };
            let wanted = after.sums.total - before.sums.total;
            match difference(&[change], &terms).unwrap() {
                Difference::Nothing => prop_assert_eq!(wanted, 0),
                Difference::Order(order) => {
                    prop_assert_eq!(order.sums.total, wanted);
                    prop_assert!(order.lines.iter().map(|line| &line.amounts).all(is_sound));
                }
                Difference::Credit(amount) => {
                    prop_assert_eq!(-amount, wanted);
                    prop_assert!(credit(&lines(&before), &[], Asked::AmountOf(amount, &[0])).is_ok());
                }
            }
        }
    }

    #[test]
    fn nothing_panics_on_any_amount(
        units in prop::collection::vec((any::<i64>(), any::<u32>()), 0..5),
        terms in order_terms(),
        (fixed, amount) in any::<(i64, i64)>(),
    ) {
        let item = |(number, (unit, quantity))| Item { unit, quantity, ..item(number, 0) };
        let items: Vec<Item> = units.into_iter().enumerate().map(item).collect();
        let mut terms = terms;
        terms.fee.fixed = fixed;
        terms.discount = terms.discount.or(Some(off(Off::Amount(amount))));
        if let Ok(order) = quote(&items, &terms) {
            prop_assert!(is_sound(&order.sums));
            let _ = credit(&lines(&order), &[], Asked::Amount(amount));
        }
        for was in &items {
            let _ = difference(&[Change { was: *was, reduction: amount, is: *was }], &terms);
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let plain = terms("EUR", taxes(false, &["20"]));
    assert_eq!(quote(&[item(0, i64::MAX)], &plain), Err(PricingError::Overflow));
    assert_eq!(quote(&[item(0, i64::MAX), item(1, 1)], &terms("EUR", taxes(false, &[]))), Err(PricingError::Overflow));
    assert_eq!(quote(&[item(0, -1)], &plain), Err(PricingError::Negative));
    assert!(quote(&[item(0, i64::MAX)], &terms("EUR", taxes(true, &["20", "5"]))).is_ok());
}

#[test]
fn a_credit_is_never_more_than_what_is_left() {
    let order = lines(&quote(&[item(0, 1000), item(1, 500)], &terms("EUR", taxes(false, &["20"]))).unwrap());
    assert_eq!(credit(&order, &[], Asked::Amount(1801)), Err(PricingError::MoreThanLeft { left: 1800 }));
    assert_eq!(credit(&order, &[], Asked::AmountOf(601, &[1])), Err(PricingError::MoreThanLeft { left: 600 }));
    assert_eq!(credit(&order, &[], Asked::Amount(0)), Err(PricingError::NothingToCredit));
    assert_eq!(credit(&order, &[], Asked::Lines(&[2])), Err(PricingError::Line(2)));
    assert_eq!(credit(&order, &[], Asked::Lines(&[1, 1])), Err(PricingError::Line(1)));
    let credits = credit(&order, &[], Asked::Lines(&[1])).unwrap();
    assert_eq!(
        (credits[0].amounts.base, &credits[0].amounts.taxes[..], credits[0].amounts.total),
        (-500, &[-100][..], -600)
    );
    assert_eq!(credit(&order, &credits, Asked::Lines(&[1])), Err(PricingError::NothingToCredit));
    assert_eq!(credit(&order, &credits, Asked::Amount(1201)), Err(PricingError::MoreThanLeft { left: 1200 }));
}

#[test]
fn a_line_that_was_free_is_credited_with_the_rest() {
    let first: &[Slug] = &[numbered("Price", 0)];
    let free = Some(Granted { off: Off::Share(rate("100")), prices: first });
    let paid = Item { price: numbered("Price", 1), ..item(1, 1_000) };
    let terms = Terms { discount: free, ..terms("EUR", taxes(false, &["20"])) };
    let order = lines(&quote(&[item(0, 500), paid], &terms).unwrap());
    assert_eq!((order[0].base, order[0].discount, order[0].total), (500, 500, 0));
    let mut credits = credit(&order, &[], Asked::Amount(600)).unwrap();
    assert_eq!(credits.iter().map(|line| line.line).collect::<Vec<_>>(), [1]);
    credits.extend(credit(&order, &credits, Asked::Amount(600)).unwrap());
    assert!(left(&order, &credits).unwrap().iter().all(Amounts::is_nothing));
}

#[test]
fn a_change_of_category_costs_or_gives_back_the_difference() {
    let terms = Terms {
        discount: Some(off(Off::Share(rate("10")))),
        fee: Fee { rate: rate("3"), fixed: 30, is_taxed: false },
        ..terms("EUR", taxes(false, &["19"]))
    };
    let order = quote(&[item(0, 10_000)], &terms).unwrap();
    assert_eq!(order.sums.total, 9_000 + 270 + 30 + 1_710);
    let change = |unit| Change { was: item(0, 10_000), reduction: 1_000, is: item(0, unit) };
    let Ok(Difference::Order(more)) = difference(&[change(15_000)], &terms) else { panic!("an order") };
    assert_eq!((more.sums.base, more.sums.discount, more.sums.fee), (5_000, 500, 135));
    assert_eq!((&more.sums.taxes[..], more.sums.total), (&[855][..], 5_490));
    assert_eq!(difference(&[change(5_000)], &terms), Ok(Difference::Credit(5_490)));
    assert_eq!(difference(&[change(0)], &terms), Ok(Difference::Credit(10_980)));
    assert_eq!(difference(&[change(10_000)], &terms), Ok(Difference::Nothing));
    // An amount that was taken off stays taken off, up to what the entry costs now.
    let terms = Terms { discount: Some(off(Off::Amount(1_000))), ..terms };
    let Ok(Difference::Order(more)) = difference(&[change(15_000)], &terms) else { panic!("an order") };
    assert_eq!((more.sums.base, more.sums.discount), (5_000, 0));
    assert_eq!(difference(&[change(500)], &terms), Ok(Difference::Credit(9_000 + 270 + 1_710)));
}
