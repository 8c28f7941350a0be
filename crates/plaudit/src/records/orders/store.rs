//! The tables of orders.

use std::collections::{BTreeMap, BTreeSet};

use crate::lists::page::bounded;
use crate::lists::sort_key;
use crate::log::{self, Action, Change, Event, Origin};
use crate::program::Record;
use crate::records::orders::record::Order;
use crate::records::orders::rules;
use crate::records::orders::rules::Series;
use crate::records::orders::{Billed, LISTED, RelatedData, document};
use crate::records::rewriting::rewrite_record;
use crate::records::store::{Derived, ListRevision, SetTable, difference, filled, listed, write_set};
use crate::records::users::store::person_of;
use crate::records::users::{self, Person};
use crate::records::{Rows, StoredRow};
use db::{AccountId, Db, DbError, Row, Source, Tx, Value};
use kernel::kind::Kind;
use kernel::text::Slug;
use pricing::Uses;

/// Orders have tables of what their lines name.
pub const ROWS: Rows = Rows {
    list_revision: ListRevision::Raised,
    columns: || {
        // The chapters follow from entries.
        let listed = listed(&LISTED).into_iter().filter(|column| *column != "chapters");
        listed.chain(["discount", "live"]).collect()
    },
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
    SetTable { table: "order_entries", key: "order_slug", columns: &["entry", "price", "void"], identifying: 2 };

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
        discount_key(&order.discount_code).into(),
        order.is_live().into(),
    ]
}

/// A discount code as orders are found by it, whatever its case; empty for none.
fn discount_key(code: &str) -> String {
    bounded(&code.to_lowercase())
}

/// The rows of what the lines of an order name; no price is an empty text. Those are void that pay for nothing.
pub(crate) fn entries(order: &Order) -> Vec<Vec<Value<'static>>> {
    let price = |price: Option<Slug>| price.map_or_else(String::new, |price| price.to_string());
    let entries = order.entries().into_iter();
    entries.map(|(entry, of)| vec![entry.into(), price(of).into(), (!order.is_live_for(entry)).into()]).collect()
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
    if names_any || !is_new {
        write_chapters(tx, account, "slug = $2", (order.slug, revision)).await?;
    }
    if names_any { renew_entries(tx, account, order.slug, revision).await } else { Ok(()) }
}

/// An order that is locked until the end of the transaction, with its document.
pub type Locked = (Record<Order>, String);

fn locked(row: &Row<'_>) -> Result<Locked, DbError> {
    let doc = row.text(1)?;
    Ok((Record { value: read(doc)?, revision: row.integer(0)?, deleted: false }, doc.to_owned()))
}

/// The order that is not in the trash, locked.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, order: Slug) -> Result<Option<Locked>, DbError> {
    let sql = "SELECT revision, doc FROM orders WHERE account = $1 AND slug = $2 AND deleted = 0";
    tx.first_for_update(sql, &[account.into(), order.into()], locked).await
}

