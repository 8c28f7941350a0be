//! Random set-ups and orders.

use kernel::text::{Currency, Money, Rate, Slug, Timestamp};
use pricing::{Fee, Members, PriceAmount, PriceKind};

use crate::service::Random;

/// When orders are made.
pub(super) const NOW: i64 = 100;

/// A price with what it refers to.
pub(super) struct MadePrice {
    pub(super) slug: Slug,
    pub(super) kind: PriceKind,
    pub(super) tag: Option<&'static str>,
    pub(super) categories: Vec<Slug>,
    pub(super) chapters: Vec<Slug>,
    pub(super) members: Members,
    pub(super) amounts: Vec<PriceAmount>,
}

/// An entry with its tags.
pub(super) struct MadeEntry {
    pub(super) slug: Slug,
    pub(super) category: Slug,
    pub(super) chapter: Slug,
    pub(super) tags: Vec<String>,
}

/// A discount; of share and amounts there is one.
pub(super) struct MadeDiscount {
    pub(super) share: Option<Rate>,
    pub(super) amounts: Vec<Money>,
    pub(super) prices: Vec<Slug>,
    pub(super) from: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) limit: Option<i64>,
    pub(super) limit_of_user: Option<i64>,
    /// Of which every other one is the buyer's.
    pub(super) uses: i64,
}

/// A tax.
pub(super) struct MadeTax {
    pub(super) slug: Slug,
    pub(super) country: &'static str,
    pub(super) region: Option<&'static str>,
    pub(super) rate: Rate,
}

/// Everything that an order and what follows it depends on.
#[allow(clippy::struct_excessive_bools, reason = "each is a circumstance of its own")]
pub(super) struct Made {
    pub(super) currency: Currency,
    pub(super) prices: Vec<MadePrice>,
    pub(super) entries: Vec<MadeEntry>,
    pub(super) is_member: bool,
    pub(super) has_paid_as_entrant: bool,
    /// Tickets: how many of which unit.
    pub(super) tickets: Vec<(u32, i64)>,
    pub(super) discount: Option<MadeDiscount>,
    pub(super) fee: Fee,
    pub(super) taxes: Vec<MadeTax>,
    pub(super) is_inclusive: bool,
    pub(super) reverse_charge: Vec<String>,
    pub(super) country: &'static str,
    pub(super) region: &'static str,
    pub(super) vat_number: &'static str,
    /// Whether that number is one of the buyer's country.
    pub(super) is_vat_number: bool,
    pub(super) is_exempt: bool,
    /// What is asked to be credited, one after the other: the kind, a share in thousandths and a line.
    pub(super) refunds: Vec<(u32, u32, usize)>,
    /// What the first line costs after a change.
    pub(super) changed: i64,
}

/// VAT numbers of buyers in Great Britain and Canada, and whether each can be one of the country.
const GB: &[(&str, bool)] =
    &[("GB 123 4567 89", true), ("XI123456789", true), ("123456789", true), ("DE123456789", false)];
const CA: &[(&str, bool)] =
    &[("CA-12345", true), ("12345 RT0001", true), ("GB123456789", false), (" ", false), ("n/a", false)];

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[index(random, from.len())]
}

fn index(random: &mut Random, length: usize) -> usize {
    usize::try_from(random.below(u32::try_from(length).unwrap_or(u32::MAX))).unwrap_or_default()
}

/// True once in so many times.
fn once_in(random: &mut Random, times: u32) -> bool {
    random.below(times) == 0
}

/// The slug of these letters and one more.
fn slug(name: [u8; 7], number: usize) -> Slug {
    let mut letters = [b'A' + u8::try_from(number % 26).unwrap_or_default(); Slug::LENGTH];
    letters[..7].copy_from_slice(&name);
    // Letters are always a slug.
    Slug::from_letters(letters).unwrap_or_else(|| slug(*b"Unknown", number))
}

/// Some of the slugs of that name, or none.
fn some(random: &mut Random, name: [u8; 7], of: usize) -> Vec<Slug> {
    if once_in(random, 2) {
        Vec::new()
    } else {
        (0..=index(random, 2)).map(|_| slug(name, index(random, of))).collect()
    }
}

/// An amount: nothing, a few units, a common one, or a large one.
fn amount(random: &mut Random) -> i64 {
    match random.below(12) {
        0 => 0,
        1..=3 => i64::from(random.below(40)),
        4..=9 => i64::from(random.below(100_000)),
        10 => i64::from(random.below(100)) * 500,
        _ => i64::from(random.below(u32::MAX)) * 100,
    }
}

fn rate(random: &mut Random, most: u32) -> Rate {
    let value = match random.below(4) {
        0 => pick(random, &[50_000, 99_750, 190_000, 200_000, 175_000]).min(most),
        1 => random.below(most / 10_000 + 1) * 10_000,
        2 => random.below(most / 1_000 + 1) * 1_000,
        _ => random.below(most + 1),
    };
    Rate::from_ten_thousandths(value.into()).unwrap_or_default()
}

