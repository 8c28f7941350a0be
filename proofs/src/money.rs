//! `money`: random orders, refunds and changes against the same rules in fractions that are never rounded but where
//! the rules say so.

use anyhow::{Context as _, Result};
use kernel::text::{Currency, Timestamp};
use pricing::{
    Amounts, Asked, Buyer, Change, Conditions, CreditLine, Difference, Discount, Entry, Granted, Item, Price,
    PriceKind, PricingError, Quote, Reduction, Refused, Tax, TaxRules, Taxation, Terms, Treatment, Uses,
};

use self::exact::Off;
use self::made::{Made, NOW};
use super::service::Checks;
use super::{Context, Proof, Verdict};

mod exact;
mod made;

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "money",
    claim: "1,000,000 random orders with their prices, discounts, fees, taxes, refunds and changes of category agree \
            with a separate exact calculation in every part of every line, and refunds of everything leave nothing.",
    run,
};

const WHOLE: u64 = 1_000_000;
const SHORT: u64 = 20_000;

/// What was seen: an order of a kind that never comes shows nothing.
#[derive(Default)]
struct Seen {
    lines: usize,
    credits: usize,
    not_payable: usize,
    refused: usize,
    shares: usize,
    amounts: usize,
    inclusive: usize,
    several_taxes: usize,
    reversed: usize,
    exempt: usize,
    of_nothing: usize,
    increases: usize,
    decreases: usize,
    credited: usize,
}

fn run(context: &Context) -> Result<Verdict> {
    let orders = if context.short { SHORT } else { WHOLE };
    let codes = ["JPY", "EUR", "USD", "KWD", "CLF"].into_iter();
    let currencies: Vec<Currency> =
        codes.map(|code| Currency::parse(code).context("a currency is unknown")).collect::<Result<_>>()?;
    let (mut checks, mut seen) = (Checks::default(), Seen::default());
    for seed in 0..orders {
        let made = made::order(seed, &currencies);
        if let Err(what) = compare(&made, &mut seen) {
            checks.check(false, || format!("order {seed}: {what}"));
        } else {
            checks.check(true, String::new);
        }
    }
    for (name, count) in seen.counts() {
        println!("  {count} {name}");
        checks.check(count > 0, || format!("there were no {name}"));
    }
    Ok(checks.verdict(&format!("{orders} orders with {} lines and {} lines of credit", seen.lines, seen.credits)))
}

/// Holds one order and what follows it against the exact calculation, and tells the first difference.
fn compare(made: &Made, seen: &mut Seen) -> Result<(), String> {
    let items = match (chosen(made), exact::items(made)) {
        (Ok(items), Ok(expected)) => {
            equal("items", &items, &expected)?;
            items
        }
        (Err(PricingError::NotPayable { price, currency }), Err(expected)) => {
            seen.not_payable += 1;
            equal("the price that cannot be paid", &(price, currency), &(expected, made.currency))?;
            return Ok(());
        }
        (chosen, expected) => return Err(format!("items {chosen:?}, not {expected:?}")),
    };
    let items = with_tickets(items, made);
    let (granted, off) = match (granted(made), exact::discount(made)) {
        (Ok(granted), Ok(off)) => (granted, off),
        (Err(refused), Err(expected)) => {
            seen.refused += 1;
            equal("the refusal", &refused, &expected)?;
            (None, None)
        }
        (granted, _) => return Err(format!("a discount is {granted:?}")),
    };
    let terms = Terms { currency: made.currency, discount: granted, fee: made.fee, taxation: taxation(made) };
    let (taxes, is_charged) = exact::taxes(made);
    let slugs = |taxation: &Taxation<'_>| taxation.taxes.iter().map(|tax| tax.slug).collect::<Vec<_>>();
    equal("taxes", &slugs(&terms.taxation), &taxes.iter().map(|tax| tax.slug).collect())?;
    equal("whether taxes are charged", &(terms.taxation.treatment == Treatment::Charged), &is_charged)?;

    let order = pricing::quote(&items, &terms).map_err(|error| error.to_string())?;
    let expected = exact::lines(&items, off.as_ref(), made);
    let lines = amounts(&order);
    equal("lines", &lines, &whole(&expected)?)?;
    let sums = lines.iter().try_fold(Amounts::nothing(taxes.len()), |sums, line| sums.plus(line));
    equal("sums", &Ok(&order.sums), &sums.as_ref())?;
    if order.sums.total < 0 {
        return Err(format!("a total of {}", order.sums.total));
    }
    seen.note(&order, &terms, off.as_ref());
    changed(&order, &terms, off.as_ref(), made, seen)?;
    refunded(&lines, expected, made, seen)
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, value: &T, expected: &T) -> Result<(), String> {
    if value == expected { Ok(()) } else { Err(format!("{what}: {value:?}, not {expected:?}")) }
}

