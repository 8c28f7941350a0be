//! The table of changes.

use super::{Change, FORM, Origin, rules};
use db::{AccountId, DbError, Row, Tx};
use kernel::kind::Kind;

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
    let document_hash = rules::hash_of(&change.document);
    let texts = [&*actor, origin.source, change.kind.name(), change.slug, change.action.name(), &events];
    let hash = rules::chained(&head.hash, [sequence, origin.at.as_microseconds(), FORM], &texts, &document_hash);
    head.sequence = sequence;
    head.hash = hash;
    head.changed = true;
    if change.kind.is_in_program() {
        head.version = rules::name_of(&hash);
    }
    tx.enqueue(
        "INSERT INTO changes (account, sequence, at, doc_form, actor, source, kind, slug, action, events, doc, doc_hash, \
         hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        vec![
            account.into(),
            sequence.into(),
            origin.at.into(),
            FORM.into(),
            actor.into(),
            origin.source.into(),
            change.kind.name().into(),
            change.slug.to_owned().into(),
            change.action.name().into(),
            events.into(),
            change.document.into(),
            document_hash.to_vec().into(),
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

/// Hands the documents of a record that were not erased to `take`, the oldest first, each with what it came through.
pub async fn each_of_record(
    tx: &mut Tx,
    account: AccountId,
    (kind, name): (Kind, &str),
    mut take: impl FnMut(&str, &str) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let sql = "SELECT source, doc FROM changes WHERE account = $1 AND kind = $2 AND slug = $3 AND doc IS NOT NULL \
               ORDER BY sequence";
    tx.each(sql, &[account.into(), kind.name().into(), name.into()], |row| take(row.text(0)?, row.text(1)?)).await
}

/// Erases the documents of a record, but for the newest: the chain has their hashes and holds.
pub async fn erase_documents(tx: &mut Tx, account: AccountId, kind: Kind, name: &str) -> Result<(), DbError> {
    tx.enqueue(
        "UPDATE changes SET doc = NULL WHERE account = $1 AND kind = $2 AND slug = $3 AND doc IS NOT NULL AND sequence < \
         (SELECT max(sequence) FROM changes WHERE account = $1 AND kind = $2 AND slug = $3)",
        vec![account.into(), kind.name().into(), name.to_owned().into()],
    )
    .await
}

/// A change as it stands in the log, borrowed from its row.
#[derive(Debug)]
pub struct Entry<'r> {
    /// The sequence number.
    pub sequence: i64,
    /// The time, in microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// The version of the form of the document.
    pub form: i64,
    /// Actor, source, kind, slug, action and events, in this order.
    pub texts: [&'r str; 6],
    /// The document after the change, unless it was erased.
    pub document: Option<&'r str>,
    /// The hash of the document.
    pub document_hash: &'r [u8],
    /// The hash that chains it to the change before it.
    pub hash: &'r [u8],
}

impl Entry<'_> {
    /// The name of the record's kind.
    pub fn kind(&self) -> &str {
        self.texts[2]
    }

    /// The record's slug or token.
    pub fn slug(&self) -> &str {
        self.texts[3]
    }

    /// The hash that it must have after a change with this one.
    pub fn chained(&self, before: &[u8; 32]) -> [u8; 32] {
        rules::chained(before, [self.sequence, self.at, self.form], &self.texts, self.document_hash)
    }

    /// Whether the document is the one that was logged, or was erased.
    pub fn has_its_document(&self) -> bool {
        self.document.is_none_or(|document| rules::hash_of(document) == self.document_hash)
    }
}

fn read<'r>(row: &'r Row<'_>) -> Result<Entry<'r>, DbError> {
    Ok(Entry {
        sequence: row.integer(0)?,
        at: row.integer(1)?,
        form: row.integer(2)?,
        texts: [row.text(3)?, row.text(4)?, row.text(5)?, row.text(6)?, row.text(7)?, row.text(8)?],
        document: row.optional_text(9)?,
        document_hash: row.bytes(10)?,
        hash: row.bytes(11)?,
    })
}

/// Every change of the account in order, within a snapshot.
pub async fn each_of_account(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&Entry<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(
        "SELECT sequence, at, doc_form, actor, source, kind, slug, action, events, doc, doc_hash, hash FROM changes \
         WHERE account = $1 ORDER BY sequence",
        &[account.into()],
        |row| each(&read(row)?),
    )
    .await
}
