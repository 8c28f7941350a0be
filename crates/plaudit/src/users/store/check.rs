//! What must always hold of users, for `plaudit doctor`.

use super::segments::segment;
use super::{parse, segments, sorted_by};
use crate::db::{AccountId, DbError, Row, Tx};
use crate::users::{Segment, Slugs};

/// Hands over what is wrong with the account's users: columns that are not what the user says, counts that are wrong,
/// people who are not there, addresses and numbers that reach somebody else.
pub async fn each_wrong(tx: &mut Tx, account: AccountId, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    tx.each(
        "SELECT u.slug, u.doc, u.person || ' ' || u.season_joined || ' ' || u.detail, u.deleted, u.seasons, u.email, \
         u.mobile, u.first_name, u.last_name, u.name, u.created_by, u.confirmed_at, u.created_at, u.recency, \
         p.global_id, s.segment, s.deleted, s.confirmed, s.language, s.season_joined, s.roles, s.seasons \
         FROM users u LEFT JOIN user_segments s ON s.account = u.account AND s.segment = u.segment \
         LEFT JOIN people p ON p.global_id = u.person WHERE u.account = $1",
        &[account.into()],
        |row| {
            if let Some(wrong) = wrong_user(row)? {
                each(format!("user {}: {wrong}", row.text(0)?));
            }
            Ok(())
        },
    )
    .await?;
    wrong_contacts(tx, account, &mut each).await?;
    wrong_seasons(tx, account, &mut each).await?;
    tx.each(
        "SELECT segment, CAST(sum(kept) AS BIGINT), CAST(sum(there) AS BIGINT) FROM \
         (SELECT segment, total AS kept, 0 AS there FROM user_segments WHERE account = $1 \
         UNION ALL SELECT segment, 0, count(*) FROM users WHERE account = $1 GROUP BY segment) AS compared \
         GROUP BY segment HAVING sum(kept) <> sum(there) ORDER BY segment",
        &[account.into()],
        |row| {
            let (segment, kept, there) = (row.integer(0)?, row.integer(1)?, row.integer(2)?);
            each(format!("segment {segment} of users: {kept} are counted and {there} are there"));
            Ok(())
        },
    )
    .await
}

fn wrong_user(row: &Row<'_>) -> Result<Option<&'static str>, DbError> {
    let user = parse(row.text(1)?, row.text(2)?)?;
    for (column, expected) in (5..).zip(sorted_by(&user)) {
        if row.value(column)? != expected {
            return Ok(Some("what it is sorted by is not what its document says"));
        }
    }
    if row.optional_text(14)?.is_none() {
        return Ok(Some("there is no such person"));
    }
    if row.optional_integer(15)?.is_none() {
        return Ok(Some("it has no segment"));
    }
    let expected = Segment::of(&user, row.flag(3)?, segments::slugs(row, 4)?);
    Ok((segment(row, 16)? != expected).then_some("its segment is not what its document says"))
}

/// What a user shows reaches the person that the user is.
async fn wrong_contacts(
    tx: &mut Tx,
    account: AccountId,
    each: &mut (impl FnMut(String) + Send),
) -> Result<(), DbError> {
    for column in ["email", "mobile"] {
        let sql = format!(
            "SELECT u.slug FROM users u LEFT JOIN contacts c ON c.contact = u.{column} \
             WHERE u.account = $1 AND u.{column} <> '' AND (c.person IS NULL OR c.person <> u.person) ORDER BY u.slug"
        );
        tx.each(&sql, &[account.into()], |row| {
            each(format!("user {}: its {column} does not reach its person", row.text(0)?));
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// The seasons that are kept beside a user are those of the entries.
async fn wrong_seasons(tx: &mut Tx, account: AccountId, each: &mut (impl FnMut(String) + Send)) -> Result<(), DbError> {
    let mut current: Option<(String, String, String)> = None;
    let mut told = |held: Option<(String, String, String)>| {
        if let Some((user, _, _)) = held.filter(|(_, kept, there)| kept != there) {
            each(format!("user {user}: the seasons kept are not those of the entries"));
        }
    };
    tx.each(
        "SELECT u.slug, u.seasons, e.season FROM users u LEFT JOIN \
         (SELECT DISTINCT entrant, season FROM entries WHERE account = $1 AND deleted = 0) AS e \
         ON e.entrant = u.slug WHERE u.account = $1 ORDER BY u.slug, e.season",
        &[account.into()],
        |row| {
            let user = row.text(0)?;
            if current.as_ref().is_none_or(|(held, _, _)| held != user) {
                told(current.take());
                current = Some((user.to_owned(), row.text(1)?.to_owned(), Slugs::default().text()));
            }
            if let (Some((_, _, there)), Some(season)) = (&mut current, row.optional_text(2)?) {
                there.push(' ');
                there.push_str(season);
            }
            Ok(())
        },
    )
    .await?;
    told(current);
    Ok(())
}
