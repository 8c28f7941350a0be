//! What must always hold of deliveries, jobs and leases, for `plaudit doctor`.

use std::collections::BTreeSet;

use crate::deliveries::id::DeliveryId;
use crate::leases::{LeaseName, store as lease_store};
use crate::log::Event;
use crate::records::store::difference;
use db::{AccountId, DbError, Row, Tx, hash_of_change};
use kernel::text::Slug;

/// Hands over what is wrong with the account's deliveries, jobs and leases, whose log has so many changes: deliveries of
/// changes and webhooks that are not there, positions beyond the log, and work that nobody does.
pub async fn each_wrong(
    tx: &mut Tx,
    account: AccountId,
    sequence: i64,
    mut each: impl FnMut(String) + Send,
) -> Result<(), DbError> {
    let sql = "SELECT d.webhook, d.sequence, d.place, d.mark, d.event, d.kind, d.slug, d.at, c.hash, c.events, c.kind, c.slug, \
               c.at FROM deliveries d LEFT JOIN changes c ON c.account = d.account AND c.sequence = d.sequence \
               WHERE d.account = $1 ORDER BY d.webhook, d.sequence, d.place";
    tx.each(sql, &[account.into()], |row| {
        if let Some((column, what)) = wrong_of_delivery(row)? {
            let record = format!("{} {} {}", row.text(0)?, row.integer(1)?, row.integer(2)?);
            each(difference("deliveries", &record, column, what));
        }
        Ok(())
    })
    .await?;
    for (table, column, what, sql) in [
        (
            "deliveries",
            "webhook",
            "there is no such webhook",
            "SELECT DISTINCT webhook FROM deliveries d WHERE account = $1 AND NOT EXISTS (SELECT 1 FROM setup_records s \
             WHERE s.account = d.account AND s.kind = 'webhook' AND s.slug = d.webhook)",
        ),
        (
            "delivery_bodies",
            "webhook, sequence, place",
            "some are of deliveries that are not there",
            "SELECT DISTINCT webhook FROM delivery_bodies b WHERE account = $1 AND NOT EXISTS (SELECT 1 FROM deliveries d \
             WHERE d.account = b.account AND d.webhook = b.webhook AND d.sequence = b.sequence AND d.place = b.place)",
        ),
        (
            "jobs",
            "state",
            "it waits, and the jobs of the account have no lease",
            "SELECT slug FROM jobs j WHERE account = $1 AND state IN ('queued', 'running') \
             AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.account = j.account AND l.name = 'jobs')",
        ),
    ] {
        tx.each(sql, &[account.into()], |row| {
            each(difference(table, row.text(0)?, column, what));
            Ok(())
        })
        .await?;
    }
    leases(tx, account, sequence, &mut each).await
}

/// Every webhook that is sent to has a lease, and no other has one.
async fn leases(
    tx: &mut Tx,
    account: AccountId,
    sequence: i64,
    each: &mut (impl FnMut(String) + Send),
) -> Result<(), DbError> {
    // A webhook that cannot be read is told where records are held against the log.
    let Ok(sent_to) = super::sent_to(tx, account).await else { return Ok(()) };
    let positions = lease_store::positions(tx, account).await?;
    let leased: BTreeSet<Slug> = positions.iter().map(|(webhook, _)| *webhook).collect();
    let mut wrong = |webhook: Slug, column: &str, what: &str| {
        each(difference("leases", &LeaseName::Webhook(webhook).to_string(), column, what));
    };
    for webhook in sent_to.difference(&leased) {
        wrong(*webhook, "name", "it is missing, and the webhook is sent nothing");
    }
    for webhook in leased.difference(&sent_to) {
        wrong(*webhook, "name", "there is no such webhook that is enabled");
    }
    for (webhook, _) in positions.iter().filter(|(_, position)| *position > sequence) {
        wrong(*webhook, "position", &format!("it is beyond the last change, {sequence}"));
    }
    let sql = "SELECT DISTINCT webhook FROM deliveries WHERE account = $1 AND state = 'pending'";
    let pending: Vec<Slug> = tx.all(sql, &[account.into()], |row| row.slug(0)).await?;
    for webhook in pending.into_iter().filter(|webhook| !leased.contains(webhook)) {
        each(difference("deliveries", webhook.as_str(), "state", "some are pending, and the webhook has no lease"));
    }
    Ok(())
}

/// What a delivery says that its change does not, with the column.
fn wrong_of_delivery(row: &Row<'_>) -> Result<Option<(&'static str, &'static str)>, DbError> {
    let Some(events) = row.optional_text(9)? else {
        return Ok(Some(("sequence", "there is no such change in the log")));
    };
    let (sequence, place) = (row.integer(1)?, usize::try_from(row.integer(2)?).unwrap_or(usize::MAX));
    // What only a newer version knows counts as no event wherever places are made.
    let event = events.split(',').filter_map(Event::named).nth(place);
    let mark = DeliveryId::of(sequence, 0, &hash_of_change(row.bytes(8)?)?).mark();
    Ok(if row.text(3)? != mark {
        Some(("mark", "its change is one of another history"))
    } else if event.is_none_or(|event| event.name() != row.text(4).unwrap_or_default()) {
        Some(("place, event", "its change has not caused this event"))
    } else if (row.text(5)?, row.text(6)?) != (row.text(10)?, row.text(11)?) {
        Some(("kind, slug", "its change is one of another record"))
    } else if row.integer(7)? != row.integer(12)? {
        Some(("at", "its change was made at another time"))
    } else {
        None
    })
}
