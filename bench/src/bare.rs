//! Bare group commits: rusqlite writing the rows that the server wrote, and nothing else.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rusqlite::{Connection, params};

use crate::load::{Duty, float, median};
use crate::machine::Processes;
use crate::replay::Written;

/// As many changes in one commit as the server has connections to wait for.
const GROUP: usize = crate::load::CONNECTIONS;

/// What the server writes of an entry that goes to another chapter.
const UPDATE_ENTRY: &str = "UPDATE entries SET chapter = ?3, updated = ?4, list_revision = ?5, revision = ?5, \
     doc = ?6 WHERE account = ?1 AND slug = ?2";

const INSERT_CHANGE: &str = "INSERT INTO changes (account, sequence, at, doc_form, actor, source, kind, slug, action, \
     events, doc, doc_hash, hash) VALUES (?1, ?2, ?3, 1, ?4, ?5, 'entry', ?6, ?7, ?8, ?9, ?10, ?10)";

const UPDATE_HEAD: &str = "UPDATE accounts SET version = ?2, sequence = ?3, hash = ?4 WHERE id = ?1";

/// An entry as it stands, with the last change of it that the server logged.
struct Row {
    account: i64,
    slug: String,
    chapter: String,
    updated: i64,
    doc: String,
    actor: String,
    source: String,
    action: String,
    events: String,
    logged: String,
}

