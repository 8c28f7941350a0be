//! The rules of `pricing` as its documentation says them, in fractions without a bound, sharing no code with it.

use pricing::{Amounts, Asked, Item, Members, PriceKind, PricingError, Refused};
use scoring::rational::{Fraction, fraction, whole};

use super::made::{Made, MadeEntry, MadePrice, MadeTax, NOW};
use kernel::text::{Currency, Rate, Slug, Timestamp};

/// A line, or a sum of lines.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) base: Fraction,
    pub(super) discount: Fraction,
    pub(super) fee: Fraction,
    pub(super) taxable: Fraction,
    pub(super) taxes: Vec<Fraction>,
}

/// What is taken off an order.
pub(super) enum Off {
    Share(Fraction),
    Amount(Fraction),
}

fn part_of_hundred(rate: Rate) -> Fraction {
    fraction(rate.ten_thousandths(), 1_000_000).unwrap_or_else(|| whole(0))
}

fn half_up(exact: &Fraction) -> Fraction {
    (exact + part_of_hundred(Rate::from_ten_thousandths(500_000).unwrap_or_default())).floor()
}

fn sum<'a>(of: impl IntoIterator<Item = &'a Fraction>) -> Fraction {
    of.into_iter().fold(whole(0), |sum, one| sum + one)
}

fn minor(exact: &Fraction) -> Option<i64> {
    if exact.is_integer() { i64::try_from(exact.to_integer()).ok() } else { None }
}

/// Gives unit after unit to whoever is furthest below the exact share; `ranks` are those of the keys.
fn spread(amount: &Fraction, weights: &[Fraction], ranks: &[usize]) -> Vec<Fraction> {
    let all = sum(weights);
    let exact = |index: usize| if all == whole(0) { whole(0) } else { amount * &weights[index] / &all };
    let shares: Vec<Fraction> = (0..weights.len()).map(exact).collect();
    let mut given: Vec<Fraction> = shares.iter().map(Fraction::floor).collect();
    while all != whole(0) && sum(&given) < *amount {
        let mut next = 0;
        for index in 1..given.len() {
            let below = |index: usize| (&shares[index] - &given[index], weights[index].clone());
            let (this, best) = (below(index), below(next));
            if this > best || (this == best && ranks[index] < ranks[next]) {
                next = index;
            }
        }
        given[next] += whole(1);
    }
    given
}

/// The place of each in their order.
fn ranks<T: Ord>(of: &[T]) -> Vec<usize> {
    (0..of.len())
        .map(|index| of.iter().enumerate().filter(|(other, one)| (*one, *other) < (&of[index], index)).count())
        .collect()
}

/// The items of an order, or the price that cannot be paid.
pub(super) fn items(made: &Made) -> Result<Vec<Item>, Slug> {
    let mut items = Vec::new();
    let of_entry = |price: &MadePrice, entry: &MadeEntry| {
        let members = if made.is_member { [Members::All, Members::Only] } else { [Members::All, Members::None] };
        let has = |named: &[Slug], one: Slug| named.is_empty() || named.contains(&one);
        members.contains(&price.members)
            && has(&price.categories, entry.category)
            && has(&price.chapters, entry.chapter)
    };
    for entry in &made.entries {
        let here = |price: &&MadePrice| of_entry(price, entry);
        let of_kind = made.prices.iter().filter(|price| price.kind == PriceKind::Entry);
        items.extend(best(of_kind.filter(here).collect(), made, Some(entry.slug))?);
        let mut tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
        tags.sort_unstable();
        tags.dedup();
        for tag in tags {
            let of_tag = made.prices.iter().filter(|price| price.kind == PriceKind::Tag && price.tag == Some(tag));
            items.extend(best(of_tag.filter(here).collect(), made, Some(entry.slug))?);
        }
    }
    let of_person = made
        .prices
        .iter()
        .filter(|price| price.kind == PriceKind::Entrant && made.entries.iter().any(|entry| of_entry(price, entry)));
    if !made.has_paid_as_entrant {
        items.extend(best(of_person.collect(), made, None)?);
    }
    Ok(items)
}

fn best(mut applying: Vec<&MadePrice>, made: &Made, entry: Option<Slug>) -> Result<Option<Item>, Slug> {
    let weight = |price: &MadePrice| {
        let particular = [!price.categories.is_empty(), !price.chapters.is_empty(), price.members != Members::All];
        particular.iter().fold(0, |weight, is_so| weight * 2 + u8::from(*is_so))
    };
    applying.sort_by_key(|price| price.slug);
    let Some(most) = applying.iter().map(|price| weight(price)).max() else { return Ok(None) };
    applying.retain(|price| weight(price) == most);
    let mut chosen: Option<Item> = None;
    for price in &applying {
        let Some(unit) = amount_now(price, made.currency) else { continue };
        if chosen.is_none_or(|chosen| unit < chosen.unit) {
            chosen = Some(Item { entry, price: price.slug, kind: price.kind, unit, quantity: 1 });
        }
    }
    chosen.map(Some).ok_or(applying[0].slug)
}

