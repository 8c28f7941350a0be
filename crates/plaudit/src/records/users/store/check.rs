//! What must always hold of users, for `plaudit doctor`.

use std::collections::BTreeSet;

use crate::records::users::store::{listed, parse, shown_names};
use db::{AccountId, DbError, Row, Tx};

/// Hands over what is wrong with the account's users: columns, roles and seasons that are not what their documents and
/// entries say, people who are not there, addresses and numbers that reach somebody else.
pub async fn each_wrong(tx: &mut Tx, account: AccountId, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    tx.each(
        "SELECT u.slug, u.doc, u.person || ' ' || u.season_joined || ' ' || u.detail, p.global_id, \
         (SELECT string_agg(r.role, ' ' ORDER BY r.role) FROM user_roles r WHERE r.account = $1 AND r.slug = u.slug), \
         u.confirmed, u.language, u.season_joined, u.email, u.mobile, u.first_name, u.last_name, u.name, u.created_by, \
         u.confirmed_at, u.created_at, u.updated, u.names \
         FROM users u LEFT JOIN people p ON p.global_id = u.person WHERE u.account = $1",
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
    tx.each(
        "SELECT DISTINCT slug FROM (SELECT slug, season FROM user_seasons WHERE account = $1 \
         UNION ALL SELECT DISTINCT entrant, season FROM entries WHERE account = $1 AND deleted = 0) AS compared \
         GROUP BY slug, season HAVING count(*) = 1 ORDER BY slug",
        &[account.into()],
        |row| {
            each(format!("user {}: the seasons kept are not those of the entries", row.text(0)?));
            Ok(())
        },
    )
    .await
}

fn wrong_user(row: &Row<'_>) -> Result<Option<&'static str>, DbError> {
    let user = parse(row.text(1)?, row.text(2)?)?;
    if row.optional_text(3)?.is_none() {
        return Ok(Some("there is no such person"));
    }
    let kept = row.optional_text(4)?.unwrap_or_default();
    let roles: BTreeSet<&str> = user.roles.iter().map(kernel::text::Slug::as_str).collect();
    if !kept.split_terminator(' ').eq(roles) {
        return Ok(Some("the roles kept are not those of its document"));
    }
    for (column, (_, expected)) in (5..).zip(listed(&user)) {
        if row.value(column)? != expected {
            return Ok(Some("what it is listed by is not what its document says"));
        }
    }
    if row.text(17)? != shown_names(&user) {
        return Ok(Some("the names by which others show it are not those of its document"));
    }
    Ok(None)
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
