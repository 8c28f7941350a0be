//! The tables of orders and of their counts.

mod renewal;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;

use super::document::{self, Stored};
use super::plan::{Column, Listing, Part};
use super::record::Order;
use super::rules;
use super::segments::{Counts, Segment};
use crate::db::{AccountId, Db, DbError, Engine, Row, Source, Tx, Value};
use crate::http::page::anchors::{Anchors, Key, Place, STRIDE};
use crate::kind::Kind;
use crate::log::{self, Action, Change, Origin};
use crate::text::{Slug, Timestamp};

pub use self::renewal::renew_purchaser;

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Recency => "recency",
            Self::CreatedAt => "created_at",
            Self::InvoiceNumber => "invoice_number",
            Self::PaymentMethod => "payment_method",
            Self::Total => "total",
        }
    }
}

/// How the counts have changed in a transaction. They are written once, because a row that one transaction writes
/// again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountChanges {
    pairs: BTreeMap<(Slug, Segment), i64>,
    revision: i64,
}

/// Adds or replaces an order at the revision that its change has in the log. The counts follow with
/// [`write_counts`], in the same transaction.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    order: &Stored,
    revision: i64,
    counts: &mut CountChanges,
) -> Result<(), DbError> {
    let before = tx
        .first_for_update(
            "SELECT season, segment FROM orders WHERE account = $1 AND slug = $2",
            &[account.into(), order.slug.into()],
            |row| Ok((slug(row, 0)?, segment(row, 1)?)),
        )
        .await?;
    if let Some(before) = before {
        *counts.pairs.entry(before).or_default() -= 1;
    }
    *counts.pairs.entry((order.season, order.segment)).or_default() += 1;
    counts.revision = counts.revision.max(revision);
    tx.later(
        "INSERT INTO orders (account, slug, season, segment, purchaser, recency, created_at, invoice_number, \
         payment_method, total, revision, note, doc) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
         ON CONFLICT (account, slug) DO UPDATE SET season = $3, segment = $4, purchaser = $5, recency = $6, \
         created_at = $7, invoice_number = $8, payment_method = $9, total = $10, revision = $11, note = $12, doc = $13",
        vec![
            account.into(),
            order.slug.into(),
            order.season.into(),
            order.segment.number().into(),
            order.purchaser.into(),
            recency(order.updated).into(),
            order.created_at.into(),
            order.invoice_key.clone().into(),
            order.payment_method.clone().into(),
            order.total.into(),
            revision.into(),
            order.note.clone().into(),
            order.doc.clone().into(),
        ],
    )
    .await?;
    if before.is_some() {
        tx.later(
            "DELETE FROM order_entries WHERE account = $1 AND order_slug = $2",
            vec![account.into(), order.slug.into()],
        )
        .await?;
    }
    for (entry, price) in &order.entries {
        tx.later(
            "INSERT INTO order_entries (account, order_slug, entry, price, deleted) VALUES ($1, $2, $3, $4, $5)",
            vec![
                account.into(),
                order.slug.into(),
                (*entry).into(),
                price.map_or_else(String::new, |price| price.to_string()).into(),
                order.segment.is_deleted().into(),
            ],
        )
        .await?;
    }
    Ok(())
}

/// Writes the new title of an entry into the orders whose lines name it, and logs them.
pub async fn retitle(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    entry: Slug,
    title: &str,
) -> Result<(), DbError> {
    let mut orders = Vec::new();
    tx.each(
        "SELECT DISTINCT order_slug FROM order_entries WHERE account = $1 AND entry = $2 ORDER BY order_slug",
        &[account.into(), entry.into()],
        |row| {
            orders.push(slug(row, 0)?);
            Ok(())
        },
    )
    .await?;
    let mut counts = CountChanges::default();
    for order in orders {
        let found = tx
            .first_for_update(
                "SELECT season, segment, recency, note, doc FROM orders WHERE account = $1 AND slug = $2",
                &[account.into(), order.into()],
                |row| {
                    let updated = Timestamp::from_microseconds(row.integer(2)?.saturating_neg());
                    let place = (slug(row, 0)?, segment(row, 1)?);
                    Ok((place, updated, row.text(3)?.to_owned(), row.text(4)?.to_owned()))
                },
            )
            .await?;
        let Some((place, updated, note, before)) = found else { continue };
        let doc = document::retitled(&before, entry, title);
        if doc == before {
            continue;
        }
        let document = document::logged(&doc, place.1, &note, updated);
        let change = Change { kind: Kind::Order, slug: order.as_str(), action: Action::Updated, events: &[], document };
        let revision = log::append(tx, account, origin, change).await?;
        tx.later(
            "UPDATE orders SET revision = $3, doc = $4 WHERE account = $1 AND slug = $2",
            vec![account.into(), order.into(), revision.into(), doc.into()],
        )
        .await?;
        counts.pairs.entry(place).or_default();
        counts.revision = revision;
    }
    write_counts(tx, account, counts).await
}

