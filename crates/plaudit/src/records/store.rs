//! Where each kind of record has its rows: the one table through which imports, exports and checks read records of any kind.

use std::collections::HashMap;

use serde::Deserialize;

use crate::lists::Table;
use crate::log;
use crate::log::forms::{FORMS, Forms};
use crate::program::{Record, any_kind, setup_kinds};
use crate::records::assignments::Assignment;
use crate::records::casting_votes::CastingVote;
use crate::records::conflicts::Conflict;
use crate::records::documents::Document;
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::lots::Lot;
use crate::records::publications::Publication;
use crate::records::recusals::Recusal;
use crate::records::review_tasks::ReviewTask;
use crate::records::{entries, files, orders, people, users};
use db::{AccountId, DbError, Row, Tx, Value};
use kernel::document;
use kernel::kind::Kind;

pub use crate::records::check::{difference, each_wrong};

/// A record as its row holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredRow {
    /// The sequence number of its last change.
    pub revision: i64,
    /// Whether it is in the trash.
    pub deleted: bool,
    /// Its document.
    pub doc: String,
    /// Its second document, which only single reads show; empty for kinds that have none.
    pub detail: String,
    /// The hash of the password of the person that a user is; empty for none. It belongs to no document.
    pub password: String,
    /// The form of its documents.
    pub form: i64,
}

impl StoredRow {
    /// The row as what a program is made of.
    pub(crate) fn as_record(&self) -> Record<&str> {
        Record { value: &self.doc, revision: self.revision, deleted: self.deleted }
    }

    /// The whole document, which is the one in the change log.
    pub fn document(&self) -> String {
        document::whole(&self.doc, &self.detail)
    }

    /// Reads what [`Rows::select`] asks for: the slug or token, and the row.
    pub(super) fn read(row: &Row<'_>) -> Result<(String, Self), DbError> {
        let stored = Self {
            revision: row.integer(1)?,
            deleted: row.flag(2)?,
            doc: row.text(3)?.to_owned(),
            detail: row.text(4)?.to_owned(),
            password: row.text(5)?.to_owned(),
            form: row.integer(6)?,
        };
        Ok((row.text(0)?.to_owned(), stored))
    }

    /// The row with its documents in a later form.
    pub(super) fn rewritten(self, forms: &Forms, kind: Kind, form: i64) -> Result<Self, DbError> {
        if self.form >= forms.last(kind, form) {
            return Ok(self);
        }
        let rewritten = |text: &str| Ok::<_, DbError>(forms.rewritten(kind, text, (self.form, form))?.into_owned());
        let doc = rewritten(&self.doc)?;
        let detail = if self.detail.is_empty() { String::new() } else { rewritten(&self.detail)? };
        Ok(Self { doc, detail, form, ..self })
    }
}

/// What of a record is kept once more, so that it can be found by that. It follows from the document alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// The values of [`Rows::columns`].
    pub columns: Vec<Value<'static>>,
    /// For each of [`Rows::sets`] the rows, without the account and the record.
    pub sets: Vec<Vec<Vec<Value<'static>>>>,
}

/// A table that holds any number of values of a record.
#[derive(Clone, Copy, Debug)]
pub struct SetTable {
    /// Its name.
    pub table: &'static str,
    /// The column of the record's slug.
    pub key: &'static str,
    /// The columns after the account and the record.
    pub columns: &'static [&'static str],
    /// How many of these tell the rows of a record apart.
    pub identifying: usize,
}

/// Writes the rows of a record in a table of values; those that it had are replaced, unless it is new.
pub(super) async fn write_set(
    tx: &mut Tx,
    account: AccountId,
    set: &SetTable,
    (record, is_new): (&str, bool),
    rows: Vec<Vec<Value<'static>>>,
) -> Result<(), DbError> {
    let SetTable { table, key, columns, .. } = set;
    if !is_new {
        let sql = format!("DELETE FROM {table} WHERE account = $1 AND {key} = $2");
        tx.enqueue(sql, vec![account.into(), record.to_owned().into()]).await?;
    }
    let places: Vec<_> = (3..3 + columns.len()).map(|place| format!("${place}")).collect();
    let sql =
        format!("INSERT INTO {table} (account, {key}, {}) VALUES ($1, $2, {})", columns.join(", "), places.join(", "));
    for row in rows {
        let values = [account.into(), record.to_owned().into()].into_iter().chain(row).collect();
        tx.enqueue(sql.clone(), values).await?;
    }
    Ok(())
}

