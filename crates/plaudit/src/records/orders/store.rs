//! The tables of orders.

use std::collections::BTreeSet;

use crate::lists::sort_key;
use crate::log::{self, Action, Change, Origin};
use crate::records::orders::document;
use crate::records::orders::record::Order;
use crate::records::orders::rules;
use crate::records::{Rows, StoredRow};
use db::{AccountId, DbError, Tx, Value};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// Orders have the time of the last change and the note beside the document, with a blank between them.
pub const ROWS: Rows = Rows {
    flag: "test",
    extra_columns: "CAST(updated AS TEXT) || ' ' || note",
    logged,
    exported: |row| Ok(document::exported(&of_row(row)?)),
    shows_others: true,
    ..Rows::of("orders", "slug")
};

fn logged(row: &StoredRow) -> String {
    let (updated, note) = row.extra_columns.split_once(' ').unwrap_or_default();
    let updated = Timestamp::from_microseconds(updated.parse().unwrap_or_default());
    document::logged(&row.doc, (row.flag, row.deleted), note, updated)
}

/// The order of a row.
pub fn of_row(row: &StoredRow) -> Result<Order, DbError> {
    let read = document::read_logged(&logged(row));
    read.map_err(|error| DbError::Failed(format!("a stored order cannot be read: {error}")))
}

/// The row of an order at the revision that its change has in the log: columns with their values.
/// `doc` is what is shown of it.
#[must_use]
fn row(account: AccountId, (order, doc): (&Order, &str), revision: i64) -> Vec<(&'static str, Value<'static>)> {
    vec![
        ("account", account.into()),
        ("slug", order.slug.into()),
        ("season", order.season.into()),
        ("payment_status", order.payment.payment_status.name().into()),
        ("test", order.test.into()),
        ("deleted", order.deleted.into()),
        ("purchaser", order.user.into()),
        ("updated", order.updated.into()),
        ("created_at", order.created_at.into()),
        ("invoice_number", rules::invoice_key(&order.invoice_number).into()),
        ("payment_method", sort_key(&order.payment.payment_method).to_owned().into()),
        ("total", order.totals.total.sort_key().into()),
        ("list_revision", revision.into()),
        ("revision", revision.into()),
        ("note", order.note.clone().into()),
        ("doc", doc.to_owned().into()),
    ]
}

/// Adds or replaces an order at the revision that its change has in the log.
/// `doc` is what is shown of it.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    (order, doc): (&Order, &str),
    revision: i64,
    is_new: bool,
) -> Result<(), DbError> {
    tx.put("orders", 2, row(account, (order, doc), revision)).await?;
    if !is_new {
        renew_entries(tx, account, order.slug, revision).await?;
        tx.enqueue(
            "DELETE FROM order_entries WHERE account = $1 AND order_slug = $2",
            vec![account.into(), order.slug.into()],
        )
        .await?;
    }
    let entries = order.entries();
    for (entry, price) in &entries {
        tx.enqueue(
            "INSERT INTO order_entries (account, order_slug, entry, price, deleted) VALUES ($1, $2, $3, $4, $5)",
            vec![
                account.into(),
                order.slug.into(),
                (*entry).into(),
                price.map_or_else(String::new, |price| price.to_string()).into(),
                order.deleted.into(),
            ],
        )
        .await?;
    }
    if entries.is_empty() { Ok(()) } else { renew_entries(tx, account, order.slug, revision).await }
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
        let found = tx
            .first_for_update(
                "SELECT test, deleted, updated, note, doc FROM orders WHERE account = $1 AND slug = $2",
                &[account.into(), order.into()],
                |row| {
                    let updated = Timestamp::from_microseconds(row.integer(2)?);
                    Ok(((row.flag(0)?, row.flag(1)?), updated, row.text(3)?.to_owned(), row.text(4)?.to_owned()))
                },
            )
            .await?;
        let Some((flags, updated, note, before)) = found else { continue };
        let doc = document::retitled(&before, entry, title);
        if doc == before {
            continue;
        }
        let document = document::logged(&doc, flags, &note, updated);
        let change = Change { kind: Kind::Order, slug: order.as_str(), action: Action::Updated, events: &[], document };
        let revision = log::append(tx, account, origin, change).await?;
        tx.enqueue(
            "UPDATE orders SET revision = $3, doc = $4 WHERE account = $1 AND slug = $2",
            vec![account.into(), order.into(), revision.into(), doc.into()],
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
