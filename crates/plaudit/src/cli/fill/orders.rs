//! The orders of a synthetic account.

use std::time::Duration;

use serde_json::{Value, json};

use super::plan::{PRICES, Plan, Random};
use kernel::kind::Kind;

/// What the prices of a season cost.
const AMOUNTS: [u64; 3] = [95, 150, 220];

/// How orders are paid, as often as they are.
const METHODS: &[&str] = &["card", "card", "card", "invoice", "invoice", "paypal", "bank transfer"];

/// An order as a record of a program file.
pub(super) fn order(plan: &Plan, place: u64) -> Value {
    let random = &mut plan.random(Kind::Order, place);
    let currency = if random.percent(80) { "USD" } else { "EUR" };
    let (season, created) = Plan::season_and_time(place, plan.orders);
    let is_paid = random.percent(70);
    let paid = is_paid.then(|| created.plus(Duration::from_secs(random.below(3 * 86_400))));
    let updated = paid.unwrap_or(created).plus(Duration::from_secs(random.below(30 * 86_400)));
    let is_reduced = random.percent(40);
    let items: Vec<Value> = (0..=random.below(3)).map(|_| item(plan, season, is_reduced, random)).collect();
    let reference = if is_paid { format!("pi_{:016x}", random.below(u64::MAX)) } else { String::new() };
    let member_number = if random.percent(20) { format!("M{:06}", random.below(1_000_000)) } else { String::new() };
    let vat_number = if random.percent(50) { format!("GB{:09}", random.below(1_000_000_000)) } else { String::new() };
    json!({
        "kind": Kind::Order.name(), "slug": plan.slug(Kind::Order, place), "invoice_number": (place + 1).to_string(),
        "created_at": created.to_string(), "transaction_date": paid.map(|time| time.to_string()),
        "season": plan.slug(Kind::Season, season), "user": plan.slug(Kind::User, random.below(plan.users)),
        "company": format!("{} Ltd", random.sentence(2)),
        "address": format!("{} {} Street", random.below(200) + 1, random.sentence(1)),
        "city": random.one_of(&["London", "Leeds", "Bristol", "Glasgow", "Cardiff"]), "region": "Great Britain",
        "postcode": format!("N{} {}AA", random.below(20) + 1, random.below(9) + 1), "country": "GB",
        "member_number": member_number, "vat_number": vat_number, "comments": format!("{}.", random.sentence(24)),
        "ip_address": format!("198.51.100.{}", random.below(256)), "currency": currency,
        "discount_code": if is_reduced { "EARLYBIRD" } else { "" }, "payment_method": random.one_of(METHODS),
        "payment_status": if is_paid { "paid" } else { "awaiting_payment" }, "e_invoice_status": "none",
        "transaction_provider": if is_paid { "stripe" } else { "" }, "transaction_reference": reference,
        "transaction_status": if is_paid { "succeeded" } else { "" },
        "tax_rate_details": random.percent(80).then(|| plan.slug(Kind::Tax, 0)), "items": items,
        "test": random.percent(3), "deleted": random.percent(1), "updated": updated.to_string(),
    })
}

fn item(plan: &Plan, season: u64, is_reduced: bool, random: &mut Random) -> Value {
    let price = random.below(PRICES);
    let amount = AMOUNTS[usize::try_from(price).unwrap_or(0) % AMOUNTS.len()];
    // A tenth of the amount, with its one decimal.
    let discount = if is_reduced { format!("{}.{}", amount / 10, amount % 10) } else { "0".to_owned() };
    let entry = (plan.entries > 0).then(|| random.below(plan.entries));
    json!({
        "amount": amount, "description": format!("{}.", random.sentence(22)), "discount": discount,
        "entry": entry.map(|entry| plan.slug(Kind::Entry, entry)),
        "item_type": if entry.is_some() { "Entry" } else { "Ticket" },
        "name": entry.map_or_else(|| random.sentence(4), |entry| plan.title(entry)),
        "price": plan.slug(Kind::Price, season * PRICES + price), "quantity": 1,
    })
}