/// What `list_revision` is, by which views are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRevision {
    /// The kind has no list of its own.
    None,
    /// The revision of the record.
    Revision,
    /// The number of a later change where another record has changed what lists know of it.
    Raised,
}

/// Where the records of a kind have their rows, and what these hold.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub(super) table: &'static str,
    /// The column of the slug or token, which is the member of program files too.
    pub key: &'static str,
    /// What tells whether a record is in the trash.
    pub(super) deleted: &'static str,
    pub(super) list_revision: ListRevision,
    /// What tells the second document.
    pub(super) detail: &'static str,
    /// What tells the hash of a password.
    pub(super) password: &'static str,
    /// The columns that follow from the document, `deleted` left out.
    pub(super) columns: fn() -> Vec<&'static str>,
    /// The tables of values that follow from the document.
    pub(super) sets: &'static [SetTable],
    /// What follows from a document: written with it, and compared with it.
    pub(super) derived: fn(&str) -> Result<Derived, DbError>,
    /// Makes the program-file form, without the kind.
    pub exported: fn(&StoredRow) -> Result<String, DbError>,
}

impl Rows {
    /// Those of a table whose documents are the program-file form.
    pub const fn of(table: &'static str, key: &'static str) -> Self {
        Self {
            table,
            key,
            deleted: "deleted",
            list_revision: ListRevision::None,
            detail: "''",
            password: "''",
            columns: Vec::new,
            sets: &[],
            derived: |_| Ok(Derived::default()),
            exported: |row| Ok(row.doc.clone()),
        }
    }

    /// The row of a record at the revision that its change has in the log: columns with their values, those of the key
    /// first.
    pub(super) fn row(
        &self,
        account: AccountId,
        (record, revision): (&str, i64),
        derived: (bool, Vec<Value<'static>>),
        (doc, detail): (String, Option<String>),
    ) -> Vec<(&'static str, Value<'static>)> {
        let (deleted, columns) = derived;
        let mut row = vec![("account", account.into()), (self.key, record.to_owned().into())];
        row.extend((self.columns)().into_iter().zip(columns));
        if self.deleted != NO {
            row.push(("deleted", deleted.into()));
        }
        if self.list_revision != ListRevision::None {
            row.push(("list_revision", revision.into()));
        }
        row.extend([("revision", revision.into()), ("doc_form", log::FORM.into()), ("doc", doc.into())]);
        row.extend(detail.map(|detail| ("detail", detail.into())));
        row
    }

    /// The statement for the rows of a kind of the account `$1`; a condition may follow it.
    pub(super) fn select(&self, kind: Kind, more: &str) -> String {
        let Self { table, key, deleted, detail, password, .. } = self;
        let of_account = Self::of_account(kind);
        format!(
            "SELECT {key}, revision, {deleted}, doc, {detail}, {password}, doc_form{more} FROM {table} WHERE {of_account}"
        )
    }

    /// The condition for the rows of a kind of the account `$1`.
    pub(super) fn of_account(kind: Kind) -> String {
        if kind.is_setup() { format!("account = $1 AND kind = '{kind}'") } else { "account = $1".to_owned() }
    }
}

/// Whether a document says that its record is in the trash: among what is hidden, or in the program-file form at its end.
pub(super) fn is_in_trash(doc: &str) -> bool {
    #[derive(Deserialize)]
    struct Hidden {
        #[serde(default)]
        deleted: bool,
    }
    match document::hidden(doc) {
        Some(hidden) => serde_json::from_str::<Hidden>(hidden).is_ok_and(|hidden| hidden.deleted),
        None => doc.ends_with(",\"deleted\":true}"),
    }
}

/// The columns of a table of lists that stand in the row of a record, `deleted` left out.
pub(super) fn listed(table: &Table) -> Vec<&'static str> {
    let is_here = |column: &&str| *column != "deleted" && table.sets.iter().all(|set| set.column != *column);
    table.columns.iter().map(|column| column.name).filter(is_here).collect()
}

/// How many rows are held at once: an entry that shows all that belongs to it can have some megabytes.
pub(super) const PAGE: usize = 32;

/// What no record of a kind is or has.
pub(super) const NO: &str = "CAST(0 AS BIGINT)";

