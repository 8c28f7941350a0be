//! The tables of users.

mod check;
pub mod links;
pub mod people;
mod seasons;
mod show;

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::program::chapters::Candidate;
use crate::program::{self, Record};
use crate::records::slots;
use crate::records::store::{Derived, ListRevision, SetTable, filled, listed, write_set};
use crate::records::users::document;
use crate::records::users::rules::sort_text;
use crate::records::users::{Confirmation, LISTED, Person, Summary, User, names, normal_email};
use crate::records::{Rows, StoredRow};
use db::{AccountId, Db, DbError, Row, Source, Tx, Value};
use kernel::document::people_of;
use kernel::text::{Slug, Timestamp};

pub use self::check::{each_stray, each_wrong};
pub use self::seasons::{move_entry, note_seasons};
pub(crate) use self::show::{Named, email_of, has_entry_in, mentioning, roles_of, show};

/// The most users that one statement looks up.
const BATCH_SIZE: usize = 256;

/// What sorts in place of a time that there is not.
const NO_TIME: i64 = i64::MIN;

/// A user as it stands in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The user.
    pub user: User,
    /// The sequence number of the last change.
    pub revision: i64,
    /// Whether the user is in the trash.
    pub deleted: bool,
}

/// Users have a second document, and the password of their person.
pub const ROWS: Rows = Rows {
    list_revision: ListRevision::Raised,
    detail: "detail",
    password: "coalesce((SELECT p.password FROM people p WHERE p.global_id = users.person), '')",
    columns: || listed(&LISTED),
    sets: &[ROLES],
    derived: |doc| {
        let user = document::read_first(doc).map_err(|error| broken(&error))?;
        Ok(Derived { columns: columns(&user), sets: vec![roles(&user)] })
    },
    exported,
    ..Rows::of("users", "slug")
};

/// The roles of users.
const ROLES: SetTable = SetTable { table: "user_roles", key: "slug", columns: &["role"], identifying: 1 };

/// The user of a row.
pub fn of_row(row: &StoredRow) -> Result<User, DbError> {
    document::read(&row.doc, &row.detail).map_err(|error| broken(&error))
}

fn exported(row: &StoredRow) -> Result<String, DbError> {
    let form = program::store::stored_as(&of_row(row)?, row.deleted);
    Ok(match row.password.as_str() {
        "" => form,
        password => kernel::document::extended(&form, |object| object.text("password", password)),
    })
}

fn broken(error: &dyn std::fmt::Display) -> DbError {
    DbError::Failed(format!("a stored user cannot be read: {error}"))
}

/// Adds or replaces a user, whose person there is, at the revision that the change has in the log.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<User>) -> Result<(), DbError> {
    let Record { value: user, revision, deleted } = record;
    let documents = (document::shown(user, *deleted), Some(document::detail(user)));
    let row = ROWS.row(account, (user.slug.as_str(), *revision), (*deleted, columns(user)), documents);
    tx.put(ROWS.table, 2, row).await?;
    write_set(tx, account, &ROLES, (user.slug.as_str(), false), roles(user)).await
}

/// The rows of a user's roles.
fn roles(user: &User) -> Vec<Vec<Value<'static>>> {
    let roles: BTreeSet<Slug> = user.roles.iter().copied().collect();
    roles.into_iter().map(|role| vec![role.into()]).collect()
}

/// What a user is found by, in the order of the columns of lists.
fn columns(user: &User) -> Vec<Value<'static>> {
    vec![
        user.global_id.clone().into(),
        names(&user.first_name, &user.last_name, user.email.as_deref()).into(),
        (user.confirmation == Confirmation::Confirmed).into(),
        user.language.code().into(),
        user.season_joined.map_or_else(String::new, |season| season.to_string()).into(),
        user.email.as_deref().map_or_else(String::new, normal_email).into(),
        user.mobile.clone().unwrap_or_default().into(),
        sort_text(&user.first_name).into(),
        sort_text(&user.last_name).into(),
        sort_text(&user.name()).into(),
        user.created_by.name().into(),
        user.confirmed_at.map_or(NO_TIME, Timestamp::as_microseconds).into(),
        user.created_at.into(),
        user.updated.into(),
    ]
}

/// A user, even in the trash, locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    tx.first_for_update(
        "SELECT revision, deleted, doc, detail FROM users WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        |row| {
            let user = document::read(row.text(2)?, row.text(3)?).map_err(|error| broken(&error))?;
            Ok(Stored { user, revision: row.integer(0)?, deleted: row.flag(1)? })
        },
    )
    .await
}

