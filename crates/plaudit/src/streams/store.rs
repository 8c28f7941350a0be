//! What streams read of the change log, and where they begin.

use std::sync::Arc;

use parking_lot::Mutex;

use super::EntryChange;
use crate::records::users;
use db::{AccountId, Committed, Db, DbError, Row, Source, Value};
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

/// Reads a stretch of the log, of at most 256 changes, after one sequence number and up to another: the changes of one entry,
/// which are found without reading those in between, or of all. Gives them, and the sequence number up to which it has read:
/// less than asked for where the documents have more bytes than `bytes`; at least one is read. Nothing in between is left out:
/// where all are read, a number that is missing is an error.
pub async fn stretch(
    db: &Db,
    account: AccountId,
    entry: Option<Slug>,
    (after, to): (i64, i64),
    bytes: usize,
) -> Result<(Vec<Arc<EntryChange>>, i64), DbError> {
    let mut values = vec![account.into(), after.into(), to.into(), STRETCH.into()];
    values.extend(entry.map(Value::from));
    let of_entry = if entry.is_some() { "AND kind = 'entry' AND slug = $5" } else { "" };
    // How far is read is known before any document is. Those of other kinds are not wanted, and erased ones are not there;
    // their rows tell that no number is missing.
    let lengths = format!(
        "SELECT sequence, CASE WHEN kind = 'entry' THEN CAST(octet_length(doc) AS BIGINT) END FROM changes \
         WHERE account = $1 AND sequence > $2 AND sequence <= $3 {of_entry} ORDER BY sequence LIMIT $4"
    );
    let (mut last, mut rows, mut is_first) = (after, 0, true);
    let mut left = i64::try_from(bytes).ok();
    db.each(&lengths, &values, |row| {
        let Some(room) = left else { return Ok(()) };
        let sequence = row.integer(0)?;
        if entry.is_none() && sequence != last + 1 {
            return Err(DbError::Failed(format!("the change log of {account:?} has no change {}", last + 1)));
        }
        if let Some(length) = row.optional_integer(1)? {
            left = Some(room - length).filter(|rest| *rest >= 0);
            if left.is_none() && !is_first {
                return Ok(());
            }
            is_first = false;
        }
        (last, rows) = (sequence, rows + 1);
        Ok(())
    })
    .await?;
    let documents = format!(
        "SELECT sequence, at, source, action, slug, events, doc FROM changes \
         WHERE account = $1 AND sequence > $2 AND sequence <= $3 AND kind = 'entry' {of_entry} ORDER BY sequence LIMIT $4"
    );
    values[2] = last.into();
    let mut found = Vec::new();
    if !is_first {
        db.each(&documents, &values, |row| {
            if let Some(document) = row.optional_text(6)? {
                found.push(change(row, document)?);
            }
            Ok(())
        })
        .await?;
    }
    let is_whole = entry.is_some() && left.is_some() && rows < STRETCH;
    Ok((with_people(db, account, found).await?, if is_whole { to } else { last }))
}

/// The changes with the people whom their documents show, who are looked up together, as they are called now.
async fn with_people(
    db: &Db,
    account: AccountId,
    mut found: Vec<EntryChange>,
) -> Result<Vec<Arc<EntryChange>>, DbError> {
    let documents = found.iter().map(|change| change.document.as_str());
    let people = users::store::shown_in(account, Source::Db(db), documents).await?;
    for change in &mut found {
        let shown = document::people_of(&change.document);
        change.people = people.iter().filter(|person| shown.contains(&person.slug)).cloned().collect();
    }
    Ok(found.into_iter().map(Arc::new).collect())
}

fn change(row: &Row<'_>, document: &str) -> Result<EntryChange, DbError> {
    Ok(EntryChange {
        sequence: row.integer(0)?,
        at: Timestamp::from_microseconds(row.integer(1)?),
        source: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        entry: row.slug(4)?,
        events: row.text(5)?.to_owned(),
        document: document.to_owned(),
        people: Vec::new(),
        rendered: Mutex::default(),
    })
}