/// Where a kind has its rows; nothing where its records have none of their own.
pub fn rows(kind: Kind) -> Option<Rows> {
    Some(match kind {
        Kind::ApiKey => Rows { deleted: NO, ..Rows::of("api_keys", "slug") },
        setup_kinds!([any_kind]()) => Rows::of("setup_records", "slug"),
        Kind::User => users::store::ROWS,
        Kind::File => files::store::ROWS,
        Kind::Entry => entries::store::ROWS,
        Kind::Contributor => people::rows::<Contributor>(),
        Kind::Attachment => people::rows::<Attachment>(),
        Kind::Order => orders::store::ROWS,
        Kind::Assignment => people::rows::<Assignment>(),
        Kind::Conflict => people::rows::<Conflict>(),
        Kind::Recusal => people::rows::<Recusal>(),
        Kind::ReviewTask => people::rows::<ReviewTask>(),
        Kind::CastingVote => people::rows::<CastingVote>(),
        Kind::Lot => people::rows::<Lot>(),
        Kind::Publication => people::rows::<Publication>(),
        Kind::Document => people::rows::<Document>(),
        // The account's row is its head as well, and the lines and payments of an order, and the scores of a sheet, stand in its row.
        Kind::Account | Kind::OrderItem | Kind::Payment | Kind::Score => return None,
    })
}

/// The member that identifies a record of this kind in program files.
pub fn key(kind: Kind) -> &'static str {
    rows(kind).map_or("slug", |rows| rows.key)
}

/// Rows of a kind that fulfil a condition, with documents in the form that is written.
async fn select(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    condition: impl FnOnce(&str) -> String,
    values: &[Value<'_>],
) -> Result<Vec<(String, StoredRow)>, DbError> {
    let Some(rows) = rows(kind) else { return Ok(Vec::new()) };
    let sql = format!("{} {}", rows.select(kind, ""), condition(rows.key));
    tx.all(&sql, &[&[account.into()], values].concat(), |row| {
        let (name, stored) = StoredRow::read(row)?;
        Ok((name, stored.rewritten(&FORMS, kind, FORMS.written)?))
    })
    .await
}

/// The rows of a kind after this slug or token, in order and some at a time; nothing at the end. The last one becomes the
/// one after which it goes on.
pub async fn next(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    last: &mut String,
) -> Result<Option<Vec<(String, StoredRow)>>, DbError> {
    let condition = |key: &str| format!("AND {key} > $2 ORDER BY {key} LIMIT {PAGE}");
    let found = select(tx, account, kind, condition, &[last.as_str().into()]).await?;
    let Some((end, _)) = found.last() else { return Ok(None) };
    last.clone_from(end);
    Ok(Some(found))
}

/// The rows of a kind with these slugs or tokens.
pub async fn named(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    names: &[String],
) -> Result<HashMap<String, StoredRow>, DbError> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let (list, values) = filled(names, 2, Vec::new());
    let found = select(tx, account, kind, |key| format!("AND {key} IN ({list})"), &values).await?;
    Ok(found.into_iter().collect())
}

/// Whether the account has a record of this kind and slug or token, even in the trash.
pub async fn exists(tx: &mut Tx, account: AccountId, kind: Kind, name: &str) -> Result<bool, DbError> {
    let Some(rows) = rows(kind) else { return Ok(false) };
    let sql = format!("SELECT 1 FROM {} WHERE {} AND {} = $2", rows.table, Rows::of_account(kind), rows.key);
    Ok(tx.first(&sql, &[account.into(), name.into()], |_| Ok(())).await?.is_some())
}

/// Whether the account has any record of this kind.
pub async fn has_any(tx: &mut Tx, account: AccountId, kind: Kind) -> Result<bool, DbError> {
    let Some(rows) = rows(kind) else { return Ok(false) };
    let sql = format!("SELECT 1 FROM {} WHERE {} LIMIT 1", rows.table, Rows::of_account(kind));
    Ok(tx.first(&sql, &[account.into()], |_| Ok(())).await?.is_some())
}

/// The places and values of a list, filled up to a power of two, so that there are few different statements to prepare.
pub fn filled<'v, T>(items: &'v [T], first: usize, mut values: Vec<Value<'v>>) -> (String, Vec<Value<'v>>)
where
    Value<'v>: From<&'v T>,
{
    let places = items.len().next_power_of_two();
    values.extend(items.iter().chain(items.first().into_iter().cycle()).take(places).map(Value::from));
    let list: Vec<String> = (first..first + places).map(|place| format!("${place}")).collect();
    (list.join(", "), values)
}