fn price(random: &mut Random, number: usize, currencies: [Currency; 2]) -> MadePrice {
    let kind =
        pick(random, &[PriceKind::Entry, PriceKind::Entry, PriceKind::Entry, PriceKind::Tag, PriceKind::Entrant]);
    let amounts = (0..=random.below(3)).map(|_| {
        let currency = currencies[usize::from(once_in(random, 10))];
        let from = pick(random, &[None, None, Some(NOW - 1), Some(NOW), Some(NOW + 1)]);
        PriceAmount { money: Money::new(amount(random), currency), from: from.map(Timestamp::from_seconds) }
    });
    let amounts = amounts.collect();
    MadePrice {
        slug: slug(*b"PricePP", number),
        kind,
        tag: (kind == PriceKind::Tag).then(|| pick(random, &["late", "new"])),
        categories: some(random, *b"Categor", 3),
        chapters: some(random, *b"Chapter", 2),
        members: pick(random, &[Members::All, Members::All, Members::Only, Members::None]),
        amounts,
    }
}

fn entry(random: &mut Random, number: usize) -> MadeEntry {
    let tags = (0..random.below(3)).map(|_| pick(random, &["late", "new", "other"]).to_owned());
    let tags = tags.collect();
    MadeEntry {
        slug: slug(*b"EntryEE", number),
        category: slug(*b"Categor", index(random, 3)),
        chapter: slug(*b"Chapter", index(random, 2)),
        tags,
    }
}

fn discount(random: &mut Random, currencies: [Currency; 2]) -> MadeDiscount {
    let share = once_in(random, 2).then(|| rate(random, 1_000_000));
    let currency = currencies[usize::from(once_in(random, 20))];
    MadeDiscount {
        share,
        amounts: if share.is_some() { Vec::new() } else { vec![Money::new(amount(random), currency)] },
        prices: some(random, *b"PricePP", 6),
        from: pick(random, &[None, None, None, Some(NOW - 1), Some(NOW), Some(NOW), Some(NOW + 1)]),
        until: pick(random, &[None, None, None, Some(NOW + 1), Some(NOW + 1), Some(NOW + 9), Some(NOW)]),
        limit: pick(random, &[None, None, None, Some(3)]),
        limit_of_user: pick(random, &[None, None, None, Some(1)]),
        uses: random.below(4).into(),
    }
}

fn tax(random: &mut Random, number: usize) -> MadeTax {
    MadeTax {
        slug: slug(*b"TaxTaxT", number),
        country: pick(random, &["GB", "CA", "CA"]),
        region: pick(random, &[None, Some("QC"), Some("on")]),
        rate: rate(random, 300_000),
    }
}

/// An order from a seed.
pub(super) fn order(seed: u64, currencies: &[Currency]) -> Made {
    let random = &mut Random::new(seed);
    let both = [pick(random, currencies), pick(random, currencies)];
    let country = pick(random, &["GB", "GB", "CA", "CA", ""]);
    let numbers = if country == "GB" { GB } else { CA };
    let (vat_number, is_vat_number) = if once_in(random, 2) { pick(random, numbers) } else { ("", false) };
    // The order in which things are made is not that of their slugs.
    let turned = |number: u32| usize::try_from(number * 5 % 6 + number / 6 * 6).unwrap_or_default();
    Made {
        currency: both[0],
        prices: (0..=random.below(6)).map(|number| price(random, turned(number), both)).collect(),
        entries: (0..random.below(7)).map(|number| entry(random, turned(number))).collect(),
        is_member: once_in(random, 2),
        has_paid_as_entrant: once_in(random, 2),
        tickets: (0..random.below(3)).map(|_| (random.below(21), amount(random))).collect(),
        discount: (!once_in(random, 3)).then(|| discount(random, both)),
        fee: Fee {
            rate: if once_in(random, 3) { Rate::ZERO } else { rate(random, 100_000) },
            fixed: if once_in(random, 2) { 0 } else { i64::from(random.below(500)) },
            is_taxed: once_in(random, 2),
        },
        taxes: (0..random.below(8)).map(|number| tax(random, turned(number))).collect(),
        is_inclusive: once_in(random, 2),
        reverse_charge: pick(random, &[&[][..], &["GB"], &["CA"], &["FR", "GB", "CA"]])
            .iter()
            .map(|of| (*of).to_owned())
            .collect(),
        country,
        region: pick(random, &["", "QC", " qc ", "ON", "AB"]),
        vat_number,
        is_vat_number,
        is_exempt: once_in(random, 12),
        refunds: (0..random.below(5)).map(|_| (random.below(3), random.below(1_001), index(random, 12))).collect(),
        changed: amount(random),
    }
}
