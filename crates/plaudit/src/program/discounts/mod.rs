//! Discounts: codes that take something off what an order costs.
//!
//! - A discount belongs to a season. Its code is compared without case, and no other discount of the season that is not
//!   in the trash has it.
//! - It takes off either `percent` of a price or an amount in the currency of the order, never more than the price.
//! - It holds from `start_date` and no longer at `end_date`, times of the account's time zone; null is no bound.
//! - Where it names prices, which are of the same season, it takes something off those only.
//! - `limit` says in how many orders it can be used, `limit_per_user` in how many of one person.
//! - Discounts are set up by program files.

pub(crate) mod rules;

use super::checks::check_period;
use super::prices::{AMOUNTS, Amount, read_amounts, write_amounts};
use super::{Context, Member, MemberValue, NAME_LENGTH, Record, RecordMembers, Shape};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{LocalTime, Money, Rate, Slug, Timestamp, Translated};

/// The most characters of a code.
pub const CODE_LENGTH: usize = 64;
/// The most prices that a discount names.
pub const PRICES: usize = 10_000;
/// The largest limit.
pub const LIMIT: i64 = 1_000_000_000;

/// What a discount takes off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// A part of the price.
    Percent(Rate),
    /// An amount, in each currency that it is for.
    Amounts(Vec<Money>),
}

/// A discount.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link()), check = check_period(start_date, end_date))]
pub struct Discount {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// What people type in; upper and lower case are the same.
    #[member(FilledText(CODE_LENGTH), read = read_code, required, identifying)]
    pub code: String,
    /// What it is called.
    #[member(Translated(NAME_LENGTH), is_name)]
    pub name: Translated,
    /// What it takes off; the members `percent` and `amounts`.
    #[member(flatten)]
    pub reduction: Reduction,
    /// When it begins to hold, in the account's time zone; null for no bound.
    pub start_date: Option<LocalTime>,
    /// When it holds no longer, in the account's time zone; null for no bound.
    pub end_date: Option<LocalTime>,
    /// In how many orders it can be used; null for no limit.
    #[member(Integer(1, LIMIT))]
    pub limit: Option<i64>,
    /// In how many orders of one person it can be used; null for no limit.
    #[member(Integer(1, LIMIT))]
    pub limit_per_user: Option<i64>,
    /// The prices that it takes something off; none means every one.
    #[member(Set(&Shape::Ref(Kind::Price), PRICES))]
    pub prices: Vec<Slug>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// What can be typed in: without blanks around it and without control characters.
fn read_code(json: &Json) -> Result<String, String> {
    let code = input::filled_text(CODE_LENGTH)(json)?;
    if code.trim() == code && !code.chars().any(char::is_control) {
        Ok(code)
    } else {
        Err("must have neither blanks around it nor control characters".to_owned())
    }
}

const AMOUNT: Shape = Shape::Object(&[
    Member::required("currency", kernel::text::Currency::SHAPE, "The currency."),
    Member::required("amount", Shape::Number(Some(0), None), "How much, with at most the currency's own decimals."),
]);

impl RecordMembers for Reduction {
    type Key = Slug;

    const MEMBERS: &'static [Member] = &[
        Member::optional(
            "percent",
            Shape::Number(Some(0), Some(100)),
            "The part of a price that it takes off, in per cent.",
        )
        .nullable(),
        Member::optional(
            "amounts",
            Shape::List(&AMOUNT, AMOUNTS),
            "The amount that it takes off in each currency, where it is no percentage.",
        ),
    ];

    /// Either a percentage or amounts.
    fn read(members: &mut Members<'_>, _: Slug, _: &Context) -> Option<Self> {
        let percent = members.nullable("percent", input::rate).flatten();
        if percent.is_some_and(Rate::is_zero) {
            members.fault("percent", "must be above 0");
        }
        let amounts: Vec<Money> = read_amounts(members, false).into_iter().map(|amount| amount.money).collect();
        if amounts.iter().any(|amount| amount.minor() == 0) {
            members.fault("amounts", "must have amounts above 0");
        }
        match (percent, amounts.is_empty()) {
            (Some(percent), true) => Some(Self::Percent(percent)),
            (None, false) => Some(Self::Amounts(amounts)),
            (Some(_), false) => {
                members.fault("amounts", "must be left out where percent is given");
                None
            }
            (None, true) => {
                members.fault("percent", "is required, unless amounts are given");
                None
            }
        }
    }

    fn write(&self, object: &mut Object<'_>) {
        match self {
            Self::Percent(percent) => object.rate("percent", *percent),
            Self::Amounts(amounts) => {
                let amounts: Vec<_> = amounts.iter().map(|money| Amount { money: *money, from: None }).collect();
                write_amounts(&amounts, object);
            }
        }
    }
}
