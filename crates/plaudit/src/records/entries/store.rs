//! The tables of entries: their rows, their tags and their counts.

mod counts;
mod write;

use std::collections::{BTreeSet, HashMap};

use crate::lists::page::bounded;
use crate::lists::{number_key, sort_key};
use crate::log::FORM;
use crate::program::{self, Program, Record};
use crate::records::entries::attachments;
use crate::records::entries::contributors;
use crate::records::entries::counts::division_of;
use crate::records::entries::rules::tags;
use crate::records::entries::{CountChanges, Counts, Entry, LISTED, Payment, RelatedData, answers_of, detail, rules};
use crate::records::orders;
use crate::records::review_tasks::OfEntry;
use crate::records::rewriting::rewrite_record;
use crate::records::store::{Derived, ListRevision, SetTable, filled, listed};
use crate::records::users::{self, Person};
use crate::records::{Rows, StoredRow};
use db::{AccountId, Db, DbError, Row, Source, Tx, Value};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, folded};

pub(crate) use counts::divisions;
pub use counts::{of_category, write_counts};
pub use write::{Cause, Change, refresh_detail, write, write_head, write_payment_status};

/// An entry as it stands in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The sequence number of its last change.
    pub revision: i64,
    /// Whether it is in the trash.
    pub deleted: bool,
    /// The first document.
    pub doc: String,
    /// The second document.
    pub detail: String,
    /// Its entrant, as entries show users; nothing where there is no such user.
    pub person: Option<Person>,
}

impl Stored {
    /// The entry without its answers, for those who need the first document alone.
    pub fn head(&self) -> Result<Entry, DbError> {
        head(&self.doc)
    }

    /// How many contributors and files it shows.
    pub fn counts(&self) -> Result<Counts, DbError> {
        serde_json::from_str(&self.doc).map_err(|error| broken(&error))
    }

    /// The entry.
    pub fn entry(&self) -> Result<Entry, DbError> {
        read(&self.doc, &self.detail)
    }
}

/// Entries have a second document.
pub const ROWS: Rows = Rows {
    list_revision: ListRevision::Raised,
    detail: "detail",
    columns: || [listed(&LISTED), vec!["division", "title"]].concat(),
    sets: &[TAGS],
    derived: |doc| {
        let entry = head(doc)?;
        let tags: BTreeSet<&str> = tags::split(&entry.tags).collect();
        let tags = tags.into_iter().map(|tag| vec![tag.to_owned().into()]).collect();
        Ok(Derived { columns: columns(&entry), sets: vec![tags] })
    },
    exported: |row| Ok(program::store::stored_as(&of_row(row)?, row.deleted)),
    ..Rows::of("entries", "slug")
};

/// The tags of entries, those in the trash included.
const TAGS: SetTable = SetTable { table: "entry_tags", key: "slug", columns: &["tag"], identifying: 1 };

/// The entry of a row.
pub fn of_row(row: &StoredRow) -> Result<Entry, DbError> {
    read(&row.doc, &row.detail)
}

/// The entry that a document tells, without its answers.
pub fn head(doc: &str) -> Result<Entry, DbError> {
    Entry::of_document(doc).map_err(|error| broken(&error))
}

fn read(doc: &str, detail: &str) -> Result<Entry, DbError> {
    let entry_fields = answers_of(detail).ok_or_else(|| broken(&"its answers"))?;
    Ok(Entry { entry_fields, ..head(doc)? })
}

fn broken(error: &dyn std::fmt::Display) -> DbError {
    DbError::Failed(format!("a stored entry cannot be read: {error}"))
}