fn amount_now(price: &MadePrice, currency: Currency) -> Option<i64> {
    let mut holding: Option<(Option<Timestamp>, i64)> = None;
    for amount in price.amounts.iter().filter(|amount| amount.money.currency() == currency) {
        let (from, minor) = (amount.from, amount.money.minor());
        let is_next = holding.is_none_or(|(last, lowest)| from > last || (from == last && minor < lowest));
        if from.is_none_or(|from| from.as_seconds() <= NOW) && is_next {
            holding = Some((from, minor));
        }
    }
    holding.map(|(_, minor)| minor)
}

/// What the discount takes off, or why it does not.
pub(super) fn discount(made: &Made) -> Result<Option<Off>, Refused> {
    let Some(discount) = &made.discount else { return Ok(None) };
    if discount.from.is_some_and(|from| from > NOW) {
        return Err(Refused::NotYet);
    }
    if discount.until.is_some_and(|until| NOW >= until) {
        return Err(Refused::Ended);
    }
    if discount.limit.is_some_and(|limit| discount.uses >= limit) {
        return Err(Refused::UsedUp);
    }
    if discount.limit_of_user.is_some_and(|limit| discount.uses / 2 >= limit) {
        return Err(Refused::UsedUpByUser);
    }
    match (discount.share, discount.amounts.iter().find(|amount| amount.currency() == made.currency)) {
        (Some(share), _) => Ok(Some(Off::Share(part_of_hundred(share)))),
        (None, Some(amount)) => Ok(Some(Off::Amount(whole(amount.minor())))),
        (None, None) => Err(Refused::OtherCurrency),
    }
}

/// The taxes that apply, by slug, and whether they are charged.
pub(super) fn taxes(made: &Made) -> (Vec<&MadeTax>, bool) {
    let of = |region: Option<&str>| {
        let is_so =
            |tax: &&MadeTax| tax.country == made.country && tax.region.map(str::to_uppercase).as_deref() == region;
        made.taxes.iter().filter(is_so).collect::<Vec<_>>()
    };
    let region = made.region.trim().to_uppercase();
    let mut taxes = of(Some(&region));
    if taxes.is_empty() {
        taxes = of(None);
    }
    taxes.sort_by_key(|tax| tax.slug);
    let is_reversed = made.is_vat_number && made.reverse_charge.iter().any(|country| country == made.country);
    (taxes, !made.is_exempt && !is_reversed)
}

/// The lines of an order.
pub(super) fn lines(items: &[Item], off: Option<&Off>, made: &Made) -> Vec<Parts> {
    let ranks = ranks(items);
    let listed: Vec<Fraction> = items.iter().map(cost).collect();
    let counted =
        items.iter().zip(&listed).map(|(item, cost)| if is_for(made, item) { cost.clone() } else { whole(0) });
    let counted: Vec<Fraction> = counted.collect();
    let reductions = match off {
        None => vec![whole(0); items.len()],
        Some(Off::Share(share)) => counted.iter().map(|cost| half_up(&(share * cost))).collect(),
        Some(Off::Amount(amount)) => spread(&sum(&counted).min(amount.clone()), &counted, &ranks),
    };
    let remaining: Vec<Fraction> = listed.iter().zip(&reductions).map(|(listed, off)| listed - off).collect();
    let fixed = spread(&whole(made.fee.fixed), &remaining, &ranks);
    (0..items.len()).map(|index| line(&listed[index], &reductions[index], &fixed[index], made)).collect()
}

fn cost(item: &Item) -> Fraction {
    whole(item.unit) * whole(item.quantity)
}

fn is_for(made: &Made, item: &Item) -> bool {
    made.discount.as_ref().is_none_or(|of| of.prices.is_empty() || of.prices.contains(&item.price))
}

fn line(listed: &Fraction, reduction: &Fraction, fixed: &Fraction, made: &Made) -> Parts {
    let (taxes, is_charged) = taxes(made);
    let rates: Vec<Fraction> = taxes.iter().map(|tax| part_of_hundred(tax.rate)).collect();
    let remaining = listed - reduction;
    let fee = half_up(&(part_of_hundred(made.fee.rate) * &remaining)) + fixed;
    let with_fee = if made.fee.is_taxed { &remaining + &fee } else { remaining.clone() };
    let contained = |gross: &Fraction| half_up(&(gross * sum(&rates) / (whole(1) + sum(&rates))));
    let without = |gross: &Fraction| if made.is_inclusive { gross - contained(gross) } else { gross.clone() };
    let taxable = without(&with_fee);
    let charged = if !is_charged {
        vec![whole(0); rates.len()]
    } else if made.is_inclusive {
        spread(&contained(&with_fee), &rates, &ranks(&taxes.iter().map(|tax| tax.slug).collect::<Vec<_>>()))
    } else {
        rates.iter().map(|rate| half_up(&(rate * &taxable))).collect()
    };
    Parts {
        base: without(listed),
        discount: without(listed) - without(&remaining),
        fee: if made.fee.is_taxed { &taxable - without(&remaining) } else { fee },
        taxable,
        taxes: charged,
    }
}

