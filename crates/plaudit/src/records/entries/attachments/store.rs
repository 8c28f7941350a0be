//! The table of attachments.

use crate::program::Context;
use crate::program::store::parse;
use crate::records::entries::attachments::Attachment;
use crate::records::files;
use db::{AccountId, DbError, Tx};
use kernel::text::{Slug, Token};

/// The entry that an attachment belongs to now, for those who are about to give it to another, or change its file.
pub async fn entry_of(tx: &mut Tx, account: AccountId, token: &Token) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT entry FROM attachments WHERE account = $1 AND token = $2",
        &[account.into(), token.as_str().into()],
        |row| row.slug(0),
    )
    .await
}

/// The attachments of an entry that are not in the trash, in their order, each with the name of its file. One whose
/// file has no record yet is left out.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    entry: Slug,
    context: &Context,
) -> Result<Vec<(Attachment, String)>, DbError> {
    tx.all(
        "SELECT a.doc, f.doc FROM attachments a JOIN files f ON f.account = a.account AND f.token = a.token \
         WHERE a.account = $1 AND a.entry = $2 AND a.deleted = 0 ORDER BY a.place, a.token",
        &[account.into(), entry.into()],
        |row| Ok((parse(row.text(0)?, context)?, files::store::facts(row.text(1)?)?.filename)),
    )
    .await
}