/// Adds or replaces an entry as an import does, which logs it itself. `around` is what it shows of other records, from
/// [`related`]; `before` is the entry that it replaces, and whether that is in the trash. The counts follow with
/// [`write_counts`], in the same transaction. Everybody else calls [`write()`].
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    record: &Record<Entry>,
    around: &RelatedData,
    before: Option<(&Entry, bool)>,
    counts: &mut CountChanges,
) -> Result<(), DbError> {
    let entry = &record.value;
    let counted = before.and_then(|(before, deleted)| division_of(before, deleted));
    counts.note(counted, division_of(entry, record.deleted));
    let tags_before = before.map_or("", |(before, _)| before.tags.as_str());
    set_tags(tx, account, entry.slug, tags_before, &entry.tags).await?;
    set_boards(tx, account, before.map(|(before, _)| before), entry, record.revision).await?;
    let stored = Stored {
        revision: record.revision,
        deleted: record.deleted,
        doc: entry.document(around.counts, record.deleted),
        detail: detail(&entry.entry_fields, around),
        person: None,
    };
    set_row(tx, account, entry, &stored).await?;
    if before.is_some_and(|(before, _)| before.chapter != entry.chapter) {
        orders::store::renew_orders(tx, account, entry.slug, record.revision).await?;
    }
    Ok(())
}

/// Writes the whole row of an entry.
async fn set_row(tx: &mut Tx, account: AccountId, entry: &Entry, stored: &Stored) -> Result<(), DbError> {
    let documents = (stored.doc.clone(), Some(stored.detail.clone()));
    let derived = (stored.deleted, columns(entry));
    tx.put(ROWS.table, 2, ROWS.row(account, (entry.slug.as_str(), stored.revision), derived, documents)).await
}

/// What an entry is found by, in the order of [`Rows::columns`].
fn columns(entry: &Entry) -> Vec<Value<'static>> {
    vec![
        entry.local_id.into(),
        entry.season.into(),
        entry.category.into(),
        entry.chapter.into(),
        entry.form.into(),
        entry.entrant.into(),
        entry.status.name().into(),
        entry.moderation_status.name().into(),
        entry.payment_status.name().into(),
        bounded(&entry.review_status).into(),
        cut(&folded(&entry.title), TITLE_KEY).into(),
        entry.updated.into(),
        entry.archived.into(),
        entry.division.unwrap_or(0).into(),
        entry.title.clone().into(),
    ]
}

/// The longest key of a title, in bytes: an index of PostgreSQL takes no more than some 2,700 a row, and this leaves room
/// for all that has the length of a title in any script.
const TITLE_KEY: usize = 1_200;

fn cut(text: &str, length: usize) -> String {
    text[..text.floor_char_boundary(length)].to_owned()
}

/// Writes the documents of an entry whose index columns are what they were, but for chapter and time, and the second one
/// only where it is another: on SQLite a column that is named costs its indexes, on PostgreSQL a long document is stored
/// again.
async fn set_documents(
    tx: &mut Tx,
    account: AccountId,
    entry: &Entry,
    stored: &Stored,
    has_same_detail: bool,
) -> Result<(), DbError> {
    let mut values = vec![
        account.into(),
        entry.slug.into(),
        entry.chapter.into(),
        entry.updated.into(),
        stored.revision.into(),
        FORM.into(),
        stored.doc.clone().into(),
    ];
    let sql = if has_same_detail {
        "UPDATE entries SET chapter = $3, updated = $4, list_revision = $5, revision = $5, doc_form = $6, doc = $7 \
         WHERE account = $1 AND slug = $2"
    } else {
        values.push(stored.detail.clone().into());
        "UPDATE entries SET chapter = $3, updated = $4, list_revision = $5, revision = $5, doc_form = $6, doc = $7, \
         detail = $8 \
         WHERE account = $1 AND slug = $2"
    };
    tx.enqueue(sql, values).await
}

