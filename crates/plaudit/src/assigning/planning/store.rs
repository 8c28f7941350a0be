//! What plans read, and the table of plans.

use std::time::Duration;

use super::Linked;
use db::{AccountId, Db, DbError, Row, Source, Tx};
use kernel::text::{Slug, Timestamp};

/// How long a plan is kept that is not applied (contract, section 11).
const KEPT: Duration = Duration::from_hours(24);
/// How long one is kept that was applied, so that it can be undone.
const KEPT_APPLIED: Duration = Duration::from_hours(30 * 24);

/// A plan as it was made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its slug.
    pub slug: Slug,
    /// What was asked for, as JSON.
    pub asked: String,
    /// The hash of what it read.
    pub state: String,
    /// What is shown of it.
    pub doc: String,
    /// What undoes it; nothing before it is applied.
    pub undo: Option<Slug>,
    /// The assignments that it made, as JSON.
    pub made: String,
    /// Whether it was undone.
    pub is_undone: bool,
}

/// The account's last change, and the judges who are linked with entries in a score set.
pub async fn linked(
    source: &mut Source<'_>,
    account: AccountId,
    score_set: Slug,
) -> Result<(i64, Vec<Linked>), DbError> {
    let (mut sequence, mut linked) = (0, Vec::new());
    let sql = "SELECT sequence FROM accounts WHERE id = $1";
    source.each(sql, &[account.into()], |row| row.integer(0).map(|found| sequence = found)).await?;
    let sql = "SELECT entry, judge, status FROM assignments WHERE account = $1 AND score_set = $2 AND deleted = 0 \
               AND judge <> '' AND method NOT IN ('stray', 'recused') ORDER BY entry, judge";
    let read = |row: &Row<'_>| {
        let is_abstained = row.text(2)? == "abstained";
        linked.push(Linked { entry: row.slug(0)?, judge: row.slug(1)?, is_abstained });
        Ok(())
    };
    source.each(sql, &[account.into(), score_set.into()], read).await?;
    Ok((sequence, linked))
}

/// Keeps a plan that was made.
pub async fn insert(tx: &mut Tx, account: AccountId, plan: &Plan, now: Timestamp) -> Result<(), DbError> {
    let sql = "INSERT INTO assignment_plans (account, slug, until, asked, state, doc, undo, made, undone) \
               VALUES ($1, $2, $3, $4, $5, $6, '', '[]', 0)";
    let until = now.plus(KEPT);
    let values = [
        account.into(),
        plan.slug.into(),
        until.into(),
        plan.asked.as_str().into(),
        plan.state.as_str().into(),
        plan.doc.as_str().into(),
    ];
    tx.execute(sql, &values).await.map(drop)
}

const COLUMNS: &str = "SELECT slug, asked, state, doc, undo, made, undone FROM assignment_plans WHERE account = $1";

fn read(row: &Row<'_>) -> Result<Plan, DbError> {
    Ok(Plan {
        slug: row.slug(0)?,
        asked: row.text(1)?.to_owned(),
        state: row.text(2)?.to_owned(),
        doc: row.text(3)?.to_owned(),
        undo: Slug::parse(row.text(4)?),
        made: row.text(5)?.to_owned(),
        is_undone: row.flag(6)?,
    })
}

/// A plan that is still kept.
pub async fn find(db: &Db, account: AccountId, slug: Slug, now: Timestamp) -> Result<Option<Plan>, DbError> {
    let sql = format!("{COLUMNS} AND slug = $2 AND until > $3");
    db.first(&sql, &[account.into(), slug.into(), now.into()], read).await
}

/// The same, locked until the end of the transaction.
pub async fn find_for_update(
    tx: &mut Tx,
    account: AccountId,
    slug: Slug,
    now: Timestamp,
) -> Result<Option<Plan>, DbError> {
    let sql = format!("{COLUMNS} AND slug = $2 AND until > $3");
    tx.first_for_update(&sql, &[account.into(), slug.into(), now.into()], read).await
}

/// The plan that this undoes, locked until the end of the transaction.
pub async fn undone_by(tx: &mut Tx, account: AccountId, undo: Slug, now: Timestamp) -> Result<Option<Plan>, DbError> {
    let sql = format!("{COLUMNS} AND undo = $2 AND until > $3");
    tx.first_for_update(&sql, &[account.into(), undo.into(), now.into()], read).await
}

/// Notes that a plan was applied, or undone.
pub async fn update(tx: &mut Tx, account: AccountId, plan: &Plan, now: Timestamp) -> Result<(), DbError> {
    let sql =
        "UPDATE assignment_plans SET until = $3, undo = $4, made = $5, undone = $6 WHERE account = $1 AND slug = $2";
    let undo = plan.undo.map_or_else(String::new, |undo| undo.to_string());
    let until = now.plus(KEPT_APPLIED);
    let values =
        [account.into(), plan.slug.into(), until.into(), undo.into(), plan.made.as_str().into(), plan.is_undone.into()];
    tx.execute(sql, &values).await.map(drop)
}

/// Forgets plans that were kept until this time.
// tidy: every account -- the upkeep is the installation's
pub async fn forget(db: &Db, now: Timestamp) -> Result<(), DbError> {
    db.write(AccountId::NONE, now, |tx, now| {
        Box::pin(async move {
            let sql = "DELETE FROM assignment_plans WHERE until <= $1";
            tx.execute(sql, &[(*now).into()]).await.map(drop)
        })
    })
    .await
}
