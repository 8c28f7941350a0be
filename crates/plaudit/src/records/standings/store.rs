//! The table of standings, and the writing of assignments, which keeps it.

use std::collections::{BTreeMap, BTreeSet};

use super::LISTED;
use super::board::{self, Decided, Standing};
use super::rules::{Totals, counted};
use crate::log::{self, Action, Change, Event, Origin};
use crate::program::score_sets::{Rules, ScoreSet};
use crate::program::store::{parse, stored_as};
use crate::program::{Context, Program, Record};
use crate::records::assignments::store::of_score_set;
use crate::records::assignments::{Assignment, AssignmentSlug, LIST, Shown, rules};
use crate::records::casting_votes::CastingVote;
use crate::records::entries;
use crate::records::lots::Lot;
use crate::records::people;
use crate::records::store::difference;
use db::{AccountId, Committed, DbError, Source, Tx, Value};
use kernel::kind::Kind;
use kernel::text::Slug;

/// How many assignments are read at once.
const PAGE: usize = 512;
/// The most entries of which the sheets are asked for by name.
const MOST_NAMED: usize = 1_000;

/// A sheet that may be changed.
#[derive(Clone, Debug)]
pub struct FoundSheet {
    /// The assignment, which is not in the trash.
    pub record: Record<Assignment>,
    /// The same, with what it shows of its entry and its judge.
    pub shown: Shown,
    /// What the sheets of its entry come to.
    pub totals: Option<Totals>,
}

/// An assignment that is not in the trash, and whose entry is not either, in a transaction that holds the head of the account: nobody
/// else changes what is read.
pub async fn find_sheet(
    tx: &mut Tx,
    account: AccountId,
    slug: AssignmentSlug,
    program: &Program,
) -> Result<Option<FoundSheet>, DbError> {
    let (columns, joins) = (LIST.shown.columns.join(", "), LIST.shown.joins);
    let sql = format!(
        "SELECT r.revision, s.doc, {columns} FROM assignments r{joins} \
         LEFT JOIN standings s ON s.account = r.account AND s.slug = $3 \
         WHERE r.account = $1 AND r.slug = $2 AND r.deleted = 0 AND e.deleted = 0"
    );
    let of = key(slug.entry(), slug.score_set());
    tx.first(&sql, &[account.into(), slug.as_str().into(), of.as_str().into()], |row| {
        let texts = (2..2 + LIST.shown.columns.len()).map(|at| Ok(row.optional_text(at)?.unwrap_or_default()));
        let shown = Shown::read(program, &texts.collect::<Result<Vec<&str>, DbError>>()?)?;
        let record = Record { value: shown.assignment.clone(), revision: row.integer(0)?, deleted: false };
        let totals = row.optional_text(1)?.map(totals).transpose()?;
        Ok(FoundSheet { record, shown, totals })
    })
    .await
}

/// A change of an assignment.
#[derive(Debug)]
pub struct Written<'w> {
    /// What was stored, be it in the trash.
    pub before: Option<&'w Record<Assignment>>,
    /// What the sheets of its entry come to before it, where that was read with it.
    pub totals: Option<Totals>,
    /// What it becomes. Its status is that of its sheet.
    pub after: Assignment,
    /// What is done to it.
    pub action: Action,
    /// The events that this causes.
    pub events: &'w [Event],
}

/// Logs and writes an assignment, and what the sheets of its entry come to; returns what is stored.
pub async fn write(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    Written { before, totals, mut after, action, events }: Written<'_>,
) -> Result<Record<Assignment>, DbError> {
    let deleted = action == Action::Trashed;
    after.status = rules::status(&after, program);
    let document = stored_as(&after, deleted);
    let change = Change { kind: Kind::Assignment, slug: after.slug.as_str(), action, events, document };
    let revision = log::append(tx, account, origin, change).await?;
    let record = Record { value: after, revision, deleted };
    people::put(tx, account, &record, before.map(|before| &before.value)).await?;
    shift(tx, account, program, (before, totals), &record).await?;
    Ok(record)
}

fn key(entry: Slug, score_set: Slug) -> String {
    format!("{entry}{score_set}")
}

fn too_large() -> DbError {
    DbError::Failed("the sheets of an entry come to a number that is too large".to_owned())
}

fn totals(doc: &str) -> Result<Totals, DbError> {
    serde_json::from_str(doc).map_err(|error| DbError::Failed(format!("a standing is broken: {error}")))
}

