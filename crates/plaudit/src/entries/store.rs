//! The tables of entries and of their counts.

use std::collections::BTreeMap;

use super::{CountChanges, Counts, Entry, EntryHead, Place, Surroundings, answers_of, detail, rules, whole};
use crate::db::{AccountId, Db, DbError, Row, Tx, Value};
use crate::kind::Kind;
use crate::log::{self, Action, Change, Origin};
use crate::program::{self, Program, Record};
use crate::text::Slug;
use crate::{attachments, contributors, users};

/// An entry as it stands in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The sequence number of its last change.
    pub revision: i64,
    /// The first document.
    pub doc: String,
    /// The second document.
    pub detail: String,
}

impl Stored {
    /// The first document, taken apart.
    pub fn head(&self) -> Result<EntryHead<'_>, DbError> {
        EntryHead::read(&self.doc).map_err(|error| broken(&error))
    }

    /// The entry.
    pub fn entry(&self) -> Result<Entry, DbError> {
        entry_of(&self.doc, &self.detail)
    }

    /// The whole document.
    #[must_use]
    pub fn whole(&self) -> String {
        whole(&self.doc, &self.detail)
    }
}

fn broken(error: &dyn std::fmt::Display) -> DbError {
    DbError::Failed(format!("a stored entry cannot be read: {error}"))
}

fn entry_of(doc: &str, detail: &str) -> Result<Entry, DbError> {
    let head = EntryHead::read(doc).map_err(|error| broken(&error))?;
    let answers = answers_of(detail).ok_or_else(|| broken(&"its answers"))?;
    Ok(head.into_entry(answers))
}

fn stored(row: &Row<'_>) -> Result<Stored, DbError> {
    Ok(Stored { revision: row.integer(0)?, doc: row.text(1)?.to_owned(), detail: row.text(2)?.to_owned() })
}

/// Adds or replaces an entry. `around` is what it shows of other records, from [`surroundings`]; `before` is where it
/// was counted. The counts follow with [`write_counts`], in the same transaction.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    record: &Record<Entry>,
    around: &Surroundings,
    (before, counts): (Option<Place>, &mut CountChanges),
) -> Result<(), DbError> {
    let entry = &record.value;
    counts.note(before, Place::of(entry, record.deleted));
    tx.later(
        "INSERT INTO entries (account, slug, local_id, season, category, chapter, form, entrant, status, title, \
         created, updated, deleted, revision, doc, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
         ON CONFLICT (account, slug) DO UPDATE SET local_id = $3, season = $4, category = $5, chapter = $6, \
         form = $7, entrant = $8, status = $9, title = $10, created = $11, updated = $12, deleted = $13, \
         revision = $14, doc = $15, detail = $16",
        vec![
            account.into(),
            entry.slug.into(),
            entry.local_id.into(),
            entry.season.into(),
            entry.category.into(),
            entry.chapter.into(),
            entry.form.into(),
            entry.entrant.into(),
            entry.status.clone().into(),
            entry.title.clone().into(),
            entry.created.into(),
            entry.updated.into(),
            record.deleted.into(),
            record.revision.into(),
            EntryHead::of(entry, around).to_doc().into(),
            detail(&entry.entry_fields, around).into(),
        ],
    )
    .await
}

/// Writes what [`put`] noted of the counts.
pub async fn write_counts(tx: &mut Tx, account: AccountId, changes: CountChanges) -> Result<(), DbError> {
    for (place, change) in changes.into_changes() {
        tx.later(
            "INSERT INTO entry_counts (account, season, category, chapter, status, total) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (account, season, category, chapter, status) DO UPDATE SET total = entry_counts.total + $6",
            vec![
                account.into(),
                place.season.into(),
                place.category.into(),
                place.chapter.into(),
                place.status.into(),
                change.into(),
            ],
        )
        .await?;
    }
    Ok(())
}

/// How many entries each category has, those in the trash left out, and the version of the program: one statement
/// that gives a row for each category. `season` is the one whose categories are asked for; `None` means every season.
pub async fn by_category(
    db: &Db,
    account: AccountId,
    season: Option<Slug>,
) -> Result<(i64, BTreeMap<Slug, i64>), DbError> {
    let mut values = vec![account.into()];
    values.extend(season.map(Value::from));
    let sql = format!(
        "SELECT a.version, c.category, c.total FROM accounts a LEFT JOIN \
         (SELECT category, CAST(sum(total) AS BIGINT) AS total FROM entry_counts WHERE account = $1{} \
         GROUP BY category) AS c ON a.id = $1 WHERE a.id = $1",
        if season.is_some() { " AND season = $2" } else { "" }
    );
    let mut version = -1;
    let mut totals = BTreeMap::new();
    db.each(&sql, &values, |row| {
        version = row.integer(0)?;
        if let (Some(category), Some(total)) = (row.optional_text(1)?.and_then(Slug::parse), row.optional_integer(2)?) {
            totals.insert(category, total);
        }
        Ok(())
    })
    .await?;
    Ok((version, totals))
}

/// What an entry shows of other records, as these are now. `None` where the account does not have its entrant.
pub async fn surroundings(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    entry: &Entry,
) -> Result<Option<Surroundings>, DbError> {
    let Some(entrant) = users::store::summary(tx, account, entry.entrant).await? else { return Ok(None) };
    let contributors = contributors::store::of_entry(tx, account, entry.slug, &program.context).await?;
    let attachments = attachments::store::of_entry(tx, account, entry.slug, &program.context).await?;
    let answers = std::iter::once(&entry.entry_fields)
        .chain(contributors.iter().map(|contributor| &contributor.fields))
        .chain(attachments.iter().map(|(attachment, _)| &attachment.attachment_fields));
    let files: i64 = answers.map(|answers| rules::files_among(program, answers)).sum();
    let counted = |length| i64::try_from(length).unwrap_or(i64::MAX);
    let counts = Counts { contributors: counted(contributors.len()), files: counted(attachments.len()) + files };
    Ok(Some(Surroundings { entrant, contributors, attachments, counts }))
}

