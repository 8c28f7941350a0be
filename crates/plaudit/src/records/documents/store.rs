//! The table of documents.

use super::Document;
use crate::program::Context;
use crate::program::store::parse;
use crate::records::assignments::name_of;
use db::{AccountId, Db, DbError, Source};
use kernel::text::{Slug, Timestamp, Token};

/// What a stored document is read with: it keeps languages that the account has given up.
pub fn context() -> Context {
    // What is stored states everything, so that the time is not asked for.
    Context::any_language(Timestamp::from_microseconds(0))
}

/// The document that is shown of a stored one, with its entry and its user as they are now.
pub async fn as_shown(mut source: Source<'_>, account: AccountId, doc: &str) -> Result<String, DbError> {
    let document: Document = parse(doc, &context())?;
    let slug = |slug: Option<Slug>| slug.map_or_else(String::new, |slug| slug.to_string());
    let sql = "SELECT e.title, u.names FROM accounts a LEFT JOIN entries e ON e.account = a.id AND e.slug = $2 \
               LEFT JOIN users u ON u.account = a.id AND u.slug = $3 WHERE a.id = $1";
    let values = [account.into(), slug(document.entry).into(), slug(document.user).into()];
    let shown = source.first(sql, &values, |row| {
        let user = name_of(row.optional_text(1)?.unwrap_or_default());
        Ok(document.document(row.optional_text(0)?.unwrap_or_default(), &user))
    });
    shown.await?.ok_or_else(|| DbError::Failed("an account is not there".to_owned()))
}

/// Whether one of the documents that have a file, and are not in the trash, is one of these: by its reader and by the chapter of its
/// entry, both empty for none.
pub async fn has_file(
    db: &Db,
    account: AccountId,
    file: &Token,
    mut is_seen: impl FnMut(&str, &str) -> bool + Send,
) -> Result<bool, DbError> {
    let sql = "SELECT r.reader, e.chapter FROM documents r LEFT JOIN entries e ON e.account = r.account AND e.slug = r.entry \
               WHERE r.account = $1 AND r.file = $2 AND r.deleted = 0";
    let mut found = false;
    Source::Db(db)
        .each(sql, &[account.into(), file.as_str().into()], |row| {
            found |= is_seen(row.text(0)?, row.optional_text(1)?.unwrap_or_default());
            Ok(())
        })
        .await?;
    Ok(found)
}
