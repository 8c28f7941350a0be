//! The table of users.

use serde::Deserialize;

use super::{Summary, User, normal_email};
use crate::db::{AccountId, Db, DbError, Tx, Value};
use crate::program::chapters::{Candidate, Manager};
use crate::program::{self, Context, Record};
use crate::text::Slug;

/// The most users that one statement looks up.
const TOGETHER: usize = 256;

/// Adds or replaces a user.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<User>) -> Result<(), DbError> {
    let user = &record.value;
    tx.later(
        "INSERT INTO users (account, slug, email, mobile, updated, deleted, revision, doc) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (account, slug) DO UPDATE SET \
         email = $3, mobile = $4, updated = $5, deleted = $6, revision = $7, doc = $8",
        vec![
            account.into(),
            user.slug.into(),
            user.email.as_deref().map(normal_email).into(),
            user.mobile.clone().into(),
            user.updated.into(),
            record.deleted.into(),
            record.revision.into(),
            program::store::stored(user).into(),
        ],
    )
    .await
}

/// A user, even in the trash, locked until the end of the transaction.
pub async fn find_for_update(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<Record<User>>, DbError> {
    tx.first_for_update(
        "SELECT revision, deleted, doc FROM users WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        |row| {
            Ok(Record {
                value: program::store::parse(row.text(2)?, context)?,
                revision: row.integer(0)?,
                deleted: row.flag(1)?,
            })
        },
    )
    .await
}

/// The documents of these users, those in the trash left out, by slug.
async fn each_of(
    tx: &mut Tx,
    account: AccountId,
    slugs: &[Slug],
    mut each: impl FnMut(&str) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    for slugs in slugs.chunks(TOGETHER) {
        // The list is filled up to a power of two, so that there are few different statements to prepare.
        let places = slugs.len().next_power_of_two();
        let filled = slugs.iter().chain(std::iter::repeat_n(&slugs[0], places - slugs.len()));
        let values: Vec<Value<'_>> = std::iter::once(account.into()).chain(filled.map(Value::from)).collect();
        let list: Vec<String> = (2..places + 2).map(|place| format!("${place}")).collect();
        let sql = format!(
            "SELECT doc FROM users WHERE account = $1 AND deleted = 0 AND slug IN ({}) ORDER BY slug",
            list.join(", ")
        );
        tx.each(&sql, &values, |row| each(row.text(0)?)).await?;
    }
    Ok(())
}

/// These users as they may be managers of a chapter, those in the trash left out, by slug.
pub async fn candidates(tx: &mut Tx, account: AccountId, slugs: &[Slug]) -> Result<Vec<Candidate>, DbError> {
    #[derive(Deserialize)]
    struct Named {
        slug: Slug,
        first_name: String,
        last_name: String,
        roles: Vec<Slug>,
    }
    let mut found = Vec::with_capacity(slugs.len());
    each_of(tx, account, slugs, |doc| {
        let Named { slug, first_name, last_name, roles } = read_part(doc)?;
        found.push(Candidate { manager: Manager { slug, first_name, last_name }, roles });
        Ok(())
    })
    .await?;
    Ok(found)
}

/// What other records show of a user, even of one in the trash.
pub async fn summary(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Summary>, DbError> {
    tx.first("SELECT doc FROM users WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
        summary_of(row.text(0)?)
    })
    .await
}

/// The version of the account's program, and what the account shows of its owner, even of one in the trash, with the
/// owner's revision.
pub async fn owner(
    db: &Db,
    account: AccountId,
    owner: Option<Slug>,
) -> Result<Option<(i64, Option<(Summary, i64)>)>, DbError> {
    db.first(
        "SELECT a.version, u.revision, u.doc FROM accounts a \
         LEFT JOIN users u ON u.account = a.id AND u.slug = $2 WHERE a.id = $1",
        &[account.into(), owner.as_ref().map_or("", Slug::as_str).into()],
        |row| {
            let owner = match (row.optional_integer(1)?, row.optional_text(2)?) {
                (Some(revision), Some(doc)) => Some((summary_of(doc)?, revision)),
                _ => None,
            };
            Ok((row.integer(0)?, owner))
        },
    )
    .await
}

/// The user who has this e-mail address, even one in the trash.
pub async fn of_email(tx: &mut Tx, account: AccountId, email: &str) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT slug FROM users WHERE account = $1 AND email = $2",
        &[account.into(), normal_email(email).into()],
        |row| Ok(Slug::parse(row.text(0)?)),
    )
    .await
    .map(Option::flatten)
}

/// The user who has this mobile number, even one in the trash.
pub async fn of_mobile(tx: &mut Tx, account: AccountId, mobile: &str) -> Result<Option<Slug>, DbError> {
    tx.first("SELECT slug FROM users WHERE account = $1 AND mobile = $2", &[account.into(), mobile.into()], |row| {
        Ok(Slug::parse(row.text(0)?))
    })
    .await
    .map(Option::flatten)
}

/// Every user by slug: the program-file form without its kind, and whether the user is in the trash.
pub async fn each_for_export(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&str, bool) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each("SELECT doc, deleted FROM users WHERE account = $1 ORDER BY slug", &[account.into()], |row| {
        each(row.text(0)?, row.flag(1)?)
    })
    .await
}

fn summary_of(doc: &str) -> Result<Summary, DbError> {
    read_part(doc)
}

fn read_part<'d, T: Deserialize<'d>>(doc: &'d str) -> Result<T, DbError> {
    serde_json::from_str(doc).map_err(|error| DbError::Failed(format!("a stored user cannot be read: {error}")))
}