fn amounts(order: &Quote<'_>) -> Vec<Amounts> {
    order.lines.iter().map(|line| line.amounts.clone()).collect()
}

fn whole(lines: &[exact::Parts]) -> Result<Vec<Amounts>, String> {
    lines.iter().map(|line| line.amounts().ok_or_else(|| "an exact amount is no whole one".to_owned())).collect()
}

fn chosen(made: &Made) -> Result<Vec<Item>, PricingError> {
    let prices = made.prices.iter().map(|price| Price {
        slug: price.slug,
        kind: price.kind,
        tag: price.tag,
        categories: &price.categories,
        chapters: &price.chapters,
        members: price.members,
        amounts: &price.amounts,
    });
    let entries = made.entries.iter().map(|entry| Entry {
        slug: entry.slug,
        category: entry.category,
        chapter: entry.chapter,
        tags: &entry.tags,
    });
    let conditions = Conditions {
        currency: made.currency,
        now: Timestamp::from_seconds(NOW),
        is_member: made.is_member,
        has_paid_as_entrant: made.has_paid_as_entrant,
    };
    pricing::items(&prices.collect::<Vec<_>>(), &entries.collect::<Vec<_>>(), &conditions)
}

fn with_tickets(mut items: Vec<Item>, made: &Made) -> Vec<Item> {
    let price = made.prices[0].slug;
    let tickets = made.tickets.iter();
    items.extend(tickets.map(|&(quantity, unit)| Item { entry: None, price, kind: PriceKind::Ticket, unit, quantity }));
    items
}

fn granted(made: &Made) -> Result<Option<Granted<'_>>, Refused> {
    let Some(discount) = &made.discount else { return Ok(None) };
    let reduction = discount.share.map_or(Reduction::Amounts(&discount.amounts), Reduction::Share);
    let record = Discount {
        reduction,
        prices: &discount.prices,
        from: discount.from.map(Timestamp::from_seconds),
        until: discount.until.map(Timestamp::from_seconds),
        limit: discount.limit,
        limit_per_user: discount.limit_of_user,
    };
    let uses = Uses { all: discount.uses, of_user: discount.uses / 2 };
    record.granted(made.currency, Timestamp::from_seconds(NOW), uses).map(Some)
}

fn taxation(made: &Made) -> Taxation<'_> {
    let taxes = made.taxes.iter().map(|tax| Tax {
        slug: tax.slug,
        country: tax.country,
        region: tax.region,
        term: "tax",
        rate: tax.rate,
    });
    let rules = TaxRules { inclusive: made.is_inclusive, reverse_charge: &made.reverse_charge };
    let buyer =
        Buyer { country: made.country, region: made.region, vat_number: made.vat_number, is_exempt: made.is_exempt };
    pricing::taxation(&taxes.collect::<Vec<_>>(), &rules, &buyer)
}

/// Changes what the first line costs.
fn changed(
    order: &Quote<'_>,
    terms: &Terms<'_>,
    off: Option<&Off>,
    made: &Made,
    seen: &mut Seen,
) -> Result<(), String> {
    let Some(line) = order.lines.first() else { return Ok(()) };
    let price = made.prices.last().map_or(line.item.price, |price| price.slug);
    let is = Item { unit: made.changed, price, ..line.item };
    let change = Change { was: line.item, reduction: line.reduction, is };
    let expected = exact::difference(&line.item, line.reduction, &is, off, made);
    let total = match pricing::difference(&[change], terms).map_err(|error| error.to_string())? {
        Difference::Nothing => 0,
        Difference::Order(order) => {
            seen.increases += 1;
            equal("a line of a difference", &Some(&order.lines[0].amounts), &expected.amounts().as_ref())?;
            order.sums.total
        }
        Difference::Credit(amount) => {
            seen.decreases += 1;
            -amount
        }
    };
    equal("the difference", &scoring::rational::whole(total), &expected.total())
}

