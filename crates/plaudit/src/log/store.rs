//! The table of changes.

use std::sync::Arc;

use super::tail::{EntryChange, Logged};
use super::{Change, Origin, rules};
use crate::users;
use db::{AccountId, Db, DbError, Row, Source, Tx};
use kernel::document;
use kernel::text::{Slug, Timestamp};

/// Appends a change to the account's log and gives its sequence number, which is also the record's new revision.
pub async fn append(tx: &mut Tx, account: AccountId, origin: &Origin, change: Change<'_>) -> Result<i64, DbError> {
    let head = tx.head(account).await?.ok_or_else(|| DbError::Failed("no such account".to_owned()))?;
    let mut events = String::new();
    for event in change.events {
        if !events.is_empty() {
            events.push(',');
        }
        events.push_str(event.name());
    }
    let actor = origin.actor.to_string();
    let sequence = head.sequence + 1;
    let hash = rules::chained(
        &head.hash,
        sequence,
        origin.at.as_microseconds(),
        &[&actor, origin.source, change.kind.name(), change.slug, change.action.name(), &events, &change.document],
    );
    head.sequence = sequence;
    head.hash = hash;
    head.changed = true;
    if change.kind.is_in_program() {
        head.version = rules::name_of(&hash);
    }
    tx.enqueue(
        "INSERT INTO changes (account, sequence, at, actor, source, kind, slug, action, events, doc, hash) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        vec![
            account.into(),
            sequence.into(),
            origin.at.into(),
            actor.into(),
            origin.source.into(),
            change.kind.name().into(),
            change.slug.to_owned().into(),
            change.action.name().into(),
            events.into(),
            change.document.into(),
            hash.to_vec().into(),
        ],
    )
    .await?;
    Ok(sequence)
}

/// Has the account's last change outdate every snapshot of its program, as a change of the set-up does by itself.
pub async fn outdate_program(tx: &mut Tx, account: AccountId) -> Result<(), DbError> {
    let head = tx.head(account).await?.ok_or_else(|| DbError::Failed("no such account".to_owned()))?;
    head.version = rules::name_of(&head.hash);
    head.changed = true;
    Ok(())
}

/// A change as it stands in the log, borrowed from its row.
#[derive(Debug)]
pub struct Entry<'r> {
    /// The sequence number.
    pub sequence: i64,
    /// The time, in microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// Actor, source, kind, slug, action, events and document, in this order.
    pub texts: [&'r str; 7],
    /// The hash that chains it to the change before it.
    pub hash: &'r [u8],
}

impl Entry<'_> {
    /// The name of the record's kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.texts[2]
    }

    /// The record's slug or token.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.texts[3]
    }

    /// The document after the change.
    #[must_use]
    pub fn document(&self) -> &str {
        self.texts[6]
    }
}

fn read<'r>(row: &'r Row<'_>) -> Result<Entry<'r>, DbError> {
    Ok(Entry {
        sequence: row.integer(0)?,
        at: row.integer(1)?,
        texts: [row.text(2)?, row.text(3)?, row.text(4)?, row.text(5)?, row.text(6)?, row.text(7)?, row.text(8)?],
        hash: row.bytes(9)?,
    })
}

/// Every change of the account in order, within a snapshot.
pub async fn each_of_account(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&Entry<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(
        "SELECT sequence, at, actor, source, kind, slug, action, events, doc, hash FROM changes \
         WHERE account = $1 ORDER BY sequence",
        &[account.into()],
        |row| each(&read(row)?),
    )
    .await
}

/// The changes of one kind of record after a sequence number, at most `limit`, each with the document that the record
/// had before it, if it had one.
pub async fn each_since(
    db: &Db,
    account: AccountId,
    kind: kernel::kind::Kind,
    after: i64,
    limit: i64,
    mut each: impl FnMut(&Entry<'_>, Option<&str>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    db.each(
        "SELECT c.sequence, c.at, c.actor, c.source, c.kind, c.slug, c.action, c.events, c.doc, c.hash, \
         (SELECT b.doc FROM changes b WHERE b.account = c.account AND b.kind = c.kind AND b.slug = c.slug \
          AND b.sequence < c.sequence ORDER BY b.sequence DESC LIMIT 1) \
         FROM changes c WHERE c.account = $1 AND c.sequence > $2 AND c.kind = $3 ORDER BY c.sequence LIMIT $4",
        &[account.into(), after.into(), kind.name().into(), limit.into()],
        |row| each(&read(row)?, row.optional_text(10)?),
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
    // Documents of other kinds are not wanted; their rows tell that no number is missing.
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
         ORDER BY sequence LIMIT $5",
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
    let broken = || DbError::Failed("a change of an entry has no slug".to_owned());
    Ok(Logged {
        sequence: row.integer(0)?,
        at: Timestamp::from_microseconds(row.integer(1)?),
        source: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        entry: Slug::parse(row.text(4)?).ok_or_else(broken)?,
        events: row.text(5)?.to_owned(),
        document: document.to_owned(),
    })
}