/// Writes what [`put`] noted of the counts.
pub async fn write_counts(tx: &mut Tx, account: AccountId, changes: CountChanges) -> Result<(), DbError> {
    for ((season, segment), change) in changes.pairs {
        tx.later(
            "INSERT INTO order_counts (account, season, segment, total, changed) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (account, season, segment) DO UPDATE SET total = order_counts.total + $4, changed = $5",
            vec![account.into(), season.into(), segment.number().into(), change.into(), changes.revision.into()],
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

/// An order and its revision, locked until the end of the transaction; those in the trash as well.
pub async fn find_for_update(tx: &mut Tx, account: AccountId, slug: Slug) -> Result<Option<(Order, i64)>, DbError> {
    tx.first_for_update(
        "SELECT segment, recency, note, doc, revision FROM orders WHERE account = $1 AND slug = $2",
        &[account.into(), slug.into()],
        |row| Ok((order(row)?, row.integer(4)?)),
    )
    .await
}

/// Every order of the account by slug.
pub async fn each_for_export(
    tx: &mut Tx,
    account: AccountId,
    mut each: impl FnMut(&Order) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    tx.each(
        "SELECT segment, recency, note, doc FROM orders WHERE account = $1 ORDER BY slug",
        &[account.into()],
        |row| each(&order(row)?),
    )
    .await
}

fn order(row: &Row<'_>) -> Result<Order, DbError> {
    let updated = Timestamp::from_microseconds(row.integer(1)?.saturating_neg());
    let logged = document::logged(row.text(3)?, segment(row, 0)?, row.text(2)?, updated);
    document::read_logged(&logged).map_err(|error| DbError::Failed(format!("a stored order cannot be read: {error}")))
}

pub(super) fn recency(updated: Timestamp) -> i64 {
    updated.as_microseconds().saturating_neg()
}

fn slug(row: &Row<'_>, column: usize) -> Result<Slug, DbError> {
    Slug::parse(row.text(column)?).ok_or_else(|| DbError::Failed("an order has a broken slug".to_owned()))
}

fn segment(row: &Row<'_>, column: usize) -> Result<Segment, DbError> {
    Segment::from_number(row.integer(column)?).ok_or_else(|| DbError::Failed("an order has no segment".to_owned()))
}

/// Where the account stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The version of the program.
    pub(super) version: i64,
    /// The number of the last change of an order.
    pub(super) changed: i64,
}

/// Where the account stands.
pub(super) async fn state(source: &mut Source<'_>, account: AccountId) -> Result<State, DbError> {
    let mut state = State { version: -1, changed: 0 };
    let sql = "SELECT a.version, (SELECT coalesce(max(changed), 0) FROM order_counts WHERE account = $1) \
               FROM accounts a WHERE a.id = $1";
    let read = |row: &Row<'_>| {
        state = State { version: row.integer(0)?, changed: row.integer(1)? };
        Ok(())
    };
    source.each(sql, &[account.into()], read).await?;
    Ok(state)
}

/// The counts, and the number of the last change that they contain.
pub(super) async fn counts(source: &mut Source<'_>, account: AccountId) -> Result<(Counts, i64), DbError> {
    let mut counts = Counts::default();
    let mut last = 0;
    let sql = "SELECT season, segment, total, changed FROM order_counts WHERE account = $1";
    let read = |row: &Row<'_>| {
        counts.set(slug(row, 0)?, segment(row, 1)?, u64::try_from(row.integer(2)?).unwrap_or(0));
        last = last.max(row.integer(3)?);
        Ok(())
    };
    source.each(sql, &[account.into()], read).await?;
    Ok((counts, last))
}

/// The most index ranges that one part merges. Beyond them, in an account of very many seasons, its orders are sorted.
const RANGES: usize = 200;
/// From how many orders to pass over PostgreSQL looks their documents up afterwards and does not read them along.
const PASSED_OVER: u64 = STRIDE;

/// An order of a page, borrowed from its row.
pub(super) struct Found<'r> {
    pub(super) state: State,
    pub(super) group: usize,
    pub(super) doc: &'r str,
    row: &'r Row<'r>,
    column: Column,
}

impl Found<'_> {
    /// Where it stands in its group.
    pub(super) fn place(&self) -> Result<Place, DbError> {
        place(self.row, self.column, 3)
    }
}

fn place(row: &Row<'_>, column: Column, first: usize) -> Result<Place, DbError> {
    let key = if column.is_text() { Key::Text(row.text(first)?.into()) } else { Key::Integer(row.integer(first)?) };
    Ok(Place { key, slug: slug(row, first + 1)? })
}