/// The orders that are or will be for an entry, locked, in the order in which they were made.
pub async fn live_orders_for_update(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<Vec<Locked>, DbError> {
    let sql = "SELECT revision, doc FROM orders WHERE account = $1 AND deleted = 0 AND slug IN \
               (SELECT order_slug FROM order_entries WHERE account = $1 AND entry = $2 AND void = 0)";
    let mut orders = Vec::new();
    tx.each_for_update(sql, &[account.into(), entry.into()], |row| {
        // What was credited while the lock was waited for is for the entry no more.
        orders.extend(Some(locked(row)?).filter(|(order, _)| order.value.is_live_for(entry)));
        Ok(())
    })
    .await?;
    orders.sort_by_cached_key(|(order, _)| rules::invoice_key(&order.value.invoice_number));
    Ok(orders)
}

/// The orders of a purchaser, those in the trash included, locked, by slug.
pub async fn of_purchaser_for_update(tx: &mut Tx, account: AccountId, purchaser: Slug) -> Result<Vec<Locked>, DbError> {
    let sql = "SELECT revision, doc FROM orders WHERE account = $1 AND purchaser = $2";
    let mut orders = Vec::new();
    tx.each_for_update(sql, &[account.into(), purchaser.into()], |row| {
        orders.push(locked(row)?);
        Ok(())
    })
    .await?;
    orders.sort_by_key(|(order, _)| order.value.slug);
    Ok(orders)
}

/// The orders whose lines name an entry.
pub async fn naming(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<BTreeSet<Slug>, DbError> {
    let sql = "SELECT order_slug FROM order_entries WHERE account = $1 AND entry = $2";
    tx.all(sql, &[account.into(), entry.into()], |row| row.slug(0)).await
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
    let doc = document::shown(order, &related(before)?);
    let change = Change { kind: Kind::Order, slug: order.slug.as_str(), action, events, document: doc.clone() };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, (order, &doc), revision, false).await?;
    Ok((revision, doc))
}

/// What the document of an order shows of other records.
pub fn related(doc: &str) -> Result<RelatedData, DbError> {
    document::related(doc).map_err(|error| broken(&error))
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

/// Every order of the account, by number, tests and those in the trash included.
pub async fn each(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(Order) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let sql = "SELECT doc FROM orders WHERE account = $1 ORDER BY invoice_number";
    tx.each(sql, &[account.into()], |row| each(read(row.text(0)?)?)).await
}

/// An order by its slug or its number, even one in the trash, with what its invoice says of other records.
pub async fn billed(account: AccountId, mut source: Source<'_>, name: &str) -> Result<Option<Billed>, DbError> {
    let column = if Slug::parse(name).is_some() { "slug" } else { "invoice_number" };
    let key = if column == "slug" { name.to_owned() } else { rules::invoice_key(name) };
    let sql = format!(
        "SELECT o.doc, u.doc FROM orders o LEFT JOIN users u ON u.account = o.account AND u.slug = o.purchaser \
         WHERE o.account = $1 AND o.{column} = $2"
    );
    let mut found = None;
    source
        .each(&sql, &[account.into(), key.into()], |row| {
            let purchaser = row.optional_text(1)?.map(users::store::name_and_email).transpose()?;
            found =
                Some(Billed { order: read(row.text(0)?)?, credited: None, purchaser: purchaser.unwrap_or_default() });
            Ok(())
        })
        .await?;
    if let Some(credited) = found.as_ref().and_then(|found: &Billed| found.order.credits) {
        let sql = "SELECT doc FROM orders WHERE account = $1 AND slug = $2";
        source
            .each(sql, &[account.into(), credited.into()], |row| {
                let order = read(row.text(0)?)?;
                if let Some(found) = &mut found {
                    found.credited = Some((order.invoice_number, order.created_at));
                }
                Ok(())
            })
            .await?;
    }
    Ok(found)
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

/// Those of these entries that a paid order names that pays for them.
pub async fn paid_entries(tx: &mut Tx, account: AccountId, entries: &[Slug]) -> Result<BTreeSet<Slug>, DbError> {
    let mut paid = BTreeSet::new();
    for entries in entries.chunks(MOST_NAMED) {
        let (list, values) = filled(entries, 2, vec![account.into()]);
        let sql = format!(
            "SELECT DISTINCT n.entry FROM order_entries n JOIN orders o ON o.account = n.account AND o.slug = n.order_slug \
             WHERE n.account = $1 AND n.entry IN ({list}) AND n.void = 0 AND o.payment_status = 'paid'"
        );
        paid.extend(tx.all::<_, Vec<Slug>, _>(&sql, &values, |row| row.slug(0)).await?);
    }
    Ok(paid)
}

/// The orders that are or will be for these entries, each with an entry that it names.
pub async fn live_orders(
    account: AccountId,
    mut source: Source<'_>,
    entries: &[Slug],
) -> Result<BTreeSet<(Slug, Slug)>, DbError> {
    let mut found = BTreeSet::new();
    for entries in entries.chunks(MOST_NAMED) {
        let (list, values) = filled(entries, 2, vec![account.into()]);
        let sql = format!(
            "SELECT DISTINCT entry, order_slug FROM order_entries WHERE account = $1 AND entry IN ({list}) AND void = 0"
        );
        source
            .each(&sql, &values, |row| {
                found.insert((row.slug(0)?, row.slug(1)?));
                Ok(())
            })
            .await?;
    }
    Ok(found)
}

/// The last order, even one in the trash, of what an entry costs more than it did.
pub async fn last_adjustment(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<Option<Order>, DbError> {
    let sql = "SELECT doc FROM orders WHERE account = $1 AND slug IN \
               (SELECT order_slug FROM order_entries WHERE account = $1 AND entry = $2)";
    let orders: Vec<Order> = tx.all(sql, &[account.into(), entry.into()], |row| read(row.text(0)?)).await?;
    let adjustments = orders.into_iter().filter(|order| order.adjusts.is_some());
    Ok(adjustments.max_by_key(|order| rules::invoice_key(&order.invoice_number)))
}

/// Whether an order names an entry, even one in the trash.
pub async fn is_ordered(tx: &mut Tx, account: AccountId, entry: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM order_entries WHERE account = $1 AND entry = $2 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), entry.into()], |_| Ok(())).await?.is_some())
}

/// In how many live orders of a season a discount code was used, by anybody and by this person; neither is counted beyond its limit.
pub async fn uses(
    account: AccountId,
    mut source: Source<'_>,
    (season, code): (Slug, &str),
    user: Slug,
    limits: (Option<i64>, Option<i64>),
) -> Result<Uses, DbError> {
    let mut counted = Uses::default();
    let of_code =
        "SELECT 1 FROM orders WHERE account = $1 AND season = $2 AND discount = $3 AND discount <> '' AND live = 1";
    let sql = format!(
        "SELECT (SELECT count(*) FROM ({of_code} LIMIT $5) a), \
         (SELECT count(*) FROM ({of_code} AND purchaser = $4 LIMIT $6) b)"
    );
    let (all, of_user) = limits;
    let (all, of_user) = (all.unwrap_or(0), of_user.unwrap_or(0));
    let values = [account.into(), season.into(), discount_key(code).into(), user.into(), all.into(), of_user.into()];
    source
        .each(&sql, &values, |row| {
            counted = Uses { all: row.integer(0)?, of_user: row.integer(1)? };
            Ok(())
        })
        .await?;
    Ok(counted)
}

