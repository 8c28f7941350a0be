//! The tables of deliveries and of what they send.

mod check;
mod keeping;
mod list;

pub use check::each_wrong;
pub use keeping::{Usage, count_bodies, forget, forget_bodies_of, usage};
pub use list::{Asked, list};

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;

use super::endpoint::Key;
use super::id::DeliveryId;
use crate::log::Event;
use crate::log::feed::Logged;
use crate::log::forms::FORMS;
use crate::outgoing::Attempt;
use crate::program::webhooks::{Status, Webhook};
use crate::program::{self, Context, choices};
use crate::records::store::filled;
use db::{AccountId, Db, DbError, Row, Source, Tx, Value};
use kernel::document::object;
use kernel::json::{Json, parse_value};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The most attempts of a delivery that are kept, the last ones.
const KEPT_ATTEMPTS: usize = 50;

/// What is longer is not copied to be written.
const LARGE: usize = 64 << 10;

choices! {
    /// What has become of a delivery.
    pub enum State {
        /// It has not arrived, and there are attempts left.
        Pending "pending",
        /// It has arrived.
        Delivered "delivered",
        /// It has not arrived, and there are no attempts left.
        Failed "failed",
    }
}

/// A delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// What it is called.
    pub id: DeliveryId,
    /// What it tells.
    pub event: Event,
    /// The kind of the record that has changed, as it is called in the log.
    pub kind: String,
    /// The record.
    pub slug: String,
    /// The time of the change.
    pub at: Timestamp,
    /// What has become of it.
    pub state: State,
    /// When it is attempted next, or when it ended, in microseconds of the database's time.
    pub due: i64,
    /// When the attempt under way began, by the same time; 0 for none.
    pub started: i64,
    /// Attempts since it was begun, or begun anew.
    pub tried: usize,
    /// The last attempts, as JSON.
    pub attempts: String,
}

impl Delivery {
    /// The delivery of an event of a change, by the event's place, which is attempted from a time on.
    pub fn new(change: &Logged, (place, event): (u16, Event), due: i64) -> Self {
        Self {
            id: DeliveryId::of(change.sequence, place, &change.hash),
            event,
            kind: change.kind.name().to_owned(),
            slug: change.slug.clone(),
            at: change.at,
            state: State::Pending,
            due,
            started: 0,
            tried: 0,
            attempts: "[]".to_owned(),
        }
    }

    /// Where it stands among the deliveries of a webhook.
    pub fn key(&self) -> Key {
        self.id.key()
    }
}

/// What has become of an attempt.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The delivery, as it was before.
    pub delivery: Delivery,
    /// What has become of that.
    pub state: State,
    /// When it is attempted next, or when it ended.
    pub due: i64,
    /// How many attempts there were.
    pub tried: usize,
    /// All of them, as JSON.
    pub attempts: String,
}

/// The attempts with one more, of which the last ones are kept.
pub fn with_attempt(attempts: &str, attempt: &Attempt) -> String {
    let mut all = attempts_of(attempts);
    let kept = all.split_off(all.len().saturating_sub(KEPT_ATTEMPTS - 1));
    let texts: Vec<String> =
        kept.iter().chain([attempt]).map(|attempt| object(|object| attempt.write(object))).collect();
    format!("[{}]", texts.join(","))
}

/// The attempts of a stored delivery.
pub fn attempts_of(attempts: &str) -> Vec<Attempt> {
    let Ok(Json::Array(all)) = parse_value(attempts.as_bytes()) else { return Vec::new() };
    all.iter().map(Attempt::read).collect()
}

const COLUMNS: &str = "sequence, place, mark, event, kind, slug, at, state, due, started, tried, attempts";

/// Nothing of an event that this version does not know.
fn read(row: &Row<'_>) -> Result<Option<Delivery>, DbError> {
    let broken = |what: &str| DbError::Failed(format!("a stored delivery has a broken {what}"));
    let Some(event) = Event::named(row.text(3)?) else { return Ok(None) };
    let place = u16::try_from(row.integer(1)?).map_err(|_| broken("place"))?;
    let id = DeliveryId::new(row.integer(0)?, place, row.text(2)?).ok_or_else(|| broken("mark"))?;
    Ok(Some(Delivery {
        id,
        event,
        kind: row.text(4)?.to_owned(),
        slug: row.text(5)?.to_owned(),
        at: Timestamp::from_microseconds(row.integer(6)?),
        state: State::named(row.text(7)?).ok_or_else(|| broken("state"))?,
        due: row.integer(8)?,
        started: row.integer(9)?,
        tried: usize::try_from(row.integer(10)?).map_err(|_| broken("number of attempts"))?,
        attempts: row.text(11)?.to_owned(),
    }))
}

