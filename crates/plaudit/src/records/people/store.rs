//! The tables of these kinds.

use super::{OfScoreSet, PeopleRecord};
use crate::lists::{Shown, Table};
use crate::log::{self, Action, Change, Event, Origin};
use crate::program::store::{parse, stored_as};
use crate::program::{Context, Record, RecordKey as _, SetupRecord};
use crate::records::store::{Derived, ListRevision, Rows, exists, listed, write_set};
use db::{AccountId, Db, DbError, Row, Source, Tx};
use kernel::ids::Ids;
use kernel::text::{Slug, Timestamp};

/// A record that is not in the trash, locked until the end of the transaction.
pub async fn find_for_update<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    key: &T::Key,
    context: &Context,
) -> Result<Option<Record<T>>, DbError> {
    let Table { sql, name, .. } = T::TABLE;
    let sql = format!("SELECT revision, doc FROM {sql} WHERE account = $1 AND {name} = $2 AND deleted = 0");
    tx.first_for_update(&sql, &[account.into(), key.as_str().into()], |row| {
        Ok(Record { value: parse(row.text(1)?, context)?, revision: row.integer(0)?, deleted: false })
    })
    .await
}

/// The records that have a slug in a column, those in the trash included, by slug or token.
pub async fn all_of<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    (column, slug): (&'static str, Slug),
    context: &Context,
) -> Result<Vec<Record<T>>, DbError> {
    let Table { sql, name, .. } = T::TABLE;
    let sql = format!("SELECT revision, deleted, doc FROM {sql} WHERE account = $1 AND {column} = $2 ORDER BY {name}");
    tx.all(&sql, &[account.into(), slug.into()], |row| {
        Ok(Record { value: parse(row.text(2)?, context)?, revision: row.integer(0)?, deleted: row.flag(1)? })
    })
    .await
}

/// A record as it is shown: the columns that its list declares.
#[derive(Clone, Copy, Debug)]
pub struct ShownRow<'s> {
    shown: &'s Shown,
    /// What must hold, as SQL.
    live: &'static str,
}

impl<'s> ShownRow<'s> {
    /// A record that is not in the trash.
    pub const fn of(shown: &'s Shown) -> Self {
        Self { shown, live: "r.deleted = 0" }
    }

    /// A record that is not in the trash, and whose entry is not either.
    pub const fn of_entry(shown: &'s Shown) -> Self {
        Self { shown, live: "r.deleted = 0 AND e.deleted = 0" }
    }

    fn sql<T: PeopleRecord>(self, first: &str) -> String {
        let Table { sql, name, .. } = T::TABLE;
        let Shown { columns, joins, .. } = self.shown;
        let columns = columns.join(", ");
        format!("SELECT {first}{columns} FROM {sql} r{joins} WHERE r.account = $1 AND r.{name} = $2 AND {}", self.live)
    }

    fn texts(self, row: &Row<'_>, first: usize) -> Result<Vec<String>, DbError> {
        let columns = first..first + self.shown.columns.len();
        columns.map(|at| Ok(row.optional_text(at)?.unwrap_or_default().to_owned())).collect()
    }
}

/// The version of the account's program, and a record with its revision as it is shown.
pub async fn find_shown<T: PeopleRecord>(
    db: &Db,
    account: AccountId,
    key: &T::Key,
    shown: ShownRow<'_>,
) -> Result<Option<(i64, Option<(i64, Vec<String>)>)>, DbError> {
    let sql = format!(
        "SELECT a.version, s.* FROM accounts a LEFT JOIN ({}) AS s ON 1 = 1 WHERE a.id = $1",
        shown.sql::<T>("r.revision, ")
    );
    db.fetch_pipelined(&sql, &[account.into(), key.as_str().into()], |row| {
        let Some(revision) = row.optional_integer(1)? else { return Ok((row.integer(0)?, None)) };
        Ok((row.integer(0)?, Some((revision, shown.texts(row, 2)?))))
    })
    .await
}

/// A record as it is shown, within a transaction.
pub async fn find_shown_in<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    key: &T::Key,
    shown: ShownRow<'_>,
) -> Result<Option<Vec<String>>, DbError> {
    tx.first(&shown.sql::<T>(""), &[account.into(), key.as_str().into()], |row| shown.texts(row, 0)).await
}

