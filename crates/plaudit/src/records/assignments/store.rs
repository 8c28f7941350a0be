//! The table of assignments.

use std::collections::BTreeMap;

use super::{Assignment, AssignmentSlug, Shown, Status};
use crate::program::store::parse;
use crate::program::{Context, Program, Record};
use crate::records::store::{SetTable, filled};
use db::{AccountId, DbError, Row, Source, Tx, Value};
use kernel::text::Slug;

/// The panels that assign.
pub(super) const PANELS: SetTable =
    SetTable { table: "assignment_panels", key: "slug", columns: &["panel"], identifying: 1 };
/// The rounds in which is judged.
pub(super) const ROUNDS: SetTable =
    SetTable { table: "assignment_rounds", key: "slug", columns: &["round"], identifying: 1 };

fn read(row: &Row<'_>, context: &Context) -> Result<Record<Assignment>, DbError> {
    Ok(Record { value: parse(row.text(2)?, context)?, revision: row.integer(0)?, deleted: row.flag(1)? })
}

/// An assignment, even one in the trash, locked until the end of the transaction.
pub async fn find_any_for_update(
    tx: &mut Tx,
    account: AccountId,
    slug: AssignmentSlug,
    context: &Context,
) -> Result<Option<Record<Assignment>>, DbError> {
    let sql = "SELECT revision, deleted, doc FROM assignments WHERE account = $1 AND slug = $2";
    tx.first_for_update(sql, &[account.into(), slug.as_str().into()], |row| read(row, context)).await
}

/// The assignments of a judge to an entry that are not in the trash, of one score set or of all.
pub async fn of_pair(
    tx: &mut Tx,
    account: AccountId,
    (entry, judge): (Slug, Slug),
    score_set: Option<Slug>,
    context: &Context,
) -> Result<Vec<Record<Assignment>>, DbError> {
    // A judge of an entry has one in each score set, and these are few.
    let sql = "SELECT revision, deleted, doc FROM assignments \
               WHERE account = $1 AND entry = $2 AND judge = $3 AND deleted = 0 ORDER BY score_set";
    let found: Vec<Record<Assignment>> =
        tx.all(sql, &[account.into(), entry.into(), judge.into()], |row| read(row, context)).await?;
    Ok(found.into_iter().filter(|found| score_set.is_none_or(|wanted| found.value.score_set == wanted)).collect())
}

/// All assignments of an entry in a score set, those in the trash included.
pub async fn of_entry(
    tx: &mut Tx,
    account: AccountId,
    (entry, score_set): (Slug, Slug),
    context: &Context,
) -> Result<Vec<Record<Assignment>>, DbError> {
    let sql = "SELECT revision, deleted, doc FROM assignments \
               WHERE account = $1 AND entry = $2 AND score_set = $3 ORDER BY judge, score_set";
    tx.all(sql, &[account.into(), entry.into(), score_set.into()], |row| read(row, context)).await
}

/// The assignments of a score set that are not in the trash, of some entries or of all.
pub async fn of_score_set(
    source: &mut Source<'_>,
    account: AccountId,
    (score_set, entries): (Slug, Option<&[Slug]>),
    context: &Context,
) -> Result<Vec<Assignment>, DbError> {
    let (mut sql, mut values) = (
        "SELECT doc FROM assignments WHERE account = $1 AND score_set = $2 AND deleted = 0".to_owned(),
        vec![account.into(), score_set.into()],
    );
    if let Some(entries) = entries {
        let (list, filled) = filled(entries, 3, values);
        sql = format!("{sql} AND entry IN ({list})");
        values = filled;
    }
    let mut found = Vec::new();
    source
        .each(&sql, &values, |row| {
            found.push(parse(row.text(0)?, context)?);
            Ok(())
        })
        .await?;
    Ok(found)
}

/// Hands over the assignments of an account that are not in the trash, of one score set or of all, by score set and slug.
pub async fn each(
    tx: &mut Tx,
    account: AccountId,
    score_set: Option<Slug>,
    context: &Context,
    mut each: impl FnMut(Assignment) -> Result<(), DbError> + Send,
) -> Result<(), DbError> {
    let sql = "SELECT doc FROM assignments WHERE account = $1 AND ($2 = '' OR score_set = $2) AND deleted = 0 \
               ORDER BY score_set, slug";
    let values = [account.into(), score_set.map_or(Value::from(""), Value::from)];
    tx.each(sql, &values, |row| each(parse(row.text(0)?, context)?)).await
}

