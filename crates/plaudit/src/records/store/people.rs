//! People's records whose rows hold their program-file form: one store for every such kind.
//!
//! - A kind has a table with `account`, its slug, the columns of its lists, `deleted`, `list_revision`, `revision` and
//!   `doc`. The declaration of its [`Table`] says how they are called.
//! - A record is written by its change alone, so that the row and the log cannot disagree.

use super::Rows;
use crate::lists::Table;
use crate::log::{self, Action, Change, Event, Origin};
use crate::program::store::{parse, stored};
use crate::program::{Context, Record, SetupRecord};
use db::{AccountId, Db, DbError, Tx, Value};
use kernel::ids::Ids;
use kernel::text::Slug;

/// A kind of people's record whose rows hold its program-file form.
pub trait PeopleRecord: SetupRecord + PartialEq {
    /// Its table, as lists know it.
    const TABLE: &'static Table;

    /// The values of the columns of its table in their order, without `deleted`.
    fn columns(&self) -> Vec<Value<'static>>;
}

/// Where the records of a kind have their rows.
#[must_use]
pub fn rows_of<T: PeopleRecord>() -> Rows {
    Rows::of(T::TABLE.sql, T::TABLE.name)
}

/// The version of the account's program, and a record that is not in the trash.
pub async fn find<T: PeopleRecord>(
    db: &Db,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<(i64, Option<Record<T>>)>, DbError> {
    let Table { sql, name, .. } = T::TABLE;
    let sql = format!(
        "SELECT a.version, r.revision, r.doc FROM accounts a \
         LEFT JOIN {sql} r ON r.account = a.id AND r.{name} = $2 AND r.deleted = 0 WHERE a.id = $1"
    );
    db.fetch_pipelined(&sql, &[account.into(), slug.into()], |row| {
        let record = match row.optional_integer(1)? {
            Some(revision) => Some(Record { value: parse(row.text(2)?, context)?, revision, deleted: false }),
            None => None,
        };
        Ok((row.integer(0)?, record))
    })
    .await
}

/// A record that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    context: &Context,
) -> Result<Option<Record<T>>, DbError> {
    let Table { sql, name, .. } = T::TABLE;
    let sql = format!("SELECT revision, doc FROM {sql} WHERE account = $1 AND {name} = $2 AND deleted = 0");
    tx.first_for_update(&sql, &[account.into(), slug.into()], |row| {
        Ok(Record { value: parse(row.text(1)?, context)?, revision: row.integer(0)?, deleted: false })
    })
    .await
}

/// A slug that no record of the kind has.
pub async fn free_slug<T: PeopleRecord>(tx: &mut Tx, account: AccountId, ids: &Ids) -> Result<Slug, DbError> {
    loop {
        let slug = ids.slug();
        if !super::exists(tx, account, T::KIND, slug.as_str()).await? {
            return Ok(slug);
        }
    }
}

/// Logs what was done to a record and writes its row, which is in the trash or not; gives its revision.
pub async fn change<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    (action, events, deleted): (Action, &[Event], bool),
    value: T,
) -> Result<i64, DbError> {
    let slug = value.slug();
    let change = Change { kind: T::KIND, slug: slug.as_str(), action, events, document: stored(&value) };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, &Record { value, revision, deleted }).await?;
    Ok(revision)
}

/// Writes the row of a record whose change is logged.
pub async fn put<T: PeopleRecord>(tx: &mut Tx, account: AccountId, record: &Record<T>) -> Result<(), DbError> {
    let Record { value, revision, deleted } = record;
    let mut values =
        vec![account.into(), value.slug().into(), (*deleted).into(), (*revision).into(), stored(value).into()];
    values.extend(value.columns());
    tx.enqueue(put_sql(T::TABLE), values).await
}

/// The statement that adds or replaces a row: account, slug, `deleted`, revision, document, and then the columns.
fn put_sql(table: &Table) -> String {
    let Table { sql, name, columns, sets } = table;
    let is_stored_here = |column: &&str| *column != "deleted" && sets.iter().all(|set| set.column != *column);
    let columns: Vec<_> = columns.iter().map(|column| column.name).filter(is_stored_here).collect();
    let each = |text: fn((usize, &str)) -> String| (6..).zip(columns.iter().copied()).map(text).collect::<String>();
    let names = each(|(_, column)| format!(", {column}"));
    let places = each(|(place, _)| format!(", ${place}"));
    let changes = each(|(place, column)| format!(", {column} = ${place}"));
    format!(
        "INSERT INTO {sql} (account, {name}, deleted, list_revision, revision, doc{names}) \
         VALUES ($1, $2, $3, $4, $4, $5{places}) ON CONFLICT (account, {name}) \
         DO UPDATE SET deleted = $3, list_revision = $4, revision = $4, doc = $5{changes}"
    )
}