/// Changes what the sheets of an entry come to by what one of them was and is. `after` is written and logged; `known` is what they come
/// to before, where that was read already.
pub async fn shift(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    (before, known): (Option<&Record<Assignment>>, Option<Totals>),
    after: &Record<Assignment>,
) -> Result<(), DbError> {
    let Some(score_set) = program.score_sets.any(after.value.score_set) else { return Ok(()) };
    let added = |record: &Record<Assignment>| (!record.deleted).then(|| counted(&record.value, program));
    let (was, is) = (before.and_then(added), added(after));
    if was == is && before.is_some() {
        return Ok(());
    }
    let of = (after.value.entry, score_set);
    let found = match known {
        Some(known) => Some(known),
        None => find(tx, account, (of.0, of.1.slug)).await?,
    };
    let is_new = found.is_none();
    let mut totals = found.unwrap_or_default();
    for (counted, sign) in [(was, -1), (is, 1)] {
        if let Some(counted) = counted {
            totals = totals.changed(counted.as_ref(), sign, score_set).ok_or_else(too_large)?;
        }
    }
    if !is_new {
        return set(tx, account, of, &totals, after.revision).await;
    }
    let mut row = vec![("account", account.into()), ("slug", key(of.0, of.1.slug).into())];
    row.extend(OF_LINK.into_iter().zip([of.0.into(), of.1.slug.into()]));
    row.extend(OF_SHEETS.into_iter().zip(columns(of.1, &totals)?));
    // An import may write the entry later, which sets these then.
    let of_entry = entries::store::board_columns(tx, account, of.0).await?;
    row.extend(OF_ENTRY.into_iter().zip(of_entry.unwrap_or([0_i64.into(), 0_i64.into(), 0_i64.into(), "".into()])));
    row.push(("list_revision", after.revision.into()));
    tx.put(LISTED.sql, 2, row).await
}

/// What a standing is of.
const OF_LINK: [&str; 2] = ["entry", "score_set"];
/// What follows from the sheets.
const OF_SHEETS: [&str; 4] = ["sheets", "score", "deleted", "doc"];
/// What follows from the entry, which keeps it.
const OF_ENTRY: [&str; 4] = ["division", "submitted", "auto_score", "tags"];

fn columns(score_set: &ScoreSet, totals: &Totals) -> Result<[Value<'static>; 4], DbError> {
    let doc = serde_json::to_string(totals).map_err(|error| DbError::Failed(error.to_string()))?;
    Ok([totals.sheets.into(), totals.sort_key(score_set).into(), (totals.links == 0).into(), doc.into()])
}

/// Writes what the sheets of an entry come to that had a standing.
async fn set(
    tx: &mut Tx,
    account: AccountId,
    (entry, score_set): (Slug, &ScoreSet),
    totals: &Totals,
    revision: i64,
) -> Result<(), DbError> {
    let sql = "UPDATE standings SET sheets = $3, score = $4, deleted = $5, doc = $6, list_revision = $7 \
               WHERE account = $1 AND slug = $2";
    let mut values = vec![account.into(), key(entry, score_set.slug).into()];
    values.extend(columns(score_set, totals)?);
    values.push(revision.into());
    tx.enqueue(sql, values).await
}

/// The assignments after a slug in order, some at a time, those in the trash included; nothing at the end.
async fn next(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    last: &mut String,
) -> Result<Option<Vec<(String, Result<Record<Assignment>, DbError>)>>, DbError> {
    let sql = format!(
        "SELECT revision, deleted, doc, slug FROM assignments WHERE account = $1 AND slug > $2 ORDER BY slug LIMIT {PAGE}"
    );
    let found: Vec<(String, Result<Record<Assignment>, DbError>)> = tx
        .all(&sql, &[account.into(), last.as_str().into()], |row| {
            let (revision, deleted) = (row.integer(0)?, row.flag(1)?);
            let record = parse(row.text(2)?, &program.context).map(|value| Record { value, revision, deleted });
            Ok((row.text(3)?.to_owned(), record))
        })
        .await?;
    let Some((end, _)) = found.last() else { return Ok(None) };
    end.clone_into(last);
    Ok(Some(found))
}

