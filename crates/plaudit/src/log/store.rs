//! The table of changes.

use super::{Change, Origin, rules};
use db::{AccountId, Db, DbError, Row, Tx};

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
