//! Reads a user to show it.

use crate::records::slots;
use crate::records::store::filled;
use db::{AccountId, Db, DbError, Source};
use kernel::text::{Slug, Token};
use serde::Deserialize;

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
    /// Its slug.
    pub slug: Slug,
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
        "SELECT a.version, u.revision, u.doc, u.detail, u.slug FROM accounts a \
         LEFT JOIN users u ON u.account = a.id AND u.{column} = $2 AND u.deleted = 0 WHERE a.id = $1"
    );
    db.fetch_pipelined(&sql, &[account.into(), name.into()], |row| {
        let user = match row.optional_integer(1)? {
            None => None,
            Some(revision) => Some(Shown {
                slug: row.slug(4)?,
                revision,
                doc: row.text(2)?.to_owned(),
                detail: row.text(3)?.to_owned(),
            }),
        };
        Ok((row.integer(0)?, user))
    })
    .await
}

/// The roles of a user; nothing where there is no such user, or one in the trash.
pub(crate) async fn roles_of(
    account: AccountId,
    mut source: Source<'_>,
    user: Slug,
) -> Result<Option<Vec<Slug>>, DbError> {
    #[derive(Deserialize)]
    struct Roles {
        #[serde(deserialize_with = "slots::references")]
        roles: Vec<Slug>,
    }
    let sql = "SELECT doc FROM users WHERE account = $1 AND slug = $2 AND deleted = 0";
    let mut found = None;
    source
        .each(sql, &[account.into(), user.into()], |row| {
            let read = serde_json::from_str(row.text(0)?);
            let Roles { roles } =
                read.map_err(|error| DbError::Failed(format!("a stored user cannot be read: {error}")))?;
            found = Some(roles);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The e-mail address of a user who is not in the trash, in small letters; nothing for none.
pub(crate) async fn email_of(
    account: AccountId,
    mut source: Source<'_>,
    user: Slug,
) -> Result<Option<String>, DbError> {
    let sql = "SELECT email FROM users WHERE account = $1 AND slug = $2 AND deleted = 0";
    let mut found = None;
    source
        .each(sql, &[account.into(), user.into()], |row| {
            found = Some(row.text(0)?.to_owned()).filter(|email| !email.is_empty());
            Ok(())
        })
        .await?;
    Ok(found)
}

/// Whether a user has an entry in one of these chapters, those in the trash included.
pub(crate) async fn has_entry_in(
    account: AccountId,
    mut source: Source<'_>,
    user: Slug,
    chapters: &[Slug],
) -> Result<bool, DbError> {
    if chapters.is_empty() {
        return Ok(false);
    }
    let (list, values) = filled(chapters, 3, vec![account.into(), user.into()]);
    let sql = format!("SELECT count(*) FROM entries WHERE account = $1 AND entrant = $2 AND chapter IN ({list})");
    let mut has_any = false;
    source
        .each(&sql, &values, |row| {
            has_any = row.integer(0)? > 0;
            Ok(())
        })
        .await?;
    Ok(has_any)
}

/// Whether this holds for this user, or for one who has an entry in one of these chapters, that is not in the trash and whose
/// second document has this token: the user and that document.
pub(crate) async fn mentioning(
    db: &Db,
    account: AccountId,
    token: &Token,
    (user, chapters): (Option<Slug>, &[Slug]),
    mut holds: impl FnMut(Slug, &str) -> bool + Send,
) -> Result<bool, DbError> {
    let pattern = format!("%\"{}\"%", token.as_str());
    let mut holds_any = false;
    let select = "SELECT u.slug, u.detail FROM users u WHERE u.account = $1 AND u.detail LIKE $2 AND u.deleted = 0";
    let (list, of_chapters) = filled(chapters, 3, vec![account.into(), pattern.clone().into()]);
    let own = user.map(|user| ("u.slug = $3".to_owned(), vec![account.into(), pattern.into(), user.into()]));
    let has_entry =
        "EXISTS (SELECT 1 FROM entries e WHERE e.account = u.account AND e.entrant = u.slug AND e.chapter IN";
    let of_chapters = (!chapters.is_empty()).then(|| (format!("{has_entry} ({list}))"), of_chapters));
    for (condition, values) in own.into_iter().chain(of_chapters) {
        db.each(&format!("{select} AND {condition}"), &values, |row| {
            holds_any |= holds(row.slug(0)?, row.text(1)?);
            Ok(())
        })
        .await?;
    }
    Ok(holds_any)
}
