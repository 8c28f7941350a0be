//! Reads pages of attachments and contributors.
//!
//! A page is one statement, so that the program's version, the total and the records belong to one state. The records are
//! found in one index, which holds their segments beside what it sorts by; their rows, and those of their entries and
//! files, are looked up for what is shown alone, unless a filter asks the entry for more than its segment tells. A list that is sorted by the answers to a field is made of two ranges:
//! the contributors without an answer, and the answers. A page that may have to pass over many is read away from the
//! threads that answer requests.

use std::fmt::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::belongings::selection::{Key, Listed, Order, Place, Selection};
use crate::belongings::{Belonging, Shown};
use crate::db::{AccountId, Db, DbError, Row, Value};

/// A page that is asked for.
pub(in crate::belongings) struct Page<'q> {
    /// The list.
    pub listed: &'q Listed,
    /// Where a walk by cursor goes on.
    pub after: Option<&'q Place>,
    /// How many records to pass over.
    pub offset: u64,
    /// How many records to read.
    pub limit: u64,
    /// Whether the total is wanted.
    pub counted: bool,
}

/// From how many records to pass over a page is read away from the threads that answer requests.
const PASSED_OVER: u64 = 1_000;

/// A row of a page.
pub(in crate::belongings) struct Found {
    /// The version of the program.
    pub version: i64,
    /// How many records are selected; 0 where that is not wanted.
    pub total: i64,
    /// The record: where it stands, and what is shown of it. A page without records has one row without one.
    pub record: Option<(Place, Shown)>,
}

/// Reads a page in one statement. There is always a row, unless the account is gone.
pub(in crate::belongings) async fn page(db: &Db, account: AccountId, page: &Page<'_>) -> Result<Vec<Found>, DbError> {
    let mut statement = Statement { sql: String::with_capacity(2_000), values: vec![account.into()] };
    statement.write(page);
    let is_text = page.listed.is_text();
    let rows = Arc::new(Mutex::new(Vec::new()));
    let filled = Arc::clone(&rows);
    let row = move |row: &Row<'_>| {
        filled.lock().push(found(row, is_text)?);
        Ok(())
    };
    let is_long = page.offset > PASSED_OVER || page.listed.selection.is_narrow();
    if is_long || matches!(page.listed.order, Order::Answer(_)) {
        drop(db.each_aside(&statement.sql, &statement.values, row).await?);
    } else {
        db.each(&statement.sql, &statement.values, row).await?;
    }
    let rows = std::mem::take(&mut *rows.lock());
    Ok(rows)
}

fn found(row: &Row<'_>, is_text: bool) -> Result<Found, DbError> {
    let record = match row.optional_text(3)? {
        None => None,
        Some(name) => {
            let key = if is_text { Key::Text(row.text(2)?.to_owned()) } else { Key::Integer(row.integer(2)?) };
            Some((Place { key, name: name.to_owned() }, shown(row, 4)?))
        }
    };
    Ok(Found { version: row.integer(0)?, total: row.integer(1)?, record })
}

/// The version of the account's program, and a record that is listed, with its revision.
pub async fn find(
    db: &Db,
    account: AccountId,
    of: Belonging,
    name: &str,
) -> Result<Option<(i64, Option<(i64, Shown)>)>, DbError> {
    let sql = match of {
        Belonging::Attachment => {
            "SELECT a.version, r.revision, r.doc, e.title, e.season, f.doc FROM accounts a \
             LEFT JOIN attachments r ON r.account = a.id AND r.token = $2 AND r.segment <> 0 \
             LEFT JOIN entries e ON e.account = a.id AND e.slug = r.entry \
             LEFT JOIN files f ON f.account = a.id AND f.token = r.token WHERE a.id = $1"
        }
        Belonging::Contributor => {
            "SELECT a.version, r.revision, r.doc, e.title, e.season, NULL FROM accounts a \
             LEFT JOIN contributors r ON r.account = a.id AND r.slug = $2 AND r.segment <> 0 \
             LEFT JOIN entries e ON e.account = a.id AND e.slug = r.entry WHERE a.id = $1"
        }
    };
    db.look_up(sql, &[account.into(), name.into()], |row| {
        let record = match row.optional_integer(1)? {
            None => None,
            Some(revision) => Some((revision, shown(row, 2)?)),
        };
        Ok((row.integer(0)?, record))
    })
    .await
}

