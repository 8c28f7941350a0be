//! What is kept of deliveries: how much it is, and until when.

use super::first_at;
use crate::deliveries::remembered::Remembered;
use crate::services::metrics::Gauge;
use db::{AccountId, Db, DbError, Tx};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// How many deliveries are removed by one statement.
const BATCH: i64 = 256;

/// Removes deliveries that ended before a time, which tell of changes before it.
// tidy: every account -- the upkeep is the installation's
pub async fn forget(db: &Db, before: Timestamp) -> Result<(), DbError> {
    let (mut last, mut first_kept) = ((AccountId(i64::MIN), String::new()), 0);
    loop {
        // One step of the index for each webhook, however many deliveries it has.
        let sql = "SELECT account, webhook FROM deliveries WHERE (account, webhook) > ($1, $2) \
                   ORDER BY account, webhook LIMIT 1";
        let read = |row: &db::Row<'_>| Ok((AccountId(row.integer(0)?), row.text(1)?.to_owned()));
        let Some(next) = db.first(sql, &[last.0.into(), last.1.as_str().into()], read).await? else { return Ok(()) };
        if next.0 != last.0 {
            first_kept = first_at(next.0, db, before.as_microseconds()).await?;
        }
        let state = (next.0, next.1.clone(), before, first_kept);
        while db.write(next.0, state.clone(), |tx, state| Box::pin(forget_some(tx, state))).await? {}
        last = next;
    }
}

/// Removes some of a webhook; gives whether there may be more.
async fn forget_some(
    tx: &mut Tx,
    (account, webhook, before, first_kept): &(AccountId, String, Timestamp, i64),
) -> Result<bool, DbError> {
    let webhook_is = "account = $1 AND webhook = $2";
    let oldest: Vec<(i64, i64, i64)> = tx
        .all(
            "SELECT sequence, place, CAST(coalesce((SELECT length(b.body) FROM delivery_bodies b WHERE b.account = d.account \
             AND b.webhook = d.webhook AND b.sequence = d.sequence AND b.place = d.place), 0) AS BIGINT) \
             FROM deliveries d WHERE account = $1 AND webhook = $2 AND sequence < $5 AND state <> 'pending' AND due < $4 \
             ORDER BY sequence, place LIMIT $3",
            &[(*account).into(), webhook.as_str().into(), BATCH.into(), (*before).into(), (*first_kept).into()],
            |row| Ok((row.integer(0)?, row.integer(1)?, row.integer(2)?)),
        )
        .await?;
    let (mut removed, mut bytes) = (0, 0);
    for (sequence, place, length) in &oldest {
        (removed, bytes) = (removed + 1, bytes + length);
        for table in ["deliveries", "delivery_bodies"] {
            tx.enqueue(
                format!("DELETE FROM {table} WHERE {webhook_is} AND sequence = $3 AND place = $4"),
                vec![(*account).into(), webhook.clone().into(), (*sequence).into(), (*place).into()],
            )
            .await?;
        }
    }
    if removed > 0 {
        let counted = format!("UPDATE delivery_usage SET bytes = bytes - $3 WHERE {webhook_is}");
        tx.enqueue(counted, vec![(*account).into(), webhook.clone().into(), bytes.into()]).await?;
        let none_left = format!(
            "DELETE FROM delivery_usage WHERE {webhook_is} AND NOT EXISTS (SELECT 1 FROM deliveries WHERE {webhook_is})"
        );
        tx.enqueue(none_left, vec![(*account).into(), webhook.clone().into()]).await?;
    }
    Ok(removed == BATCH)
}

/// Forgets the bodies of deliveries that tell of a record.
pub async fn forget_bodies_of(tx: &mut Tx, account: AccountId, kind: Kind, name: &str) -> Result<(), DbError> {
    tx.enqueue(
        "DELETE FROM delivery_bodies WHERE account = $1 AND sequence IN \
         (SELECT sequence FROM changes WHERE account = $1 AND kind = $2 AND slug = $3)",
        vec![account.into(), kind.name().into(), name.to_owned().into()],
    )
    .await
}

/// Counts what the kept bodies of an account take, after some were forgotten.
pub async fn count_bodies(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    tx.enqueue(
        "UPDATE delivery_usage SET bytes = coalesce((SELECT CAST(sum(length(b.body)) AS BIGINT) FROM delivery_bodies b \
         WHERE b.account = delivery_usage.account AND b.webhook = delivery_usage.webhook), 0) WHERE account = $1",
        vec![account.into()],
    )
    .await
}

