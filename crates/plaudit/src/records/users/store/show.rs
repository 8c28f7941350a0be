//! Reads a user to show it.

use db::{AccountId, Db, DbError};
use kernel::text::Slug;

/// How a user is named in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named<'n> {
    /// By the slug.
    Slug(Slug),
    /// By the e-mail address, as it is compared.
    Email(&'n str),
}

/// A user as a single read shows it.
pub(crate) struct Shown {
    /// The sequence number of the last change.
    pub revision: i64,
    /// The first document.
    pub doc: String,
    /// The second document.
    pub detail: String,
}

/// The version of the program, and a user that is not in the trash.
pub(crate) async fn show(
    db: &Db,
    account: AccountId,
    named: Named<'_>,
) -> Result<Option<(i64, Option<Shown>)>, DbError> {
    let (column, name) = match &named {
        Named::Slug(slug) => ("slug", slug.as_str()),
        Named::Email(email) => ("email", *email),
    };
    let sql = format!(
        "SELECT a.version, u.revision, u.doc, u.detail FROM accounts a \
         LEFT JOIN users u ON u.account = a.id AND u.{column} = $2 AND u.deleted = 0 WHERE a.id = $1"
    );
    db.fetch_pipelined(&sql, &[account.into(), name.into()], |row| {
        let user = match row.optional_integer(1)? {
            None => None,
            Some(revision) => Some(Shown { revision, doc: row.text(2)?.to_owned(), detail: row.text(3)?.to_owned() }),
        };
        Ok((row.integer(0)?, user))
    })
    .await
}
