//! What has arrived, and what the log says of it, held against the changes that were acknowledged.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::changes::Change;
use super::log;
use crate::receiver::{Arrival, Id};
use crate::service::{Checks, Client};

/// The most attempts that the log keeps of a delivery.
const KEPT: usize = 50;

/// A delivery as it has arrived.
pub(super) struct Delivery {
    event: Box<str>,
    slug: Box<str>,
    title: Box<str>,
    body: u64,
    /// What it was answered each time.
    statuses: Vec<u16>,
}

/// Deliveries by endpoint and id.
pub(super) type Deliveries = HashMap<(usize, Id), Delivery>;

/// What has to arrive of changes where these events are subscribed to: number and event.
pub(super) fn expected<'c>(
    changes: &'c [Change],
    events: &'c [&'static str],
) -> impl Iterator<Item = (&'c Change, &'static str)> {
    changes.iter().flat_map(move |change| {
        change.events.iter().filter(|event| events.contains(event)).map(move |event| (change, *event))
    })
}

/// What came with one id is one delivery, the same each time.
pub(super) fn collect(arrivals: &[Arrival], checks: &mut Checks) -> Deliveries {
    let mut deliveries = Deliveries::new();
    for arrival in arrivals {
        let Arrival { event, slug, title, body, status, .. } = arrival.clone();
        match deliveries.entry((arrival.endpoint, arrival.id.clone())) {
            Entry::Vacant(place) => {
                place.insert(Delivery { event, slug, title, body, statuses: vec![status] });
            }
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                checks.check((&known.event, known.body) == (&event, body), || {
                    format!("{:?} came to endpoint {} again with another body", arrival.id, arrival.endpoint)
                });
                known.statuses.push(status);
            }
        }
    }
    deliveries
}

/// What arrives of a record never goes back.
pub(super) fn order(arrivals: &[Arrival], checks: &mut Checks) {
    let mut last: HashMap<(usize, &str), (i64, u32)> = HashMap::new();
    for Arrival { endpoint, slug, id, .. } in arrivals {
        let now = (id.sequence, id.place);
        let before = last.insert((*endpoint, slug), now).unwrap_or(now);
        checks.check(before <= now, || {
            format!("endpoint {endpoint} saw {now:?} of {slug} after {before:?} (change, event)")
        });
    }
}

/// Every event of every change has arrived and was taken, filled from the document of that change; nothing else has arrived.
pub(super) fn arrived(
    changes: &[Change],
    webhooks: &[(String, &'static [&'static str])],
    deliveries: &Deliveries,
    checks: &mut Checks,
) {
    let mut by_event: HashMap<(usize, i64, &str), &Delivery> = HashMap::new();
    for ((endpoint, id), delivery) in deliveries {
        let other = by_event.insert((*endpoint, id.sequence, &*delivery.event), delivery);
        checks.check(other.is_none(), || {
            format!("{} of change {} came to endpoint {endpoint} with two ids", delivery.event, id.sequence)
        });
    }
    for (endpoint, (_, events)) in webhooks.iter().enumerate() {
        for (change, event) in expected(changes, events) {
            let what = || format!("{event} of change {} of {} at endpoint {endpoint}", change.sequence, change.slug);
            let found = by_event.remove(&(endpoint, change.sequence, event));
            let is_taken = found.is_some_and(|delivery| delivery.statuses.contains(&200));
            checks.check(is_taken, || format!("{} was not taken: {:?}", what(), found.map(|found| &found.statuses)));
            if let Some(found) = found {
                let is_of_change = *found.slug == *change.slug && *found.title == *change.title;
                checks.check(is_of_change, || {
                    format!(
                        "{} came as {} with the title {:?}, not {:?}",
                        what(),
                        found.slug,
                        found.title,
                        change.title
                    )
                });
            }
        }
    }
    for (endpoint, sequence, event) in by_event.keys() {
        checks.check(false, || format!("{event} of change {sequence} came to endpoint {endpoint}, which nobody made"));
    }
}

/// The log of an endpoint has what has arrived there, newest first, delivered, and with an attempt for each arrival. What it
/// has is taken out of the deliveries. Gives the number of attempts.
pub(super) fn logged(
    client: &Client,
    (endpoint, webhook): (usize, &str),
    deliveries: &mut Deliveries,
    checks: &mut Checks,
) -> Result<usize> {
    let (mut attempts, mut before, mut ids) = (0, (i64::MAX, u32::MAX), HashSet::new());
    log::each_item(client, &format!("/webhook/{webhook}/delivery"), |item| {
        let id = item["id"].as_str().and_then(Id::parse).with_context(|| format!("no id of a delivery in {item}"))?;
        let place = (id.sequence, id.place);
        checks.check(place < before, || format!("the log of {webhook} has {place:?} behind {before:?}"));
        before = place;
        checks.check(ids.insert(id.clone()), || format!("the log of {webhook} has {id:?} twice"));
        attempts += item["attempts"].as_array().map_or(0, Vec::len);
        let found = deliveries.remove(&(endpoint, id));
        checks.check(found.is_some(), || format!("endpoint {endpoint} never saw {item}"));
        if let Some(found) = found {
            let wrong = wrong(item, place.0, &found);
            checks.check(wrong.is_none(), || format!("{}: {item}", wrong.unwrap_or_default()));
        }
        Ok(())
    })?;
    Ok(attempts)
}