/// Reads the columns `doc, title, season, file` from `first` on.
fn shown(row: &Row<'_>, first: usize) -> Result<Shown, DbError> {
    Ok(Shown {
        doc: row.text(first)?.to_owned(),
        title: row.text(first + 1)?.to_owned(),
        season: super::slug(row, first + 2)?,
        file: row.optional_text(first + 3)?.map(str::to_owned),
    })
}

struct Statement {
    sql: String,
    values: Vec<Value<'static>>,
}

impl Statement {
    fn value(&mut self, value: impl Into<Value<'static>>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    fn write(&mut self, page: &Page<'_>) {
        let Listed { of, selection, is_reversed, .. } = page.listed;
        let segments = self.segments(*of, selection);
        let owned = self.owned(*of, selection);
        let (table, name) = names(*of);
        let total = match (page.counted, owned.is_empty()) {
            (false, _) => "CAST(0 AS BIGINT)".to_owned(),
            (true, true) => {
                format!("(SELECT CAST(coalesce(sum(total), 0) AS BIGINT) FROM belonging_segments WHERE {segments})")
            }
            (true, false) => format!(
                "(SELECT count(*) FROM {table} WHERE account = $1 \
                 AND segment IN (SELECT segment FROM belonging_segments WHERE {segments}){owned})"
            ),
        };
        let found = self.found(page, &segments, &owned);
        let direction = if *is_reversed { " DESC" } else { "" };
        let (file, join) = match of {
            Belonging::Attachment => ("f.doc", " LEFT JOIN files f ON f.account = $1 AND f.token = page.name"),
            Belonging::Contributor => ("NULL", ""),
        };
        let _ = write!(
            self.sql,
            "SELECT state.version, state.total, page.sort_key, page.name, r.doc, e.title, e.season, {file} \
             FROM (SELECT version, {total} AS total FROM accounts WHERE id = $1) AS state \
             LEFT JOIN ({found}) AS page ON 1 = 1 \
             LEFT JOIN {table} r ON r.account = $1 AND r.{name} = page.name \
             LEFT JOIN entries e ON e.account = $1 AND e.slug = r.entry{join} \
             ORDER BY page.sort_key{direction}, page.name{direction}"
        );
    }

    /// The statement of the places of a page, in their order.
    fn found(&mut self, page: &Page<'_>, segments: &str, owned: &str) -> String {
        let Listed { of, order, is_reversed, .. } = page.listed;
        let direction = if *is_reversed { " DESC" } else { "" };
        let comparison = if *is_reversed { "<" } else { ">" };
        let limit = self.value(i64::try_from(page.limit).unwrap_or(i64::MAX));
        let offset = self.value(i64::try_from(page.offset).unwrap_or(i64::MAX));
        let (table, name) = names(*of);
        let listed = format!(
            "EXISTS (SELECT 1 FROM belonging_segments WHERE {segments}) \
             AND segment IN (SELECT segment FROM belonging_segments WHERE {segments}){owned}"
        );
        let field = match order {
            Order::Column(column, _) => {
                let after = page.after.map_or_else(String::new, |place| {
                    let key = match &place.key {
                        Key::Integer(integer) => self.value(*integer),
                        Key::Text(text) => self.value(text.clone()),
                    };
                    let last = self.value(place.name.clone());
                    format!(" AND ({column}, {name}) {comparison} (${key}, ${last})")
                });
                return format!(
                    "SELECT {column} AS sort_key, {name} AS name FROM {table} WHERE account = $1 AND {listed}{after} \
                     ORDER BY {column}{direction}, {name}{direction} LIMIT ${limit} OFFSET ${offset}"
                );
            }
            Order::Answer(field) => self.value(*field),
        };
        let (without, with) = self.ranges(page.after, *is_reversed);
        let both = self.value(i64::try_from(page.limit.saturating_add(page.offset)).unwrap_or(i64::MAX));
        format!(
            "SELECT sort_key, name FROM (SELECT * FROM (SELECT CAST('' AS ordered_text) AS sort_key, c.slug AS name \
             FROM contributors c WHERE c.account = $1 AND {listed} AND NOT EXISTS (SELECT 1 FROM contributor_answers k \
             WHERE k.account = $1 AND k.slug = c.slug AND k.field = ${field}){without} \
             ORDER BY c.slug{direction} LIMIT ${both}) AS without UNION ALL \
             SELECT * FROM (SELECT k.sort_key AS sort_key, k.slug AS name FROM contributor_answers k \
             WHERE k.account = $1 AND k.field = ${field} AND EXISTS (SELECT 1 FROM contributors c \
             WHERE c.account = $1 AND c.slug = k.slug AND {listed}){with} \
             ORDER BY k.sort_key{direction}, k.slug{direction} LIMIT ${both}) AS answered) AS found \
             ORDER BY sort_key{direction}, name{direction} LIMIT ${limit} OFFSET ${offset}"
        )
    }

