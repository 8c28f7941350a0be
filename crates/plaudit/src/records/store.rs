//! Where each kind of record has its rows: the one table through which imports, exports and checks read records of any kind.

use std::collections::HashMap;

use crate::program::{Record, any_kind, setup_kinds};
use crate::records::entries::{self, attachments, contributors};
use crate::records::{files, orders, users};
use db::{AccountId, DbError, Row, Tx, Value};
use kernel::document;
use kernel::kind::Kind;

/// A record as its row holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredRow {
    /// The sequence number of its last change.
    pub revision: i64,
    /// Whether it is in the trash.
    pub deleted: bool,
    /// Whether an entry is archived, or an order is a test.
    pub flag: bool,
    /// Its document.
    pub doc: String,
    /// What it has beside the document, as [`Rows::beside`] says.
    pub extra_columns: String,
}

impl StoredRow {
    /// The row as what a program is made of.
    pub(crate) fn as_record(&self) -> Record<&str> {
        Record { value: &self.doc, revision: self.revision, deleted: self.deleted }
    }

    /// A program-file form with the word that the record is in the trash.
    pub(super) fn in_file(&self, form: String) -> String {
        if self.deleted { document::extended(&form, |object| object.flag("deleted", true)) } else { form }
    }

    /// Reads what [`Rows::select`] asks for: the slug or token, and the row.
    pub(crate) fn read(row: &Row<'_>) -> Result<(String, Self), DbError> {
        let (doc, extra_columns) = (row.text(4)?.to_owned(), row.text(5)?.to_owned());
        let stored = Self { revision: row.integer(1)?, deleted: row.flag(2)?, flag: row.flag(3)?, doc, extra_columns };
        Ok((row.text(0)?.to_owned(), stored))
    }
}

/// Where the records of a kind have their rows, and what these tell.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub(super) table: &'static str,
    /// The column of the slug or token, which is the member of program files too.
    pub key: &'static str,
    /// What tells whether a record is in the trash.
    pub(super) deleted: &'static str,
    /// What tells whether a record has the flag of its kind.
    pub(super) flag: &'static str,
    /// What tells the rest of a record that is not in its document.
    pub(super) extra_columns: &'static str,
    /// Makes the document of the change log.
    pub logged: fn(&StoredRow) -> String,
    /// Makes the program-file form, without the kind.
    pub exported: fn(&StoredRow) -> Result<String, DbError>,
    /// Whether documents show other records, so that a record in the trash is changed with these.
    pub shows_others: bool,
}

impl Rows {
    /// Those of a table whose documents are the program-file form.
    #[must_use]
    pub const fn of(table: &'static str, key: &'static str) -> Self {
        Self {
            table,
            key,
            deleted: "deleted",
            flag: NO,
            extra_columns: "''",
            logged: |row| row.doc.clone(),
            exported: |row| Ok(row.in_file(row.doc.clone())),
            shows_others: false,
        }
    }

    /// The statement for the rows of a kind of the account `$1`; a condition may follow it.
    pub(crate) fn select(&self, kind: Kind) -> String {
        let Self { table, key, deleted, flag, extra_columns, .. } = self;
        let of_account = Self::of_account(kind);
        format!(
            "SELECT {key} AS name, revision, {deleted} AS deleted, {flag} AS flag, doc, {extra_columns} AS beside FROM {table} \
             WHERE {of_account}"
        )
    }

    /// The condition for the rows of a kind of the account `$1`.
    fn of_account(kind: Kind) -> String {
        if kind.is_setup() { format!("account = $1 AND kind = '{kind}'") } else { "account = $1".to_owned() }
    }
}

/// How many rows are held at once: an entry that shows all that belongs to it can have some megabytes.
const PAGE: usize = 32;

/// What no record of a kind is or has.
pub(super) const NO: &str = "CAST(0 AS BIGINT)";

/// Where a kind has its rows; nothing where its records have none of their own.
#[must_use]
pub fn rows(kind: Kind) -> Option<Rows> {
    Some(match kind {
        Kind::ApiKey => Rows { deleted: NO, ..Rows::of("api_keys", "slug") },
        setup_kinds!([any_kind]()) => Rows::of("setup_records", "slug"),
        Kind::User => users::store::ROWS,
        Kind::File => files::store::ROWS,
        Kind::Entry => entries::store::ROWS,
        Kind::Contributor => contributors::store::ROWS,
        Kind::Attachment => attachments::store::ROWS,
        Kind::Order => orders::store::ROWS,
        // The account's row is its head as well, and the lines of an order stand in the order's.
        Kind::Account | Kind::OrderItem => return None,
    })
}

/// The member that identifies a record of this kind in program files.
#[must_use]
pub fn key(kind: Kind) -> &'static str {
    rows(kind).map_or("slug", |rows| rows.key)
}

/// Rows of a kind that fulfil a condition.
async fn select(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    condition: impl FnOnce(&str) -> String,
    values: &[Value<'_>],
) -> Result<Vec<(String, StoredRow)>, DbError> {
    let Some(rows) = rows(kind) else { return Ok(Vec::new()) };
    let sql = format!("{} {}", rows.select(kind), condition(rows.key));
    tx.all(&sql, &[&[account.into()], values].concat(), StoredRow::read).await
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
pub(super) fn filled<'v, T>(items: &'v [T], first: usize, mut values: Vec<Value<'v>>) -> (String, Vec<Value<'v>>)
where
    Value<'v>: From<&'v T>,
{
    let places = items.len().next_power_of_two();
    values.extend(items.iter().chain(items.first().into_iter().cycle()).take(places).map(Value::from));
    let list: Vec<String> = (first..first + places).map(|place| format!("${place}")).collect();
    (list.join(", "), values)
}