/// A user, even in the trash.
pub async fn find(account: AccountId, mut source: Source<'_>, slug: Slug) -> Result<Option<User>, DbError> {
    let mut found = None;
    source
        .each("SELECT doc, detail FROM users WHERE account = $1 AND slug = $2", &[account.into(), slug.into()], |row| {
            found = Some(document::read(row.text(0)?, row.text(1)?).map_err(|error| broken(&error))?);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The name and the e-mail address of the user of a first document.
pub fn name_and_email(doc: &str) -> Result<(String, String), DbError> {
    let user = document::read_first(doc).map_err(|error| broken(&error))?;
    Ok((user.name(), user.email.unwrap_or_default()))
}

/// A user by the slug or the e-mail address, unless it is in the trash.
pub async fn live_of(tx: &mut Tx, account: AccountId, name: &str) -> Result<Option<Slug>, DbError> {
    let (sql, name) = if name.contains('@') {
        ("SELECT slug FROM users WHERE account = $1 AND email = $2 AND deleted = 0", normal_email(name))
    } else {
        ("SELECT slug FROM users WHERE account = $1 AND slug = $2 AND deleted = 0", name.to_owned())
    };
    tx.first(sql, &[account.into(), name.into()], |row| row.slug(0)).await
}

/// Takes every user outside the trash, by slug.
pub async fn each_live(tx: &mut Tx, account: AccountId, mut take: impl FnMut(User) + Send) -> Result<(), DbError> {
    let sql = "SELECT doc FROM users WHERE account = $1 AND deleted = 0 ORDER BY slug";
    tx.each(sql, &[account.into()], |row| {
        take(document::read_first(row.text(0)?).map_err(|error| broken(&error))?);
        Ok(())
    })
    .await
}

/// These users as they may be managers of a chapter, those in the trash left out, by slug.
pub async fn candidates(tx: &mut Tx, account: AccountId, slugs: &[Slug]) -> Result<Vec<Candidate>, DbError> {
    let mut found = Vec::with_capacity(slugs.len());
    for slugs in slugs.chunks(BATCH_SIZE) {
        let (list, values) = filled(slugs, 2, vec![account.into()]);
        let sql =
            format!("SELECT doc FROM users WHERE account = $1 AND deleted = 0 AND slug IN ({list}) ORDER BY slug");
        found.extend(tx.all::<_, Vec<_>, _>(&sql, &values, |row| candidate_of(row.text(0)?)).await?);
    }
    Ok(found)
}

/// What other records show of these users, those in the trash left out, by slug.
pub async fn summaries(tx: &mut Tx, account: AccountId, slugs: &[Slug]) -> Result<Vec<Summary>, DbError> {
    let mut found = Vec::with_capacity(slugs.len());
    for slugs in slugs.chunks(BATCH_SIZE) {
        let (list, values) = filled(slugs, 2, vec![account.into()]);
        let sql = format!(
            "SELECT doc, person FROM users WHERE account = $1 AND deleted = 0 AND slug IN ({list}) ORDER BY slug"
        );
        found.extend(tx.all::<_, Vec<_>, _>(&sql, &values, |row| summary_of(row, 0)).await?);
    }
    Ok(found)
}

/// How the records of others show a user, even one in the trash.
pub async fn person(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Person>, DbError> {
    let sql = "SELECT slug, names, person FROM users WHERE account = $1 AND slug = $2";
    Ok(tx.first(sql, &[account.into(), slug.into()], |row| person_of(row, 0)).await?.flatten())
}

/// The users whom these documents show, as they are called now, each once.
pub async fn shown_in<'d>(
    account: AccountId,
    mut source: Source<'_>,
    documents: impl IntoIterator<Item = &'d str>,
) -> Result<Vec<Person>, DbError> {
    let slugs: BTreeSet<Slug> = documents.into_iter().flat_map(people_of).collect();
    let mut found = Vec::with_capacity(slugs.len());
    for slugs in Vec::from_iter(slugs).chunks(BATCH_SIZE) {
        let (list, values) = filled(slugs, 2, vec![account.into()]);
        let sql = format!("SELECT slug, names, person FROM users WHERE account = $1 AND slug IN ({list})");
        source
            .each(&sql, &values, |row| {
                found.extend(person_of(row, 0)?);
                Ok(())
            })
            .await?;
    }
    // What is told of them in a tag has one order.
    found.sort_unstable_by_key(|person| person.slug);
    Ok(found)
}

/// Reads a slug and the columns `names` and `person` from `first` on; nothing where there is no such user.
pub fn person_of(row: &Row<'_>, first: usize) -> Result<Option<Person>, DbError> {
    let (Some(names), Some(global_id)) = (row.optional_text(first + 1)?, row.optional_text(first + 2)?) else {
        return Ok(None);
    };
    Ok(Some(Person { slug: row.slug(first)?, names: names.to_owned(), global_id: global_id.to_owned() }))
}

/// The version of the account's program, and what the account shows of its owner, even of one in the trash, with the
/// owner's revision.
pub async fn owner(
    db: &Db,
    account: AccountId,
    owner: Option<Slug>,
) -> Result<Option<(i64, Option<(Summary, i64)>)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, u.revision, u.doc, u.person FROM accounts a \
         LEFT JOIN users u ON u.account = a.id AND u.slug = $2 WHERE a.id = $1",
        &[account.into(), owner.as_ref().map_or("", Slug::as_str).into()],
        |row| {
            let owner = match row.optional_integer(1)? {
                Some(revision) => Some((summary_of(row, 2)?, revision)),
                None => None,
            };
            Ok((row.integer(0)?, owner))
        },
    )
    .await
}

/// The members of a user's document that other records show.
#[derive(Deserialize)]
struct Names {
    slug: Slug,
    first_name: String,
    last_name: String,
    email: Option<String>,
}

/// Reads the columns `doc` and `person` from `first` on.
fn summary_of(row: &Row<'_>, first: usize) -> Result<Summary, DbError> {
    let Names { slug, first_name, last_name, email } =
        serde_json::from_str(row.text(first)?).map_err(|error| broken(&error))?;
    Ok(Summary { slug, first_name, last_name, email, global_id: row.text(first + 1)?.to_owned() })
}

fn candidate_of(doc: &str) -> Result<Candidate, DbError> {
    #[derive(Deserialize)]
    struct Named {
        slug: Slug,
        #[serde(deserialize_with = "slots::references")]
        roles: Vec<Slug>,
    }
    let Named { slug, roles } = serde_json::from_str(doc).map_err(|error| broken(&error))?;
    Ok(Candidate { slug, roles })
}
