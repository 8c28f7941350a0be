//! Proofs of orders, and the account that they are about.

pub(crate) mod invoices;
pub(crate) mod payment_status;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::service::Service;

const ACCOUNT: &str = "AccountO";
/// The entrants.
const USERS: [&str; 4] = ["UserAaaa", "UserBbbb", "UserCccc", "UserDddd"];
/// The categories, of which the last one has no price.
const CATEGORIES: [&str; 4] = ["CategAaa", "CategBbb", "CategCcc", "CategFre"];

/// An account with prices of 40.00, 70.00 and 25.50, a free category, a discount of everything, and neither taxes nor fees, so that
/// what a line comes to is said by the line alone.
fn import(service: &Service) -> Result<()> {
    let name = json!({"en_GB": "Name"});
    let mut records = vec![
        json!({"kind": "account", "slug": ACCOUNT, "name": "Orders", "rate_limit": 1_000_000, "currency": "EUR"}),
        json!({"kind": "season", "slug": "SeasonAa", "name": name, "status": "active"}),
        json!({"kind": "form", "slug": "FormAaaa", "season": "SeasonAa", "name": name, "type": "entry"}),
        json!({"kind": "chapter", "slug": "ChapterA", "season": "SeasonAa", "name": name, "status": "active"}),
        json!({"kind": "round", "slug": "RoundAaa", "season": "SeasonAa", "form": "FormAaaa", "name": name, "type": "entry"}),
        json!({"kind": "discount", "slug": "DiscAaaa", "season": "SeasonAa", "code": "ALL", "percent": 100}),
    ];
    for (category, amount) in CATEGORIES.iter().zip([Some(40.0), Some(70.0), Some(25.5), None]) {
        records
            .push(json!({"kind": "category", "slug": category, "season": "SeasonAa", "form": "FormAaaa", "name": name,
            "status": "active", "chapters": ["ChapterA"]}));
        if let Some(amount) = amount {
            records.push(
                json!({"kind": "price", "slug": category.replace("Categ", "Price"), "season": "SeasonAa", "title": name,
                "categories": [category], "amounts": [{"currency": "EUR", "amount": amount}]}),
            );
        }
    }
    records.extend(USERS.map(|user| {
        json!({"kind": "user", "slug": user, "first_name": "A", "last_name": "B", "email": format!("{user}@example.org")})
    }));
    let path = service.directory().join("orders.jsonl");
    fs::write(&path, records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"))?;
    service.import_file(&path)?.succeeded().map(drop)
}

/// The body of a new entry.
fn entry(user: &str, category: &str, status: &str) -> Value {
    json!({"title": "Entry", "category": category, "chapter": "ChapterA", "entrant": user, "season": "SeasonAa", "form": "FormAaaa",
        "status": status})
}

/// The records of a kind in an export, by slug.
fn records(export: &[u8], kind: &str) -> Result<BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for line in export.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line)?;
        if record["kind"] == kind {
            found.insert(record["slug"].as_str().context("a record without a slug")?.to_owned(), record);
        }
    }
    Ok(found)
}

/// An amount in cents.
fn cents(amount: &Value) -> i64 {
    // Amounts of the proofs are far from where a float loses cents.
    #[allow(clippy::cast_possible_truncation, reason = "see above")]
    let cents = (amount.as_f64().unwrap_or_default() * 100.0).round() as i64;
    cents
}