fn of(account: AccountId, webhook: Slug, (sequence, place): Key) -> Vec<Value<'static>> {
    vec![account.into(), webhook.as_str().to_owned().into(), sequence.into(), i64::from(place).into()]
}

/// Adds a delivery, unless it is there.
pub async fn insert(tx: &mut Tx, account: AccountId, webhook: Slug, delivery: &Delivery) -> Result<(), DbError> {
    let mut values = of(account, webhook, delivery.key());
    values.extend([
        delivery.id.mark().into(),
        delivery.event.name().into(),
        delivery.kind.clone().into(),
        delivery.slug.clone().into(),
        delivery.at.into(),
        delivery.state.name().into(),
        delivery.due.into(),
        delivery.started.into(),
        count(delivery.tried),
        delivery.attempts.clone().into(),
    ]);
    tx.enqueue(
        "INSERT INTO deliveries (account, webhook, sequence, place, mark, event, kind, slug, at, state, due, started, tried, \
         attempts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING",
        values,
    )
    .await
}

fn count(number: usize) -> Value<'static> {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// Keeps what deliveries send, unless that is kept already, and counts its bytes.
pub async fn insert_bodies(
    tx: &mut Tx,
    account: AccountId,
    webhook: Slug,
    bodies: &[(Key, Bytes)],
) -> Result<(), DbError> {
    let sql = "INSERT INTO delivery_bodies (account, webhook, sequence, place, body) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT DO NOTHING";
    for (key, body) in bodies {
        if body.len() > LARGE {
            let mut values: Vec<Value<'_>> = of(account, webhook, *key);
            values.push(Value::from(&body[..]));
            tx.execute(sql, &values).await?;
        } else {
            let mut values = of(account, webhook, *key);
            values.push(body.to_vec().into());
            tx.enqueue(sql, values).await?;
        }
    }
    let bytes: usize = bodies.iter().map(|(_, body)| body.len()).sum();
    if bytes == 0 {
        return Ok(());
    }
    tx.enqueue(
        "INSERT INTO delivery_usage (account, webhook, bytes) VALUES ($1, $2, $3) \
         ON CONFLICT (account, webhook) DO UPDATE SET bytes = delivery_usage.bytes + $3",
        vec![account.into(), webhook.into(), count(bytes)],
    )
    .await
}

/// Notes that an attempt begins, and the attempts before it.
pub async fn start(
    tx: &mut Tx,
    account: AccountId,
    webhook: Slug,
    (key, started, attempts): (Key, i64, &str),
) -> Result<(), DbError> {
    let mut values = of(account, webhook, key);
    values.extend([started.into(), attempts.to_owned().into()]);
    tx.enqueue(
        "UPDATE deliveries SET started = $5, attempts = $6 \
         WHERE account = $1 AND webhook = $2 AND sequence = $3 AND place = $4",
        values,
    )
    .await
}

/// Notes what has become of an attempt. A delivery that was begun anew meanwhile is due at another time than before, and stays to
/// be attempted.
pub async fn settle(tx: &mut Tx, account: AccountId, webhook: Slug, settled: &Settled) -> Result<(), DbError> {
    let mut values = of(account, webhook, settled.delivery.key());
    values.extend([
        settled.state.name().into(),
        settled.due.into(),
        count(settled.tried),
        settled.attempts.clone().into(),
        settled.delivery.due.into(),
    ]);
    tx.enqueue(
        "UPDATE deliveries SET state = CASE WHEN due = $9 THEN $5 ELSE state END, due = CASE WHEN due = $9 THEN $6 ELSE due END, \
         tried = CASE WHEN due = $9 THEN $7 ELSE tried END, started = 0, attempts = $8 \
         WHERE account = $1 AND webhook = $2 AND sequence = $3 AND place = $4",
        values,
    )
    .await
}