/// Reads the orders of a page in one statement, each with where the account stood.
pub(super) async fn page(
    source: &mut Source<'_>,
    account: AccountId,
    listing: &Listing,
    parts: &[Part],
    mut each: impl FnMut(Found<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let mut statement = Statement::new(account);
    statement.write_page(listing, parts, source.engine());
    let column = listing.column;
    let mut known = None;
    source
        .each(&statement.sql, &statement.values, |row| {
            // All rows of a statement carry the same state.
            let state = match known {
                Some(state) => state,
                None => *known.insert(State { version: row.integer(0)?, changed: row.integer(1)? }),
            };
            let group = usize::try_from(row.integer(2)?).unwrap_or(usize::MAX);
            each(Found { state, group, doc: row.text(5)?, row, column })
        })
        .await
}

/// Builds the anchors of these seasons and segments in the ascending order of a column; with them the number of the
/// last change that they contain.
pub(super) async fn anchors(
    db: &Db,
    account: AccountId,
    pairs: &[(Slug, Segment)],
    column: Column,
) -> Result<(Anchors, i64), DbError> {
    let mut statement = Statement::new(account);
    statement.sql.push_str("SELECT (SELECT max(changed) FROM order_counts WHERE account = $1), key, slug FROM (");
    let part = Part { group: 0, pairs: pairs.to_vec(), start: None, offset: 0, limit: 0, rank: None };
    statement.write_ranges(&part, (column, false), "", "");
    statement.sql.push_str(" ORDER BY key, slug) AS ordered");
    let built = Arc::new(Mutex::new((Anchors::default(), 0)));
    let building = Arc::clone(&built);
    let read = move |row: &Row<'_>| {
        let mut built = building.lock();
        built.1 = row.integer(0)?;
        built.0.push(|| place(row, column, 1))
    };
    drop(db.each_aside(&statement.sql, &statement.values, read).await?);
    let built = std::mem::take(&mut *built.lock());
    Ok(built)
}

struct Statement {
    sql: String,
    values: Vec<Value<'static>>,
}

impl Statement {
    fn new(account: AccountId) -> Self {
        Self { sql: String::with_capacity(1024), values: vec![account.into()] }
    }