/// What webhooks and their deliveries are and take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Webhooks that are sent to.
    pub enabled: i64,
    /// Those of them whose last attempts have failed.
    pub failing: i64,
    /// Since when the one fails that has failed for longest, in seconds since 1970-01-01 UTC.
    pub failing_since: Option<i64>,
    /// Webhooks that are disabled, by whomever.
    pub disabled: i64,
    /// Deliveries that have not arrived and are attempted again.
    pub pending: i64,
    /// When the change happened that the oldest of these tells of.
    pub oldest_pending: Option<Timestamp>,
    /// The bytes of kept bodies. What a commit has stored whose answer was lost may count twice.
    pub bytes: i64,
    /// The account that has most bytes of them, where one has any.
    pub fullest: Option<(Slug, i64)>,
}

impl Usage {
    /// How long the oldest pending delivery has waited, in seconds since its change.
    pub fn oldest_seconds(&self, now: Timestamp) -> i64 {
        self.oldest_pending.map_or(0, |at| (now.as_seconds() - at.as_seconds()).max(0))
    }

    /// For how long the webhook has failed that has failed for longest, in seconds.
    pub fn failing_seconds(&self, now: Timestamp) -> i64 {
        self.failing_since.map_or(0, |since| (now.as_seconds() - since).max(0))
    }

    /// What measurements tell of it at a time.
    pub fn gauges(&self, now: Timestamp) -> [Gauge; 7] {
        [
            Gauge::new("plaudit_webhooks_enabled", "Webhooks that are sent to", self.enabled),
            Gauge::new("plaudit_webhooks_failing", "Those of them whose last attempts failed", self.failing),
            Gauge::new(
                "plaudit_webhooks_failing_seconds",
                "For how long the webhook has failed that has failed for longest",
                self.failing_seconds(now),
            ),
            Gauge::new("plaudit_webhooks_disabled", "Webhooks that are disabled", self.disabled),
            Gauge::new("plaudit_deliveries_pending", "Deliveries that have not arrived", self.pending),
            Gauge::new(
                "plaudit_deliveries_oldest_pending_seconds",
                "How long ago the oldest change was that one of them tells of",
                self.oldest_seconds(now),
            ),
            Gauge::new("plaudit_delivery_body_bytes", "What kept bodies take of the database", self.bytes),
        ]
    }
}

/// What webhooks and their deliveries are and take.
// tidy: every account -- an operator is told of the deployment
pub async fn usage(db: &Db) -> Result<Usage, DbError> {
    let mut usage = Usage::default();
    // What is not sent to has nothing that is pending. The name of a lease has the webhook's from its ninth letter on.
    let of_webhook =
        "FROM deliveries d WHERE d.account = l.account AND d.webhook = substr(l.name, 9) AND d.state = 'pending'";
    let sql = format!(
        "SELECT state, (SELECT count(*) {of_webhook}), (SELECT min(d.at) {of_webhook}) FROM leases l \
         WHERE name >= 'webhook:' AND name < 'webhook;'"
    );
    db.each(&sql, &[], |row| {
        let failing_since = Remembered::parse(row.text(0)?).failing_since;
        usage.enabled += 1;
        usage.failing += i64::from(failing_since.is_some());
        usage.failing_since = earlier(usage.failing_since, failing_since);
        usage.pending += row.integer(1)?;
        let oldest = row.optional_integer(2)?.map(Timestamp::from_microseconds);
        usage.oldest_pending = earlier(usage.oldest_pending, oldest);
        Ok(())
    })
    .await?;
    // By the accounts, so that records of other kinds are not read.
    let sql = "SELECT count(*) FROM accounts a CROSS JOIN setup_records s \
               WHERE s.account = a.id AND s.kind = 'webhook' AND s.deleted = 0";
    let webhooks = db.first(sql, &[], |row| row.integer(0)).await?.unwrap_or_default();
    usage.disabled = (webhooks - usage.enabled).max(0);
    let sql = "SELECT a.slug, CAST(sum(u.bytes) AS BIGINT) AS total FROM delivery_usage u \
               JOIN accounts a ON a.id = u.account GROUP BY a.slug ORDER BY total, a.slug";
    db.each(sql, &[], |row| {
        let (account, bytes) = (row.slug(0)?, row.integer(1)?);
        usage.bytes += bytes;
        usage.fullest = Some((account, bytes)).filter(|_| bytes > 0);
        Ok(())
    })
    .await?;
    Ok(usage)
}

fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}
