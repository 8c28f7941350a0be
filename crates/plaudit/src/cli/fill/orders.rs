//! The orders of a synthetic account.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Filling;
use super::plan::{PRICES, Plan, Random};
use crate::cli::store;
use crate::records::orders::{self, Billing, Given, Item, Order, Payment, PaymentStatus, RelatedData, TaxDetails};
use db::{DbError, Value};
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Currency, Money, Rate, Slug};

/// What the prices of a season cost, in minor units.
const AMOUNTS: [i64; 3] = [9_500, 15_000, 22_000];

/// The tax, in ten-thousandths of a per cent.
const TAX: i64 = 200_000;

/// How many orders a statement adds.
const BATCH_SIZE: usize = 64;

/// The columns of the entries that orders name.
const ENTRIES: &[&str] = &["account", "order_slug", "entry", "price", "deleted"];

/// Orders that wait to be added: one statement for many is several times as fast on PostgreSQL.
#[derive(Default)]
struct Waiting {
    rows: Vec<Vec<(&'static str, Value<'static>)>>,
    entries: Vec<Vec<Value<'static>>>,
}

/// Writes all of them.
pub(super) async fn write<'d>(mut filling: Filling<'d>, plan: &Plan) -> Result<Filling<'d>, DbError> {
    let (Some(dollar), Some(euro)) = (Currency::parse("USD"), Currency::parse("EUR")) else {
        return Err(DbError::Failed("a currency is missing".to_owned()));
    };
    let mut waiting = Waiting::default();
    for place in 0..plan.orders {
        let mut random = plan.random(Kind::Order, place);
        let currency = if random.percent(80) { dollar } else { euro };
        let (order, around) = order(plan, place, currency, &mut random)?;
        let doc = orders::shown(&order, &around);
        let revision = filling.log(Kind::Order, order.slug.as_str(), doc.clone()).await?;
        let account = filling.account;
        waiting.rows.push(orders::store::row(account, (&order, &doc), revision));
        let named = |row: Vec<_>| [account.into(), order.slug.into()].into_iter().chain(row).collect();
        waiting.entries.extend(orders::store::entries(&order).into_iter().map(named));
        if waiting.rows.len() >= BATCH_SIZE {
            flush(&mut filling, std::mem::take(&mut waiting)).await?;
        }
        if filling.is_full() {
            flush(&mut filling, std::mem::take(&mut waiting)).await?;
            filling = filling.commit().await?;
        }
    }
    flush(&mut filling, waiting).await?;
    Ok(filling)
}

/// Adds what waits.
async fn flush(filling: &mut Filling<'_>, waiting: Waiting) -> Result<(), DbError> {
    let columns: Vec<_> = waiting.rows.first().into_iter().flatten().map(|(name, _)| *name).collect();
    let values = |row: Vec<_>| row.into_iter().map(|(_, value)| value).collect();
    store::fill(&mut filling.tx, "orders", &columns, waiting.rows.into_iter().map(values).collect()).await?;
    store::fill(&mut filling.tx, "order_entries", ENTRIES, waiting.entries).await
}