/// Writes the tags of an entry that had others, both with commas between them.
async fn set_tags(tx: &mut Tx, account: AccountId, entry: Slug, had: &str, has: &str) -> Result<(), DbError> {
    let lacks = |text: &str, tag: &str| !tags::split(text).any(|other| other == tag);
    for tag in tags::split(had).filter(|tag| lacks(has, tag)) {
        tx.enqueue(
            "DELETE FROM entry_tags WHERE account = $1 AND tag = $2 AND slug = $3",
            vec![account.into(), tag.to_owned().into(), entry.into()],
        )
        .await?;
    }
    for tag in tags::split(has).filter(|tag| lacks(had, tag)) {
        tx.enqueue(
            "INSERT INTO entry_tags (account, tag, slug) VALUES ($1, $2, $3) ON CONFLICT (account, slug, tag) DO NOTHING",
            vec![account.into(), tag.to_owned().into(), entry.into()],
        )
        .await?;
    }
    Ok(())
}

/// What leaderboards sort an entry by that lists of entries do not: its division, when it was submitted, its automatic score, its
/// tags.
fn sorted_by(entry: &Entry) -> [Value<'static>; 4] {
    let score = number_key(entry.auto_score.parse().unwrap_or_default());
    [
        entry.division.unwrap_or(0).into(),
        entry.submitted.map_or(0, Timestamp::as_microseconds).into(),
        // The least integer stands for the least number.
        (score ^ 1 << 63).cast_signed().into(),
        sort_key(&folded(&entry.tags)).to_owned().into(),
    ]
}

/// The same of a stored entry, be it in the trash; nothing where there is none.
pub async fn board_columns(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
) -> Result<Option<[Value<'static>; 4]>, DbError> {
    let sql = "SELECT doc FROM entries WHERE account = $1 AND slug = $2";
    tx.first(sql, &[account.into(), entry.into()], |row| Ok(sorted_by(&head(row.text(0)?)?))).await
}

/// Has leaderboards follow an entry that they sort otherwise than before.
async fn set_boards(
    tx: &mut Tx,
    account: AccountId,
    before: Option<&Entry>,
    entry: &Entry,
    revision: i64,
) -> Result<(), DbError> {
    let columns = sorted_by(entry);
    if before.is_some_and(|before| sorted_by(before) == columns) {
        return Ok(());
    }
    // Standings are named by their entry and their score set.
    let sql = "UPDATE standings SET division = $4, submitted = $5, auto_score = $6, tags = $7, list_revision = $8 \
               WHERE account = $1 AND slug > $2 AND slug < $3";
    let mut values = vec![account.into(), entry.slug.into(), format!("{}~", entry.slug).into()];
    values.extend(columns);
    values.push(revision.into());
    tx.enqueue(sql, values).await
}

/// What the documents of an entry show of other records, as these are now.
pub async fn related(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    entry: &Entry,
) -> Result<RelatedData, DbError> {
    let contributors = contributors::store::of_entry(tx, account, entry.slug, &program.context).await?;
    let attachments = attachments::store::of_entry(tx, account, entry.slug, &program.context).await?;
    let answers = std::iter::once(&entry.entry_fields)
        .chain(contributors.iter().map(|contributor| &contributor.fields))
        .chain(attachments.iter().map(|(attachment, _)| &attachment.attachment_fields));
    let files: i64 = answers.map(|answers| rules::files_among(program, answers)).sum();
    let counted = |length| i64::try_from(length).unwrap_or(i64::MAX);
    let counts = Counts { contributors: counted(contributors.len()), files: counted(attachments.len()) + files };
    Ok(RelatedData { contributors, attachments, counts })
}

/// An entry for an answer, with the version of the account's program; borrowed from its row.
#[derive(Clone, Debug)]
pub(crate) struct EntryRow<'r> {
    pub(crate) version: i64,
    pub(crate) revision: i64,
    pub(crate) person: Option<Person>,
    pub(crate) doc: &'r str,
    pub(crate) detail: &'r str,
}

