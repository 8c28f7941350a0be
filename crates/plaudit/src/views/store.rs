//! Reads what views hold, and the documents of a page.
//!
//! - What a view holds is read in a transaction that sees one state of the database; a page is read in one statement, which
//!   tells where the account stands as well.
//! - SQLite finds a row quickest by the number that it gives rows itself, so that is what a view holds as locator. A
//!   `VACUUM` may give other numbers; the slug is read with the document, so that it is noticed.

use std::collections::HashMap;
use std::fmt::Write as _;

use list_view::{Cell, Holds, View};

use super::ALL;
use crate::lists::{List, TABLES, Table, Values};
use db::{AccountId, Committed, Db, DbError, Engine, Row, Source, Tx, Value};
use kernel::text::Slug;

/// Where an account stands; nothing where there is no such account.
pub(crate) async fn head_of(db: &Db, account: AccountId) -> Result<Option<Committed>, DbError> {
    let sql = "SELECT version, sequence, hash FROM accounts WHERE id = $1";
    db.fetch_pipelined(sql, &[account.into()], |row| Committed::read(row, 0)).await
}

/// Where an account stands, seen from a view of it.
pub(super) struct Standing {
    pub head: Committed,
    /// The hash of the change at which the view stands.
    pub hash: Option<[u8; 32]>,
    /// The last change of what the view holds, by table; 0 for those that it does not hold.
    pub changed: [i64; TABLES],
}

/// Where an account stands, seen from a view of some tables at a change; nothing where there is no such account.
pub(super) async fn standing(
    tx: &mut Tx,
    account: AccountId,
    tables: [bool; TABLES],
    since: i64,
) -> Result<Option<Standing>, DbError> {
    let mut sql =
        "SELECT version, sequence, hash, (SELECT c.hash FROM changes c WHERE c.account = $1 AND c.sequence = $2)"
            .to_owned();
    let numbers: Vec<usize> = (0..TABLES).filter(|number| tables[*number]).collect();
    for number in &numbers {
        let _ = write!(sql, ", (SELECT max(list_revision) FROM {} WHERE account = $1)", ALL[*number].sql);
    }
    sql.push_str(" FROM accounts WHERE id = $1");
    tx.first(&sql, &[account.into(), since.into()], |row| {
        let mut standing = Standing {
            head: Committed::read(row, 0)?,
            hash: row.bytes(3).ok().and_then(|hash| hash.try_into().ok()),
            changed: [0; TABLES],
        };
        for (column, number) in (4..).zip(&numbers) {
            standing.changed[*number] = row.optional_integer(column)?.unwrap_or_default();
        }
        Ok(standing)
    })
    .await
}

/// The sets of records that stand in tables of their own, by column and slug.
type Sets = Vec<HashMap<String, Vec<String>>>;

/// What a row of a table tells, borrowed from it.
struct Held<'r> {
    name: &'r str,
    locator: i64,
    cells: Vec<Cell<'r>>,
}

fn cells<'r>(table: &Table, row: &'r Row<'_>, first: usize, sets: &'r Sets) -> Result<Held<'r>, DbError> {
    let name = row.text(first)?;
    let mut at = first + 1;
    let mut cells = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        at += 1;
        let stored_apart = table.sets.iter().position(|values| values.column == column.name);
        cells.push(match (column.holds, stored_apart) {
            (Holds::Number | Holds::Flag, _) => Cell::Number(row.integer(at)?),
            (Holds::Set, Some(number)) => {
                at -= 1;
                Cell::Set(sets[number].get(name).map_or(&[], Vec::as_slice))
            }
            (Holds::Set, None) => Cell::Words(row.text(at)?),
            (Holds::Code | Holds::Text | Holds::Reference(_), _) => Cell::Text(row.text(at)?),
        });
    }
    Ok(Held { name, locator: row.integer(first + 1)?, cells })
}

/// Slug, locator and columns of a table, `r` being the table.
fn columns(table: &Table, engine: Engine) -> String {
    let locator = match engine {
        Engine::Sqlite => "r.rowid",
        Engine::Postgres => "CAST(0 AS BIGINT)",
    };
    let mut sql = format!("r.{}, {locator}", table.name);
    for column in table.columns.iter().filter(|column| table.sets.iter().all(|values| values.column != column.name)) {
        let _ = write!(sql, ", r.{}", column.name);
    }
    sql
}