fn order(plan: &Plan, place: u64, currency: Currency, random: &mut Random) -> Result<(Order, RelatedData), DbError> {
    let (season, created_at) = Plan::season_and_time(place, plan.orders);
    let is_paid = random.percent(70);
    let transaction_date = is_paid.then(|| created_at.plus(Duration::from_secs(random.below(3 * 86_400))));
    let updated = transaction_date.unwrap_or(created_at).plus(Duration::from_secs(random.below(30 * 86_400)));
    let mut titles = BTreeMap::new();
    let items: Vec<Item> = (0..=random.below(3)).map(|_| item(plan, season, currency, random, &mut titles)).collect();
    let tax = is_taxed(random).then(|| tax(plan));
    let tax_rate = tax.as_ref().map_or(Rate::ZERO, |tax| tax.rate);
    let totals = orders::totals(&items, &Given::default(), (tax_rate, Rate::ZERO), currency)
        .map_err(|violations: Violations| DbError::Failed(format!("{violations:?}")))?;
    let purchaser = plan.slug(Kind::User, random.below(plan.users));
    let text = str::to_owned;
    let order = Order {
        slug: plan.slug(Kind::Order, place),
        invoice_number: (place + 1).to_string(),
        created_at,
        transaction_date,
        season: plan.slug(Kind::Season, season),
        user: purchaser,
        billing: billing(random),
        currency,
        discount_code: text(if totals.discount.is_zero() { "" } else { "EARLYBIRD" }),
        totals,
        tax_rate,
        processing_fee_rate: Rate::ZERO,
        tax_term: tax.as_ref().map(|tax| tax.term.clone()).unwrap_or_default(),
        tax_rate_details: tax.as_ref().map(|tax| tax.slug),
        payment: Payment {
            payment_method: text(random.one_of(&[
                "card",
                "card",
                "card",
                "invoice",
                "invoice",
                "paypal",
                "bank transfer",
            ])),
            payment_status: if is_paid { PaymentStatus::Paid } else { PaymentStatus::AwaitingPayment },
            e_invoice_status: text("none"),
            transaction_provider: text(if is_paid { "stripe" } else { "" }),
            transaction_reference: if is_paid { format!("pi_{:016x}", random.below(u64::MAX)) } else { String::new() },
            transaction_status: text(if is_paid { "succeeded" } else { "" }),
        },
        items,
        test: random.percent(3),
        deleted: random.percent(1),
        note: String::new(),
        updated,
    };
    Ok((order, RelatedData { tax, titles }))
}

fn is_taxed(random: &mut Random) -> bool {
    random.percent(80)
}

fn tax(plan: &Plan) -> TaxDetails {
    TaxDetails {
        slug: plan.slug(Kind::Tax, 0),
        name: Some("Standard rate".to_owned()),
        term: "VAT".to_owned(),
        rate: Rate::from_ten_thousandths(TAX).unwrap_or(Rate::ZERO),
        country: "GB".to_owned(),
        region: None,
    }
}

fn billing(random: &mut Random) -> Billing {
    let company = random.sentence(2);
    Billing {
        address: format!("{} {} Street", random.below(200) + 1, random.sentence(1)),
        city: random.one_of(&["London", "Leeds", "Bristol", "Glasgow", "Cardiff"]).to_owned(),
        region: "Great Britain".to_owned(),
        postcode: format!("N{} {}AA", random.below(20) + 1, random.below(9) + 1),
        country: "GB".to_owned(),
        member_number: if random.percent(20) { format!("M{:06}", random.below(1_000_000)) } else { String::new() },
        vat_number: if random.percent(50) { format!("GB{:09}", random.below(1_000_000_000)) } else { String::new() },
        comments: format!("{}.", random.sentence(24)),
        ip_address: format!("198.51.100.{}", random.below(256)),
        company: format!("{company} Ltd"),
        ..Billing::default()
    }
}

fn item(
    plan: &Plan,
    season: u64,
    currency: Currency,
    random: &mut Random,
    titles: &mut BTreeMap<Slug, String>,
) -> Item {
    let price = random.below(PRICES);
    let amount = AMOUNTS.get(usize::try_from(price).unwrap_or(0)).copied().unwrap_or_default();
    let discount = if random.percent(20) { amount / 10 } else { 0 };
    let entry = (plan.entries > 0).then(|| random.below(plan.entries));
    let title = entry.map(|entry| plan.title(entry));
    let slug = entry.map(|entry| plan.slug(Kind::Entry, entry));
    titles.extend(slug.zip(title.clone()));
    Item {
        amount: Money::new(amount, currency),
        description: format!("{}.", random.sentence(22)),
        discount: Money::new(discount, currency),
        entry: slug,
        item_type: if entry.is_some() { "Entry" } else { "Ticket" }.to_owned(),
        name: title.unwrap_or_else(|| random.sentence(4)),
        price: Some(plan.slug(Kind::Price, season * PRICES + price)),
        quantity: 1,
    }
}
