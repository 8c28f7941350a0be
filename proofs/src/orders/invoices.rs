//! `invoices`: numbers have no gap and none is given twice, whatever happens at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use super::{ACCOUNT, CATEGORIES, USERS, entry, import, records};
use crate::service::{Answer, Checks, Client, Random, Service, on_each_engine};
use crate::{Context, Engine, Proof, Verdict};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "invoices",
    claim: "While 32 clients submit, withdraw, order, refund and are refused, and the service is killed, invoices, credit notes \
            and tests are numbered 1 to n, without a gap and none twice, and nothing that was acknowledged is lost.",
    run: |context| on_each_engine(context, show),
};

const CLIENTS: u64 = 32;

/// What was acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// Orders with their numbers.
    orders: Vec<(String, String)>,
    /// Entries that were submitted and not withdrawn since.
    submitted: BTreeSet<String>,
}

fn show(context: &Context, engine: Engine) -> Result<Verdict> {
    let (seconds, kills) = if context.short { (4, 1) } else { (60, 6) };
    let mut service = Service::new(context, engine)?;
    import(&service)?;
    service.start()?;
    let key = service.key(ACCOUNT, "read_write")?;
    let client = service.client(&key);
    let (ended, acknowledged) = (AtomicBool::new(false), Mutex::new(Acknowledged::default()));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (client, ended, acknowledged) = (client.apart(), &ended, &acknowledged);
                scope.spawn(move || work(&client, Random::new(number), ended, acknowledged))
            })
            .collect();
        let pause = Duration::from_secs(seconds) / (kills + 1);
        let mut outcome = Ok(());
        for kill in 0..=kills {
            thread::sleep(pause);
            if kill < kills {
                outcome = outcome.and_then(|()| service.kill()).and_then(|()| service.start());
            }
        }
        ended.store(true, Ordering::SeqCst);
        for client in clients {
            outcome = outcome.and(client.join().map_err(|_| anyhow!("a client panicked"))?);
        }
        outcome
    })?;
    service.stop()?;
    let acknowledged = acknowledged.into_inner().map_err(|_| anyhow!("a client panicked"))?;
    let mut checks = Checks::default();
    let export = service.export(ACCOUNT)?;
    let orders = records(&export, "order")?;
    let counts = check_series(&orders, &mut checks)?;
    check_kept(&orders, &acknowledged, &mut checks);
    let doctor = service.run(&["doctor"])?;
    checks.check(doctor.code == Some(0), || doctor.last_line());
    let [invoices, notes, tests] = counts;
    checks.check(invoices > 0 && notes > 0 && tests > 0, || format!("a series is empty: {counts:?}"));
    let entries = acknowledged.submitted.len();
    Ok(checks.verdict(&format!(
        "{invoices} invoices, {notes} credit notes and {tests} tests with {kills} kills, {entries} entries on one order each"
    )))
}