/// A table whose records are read, by its number: all of them, or those whose columns were changed between two changes of
/// the account, the second included.
pub(super) type Wanting = (usize, Option<(i64, i64)>);

/// What a statement of [`load`] reads of a table.
#[derive(Clone, Copy)]
enum Reads {
    /// How many records there are, so that the view grows once and not over and over.
    Count,
    /// The values of its set columns.
    Sets,
    Records,
}

/// Adds records of tables to a view. `progress` is told now and then of which table there are how many so far.
pub(super) async fn load(
    tx: &mut Tx,
    account: AccountId,
    wanted: &[Wanting],
    view: &mut View,
    mut progress: impl FnMut(&View, &Table, usize) + Send,
) -> Result<(), DbError> {
    let (mut statements, mut read) = (Vec::new(), Vec::new());
    for (number, between) in wanted {
        let table = ALL[*number];
        if between.is_none() {
            let sql = format!("SELECT count(*) FROM {} WHERE account = $1", table.sql);
            statements.push((sql, parameters(account, None)));
            read.push((*number, Reads::Count));
        }
        for sql in sets_sql(table, *between) {
            statements.push((sql, parameters(account, *between)));
            read.push((*number, Reads::Sets));
        }
        let changed = if between.is_some() { CHANGED } else { "" };
        let columns = columns(table, tx.engine());
        let sql = format!("SELECT {columns} FROM {} r WHERE r.account = $1{changed}", table.sql);
        statements.push((sql, parameters(account, *between)));
        read.push((*number, Reads::Records));
    }
    let (mut sets, mut of, mut count) = (Sets::new(), None, 0);
    tx.each_of(&statements, |statement, row| {
        let (number, reads) = read[statement];
        let table = ALL[number];
        if of != Some(number) {
            sets = table.sets.iter().map(|_| HashMap::new()).collect();
            (of, count) = (Some(number), 0);
        }
        match reads {
            Reads::Count => {
                view.reserve(number, usize::try_from(row.integer(0)?).unwrap_or_default());
                return Ok(());
            }
            Reads::Sets => return read_set(row, &mut sets),
            Reads::Records => {}
        }
        let Held { name, locator, cells } = cells(table, row, 0, &sets)?;
        view.put(number, name, locator, &cells);
        count += 1;
        if count % 1_024 == 0 {
            progress(view, table, count);
        }
        Ok(())
    })
    .await
}

/// The condition that a row was changed between two changes of the account. That nothing is behind the second goes without
/// saying, but PostgreSQL takes a range for few rows and one bound for a third of the table.
const CHANGED: &str = " AND r.list_revision > $2 AND r.list_revision <= $3";

/// The parameters of a statement about all records, or about those that were changed.
fn parameters(account: AccountId, between: Option<(i64, i64)>) -> Vec<Value<'static>> {
    let mut values = vec![account.into()];
    values.extend(between.into_iter().flat_map(|(after, until)| [after.into(), until.into()]));
    values
}

/// The statements that read the values of the set columns of a table: of all records, or of those that were changed.
fn sets_sql(table: &Table, between: Option<(i64, i64)>) -> Vec<String> {
    match between {
        _ if table.sets.is_empty() => Vec::new(),
        None => (0..).zip(table.sets).map(of_all).collect(),
        // What is brought up to date is little, so that a statement costs more than what it reads.
        Some(_) => vec![of_changed(table)],
    }
}

/// Adds a value of a set column.
fn read_set(row: &Row<'_>, sets: &mut Sets) -> Result<(), DbError> {
    let set = usize::try_from(row.integer(0)?).ok().and_then(|number| sets.get_mut(number));
    let (Some(set), value) = (set, row.text(2)?) else { return Ok(()) };
    let values: &mut Vec<String> = set.entry(row.text(1)?.to_owned()).or_default();
    // An index gives the same value of a record in a row: an entry is in many orders at one price.
    if values.last().is_none_or(|last| last != value) {
        values.push(value.to_owned());
    }
    Ok(())
}

/// The condition of the rows that count.
fn counts(values: &Values) -> String {
    if values.unless.is_empty() { String::new() } else { format!(" AND s.{} = 0", values.unless) }
}