/// An entry that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    tx.first_for_update(
        "SELECT revision, doc, detail FROM entries WHERE account = $1 AND slug = $2 AND deleted = 0",
        &[account.into(), slug.into()],
        stored,
    )
    .await
}

/// Writes an entry that has moved from one chapter to another, and its counts.
pub async fn set_chapter(
    tx: &mut Tx,
    account: AccountId,
    (from, head): (Slug, &EntryHead<'_>),
    doc: String,
    revision: i64,
) -> Result<(), DbError> {
    // Both counts in one statement: this is the change that people make most often at once.
    tx.later(
        "INSERT INTO entry_counts (account, season, category, chapter, status, total) \
         VALUES ($1, $2, $3, $4, $6, -1), ($1, $2, $3, $5, $6, 1) \
         ON CONFLICT (account, season, category, chapter, status) \
         DO UPDATE SET total = entry_counts.total + excluded.total",
        vec![
            account.into(),
            head.season.into(),
            head.category.into(),
            from.into(),
            head.chapter.into(),
            head.status().to_owned().into(),
        ],
    )
    .await?;
    tx.later(
        "UPDATE entries SET chapter = $3, updated = $4, revision = $5, doc = $6 WHERE account = $1 AND slug = $2",
        vec![account.into(), head.slug.into(), head.chapter.into(), head.updated.into(), revision.into(), doc.into()],
    )
    .await
}

/// Writes both documents of an entry whose own members are what they were.
pub async fn set_detail(tx: &mut Tx, account: AccountId, slug: Slug, stored: Stored) -> Result<(), DbError> {
    tx.later(
        "UPDATE entries SET revision = $3, doc = $4, detail = $5 WHERE account = $1 AND slug = $2",
        vec![account.into(), slug.into(), stored.revision.into(), stored.doc.into(), stored.detail.into()],
    )
    .await
}

/// Makes the documents of an entry anew from the records that they show, and logs them where they changed. To be
/// called for every entry whose entrant, contributors, attachments or files changed. Gives what was counted; `None` where there is no such entry, or no entrant.
pub async fn refresh_detail(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    slug: Slug,
) -> Result<Option<Counts>, DbError> {
    let found = tx
        .first_for_update(
            "SELECT revision, doc, detail FROM entries WHERE account = $1 AND slug = $2",
            &[account.into(), slug.into()],
            stored,
        )
        .await?;
    let Some(before) = found else { return Ok(None) };
    let entry = before.entry()?;
    let Some(around) = surroundings(tx, account, program, &entry).await? else { return Ok(None) };
    let doc = EntryHead::of(&entry, &around).to_doc();
    let detail = detail(&entry.entry_fields, &around);
    if (&doc, &detail) != (&before.doc, &before.detail) {
        let change = Change {
            kind: Kind::Entry,
            slug: slug.as_str(),
            action: Action::Imported,
            events: &[],
            document: whole(&doc, &detail),
        };
        let revision = log::append(tx, account, origin, change).await?;
        set_detail(tx, account, slug, Stored { revision, doc, detail }).await?;
    }
    Ok(Some(around.counts))
}

/// The number of the next entry of the account.
pub async fn next_local_id(tx: &mut Tx, account: AccountId) -> Result<i64, DbError> {
    let last = tx
        .first("SELECT coalesce(max(local_id), 0) FROM entries WHERE account = $1", &[account.into()], |row| {
            row.integer(0)
        })
        .await?;
    Ok(last.unwrap_or(0) + 1)
}

/// The entry that has a number, even one in the trash.
pub async fn of_local_id(tx: &mut Tx, account: AccountId, local_id: i64) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT slug FROM entries WHERE account = $1 AND local_id = $2",
        &[account.into(), local_id.into()],
        |row| Ok(Slug::parse(row.text(0)?)),
    )
    .await
    .map(Option::flatten)
}

/// The number that an entry has, even one in the trash.
pub async fn local_id_of(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<i64>, DbError> {
    tx.first("SELECT local_id FROM entries WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        row.integer(0)
    })
    .await
}

/// The title of an entry, even of one in the trash.
pub async fn title(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<String>, DbError> {
    tx.first("SELECT title FROM entries WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        Ok(row.text(0)?.to_owned())
    })
    .await
}

/// The entries of an entrant, those in the trash included, by slug.
pub async fn of_entrant(tx: &mut Tx, account: AccountId, entrant: Slug) -> Result<Vec<Slug>, DbError> {
    let mut found = Vec::new();
    let sql = "SELECT slug FROM entries WHERE account = $1 AND entrant = $2 ORDER BY slug";
    tx.each(sql, &[account.into(), entrant.into()], |row| {
        found.extend(Slug::parse(row.text(0)?));
        Ok(())
    })
    .await?;
    Ok(found)
}

/// Every entry by slug: the program-file form without its kind, and whether it is in the trash.
pub async fn each_for_export(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&str, bool) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each("SELECT doc, detail, deleted FROM entries WHERE account = $1 ORDER BY slug", &[account.into()], |row| {
        each(&program::store::stored(&entry_of(row.text(0)?, row.text(1)?)?), row.flag(2)?)
    })
    .await
}

#[cfg(test)]
mod tests;
