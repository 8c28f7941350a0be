//! The statements of the check, and what they compare.
//!
//! The rows of a kind, the last changes of the same records in the log, and what tables of values have of them are read side
//! by side, a page of slugs at a time. So memory does not grow with the account, and what one of them lacks is found as well.

use std::collections::{BTreeMap, BTreeSet};

use crate::log;
use crate::log::forms::Forms;
use crate::records::store::{Derived, ListRevision, NO, PAGE, Rows, SetTable, StoredRow, is_in_trash, rows};
use db::{AccountId, DbError, Tx, Value};
use kernel::kind::Kind;
use kernel::text::excerpt;

/// A row with what it has beside its documents.
struct Found {
    stored: StoredRow,
    list_revision: i64,
    /// Whether it is in the trash, and the columns that follow from the document.
    columns: Vec<Value<'static>>,
}

/// The records of a part of the slugs or tokens of a kind.
struct Page {
    after: String,
    /// The last one; none at the end.
    last: Option<String>,
    found: BTreeMap<String, Found>,
    /// Those that wait to be rewritten to a later form.
    waiting: BTreeSet<String>,
}

impl Page {
    /// The condition that a column is in the range of the page, and the values of a statement with it at its end.
    fn within<'v>(&'v self, column: &str, mut values: Vec<Value<'v>>) -> (String, Vec<Value<'v>>) {
        let place = values.len() + 1;
        let end = self.last.as_ref().map_or_else(String::new, |_| format!(" AND {column} <= ${}", place + 1));
        values.extend([&self.after].into_iter().chain(&self.last).map(Value::from));
        (format!("{column} > ${place}{end}"), values)
    }
}

/// Hands over each difference of the records of a kind: the table, the record and the column, and what is there. Gives how
/// many records there are; `sequence` is the number of the account's last change. Of records that wait to be rewritten to a
/// later form the documents alone are compared.
pub async fn each_wrong(
    tx: &mut Tx,
    account: AccountId,
    (kind, sequence): (Kind, i64),
    forms: &Forms,
    mut each: impl FnMut(String) + Send,
) -> Result<u64, DbError> {
    let Some(rows) = rows(kind) else { return Ok(0) };
    let columns = (rows.columns)();
    // What follows from a document is written again with it.
    let form = forms.last(kind, forms.written);
    let mut page = Page { after: String::new(), last: None, found: BTreeMap::new(), waiting: BTreeSet::new() };
    let mut count = 0;
    loop {
        page.waiting.clear();
        page.found = found_after(tx, account, (kind, &rows, &columns), &page.after).await?;
        count += page.found.len() as u64;
        let is_full = page.found.len() == PAGE;
        page.last = page.found.last_key_value().map(|(name, _)| name.clone()).filter(|_| is_full);
        logged(tx, account, (kind, &rows, forms), &page, &mut each).await?;
        let mut sets = vec![Vec::new(); rows.sets.len()];
        for (name, found) in &page.found {
            if found.stored.form < form {
                page.waiting.insert(name.clone());
                continue;
            }
            let mut wrong = |column: &str, what: String| each(difference(rows.table, name, column, &what));
            match (rows.derived)(&found.stored.doc) {
                Ok(derived) => {
                    compare(&rows, &columns, (found, sequence), &derived, &mut wrong);
                    for (set, values) in sets.iter_mut().zip(derived.sets) {
                        set.extend(values.into_iter().map(|row| (name.clone(), row)));
                    }
                }
                Err(error) => wrong("doc", error.to_string()),
            }
        }
        for (set, expected) in rows.sets.iter().zip(sets) {
            compare_set(tx, account, (set, &page), expected, &mut each).await?;
        }
        match page.last.take() {
            Some(last) => page.after = last,
            None => return Ok(count),
        }
    }
}

/// A difference, as it is told.
pub fn difference(table: &str, record: &str, column: &str, what: &str) -> String {
    format!("{table} {}: {column}: {what}", excerpt(record))
}

async fn found_after(
    tx: &mut Tx,
    account: AccountId,
    (kind, rows, columns): (Kind, &Rows, &[&str]),
    after: &str,
) -> Result<BTreeMap<String, Found>, DbError> {
    let list_revision = if rows.list_revision == ListRevision::None { NO } else { "list_revision" };
    let more = [list_revision, rows.deleted];
    let more = format!(", {}", [&more, columns].concat().join(", "));
    let (select, key) = (rows.select(kind, &more), rows.key);
    let sql = format!("{select} AND {key} > $2 ORDER BY {key} LIMIT {PAGE}");
    tx.all(&sql, &[account.into(), after.into()], |row| {
        let (name, stored) = StoredRow::read(row)?;
        let columns = (8..=8 + columns.len()).map(|column| row.value(column)).collect::<Result<_, _>>()?;
        Ok((name, Found { stored, list_revision: row.integer(7)?, columns }))
    })
    .await
}

