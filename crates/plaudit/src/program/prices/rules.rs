//! Pure rules of prices.

use jiff::tz::TimeZone;

use super::Price;
use crate::program::Program;
use crate::program::checks::Checks;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Currency, Money, Timestamp};

/// What is wrong with a price among the records that it refers to.
pub(super) fn check(price: &Price, program: &Program) -> Violations {
    let mut checks = Checks::new(program, Kind::Price, price.season);
    checks.categories(&price.categories, None);
    checks.chapters(&price.chapters);
    checks.finish()
}

impl Price {
    /// The amount in a currency at a moment, by the clocks of the account's zone.
    pub fn amount_at(&self, currency: Currency, now: Timestamp, zone: &TimeZone) -> Option<Money> {
        let begun = self.amounts.iter().filter(|amount| amount.money.currency() == currency).copied();
        // Clocks that are put back show an earlier time again; an amount that has begun stays begun all the same.
        let begun = begun.filter(|amount| amount.from.is_none_or(|from| from.earliest(zone) <= now));
        begun.max_by_key(|amount| amount.from).map(|amount| amount.money)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::prices::{Amount, MemberStatus, PriceType};
    use crate::program::store;
    use crate::program::testing::{self, program, read};

    fn price(members: &str) -> Result<Price, String> {
        read("PriceAAA", &format!(r#""season":"SeasonAA","title":{{"en_GB":"Early"}},{members}"#))
    }

    fn amounts(amounts: &str) -> Result<Price, String> {
        price(&format!(r#""amounts":[{amounts}]"#))
    }

    fn currency(code: &str) -> Currency {
        Currency::parse(code).unwrap()
    }

    #[test]
    fn amounts_are_exact() {
        let price = amounts(r#"{"currency":"USD","amount":12.5},{"currency":"JPY","amount":1250}"#).unwrap();
        let now = Timestamp::from_seconds(0);
        assert_eq!(price.amount_at(currency("USD"), now, &TimeZone::UTC).unwrap().minor(), 1250);
        assert_eq!(price.amount_at(currency("EUR"), now, &TimeZone::UTC), None);
        let stored = r#""amounts":[{"currency":"USD","amount":12.50},{"currency":"JPY","amount":1250}]"#;
        assert!(store::stored(&price).contains(stored));
    }

    #[test]
    fn a_price_switches_over_by_itself() {
        let price = amounts(
            r#"{"currency":"EUR","amount":90,"from":"2026-10-25 02:30:00"},{"currency":"EUR","amount":50},
               {"currency":"EUR","amount":70,"from":"2026-03-01 00:00:00"},
               {"currency":"USD","amount":60,"from":"2026-03-01 00:00:00"}"#,
        )
        .unwrap();
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = |code, text| price.amount_at(currency(code), Timestamp::parse(text).unwrap(), &zone).map(Money::minor);
        assert_eq!(at("EUR", "2026-02-28T22:59:59.000000Z"), Some(5000));
        assert_eq!(at("EUR", "2026-02-28T23:00:00.000000Z"), Some(7000));
        assert_eq!(at("EUR", "2026-10-25T00:29:59.000000Z"), Some(7000));
        // 02:30 comes twice that night, and in between the clocks show less.
        for later in ["2026-10-25T00:30:00.000000Z", "2026-10-25T01:10:00.000000Z", "2027-01-01T00:00:00.000000Z"] {
            assert_eq!(at("EUR", later), Some(9000), "{later}");
        }
        assert_eq!(at("USD", "2026-02-28T22:59:59.000000Z"), None);
        assert_eq!(at("USD", "2026-02-28T23:00:00.000000Z"), Some(6000));
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for (wrong, member) in [
            (r#"{"currency":"USD","amount":1.005}"#, "amounts.1.amount"),
            (r#"{"currency":"USD","amount":-1}"#, "amounts.1.amount"),
            (r#"{"currency":"usd","amount":1}"#, "amounts.1.currency"),
            (r#"{"currency":"USD","amount":1,"from":"2026-03-01"}"#, "amounts.1.from"),
            (r#"{"currency":"USD","amount":1},{"currency":"USD","amount":2}"#, "two amounts in USD"),
        ] {
            let error = amounts(wrong).unwrap_err();
            assert!(error.contains(member), "{error}");
        }
        assert!(price(r#""type":"tag""#).unwrap_err().contains("tag"));
        assert!(price(r#""tag":"late""#).unwrap_err().contains("tag"));
    }

    #[test]
    fn categories_and_chapters_are_of_the_season() {
        let price = price(r#""categories":["CategAAA"],"chapters":["ChapterA"]"#).unwrap();
        let program = program(&[
            ("category", "CategAAA", r#""season":"SeasonBB","name":{}"#),
            ("chapter", "ChapterA", r#""season":"SeasonBB","name":{}"#),
        ]);
        let members: Vec<_> = check(&price, &program).iter().map(|(member, _)| member.to_owned()).collect();
        assert_eq!(members, ["categories", "chapters"]);
    }

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, season, title) in (testing::slug(), testing::slug(), testing::translated()),
            (kind, tag) in (testing::choice(PriceType::CHOICES), "[a-z]{1,9}"),
            (categories, chapters) in (testing::slugs(), testing::slugs()),
            (first, second) in (testing::amounts(), testing::amounts()),
            (from, member_status) in (testing::local_time(), testing::choice(MemberStatus::CHOICES)),
            (created, updated) in (testing::time(), testing::time()),
        ) {
            let first = first.into_iter().map(|money| Amount { money, from: None });
            let second = second.into_iter().map(|money| Amount { money, from: Some(from) });
            testing::reads_back(&Price {
                slug, season, title, kind, member_status, tag: (kind == PriceType::Tag).then_some(tag), categories, chapters,
                amounts: first.chain(second).collect(), created, updated,
            });
        }
    }
}
