//! What reminders read.

use serde::Deserialize;

use db::{AccountId, DbError, Tx};
use kernel::text::Slug;

/// Sheets of a judge that are alike.
#[derive(Clone, Debug)]
pub struct Sheets {
    /// The judge.
    pub judge: Slug,
    /// The score set.
    pub score_set: Slug,
    /// The chapter of the entries.
    pub chapter: Slug,
    /// Whether they are of the round by name; else they are of every judging round of the form.
    pub names_round: bool,
    /// How many are open.
    pub open: i64,
    /// How many are complete.
    pub complete: i64,
}

/// How a judge is written to.
#[derive(Clone, Debug, Deserialize)]
pub struct Addressee {
    /// The e-mail address; nothing for none.
    pub email: Option<String>,
    /// Whether the judge wants messages.
    pub notification_emails: bool,
}

/// Judges behind this one who have assignments, in order and so many at the most, each with the user who is not in the trash.
pub async fn judges(
    tx: &mut Tx,
    account: AccountId,
    (after, most): (&str, usize),
) -> Result<Vec<(Slug, Option<Addressee>)>, DbError> {
    let sql = format!(
        "SELECT a.judge, u.doc FROM (SELECT DISTINCT judge FROM assignments WHERE account = $1 AND judge > $2 \
         ORDER BY judge LIMIT {most}) a LEFT JOIN users u ON u.account = $1 AND u.slug = a.judge AND u.deleted = 0 ORDER BY a.judge"
    );
    let read = |doc: &str| {
        serde_json::from_str(doc).map_err(|error| DbError::Failed(format!("a stored user cannot be read: {error}")))
    };
    tx.all(&sql, &[account.into(), after.into()], |row| {
        Ok((row.slug(0)?, row.optional_text(1)?.map(read).transpose()?))
    })
    .await
}

/// What judges, from behind one to another, have to give in a round: the sheets of links that hold, of entries that are not in the
/// trash, and with which the judge has no conflict of interest.
pub async fn sheets(
    tx: &mut Tx,
    account: AccountId,
    round: Slug,
    (after, last): (&str, Slug),
) -> Result<Vec<Sheets>, DbError> {
    let sql = "SELECT a.judge, a.score_set, e.chapter, r.round, \
               CAST(sum(CASE WHEN a.status IN ('none', 'in_progress') THEN 1 ELSE 0 END) AS BIGINT), \
               CAST(sum(CASE WHEN a.status = 'complete' THEN 1 ELSE 0 END) AS BIGINT) FROM assignments a \
               JOIN entries e ON e.account = a.account AND e.slug = a.entry AND e.deleted = 0 \
               LEFT JOIN assignment_rounds r ON r.account = a.account AND r.slug = a.slug AND r.round = $4 \
               WHERE a.account = $1 AND a.judge > $2 AND a.judge <= $3 AND a.deleted = 0 \
               AND a.method NOT IN ('stray', 'recused') AND a.conflicted = 0 \
               AND (r.round IS NOT NULL OR NOT EXISTS (SELECT 1 FROM assignment_rounds o \
               WHERE o.account = a.account AND o.slug = a.slug)) \
               GROUP BY a.judge, a.score_set, e.chapter, r.round";
    tx.all(sql, &[account.into(), after.into(), last.into(), round.into()], |row| {
        Ok(Sheets {
            judge: row.slug(0)?,
            score_set: row.slug(1)?,
            chapter: row.slug(2)?,
            names_round: row.optional_text(3)?.is_some(),
            open: row.integer(4)?,
            complete: row.integer(5)?,
        })
    })
    .await
}
