//! What the account has already, looked up for many records at once.

use std::collections::HashMap;

use crate::program::Record;
use db::{AccountId, DbError, Tx, Value};
use kernel::kind::Kind;
use kernel::text::Slug;

/// A table of records that people make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transfer) enum Table {
    Users,
    Files,
    Contributors,
    Attachments,
    Entries,
    Orders,
}

impl Table {
    /// The table of the records of a kind.
    pub(in crate::transfer) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::User => Some(Self::Users),
            Kind::File => Some(Self::Files),
            Kind::Contributor => Some(Self::Contributors),
            Kind::Attachment => Some(Self::Attachments),
            Kind::Entry => Some(Self::Entries),
            Kind::Order => Some(Self::Orders),
            _ => None,
        }
    }

    /// Its name, the column of the identifier, and the columns that say whether a record is in the trash, what it is,
    /// what more it is, and whether it has the flag of its kind.
    fn columns(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Users => ("users", "slug", BESIDE_USER),
            Self::Files => ("files", "token", "CAST(0 AS BIGINT), doc, '', CAST(0 AS BIGINT)"),
            Self::Contributors => ("contributors", "slug", "deleted, doc, entry, CAST(0 AS BIGINT)"),
            Self::Attachments => ("attachments", "token", "deleted, doc, entry, CAST(0 AS BIGINT)"),
            Self::Entries => ("entries", "slug", "deleted, doc, detail, archived"),
            Self::Orders => ("orders", "slug", "CAST(0 AS BIGINT), doc, note, CAST(0 AS BIGINT)"),
        }
    }
}

/// The hash of the password, and what [`crate::records::users::read_beside`] takes apart, with blanks between them.
const BESIDE_USER: &str = "deleted, doc, coalesce((SELECT p.password FROM people p WHERE p.global_id = users.person), '') \
                           || ' ' || person || ' ' || season_joined || ' ' || detail, CAST(0 AS BIGINT)";

/// A record as its row holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transfer) struct Found {
    pub(in crate::transfer) deleted: bool,
    pub(in crate::transfer) doc: String,
    /// The second document of an entry; the entry of a contributor or an attachment; what stands beside the document
    /// of a user.
    pub(in crate::transfer) more: String,
    /// Whether an entry is archived.
    pub(in crate::transfer) flag: bool,
}

/// The rows of these records, by slug or token.
pub(in crate::transfer) async fn documents(
    tx: &mut Tx,
    account: AccountId,
    table: Table,
    names: &[&str],
) -> Result<HashMap<String, Found>, DbError> {
    let mut found = HashMap::with_capacity(names.len());
    let Some(first) = names.first() else { return Ok(found) };
    // The list is filled up to a power of two, so that there are few different statements to prepare.
    let places = names.len().next_power_of_two();
    let filled = names.iter().chain(std::iter::repeat_n(first, places - names.len()));
    let values: Vec<Value<'_>> = std::iter::once(account.into()).chain(filled.map(|name| Value::from(*name))).collect();
    let list: Vec<String> = (2..places + 2).map(|place| format!("${place}")).collect();
    let (table, key, columns) = table.columns();
    let sql = format!("SELECT {key}, {columns} FROM {table} WHERE account = $1 AND {key} IN ({})", list.join(", "));
    tx.each(&sql, &values, |row| {
        let record = Found {
            deleted: row.flag(1)?,
            doc: row.text(2)?.to_owned(),
            more: row.text(3)?.to_owned(),
            flag: row.flag(4)?,
        };
        found.insert(row.text(0)?.to_owned(), record);
        Ok(())
    })
    .await?;
    Ok(found)
}

/// The slugs or tokens of a table's records after this one, in order and some at a time.
pub(in crate::transfer) async fn names_after(
    tx: &mut Tx,
    account: AccountId,
    table: Table,
    name: &str,
) -> Result<Vec<String>, DbError> {
    let (table, key, _) = table.columns();
    let sql = format!("SELECT {key} FROM {table} WHERE account = $1 AND {key} > $2 ORDER BY {key} LIMIT 256");
    let mut found = Vec::new();
    tx.each(&sql, &[account.into(), name.into()], |row| {
        found.push(row.text(0)?.to_owned());
        Ok(())
    })
    .await?;
    Ok(found)
}

/// Whether the account has any record of a table.
pub(in crate::transfer) async fn has_any(tx: &mut Tx, account: AccountId, table: Table) -> Result<bool, DbError> {
    let (table, _, _) = table.columns();
    let sql = format!("SELECT 1 FROM {table} WHERE account = $1 LIMIT 1");
    Ok(tx.first(&sql, &[account.into()], |_| Ok(())).await?.is_some())
}

/// Whether a season of the account has any entry, even in the trash.
pub(in crate::transfer) async fn has_entries(tx: &mut Tx, account: AccountId, season: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND season = $2 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), season.into()], |_| Ok(())).await?.is_some())
}

