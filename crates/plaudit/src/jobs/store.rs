//! The table of jobs.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::{Failure, Job, Outcome, Progress, Report, State};
use crate::services::metrics::Gauge;
use db::{AccountId, Db, DbError, Row, Tx, Value};
use kernel::text::{Slug, Timestamp};

/// A job that is added.
#[derive(Clone, Debug)]
pub struct Added {
    /// Its slug.
    pub slug: Slug,
    /// What it does.
    pub kind: &'static str,
    /// What it is to do it with, as JSON.
    pub input: String,
    /// Who had it added.
    pub actor: String,
    /// When.
    pub created: Timestamp,
}

/// A job that is to be begun.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Its slug.
    pub slug: Slug,
    /// What it does.
    pub kind: String,
    /// How often it was begun since it last got on.
    pub starts: i64,
    /// What it is to do it with, as JSON.
    pub input: String,
    /// Where it goes on; empty for the beginning.
    pub checkpoint: String,
    /// What is told of it.
    pub report: Report,
}

/// Which jobs a page has.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Of this kind alone.
    pub kind: Option<String>,
    /// In this state alone.
    pub state: Option<State>,
    /// Behind the job of this time and slug.
    pub behind: Option<(Timestamp, Slug)>,
    /// At most so many.
    pub most: usize,
}

fn read<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, DbError> {
    let broken = |error| DbError::Failed(format!("a stored job is broken: {error}"));
    serde_json::from_str(row.text(column)?).map_err(broken)
}

fn written<T: serde::Serialize>(value: &T) -> Result<Value<'static>, DbError> {
    let text = serde_json::to_string(value).map_err(|error| DbError::Failed(error.to_string()))?;
    Ok(Value::from(text).stored())
}

fn state(row: &Row<'_>, column: usize) -> Result<State, DbError> {
    let name = row.text(column)?;
    State::named(name).ok_or_else(|| DbError::Failed(format!("no job is `{name}`")))
}

/// The report in the columns `progress, results, errors`, of which the first is this one.
fn report(row: &Row<'_>, first: usize) -> Result<Report, DbError> {
    let (progress, results, errors): (Progress, Vec<Outcome>, Vec<Failure>) =
        (read(row, first)?, read(row, first + 1)?, read(row, first + 2)?);
    Ok(Report { progress, results, errors })
}

/// Adds a job.
pub async fn insert(tx: &mut Tx, account: AccountId, added: Added) -> Result<(), DbError> {
    let sql = "INSERT INTO jobs (account, slug, kind, state, created, due, started, finished, tried, actor, input, \
               checkpoint, progress, results, errors) \
               VALUES ($1, $2, $3, 'queued', $4, 0, 0, 0, 0, $5, $6, '', '{}', '[]', '[]')";
    let Added { slug, kind, input, actor, created } = added;
    let values = [account.into(), slug.into(), kind.into(), created.into(), actor.into(), input.into()];
    tx.enqueue(sql, values.into()).await
}

/// How many notices an account was given after a time, and how many of them about this.
pub async fn notices(tx: &mut Tx, account: AccountId, about: &str, after: Timestamp) -> Result<(i64, i64), DbError> {
    // Quotation marks within a text have a backslash before them, so that no other member is taken for this one.
    let sql = "SELECT count(*), CAST(coalesce(sum(CASE WHEN replace(input, $4, '') <> input THEN 1 ELSE 0 END), 0) AS BIGINT) \
               FROM jobs WHERE account = $1 AND kind = 'mail' AND created > $2 AND replace(input, $3, '') <> input";
    let (any, this) = ("\"about\":\"", format!("\"about\":\"{about}\""));
    let values = [account.into(), after.into(), any.into(), this.into()];
    let counted = tx.first(sql, &values, |row| Ok((row.integer(0)?, row.integer(1)?))).await?;
    Ok(counted.unwrap_or_default())
}

/// The job that is to be done next: one that another node has left, else the oldest that waits and whose pause is over.
pub async fn next(tx: &mut Tx, account: AccountId, now: i64) -> Result<Option<Begun>, DbError> {
    let sql = |which: &str| {
        format!(
            "SELECT slug, kind, tried, input, checkpoint, progress, results, errors FROM jobs \
             WHERE account = $1 AND {which} ORDER BY created, slug LIMIT 1"
        )
    };
    let read = |row: &Row<'_>| {
        let (slug, kind, starts) = (row.slug(0)?, row.text(1)?.to_owned(), row.integer(2)?);
        let (input, checkpoint) = (row.text(3)?.to_owned(), row.text(4)?.to_owned());
        Ok(Begun { slug, kind, starts, input, checkpoint, report: report(row, 5)? })
    };
    let left = tx.first_for_update(&sql("state = 'running'"), &[account.into()], read).await?;
    if left.is_some() {
        return Ok(left);
    }
    let waits = sql("state = 'queued' AND due <= $2");
    tx.first_for_update(&waits, &[account.into(), now.into()], read).await
}