/// What is read of an entry that is not in the trash.
pub(crate) async fn find<T: Send>(
    db: &Db,
    account: AccountId,
    slug: Slug,
    mut read: impl FnMut(EntryRow<'_>) -> T + Send,
) -> Result<Option<T>, DbError> {
    db.fetch_pipelined(
        "SELECT (SELECT version FROM accounts WHERE id = $1), e.revision, e.entrant, u.names, u.person, e.doc, e.detail \
         FROM entries e LEFT JOIN users u ON u.account = e.account AND u.slug = e.entrant \
         WHERE e.account = $1 AND e.slug = $2 AND e.deleted = 0",
        &[account.into(), slug.into()],
        |row| {
            let (version, revision) = (row.integer(0)?, row.integer(1)?);
            let person = users::store::person_of(row, 2)?;
            Ok(read(EntryRow { version, revision, person, doc: row.text(5)?, detail: row.text(6)? }))
        },
    )
    .await
}

/// Whether this holds for an entry of an entrant or of one of these chapters that is not in the trash and whose second document
/// has this token: its chapter, its entrant and that document. The entries of chapters are looked through.
pub(crate) async fn mentioning(
    db: &Db,
    account: AccountId,
    token: &Token,
    (entrant, chapters): (Option<Slug>, &[Slug]),
    mut holds: impl FnMut(Slug, Slug, &str) -> bool + Send,
) -> Result<bool, DbError> {
    let pattern = format!("%\"{}\"%", token.as_str());
    let mut holds_any = false;
    let select = "SELECT chapter, entrant, detail FROM entries WHERE account = $1 AND detail LIKE $2 AND deleted = 0";
    let (list, of_chapters) = filled(chapters, 3, vec![account.into(), pattern.clone().into()]);
    let own = entrant.map(|user| ("entrant = $3".to_owned(), vec![account.into(), pattern.into(), user.into()]));
    let of_chapters = (!chapters.is_empty()).then(|| (format!("chapter IN ({list})"), of_chapters));
    for (condition, values) in own.into_iter().chain(of_chapters) {
        db.each(&format!("{select} AND {condition}"), &values, |row| {
            holds_any |= holds(row.slug(0)?, row.slug(1)?, row.text(2)?);
            Ok(())
        })
        .await?;
    }
    Ok(holds_any)
}

/// The entries of an entrant, those in the trash included, by slug.
pub async fn of_entrant(tx: &mut Tx, account: AccountId, entrant: Slug) -> Result<Vec<Slug>, DbError> {
    let sql = "SELECT slug FROM entries WHERE account = $1 AND entrant = $2 ORDER BY slug";
    tx.all(sql, &[account.into(), entrant.into()], |row| row.slug(0)).await
}

/// How many entries an entrant has in a category, those in the trash left out.
pub(crate) async fn count_of_entrant(
    tx: &mut Tx,
    account: AccountId,
    entrant: Slug,
    category: Slug,
) -> Result<i64, DbError> {
    let count = tx
        .first(
            "SELECT count(*) FROM entries WHERE account = $1 AND entrant = $2 AND category || '' = $3 AND deleted = 0",
            &[account.into(), entrant.into(), category.into()],
            |row| row.integer(0),
        )
        .await?;
    Ok(count.unwrap_or(0))
}

/// An entry that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    Ok(find_any_for_update(tx, account, slug).await?.filter(|stored| !stored.deleted))
}

/// An entry, even one in the trash, locked until the end of the transaction; its documents have the form that is written.
pub async fn find_any_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    rewrite_record(tx, account, Kind::Entry, slug.as_str()).await?;
    tx.first_for_update(
        "SELECT e.revision, e.deleted, e.entrant, \
         (SELECT u.names FROM users u WHERE u.account = e.account AND u.slug = e.entrant), \
         (SELECT u.person FROM users u WHERE u.account = e.account AND u.slug = e.entrant), e.doc, e.detail \
         FROM entries e WHERE e.account = $1 AND e.slug = $2",
        &[account.into(), slug.into()],
        |row| {
            Ok(Stored {
                revision: row.integer(0)?,
                deleted: row.flag(1)?,
                person: users::store::person_of(row, 2)?,
                doc: row.text(5)?.to_owned(),
                detail: row.text(6)?.to_owned(),
            })
        },
    )
    .await
}

