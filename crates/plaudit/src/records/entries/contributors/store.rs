//! The table of contributors.

use crate::program::{self, Context, Record};
use crate::records::Rows;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::contributors::rules::sort_key;
use crate::records::store::people;
use db::{AccountId, Db, DbError, Tx};
use kernel::text::Slug;

/// Contributors have their entry beside the document.
pub const ROWS: Rows = Rows { extra_columns: "entry", ..Rows::of("contributors", "slug") };

/// Adds or replaces a contributor.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<Contributor>) -> Result<(), DbError> {
    people::put(tx, account, record).await?;
    let Contributor { slug, fields, .. } = &record.value;
    let sql = "DELETE FROM contributor_answers WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), (*slug).into()]).await?;
    for (field, answer) in fields.iter() {
        tx.enqueue(
            "INSERT INTO contributor_answers (account, slug, field, sort_key) VALUES ($1, $2, $3, $4)",
            vec![account.into(), (*slug).into(), field.into(), sort_key(answer).into()],
        )
        .await?;
    }
    Ok(())
}

/// What a contributor shows: its stored form, and title and season of its entry.
pub(crate) struct Shown {
    pub(crate) doc: String,
    pub(crate) title: String,
    pub(crate) season: Slug,
}

/// The version of the account's program, and a contributor, with its revision, that is not in the trash and whose entry is
/// not either.
pub(crate) async fn find(
    db: &Db,
    account: AccountId,
    slug: Slug,
) -> Result<Option<(i64, Option<(i64, Shown)>)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, r.revision, r.doc, r.title, r.season FROM accounts a \
         LEFT JOIN (SELECT c.revision, c.doc, e.title, e.season FROM contributors c \
         JOIN entries e ON e.account = c.account AND e.slug = c.entry \
         WHERE c.account = $1 AND c.slug = $2 AND c.deleted = 0 AND e.deleted = 0) AS r ON 1 = 1 WHERE a.id = $1",
        &[account.into(), slug.into()],
        |row| {
            let Some(revision) = row.optional_integer(1)? else { return Ok((row.integer(0)?, None)) };
            let season = row.slug(4)?;
            let shown = Shown { doc: row.text(2)?.to_owned(), title: row.text(3)?.to_owned(), season };
            Ok((row.integer(0)?, Some((revision, shown))))
        },
    )
    .await
}

/// The entry that a contributor belongs to now, for those who are about to give it to another.
pub async fn entry_of(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Slug>, DbError> {
    tx.first("SELECT entry FROM contributors WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        row.slug(0)
    })
    .await
}

/// How many contributors an entry has, those in the trash left out.
pub(crate) async fn count(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<i64, DbError> {
    let sql = "SELECT count(*) FROM contributors WHERE account = $1 AND entry = $2 AND deleted = 0";
    Ok(tx.first(sql, &[account.into(), entry.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// The contributors of an entry that are not in the trash, by slug.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<Contributor>, DbError> {
    let mut found = Vec::new();
    tx.each(
        "SELECT doc FROM contributors WHERE account = $1 AND entry = $2 AND deleted = 0 ORDER BY slug",
        &[account.into(), entry.into()],
        |row| {
            found.push(program::store::parse(row.text(0)?, context)?);
            Ok(())
        },
    )
    .await?;
    Ok(found)
}
