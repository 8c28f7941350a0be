//! Pure rules of discounts.

use jiff::tz::TimeZone;

use super::{Discount, Reduction};
use crate::program::Program;
use crate::program::checks::Checks;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Money, Slug, Timestamp};

/// What is wrong with a discount among the records of the set-up.
pub(super) fn check(discount: &Discount, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::Discount, discount.season);
    for price in &discount.prices {
        checks.season_of("prices", *price, program.prices.any(*price).map(|price| price.season));
    }
    if program.discounts.live(discount.slug).is_some()
        && let Some(other) = find(program, discount.season, &discount.code).find(|other| other.slug != discount.slug)
    {
        checks.fault("code", format!("is that of the discount {} too", other.slug));
    }
    checks.finish()
}

/// The live discounts of a season with a code, of which there is one at the most.
pub fn find<'p>(program: &'p Program, season: Slug, code: &str) -> impl Iterator<Item = &'p Discount> {
    let code = code.to_lowercase();
    program
        .discounts
        .all_live()
        .filter(move |discount| discount.season == season && discount.code.to_lowercase() == code)
}

impl Discount {
    /// Whether it holds at a moment, by the clocks of the account's zone.
    pub fn holds(&self, now: Timestamp, zone: &TimeZone) -> bool {
        self.start_date.is_none_or(|start| start.earliest(zone) <= now)
            && self.end_date.is_none_or(|end| now < end.latest(zone))
    }

    /// Whether it takes something off a price.
    pub fn is_for(&self, price: Slug) -> bool {
        self.prices.is_empty() || self.prices.contains(&price)
    }

