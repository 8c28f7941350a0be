//! The tables of orders.

use std::collections::BTreeSet;

use crate::lists::sort_key;
use crate::log::{self, Action, Change, Origin};
use crate::records::orders::record::Order;
use crate::records::orders::rules;
use crate::records::orders::{LISTED, document};
use crate::records::store::{Derived, ListRevision, SetTable, listed, write_set};
use crate::records::{Rows, StoredRow};
use db::{AccountId, DbError, Tx, Value};
use kernel::kind::Kind;
use kernel::text::Slug;

/// Orders have tables of what their lines name.
pub const ROWS: Rows = Rows {
    list_revision: ListRevision::Revision,
    columns: || listed(&LISTED),
    sets: &[ENTRIES],
    derived: |doc| {
        let order = read(doc)?;
        Ok(Derived { columns: columns(&order), sets: vec![entries(&order)] })
    },
    exported: |row| Ok(document::exported(&of_row(row)?)),
    ..Rows::of("orders", "slug")
};

/// The entries that lines of orders name, and at which prices.
pub(crate) const ENTRIES: SetTable =
    SetTable { table: "order_entries", key: "order_slug", columns: &["entry", "price", "deleted"], identifying: 2 };

/// The order of a row.
pub fn of_row(row: &StoredRow) -> Result<Order, DbError> {
    read(&row.doc)
}

fn read(doc: &str) -> Result<Order, DbError> {
    document::read(doc).map_err(|error| DbError::Failed(format!("a stored order cannot be read: {error}")))
}

/// The row of an order at the revision that its change has in the log: columns with their values.
fn row(account: AccountId, (order, doc): (&Order, &str), revision: i64) -> Vec<(&'static str, Value<'static>)> {
    let derived = (order.deleted, columns(order));
    ROWS.row(account, (order.slug.as_str(), revision), derived, (doc.to_owned(), None))
}

/// What an order is found by, in the order of the columns of lists.
fn columns(order: &Order) -> Vec<Value<'static>> {
    vec![
        order.user.into(),
        order.season.into(),
        order.payment.payment_status.name().into(),
        order.test.into(),
        order.updated.into(),
        order.created_at.into(),
        rules::invoice_key(&order.invoice_number).into(),
        sort_key(&order.payment.payment_method).to_owned().into(),
        order.totals.total.sort_key().into(),
    ]
}

/// The rows of what the lines of an order name; no price is an empty text.
pub(crate) fn entries(order: &Order) -> Vec<Vec<Value<'static>>> {
    let price = |price: Option<Slug>| price.map_or_else(String::new, |price| price.to_string());
    let entries = order.entries().into_iter();
    entries.map(|(entry, of)| vec![entry.into(), price(of).into(), order.deleted.into()]).collect()
}

/// Adds or replaces an order at the revision that its change has in the log.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    (order, doc): (&Order, &str),
    revision: i64,
    is_new: bool,
) -> Result<(), DbError> {
    tx.put(ROWS.table, 2, row(account, (order, doc), revision)).await?;
    if !is_new {
        renew_entries(tx, account, order.slug, revision).await?;
    }
    let entries = entries(order);
    let names_any = !entries.is_empty();
    write_set(tx, account, &ENTRIES, (order.slug.as_str(), is_new), entries).await?;
    if names_any { renew_entries(tx, account, order.slug, revision).await } else { Ok(()) }
}

/// Lists of entries filter by the prices at which orders name them.
async fn renew_entries(tx: &mut Tx, account: AccountId, order: Slug, revision: i64) -> Result<(), DbError> {
    tx.enqueue(
        "UPDATE entries SET list_revision = $3 WHERE account = $1 \
         AND slug IN (SELECT entry FROM order_entries WHERE account = $1 AND order_slug = $2)",
        vec![account.into(), order.into(), revision.into()],
    )
    .await
}

/// Writes the new title of an entry into the orders whose lines name it, and logs them.
pub async fn retitle(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    entry: Slug,
    title: &str,
) -> Result<(), DbError> {
    let sql = "SELECT order_slug FROM order_entries WHERE account = $1 AND entry = $2";
    let orders: BTreeSet<Slug> = tx.all(sql, &[account.into(), entry.into()], |row| row.slug(0)).await?;
    for order in orders {
        let sql = "SELECT doc FROM orders WHERE account = $1 AND slug = $2";
        let found =
            tx.first_for_update(sql, &[account.into(), order.into()], |row| Ok(row.text(0)?.to_owned())).await?;
        let Some(before) = found else { continue };
        let doc = document::retitled(&before, entry, title);
        if doc == before {
            continue;
        }
        let document = doc.clone();
        let change = Change { kind: Kind::Order, slug: order.as_str(), action: Action::Updated, events: &[], document };
        let revision = log::append(tx, account, origin, change).await?;
        tx.enqueue(
            "UPDATE orders SET list_revision = $3, revision = $3, doc_form = $4, doc = $5 WHERE account = $1 AND slug = $2",
            vec![account.into(), order.into(), revision.into(), log::FORM.into(), doc.into()],
        )
        .await?;
    }
    Ok(())
}

/// The largest invoice number of the account that is a number; 0 where there is none.
pub async fn last_invoice_number(tx: &mut Tx, account: AccountId) -> Result<u64, DbError> {
    // Keys of what is no number begin with a tilde and sort after those of numbers.
    let key = tx
        .first(
            "SELECT max(invoice_number) FROM orders WHERE account = $1 AND invoice_number < '~'",
            &[account.into()],
            |row| Ok(row.optional_text(0)?.map(str::to_owned)),
        )
        .await?
        .flatten();
    Ok(key.and_then(|key| rules::invoice_value(&key)).unwrap_or(0))
}
