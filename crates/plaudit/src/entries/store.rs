//! The tables of entries: their rows, their tags and their counts.

mod renewal;
mod write;

use std::collections::BTreeMap;

use super::rules::tags;
use super::{CountChanges, Counts, Entry, EntryHead, Place, Surroundings, answers_of, detail, rules, whole};
use crate::db::{AccountId, Db, DbError, Row, Tx, Value};
use crate::program::{self, Program, Record};
use crate::text::{Slug, folded};
use crate::{attachments, contributors, users};

pub use renewal::renew_entrant;
pub use write::{Cause, Change, refresh_detail, write, write_head};

/// An entry as it stands in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The sequence number of its last change.
    pub revision: i64,
    /// Whether it is in the trash.
    pub deleted: bool,
    /// Whether it is kept for the record only.
    pub archived: bool,
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
        let answers = answers_of(&self.detail).ok_or_else(|| broken(&"its answers"))?;
        Ok(self.head()?.into_entry(answers, self.archived))
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

/// Reads the columns `revision, deleted, archived, doc, detail`.
fn stored(row: &Row<'_>) -> Result<Stored, DbError> {
    Ok(Stored {
        revision: row.integer(0)?,
        deleted: row.flag(1)?,
        archived: row.flag(2)?,
        doc: row.text(3)?.to_owned(),
        detail: row.text(4)?.to_owned(),
    })
}

/// Adds or replaces an entry as an import does, which logs it itself. `around` is what it shows of other records, from
/// [`surroundings`]; `before` is the entry that it replaces, and whether that is in the trash. The counts follow with
/// [`write_counts`], in the same transaction. Everybody else calls [`write`].
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    record: &Record<Entry>,
    around: &Surroundings,
    before: Option<(&Entry, bool)>,
    counts: &mut CountChanges,
) -> Result<(), DbError> {
    let entry = &record.value;
    let head = EntryHead::of(entry, around);
    let counted = before.and_then(|(before, deleted)| Place::of(before, deleted));
    counts.note(counted, Place::of(entry, record.deleted));
    let tags_before = before.map_or("", |(before, _)| before.tags.as_str());
    set_tags(tx, account, entry.slug, tags_before, &entry.tags).await?;
    let stored = Stored {
        revision: record.revision,
        deleted: record.deleted,
        archived: entry.archived,
        doc: head.to_doc(),
        detail: detail(&entry.entry_fields, around),
    };
    set_row(tx, account, &head, &stored).await
}

/// Writes the whole row of an entry.
async fn set_row(tx: &mut Tx, account: AccountId, head: &EntryHead<'_>, stored: &Stored) -> Result<(), DbError> {
    tx.later(
        "INSERT INTO entries (account, slug, local_id, season, category, division, chapter, form, entrant, status, \
         moderation, payment, review, title, title_key, entrant_key, created, updated, archived, deleted, revision, \
         doc, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
         $20, $21, $22, $23) ON CONFLICT (account, slug) DO UPDATE SET local_id = $3, season = $4, category = $5, \
         division = $6, chapter = $7, form = $8, entrant = $9, status = $10, moderation = $11, payment = $12, \
         review = $13, title = $14, title_key = $15, entrant_key = $16, created = $17, updated = $18, archived = $19, \
         deleted = $20, revision = $21, doc = $22, detail = $23",
        vec![
            account.into(),
            head.slug.into(),
            head.local_id.into(),
            head.season.into(),
            head.category.into(),
            head.division.unwrap_or(0).into(),
            head.chapter.into(),
            head.form.into(),
            head.entrant.slug.into(),
            head.status.name().into(),
            head.moderation_status.name().into(),
            head.payment_status.name().into(),
            head.review_status.clone().into_owned().into(),
            head.title.clone().into_owned().into(),
            folded(&head.title).into(),
            folded(&head.entrant.name()).into(),
            head.created.into(),
            head.updated.into(),
            stored.archived.into(),
            stored.deleted.into(),
            stored.revision.into(),
            stored.doc.clone().into(),
            stored.detail.clone().into(),
        ],
    )
    .await
}

/// Writes what changes most often, the chapter and the first document, and leaves every other column alone: on SQLite
/// a column that is named costs its indexes, on PostgreSQL a long document is stored again.
async fn set_doc(tx: &mut Tx, account: AccountId, head: &EntryHead<'_>, stored: &Stored) -> Result<(), DbError> {
    tx.later(
        "UPDATE entries SET chapter = $3, updated = $4, revision = $5, doc = $6 WHERE account = $1 AND slug = $2",
        vec![
            account.into(),
            head.slug.into(),
            head.chapter.into(),
            head.updated.into(),
            stored.revision.into(),
            stored.doc.clone().into(),
        ],
    )
    .await
}

/// Writes both documents of an entry whose index columns are what they were, but for the time.
async fn set_documents(tx: &mut Tx, account: AccountId, head: &EntryHead<'_>, stored: &Stored) -> Result<(), DbError> {
    tx.later(
        "UPDATE entries SET updated = $3, revision = $4, doc = $5, detail = $6 WHERE account = $1 AND slug = $2",
        vec![
            account.into(),
            head.slug.into(),
            head.updated.into(),
            stored.revision.into(),
            stored.doc.clone().into(),
            stored.detail.clone().into(),
        ],
    )
    .await
}