    /// What it takes off an amount: never more than that, and nothing in a currency that it is not for.
    pub fn of(&self, amount: Money) -> Money {
        match &self.reduction {
            Reduction::Percent(percent) => percent.of(amount),
            Reduction::Amounts(amounts) => {
                let found = amounts.iter().find(|other| other.currency() == amount.currency());
                let minor = found.map_or(0, |found| found.minor().min(amount.minor().max(0)));
                Money::new(minor, amount.currency())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing::{self, program, read};
    use kernel::text::{Currency, LocalTime, Rate};

    fn discount(members: &str) -> Result<Discount, String> {
        read("DiscAAAA", &format!(r#""season":"SeasonAA",{members}"#))
    }

    fn amount(minor: i64, code: &str) -> Money {
        Money::new(minor, Currency::parse(code).unwrap())
    }

    #[test]
    fn a_discount_takes_off_a_part_or_an_amount_and_never_more_than_there_is() {
        let percent = discount(r#""code":"TENTH","percent":10"#).unwrap();
        assert_eq!(percent.of(amount(1005, "EUR")).minor(), 101);
        let fixed = discount(r#""code":"FIVE","amounts":[{"currency":"EUR","amount":5}]"#).unwrap();
        assert_eq!(fixed.of(amount(1005, "EUR")).minor(), 500);
        assert_eq!(fixed.of(amount(300, "EUR")).minor(), 300);
        assert_eq!(fixed.of(amount(1005, "USD")).minor(), 0);
    }

    #[test]
    fn a_discount_holds_between_its_dates() {
        let members = r#""code":"A","percent":10,"start_date":"2026-03-01 00:00:00","end_date":"2026-04-01 00:00:00""#;
        let (discount, zone) = (discount(members).unwrap(), TimeZone::get("Europe/Berlin").unwrap());
        let holds = |text| discount.holds(Timestamp::parse(text).unwrap(), &zone);
        assert!(!holds("2026-02-28T22:59:59.000000Z") && holds("2026-02-28T23:00:00.000000Z"));
        assert!(holds("2026-03-31T21:59:59.000000Z") && !holds("2026-03-31T22:00:00.000000Z"));
    }

    #[test]
    fn what_is_no_discount_is_named() {
        for (wrong, member) in [
            (r#""percent":10"#, "code"),
            (r#""code":" A","percent":10"#, "code"),
            (r#""code":"A""#, "percent"),
            (r#""code":"A","percent":0"#, "percent"),
            (r#""code":"A","percent":10,"amounts":[{"currency":"EUR","amount":5}]"#, "amounts"),
            (r#""code":"A","amounts":[{"currency":"EUR","amount":0}]"#, "amounts"),
            (r#""code":"A","amounts":[{"currency":"EUR","amount":5,"from":"2026-03-01 00:00:00"}]"#, "amounts.1.from"),
            (r#""code":"A","percent":10,"limit":0"#, "limit"),
        ] {
            let error = discount(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
    }

    #[test]
    fn a_code_is_that_of_one_discount_of_a_season() {
        let program = program(&[
            ("price", "PriceAAA", r#""season":"SeasonBB","title":{}"#),
            ("discount", "DiscAAAA", r#""season":"SeasonAA","code":"Early","percent":10,"prices":["PriceAAA"]"#),
            ("discount", "DiscBBBB", r#""season":"SeasonAA","code":"EARLY","percent":20"#),
            ("discount", "DiscCCCC", r#""season":"SeasonBB","code":"early","percent":20"#),
        ]);
        let faults = |slug| {
            let discount = program.discounts.any(Slug::parse(slug).unwrap()).unwrap();
            check(discount, &program).iter().map(|(member, message)| format!("{member} {message}")).collect::<Vec<_>>()
        };
        let expected =
            ["prices PriceAAA must belong to the season of the discount", "code is that of the discount DiscBBBB too"];
        assert_eq!(faults("DiscAAAA"), expected);
        assert_eq!(faults("DiscBBBB").len(), 1);
        assert!(faults("DiscCCCC").is_empty());
        assert_eq!(find(&program, Slug::parse("SeasonBB").unwrap(), "eArLy").count(), 1);
    }

    fn reduction() -> impl Strategy<Value = Reduction> {
        let percent =
            (1_i64..=1_000_000).prop_map(|value| Reduction::Percent(Rate::from_ten_thousandths(value).unwrap()));
        let above = |amounts: Vec<Money>| amounts.into_iter().filter(|amount| amount.minor() > 0).collect::<Vec<_>>();
        let amounts = testing::amounts()
            .prop_map(above)
            .prop_filter("none", |amounts| !amounts.is_empty())
            .prop_map(Reduction::Amounts);
        prop_oneof![percent, amounts]
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, season, code) in (testing::slug(), testing::slug(), "[A-Z0-9ß-]{1,20}"),
            (name, reduction) in (testing::translated(), reduction()),
            dates in testing::maybe((testing::local_time(), 1_i64..100_000_000)),
            (limit, limit_per_user) in (testing::maybe(1_i64..1_000), testing::maybe(1_i64..1_000)),
            prices in testing::slugs(),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            let later = |start: LocalTime, seconds| {
                let moment = start.earliest(&TimeZone::UTC).as_seconds() + seconds;
                LocalTime::of(Timestamp::from_seconds(moment), &TimeZone::UTC)
            };
            testing::reads_back(&Discount {
                slug, season, code, name, reduction, limit, limit_per_user, prices, created, updated,
                start_date: dates.map(|(start, _)| start),
                end_date: dates.map(|(start, length)| later(start, length)),
            });
        }

        #[test]
        fn a_discount_is_never_more_than_the_price(
            reduction in reduction(), minor in 0_i64..1_000_000_000, code in 0_usize..4,
        ) {
            let discount = Discount { reduction, ..discount(r#""code":"A","percent":10"#).unwrap() };
            let price = amount(minor, ["EUR", "JPY", "KWD", "USD"][code]);
            let off = discount.of(price);
            prop_assert!((0..=minor).contains(&off.minor()) && off.currency() == price.currency());
        }
    }
}
