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
use crate::records::store::filled;
use crate::records::users::document::{self, ExtraColumns};
use crate::records::users::rules::sort_text;
use crate::records::users::{Confirmation, Person, Summary, User, names, normal_email};
use crate::records::{Rows, StoredRow};
use db::{AccountId, Db, DbError, Row, Source, Tx, Value};
use kernel::document::people_of;
use kernel::text::{Slug, Timestamp};

pub use self::check::each_wrong;
pub use self::seasons::{move_entry, note_seasons};
pub(crate) use self::show::{Named, show};

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

/// Users have beside the document the hash of the password, and after a blank what [`document::read_extra_columns`] takes apart.
pub const ROWS: Rows = Rows {
    extra_columns: "coalesce((SELECT p.password FROM people p WHERE p.global_id = users.person), '') || ' ' || person || ' ' \
             || season_joined || ' ' || detail",
    logged: |row| document::logged(&row.doc, split(row).1).unwrap_or_default(),
    exported,
    ..Rows::of("users", "slug")
};

/// The hash of the password, and what [`document::read_extra_columns`] takes apart.
#[must_use]
pub fn split(row: &StoredRow) -> (&str, &str) {
    row.extra_columns.split_once(' ').unwrap_or_default()
}

/// The user of a row, and the hash of the password, which is empty for none.
pub fn of_row(row: &StoredRow) -> Result<(User, &str), DbError> {
    let (password, extra_columns) = split(row);
    Ok((parse(&row.doc, extra_columns)?, password))
}

fn parse(doc: &str, extra_columns: &str) -> Result<User, DbError> {
    let extra_columns = document::read_extra_columns(extra_columns).ok_or_else(|| broken(&"what stands beside it"))?;
    document::read(doc, extra_columns).map_err(|error| broken(&error))
}

fn exported(row: &StoredRow) -> Result<String, DbError> {
    let (user, password) = of_row(row)?;
    let form = program::store::stored(&user);
    Ok(row.in_file(match password {
        "" => form,
        password => kernel::document::extended(&form, |object| object.text("password", password)),
    }))
}

fn broken(error: &dyn std::fmt::Display) -> DbError {
    DbError::Failed(format!("a stored user cannot be read: {error}"))
}

/// Adds or replaces a user, whose person there is, at the revision that the change has in the log.
pub async fn put(tx: &mut Tx, account: AccountId, record: &Record<User>) -> Result<(), DbError> {
    let user = &record.value;
    let mut row = vec![
        ("account", account.into()),
        ("slug", user.slug.into()),
        ("person", user.global_id.clone().into()),
        ("names", shown_names(user).into()),
        ("deleted", record.deleted.into()),
        ("list_revision", record.revision.into()),
        ("revision", record.revision.into()),
        ("doc", document::shown(user).into()),
        ("detail", document::detail(user).into()),
    ];
    row.extend(listed(user));
    tx.put("users", 2, row).await?;
    let sql = "DELETE FROM user_roles WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), user.slug.into()]).await?;
    for role in &user.roles {
        tx.enqueue(
            "INSERT INTO user_roles (account, slug, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            vec![account.into(), user.slug.into(), (*role).into()],
        )
        .await?;
    }
    Ok(())
}

/// By what the records of others show a user: the column `names`.
fn shown_names(user: &User) -> String {
    names(&user.first_name, &user.last_name, user.email.as_deref())
}

/// What a user is listed by: columns with their values.
fn listed(user: &User) -> [(&'static str, Value<'static>); 12] {
    [
        ("confirmed", (user.confirmation == Confirmation::Confirmed).into()),
        ("language", user.language.code().into()),
        ("season_joined", user.season_joined.map_or_else(String::new, |season| season.to_string()).into()),
        ("email", user.email.as_deref().map_or_else(String::new, normal_email).into()),
        ("mobile", user.mobile.clone().unwrap_or_default().into()),
        ("first_name", sort_text(&user.first_name).into()),
        ("last_name", sort_text(&user.last_name).into()),
        ("name", sort_text(&user.name()).into()),
        ("created_by", user.created_by.name().into()),
        ("confirmed_at", user.confirmed_at.map_or(NO_TIME, Timestamp::as_microseconds).into()),
        ("created_at", user.created_at.into()),
        ("updated", user.updated.into()),
    ]
}

/// A user, even in the trash, locked until the end of the transaction.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<Stored>, DbError> {
    tx.first_for_update(
        "SELECT revision, deleted, doc, person, season_joined, detail FROM users WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        |row| {
            let extra_columns =
                ExtraColumns { person: row.text(3)?, season_joined: Slug::parse(row.text(4)?), detail: row.text(5)? };
            let user = document::read(row.text(2)?, extra_columns).map_err(|error| broken(&error))?;
            Ok(Stored { user, revision: row.integer(0)?, deleted: row.flag(1)? })
        },
    )
    .await
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
