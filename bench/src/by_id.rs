//! Documents read by their ids, bare: rusqlite or tokio-postgres, and nothing else.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use bytes::BytesMut;
use rusqlite::{Connection, Transaction, params};
use tokio_postgres::types::{ToSql, Type};

use crate::load::{Duty, float, median};
use crate::machine::Processes;
use crate::wire::Step;

/// How the documents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By account and slug: what a client knows of a record.
    Slug,
    /// By the number that SQLite gives its row: the least work there is.
    Row,
}

const BY_SLUG: &str = "SELECT doc FROM orders WHERE account = ?1 AND slug = ?2";
const BY_ROW: &str = "SELECT doc FROM orders WHERE rowid = ?1";

/// The orders of pages in a SQLite database.
pub(crate) struct Orders {
    connection: Connection,
    account: i64,
    pages: Vec<Vec<(String, i64)>>,
}

impl Orders {
    /// Finds the orders of pages, each by its slug.
    pub(crate) fn open(database: &Path, account: &str, pages: &[Vec<String>]) -> Result<Self> {
        let (connection, account) = open(database, account)?;
        let mut statement = connection.prepare("SELECT rowid FROM orders WHERE account = ?1 AND slug = ?2")?;
        let mut found = |slug: &String| -> Result<(String, i64)> {
            let row = statement.query_row(params![account, slug], |row| row.get(0));
            Ok((slug.clone(), row.with_context(|| format!("the order {slug} is not there"))?))
        };
        let pages = pages.iter().map(|page| page.iter().map(&mut found).collect()).collect::<Result<_>>()?;
        drop(statement);
        Ok(Self { connection, account, pages })
    }

    /// Reads page after page for the times of `duty`: microseconds of processor time a page.
    pub(crate) fn measure(&mut self, by: By, duty: Duty) -> Result<f64> {
        let mut position = 0;
        self.read_for(by, &mut position, duty.warm_up)?;
        let own = Processes { alone: vec![std::process::id()], postmaster: None };
        let mut times = Vec::new();
        for _ in 0..duty.runs {
            let before = own.seconds()?;
            let pages = float(self.read_for(by, &mut position, duty.run)?);
            times.push((own.seconds()? - before) / pages * 1e6);
        }
        Ok(median(times))
    }

    fn read_for(&mut self, by: By, position: &mut usize, duration: Duration) -> Result<u64> {
        if self.pages.is_empty() {
            bail!("there are no pages to read");
        }
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed() < duration {
            *position = (*position + 1) % self.pages.len();
            // One transaction for a page: one state of the database, and one lock.
            let tx = self.connection.transaction()?;
            if let Some(page) = self.pages.get(*position) {
                read(&tx, by, self.account, page)?;
            }
            tx.commit()?;
            count += 1;
        }
        Ok(count)
    }
}

/// A connection with the settings of the server's own readers, and the number of the account with this slug.
pub(crate) fn open(database: &Path, account: &str) -> Result<(Connection, i64)> {
    let connection = Connection::open(database)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    let found = connection.query_row("SELECT id FROM accounts WHERE slug = ?1", [account], |row| row.get(0));
    let account = found.context("the account is not there")?;
    Ok((connection, account))
}

fn read(tx: &Transaction<'_>, by: By, account: i64, page: &[(String, i64)]) -> Result<()> {
    let mut statement = tx.prepare_cached(if by == By::Slug { BY_SLUG } else { BY_ROW })?;
    for (slug, row) in page {
        let mut rows = match by {
            By::Slug => statement.query(params![account, slug])?,
            By::Row => statement.query([row])?,
        };
        let row = rows.next()?.with_context(|| format!("the order {slug} is not there"))?;
        std::hint::black_box(row.get_ref(0)?.as_bytes()?);
    }
    Ok(())
}

/// The statement that reads the orders of each page on PostgreSQL.
pub(crate) fn statements(account: i64, pages: &[Vec<String>]) -> Result<Vec<Vec<Step>>> {
    let text: Arc<str> = "SELECT doc FROM orders WHERE account = $1 AND slug = ANY($2)".into();
    let types: Arc<[u32]> = Arc::from([Type::INT8.oid(), Type::TEXT_ARRAY.oid()]);
    let step = |page: &Vec<String>| {
        let values = vec![encoded(&account, &Type::INT8)?, encoded(page, &Type::TEXT_ARRAY)?];
        Ok(vec![Step { text: Arc::clone(&text), types: Arc::clone(&types), values: Some(values), waited: true }])
    };
    pages.iter().map(step).collect()
}

/// A value as it is sent.
fn encoded(value: &dyn ToSql, kind: &Type) -> Result<Option<Vec<u8>>> {
    let mut bytes = BytesMut::new();
    let encoded = value.to_sql_checked(kind, &mut bytes);
    encoded.map_err(|error| anyhow::anyhow!("a value cannot be sent: {error}"))?;
    Ok(Some(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATION: &str = include_str!("../../crates/db/migrations/V1__foundation.sql");

    #[test]
    fn orders_are_read_by_slug_and_by_row_on_the_schema_of_the_server() {
        let path = std::env::temp_dir().join(format!("plaudit-bench-by-id-{}.db", std::process::id()));
        let database = Connection::open(&path).unwrap();
        database.execute_batch(MIGRATION).unwrap();
        database
            .execute_batch(
                "INSERT INTO accounts VALUES (1, 'AccountA', 3, 2, x'00', 1, '{}');
                 INSERT INTO orders (account, slug, season, payment_status, test, deleted, purchaser, updated, created_at,
                     invoice_number, payment_method, total, discount, live, list_revision, revision, doc_form, doc)
                     VALUES (1, 'OrderAAA', 's', 'paid', 0, 0, 'p', 1, 1, '1', 'm', 5, '', 1, 1, 1, 1, '{}');",
            )
            .unwrap();
        drop(database);
        let duty = Duty { warm_up: Duration::ZERO, run: Duration::from_millis(20), runs: 1 };
        let pages = [vec!["OrderAAA".to_owned()]];
        let mut orders = Orders::open(&path, "AccountA", &pages).unwrap();
        for by in [By::Slug, By::Row] {
            assert!(orders.measure(by, duty).unwrap().is_finite());
        }
        drop(orders);
        assert!(Orders::open(&path, "AccountA", &[vec!["OrderBBB".to_owned()]]).is_err());
        for suffix in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{suffix}", path.display())));
        }
    }

    #[test]
    fn a_page_is_one_statement_on_postgresql() {
        let statements = statements(7, &[vec!["OrderAAA".to_owned()], vec!["OrderBBB".to_owned()]]).unwrap();
        assert_eq!(statements.len(), 2);
        let values = statements[1][0].values.as_ref().unwrap();
        assert_eq!(values[0].as_deref(), Some(&7_i64.to_be_bytes()[..]));
        assert!(values[1].as_ref().unwrap().ends_with(b"OrderBBB"));
    }
}
