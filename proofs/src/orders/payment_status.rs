//! `payment-status`: whether an entry is paid, and the two filters that look at it, follow from orders, payments and credit notes
//! alone, however these came about.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::{ACCOUNT, CATEGORIES, USERS, cents, entry, import, records};
use crate::service::{Answer, Checks, Client, Random, Service, on_each_engine};
use crate::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "payment-status",
    claim: "After 10,000 random orders, payments, refunds, deletions, submissions and moves every entry's payment_status and both \
            filters are what an export gives from scratch.",
    run: |context| on_each_engine(context, show),
};

const ENTRIES: usize = 60;

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (operations, rounds) = if context.short { (400, 4) } else { (10_000, 40) };
    let mut service = Service::new(context, engine)?;
    import(&service)?;
    service.start()?;
    let client = service.client(&service.key(ACCOUNT, "read_write")?);
    let (mut checks, mut random) = (Checks::default(), Random::new(17));
    let mut entries = Vec::with_capacity(ENTRIES);
    for _ in 0..ENTRIES {
        let (user, category) = (USERS[random.below(2) as usize], CATEGORIES[random.below(4) as usize]);
        let made = client.post("/entry", &entry(user, category, "in_progress"))?.expect_status(201)?.json()?;
        entries.push(made["slug"].as_str().context("an entry without a slug")?.to_owned());
    }
    let (mut done, mut seen) = (BTreeMap::new(), Vec::new());
    for _ in 0..rounds {
        for _ in 0..operations / rounds {
            let (name, answer) = one(&client, &entries, &mut seen, &mut random)?;
            let counts: &mut (u64, u64) = done.entry(name).or_default();
            let is_done = answer.status < 300;
            checks.check(is_done || [404, 422].contains(&answer.status), || format!("{name}: {}", answer.text()));
            *(if is_done { &mut counts.0 } else { &mut counts.1 }) += 1;
        }
        compare(&client, &service.export(ACCOUNT)?, &mut checks)?;
    }
    for (name, (done, _)) in &done {
        checks.check(*done > 0, || format!("{name} was always refused"));
    }
    service.stop()?;
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || doctor.last_line());
    println!("  {}: done and refused: {done:?}", engine.name());
    Ok(checks.verdict(&format!("{operations} operations on {ENTRIES} entries, {} orders", seen.len())))
}

/// An operation by chance.
fn one(
    client: &Client,
    entries: &[String],
    orders: &mut Vec<String>,
    random: &mut Random,
) -> Result<(&'static str, Answer)> {
    let pick = |of: &[String], random: &mut Random| -> String {
        of.get(random.below(u32::try_from(of.len()).unwrap_or_default()) as usize).cloned().unwrap_or_default()
    };
    let entry = format!("/entry/{}", pick(entries, random));
    // The last orders are those of which something can still become.
    let recent = &orders[orders.len().saturating_sub(80)..];
    let order = format!("/order/{}", pick(recent, random));
    let status = |status: &str| json!({"status": status});
    let done = match random.below(14) {
        0 | 1 => ("submit", client.put(&entry, &status("submitted"))?),
        2 => ("withdraw", client.put(&entry, &status("in_progress"))?),
        3 => ("trash", client.delete(&entry)?),
        4 => ("restore", client.send("POST", &format!("{entry}/restore"), &[], None)?),
        5 => {
            let category = CATEGORIES[random.below(4) as usize];
            ("move", client.put(&entry, &json!({"category": category}))?)
        }
        6 | 7 => {
            let some: BTreeSet<String> = (0..=random.below(2)).map(|_| pick(entries, random)).collect();
            let mut body = json!({"entries": some});
            match random.below(6) {
                0 => body["test"] = json!(true),
                1 => body["discount_code"] = json!("ALL"),
                _ => {}
            }
            let answer = client.post("/order", &body)?;
            ("order", answer)
        }
        8 | 9 => {
            let status = ["pending", "success", "failed"][random.below(3) as usize];
            let amount = [10.0, 25.5, 40.0, 70.0, 110.0][random.below(5) as usize];
            let reference = random.below(4).to_string();
            let body = json!({"provider": "bank", "reference": reference, "status": status, "amount": amount,
                "date": "2026-02-01T10:00:00Z"});
            ("payment", client.post(&format!("{order}/payment"), &body)?)
        }
        10 => {
            let status = ["paid", "awaiting_payment"][random.below(2) as usize];
            ("state", client.put(&order, &json!({"payment_status": status}))?)
        }
        11 => ("delete", client.delete(&order)?),
        12 => {
            let lines = client.get(&format!("{order}/items"))?.json()?;
            let line = lines["data"][0]["slug"].as_str().unwrap_or("NobodyAA").to_owned();
            ("refund of a line", client.post(&format!("{order}/refund"), &json!({"items": [line], "reason": "Proof"}))?)
        }
        _ => {
            let amount = [5.0, 25.5, 40.0][random.below(3) as usize];
            ("refund", client.post(&format!("{order}/refund"), &json!({"amount": amount, "reason": "Proof"}))?)
        }
    };
    *orders = all_orders(client)?;
    Ok(done)
}