/// When there is something to do again for the jobs of an account; nothing where all have ended.
pub async fn next_due(tx: &mut Tx, account: AccountId) -> Result<Option<i64>, DbError> {
    let sql = "SELECT min(CASE WHEN state = 'running' THEN 0 ELSE due END) FROM jobs \
               WHERE account = $1 AND state IN ('queued', 'running')";
    Ok(tx.first(sql, &[account.into()], |row| row.optional_integer(0)).await?.flatten())
}

/// Notes that a job was begun.
pub async fn begin(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    (starts, now): (i64, Timestamp),
) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET state = 'running', tried = $3, started = CASE WHEN started = 0 THEN $4 ELSE started END \
               WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), slug.into(), starts.into(), now.into()]).await
}

/// Where a job stands, whose row is locked until the end of the transaction.
pub async fn state_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<State>, DbError> {
    let sql = "SELECT state FROM jobs WHERE account = $1 AND slug = $2";
    tx.first_for_update(sql, &[account.into(), slug.into()], |row| state(row, 0)).await
}

/// How often a job was begun since it last got on.
pub async fn starts(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<i64, DbError> {
    let sql = "SELECT tried FROM jobs WHERE account = $1 AND slug = $2";
    Ok(tx.first(sql, &[account.into(), slug.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// Notes that a job has got on.
pub async fn step(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    (checkpoint, report): (&str, &Report),
) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET tried = 0, checkpoint = $3 WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), slug.into(), checkpoint.to_owned().into()]).await?;
    tell(tx, account, slug, report).await
}

/// Notes what is told of a job.
pub async fn tell(tx: &mut Tx, account: AccountId, slug: Slug, report: &Report) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET progress = $3, results = $4, errors = $5 WHERE account = $1 AND slug = $2";
    let Report { progress, results, errors } = report;
    let values = [account.into(), slug.into(), written(progress)?, written(results)?, written(errors)?];
    tx.enqueue(sql, values.into()).await
}

/// Has a job wait for another start.
pub async fn wait(tx: &mut Tx, account: AccountId, slug: Slug, due: i64) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET state = 'queued', due = $3 WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), slug.into(), due.into()]).await
}

/// Ends a job.
pub async fn end(tx: &mut Tx, account: AccountId, slug: Slug, (state, now): (State, Timestamp)) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET state = $3, finished = $4 WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), slug.into(), state.name().into(), now.into()]).await
}

/// What is read of a job that is shown, with the version of the account's program.
const SHOWN: &str = "SELECT slug, kind, state, created, started, finished, progress, results, errors, \
                     (SELECT a.version FROM accounts a WHERE a.id = jobs.account) FROM jobs";

fn shown(row: &Row<'_>) -> Result<(Job, i64), DbError> {
    let time = |column| Ok::<_, DbError>(Timestamp::from_microseconds(row.integer(column)?));
    let optional = |column| Ok::<_, DbError>(Some(time(column)?).filter(|time| time.as_microseconds() != 0));
    let job = Job {
        slug: row.slug(0)?,
        kind: row.text(1)?.to_owned(),
        state: state(row, 2)?,
        report: report(row, 6)?,
        created: time(3)?,
        started: optional(4)?,
        finished: optional(5)?,
    };
    Ok((job, row.integer(9)?))
}

/// A job, and the version of the account's program.
pub async fn find(db: &Db, account: AccountId, slug: Slug) -> Result<Option<(Job, i64)>, DbError> {
    db.first(&format!("{SHOWN} WHERE account = $1 AND slug = $2"), &[account.into(), slug.into()], shown).await
}

/// The same, whose row is locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<(Job, i64)>, DbError> {
    let sql = format!("{SHOWN} WHERE account = $1 AND slug = $2");
    tx.first_for_update(&sql, &[account.into(), slug.into()], shown).await
}

/// Jobs, what was added last first, each with the version of the account's program.
pub async fn page(db: &Db, account: AccountId, asked: &Asked) -> Result<Vec<(Job, i64)>, DbError> {
    let Asked { kind, state, behind, most } = asked;
    let (mut sql, mut values): (_, Vec<Value<'_>>) = (format!("{SHOWN} WHERE account = $1"), vec![account.into()]);
    let mut narrow = |clause: &str, value: Value<'static>| {
        values.push(value);
        sql = format!("{sql} {}", clause.replace('?', &format!("${}", values.len())));
    };
    if let Some(kind) = kind {
        narrow("AND kind = ?", kind.clone().into());
    }
    if let Some(state) = state {
        narrow("AND state = ?", state.name().into());
    }
    if let Some((created, slug)) = behind {
        narrow("AND created <= ?", (*created).into());
        narrow("AND (created < ?", (*created).into());
        narrow("OR slug < ?)", (*slug).into());
    }
    narrow("ORDER BY created DESC, slug DESC LIMIT ?", i64::try_from(*most).unwrap_or(i64::MAX).into());
    let mut jobs = Vec::new();
    db.each(&sql, &values, |row| {
        jobs.push(shown(row)?);
        Ok(())
    })
    .await?;
    Ok(jobs)
}

