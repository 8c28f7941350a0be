//! The table of review tasks.

use crate::program::store::parse;
use crate::program::{Context, Record};
use crate::records::review_tasks::ReviewTask;
use crate::records::store::{SetTable, exists};
use db::{AccountId, Db, DbError, Tx};
use kernel::ids::Ids;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token};

/// What reviewers are found by.
pub(super) const REVIEWERS: SetTable =
    SetTable { table: "review_task_reviewers", key: "token", columns: &["reviewer"], identifying: 1 };
/// When the service has something to do for a task.
pub(super) const TIMES: SetTable =
    SetTable { table: "review_task_times", key: "token", columns: &["due"], identifying: 1 };

/// How many tasks are looked up at once of which something is due.
const BATCH: usize = 256;

/// The tasks of an entry that are not in the trash, in the order in which they were made.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<ReviewTask>, DbError> {
    tx.all(
        "SELECT doc FROM review_tasks WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY created, token",
        &[account.into(), entry.into()],
        |row| parse(row.text(0)?, context),
    )
    .await
}

/// A token that no task has.
pub async fn free_token(tx: &mut Tx, account: AccountId, ids: &Ids) -> Result<Token, DbError> {
    loop {
        let token = ids.token();
        if !exists(tx, account, Kind::ReviewTask, token.as_str()).await? {
            return Ok(token);
        }
    }
}

/// Tasks for which something is due at a time, some behind one of them: those of entries in the trash left out.
// tidy: every account -- the sweep is the deployment's
pub async fn due(
    db: &Db,
    now: Timestamp,
    (account, token): (AccountId, &str),
) -> Result<Vec<(AccountId, Token)>, DbError> {
    let sql = format!(
        "SELECT t.account, t.token FROM review_task_times t JOIN accounts a ON a.id = t.account AND a.importing = 0 \
         JOIN review_tasks r ON r.account = t.account AND r.token = t.token AND r.deleted = 0 \
         JOIN entries e ON e.account = r.account AND e.slug = r.entry AND e.deleted = 0 \
         WHERE t.due <= $1 AND (t.account > $2 OR (t.account = $2 AND t.token > $3)) \
         ORDER BY t.account, t.token LIMIT {BATCH}"
    );
    let mut found = Vec::new();
    db.each(&sql, &[now.into(), account.into(), token.into()], |row| {
        let token = Token::parse(row.text(1)?).ok_or_else(|| DbError::Failed("a stored token is none".to_owned()))?;
        found.push((AccountId(row.integer(0)?), token));
        Ok(())
    })
    .await?;
    Ok(found)
}

/// The tasks that ask a reviewer of this key ([`reviewer_key`](super::reviewer_key)), those in the trash included.
pub async fn of_reviewer(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
    context: &Context,
) -> Result<Vec<Record<ReviewTask>>, DbError> {
    let sql = "SELECT revision, deleted, doc FROM review_tasks WHERE account = $1 AND token IN \
               (SELECT token FROM review_task_reviewers WHERE account = $1 AND reviewer = $2) ORDER BY token";
    tx.all(sql, &[account.into(), key.into()], |row| {
        Ok(Record { value: parse(row.text(2)?, context)?, revision: row.integer(0)?, deleted: row.flag(1)? })
    })
    .await
}