/// Whether anything that belongs to an entry may have an answer to a field: what has its slug in quotes.
pub(in crate::transfer) async fn is_answered(tx: &mut Tx, account: AccountId, field: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM entries WHERE account = $1 AND detail LIKE $2 \
               UNION ALL SELECT 1 FROM contributors WHERE account = $1 AND doc LIKE $2 \
               UNION ALL SELECT 1 FROM attachments WHERE account = $1 AND doc LIKE $2 LIMIT 1";
    let quoted = format!("%\"{field}\"%");
    Ok(tx.first(sql, &[account.into(), quoted.into()], |_| Ok(())).await?.is_some())
}

/// Whether a contributor or an attachment stands on a tab, even one in the trash.
pub(in crate::transfer) async fn is_stood_on(tx: &mut Tx, account: AccountId, tab: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM contributors WHERE account = $1 AND tab = $2 \
               UNION ALL SELECT 1 FROM attachments WHERE account = $1 AND tab = $2 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), tab.into()], |_| Ok(())).await?.is_some())
}

/// Whether the account has a record of this slug or token, even in the trash.
pub(in crate::transfer) async fn exists(
    tx: &mut Tx,
    account: AccountId,
    table: Table,
    name: &str,
) -> Result<bool, DbError> {
    let (table, key, _) = table.columns();
    let sql = format!("SELECT 1 FROM {table} WHERE account = $1 AND {key} = $2");
    Ok(tx.first(&sql, &[account.into(), name.into()], |_| Ok(())).await?.is_some())
}

/// Which member of a record is unique beside its slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transfer) enum Unique {
    LocalId,
    Invoice,
}

/// Takes a unique value away from a record that is about to be replaced, so that another one can have it.
pub(in crate::transfer) async fn withdraw(
    tx: &mut Tx,
    account: AccountId,
    unique: Unique,
    slug: Slug,
) -> Result<(), DbError> {
    let sql = match unique {
        Unique::LocalId => "UPDATE entries SET local_id = -local_id WHERE account = $1 AND slug = $2",
        // Neither a number nor any other text has a key that begins so.
        Unique::Invoice => "UPDATE orders SET invoice_number = '!' || slug WHERE account = $1 AND slug = $2",
    };
    tx.enqueue(sql, vec![account.into(), slug.into()]).await
}

/// The order that has the invoice number with this sort key, even one in the trash.
pub(in crate::transfer) async fn order_of_invoice(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
) -> Result<Option<Slug>, DbError> {
    tx.first(
        "SELECT slug FROM orders WHERE account = $1 AND invoice_number = $2",
        &[account.into(), key.into()],
        |row| row.slug(0),
    )
    .await
}

/// A row of a record of the set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transfer) struct SetupRow {
    pub(in crate::transfer) deleted: bool,
    pub(in crate::transfer) revision: i64,
    pub(in crate::transfer) doc: String,
}

impl SetupRow {
    /// The row as what a program is made of.
    pub(in crate::transfer) fn as_record(&self) -> Record<&str> {
        Record { value: &self.doc, revision: self.revision, deleted: self.deleted }
    }
}

/// The set-up of an account, by kind and slug.
pub(in crate::transfer) async fn setup_rows(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(Kind, Slug, SetupRow) + Send,
) -> Result<(), DbError> {
    tx.each(
        "SELECT kind, slug, deleted, revision, doc FROM setup_records WHERE account = $1 ORDER BY kind, slug",
        &[account.into()],
        |row| {
            if let (Some(kind), Some(slug)) = (Kind::named(row.text(0)?), Slug::parse(row.text(1)?)) {
                let found = SetupRow { deleted: row.flag(2)?, revision: row.integer(3)?, doc: row.text(4)?.to_owned() };
                each(kind, slug, found);
            }
            Ok(())
        },
    )
    .await
}

/// Whether the account's set-up has a record of this kind and slug, even in the trash.
pub(in crate::transfer) async fn has_setup(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    slug: &str,
) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM setup_records WHERE account = $1 AND kind = $2 AND slug = $3";
    Ok(tx.first(sql, &[account.into(), kind.name().into(), slug.into()], |_| Ok(())).await?.is_some())
}

/// Adds or replaces a record of the set-up, whose change is logged.
pub(in crate::transfer) async fn put_setup(
    tx: &mut Tx,
    account: AccountId,
    kind: Kind,
    slug: Slug,
    row: SetupRow,
) -> Result<(), DbError> {
    tx.enqueue(
        "INSERT INTO setup_records (account, kind, slug, deleted, revision, doc) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (account, kind, slug) DO UPDATE SET deleted = $4, revision = $5, doc = $6",
        vec![account.into(), kind.name().into(), slug.into(), row.deleted.into(), row.revision.into(), row.doc.into()],
    )
    .await
}