/// The entries that the server changed last, in the order in which it changed them.
fn rows(connection: &Connection, wanted: usize) -> Result<Vec<Row>> {
    let mut statement = connection.prepare(
        "SELECT e.account, e.slug, e.chapter, e.updated, e.doc, c.actor, c.source, c.action, c.events, c.doc \
         FROM (SELECT account, slug, max(sequence) AS sequence FROM changes WHERE kind = 'entry' \
               GROUP BY account, slug ORDER BY max(sequence) DESC LIMIT ?1) AS last \
         JOIN changes AS c ON c.account = last.account AND c.sequence = last.sequence \
         JOIN entries AS e ON e.account = last.account AND e.slug = last.slug \
         ORDER BY last.sequence",
    )?;
    let rows = statement.query_map([i64::try_from(wanted)?], |row| {
        Ok(Row {
            account: row.get(0)?,
            slug: row.get(1)?,
            chapter: row.get(2)?,
            updated: row.get(3)?,
            doc: row.get(4)?,
            actor: row.get(5)?,
            source: row.get(6)?,
            action: row.get(7)?,
            events: row.get(8)?,
            logged: row.get(9)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The settings of the server's own connections.
fn open(database: &Path) -> Result<Connection> {
    let connection = Connection::open(database)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // As long as the server lets its log become before it is begun again.
    connection.pragma_update(None, "wal_autocheckpoint", 3_000)?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.set_prepared_statement_cache_capacity(16);
    Ok(connection)
}

/// What one account's writer knows between its commits.
struct Head {
    account: i64,
    version: i64,
    sequence: i64,
    hash: [u8; 32],
}

/// Commits groups for the times of `duty` and gives the medians.
pub(crate) fn measure(database: &Path, duty: Duty, wanted: usize) -> Result<Written> {
    let mut connection = open(database)?;
    let mut rows = rows(&connection, wanted)?;
    let Some(account) = rows.first().map(|row| row.account) else {
        bail!("the server logged no change of an entry");
    };
    let (version, sequence): (i64, i64) =
        connection.query_row("SELECT version, sequence FROM accounts WHERE id = ?1", [account], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut head = Head { account, version, sequence, hash: [7; 32] };
    let mut position = 0;
    commit_for(&mut connection, &mut rows, &mut head, &mut position, duty.warm_up)?;
    let own = Processes { alone: vec![std::process::id()], postmaster: None };
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    for _ in 0..duty.runs {
        let (start, used) = (Instant::now(), own.seconds()?);
        let changes = float(commit_for(&mut connection, &mut rows, &mut head, &mut position, duty.run)?);
        rates.push(changes / start.elapsed().as_secs_f64());
        times.push((own.seconds()? - used) / changes * 1e6);
    }
    Ok(Written { rate: median(rates), microseconds: median(times) })
}

/// Commits groups for a time and gives the number of changes.
fn commit_for(
    connection: &mut Connection,
    rows: &mut [Row],
    head: &mut Head,
    position: &mut usize,
    duration: Duration,
) -> Result<u64> {
    let start = Instant::now();
    let mut changes = 0;
    while start.elapsed() < duration {
        let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for _ in 0..GROUP.min(rows.len()) {
            *position = (*position + 1) % rows.len();
            if let Some(row) = rows.get_mut(*position) {
                change(&tx, row, head)?;
                changes += 1;
            }
        }
        tx.prepare_cached(UPDATE_HEAD)?.execute(params![head.account, head.version, head.sequence, head.hash])?;
        tx.commit()?;
    }
    Ok(changes)
}

fn change(tx: &rusqlite::Transaction<'_>, row: &mut Row, head: &mut Head) -> Result<()> {
    head.sequence += 1;
    row.updated += 1;
    // Another hash for every row, as the chain has; making it is the server's work, not the database's.
    if let Some((first, _)) = head.hash.split_first_chunk_mut() {
        *first = head.sequence.to_le_bytes();
    }
    let updated = tx.prepare_cached(UPDATE_ENTRY)?.execute(params![
        row.account,
        row.slug,
        row.chapter,
        row.updated,
        head.sequence,
        row.doc
    ])?;
    if updated != 1 {
        bail!("the entry {} is not there", row.slug);
    }
    tx.prepare_cached(INSERT_CHANGE)?.execute(params![
        row.account,
        head.sequence,
        row.updated,
        row.actor,
        row.source,
        row.slug,
        row.action,
        row.events,
        row.logged,
        head.hash
    ])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATION: &str = include_str!("../../crates/db/migrations/V1__foundation.sql");

    #[test]
    fn groups_are_committed_on_the_schema_of_the_server() {
        let path = std::env::temp_dir().join(format!("plaudit-bench-bare-{}.db", std::process::id()));
        let database = Connection::open(&path).unwrap();
        database.execute_batch(MIGRATION).unwrap();
        database
            .execute_batch(
                "INSERT INTO accounts VALUES (1, 'AccountA', 3, 2, x'00', 1, '{}');
                 INSERT INTO changes VALUES
                     (1, 1, 5, 1, 'a', 'api', 'entry', 'EntryAAA', 'u', '', '{\"a\":1}', x'00', x'00'),
                     (1, 2, 6, 1, 'a', 'api', 'entry', 'EntryAAA', 'u', '', '{\"a\":2}', x'00', x'00');
                 INSERT INTO entries (account, slug, local_id, season, category, division, chapter, form, entrant, status,
                     moderation, payment, review_key, title, title_key, updated, archived, deleted,
                     list_revision, revision, doc_form, doc, detail)
                     VALUES (1, 'EntryAAA', 1, 's', 'c', 0, 'h', 'f', 'e', 'submitted', 'undecided', 'Paid', '', 't',
                     't', 2, 0, 0, 2, 2, 1, '{}', '');",
            )
            .unwrap();
        drop(database);
        let duty = Duty { warm_up: Duration::ZERO, run: Duration::from_millis(20), runs: 1 };
        let written = measure(&path, duty, 10).unwrap();
        assert!(written.rate > 0.0);
        let database = Connection::open(&path).unwrap();
        let query = "SELECT sequence - 2, (SELECT count(*) - 2 FROM changes), (SELECT updated - 2 FROM entries), \
                     (SELECT list_revision - revision FROM entries) FROM accounts";
        let counts: [i64; 4] =
            database.query_row(query, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])).unwrap();
        assert!(counts[0] > 0 && counts == [counts[0], counts[0], counts[0], 0], "{counts:?}");
        drop(database);
        for suffix in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{suffix}", path.display())));
        }
    }
}