/// A slug that no record of the kind has.
pub async fn free_slug<T: PeopleRecord + SetupRecord>(
    tx: &mut Tx,
    account: AccountId,
    ids: &Ids,
) -> Result<Slug, DbError> {
    loop {
        let slug = ids.slug();
        if !exists(tx, account, T::KIND, slug.as_str()).await? {
            return Ok(slug);
        }
    }
}

/// Where the records of a kind have their rows.
pub const fn rows<T: PeopleRecord>() -> Rows {
    Rows {
        list_revision: ListRevision::Revision,
        columns: || listed(T::TABLE),
        sets: T::SETS,
        derived: |doc| {
            let value: T = parse(doc, &Context::any_language(Timestamp::from_microseconds(0)))?;
            Ok(Derived { columns: value.columns(), sets: value.sets() })
        },
        ..Rows::of(T::TABLE.sql, T::TABLE.name)
    }
}

/// Logs what was done to a record and writes its row; gives its revision.
pub async fn change<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    action: Action,
    value: T,
) -> Result<i64, DbError> {
    change_causing(tx, account, origin, (action, &[]), value).await
}

/// The same, of a change that causes these events.
pub async fn change_causing<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    (action, events): (Action, &[Event]),
    value: T,
) -> Result<i64, DbError> {
    let deleted = action == Action::Trashed;
    let document = stored_as(&value, deleted);
    let change = Change { kind: T::KIND, slug: value.key().as_str(), action, events, document };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, &Record { value, revision, deleted }, None).await?;
    Ok(revision)
}

/// Writes the row of a record whose change is logged, and of its tables of values those that differ from what they were, where
/// that is known.
pub async fn put<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    record: &Record<T>,
    before: Option<&T>,
) -> Result<(), DbError> {
    let Record { value, revision, deleted } = record;
    let (rows, key) = (rows::<T>(), value.key().as_str());
    let row = rows.row(account, (key, *revision), (*deleted, value.columns()), (stored_as(value, *deleted), None));
    tx.put(rows.table, 2, row).await?;
    let before = before.map(T::sets);
    for (at, (set, values)) in T::SETS.iter().zip(value.sets()).enumerate() {
        if before.as_ref().is_none_or(|before| before[at] != values) {
            write_set(tx, account, set, (key, false), values).await?;
        }
    }
    Ok(())
}

/// The records of a kind that are about a judge and an entry and not in the trash, by slug.
pub async fn of_judge<T: PeopleRecord>(
    tx: &mut Tx,
    account: AccountId,
    (entry, judge): (Slug, Slug),
    context: &Context,
) -> Result<Vec<T>, DbError> {
    let sql = format!(
        "SELECT doc FROM {} WHERE account = $1 AND entry = $2 AND judge = $3 AND deleted = 0 ORDER BY slug",
        T::TABLE.sql
    );
    tx.all(&sql, &[account.into(), entry.into(), judge.into()], |row| parse(row.text(0)?, context)).await
}

/// How many records of a kind belong to an entry, those in the trash left out.
pub async fn count_of_entry<T: PeopleRecord>(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<i64, DbError> {
    let sql = format!("SELECT count(*) FROM {} WHERE account = $1 AND entry = $2 AND deleted = 0", T::TABLE.sql);
    Ok(tx.first(&sql, &[account.into(), entry.into()], |row| row.integer(0)).await?.unwrap_or(0))
}

/// The version of the account's program, and the record of a kind that a score set has; nothing where there is no such account.
pub async fn of_score_set<T: OfScoreSet>(
    source: &mut Source<'_>,
    account: AccountId,
    score_set: Slug,
    context: &Context,
) -> Result<Option<(i64, Option<Record<T>>)>, DbError> {
    let sql = format!(
        "SELECT a.version, r.revision, r.doc FROM accounts a LEFT JOIN {} r \
         ON r.account = a.id AND r.score_set = $2 AND r.deleted = 0 WHERE a.id = $1 ORDER BY r.slug DESC",
        T::TABLE.sql
    );
    let mut found = None;
    source
        .each(&sql, &[account.into(), score_set.into()], |row| {
            let record = row.optional_integer(1)?.map(|revision| {
                Ok::<_, DbError>(Record { value: parse(row.text(2)?, context)?, revision, deleted: false })
            });
            found = Some((row.integer(0)?, record.transpose()?));
            Ok(())
        })
        .await?;
    Ok(found)
}
