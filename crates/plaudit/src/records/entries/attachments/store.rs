//! The table of attachments.

use crate::program::{Context, Record, RecordMembers as _};
use crate::records::Rows;
use crate::records::entries::attachments::Attachment;
use crate::records::files;
use db::{AccountId, Db, DbError, Row, Tx};
use kernel::input::{self, Members};
use kernel::json::parse_object;
use kernel::text::{Slug, Token};

/// Attachments have their entry beside the document.
pub const ROWS: Rows = Rows { extra_columns: "entry", ..Rows::of("attachments", "token") };

/// Adds or replaces an attachment.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<Attachment>) -> Result<(), DbError> {
    let Attachment { token, entry, tab, order, created, updated, .. } = &record.value;
    tx.enqueue(
        "INSERT INTO attachments (account, token, entry, tab, place, created, updated, deleted, list_revision, revision, \
         doc) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) ON CONFLICT (account, token) DO UPDATE SET \
         entry = $3, tab = $4, place = $5, created = $6, updated = $7, deleted = $8, list_revision = $9, revision = $9, \
         doc = $10",
        vec![
            account.into(),
            token.as_str().to_owned().into(),
            (*entry).into(),
            (*tab).into(),
            (*order).into(),
            (*created).into(),
            (*updated).into(),
            record.deleted.into(),
            record.revision.into(),
            record.value.stored().into(),
        ],
    )
    .await
}

/// What an attachment shows: its stored form, the title of its entry, and the stored form of its file.
pub(crate) struct Shown {
    pub(crate) doc: String,
    pub(crate) title: String,
    pub(crate) file: Option<String>,
}

/// The version of the account's program, and an attachment, with its revision, that is not in the trash and whose entry is
/// not either.
pub(crate) async fn find(
    db: &Db,
    account: AccountId,
    token: &Token,
) -> Result<Option<(i64, Option<(i64, Shown)>)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, r.revision, r.doc, r.title, f.doc FROM accounts a \
         LEFT JOIN (SELECT t.token, t.revision, t.doc, e.title FROM attachments t \
         JOIN entries e ON e.account = t.account AND e.slug = t.entry \
         WHERE t.account = $1 AND t.token = $2 AND t.deleted = 0 AND e.deleted = 0) AS r ON 1 = 1 \
         LEFT JOIN files f ON f.account = a.id AND f.token = r.token WHERE a.id = $1",
        &[account.into(), token.as_str().into()],
        |row| {
            let Some(revision) = row.optional_integer(1)? else { return Ok((row.integer(0)?, None)) };
            let file = row.optional_text(4)?.map(str::to_owned);
            let shown = Shown { doc: row.text(2)?.to_owned(), title: row.text(3)?.to_owned(), file };
            Ok((row.integer(0)?, Some((revision, shown))))
        },
    )
    .await
}

/// The entry that an attachment belongs to now, for those who are about to give it to another, or change its file.
pub async fn entry_of(tx: &mut Tx, account: AccountId, token: &Token) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT entry FROM attachments WHERE account = $1 AND token = $2",
        &[account.into(), token.as_str().into()],
        |row| row.slug(0),
    )
    .await
}

/// An attachment that is not in the trash, locked until the end of the transaction.
pub(crate) async fn find_for_update(
    tx: &mut Tx,
    account: AccountId,
    token: &Token,
    context: &Context,
) -> Result<Option<Record<Attachment>>, DbError> {
    let read =
        |row: &Row<'_>| Ok(Record { value: parse(row.text(0)?, context)?, revision: row.integer(1)?, deleted: false });
    let sql = "SELECT doc, revision FROM attachments WHERE account = $1 AND token = $2 AND deleted = 0";
    tx.first_for_update(sql, &[account.into(), token.as_str().into()], read).await
}

/// How many attachments an entry has, those in the trash left out.
pub(crate) async fn count(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<i64, DbError> {
    let sql = "SELECT count(*) FROM attachments WHERE account = $1 AND entry = $2 AND deleted = 0";
    Ok(tx.first(sql, &[account.into(), entry.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// The attachments of an entry that are not in the trash, in their order, each with the name of its file. One whose
/// file has no record yet is left out.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<(Attachment, String)>, DbError> {
    let mut found = Vec::new();
    tx.each(
        "SELECT a.doc, f.doc FROM attachments a JOIN files f ON f.account = a.account AND f.token = a.token \
         WHERE a.account = $1 AND a.entry = $2 AND a.deleted = 0 ORDER BY a.place, a.token",
        &[account.into(), entry.into()],
        |row| {
            found.push((parse(row.text(0)?, context)?, files::store::facts(row.text(1)?)?.filename));
            Ok(())
        },
    )
    .await?;
    Ok(found)
}

/// Reads the stored form.
pub(crate) fn parse(doc: &str, context: &Context) -> Result<Attachment, DbError> {
    let broken = || DbError::Failed(format!("a stored attachment cannot be read: {doc}"));
    let object = parse_object(doc.as_bytes()).map_err(|_| broken())?;
    let mut members = Members::closed(&object);
    let token = members.required("token", input::token).ok_or_else(broken)?;
    let attachment = Attachment::read(&mut members, token, context);
    members.finish().or(attachment).map_err(|_| broken())
}