/// Credits parts of an order and tells how much; then, to see that nothing is left, the rest.
fn refunded(lines: &[Amounts], mut left: Vec<exact::Parts>, made: &Made, seen: &mut Seen) -> Result<(), String> {
    let mut credits: Vec<CreditLine> = Vec::new();
    let mut credited = 0;
    for (step, &(kind, share, line)) in made.refunds.iter().chain([&(9, 0, 0)]).enumerate() {
        let total = |amounts: &[Amounts]| amounts.iter().map(|amounts| amounts.total).sum::<i64>();
        let before = whole(&left)?;
        let part = |whole: i64| 1 + i64::try_from(i128::from(whole) * i128::from(share) / 1_000).unwrap_or_default();
        let of_line = before.get(line).map_or(0, |amounts| amounts.total);
        let one = [line];
        let asked = match kind {
            0 => Asked::Amount(part(total(&before))),
            1 => Asked::AmountOf(part(of_line), &one),
            2 => Asked::Lines(&one),
            _ => Asked::Everything,
        };
        match (pricing::credit(lines, &credits, asked), exact::credit(&left, asked)) {
            (Ok(given), Ok(taken)) => {
                let mut expected = whole(&taken)?;
                left = left.iter().zip(&taken).map(|(left, taken)| left.without(taken)).collect();
                if step < made.refunds.len() {
                    credited += total(&expected);
                }
                credits.extend(given.iter().cloned());
                seen.credits += given.len();
                for line in given {
                    let back = Amounts::nothing(line.amounts.taxes.len()).minus(&line.amounts);
                    let amounts = std::mem::take(&mut expected[line.line]);
                    equal("a credit", &back, &Ok(amounts))?;
                }
                equal("what is not credited", &expected.iter().all(Amounts::is_nothing), &true)?;
            }
            (Err(error), Err(expected)) => equal("a refusal", &error, &expected)?,
            (given, _) => return Err(format!("a credit is {given:?}")),
        }
    }
    let rest = pricing::left(lines, &credits).map_err(|error| error.to_string())?;
    equal("what is left", &rest.iter().all(Amounts::is_nothing), &true)?;
    seen.credited += usize::from(credited > 0);
    Ok(())
}

impl Seen {
    fn note(&mut self, order: &Quote<'_>, terms: &Terms<'_>, off: Option<&Off>) {
        let is_any = !order.lines.is_empty();
        let mut count = |place: fn(&mut Self) -> &mut usize, is_so: bool| *place(self) += usize::from(is_so && is_any);
        count(|seen| &mut seen.shares, matches!(off, Some(Off::Share(_))));
        count(|seen| &mut seen.amounts, matches!(off, Some(Off::Amount(_))));
        count(|seen| &mut seen.inclusive, terms.taxation.inclusive && !terms.taxation.taxes.is_empty());
        count(|seen| &mut seen.several_taxes, terms.taxation.taxes.len() > 1);
        count(|seen| &mut seen.reversed, terms.taxation.treatment == Treatment::ReverseCharge);
        count(|seen| &mut seen.exempt, terms.taxation.treatment == Treatment::Exempt);
        count(|seen| &mut seen.of_nothing, order.sums.total == 0);
        self.lines += order.lines.len();
    }

    fn counts(&self) -> [(&'static str, usize); 12] {
        [
            ("orders with a price that cannot be paid in their currency", self.not_payable),
            ("discounts that were refused", self.refused),
            ("orders with a share off", self.shares),
            ("orders with an amount off", self.amounts),
            ("orders with taxes in their prices", self.inclusive),
            ("orders with several taxes", self.several_taxes),
            ("orders with a reverse charge", self.reversed),
            ("orders of exempt persons", self.exempt),
            ("orders of nothing", self.of_nothing),
            ("changes that cost more", self.increases),
            ("changes that cost less", self.decreases),
            ("orders of which parts were credited", self.credited),
        ]
    }
}
