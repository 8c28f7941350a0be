//! The table of publications, and what is read of others for them.

use std::collections::BTreeMap;

use super::Publication;
use crate::program::store::parse;
use crate::program::{Context, Record};
use db::{AccountId, DbError, Source, Tx};
use kernel::text::Slug;

/// The version of the account's program, and a publication that is not in the trash.
pub async fn find(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<(i64, Option<Record<Publication>>)>, DbError> {
    let sql = "SELECT a.version, p.revision, p.doc FROM accounts a \
               LEFT JOIN publications p ON p.account = a.id AND p.slug = $2 AND p.deleted = 0 WHERE a.id = $1";
    tx.first(sql, &[account.into(), slug.into()], |row| {
        let Some(revision) = row.optional_integer(1)? else { return Ok((row.integer(0)?, None)) };
        Ok((row.integer(0)?, Some(Record { value: parse(row.text(2)?, context)?, revision, deleted: false })))
    })
    .await
}

/// The title and the entrant of an entry.
pub type Titled = (String, String);

/// The entries outside the trash that have a standing in a score set, be it of assignments in the trash.
pub async fn titles(
    source: &mut Source<'_>,
    account: AccountId,
    score_set: Slug,
) -> Result<BTreeMap<Slug, Titled>, DbError> {
    let sql = "SELECT e.slug, e.title, e.entrant FROM standings s JOIN entries e ON e.account = s.account AND e.slug = s.entry \
               WHERE s.account = $1 AND s.score_set = $2 AND e.deleted = 0";
    let mut found = BTreeMap::new();
    source
        .each(sql, &[account.into(), score_set.into()], |row| {
            found.insert(row.slug(0)?, (row.text(1)?.to_owned(), row.text(2)?.to_owned()));
            Ok(())
        })
        .await?;
    Ok(found)
}