/// Has the sheets of score sets follow criteria that were changed: assignments whose status is another one are written, and what
/// the sheets come to is computed anew.
pub async fn refresh(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    origin: &Origin,
    score_sets: &BTreeSet<Slug>,
) -> Result<(), DbError> {
    let mut last = String::new();
    let mut revision = tx.head(account).await?.map_or(0, |head| head.sequence);
    let mut gathered = Gathered::default();
    while let Some(found) = next(tx, account, program, &mut last).await? {
        for (_, found) in found {
            let Record { value: mut assignment, deleted, .. } = found?;
            if !score_sets.contains(&assignment.score_set) {
                continue;
            }
            let status = rules::status(&assignment, program);
            if status != assignment.status {
                assignment.status = status;
                let document = stored_as(&assignment, deleted);
                let slug = assignment.slug;
                let action = if deleted { Action::Trashed } else { Action::Updated };
                let change = Change { kind: Kind::Assignment, slug: slug.as_str(), action, events: &[], document };
                revision = log::append(tx, account, origin, change).await?;
                people::put(tx, account, &Record { value: assignment.clone(), revision, deleted }, None).await?;
            }
            if let Some((entry, of_entry)) = gathered.add(&assignment, deleted, program)? {
                set_all(tx, account, program, (entry, of_entry), revision).await?;
            }
        }
    }
    if let Some((entry, of_entry)) = gathered.end() {
        set_all(tx, account, program, (entry, of_entry), revision).await?;
    }
    Ok(())
}

async fn set_all(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    (entry, of_entry): OfEntry,
    revision: i64,
) -> Result<(), DbError> {
    for (score_set, totals) in of_entry {
        if let Some(score_set) = program.score_sets.any(score_set) {
            set(tx, account, (entry, score_set), &totals, revision).await?;
        }
    }
    Ok(())
}

/// The totals of an entry by score set.
type OfEntry = (Slug, BTreeMap<Slug, Totals>);

/// Totals that are gathered of assignments that come by slug, and so entry after entry.
#[derive(Default)]
struct Gathered(Option<OfEntry>);

impl Gathered {
    /// Adds an assignment; gives the totals of the entry before where another one begins.
    fn add(&mut self, assignment: &Assignment, deleted: bool, program: &Program) -> Result<Option<OfEntry>, DbError> {
        let is_next = self.0.as_ref().is_some_and(|(entry, _)| *entry != assignment.entry);
        let ended = if is_next { self.0.take() } else { None };
        let Some(score_set) = program.score_sets.any(assignment.score_set) else { return Ok(ended) };
        let (_, of_entry) = self.0.get_or_insert_with(|| (assignment.entry, BTreeMap::new()));
        let totals = of_entry.entry(score_set.slug).or_default();
        if !deleted {
            let added = counted(assignment, program);
            *totals = std::mem::take(totals).changed(added.as_ref(), 1, score_set).ok_or_else(too_large)?;
        }
        Ok(ended)
    }

    fn end(&mut self) -> Option<OfEntry> {
        self.0.take()
    }
}

/// Hands over each standing that is not what its assignments come to; gives how many there are.
pub async fn each_wrong(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    mut each: impl FnMut(String) + Send,
) -> Result<u64, DbError> {
    let (mut last, mut gathered, mut count) = (String::new(), Gathered::default(), 0);
    // The entries of sheets that cannot be read, which is told where documents are compared.
    let mut unknown: BTreeSet<String> = BTreeSet::new();
    let is_known = |unknown: &BTreeSet<String>, (entry, _): &OfEntry| !unknown.contains(entry.as_str());
    while let Some(found) = next(tx, account, program, &mut last).await? {
        for (slug, found) in found {
            let added = found.and_then(|record| gathered.add(&record.value, record.deleted, program));
            match added {
                Ok(Some(ended)) if is_known(&unknown, &ended) => {
                    count += compare(tx, account, program, ended, &mut each).await?;
                }
                Ok(_) => {}
                Err(_) => drop(unknown.insert(slug.chars().take(Slug::LENGTH).collect())),
            }
        }
    }
    if let Some(ended) = gathered.end().filter(|ended| is_known(&unknown, ended)) {
        count += compare(tx, account, program, ended, &mut each).await?;
    }
    let sql = "SELECT s.slug FROM standings s WHERE s.account = $1 AND NOT EXISTS (SELECT 1 FROM assignments a \
               WHERE a.account = s.account AND a.entry = s.entry AND a.score_set = s.score_set) ORDER BY s.slug";
    tx.each(sql, &[account.into()], |row| {
        each(difference("standings", row.text(0)?, "account, slug", "no assignment is of it"));
        Ok(())
    })
    .await?;
    Ok(count)
}

