//! Discounts: codes that take something off what an order costs.
//!
//! - A discount belongs to a season. Its code is compared without case, and no other discount of the season that is not
//!   in the trash has it.
//! - It takes off either `percent` of a price or an amount in the currency of the order, never more than the price.
//! - It holds from `start_date` and no longer at `end_date`, times of the account's time zone; null is no bound.
//! - Where it names prices, which are of the same season, it takes something off those only.
//! - `limit` says in how many orders it can be used, `limit_per_user` in how many of one person.
//! - Discounts are set up by program files.

mod members;
mod rules;

pub use rules::find;

use super::prices::{Amount, read_amounts, write_amounts};
use super::{Context, Member, Program, SetupRecord};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discount {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// What people type in.
    pub code: String,
    /// What it is called.
    pub name: Translated,
    /// What it takes off; the members `percent` and `amounts`.
    pub reduction: Reduction,
    /// When it begins to hold, in the account's time zone.
    pub start_date: Option<LocalTime>,
    /// When it ends, in the account's time zone.
    pub end_date: Option<LocalTime>,
    /// In how many orders it can be used.
    pub limit: Option<i64>,
    /// In how many orders of one person it can be used.
    pub limit_per_user: Option<i64>,
    /// The prices that it takes something off; none means every one.
    pub prices: Vec<Slug>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Discount {
    const KIND: Kind = Kind::Discount;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let season = members.required("season", input::slug);
        let code = members.required("code", read_code);
        let name = members.optional("name", input::translated(&context.languages, NAME_LENGTH));
        let reduction = read_reduction(members);
        let start_date = members.nullable("start_date", input::local_time).flatten();
        let end_date = members.nullable("end_date", input::local_time).flatten();
        if start_date.zip(end_date).is_some_and(|(start, end)| end <= start) {
            members.fault("end_date", "must be behind start_date");
        }
        let mut limit = |name| members.nullable(name, input::integer(1..=LIMIT)).flatten();
        let (limit, limit_per_user) = (limit("limit"), limit("limit_per_user"));
        let prices = members.optional("prices", input::slugs(PRICES));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            code: code?,
            name: name.unwrap_or_default(),
            reduction: reduction?,
            start_date,
            end_date,
            limit,
            limit_per_user,
            prices: prices.unwrap_or_default(),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.text("code", &self.code);
        object.locales("name", &self.name);
        match &self.reduction {
            Reduction::Percent(percent) => object.rate("percent", *percent),
            Reduction::Amounts(amounts) => {
                let amounts: Vec<_> = amounts.iter().map(|money| Amount { money: *money, from: None }).collect();
                write_amounts(&amounts, object);
            }
        }
        object.optional_local_time("start_date", self.start_date);
        object.optional_local_time("end_date", self.end_date);
        object.optional_integer("limit", self.limit);
        object.optional_integer("limit_per_user", self.limit_per_user);
        object.slugs("prices", &self.prices);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        let prices = self.prices.iter().map(|price| ("prices", Kind::Price, *price));
        std::iter::once(("season", Kind::Season, self.season)).chain(prices).collect()
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
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

/// Either a percentage or amounts.
fn read_reduction(members: &mut Members<'_>) -> Option<Reduction> {
    let percent = members.nullable("percent", input::rate).flatten();
    if percent.is_some_and(Rate::is_zero) {
        members.fault("percent", "must be above 0");
    }
    let amounts: Vec<Money> = read_amounts(members, false).into_iter().map(|amount| amount.money).collect();
    if amounts.iter().any(|amount| amount.minor() == 0) {
        members.fault("amounts", "must have amounts above 0");
    }
    match (percent, amounts.is_empty()) {
        (Some(percent), true) => Some(Reduction::Percent(percent)),
        (None, false) => Some(Reduction::Amounts(amounts)),
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