/// The first deliveries of a webhook that have not arrived and may be attempted, in the order of the log.
pub async fn pending(
    account: AccountId,
    mut source: Source<'_>,
    webhook: Slug,
    limit: usize,
) -> Result<Vec<Delivery>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM deliveries WHERE account = $1 AND webhook = $2 AND state = 'pending' \
         ORDER BY sequence, place LIMIT $3"
    );
    let mut found = Vec::new();
    let values = [account.into(), webhook.into(), count(limit)];
    source
        .each(&sql, &values, |row| {
            found.extend(read(row)?);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// A delivery, and what it sends, unless that was not made yet.
pub async fn find(
    account: AccountId,
    mut source: Source<'_>,
    webhook: Slug,
    key: Key,
) -> Result<Option<(Delivery, Option<Bytes>)>, DbError> {
    let Some((delivery, length)) = each_of(account, &mut source, webhook, &[key]).await?.pop() else { return Ok(None) };
    let body = match length {
        Length::OfBody(_) => bodies(account, &mut source, webhook, &[key]).await?.remove(&key),
        Length::OfDocument(_) => None,
    };
    Ok(Some((delivery, body)))
}

/// How many bytes a delivery is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// It was made: this is what it sends.
    OfBody(usize),
    /// It was not made yet: this is the document of its change.
    OfDocument(usize),
}

/// Those of some deliveries that are there, each with how long it is.
pub async fn each_of(
    account: AccountId,
    source: &mut Source<'_>,
    webhook: Slug,
    keys: &[Key],
) -> Result<Vec<(Delivery, Length)>, DbError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let sequences = sequences(keys);
    let (list, values) = filled(&sequences, 3, vec![account.into(), webhook.into()]);
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT CAST(octet_length(b.body) AS BIGINT) FROM delivery_bodies b WHERE b.account = d.account \
         AND b.webhook = d.webhook AND b.sequence = d.sequence AND b.place = d.place), \
         (SELECT CAST(octet_length(c.doc) AS BIGINT) FROM changes c WHERE c.account = d.account AND c.sequence = d.sequence) \
         FROM deliveries d WHERE account = $1 AND webhook = $2 AND sequence IN ({list})"
    );
    let mut found = Vec::with_capacity(keys.len());
    source
        .each(&sql, &values, |row| {
            let length = |column| -> Result<_, DbError> {
                Ok(row.optional_integer(column)?.and_then(|length| usize::try_from(length).ok()))
            };
            if let Some(delivery) = read(row)?.filter(|delivery| keys.contains(&delivery.key())) {
                let of_document = Length::OfDocument(length(13)?.unwrap_or_default());
                found.push((delivery, length(12)?.map_or(of_document, Length::OfBody)));
            }
            Ok::<(), DbError>(())
        })
        .await?;
    Ok(found)
}

/// What some deliveries send that was made already.
pub async fn bodies(
    account: AccountId,
    source: &mut Source<'_>,
    webhook: Slug,
    keys: &[Key],
) -> Result<HashMap<Key, Bytes>, DbError> {
    let mut found = HashMap::with_capacity(keys.len());
    if keys.is_empty() {
        return Ok(found);
    }
    let sequences = sequences(keys);
    let (list, values) = filled(&sequences, 3, vec![account.into(), webhook.into()]);
    let sql = format!(
        "SELECT sequence, place, body FROM delivery_bodies WHERE account = $1 AND webhook = $2 AND sequence IN ({list})"
    );
    source
        .each(&sql, &values, |row| {
            let key = (row.integer(0)?, u16::try_from(row.integer(1)?).unwrap_or_default());
            if keys.contains(&key) {
                found.insert(key, Bytes::copy_from_slice(row.bytes(2)?));
            }
            Ok::<(), DbError>(())
        })
        .await?;
    Ok(found)
}

fn sequences(keys: &[Key]) -> Vec<i64> {
    keys.iter().map(|(sequence, _)| *sequence).collect()
}