/// Complete sheets of a judge in a score set, stray and recused ones left out, each with the category of its entry.
pub async fn complete_of_judge(
    tx: &mut Tx,
    account: AccountId,
    (judge, score_set): (Slug, Slug),
    context: &Context,
) -> Result<Vec<(Assignment, Slug)>, DbError> {
    let sql = "SELECT a.doc, e.category FROM assignments a JOIN entries e ON e.account = a.account AND e.slug = a.entry \
               WHERE a.account = $1 AND a.judge = $2 AND a.score_set = $3 AND a.deleted = 0 AND a.status = 'complete' \
               AND a.method NOT IN ('stray', 'recused') AND e.deleted = 0";
    let values = [account.into(), judge.into(), score_set.into()];
    tx.all(sql, &values, |row| Ok((parse(row.text(0)?, context)?, row.slug(1)?))).await
}

/// The same of several judges, who are one at least; those of an entry are left out.
pub async fn complete_elsewhere(
    tx: &mut Tx,
    account: AccountId,
    (entry, score_set): (Slug, Slug),
    judges: &[Slug],
    context: &Context,
) -> Result<Vec<(Assignment, Slug)>, DbError> {
    let (list, values) = filled(judges, 4, vec![account.into(), score_set.into(), entry.into()]);
    let sql = format!(
        "SELECT a.doc, e.category FROM assignments a JOIN entries e ON e.account = a.account AND e.slug = a.entry \
         WHERE a.account = $1 AND a.judge IN ({list}) AND a.score_set = $2 AND a.entry <> $3 AND a.deleted = 0 \
         AND a.status = 'complete' AND a.method NOT IN ('stray', 'recused') AND e.deleted = 0"
    );
    tx.all(&sql, &values, |row| Ok((parse(row.text(0)?, context)?, row.slug(1)?))).await
}

/// Where a judge has an assignment that holds.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// The entry.
    pub entry: Slug,
    /// The score set.
    pub score_set: Slug,
    /// Whether the sheet is complete.
    pub is_complete: bool,
}

/// The assignments of a judge to some entries that hold and are free of conflicts of interest.
pub async fn judged(
    source: &mut Source<'_>,
    account: AccountId,
    judge: Slug,
    entries: &[Slug],
) -> Result<Vec<Own>, DbError> {
    let mut found = Vec::new();
    if entries.is_empty() {
        return Ok(found);
    }
    let (list, values) = filled(entries, 3, vec![account.into(), judge.into()]);
    let sql = format!(
        "SELECT entry, score_set, status FROM assignments WHERE account = $1 AND judge = $2 AND entry IN ({list}) AND deleted = 0 \
         AND conflicted = 0 AND method NOT IN ('stray', 'recused')"
    );
    source
        .each(&sql, &values, |row| {
            let is_complete = row.text(2)? == Status::Complete.name();
            found.push(Own { entry: row.slug(0)?, score_set: row.slug(1)?, is_complete });
            Ok(())
        })
        .await?;
    Ok(found)
}

/// Open sheets of a judge in a score set, of entries that are not in the trash, after this slug and in order.
pub async fn open_of_judge(
    tx: &mut Tx,
    account: AccountId,
    (judge, score_set): (Slug, Slug),
    (after, most): (&str, usize),
) -> Result<Vec<AssignmentSlug>, DbError> {
    let sql = format!(
        "SELECT a.slug FROM assignments a JOIN entries e ON e.account = a.account AND e.slug = a.entry \
         WHERE a.account = $1 AND a.judge = $2 AND a.score_set = $3 AND a.slug > $4 AND a.deleted = 0 AND e.deleted = 0 \
         AND a.status IN ('none', 'in_progress') AND a.method NOT IN ('stray', 'recused') ORDER BY a.slug LIMIT {most}"
    );
    let values = [account.into(), judge.into(), score_set.into(), after.into()];
    let found: Vec<Option<AssignmentSlug>> =
        tx.all(&sql, &values, |row| Ok(AssignmentSlug::parse(row.text(0)?))).await?;
    Ok(found.into_iter().flatten().collect())
}

/// How many entries each judge of a score set has, stray and recused ones left out.
pub async fn loads(tx: &mut Tx, account: AccountId, score_set: Slug) -> Result<BTreeMap<Slug, i64>, DbError> {
    let sql = "SELECT judge, count(*) FROM assignments WHERE account = $1 AND score_set = $2 AND deleted = 0 AND judge <> '' \
               AND method NOT IN ('stray', 'recused') GROUP BY judge";
    let found: Vec<(Slug, i64)> =
        tx.all(sql, &[account.into(), score_set.into()], |row| Ok((row.slug(0)?, row.integer(1)?))).await?;
    Ok(found.into_iter().collect())
}

/// The document that is shown of an assignment, from a stored one, with its entry and its judge as they are now;
/// nothing where there is no such entry.
pub async fn as_shown(
    mut source: Source<'_>,
    account: AccountId,
    program: &Program,
    doc: &str,
) -> Result<Option<String>, DbError> {
    let assignment: Assignment = parse(doc, &program.context)?;
    let judge = assignment.judge.map_or_else(String::new, |judge| judge.to_string());
    let sql = "SELECT e.title, e.category, e.chapter, e.form, u.names FROM entries e \
               LEFT JOIN users u ON u.account = e.account AND u.slug = $3 WHERE e.account = $1 AND e.slug = $2";
    let values = [account.into(), assignment.entry.into(), judge.into()];
    let shown = source.first(sql, &values, |row| {
        let names = row.optional_text(4)?.unwrap_or_default();
        let texts = [doc, row.text(0)?, row.text(1)?, row.text(2)?, row.text(3)?, names];
        Ok(Shown::read(program, &texts)?.document(program))
    });
    shown.await
}