/// The statement that reads the values of a set of all records.
fn of_all((number, values): (i32, &Values)) -> String {
    let Values { sql, record, value, .. } = values;
    format!(
        "SELECT CAST({number} AS BIGINT), s.{record}, s.{value} FROM {sql} s WHERE s.account = $1{}",
        counts(values)
    )
}

/// The statement that reads the values of all sets of the records that were changed: one step of an index for each value,
/// because a record may have the same value by thousands of rows.
fn of_changed(table: &Table) -> String {
    let name = table.name;
    let (mut found, mut read) = (Vec::new(), Vec::new());
    for (number, values) in table.sets.iter().enumerate() {
        let Values { sql, record, value, .. } = values;
        let next = format!("SELECT min(s.{value}) FROM {sql} s WHERE s.account = $1{} AND s.{record}", counts(values));
        found.push(format!(
            "found{number} (name, value) AS (SELECT r.{name}, ({next} = r.{name}) FROM {} r WHERE r.account = $1{CHANGED} \
             UNION ALL SELECT name, ({next} = name AND s.{value} > found{number}.value) FROM found{number} \
             WHERE value IS NOT NULL)",
            table.sql
        ));
        read.push(format!("SELECT CAST({number} AS BIGINT), name, value FROM found{number} WHERE value IS NOT NULL"));
    }
    format!("WITH RECURSIVE {} {}", found.join(", "), read.join(" UNION ALL "))
}

/// What finds the document of a record.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its slug or token.
    pub name: String,
    /// Where SQLite has its row.
    pub locator: i64,
    /// What the view has of what is shown.
    pub held: Vec<String>,
}

/// The sizes of the statements that read pages: few texts serve every request.
const SIZES: [usize; 2] = [10, 100];

/// After how many bytes of documents a page pauses: others wait for no more than it takes to write them.
const STEP: usize = 4 << 20;

/// The most bytes of documents that wait because others come before them on the page.
const WAITING: usize = 1 << 20;

/// How the reading of a page ends.
#[derive(Debug)]
pub(crate) enum Ended {
    /// This is where the account stands. Where the page was not planned there, documents are missing.
    At(Committed),
    /// A record is not where it was, the account changed meanwhile, or there is no such account.
    Misplaced,
    /// The page is longer than a step, which it must not be.
    TooLong,
}

/// Reads the documents of a page, in the order of the page.
///
/// That is one statement, unless the page is long or long documents come out of order: what is left is read after others had
/// their turn, as much as is likely to be no longer than a step.
pub(crate) async fn page<E: From<DbError> + Send>(
    source: &mut Source<'_>,
    account: AccountId,
    (list, table): (&List, &Table),
    (wanted, planned): (&[Wanted], Committed),
    may_be_long: bool,
    mut each: impl FnMut(&[&str]) -> Result<(), E> + Send,
) -> Result<Ended, E> {
    let (mut left, mut rows) = (wanted, wanted.len());
    loop {
        let step = &left[..left.len().min(rows)];
        let read = read_page(source, account, (list, table), (step, planned), &mut each).await?;
        let Some((stands, shown, bytes)) = read else { return Ok(Ended::Misplaced) };
        if stands != planned {
            return Ok(Ended::At(stands));
        }
        if shown == 0 && !step.is_empty() {
            return Ok(Ended::Misplaced);
        }
        left = &left[shown..];
        if left.is_empty() {
            return Ok(Ended::At(planned));
        }
        if !may_be_long {
            return Ok(Ended::TooLong);
        }
        tokio::task::yield_now().await;
        rows = (shown * STEP / bytes.max(1)).clamp(1, left.len());
    }
}