    fn value(&mut self, value: impl Into<Value<'static>>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    /// Each row carries the state, so that a page, its total and the program are known to belong together.
    ///
    /// What is merged are keys. In SQLite an index has the number of its row, by which the document is then found at
    /// once and copied once. PostgreSQL copies no document that it passes on, and reads it along unless many are
    /// passed over.
    fn write_page(&mut self, listing: &Listing, parts: &[Part], engine: Engine) {
        let (doc, join) = match engine {
            Engine::Sqlite => ("o.doc", " CROSS JOIN orders o ON o.rowid = page.held"),
            Engine::Postgres => ("page.held", ""),
        };
        let _ = write!(
            self.sql,
            "SELECT (SELECT version FROM accounts WHERE id = $1), \
             (SELECT max(changed) FROM order_counts WHERE account = $1), page.part, page.key, page.slug, {doc} FROM (",
        );
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.sql.push_str(" UNION ALL ");
            }
            self.write_part(listing, part, engine);
        }
        let _ = write!(self.sql, ") AS page{join}");
    }

    fn write_part(&mut self, listing: &Listing, part: &Part, engine: Engine) {
        let group = self.value(i64::try_from(part.group).unwrap_or(i64::MAX));
        let (read, shown) = match engine {
            Engine::Sqlite => (", rowid AS held", "held"),
            Engine::Postgres if part.offset < PASSED_OVER => (", doc AS held", "held"),
            Engine::Postgres => {
                ("", "(SELECT o.doc FROM orders o WHERE o.account = $1 AND o.slug = ordered.slug) AS held")
            }
        };
        let _ = write!(self.sql, "SELECT CAST(${group} AS BIGINT) AS part, key, slug, {shown} FROM (");
        // PostgreSQL merges index scans only where a literal tells it that few rows of each are wanted; SQLite does so
        // only where nothing does. Powers of two keep the number of different statements small.
        let most = part.limit.saturating_add(part.offset).min(1 << 62).next_power_of_two();
        let limit = if engine == Engine::Postgres { format!(" LIMIT {most}") } else { String::new() };
        self.write_ranges(part, (listing.column, listing.is_reversed), &limit, read);
        let direction = if listing.is_reversed { " DESC" } else { "" };
        let limit = self.value(i64::try_from(part.limit).unwrap_or(i64::MAX));
        let _ = write!(self.sql, " ORDER BY key{direction}, slug{direction} LIMIT ${limit}");
        if part.offset > 0 {
            let offset = self.value(i64::try_from(part.offset).unwrap_or(i64::MAX));
            let _ = write!(self.sql, " OFFSET ${offset}");
        }
        self.sql.push_str(") AS ordered");
    }

    /// The orders of a part: for each season and segment one range of an index, which both engines merge as they read.
    /// `read` is what is read of a row besides its key and slug.
    fn write_ranges(&mut self, part: &Part, (column, is_reversed): (Column, bool), limit: &str, read: &str) {
        let name = column.name();
        let direction = if is_reversed { " DESC" } else { "" };
        let bound = part.start.as_ref().map_or_else(String::new, |start| {
            let key = match &start.place.key {
                Key::Integer(integer) => self.value(*integer),
                Key::Text(text) => self.value(text.to_string()),
            };
            let slug = self.value(start.place.slug);
            let comparison = match (is_reversed, start.is_included) {
                (false, true) => ">=",
                (false, false) => ">",
                (true, true) => "<=",
                (true, false) => "<",
            };
            format!(" AND ({name}, slug) {comparison} (${key}, ${slug})")
        });
        if part.pairs.len() > RANGES {
            let _ = write!(
                self.sql,
                "SELECT {name} AS key, slug{read} FROM orders WHERE account = $1{bound} AND segment IN ("
            );
            let mut segments: Vec<_> = part.pairs.iter().map(|(_, segment)| segment.number().to_string()).collect();
            segments.sort();
            segments.dedup();
            let _ = write!(self.sql, "{})", segments.join(", "));
            return;
        }
        let held = if read.is_empty() { "" } else { ", held" };
        for (index, (season, segment)) in part.pairs.iter().enumerate() {
            if index > 0 {
                self.sql.push_str(" UNION ALL ");
            }
            let (season, segment) = (self.value(*season), self.value(segment.number()));
            let _ = write!(
                self.sql,
                "SELECT key, slug{held} FROM (SELECT {name} AS key, slug{read} FROM orders \
                 WHERE account = $1 AND season = ${season} AND segment = ${segment}{bound} \
                 ORDER BY {name}{direction}, slug{direction}{limit}) AS range{index}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::plan::Sort;
    use crate::orders::segments::{Segments, Selection};

    fn statement(engine: Engine, is_reversed: bool, pairs: usize) -> Statement {
        let season = Slug::parse("SeasonAA").unwrap();
        let selection = Selection { season: None, segments: Segments::matching(None, None, None) };
        let listing = Listing::new(selection, Sort::named("total"), is_reversed, &[]);
        let place = Place { key: Key::Integer(5), slug: season };
        let start = crate::orders::plan::Start { place, is_included: !is_reversed };
        let pairs = Segment::ALL.map(|segment| (season, segment))[..pairs].to_vec();
        let part = Part { group: 0, pairs, start: Some(start), offset: 3, limit: 100, rank: None };
        let mut statement = Statement::new(AccountId(1));
        statement.write_page(&listing, &[part], engine);
        statement
    }

    #[test]
    fn every_range_of_a_page_is_read_in_the_order_of_its_index() {
        let Statement { sql, values } = statement(Engine::Postgres, true, 2);
        assert_eq!(
            sql,
            "SELECT (SELECT version FROM accounts WHERE id = $1), (SELECT max(changed) FROM order_counts WHERE account = $1), \
             page.part, page.key, page.slug, page.held FROM (SELECT CAST($2 AS BIGINT) AS part, key, slug, held FROM (\
             SELECT key, slug, held FROM (SELECT total AS key, slug, doc AS held FROM orders WHERE account = $1 AND season = $5 \
             AND segment = $6 AND (total, slug) < ($3, $4) ORDER BY total DESC, slug DESC LIMIT 128) AS range0 UNION ALL \
             SELECT key, slug, held FROM (SELECT total AS key, slug, doc AS held FROM orders WHERE account = $1 AND season = $7 \
             AND segment = $8 AND (total, slug) < ($3, $4) ORDER BY total DESC, slug DESC LIMIT 128) AS range1 \
             ORDER BY key DESC, slug DESC LIMIT $9 OFFSET $10) AS ordered) AS page"
        );
        assert_eq!(values.len(), 10);
    }

    #[test]
    fn sqlite_reads_a_page_without_sorting() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../../migrations/V1__foundation.sql")).unwrap();
        for is_reversed in [false, true] {
            for pairs in [1, 2, 8] {
                let sql = statement(Engine::Sqlite, is_reversed, pairs).sql.replace('$', "?");
                let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
                let values = vec![rusqlite::types::Null; explain.parameter_count()];
                let steps =
                    explain.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
                let plan: Vec<String> = steps.map(Result::unwrap).collect();
                let searches = plan.iter().filter(|step| step.contains("orders_sorted_by_total")).count();
                assert_eq!(searches, pairs, "{plan:#?}");
                assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
            }
        }
    }
}