/// Whether judges other than this one gave anything on sheets of an entry in a score set that hold.
pub async fn others_gave(
    tx: &mut Tx,
    account: AccountId,
    (entry, score_set): (Slug, Slug),
    judge: Option<Slug>,
) -> Result<bool, DbError> {
    // What the index of lists does not have is asked for, so that the one of entries is taken.
    let sql = "SELECT revision FROM assignments WHERE account = $1 AND entry = $2 AND score_set = $3 AND judge <> $4 \
               AND deleted = 0 AND status <> 'none' AND method NOT IN ('stray', 'recused') LIMIT 1";
    let judge = judge.map_or_else(String::new, |judge| judge.to_string());
    Ok(tx.first(sql, &[account.into(), entry.into(), score_set.into(), judge.into()], |_| Ok(())).await?.is_some())
}

/// Whether a judge has an assignment that holds in a score set.
pub async fn is_judge_of(
    account: AccountId,
    mut source: Source<'_>,
    (judge, score_set): (Slug, Slug),
) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM assignments WHERE account = $1 AND judge = $2 AND score_set = $3 AND deleted = 0 \
               AND method NOT IN ('stray', 'recused') LIMIT 1";
    let mut is_found = false;
    source
        .each(sql, &[account.into(), judge.into(), score_set.into()], |_| {
            is_found = true;
            Ok(())
        })
        .await?;
    Ok(is_found)
}

/// Assignments of a judge to entries of a category that are alike.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The judge.
    pub judge: Slug,
    /// The judge's name.
    pub name: String,
    /// The category.
    pub category: Slug,
    /// Their status.
    pub status: String,
    /// What they are.
    pub method: String,
    /// How many there are.
    pub count: i64,
}

/// An entry that lacks judges.
#[derive(Clone, Debug)]
pub struct Short {
    /// The entry.
    pub slug: Slug,
    /// Its title.
    pub title: String,
}

/// The version of the account's program, how far the judges of a score set are, and which entries have fewer of them than this; of
/// the entries of some chapters or of all.
pub async fn progress(
    tx: &mut Tx,
    account: AccountId,
    (score_set, needed): (Slug, i64),
    chapters: Option<&[Slug]>,
) -> Result<Option<(i64, Vec<Counted>, Vec<Short>)>, DbError> {
    let sql = "SELECT version FROM accounts WHERE id = $1";
    let Some(version) = tx.first(sql, &[account.into()], |row| row.integer(0)).await? else { return Ok(None) };
    let from = "FROM assignments a JOIN entries e ON e.account = a.account AND e.slug = a.entry";
    if chapters.is_some_and(<[Slug]>::is_empty) {
        return Ok(Some((version, Vec::new(), Vec::new())));
    }
    let (list, mut values) = filled(chapters.unwrap_or_default(), 3, vec![account.into(), score_set.into()]);
    let of_chapters = chapters.map_or_else(String::new, |_| format!(" AND e.chapter IN ({list})"));
    let which = format!(
        "a.account = $1 AND a.score_set = $2 AND a.deleted = 0 AND e.deleted = 0 AND a.judge <> '' \
         AND a.method <> 'stray'{of_chapters}"
    );
    let sql = format!(
        "SELECT a.judge, e.category, a.status, a.method, count(*), min(u.names) {from} \
         LEFT JOIN users u ON u.account = a.account AND u.slug = a.judge WHERE {which} \
         GROUP BY a.judge, e.category, a.status, a.method"
    );
    let counted: Vec<Counted> = tx
        .all(&sql, &values, |row| {
            Ok(Counted {
                judge: row.slug(0)?,
                category: row.slug(1)?,
                status: row.text(2)?.to_owned(),
                method: row.text(3)?.to_owned(),
                count: row.integer(4)?,
                name: super::document::name_of(row.optional_text(5)?.unwrap_or_default()),
            })
        })
        .await?;
    values.push(needed.into());
    let sql = format!(
        "SELECT e.slug, e.title {from} WHERE {which} GROUP BY e.slug, e.title \
         HAVING sum(CASE WHEN a.method <> 'recused' AND a.status <> 'abstained' AND a.conflicted = 0 THEN 1 ELSE 0 END) < ${} \
         ORDER BY e.slug",
        values.len()
    );
    let short = tx.all(&sql, &values, |row| Ok(Short { slug: row.slug(0)?, title: row.text(1)?.to_owned() })).await?;
    Ok(Some((version, counted, short)))
}
