//! Pure rules of discounts.

use super::Discount;
use crate::program::Program;
use crate::program::checks::Checks;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Slug;

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

/// The live discounts of a season with a code, whatever its case, of which there is one at the most.
pub(crate) fn find<'p>(program: &'p Program, season: Slug, code: &str) -> impl Iterator<Item = &'p Discount> {
    let code = code.to_lowercase();
    program
        .discounts
        .all_live()
        .filter(move |discount| discount.season == season && discount.code.to_lowercase() == code)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;
    use crate::program::discounts::Reduction;
    use crate::program::testing::{self, program, read};
    use kernel::text::{LocalTime, Money, Rate, Timestamp};

    fn discount(members: &str) -> Result<Discount, String> {
        read("DiscAAAA", &format!(r#""season":"SeasonAA",{members}"#))
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
    }
}