/// Whether a person has paid, or is to pay, for entering a season.
pub async fn has_entrant_line(
    account: AccountId,
    mut source: Source<'_>,
    (season, user): (Slug, Slug),
) -> Result<bool, DbError> {
    let sql = "SELECT doc FROM orders WHERE account = $1 AND purchaser = $2 AND season = $3 AND live = 1";
    let mut has = false;
    source
        .each(sql, &[account.into(), user.into(), season.into()], |row| {
            has |= read(row.text(0)?)?.is_live_for_entrant();
            Ok(())
        })
        .await?;
    Ok(has)
}

/// The last order of a person.
pub async fn latest_of(account: AccountId, mut source: Source<'_>, user: Slug) -> Result<Option<Order>, DbError> {
    let sql = "SELECT doc FROM orders WHERE account = $1 AND purchaser = $2 ORDER BY created_at DESC LIMIT 1";
    let mut latest = None;
    source
        .each(sql, &[account.into(), user.into()], |row| {
            latest = Some(read(row.text(0)?)?);
            Ok(())
        })
        .await?;
    Ok(latest)
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

/// The chapters of the entries that an order names. Of more than an index has room for stands what is no chapter, so that the order
/// is nobody's who manages some.
const CHAPTERS: &str = "coalesce((SELECT CASE WHEN count(*) > 150 THEN '-' \
                        ELSE string_agg(c.chapter, ' ' ORDER BY c.chapter) END FROM (SELECT DISTINCT e.chapter \
                        FROM order_entries n JOIN entries e ON e.account = n.account AND e.slug = n.entry \
                        WHERE n.account = $1 AND n.order_slug = orders.slug) AS c), '')";

/// Writes the chapters of the orders that name an entry, whose row has its chapter: lists of orders are narrowed by them.
pub async fn renew_orders(tx: &mut Tx, account: AccountId, entry: Slug, revision: i64) -> Result<(), DbError> {
    let named = "slug IN (SELECT order_slug FROM order_entries WHERE account = $1 AND entry = $2)";
    write_chapters(tx, account, named, (entry, revision)).await
}

async fn write_chapters(
    tx: &mut Tx,
    account: AccountId,
    which: &str,
    (of, revision): (Slug, i64),
) -> Result<(), DbError> {
    let sql = format!(
        "UPDATE orders SET chapters = {CHAPTERS}, list_revision = $3 \
         WHERE account = $1 AND {which} AND chapters <> {CHAPTERS}"
    );
    tx.enqueue(sql, vec![account.into(), of.into(), revision.into()]).await
}

/// Hands over the orders whose chapters are not those of their entries.
pub async fn each_wrong(tx: &mut Tx, account: AccountId, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    let sql = format!(
        "SELECT slug, chapters, {CHAPTERS} FROM orders WHERE account = $1 AND chapters <> {CHAPTERS} ORDER BY slug"
    );
    tx.each(&sql, &[account.into()], |row| {
        let what = format!("it is {:?}, and must be {:?}", row.text(1)?, row.text(2)?);
        each(difference("orders", row.text(0)?, "chapters", &what));
        Ok(())
    })
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
    for order in naming(tx, account, entry).await? {
        rewrite_record(tx, account, Kind::Order, order.as_str()).await?;
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

/// The last number of a series; 0 where there is none. Whoever gives the next one holds the account's head, so that no other order
/// has it.
pub async fn last_number(tx: &mut Tx, account: AccountId, series: Series) -> Result<u64, DbError> {
    let (from, to) = series.keys();
    let last = tx
        .first(
            "SELECT max(invoice_number) FROM orders WHERE account = $1 AND invoice_number >= $2 AND invoice_number < $3",
            &[account.into(), from.into(), to.into()],
            |row| Ok(row.optional_text(0)?.map(str::to_owned)),
        )
        .await?
        .flatten();
    Ok(last.and_then(|key| rules::invoice_value(&key)).unwrap_or(0))
}

/// Logs a new order and writes its row; gives the revision and the document.
pub async fn insert(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    events: &[Event],
    (order, related): (&Order, &RelatedData),
) -> Result<(i64, String), DbError> {
    let doc = document::shown(order, related);
    let (slug, document) = (order.slug.as_str(), doc.clone());
    let change = Change { kind: Kind::Order, slug, action: Action::Created, events, document };
    let revision = log::append(tx, account, origin, change).await?;
    put(tx, account, (order, &doc), revision, true).await?;
    Ok((revision, doc))
}

/// Whether there is an order of this slug.
pub async fn is_taken(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM orders WHERE account = $1 AND slug = $2";
    Ok(tx.first(sql, &[account.into(), slug.into()], |_| Ok(())).await?.is_some())
}