    /// What bounds the range without an answer and the one with answers, behind a place of either.
    fn ranges(&mut self, after: Option<&Place>, is_reversed: bool) -> (String, String) {
        let Some(Place { key: Key::Text(key), name }) = after else { return (String::new(), String::new()) };
        let comparison = if is_reversed { "<" } else { ">" };
        let nothing = || " AND 1 = 0".to_owned();
        let last = self.value(name.clone());
        if key.is_empty() {
            let without = format!(" AND c.slug {comparison} ${last}");
            return (without, if is_reversed { nothing() } else { String::new() });
        }
        let key = self.value(key.clone());
        let with = format!(" AND (k.sort_key, k.slug) {comparison} (${key}, ${last})");
        (if is_reversed { String::new() } else { nothing() }, with)
    }

    /// The conditions that choose segments.
    fn segments(&mut self, of: Belonging, selection: &Selection) -> String {
        let kind = self.value(of.kind().name());
        // A segment that nothing is in chooses nothing, and lets a list that is empty end before its index is read.
        let mut sql = format!("account = $1 AND kind = ${kind} AND total > 0");
        if selection.is_empty {
            sql.push_str(" AND 1 = 0");
        }
        sql.push_str(&self.equal("", &selection.columns));
        if !selection.of_entry.is_empty() {
            let chosen = self.equal("", &selection.of_entry);
            let _ = write!(sql, " AND EXISTS (SELECT 1 FROM entry_counts WHERE account = $1 AND total > 0{chosen})");
        }
        sql
    }

    /// The conditions that columns have these values, each with `AND` before it; `table` is what stands before a name.
    fn equal(&mut self, table: &str, columns: &[(&'static str, String)]) -> String {
        let mut sql = String::new();
        for (column, value) in columns {
            let place = self.value(value.clone());
            let _ = write!(sql, " AND {table}{column} = ${place}");
        }
        sql
    }

    /// The conditions on the entry itself, each with `AND` before it.
    fn owned(&mut self, of: Belonging, selection: &Selection) -> String {
        let mut sql = String::new();
        if let Some(entry) = selection.entry {
            let place = self.value(entry);
            let _ = write!(sql, " AND entry = ${place}");
        }
        if !selection.of_entry.is_empty() {
            let asked = self.equal("o.", &selection.of_entry);
            let _ = write!(sql, " AND EXISTS (SELECT 1 FROM entries o WHERE o.account = $1 AND o.slug = entry{asked})");
        }
        if let Some(tag) = &selection.tag {
            let (table, name) = names(of);
            let place = self.value(tag.clone());
            let _ = write!(
                sql,
                " AND {name} IN (SELECT o.{name} FROM entry_tags t JOIN {table} o ON o.account = $1 \
                 AND o.entry = t.slug WHERE t.account = $1 AND t.tag = ${place})"
            );
        }
        sql
    }
}

/// The table, and the column of the slug or token.
fn names(of: Belonging) -> (&'static str, &'static str) {
    match of {
        Belonging::Attachment => ("attachments", "token"),
        Belonging::Contributor => ("contributors", "slug"),
    }
}