/// Sends a request until it is answered, or the proof ends.
fn send(ended: &AtomicBool, send: impl Fn() -> Result<Answer>) -> Result<Option<Answer>> {
    let begun = Instant::now();
    loop {
        match send() {
            Ok(answer) if answer.status >= 500 => bail!("{}: {}", answer.status, answer.text()),
            Ok(answer) => return Ok(Some(answer)),
            Err(_) if ended.load(Ordering::SeqCst) => return Ok(None),
            Err(error) if begun.elapsed() > Duration::from_secs(30) => return Err(error),
            // The service was killed and starts again; what is sent again may be done twice, as another entry.
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn work(client: &Client, mut random: Random, ended: &AtomicBool, acknowledged: &Mutex<Acknowledged>) -> Result<()> {
    while !ended.load(Ordering::SeqCst) {
        let user = USERS[random.below(4) as usize];
        let category = CATEGORIES[random.below(3) as usize];
        let is_submitted = random.below(3) > 0;
        let status = if is_submitted { "submitted" } else { "in_progress" };
        let Some(made) = send(ended, || client.post("/entry", &entry(user, category, status)))? else { break };
        let made = made.expect_status(201)?.json()?;
        let slug = made["slug"].as_str().context("an entry without a slug")?.to_owned();
        if is_submitted {
            lock(acknowledged)?.submitted.insert(slug.clone());
            if random.below(4) == 0 {
                let withdrawn = || client.put(&format!("/entry/{slug}"), &json!({"status": "in_progress"}));
                // Whether it was withdrawn is not known where the answer is lost.
                lock(acknowledged)?.submitted.remove(&slug);
                send(ended, withdrawn)?;
            }
            continue;
        }
        let order = match random.below(4) {
            0 => json!({"entries": [slug], "test": true}),
            1 => json!({"entries": [slug], "discount_code": "NONE"}),
            2 => json!({"entries": [slug], "discount_code": "ALL"}),
            _ => json!({"entries": [slug]}),
        };
        let Some(placed) = send(ended, || client.post("/order", &order))? else { break };
        if placed.status != 201 {
            // A code that there is not, or an order that was placed before its answer was lost.
            placed.expect_status(422)?;
            continue;
        }
        let order = note(acknowledged, &placed.json()?)?;
        if random.below(2) == 0 {
            let refund = || client.post(&format!("/order/{order}/refund"), &json!({"amount": 1, "reason": "Proof"}));
            match send(ended, refund)? {
                Some(answer) if answer.status == 201 => drop(note(acknowledged, &answer.json()?)?),
                Some(answer) => drop(answer.expect_status(422)?),
                None => break,
            }
        }
    }
    Ok(())
}

fn lock(acknowledged: &Mutex<Acknowledged>) -> Result<std::sync::MutexGuard<'_, Acknowledged>> {
    acknowledged.lock().map_err(|_| anyhow!("a client panicked"))
}

/// Notes an order with its number.
fn note(acknowledged: &Mutex<Acknowledged>, order: &Value) -> Result<String> {
    let text = |name: &str| order[name].as_str().map(str::to_owned).with_context(|| format!("an order without {name}"));
    let (slug, number) = (text("slug")?, text("invoice_number")?);
    lock(acknowledged)?.orders.push((slug.clone(), number));
    Ok(slug)
}

/// How many orders each series has, whose numbers are 1 to so many.
fn check_series(orders: &BTreeMap<String, Value>, checks: &mut Checks) -> Result<[usize; 3]> {
    let mut counts = [0; 3];
    for (count, prefix) in counts.iter_mut().zip(["", "CN-", "TEST-"]) {
        let numbers = orders.values().filter_map(|order| order["invoice_number"].as_str()?.strip_prefix(prefix));
        let numbers = numbers.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let mut numbers = numbers.map(|number| Ok(number.parse()?)).collect::<Result<Vec<u64>>>()?;
        numbers.sort_unstable();
        let wanted: Vec<u64> = (1..).take(numbers.len()).collect();
        checks.check(numbers == wanted, || {
            let wrong = numbers.iter().zip(&wanted).find(|(number, wanted)| number != wanted);
            format!("the series {prefix:?} of {} has a gap or a double: {wrong:?}", numbers.len())
        });
        *count = numbers.len();
    }
    checks.check(counts.iter().sum::<usize>() == orders.len(), || format!("{} orders: {counts:?}", orders.len()));
    Ok(counts)
}

/// What was acknowledged is there as it was, and each submitted entry is on one live order.
fn check_kept(orders: &BTreeMap<String, Value>, acknowledged: &Acknowledged, checks: &mut Checks) {
    for (slug, number) in &acknowledged.orders {
        let kept = orders.get(slug).map(|order| &order["invoice_number"]);
        checks.check(kept == Some(&json!(number)), || format!("the order {slug} of the number {number}: {kept:?}"));
    }
    let mut live: BTreeMap<&str, usize> = BTreeMap::new();
    for order in orders.values().filter(|order| order["deleted"] == false && order["test"] == false) {
        let entries = order["items"].as_array().into_iter().flatten().filter_map(|item| item["entry"].as_str());
        if order.get("credits").is_none() {
            entries.for_each(|entry| *live.entry(entry).or_default() += 1);
        }
    }
    for entry in &acknowledged.submitted {
        let count = live.get(entry.as_str()).copied().unwrap_or_default();
        checks.check(count == 1, || format!("the entry {entry} is on {count} live orders"));
    }
}