async fn compare(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    (entry, of_entry): OfEntry,
    each: &mut (impl FnMut(String) + Send),
) -> Result<u64, DbError> {
    let count = of_entry.len() as u64;
    // An entry that cannot be read is told where documents are compared.
    let board_columns = entries::store::board_columns(tx, account, entry).await.ok().flatten();
    let names: Vec<&str> = OF_LINK.into_iter().chain(OF_SHEETS).chain(OF_ENTRY).collect();
    for (slug, totals) in of_entry {
        let Some(score_set) = program.score_sets.any(slug) else { continue };
        let key = key(entry, slug);
        let sql = format!("SELECT {} FROM standings WHERE account = $1 AND slug = $2", names.join(", "));
        let found: Option<Vec<Value<'static>>> = tx
            .first(&sql, &[account.into(), key.as_str().into()], |row| {
                (0..names.len()).map(|at| row.value(at)).collect()
            })
            .await?;
        let Some(found) = found else {
            each(difference("standings", &key, "account, slug", "it is missing"));
            continue;
        };
        let of_link = [Value::from(entry), slug.into()];
        let expected = of_link.into_iter().chain(columns(score_set, &totals)?);
        let expected = expected.chain(board_columns.iter().flatten().cloned()).map(Value::stored);
        for ((column, found), expected) in names.iter().zip(found).zip(expected) {
            if found != expected {
                each(difference("standings", &key, column, "it is not what the assignments and the entry come to"));
            }
        }
    }
    Ok(count)
}

/// Of which entries of a score set is read: those outside the trash and the archive, of a category, of a chapter and with a tag.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'s> {
    /// The score set.
    pub score_set: Slug,
    /// The category; nothing for any.
    pub category: Option<Slug>,
    /// The chapter; nothing for any.
    pub chapter: Option<Slug>,
    /// The tag; nothing for any.
    pub tag: Option<&'s str>,
}

/// Where the account stands.
pub async fn head(tx: &mut Tx, account: AccountId) -> Result<Option<Committed>, DbError> {
    let sql = "SELECT version, sequence, hash FROM accounts WHERE id = $1";
    tx.first(sql, &[account.into()], |row| Committed::read(row, 0)).await
}

/// Hands over the assignments of selected entries, each with the title of the entry and the names of the judge.
pub async fn each_judged(
    tx: &mut Tx,
    account: AccountId,
    program: &Program,
    selected: Selected<'_>,
    mut each: impl FnMut(Assignment, &str, &str) + Send,
) -> Result<(), DbError> {
    let sql = "SELECT a.doc, e.title, u.names FROM assignments a \
               JOIN entries e ON e.account = a.account AND e.slug = a.entry \
               LEFT JOIN users u ON u.account = a.account AND u.slug = a.judge \
               WHERE a.account = $1 AND a.score_set = $2 AND a.deleted = 0 AND e.deleted = 0 AND e.archived = 0 \
               AND ($3 = '' OR e.category = $3) AND ($4 = '' OR e.chapter = $4) AND ($5 = '' OR EXISTS \
               (SELECT 1 FROM entry_tags t WHERE t.account = e.account AND t.slug = e.slug AND t.tag = $5))";
    let of = |slug: Option<Slug>| slug.map_or(Value::from(""), Value::from);
    let (category, chapter) = (of(selected.category), of(selected.chapter));
    let values =
        [account.into(), selected.score_set.into(), category, chapter, selected.tag.unwrap_or_default().into()];
    tx.each(sql, &values, |row| {
        each(parse(row.text(0)?, &program.context)?, row.text(1)?, row.optional_text(2)?.unwrap_or_default());
        Ok(())
    })
    .await
}

/// What the sheets of an entry come to, in the transaction; nothing where there is no assignment.
pub async fn find(
    tx: &mut Tx,
    account: AccountId,
    (entry, score_set): (Slug, Slug),
) -> Result<Option<Totals>, DbError> {
    let sql = "SELECT doc FROM standings WHERE account = $1 AND slug = $2";
    tx.first(sql, &[account.into(), key(entry, score_set).as_str().into()], |row| totals(row.text(0)?)).await
}