/// Reads the first documents of a page in one statement: where the account stands, how many they are, and how many bytes.
async fn read_page<E: From<DbError> + Send>(
    source: &mut Source<'_>,
    account: AccountId,
    (list, table): (&List, &Table),
    (wanted, planned): (&[Wanted], Committed),
    each: &mut (impl FnMut(&[&str]) -> Result<(), E> + Send),
) -> Result<Option<(Committed, usize, usize)>, E> {
    let engine = source.engine();
    let size = SIZES.into_iter().find(|size| wanted.len() <= *size).unwrap_or(wanted.len());
    let sql = page_sql((list, table), engine, size);
    let mut values: Vec<Value<'_>> = vec![account.into()];
    values.extend(wanted.iter().map(|wanted| match engine {
        Engine::Sqlite => wanted.locator.into(),
        Engine::Postgres => wanted.name.as_str().into(),
    }));
    values.resize(size + 1, Value::Null);
    let (mut stands, mut next, mut found, mut is_misplaced, mut refused) = (None, 0, 0, false, None);
    // Neither engine promises an order; what comes early waits, as long as it is little.
    let (mut early, mut waiting) = (HashMap::<usize, Vec<String>>::new(), 0);
    let (mut bytes, mut is_paused) = (0, false);
    let length = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
    let mut show = |texts: &[&str]| {
        each(texts).map_err(|error| {
            refused = Some(error);
            given_up()
        })
    };
    let read = source
        .each(&sql, &values, |row| {
            if row.optional_integer(0)?.is_some() {
                let stood = Committed::read(row, 0)?;
                stands = Some(stood);
                return if stood == planned { Ok(()) } else { Err(given_up()) };
            }
            let name = row.text(3)?;
            let is_next = wanted.get(next).is_some_and(|wanted| wanted.name == name);
            let number = if is_next { Some(next) } else { wanted.iter().position(|wanted| wanted.name == name) };
            let Some(number) = number else {
                is_misplaced = true;
                return Ok(());
            };
            found += 1;
            let texts = (4..4 + list.shown.columns.len()).map(|at| Ok(row.optional_text(at)?.unwrap_or_default()));
            let texts = wanted[number].held.iter().map(|held| Ok(held.as_str())).chain(texts);
            let texts = texts.collect::<Result<Vec<&str>, DbError>>()?;
            if number != next {
                if waiting + length(&texts) <= WAITING {
                    waiting += length(&texts);
                    early.insert(number, texts.into_iter().map(str::to_owned).collect());
                }
                return Ok(());
            }
            show(&texts)?;
            (next, bytes) = (next + 1, bytes + length(&texts));
            while let Some(texts) = early.remove(&next) {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                show(&texts)?;
                (next, bytes) = (next + 1, bytes + length(&texts));
            }
            is_paused = bytes >= STEP && next < wanted.len() && stands.is_some();
            if is_paused { Err(given_up()) } else { Ok(()) }
        })
        .await;
    match (refused, read) {
        (Some(refused), _) => Err(refused),
        (None, Err(_)) if is_paused => Ok(stands.map(|stands| (stands, next, bytes))),
        // SQLite tells where the account stands before any document, so that what is planned anew costs little.
        (None, Err(_)) if stands.is_some_and(|stands| stands != planned) => Ok(stands.map(|stands| (stands, 0, 0))),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(())) => {
            Ok(stands.filter(|_| !is_misplaced && found == wanted.len()).map(|stands| (stands, next, bytes)))
        }
    }
}

/// Ends a statement of which no more is wanted.
fn given_up() -> DbError {
    DbError::Failed("a page was given up".to_owned())
}

fn page_sql((list, table): (&List, &Table), engine: Engine, size: usize) -> String {
    let mut places = String::with_capacity(size * 12);
    for number in 0..size {
        let comma = if number > 0 { ", " } else { "" };
        let _ = write!(places, "{comma}(${})", number + 2);
    }
    let nothing = ", CAST(NULL AS TEXT)".repeat(list.shown.columns.len());
    let found = match engine {
        Engine::Sqlite => "r.rowid = page.column1".to_owned(),
        Engine::Postgres => format!("r.{} = CAST(page.column1 AS ordered_text)", table.name),
    };
    format!(
        "SELECT version, sequence, hash, CAST(NULL AS TEXT){nothing} FROM accounts WHERE id = $1 \
         UNION ALL SELECT CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BYTEA), r.{}, {} \
         FROM (VALUES {places}) AS page CROSS JOIN {} r{} WHERE r.account = $1 AND {found}",
        table.name,
        list.shown.columns.join(", "),
        table.sql,
        list.shown.joins
    )
}

/// The answers of contributors to a field, as lists sort by them.
pub(super) async fn answers(tx: &mut Tx, account: AccountId, field: Slug) -> Result<Vec<(String, String)>, DbError> {
    let sql = "SELECT slug, sort_key FROM contributor_answers WHERE account = $1 AND field = $2";
    tx.all(sql, &[account.into(), field.into()], |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))).await
}