/// Has a delivery attempted anew, from the first attempt on; its earlier attempts stay. It is due at another time than before, so
/// that an attempt that is on its way does not end it.
pub async fn begin_anew(tx: &mut Tx, account: AccountId, webhook: Slug, (key, now): (Key, i64)) -> Result<(), DbError> {
    let mut values = of(account, webhook, key);
    values.push(now.into());
    tx.enqueue(
        "UPDATE deliveries SET state = 'pending', due = CASE WHEN due = $5 THEN due - 1 ELSE $5 END, tried = 0 \
         WHERE account = $1 AND webhook = $2 AND sequence = $3 AND place = $4",
        values,
    )
    .await
}

/// Gives up everything of a webhook that has not arrived.
pub async fn fail_pending(tx: &mut Tx, account: AccountId, webhook: Slug) -> Result<(), DbError> {
    tx.enqueue(
        "UPDATE deliveries SET state = 'failed' WHERE account = $1 AND webhook = $2 AND state = 'pending'",
        vec![account.into(), webhook.as_str().to_owned().into()],
    )
    .await
}

/// Notes the end of an attempt that was on its way when its webhook was disabled, and that it arrived if it did.
pub async fn settle_late(tx: &mut Tx, account: AccountId, webhook: Slug, settled: &Settled) -> Result<(), DbError> {
    let mut values = of(account, webhook, settled.delivery.key());
    let state = if settled.state == State::Delivered { State::Delivered } else { State::Failed };
    values.extend([state.name().into(), settled.attempts.clone().into()]);
    tx.enqueue(
        "UPDATE deliveries SET state = $5, started = 0, attempts = $6 \
         WHERE account = $1 AND webhook = $2 AND sequence = $3 AND place = $4 AND state = 'failed' AND started > 0",
        values,
    )
    .await
}

/// A change of which deliveries are made.
#[derive(Clone, Debug)]
pub struct SourceChange {
    /// Its sequence number.
    pub sequence: i64,
    /// Its time.
    pub at: Timestamp,
    /// `api`, `ui` or `system`.
    pub source: String,
    /// The document after it, unless that was erased.
    pub document: Option<String>,
}

/// The changes of these sequence numbers, of which there are some, with their documents.
pub async fn changes(
    account: AccountId,
    mut source: Source<'_>,
    sequences: &[i64],
) -> Result<Vec<SourceChange>, DbError> {
    let mut found = Vec::with_capacity(sequences.len());
    let (list, values) = filled(sequences, 2, vec![account.into()]);
    let sql = format!(
        "SELECT sequence, at, source, doc, kind, doc_form FROM changes WHERE account = $1 AND sequence IN ({list})"
    );
    source
        .each(&sql, &values, |row| {
            let kind = Kind::named(row.text(4)?).ok_or_else(|| DbError::Failed("no such kind".to_owned()))?;
            let form = row.integer(5)?;
            found.push(SourceChange {
                sequence: row.integer(0)?,
                at: Timestamp::from_microseconds(row.integer(1)?),
                source: row.text(2)?.to_owned(),
                document: row.optional_text(3)?.map(|text| FORMS.logged(kind, form, text)),
            });
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The webhooks of an account that are sent to.
pub async fn sent_to(tx: &mut Tx, account: AccountId) -> Result<BTreeSet<Slug>, DbError> {
    // What is stored of a webhook states everything, so that nothing is asked of the context.
    let context = Context::any_language(Timestamp::from_seconds(0));
    let webhooks = program::store::live::<Webhook>(tx, account, &context).await?;
    let enabled = webhooks.into_iter().filter(|webhook| webhook.status == Status::Enabled);
    Ok(enabled.map(|webhook| webhook.slug).collect())
}

/// The first change of an account from a time on; behind the last one where there is none. The times of changes go with their
/// numbers but for the clocks of nodes, which differ, and can be set.
pub async fn first_at(account: AccountId, db: &Db, time: i64) -> Result<i64, DbError> {
    let sql = "SELECT sequence FROM accounts WHERE id = $1";
    let last = db.first(sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(0);
    let (mut before, mut from) = (0, last + 1);
    while before + 1 < from {
        let middle = i64::midpoint(before, from);
        let sql = "SELECT at FROM changes WHERE account = $1 AND sequence = $2";
        let at = db.fetch_pipelined(sql, &[account.into(), middle.into()], |row| row.integer(0)).await?;
        if at.is_some_and(|at| at < time) { before = middle } else { from = middle }
    }
    Ok(from)
}