/// What people decided of the ties of a score set.
pub async fn decided(
    source: &mut Source<'_>,
    account: AccountId,
    score_set: Slug,
    context: &Context,
) -> Result<Decided, DbError> {
    let sql = "SELECT CAST(1 AS BIGINT), doc FROM casting_votes WHERE account = $1 AND score_set = $2 AND deleted = 0 \
               UNION ALL SELECT CAST(2 AS BIGINT), doc FROM lots WHERE account = $1 AND score_set = $2 AND deleted = 0";
    let mut decided = Decided::default();
    source
        .each(sql, &[account.into(), score_set.into()], |row| {
            if row.integer(0)? == 1 {
                decided.casting_vote = parse::<CastingVote>(row.text(1)?, context)?.entries;
            } else {
                let Lot { entries, numbers, .. } = parse(row.text(1)?, context)?;
                (decided.lot, decided.numbers) = (entries, numbers);
            }
            Ok(())
        })
        .await?;
    Ok(decided)
}

/// The places among entries with one score, or among all that are compared where the mode is `top_pick`. They come, and are, in the
/// order of their slugs.
pub async fn places(
    source: &mut Source<'_>,
    account: AccountId,
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    entries: &[Slug],
) -> Result<Vec<Standing>, DbError> {
    let of = (score_set.slug, Some(entries).filter(|entries| entries.len() <= MOST_NAMED));
    if let Rules::TopPick(rules) = score_set.rules {
        let sheets = of_score_set(source, account, of, &program.context).await?;
        return board::elect(program, (score_set, rules, decided), entries, &sheets)
            .map_err(|error| DbError::Failed(error.to_string()));
    }
    let has_steps = !score_set.tie_break.is_empty() && entries.len() > 1;
    let sheets = if has_steps { of_score_set(source, account, of, &program.context).await? } else { Vec::new() };
    Ok(board::settle(program, (score_set, decided), entries, &sheets))
}

/// How many places each of these groups of equal scores is told apart into, as [`places`] does it.
pub async fn count_places(
    source: &mut Source<'_>,
    account: AccountId,
    program: &Program,
    (score_set, decided): (&ScoreSet, &Decided),
    groups: &[Vec<Slug>],
) -> Result<Vec<u64>, DbError> {
    if score_set.tie_break.is_empty() && decided.casting_vote.is_empty() && decided.lot.is_empty() {
        return Ok(vec![1; groups.len()]);
    }
    let mut counts = Vec::with_capacity(groups.len());
    let mut groups = groups;
    while !groups.is_empty() {
        // As many as are named in one statement, and at least one group, so that the sheets of few are held at a time.
        let mut named = 0;
        let fits = groups.iter().take_while(|group| {
            named += group.len();
            named <= MOST_NAMED
        });
        let (some, rest) = groups.split_at(fits.count().max(1));
        groups = rest;
        let mut of_entry: BTreeMap<Slug, Vec<Assignment>> = BTreeMap::new();
        if !score_set.tie_break.is_empty() {
            let entries = some.concat();
            let of = (score_set.slug, Some(&*entries));
            for sheet in of_score_set(source, account, of, &program.context).await? {
                of_entry.entry(sheet.entry).or_default().push(sheet);
            }
        }
        counts.extend(some.iter().map(|group| {
            let sheets: Vec<Assignment> = group.iter().filter_map(|entry| of_entry.remove(entry)).flatten().collect();
            let standings = board::settle(program, (score_set, decided), group, &sheets);
            standings.chunk_by(|one, other| one.place == other.place).count() as u64
        }));
    }
    Ok(counts)
}

/// An entry on a leaderboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnBoard {
    /// Its slug.
    pub entry: Slug,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Slug,
    /// Its chapter.
    pub chapter: Slug,
    /// Its score as leaderboards sort by it; empty where it is undecided.
    pub score: String,
}

/// The entries on the leaderboard of a score set, archived ones left out, in the order of their slugs.
pub async fn on_board(tx: &mut Tx, account: AccountId, score_set: Slug) -> Result<Vec<OnBoard>, DbError> {
    let sql = "SELECT s.entry, e.title, e.category, e.chapter, s.score FROM standings s \
               JOIN entries e ON e.account = s.account AND e.slug = s.entry \
               WHERE s.account = $1 AND s.score_set = $2 AND s.deleted = 0 AND e.deleted = 0 AND e.archived = 0 \
               ORDER BY s.entry";
    tx.all(sql, &[account.into(), score_set.into()], |row| {
        Ok(OnBoard {
            entry: row.slug(0)?,
            title: row.text(1)?.to_owned(),
            category: row.slug(2)?,
            chapter: row.slug(3)?,
            score: row.text(4)?.to_owned(),
        })
    })
    .await
}