/// Compares the documents of a page with the last ones in the log.
async fn logged(
    tx: &mut Tx,
    account: AccountId,
    (kind, rows, forms): (Kind, &Rows, &Forms),
    page: &Page,
    each: &mut (impl FnMut(String) + Send),
) -> Result<(), DbError> {
    let table = rows.table;
    let key = if kind.is_setup() { "account, kind, slug".to_owned() } else { format!("account, {}", rows.key) };
    let (within, values) = page.within("slug", vec![account.into(), kind.name().into()]);
    // A document that was logged in an older form than a row has is rewritten as that was.
    let newest = page.found.values().map(|found| found.stored.form).max().unwrap_or_default();
    let sql = format!(
        "SELECT c.slug, c.sequence, c.doc_form, c.doc_hash, CASE WHEN c.doc_form < {newest} THEN c.doc END FROM changes c JOIN \
         (SELECT max(sequence) AS last FROM changes WHERE account = $1 AND kind = $2 AND {within} GROUP BY slug) AS l \
         ON c.account = $1 AND c.sequence = l.last"
    );
    let mut missing: BTreeSet<&str> = page.found.keys().map(String::as_str).collect();
    tx.each(&sql, &values, |row| {
        let name = row.text(0)?;
        let mut wrong = |column: &str, what: String| each(difference(table, name, column, &what));
        let Some(found) = page.found.get(name) else {
            wrong(&key, "the log tells of it, and there is no row".to_owned());
            return Ok(());
        };
        missing.remove(name);
        let (last, form) = (row.integer(1)?, row.integer(2)?);
        if found.stored.revision != last {
            wrong("revision", differs(&found.stored.revision.into(), &last.into()));
        }
        if !forms.may_have(kind, (form, found.stored.form)) {
            wrong("doc_form", differs(&found.stored.form.into(), &form.into()));
        }
        let stored = found.stored.document();
        let is_same = match row.optional_text(4)?.filter(|_| form < found.stored.form) {
            Some(logged) => {
                forms.rewritten(kind, logged, (form, found.stored.form)).is_ok_and(|logged| logged == stored)
            }
            None => log::hash_of(&stored) == row.bytes(3)?,
        };
        if !is_same {
            let columns = if rows.detail == "detail" { "doc, detail" } else { "doc" };
            wrong(columns, format!("it is not what change {last} made it"));
        }
        Ok(())
    })
    .await?;
    for name in missing {
        each(difference(table, name, &key, "the log does not tell of it"));
    }
    Ok(())
}

fn compare(
    rows: &Rows,
    columns: &[&str],
    (found, sequence): (&Found, i64),
    derived: &Derived,
    wrong: &mut impl FnMut(&str, String),
) {
    let expected = std::iter::once(is_in_trash(&found.stored.doc).into())
        .chain(derived.columns.iter().cloned())
        .map(Value::stored);
    for ((column, found), expected) in ["deleted"].iter().chain(columns).zip(&found.columns).zip(expected) {
        if *found != expected {
            wrong(column, differs(found, &expected));
        }
    }
    let revision = found.stored.revision;
    let most = match rows.list_revision {
        ListRevision::None => return,
        ListRevision::Revision => revision,
        ListRevision::Raised => sequence,
    };
    if !(revision..=most).contains(&found.list_revision) {
        wrong("list_revision", format!("it is {}, and must be from {revision} to {most}", found.list_revision));
    }
}

/// Compares what a table has of the records of a page with what follows from their documents.
async fn compare_set(
    tx: &mut Tx,
    account: AccountId,
    (set, page): (&SetTable, &Page),
    expected: Vec<(String, Vec<Value<'static>>)>,
    each: &mut (impl FnMut(String) + Send),
) -> Result<(), DbError> {
    let SetTable { table, key, columns, identifying } = *set;
    let identity = |row: &[Value<'_>]| format!("{:?}", &row[..identifying]);
    let values_of = |row: &[Value<'_>]| row[..identifying].iter().map(shown).collect::<Vec<_>>().join(", ");
    let identified_by = format!("account, {key}, {}", columns[..identifying].join(", "));
    let mut expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(record, row)| (record, row.into_iter().map(Value::stored).collect::<Vec<_>>()))
        .map(|(record, row)| ((record, identity(&row)), row))
        .collect();
    let (within, values) = page.within(key, vec![account.into()]);
    let sql = format!("SELECT {key}, {} FROM {table} WHERE account = $1 AND {within}", columns.join(", "));
    tx.each(&sql, &values, |row| {
        let record = row.text(0)?;
        if page.waiting.contains(record) {
            return Ok(());
        }
        let found = (1..=columns.len()).map(|column| row.value(column)).collect::<Result<Vec<_>, _>>()?;
        let mut wrong = |column: &str, what: String| each(difference(table, record, column, &what));
        let Some(expected) = expected.remove(&(record.to_owned(), identity(&found))) else {
            wrong(&identified_by, format!("{} does not follow from its document", values_of(&found)));
            return Ok(());
        };
        for ((column, found), expected) in columns.iter().zip(&found).zip(&expected) {
            if found != expected {
                wrong(column, differs(found, expected));
            }
        }
        Ok(())
    })
    .await?;
    for ((record, _), row) in expected {
        each(difference(table, &record, &identified_by, &format!("{} is missing", values_of(&row))));
    }
    Ok(())
}

/// What is there, and what must be.
fn differs(found: &Value<'_>, expected: &Value<'_>) -> String {
    format!("it is {}, and must be {}", shown(found), shown(expected))
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Text(text) => format!("{:?}", excerpt(text)),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}
