//! Which price applies to an entry, and the items that come of it.
//!
//! - A price applies to an entry where it names the entry's category or none, the entry's chapter or none, and is for members
//!   and others alike or for what the buyer is.
//! - Of several prices of one kind that apply, the most particular one counts: a price that names categories goes before
//!   one that does not, then one that names chapters, then one that is for members or others alone.
//! - Of equally particular ones the lowest amount counts, and of equal amounts the smallest slug, so that nothing depends on
//!   an order. Only those that have an amount in the currency at that time are compared. Where none of the most particular
//!   ones has, the entry cannot be paid for in that currency now: a more general price never stands in silently.
//! - Of several amounts of a price in one currency the one that began last holds; of two that began together, the lower.
//! - An entry is paid for once by a price of the kind `Entry`, and once for each of its tags by one of the kind `Tag`.
//!   The person who enters is paid for once a season by one of the kind `Entrant`, where it applies to any of the entries.
//! - An entry to which no price applies costs nothing and gives no item. Tickets are added by the caller.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::error::PricingError;
use crate::orders::Item;
use kernel::text::{Currency, Money, Slug, Timestamp};

/// What is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceKind {
    /// Each entry.
    Entry,
    /// Each person who enters, once a season.
    Entrant,
    /// Each entry with a tag.
    Tag,
    /// A ticket.
    Ticket,
}

/// For whom a price is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Members {
    /// For everybody.
    #[default]
    All,
    /// For members only.
    Only,
    /// For those who are no members.
    None,
}

/// An amount of a price, and since when it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceAmount {
    /// The amount, nothing or more.
    pub money: Money,
    /// The moment at which it begins to hold; none for before all others.
    pub from: Option<Timestamp>,
}

/// A price of the season of the entries.
#[derive(Clone, Copy, Debug)]
pub struct Price<'a> {
    /// Its slug.
    pub slug: Slug,
    /// What is paid for.
    pub kind: PriceKind,
    /// The tag, for the kind `Tag`.
    pub tag: Option<&'a str>,
    /// The categories whose entries it is for; empty for all.
    pub categories: &'a [Slug],
    /// The chapters whose entries it is for; empty for all.
    pub chapters: &'a [Slug],
    /// For whom it is.
    pub members: Members,
    /// Its amounts in any order.
    pub amounts: &'a [PriceAmount],
}

/// An entry that is to be paid for.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its slug.
    pub slug: Slug,
    /// Its category.
    pub category: Slug,
    /// Its chapter.
    pub chapter: Slug,
    /// Its tags; one that stands twice counts once.
    pub tags: &'a [String],
}

/// What else the choice of prices depends on.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The currency that is paid in.
    pub currency: Currency,
    /// When the order is made.
    pub now: Timestamp,
    /// Whether the buyer is a member.
    pub is_member: bool,
    /// Whether the buyer has paid for entering this season.
    pub has_paid_as_entrant: bool,
}

impl Price<'_> {
    fn applies_to(&self, entry: &Entry<'_>, is_member: bool) -> bool {
        let is_for_buyer = match self.members {
            Members::All => true,
            Members::Only => is_member,
            Members::None => !is_member,
        };
        is_for_buyer
            && (self.categories.is_empty() || self.categories.contains(&entry.category))
            && (self.chapters.is_empty() || self.chapters.contains(&entry.chapter))
    }

    /// How particular it is; the greater goes before.
    fn particularity(&self) -> (bool, bool, bool) {
        (!self.categories.is_empty(), !self.chapters.is_empty(), self.members != Members::All)
    }

    /// Its amount in a currency at a moment, in minor units.
    pub fn amount_at(&self, currency: Currency, now: Timestamp) -> Option<i64> {
        let of_currency = self.amounts.iter().filter(|amount| amount.money.currency() == currency);
        let begun = of_currency.filter(|amount| amount.from.is_none_or(|from| from <= now));
        let last = begun.max_by_key(|amount| (amount.from, Reverse(amount.money.minor())));
        last.map(|amount| amount.money.minor())
    }
}

/// The items of an order for these entries, each once, at the prices of their season that are in force: first those of each
/// entry in turn, then that of the person.
pub fn items(prices: &[Price<'_>], entries: &[Entry<'_>], conditions: &Conditions) -> Result<Vec<Item>, PricingError> {
    let mut items = Vec::new();
    for entry in entries {
        let applying = |kind: PriceKind, tag: Option<&str>| {
            let of_kind = prices.iter().filter(move |price| price.kind == kind && price.tag == tag);
            most_particular(of_kind.filter(|price| price.applies_to(entry, conditions.is_member)), conditions)
        };
        items.extend(applying(PriceKind::Entry, None)?.map(|item| Item { entry: Some(entry.slug), ..item }));
        for tag in entry.tags.iter().collect::<BTreeSet<_>>() {
            items.extend(applying(PriceKind::Tag, Some(tag))?.map(|item| Item { entry: Some(entry.slug), ..item }));
        }
    }
    if !conditions.has_paid_as_entrant {
        let of_kind = prices.iter().filter(|price| price.kind == PriceKind::Entrant);
        let applying =
            of_kind.filter(|price| entries.iter().any(|entry| price.applies_to(entry, conditions.is_member)));
        items.extend(most_particular(applying, conditions)?);
    }
    Ok(items)
}

/// The item at the price that counts of those that apply; none where none applies.
fn most_particular<'p>(
    applying: impl Iterator<Item = &'p Price<'p>>,
    conditions: &Conditions,
) -> Result<Option<Item>, PricingError> {
    let applying: Vec<&Price<'_>> = applying.collect();
    let Some(particularity) = applying.iter().map(|price| price.particularity()).max() else { return Ok(None) };
    let counting = applying.into_iter().filter(|price| price.particularity() == particularity);
    let counting: Vec<&Price<'_>> = counting.collect();
    let amounts = counting.iter().filter_map(|price| {
        let unit = price.amount_at(conditions.currency, conditions.now)?;
        Some((unit, price.slug, price.kind))
    });
    match (amounts.min(), counting.iter().map(|price| price.slug).min()) {
        (Some((unit, price, kind)), _) => Ok(Some(Item { entry: None, price, kind, unit, quantity: 1 })),
        (None, Some(price)) => Err(PricingError::NotPayable { price, currency: conditions.currency }),
        (None, None) => Ok(None),
    }
}