/// The slugs of all orders that are not in the trash, the oldest first.
fn all_orders(client: &Client) -> Result<Vec<String>> {
    let page = client.get("/order?season=all&per_page=100&order=created_at&dir=desc")?.expect_status(200)?.json()?;
    let slugs = page["data"].as_array().into_iter().flatten().filter_map(|order| order["slug"].as_str());
    Ok(slugs.rev().map(str::to_owned).collect())
}

/// Holds every entry and both filters against what the orders of an export give.
fn compare(client: &Client, export: &[u8], checks: &mut Checks) -> Result<()> {
    let (orders, entries) = (records(export, "order")?, records(export, "entry")?);
    let mut credited: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for note in orders.values() {
        let Some(invoice) = note["credits"].as_str() else { continue };
        for item in note["items"].as_array().into_iter().flatten() {
            let entry = item["entry"].as_str().unwrap_or_default();
            *credited.entry((invoice, entry)).or_default() += cents(&item["amount"]) - cents(&item["discount"]);
        }
    }
    // The entries that live lines name, with their prices, and those among them that are paid for.
    let (mut live, mut paid) = (BTreeSet::new(), BTreeSet::new());
    for (slug, order) in &orders {
        let is_live = order["deleted"] == false && order["test"] == false && order["credits"].is_null();
        if !is_live {
            continue;
        }
        let received: i64 = order["payments"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|payment| payment["status"] == "success")
            .map(|payment| cents(&payment["amount"]))
            .sum();
        let taken: i64 = credited.iter().filter(|((invoice, _), _)| invoice == slug).map(|(_, amount)| amount).sum();
        let is_paid = received >= cents(&order["total"]) + taken;
        checks.check((order["payment_status"] == "paid") == is_paid, || format!("the order {slug} is {order}"));
        for item in order["items"].as_array().into_iter().flatten() {
            let Some(entry) = item["entry"].as_str() else { continue };
            let whole: i64 = order["items"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|item| item["entry"] == entry)
                .map(|item| cents(&item["amount"]) - cents(&item["discount"]))
                .sum();
            let taken = credited.get(&(slug.as_str(), entry)).copied();
            if taken.is_none_or(|taken| whole + taken > 0) {
                live.insert((entry.to_owned(), item["price"].as_str().unwrap_or_default().to_owned()));
                if is_paid {
                    paid.insert(entry.to_owned());
                }
            }
        }
    }
    let is_live = |entry: &str| live.iter().any(|(named, _)| named == entry);
    let mut are_paid = BTreeSet::new();
    for (slug, entry) in &entries {
        let is_handed_in =
            ["submitted", "resubmission_required", "resubmitted"].iter().any(|status| entry["status"] == *status);
        let is_free = entry["category"] == CATEGORIES[3];
        let is_there = entry["deleted"] != true;
        let is_paid = paid.contains(slug) || is_handed_in && is_there && is_free && !is_live(slug);
        // An entry in the trash keeps what it had; it is worked out when its orders change or it comes back.
        if is_there {
            checks.check((entry["payment_status"] == "Paid") == is_paid, || format!("the entry {slug} is {entry}"));
        }
        if is_paid && is_there {
            are_paid.insert(slug.clone());
        }
    }
    let listed = |query: &str| -> Result<BTreeSet<String>> {
        let page = client.get(&format!("/entry?season=all&per_page=100&{query}"))?.expect_status(200)?.json()?;
        let slugs = page["data"].as_array().into_iter().flatten().filter_map(|entry| entry["slug"].as_str());
        Ok(slugs.map(str::to_owned).collect())
    };
    let found = listed("payment_status=paid")?;
    checks.check(found == are_paid, || format!("payment_status=paid: {:?}", found.symmetric_difference(&are_paid)));
    for category in &CATEGORIES[..3] {
        let price = category.replace("Categ", "Price");
        let of_price = live.iter().filter(|(_, of)| *of == price).map(|(entry, _)| entry);
        let wanted: BTreeSet<String> = of_price.filter(|entry| entries[*entry]["deleted"] != true).cloned().collect();
        let found = listed(&format!("price={price}"))?;
        checks.check(found == wanted, || format!("price={price}: {:?}", found.symmetric_difference(&wanted)));
    }
    Ok(())
}
