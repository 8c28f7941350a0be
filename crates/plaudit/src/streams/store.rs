//! What streams read of the change log, and where they begin.

use std::sync::Arc;

use super::{EntryChange, Logged};
use crate::records::users;
use db::{AccountId, Committed, Db, DbError, Row, Source};
use kernel::document;
use kernel::text::{Slug, Timestamp};

/// Where the account stands, and whether it has an entry that is not in the trash.
pub async fn standing(db: &Db, account: AccountId, entry: Option<Slug>) -> Result<Option<(Committed, bool)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, a.sequence, a.hash, \
         (SELECT count(*) FROM entries e WHERE e.account = a.id AND e.slug = $2 AND e.deleted = 0) \
         FROM accounts a WHERE a.id = $1",
        &[account.into(), entry.into()],
        |row| Ok((Committed::read(row, 0)?, row.flag(3)?)),
    )
    .await
}

/// The most changes that [`stretch`] reads at once.
const STRETCH: i64 = 256;

/// Reads a stretch of the log, of at most 256 changes, after one sequence number and up to another. Gives those of entries,
/// and the sequence number up to which it has read: less than asked for where the documents have more bytes than `bytes`.
/// Nothing in between is left out: a number that is missing is an error.
pub async fn stretch(
    db: &Db,
    account: AccountId,
    (after, to): (i64, i64),
    bytes: usize,
) -> Result<(Vec<Arc<EntryChange>>, i64), DbError> {
    let (mut found, mut reached) = (Vec::new(), after);
    let mut left = Some(bytes);
    // Documents of other kinds are not wanted, and erased ones are not there; their rows tell that no number is missing.
    db.each(
        "SELECT sequence, at, source, action, slug, events, CASE WHEN kind = 'entry' THEN doc END FROM changes \
         WHERE account = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence",
        &[account.into(), after.into(), to.min(after.saturating_add(STRETCH)).into()],
        |row| {
            let Some(room) = left else { return Ok(()) };
            if row.integer(0)? != reached + 1 {
                return Err(DbError::Failed(format!("the change log of {account:?} has no change {}", reached + 1)));
            }
            reached += 1;
            if let Some(document) = row.optional_text(6)? {
                left = room.checked_sub(document.len());
                found.push(logged(row, document)?);
            }
            Ok(())
        },
    )
    .await?;
    Ok((with_people(db, account, found).await?, reached))
}

/// Like [`stretch`], of one entry, whose changes are found without reading those in between.
pub async fn stretch_of_entry(
    db: &Db,
    account: AccountId,
    entry: Slug,
    (after, to): (i64, i64),
    bytes: usize,
) -> Result<(Vec<Arc<EntryChange>>, i64), DbError> {
    let (mut found, mut reached) = (Vec::new(), to);
    let (mut left, mut rows) = (Some(bytes), 0);
    db.each(
        "SELECT sequence, at, source, action, slug, events, doc FROM changes \
         WHERE account = $1 AND kind = 'entry' AND slug = $2 AND sequence > $3 AND sequence <= $4 \
         AND doc IS NOT NULL ORDER BY sequence LIMIT $5",
        &[account.into(), entry.into(), after.into(), to.into(), STRETCH.into()],
        |row| {
            let Some(room) = left else { return Ok(()) };
            let document = row.text(6)?;
            left = room.checked_sub(document.len());
            rows += 1;
            if left.is_none() || rows == STRETCH {
                reached = row.integer(0)?;
            }
            found.push(logged(row, document)?);
            Ok(())
        },
    )
    .await?;
    Ok((with_people(db, account, found).await?, reached))
}

/// The changes with the people whom their documents show, who are looked up together, as they are called now.
async fn with_people(db: &Db, account: AccountId, found: Vec<Logged>) -> Result<Vec<Arc<EntryChange>>, DbError> {
    let documents = found.iter().map(|logged| logged.document.as_str());
    let people = users::store::shown_in(account, Source::Db(db), documents).await?;
    let change = |logged: Logged| {
        let shown = document::people_of(&logged.document);
        let people = people.iter().filter(|person| shown.contains(&person.slug)).cloned().collect();
        Arc::new(EntryChange::new(logged, people))
    };
    Ok(found.into_iter().map(change).collect())
}

fn logged(row: &Row<'_>, document: &str) -> Result<Logged, DbError> {
    Ok(Logged {
        sequence: row.integer(0)?,
        at: Timestamp::from_microseconds(row.integer(1)?),
        source: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        entry: row.slug(4)?,
        events: row.text(5)?.to_owned(),
        document: document.to_owned(),
    })
}
