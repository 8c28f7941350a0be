//! The tables of orders.

use std::collections::{BTreeMap, BTreeSet};

use crate::lists::sort_key;
use crate::log::{self, Action, Change, Event, Origin};
use crate::program::Record;
use crate::records::orders::record::Order;
use crate::records::orders::rules;
use crate::records::orders::{LISTED, document};
use crate::records::store::{Derived, ListRevision, SetTable, filled, listed, write_set};
use crate::records::users::Person;
use crate::records::users::store::person_of;
use crate::records::{Rows, StoredRow};
use db::{AccountId, Db, DbError, Source, Tx, Value};
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
    document::read(doc).map_err(|error| broken(&error))
}

fn broken(error: &str) -> DbError {
    DbError::Failed(format!("a stored order cannot be read: {error}"))
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

/// The order that is not in the trash, locked until the end of the transaction, with its document.
pub async fn find_for_update(
    tx: &mut Tx,
    account: AccountId,
    order: Slug,
) -> Result<Option<(Record<Order>, String)>, DbError> {
    let sql = "SELECT revision, doc FROM orders WHERE account = $1 AND slug = $2 AND deleted = 0";
    tx.first_for_update(sql, &[account.into(), order.into()], |row| {
        let doc = row.text(1)?;
        Ok((Record { value: read(doc)?, revision: row.integer(0)?, deleted: false }, doc.to_owned()))
    })
    .await
}

/// Logs what was done to an order and writes its row, where the document before shows of other records what it shows now; gives the
/// revision and the document.
pub async fn change(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    (action, events): (Action, &[Event]),
    (order, before): (&Order, &str),
) -> Result<(i64, String), DbError> {
    let related = document::related(before).map_err(|error| broken(&error))?;
    let doc = document::shown(order, &related);
    let change = Change { kind: Kind::Order, slug: order.slug.as_str(), action, events, document: doc.clone() };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, (order, &doc), revision, false).await?;
    Ok((revision, doc))
}

/// An order that is not in the trash, as a single read shows it.
#[derive(Clone, Debug)]
pub struct Single {
    /// The order.
    pub order: Order,
    /// The document.
    pub document: String,
    /// The sequence number of the last change.
    pub revision: i64,
    /// Who ordered, as users are called now.
    pub purchaser: Option<Person>,
    /// Whether it has entries, and all are of the chapters that were asked for.
    pub is_of_chapters: bool,
}

/// The version of the account's program, and an order.
pub async fn show(
    db: &Db,
    account: AccountId,
    order: Slug,
    chapters: &[Slug],
) -> Result<Option<(i64, Option<Single>)>, DbError> {
    let (list, values) = filled(chapters, 3, vec![account.into(), order.into()]);
    let is_other = if chapters.is_empty() { "1 = 1".to_owned() } else { format!("e.chapter NOT IN ({list})") };
    let sql = format!(
        "SELECT a.version, o.revision, o.doc, o.purchaser, u.names, u.person, \
         (SELECT count(*) FROM order_entries n WHERE n.account = a.id AND n.order_slug = o.slug), \
         (SELECT count(*) FROM order_entries n JOIN entries e ON e.account = n.account AND e.slug = n.entry \
         WHERE n.account = a.id AND n.order_slug = o.slug AND {is_other}) FROM accounts a \
         LEFT JOIN orders o ON o.account = a.id AND o.slug = $2 AND o.deleted = 0 \
         LEFT JOIN users u ON u.account = o.account AND u.slug = o.purchaser WHERE a.id = $1"
    );
    db.fetch_pipelined(&sql, &values, |row| {
        let Some(revision) = row.optional_integer(1)? else { return Ok((row.integer(0)?, None)) };
        let order = read(row.text(2)?)?;
        let single = Single {
            document: single(&order, row.text(2)?),
            order,
            revision,
            purchaser: person_of(row, 3)?,
            is_of_chapters: row.integer(6)? > 0 && row.integer(7)? == 0,
        };
        Ok((row.integer(0)?, Some(single)))
    })
    .await
}

/// The order as a single read shows it, from the document that lists show.
pub fn single(order: &Order, doc: &str) -> String {
    document::single(order, doc)
}

/// The same, from the document alone.
pub fn as_shown(doc: &str) -> Result<String, DbError> {
    Ok(single(&read(doc)?, doc))
}

/// What an item shows of its entry.
#[derive(Clone, Debug)]
pub struct OfEntry {
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Slug,
    /// Its chapter.
    pub chapter: Slug,
}

/// What items show of these entries, those in the trash included.
pub async fn entries_of(db: &Db, account: AccountId, entries: &[Slug]) -> Result<BTreeMap<Slug, OfEntry>, DbError> {
    if entries.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (list, values) = filled(entries, 2, vec![account.into()]);
    let sql = format!("SELECT slug, title, category, chapter FROM entries WHERE account = $1 AND slug IN ({list})");
    let mut found = BTreeMap::new();
    Source::Db(db)
        .each(&sql, &values, |row| {
            let of_entry = OfEntry { title: row.text(1)?.to_owned(), category: row.slug(2)?, chapter: row.slug(3)? };
            found.insert(row.slug(0)?, of_entry);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// The most entries that one statement names.
const MOST_NAMED: usize = 1_000;

/// Those of these entries that a paid order names that is no test, is not in the trash and is no credit note, whose total is below 0.
pub async fn paid_entries(tx: &mut Tx, account: AccountId, entries: &[Slug]) -> Result<BTreeSet<Slug>, DbError> {
    let mut paid = BTreeSet::new();
    for entries in entries.chunks(MOST_NAMED) {
        let (list, values) = filled(entries, 2, vec![account.into()]);
        let sql = format!(
            "SELECT DISTINCT n.entry FROM order_entries n JOIN orders o ON o.account = n.account AND o.slug = n.order_slug \
             WHERE n.account = $1 AND n.entry IN ({list}) AND n.deleted = 0 AND o.deleted = 0 AND o.test = 0 \
             AND o.payment_status = 'paid' AND o.total >= 0"
        );
        paid.extend(tx.all::<_, Vec<Slug>, _>(&sql, &values, |row| row.slug(0)).await?);
    }
    Ok(paid)
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