/// Forgets jobs that ended before this time.
// tidy: every account -- the sweep is the deployment's
pub async fn forget(db: &Db, before: Timestamp) -> Result<(), DbError> {
    db.write(AccountId::NONE, before, |tx, before| {
        Box::pin(async move {
            let sql = "DELETE FROM jobs WHERE finished > 0 AND finished < $1";
            tx.execute(sql, &[(*before).into()]).await.map(drop)
        })
    })
    .await
}

/// How many jobs there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In each state that any is in.
    pub states: BTreeMap<State, i64>,
    /// Those that were added before a time and are still queued.
    pub overdue: i64,
    /// Those of messages that could not be sent to everybody.
    pub unsent: i64,
}

impl Usage {
    /// How many are in a state.
    pub fn of(&self, state: State) -> i64 {
        self.states.get(&state).copied().unwrap_or_default()
    }

    /// What measurements tell of it, by the names of gauges.
    pub fn gauges(&self) -> impl Iterator<Item = Gauge> {
        let of_state = |(name, state): &(&str, State)| {
            Gauge::new(&format!("plaudit_jobs{{state=\"{name}\"}}"), "Jobs that are kept", self.of(*state))
        };
        State::CHOICES.iter().map(of_state).chain([
            Gauge::new("plaudit_jobs_queued_over_an_hour", "Jobs that wait for longer than they should", self.overdue),
            Gauge::new("plaudit_mails_failed", "Messages that were not sent to everybody", self.unsent),
        ])
    }
}

/// Forgets the jobs of an account that have ended.
pub async fn forget_ended(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    tx.enqueue("DELETE FROM jobs WHERE account = $1 AND finished <> 0", vec![account.into()]).await
}

/// Forgets the addresses that messages wait to be sent to and that are somebody's; a message to nobody else is forgotten. The places
/// of the others stay what they are, because a job notes which are left.
pub async fn forget_mails_to(
    tx: &mut Tx,
    account: AccountId,
    is_theirs: &(dyn Fn(&str) -> bool + Sync),
) -> Result<(), DbError> {
    let sql = "SELECT slug, input FROM jobs WHERE account = $1 AND kind = 'mail' AND finished = 0";
    let waiting: Vec<(Slug, String)> =
        tx.all(sql, &[account.into()], |row| Ok((row.slug(0)?, row.text(1)?.to_owned()))).await?;
    for (slug, input) in waiting {
        let Ok(mut message) = serde_json::from_str::<serde_json::Value>(&input) else { continue };
        let Some(to) = message.get_mut("to").and_then(serde_json::Value::as_array_mut) else { continue };
        let mut is_changed = false;
        for address in to.iter_mut().filter(|address| address.as_str().is_some_and(is_theirs)) {
            (*address, is_changed) = ("".into(), true);
        }
        let is_to_somebody = to.iter().any(|address| address.as_str().is_some_and(|address| !address.is_empty()));
        let (sql, values) = match (is_changed, is_to_somebody) {
            (false, _) => continue,
            (true, true) => (
                "UPDATE jobs SET input = $3 WHERE account = $1 AND slug = $2",
                vec![account.into(), slug.into(), message.to_string().into()],
            ),
            (true, false) => ("DELETE FROM jobs WHERE account = $1 AND slug = $2", vec![account.into(), slug.into()]),
        };
        tx.enqueue(sql, values).await?;
    }
    Ok(())
}

/// How many jobs there are, and how many of those wait that were added before a time.
// tidy: every account -- an operator is told of the deployment
pub async fn usage(db: &Db, before: Timestamp) -> Result<Usage, DbError> {
    let sql = "SELECT state, count(*), CAST(sum(CASE WHEN state = 'queued' AND created < $1 THEN 1 ELSE 0 END) AS BIGINT) \
               FROM jobs GROUP BY state";
    let mut usage = Usage::default();
    db.each(sql, &[before.into()], |row| {
        usage.states.insert(state(row, 0)?, row.integer(1)?);
        usage.overdue += row.integer(2)?;
        Ok(())
    })
    .await?;
    let sql = "SELECT count(*) FROM jobs WHERE kind = 'mail' AND errors <> '[]'";
    usage.unsent = db.fetch_pipelined(sql, &[], |row| row.integer(0)).await?.unwrap_or_default();
    Ok(usage)
}
