//! Reads entries to list them.
//!
//! - How many entries a selection has in each season or group is a sum of kept counts, or counted where entries have to
//!   be searched for. From it a page is planned; the page then tells whether the account still stands where it stood.
//! - A selection of few entries is gathered whole and sorted. Another one is read in the index of its sort, which holds
//!   the segments: what the filters leave out is passed over in the index alone. Documents are looked up for what is shown.
//! - A search begins with what is found at once: the entries of an entrant, of a tag or of a price, a stretch of the last
//!   changes, or, for a part of a title, the index of the titles, all of it.

mod sql;

use std::sync::Arc;

use parking_lot::Mutex;

use self::sql::Statement;
use crate::db::{AccountId, Db, DbError, Row, Source};
use crate::entries::EntryHead;
use crate::entries::plan::{Listing, Part, Totals};
use crate::entries::selection::{Facts, Group};
use crate::http::page::anchors::{Anchors, Key, Place};
use crate::text::Slug;

/// From how many entries to pass over a page is read away from the threads that answer requests.
const PASSED_OVER: u64 = 1_000;

/// Where an account stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::entries) struct State {
    /// The version of the program.
    pub version: i64,
    /// The number of the last change.
    pub sequence: i64,
}

/// Where the account stands.
pub(in crate::entries) async fn state(db: &Db, account: AccountId) -> Result<Option<State>, DbError> {
    let sql = "SELECT version, sequence FROM accounts WHERE id = $1";
    db.look_up(sql, &[account.into()], |row| Ok(State { version: row.integer(0)?, sequence: row.integer(1)? })).await
}

/// Where the account stands, and how many entries of the list each season or group has. `seasons` are all seasons.
pub(in crate::entries) async fn totals(
    source: &mut Source<'_>,
    account: AccountId,
    listing: &Listing,
    seasons: &[Slug],
) -> Result<Option<(State, Totals)>, DbError> {
    let mut statement = Statement::new(account, source.engine());
    statement.write_totals(listing, seasons);
    let mut found = None;
    let mut totals = Totals::default();
    let take = |(state, total): (State, Option<(Slug, u64)>)| {
        found = Some(state);
        totals.by.extend(total);
        Ok(())
    };
    if listing.selection.is_counted() {
        let mut take = take;
        source.each(&statement.sql, &statement.values, |row| take(total(row)?)).await?;
    } else {
        source.each_long(&statement.sql, &statement.values, total, take).await?;
    }
    Ok(found.map(|state| (state, totals)))
}

fn total(row: &Row<'_>) -> Result<(State, Option<(Slug, u64)>), DbError> {
    let state = State { version: row.integer(0)?, sequence: row.integer(1)? };
    let total = match row.optional_integer(3)? {
        None => None,
        Some(total) => Some((slug(row, 2)?, u64::try_from(total).unwrap_or(0))),
    };
    Ok((state, total))
}

fn slug(row: &Row<'_>, column: usize) -> Result<Slug, DbError> {
    Slug::parse(row.text(column)?).ok_or_else(|| DbError::Failed("an entry has a broken slug".to_owned()))
}

/// How a page is read.
#[derive(Clone, Copy, Debug)]
pub(in crate::entries) struct Page<'p> {
    /// The list.
    pub listing: &'p Listing,
    /// How many entries each season or group of it has.
    pub totals: &'p Totals,
    /// The stretches of the page.
    pub parts: &'p [Part],
    /// All seasons.
    pub seasons: &'p [Slug],
    /// Whether the selection is gathered whole.
    pub is_gathered: bool,
    /// How many entries the page has at most.
    pub limit: u64,
    /// Whether the second documents are wanted.
    pub is_detailed: bool,
}

impl Page<'_> {
    fn is_long(&self) -> bool {
        !self.listing.selection.is_counted() || self.parts.iter().any(|part| part.offset > PASSED_OVER)
    }
}

/// A row of a page.
pub(in crate::entries) enum Found<'r> {
    /// Where the account stood, once for each page.
    State(State),
    /// An entry: the number of its part's group, its place, and its documents.
    Entry(usize, Place, &'r str, &'r str),
}

/// Reads the entries of a page in one statement, and with them where the account stood.
pub(in crate::entries) async fn page(
    source: &mut Source<'_>,
    account: AccountId,
    page: &Page<'_>,
    mut each: impl FnMut(Found<'_>) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let mut statement = Statement::new(account, source.engine());
    statement.write_page(page);
    let (is_text, is_detailed) = (page.listing.sort.column.is_text(), page.is_detailed);
    if !page.is_long() {
        let row = |row: &Row<'_>| each(found(row, is_text, is_detailed)?);
        return source.each(&statement.sql, &statement.values, row).await;
    }
    let read = move |row: &Row<'_>| {
        Ok(match found(row, is_text, is_detailed)? {
            Found::State(state) => Err(state),
            Found::Entry(number, place, doc, detail) => Ok((number, place, doc.to_owned(), detail.to_owned())),
        })
    };
    let each = |row: Result<(usize, Place, String, String), State>| match row {
        Err(state) => each(Found::State(state)),
        Ok((number, place, doc, detail)) => each(Found::Entry(number, place, &doc, &detail)),
    };
    source.each_long(&statement.sql, &statement.values, read, each).await
}