/// The number of the next entry of the account.
pub async fn next_local_id(tx: &mut Tx, account: AccountId) -> Result<i64, DbError> {
    Ok(last_local_id(tx, account).await?.saturating_add(1))
}

/// The highest number that an entry of the account has, 0 where there is none.
pub async fn last_local_id(tx: &mut Tx, account: AccountId) -> Result<i64, DbError> {
    let last = tx
        .first("SELECT coalesce(max(local_id), 0) FROM entries WHERE account = $1", &[account.into()], |row| {
            row.integer(0)
        })
        .await?;
    Ok(last.unwrap_or(0))
}

/// The entry that has a number, even one in the trash.
pub async fn of_local_id(tx: &mut Tx, account: AccountId, local_id: i64) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT slug FROM entries WHERE account = $1 AND local_id = $2",
        &[account.into(), local_id.into()],
        |row| row.slug(0),
    )
    .await
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

/// The entrant of an entry, even of one in the trash.
pub async fn entrant_of(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Slug>, DbError> {
    tx.first("SELECT entrant FROM entries WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        row.slug(0)
    })
    .await
}

/// The most entries that one statement names.
const MOST_NAMED: usize = 1_000;

/// The payment status of these entries, those in the trash included.
pub async fn payment_statuses(
    tx: &mut Tx,
    account: AccountId,
    entries: &[Slug],
) -> Result<Vec<(Slug, Payment)>, DbError> {
    let mut found = Vec::with_capacity(entries.len());
    for entries in entries.chunks(MOST_NAMED) {
        let (list, values) = filled(entries, 2, vec![account.into()]);
        let sql = format!("SELECT slug, payment FROM entries WHERE account = $1 AND slug IN ({list}) ORDER BY slug");
        let read = |row: &Row<'_>| {
            let status = Payment::named(row.text(1)?).ok_or_else(|| broken(&"its payment status"))?;
            Ok((row.slug(0)?, status))
        };
        found.extend(tx.all::<_, Vec<_>, _>(&sql, &values, read).await?);
    }
    Ok(found)
}

/// What review tasks show of an entry, even of one in the trash.
pub async fn shown_by_tasks(
    account: AccountId,
    mut source: Source<'_>,
    slug: Slug,
) -> Result<Option<OfEntry>, DbError> {
    let sql = "SELECT title, category, season FROM entries WHERE account = $1 AND slug = $2";
    let mut found = None;
    source
        .each(sql, &[account.into(), slug.into()], |row| {
            found = Some(OfEntry { title: row.text(0)?.to_owned(), category: row.slug(1)?, season: row.slug(2)? });
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The forms of entries, be they in the trash.
pub async fn forms_of(
    account: AccountId,
    source: &mut Source<'_>,
    entries: &[Slug],
) -> Result<HashMap<Slug, Slug>, DbError> {
    let mut forms = HashMap::new();
    if entries.is_empty() {
        return Ok(forms);
    }
    let (list, values) = filled(entries, 2, vec![account.into()]);
    let sql = format!("SELECT slug, form FROM entries WHERE account = $1 AND slug IN ({list})");
    source
        .each(&sql, &values, |row| {
            forms.insert(row.slug(0)?, row.slug(1)?);
            Ok(())
        })
        .await?;
    Ok(forms)
}

/// The season and the category of an entry, even of one in the trash.
pub async fn season_and_category(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<(Slug, Slug)>, DbError> {
    let sql = "SELECT season, category FROM entries WHERE account = $1 AND slug = $2";
    tx.first(sql, &[account.into(), slug.into()], |row| Ok((row.slug(0)?, row.slug(1)?))).await
}

#[cfg(test)]
mod tests;