/// Writes the tags of an entry that had others, both with commas between them.
async fn set_tags(tx: &mut Tx, account: AccountId, entry: Slug, had: &str, has: &str) -> Result<(), DbError> {
    let lacks = |text: &str, tag: &str| !tags::split(text).any(|other| other == tag);
    for tag in tags::split(had).filter(|tag| lacks(has, tag)) {
        tx.later(
            "DELETE FROM entry_tags WHERE account = $1 AND tag = $2 AND slug = $3",
            vec![account.into(), tag.to_owned().into(), entry.into()],
        )
        .await?;
    }
    for tag in tags::split(has).filter(|tag| lacks(had, tag)) {
        tx.later(
            "INSERT INTO entry_tags (account, tag, slug) VALUES ($1, $2, $3) ON CONFLICT (account, tag, slug) DO NOTHING",
            vec![account.into(), tag.to_owned().into(), entry.into()],
        )
        .await?;
    }
    Ok(())
}

/// Writes what [`put`] noted of the counts.
pub async fn write_counts(tx: &mut Tx, account: AccountId, changes: CountChanges) -> Result<(), DbError> {
    for (place, change) in changes.into_changes() {
        tx.later(
            "INSERT INTO entry_counts (account, season, category, chapter, status, division, total) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (account, season, category, chapter, status, division) \
             DO UPDATE SET total = entry_counts.total + $7",
            vec![
                account.into(),
                place.season.into(),
                place.category.into(),
                place.chapter.into(),
                place.status.name().into(),
                place.division.into(),
                change.into(),
            ],
        )
        .await?;
    }
    Ok(())
}

/// Counts an entry in another place than before.
async fn move_count(tx: &mut Tx, account: AccountId, from: Option<Place>, to: Option<Place>) -> Result<(), DbError> {
    match (from, to) {
        (from, to) if from == to => Ok(()),
        // Both counts in one statement: this is the change that people make most often at once.
        (Some(from), Some(to)) if from.season == to.season => {
            tx.later(
                "INSERT INTO entry_counts (account, season, category, chapter, status, division, total) \
                 VALUES ($1, $2, $3, $4, $5, $6, -1), ($1, $2, $7, $8, $9, $10, 1) \
                 ON CONFLICT (account, season, category, chapter, status, division) \
                 DO UPDATE SET total = entry_counts.total + excluded.total",
                vec![
                    account.into(),
                    from.season.into(),
                    from.category.into(),
                    from.chapter.into(),
                    from.status.name().into(),
                    from.division.into(),
                    to.category.into(),
                    to.chapter.into(),
                    to.status.name().into(),
                    to.division.into(),
                ],
            )
            .await
        }
        (from, to) => {
            let mut changes = CountChanges::default();
            changes.note(from, to);
            write_counts(tx, account, changes).await
        }
    }
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

/// An entry for an answer, with the version of the account's program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) version: i64,
    pub(super) revision: i64,
    pub(super) doc: String,
    pub(super) detail: String,
}

/// An entry that is not in the trash.
pub(super) async fn find(db: &Db, account: AccountId, slug: Slug) -> Result<Option<Found>, DbError> {
    db.first(
        "SELECT (SELECT version FROM accounts WHERE id = $1), revision, doc, detail FROM entries \
         WHERE account = $1 AND slug = $2 AND deleted = 0",
        &[account.into(), slug.into()],
        |row| {
            Ok(Found {
                version: row.integer(0)?,
                revision: row.integer(1)?,
                doc: row.text(2)?.to_owned(),
                detail: row.text(3)?.to_owned(),
            })
        },
    )
    .await
}

/// How many entries an entrant has in a category, those in the trash left out.
pub(super) async fn count_of_entrant(
    tx: &mut Tx,
    account: AccountId,
    entrant: Slug,
    category: Slug,
) -> Result<i64, DbError> {
    let count = tx
        .first(
            "SELECT count(*) FROM entries WHERE account = $1 AND entrant = $2 AND category = $3 AND deleted = 0",
            &[account.into(), entrant.into(), category.into()],
            |row| row.integer(0),
        )
        .await?;
    Ok(count.unwrap_or(0))
}

/// How many entries each division of a category has, those in the trash left out; 0 is no division.
pub(super) async fn divisions(
    tx: &mut Tx,
    account: AccountId,
    season: Slug,
    category: Slug,
) -> Result<BTreeMap<i64, i64>, DbError> {
    let mut divisions = BTreeMap::new();
    tx.each(
        "SELECT division, CAST(sum(total) AS BIGINT) FROM entry_counts \
         WHERE account = $1 AND season = $2 AND category = $3 GROUP BY division",
        &[account.into(), season.into(), category.into()],
        |row| {
            divisions.insert(row.integer(0)?, row.integer(1)?);
            Ok(())
        },
    )
    .await?;
    Ok(divisions)
}

/// An entry that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    tx.first_for_update(
        "SELECT revision, deleted, archived, doc, detail FROM entries \
         WHERE account = $1 AND slug = $2 AND deleted = 0",
        &[account.into(), slug.into()],
        stored,
    )
    .await
}

/// An entry, even one in the trash, locked until the end of the transaction.
pub async fn find_any_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    tx.first_for_update(
        "SELECT revision, deleted, archived, doc, detail FROM entries WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        stored,
    )
    .await
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

/// Whether a user has an entry in a season that is not in the trash.
pub async fn has_live(tx: &mut Tx, account: AccountId, entrant: Slug, season: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND entrant = $2 AND season = $3 AND deleted = 0 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), entrant.into(), season.into()], |_| Ok(())).await?.is_some())
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
    tx.each(
        "SELECT revision, deleted, archived, doc, detail FROM entries WHERE account = $1 ORDER BY slug",
        &[account.into()],
        |row| {
            let found = stored(row)?;
            each(&program::store::stored(&found.entry()?), found.deleted)
        },
    )
    .await
}

#[cfg(test)]
mod tests;