fn found<'r>(row: &'r Row<'_>, is_text: bool, is_detailed: bool) -> Result<Found<'r>, DbError> {
    let Ok(number) = usize::try_from(row.integer(2)?) else {
        return Ok(Found::State(State { version: row.integer(0)?, sequence: row.integer(1)? }));
    };
    let detail = if is_detailed { row.text(6)? } else { "" };
    Ok(Found::Entry(number, place(row, is_text, 3)?, row.text(5)?, detail))
}

fn place(row: &Row<'_>, is_text: bool, first: usize) -> Result<Place, DbError> {
    let key = if is_text { Key::Text(row.text(first)?.into()) } else { Key::Integer(row.integer(first)?) };
    Ok(Place { key, slug: slug(row, first + 1)? })
}

/// Builds the anchors of a group in its ascending order; with them the number of the last change that they contain.
pub(in crate::entries) async fn anchors(
    db: &Db,
    account: AccountId,
    (listing, totals): (&Listing, &Totals),
    group: Group,
) -> Result<(Anchors, i64), DbError> {
    let mut statement = Statement::new(account, db.engine());
    statement.sql.push_str("SELECT (SELECT sequence FROM accounts WHERE id = $1), key, slug FROM (");
    let part = Part { number: 0, group, start: None, offset: 0, limit: 0, rank: None };
    statement.write_ranges((listing, totals), &part, (false, ""), "");
    statement.sql.push_str(" ORDER BY key, slug) AS ordered");
    let built = Arc::new(Mutex::new((Anchors::default(), 0)));
    let building = Arc::clone(&built);
    let is_text = listing.sort.column.is_text();
    let read = move |row: &Row<'_>| {
        let mut built = building.lock();
        built.1 = row.integer(0)?;
        built.0.push(|| place(row, is_text, 1))
    };
    drop(db.each_aside(&statement.sql, &statement.values, read).await?);
    let built = std::mem::take(&mut *built.lock());
    Ok(built)
}

/// The changes of entries after one, by sequence number. The concatenation keeps both engines from looking through all
/// changes of entries by an index that begins with them.
const MOVED: &str = "SELECT a.sequence, c.slug, c.action, c.doc, e.archived, e.deleted, \
     (SELECT b.doc FROM changes b WHERE b.account = c.account AND b.kind = c.kind AND b.slug = c.slug \
     AND b.sequence < c.sequence ORDER BY b.sequence DESC LIMIT 1) \
     FROM accounts a LEFT JOIN changes c ON c.account = $1 AND c.sequence > $2 AND c.kind || '' = 'entry' \
     LEFT JOIN entries e ON e.account = $1 AND e.slug = c.slug \
     WHERE a.id = $1 ORDER BY c.sequence LIMIT $3";

/// What changed of an entry since a change of the account: before it, where there was one, and now.
pub(in crate::entries) struct Moved {
    /// What it was.
    pub before: Option<Facts>,
    /// What it is.
    pub after: Facts,
}

/// The number of the account's last change, and what has changed of its entries since another one. Nothing where these
/// are too many, or where the log does not tell what an entry was: after an import.
pub(in crate::entries) async fn moved(
    db: &Db,
    account: AccountId,
    since: i64,
    most: usize,
) -> Result<Option<(i64, Vec<Moved>)>, DbError> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
    let mut last = None;
    let mut steps = Steps::default();
    db.each(MOVED, &[account.into(), since.into(), limit.into()], |row| {
        last = Some(row.integer(0)?);
        if let Some(slug) = row.optional_text(1)? {
            let flags = (row.optional_integer(4)? == Some(1), row.optional_integer(5)? == Some(1));
            steps.take(slug, row.text(2)?, row.text(3)?, row.optional_text(6)?, flags);
        }
        Ok(())
    })
    .await?;
    let moved = steps.moved().filter(|_| steps.count <= most);
    Ok(last.zip(moved))
}

/// The changes of entries, put together by entry.
#[derive(Default)]
struct Steps {
    entries: std::collections::HashMap<String, Step>,
    count: usize,
    is_unknown: bool,
}

struct Step {
    first: Option<String>,
    last: String,
    archived: bool,
    /// What each change says of the trash before it.
    deleted: Vec<Option<bool>>,
    is_deleted: bool,
}

impl Steps {
    fn take(&mut self, slug: &str, action: &str, doc: &str, before: Option<&str>, (archived, deleted): (bool, bool)) {
        self.count += 1;
        self.is_unknown |= action == "imported";
        let step = self.entries.entry(slug.to_owned()).or_insert_with(|| Step {
            first: before.map(str::to_owned),
            last: String::new(),
            archived,
            deleted: Vec::new(),
            is_deleted: deleted,
        });
        doc.clone_into(&mut step.last);
        step.deleted.push(match action {
            "trashed" => Some(false),
            "restored" => Some(true),
            _ => None,
        });
    }

    fn moved(&self) -> Option<Vec<Moved>> {
        if self.is_unknown {
            return None;
        }
        let facts =
            |doc: &str, archived, deleted| EntryHead::read(doc).ok().map(|head| Facts::of(&head, archived, deleted));
        let of = |step: &Step| {
            let was_deleted = step.deleted.iter().find_map(|deleted| *deleted).unwrap_or(step.is_deleted);
            let before = match &step.first {
                None => None,
                Some(first) => Some(facts(first, step.archived, was_deleted)?),
            };
            Some(Moved { before, after: facts(&step.last, step.archived, step.is_deleted)? })
        };
        self.entries.values().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