/// What the log says that is not so.
fn wrong(item: &Value, sequence: i64, found: &Delivery) -> Option<String> {
    for (member, value) in [
        ("event", Value::from(&*found.event)),
        ("sequence", sequence.into()),
        ("kind", "entry".into()),
        ("slug", Value::from(&*found.slug)),
        ("state", "delivered".into()),
        ("next_attempt", Value::Null),
    ] {
        if item.get(member) != Some(&value) {
            return Some(format!("{member} is not {value}"));
        }
    }
    let attempts = item["attempts"].as_array()?;
    if attempts.len() < found.statuses.len().min(KEPT) {
        return Some(format!("{} arrivals, {:?}, and fewer attempts", found.statuses.len(), found.statuses));
    }
    let is_later = |pair: &[Value]| pair[0]["at"].as_str() <= pair[1]["at"].as_str();
    if !attempts.windows(2).all(is_later) {
        return Some("an attempt is earlier than the one before it".to_owned());
    }
    let mut answered: BTreeMap<u64, usize> = BTreeMap::new();
    for attempt in attempts {
        match attempt["status"].as_u64() {
            Some(status) => *answered.entry(status).or_default() += 1,
            None if attempt["error"].as_str().is_none_or(str::is_empty) => {
                return Some("an attempt with neither a status nor an error".to_owned());
            }
            None => {}
        }
    }
    let given = |status: u64| found.statuses.iter().filter(|given| u64::from(**given) == status).count();
    if attempts.len() < KEPT && !answered.contains_key(&200) {
        return Some("no attempt was answered 200".to_owned());
    }
    let invented = answered.into_iter().find(|(status, count)| *count > given(*status));
    invented.map(|(status, count)| format!("{count} attempts were answered {status}, and {} arrivals", given(status)))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn arrival(sequence: i64, event: &str, status: u16) -> Arrival {
        let id = Id { sequence, place: 0, mark: "0123456789ab".into() };
        let (event, slug, title) = (event.into(), "AbCdEfGh".into(), "T".into());
        Arrival { endpoint: 0, id, event, slug, title, body: 1, length: 1, at: Instant::now(), status }
    }

    fn change(sequence: i64) -> Change {
        let (slug, title) = ("AbCdEfGh".to_owned(), "T".to_owned());
        Change { sequence, slug, title, events: &["entry_updated"], at: Instant::now() }
    }

    /// Whether everything holds of one change of number 1.
    fn holds(arrivals: &[Arrival]) -> bool {
        let mut checks = Checks::default();
        let deliveries = collect(arrivals, &mut checks);
        order(arrivals, &mut checks);
        arrived(&[change(1)], &[("webhook".to_owned(), &["entry_updated"])], &deliveries, &mut checks);
        checks.all_hold()
    }

    #[test]
    fn what_is_lost_doubled_or_out_of_order_is_found() {
        let good = || arrival(1, "entry_updated", 200);
        assert!(holds(&[good()]));
        assert!(holds(&[arrival(1, "entry_updated", 500), good(), good()]));
        assert!(!holds(&[]), "lost");
        assert!(!holds(&[arrival(1, "entry_updated", 500)]), "never taken");
        assert!(!holds(&[good(), arrival(2, "entry_updated", 200)]), "made by nobody");
        assert!(!holds(&[good(), Arrival { body: 2, ..good() }]), "another body");
        assert!(!holds(&[Arrival { title: "U".into(), ..good() }]), "the document of another change");
        let id = Id { sequence: 1, place: 0, mark: "ffffffffffff".into() };
        assert!(!holds(&[good(), Arrival { id, ..good() }]), "two ids");
        let mut checks = Checks::default();
        order(&[good(), arrival(2, "entry_updated", 200), good()], &mut checks);
        assert!(!checks.all_hold(), "out of order");
    }

    #[test]
    fn what_the_log_leaves_out_or_invents_is_found() {
        let statuses = vec![500, 200];
        let found = Delivery { event: "e".into(), slug: "AbCdEfGh".into(), title: "T".into(), body: 1, statuses };
        let item = |attempts: Value| {
            json!({"event": "e", "sequence": 1, "kind": "entry", "slug": "AbCdEfGh", "state": "delivered",
                   "next_attempt": null, "attempts": attempts})
        };
        let (failed, taken) = (json!({"at": "1", "status": 500}), json!({"at": "2", "status": 200}));
        let cut_off = json!({"at": "1", "status": null, "error": "the service ended"});
        assert_eq!(wrong(&item(json!([failed, taken])), 1, &found), None);
        assert_eq!(wrong(&item(json!([cut_off, failed, taken])), 1, &found), None);
        for attempts in [
            json!([taken]),
            json!([taken, failed]),
            json!([failed, failed, taken]),
            json!([cut_off, cut_off]),
            json!([failed, {"at": "1", "status": null, "error": null}, taken]),
        ] {
            assert!(wrong(&item(attempts.clone()), 1, &found).is_some(), "{attempts}");
        }
        let pending = json!({"event": "e", "state": "pending", "attempts": [failed, taken]});
        assert!(wrong(&pending, 1, &found).is_some());
    }
}