/// What a change of an item makes of its line.
pub(super) fn difference(was: &Item, reduction: i64, is: &Item, off: Option<&Off>, made: &Made) -> Parts {
    let now = match off {
        Some(Off::Share(share)) if is_for(made, is) => half_up(&(share * cost(is))),
        Some(Off::Amount(_)) if is_for(made, is) => cost(is).min(whole(reduction)),
        _ => whole(0),
    };
    let before = line(&cost(was), &whole(reduction), &whole(0), made);
    let more = line(&cost(is), &now, &whole(0), made).without(&before);
    // A discount that falls away makes the line dearer.
    let lost = more.discount.clone().min(whole(0));
    Parts { base: &more.base - &lost, discount: &more.discount - &lost, ..more }
}

/// What a credit takes from each line, of which so much is left.
pub(super) fn credit(left: &[Parts], asked: Asked<'_>) -> Result<Vec<Parts>, PricingError> {
    let everything: Vec<usize> = (0..left.len()).collect();
    let (lines, amount) = match asked {
        Asked::Everything => (&everything[..], None),
        Asked::Lines(lines) => (lines, None),
        Asked::Amount(amount) => (&everything[..], Some(whole(amount))),
        Asked::AmountOf(amount, lines) => (lines, Some(whole(amount))),
    };
    if let Some(line) = lines.iter().find(|line| **line >= left.len()) {
        return Err(PricingError::Line(*line));
    }
    let totals: Vec<Fraction> = lines.iter().map(|line| left[*line].total()).collect();
    let (all, mut taken) = (sum(&totals), left.iter().map(|line| line.times(0)).collect::<Vec<_>>());
    match amount {
        Some(amount) if amount > all => {
            return Err(PricingError::MoreThanLeft { left: minor(&all).unwrap_or_default() });
        }
        Some(amount) if amount < all => {
            let keys: Vec<Amounts> = lines.iter().filter_map(|line| left[*line].amounts()).collect();
            for (line, part) in lines.iter().zip(spread(&amount, &totals, &ranks(&keys))) {
                taken[*line] = left[*line].share(&part);
            }
        }
        _ => lines.iter().for_each(|line| taken[*line] = left[*line].clone()),
    }
    let is_nothing = |line: &usize| taken[*line].amounts().is_none_or(|amounts| amounts.is_nothing());
    if lines.iter().all(is_nothing) { Err(PricingError::NothingToCredit) } else { Ok(taken) }
}

impl Parts {
    pub(super) fn total(&self) -> Fraction {
        &self.base - &self.discount + &self.fee + sum(&self.taxes)
    }

    fn times(&self, factor: i64) -> Self {
        let times = |one: &Fraction| one * whole(factor);
        Self {
            base: times(&self.base),
            discount: times(&self.discount),
            fee: times(&self.fee),
            taxable: times(&self.taxable),
            taxes: self.taxes.iter().map(times).collect(),
        }
    }

    /// What is left after something was taken.
    pub(super) fn without(&self, taken: &Self) -> Self {
        Self {
            base: &self.base - &taken.base,
            discount: &self.discount - &taken.discount,
            fee: &self.fee - &taken.fee,
            taxable: &self.taxable - &taken.taxable,
            taxes: self.taxes.iter().zip(&taken.taxes).map(|(left, taken)| left - taken).collect(),
        }
    }

    /// What an amount takes of the parts.
    fn share(&self, amount: &Fraction) -> Self {
        if *amount == self.total() {
            return self.times(i64::from(*amount != whole(0)));
        }
        let price = &self.base - &self.discount;
        let mut parts = vec![price.clone(), self.fee.clone()];
        parts.extend(self.taxes.iter().cloned());
        let order: Vec<usize> = (0..parts.len()).collect();
        let mut given = spread(amount, &parts, &order);
        let taxes = given.split_off(2);
        let discount = if price == whole(0) { whole(0) } else { (&self.discount * &given[0] / &price).floor() };
        let taxes_fee = self.taxable != price;
        let taxable = if taxes_fee { &given[0] + &given[1] } else { given[0].clone() };
        Self { base: &given[0] + &discount, discount, fee: given[1].clone(), taxable, taxes }
    }

    /// In minor units, where all are whole.
    pub(super) fn amounts(&self) -> Option<Amounts> {
        Some(Amounts {
            base: minor(&self.base)?,
            discount: minor(&self.discount)?,
            fee: minor(&self.fee)?,
            taxable: minor(&self.taxable)?,
            taxes: self.taxes.iter().map(minor).collect::<Option<_>>()?,
            total: minor(&self.total())?,
        })
    }
}
