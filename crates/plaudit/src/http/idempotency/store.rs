//! The table of kept answers.

use axum::http::{HeaderName, HeaderValue};

use super::{Claim, LONGEST};
use crate::http::reply::Recorded;
use db::{AccountId, Db, DbError, Row, Source, Tx};
use kernel::json::Json;
use kernel::text::{Slug, Timestamp};

const FIND: &str = "SELECT request, status, headers, body FROM idempotent_answers \
                    WHERE account = $1 AND api_key = $2 AND name = $3 AND created > $4";

fn read(row: &Row<'_>) -> Result<([u8; 32], Recorded), DbError> {
    let broken = || DbError::Failed("a kept answer is broken".to_owned());
    let request = row.bytes(0)?.try_into().map_err(|_| broken())?;
    let status = u16::try_from(row.integer(1)?).map_err(|_| broken())?;
    let headers = kernel::json::parse_object(row.text(2)?.as_bytes()).map_err(|_| broken())?;
    let header = |(name, value): (&str, &Json<'_>)| {
        let value = HeaderValue::try_from(value.as_str().unwrap_or_default()).map_err(|_| broken())?;
        Ok((HeaderName::try_from(name).map_err(|_| broken())?, value))
    };
    let headers = headers.iter().map(header).collect::<Result<_, DbError>>()?;
    Ok((request, Recorded { status, headers, body: row.bytes(3)?.to_vec().into() }))
}

/// The answer that was given to this key since `oldest`, and the hash of the request that it was given to. In the transaction
/// of a write no other write of the account can be on its way.
pub async fn find(
    account: AccountId,
    mut source: Source<'_>,
    claim: &Claim,
    oldest: Timestamp,
) -> Result<Option<([u8; 32], Recorded)>, DbError> {
    let (_, key, name) = &claim.name;
    let mut found = None;
    source
        .each(FIND, &[account.into(), (*key).into(), name.as_str().into(), oldest.into()], |row| {
            found = Some(read(row)?);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// Forgets the answers that are as old as `oldest` or older.
// tidy: every account -- the sweep is the deployment's
pub async fn forget(db: &Db, oldest: Timestamp) -> Result<(), DbError> {
    db.write(AccountId::NONE, oldest, |tx, oldest| {
        Box::pin(async move {
            let sql = "UPDATE idempotent_usage SET bytes = coalesce((SELECT sum(length(a.body)) FROM idempotent_answers a \
                       WHERE a.account = idempotent_usage.account AND a.created > $1), 0) \
                       WHERE account IN (SELECT account FROM idempotent_answers WHERE created <= $1)";
            tx.execute(sql, &[(*oldest).into()]).await?;
            tx.execute("DELETE FROM idempotent_answers WHERE created <= $1", &[(*oldest).into()]).await?;
            Ok(())
        })
    })
    .await
}

/// Forgets what the kept answers of an account say, and not that they were given: a request that comes again is told so.
pub async fn forget_bodies(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    let mark = super::mark();
    let headers = mark.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned().into(), Json::String(value.to_str().unwrap_or_default().to_owned().into()))
    });
    let headers = Json::from(kernel::json::Object::of_distinct(headers)).to_string();
    let body = mark.body.short().map(|body| body.to_vec()).unwrap_or_default();
    tx.enqueue(
        "UPDATE idempotent_answers SET status = $2, headers = $3, body = $4 WHERE account = $1",
        vec![account.into(), i64::from(mark.status).into(), headers.into(), body.into()],
    )
    .await?;
    tx.enqueue(
        "UPDATE idempotent_usage SET bytes = coalesce((SELECT CAST(sum(length(a.body)) AS BIGINT) FROM idempotent_answers a \
         WHERE a.account = idempotent_usage.account), 0) WHERE account = $1",
        vec![account.into()],
    )
    .await
}

/// What kept answers take.
#[derive(Debug)]
pub struct Usage {
    /// How many there are.
    pub answers: i64,
    /// The bytes of their bodies.
    pub bytes: i64,
    /// The account that has most bytes of them, where one has any.
    pub fullest: Option<(Slug, i64)>,
}

/// What kept answers take of the database.
// tidy: every account -- an operator is told of the deployment
pub async fn usage(db: &Db) -> Result<Usage, DbError> {
    let sql = "SELECT (SELECT count(*) FROM idempotent_answers), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM idempotent_usage";
    let in_all = db.first(sql, &[], |row| Ok((row.integer(0)?, row.integer(1)?))).await?;
    let (answers, bytes) = in_all.unwrap_or_default();
    let sql = "SELECT a.slug, u.bytes FROM idempotent_usage u JOIN accounts a ON a.id = u.account \
               WHERE u.bytes > 0 ORDER BY u.bytes DESC, a.slug LIMIT 1";
    let fullest = db.first(sql, &[], |row| Ok((row.slug(0)?, row.integer(1)?))).await?;
    Ok(Usage { answers, bytes, fullest })
}

/// Keeps an answer, or the mark that it was given, where it is too long or the account's kept answers have `quota` bytes
/// already. An error is not kept then: asked again it is told again. A second answer to the same key fails as a duplicate,
/// unless the first is older than `oldest`.
pub async fn keep(
    tx: &mut Tx,
    account: AccountId,
    claim: &Claim,
    (answer, mark): (&Recorded, &Recorded),
    quota: i64,
    (now, oldest): (Timestamp, Timestamp),
) -> Result<(), DbError> {
    let sql = "SELECT bytes FROM idempotent_usage WHERE account = $1";
    let used = tx.first(sql, &[account.into()], |row| row.integer(0)).await?.unwrap_or(0);
    let length = answer.body.len();
    let has_room = i64::try_from(length).is_ok_and(|length| used.saturating_add(length) <= quota);
    let is_kept = length <= LONGEST as u64 && has_room || length <= mark.body.len();
    if !is_kept && answer.status >= 400 {
        return Ok(());
    }
    let answer = if is_kept { answer } else { mark };
    let long = || DbError::Failed("an answer that is to be kept is long".to_owned());
    let body = answer.body.short().ok_or_else(long)?.to_vec();
    let length = i64::try_from(body.len()).unwrap_or(i64::MAX);
    let mut headers = kernel::json::Object::new();
    for (name, value) in &answer.headers {
        // Our headers are of ASCII.
        headers.set(name.as_str(), Json::String(value.to_str().unwrap_or_default().into()));
    }
    let (_, key, name) = &claim.name;
    tx.enqueue(
        "DELETE FROM idempotent_answers WHERE account = $1 AND api_key = $2 AND name = $3 AND created <= $4",
        vec![account.into(), (*key).into(), name.clone().into(), oldest.into()],
    )
    .await?;
    tx.enqueue(
        "INSERT INTO idempotent_answers (account, api_key, name, request, status, headers, body, created) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        vec![
            account.into(),
            (*key).into(),
            name.clone().into(),
            claim.request.to_vec().into(),
            i64::from(answer.status).into(),
            Json::from(headers).to_string().into(),
            body.into(),
            now.into(),
        ],
    )
    .await?;
    tx.enqueue(
        "INSERT INTO idempotent_usage (account, bytes) VALUES ($1, $2) \
         ON CONFLICT (account) DO UPDATE SET bytes = idempotent_usage.bytes + $2",
        vec![account.into(), length.into()],
    )
    .await
}
