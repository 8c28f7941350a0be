//! What must always hold of users beside what follows from their documents, for `plaudit doctor`.

use crate::records::store::difference;
use db::{AccountId, DbError, Tx};

/// Hands over what is wrong with the account's users: people who are not there, addresses and numbers that reach somebody
/// else, seasons that are not those of their entries.
pub async fn each_wrong(tx: &mut Tx, account: AccountId, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    let sql = "SELECT u.slug, u.person FROM users u WHERE u.account = $1 \
               AND NOT EXISTS (SELECT 1 FROM people p WHERE p.global_id = u.person) ORDER BY u.slug";
    tx.each(sql, &[account.into()], |row| {
        let what = format!("the user {} is this person, and there is no row", row.text(0)?);
        each(difference("people", row.text(1)?, "global_id", &what));
        Ok(())
    })
    .await?;
    for column in ["email", "mobile"] {
        let sql = format!(
            "SELECT u.slug, u.{column} FROM users u LEFT JOIN contacts c ON c.contact = u.{column} \
             WHERE u.account = $1 AND u.{column} <> '' AND (c.person IS NULL OR c.person <> u.person) ORDER BY u.slug"
        );
        tx.each(&sql, &[account.into()], |row| {
            let what = format!("it does not reach the user {}, who has it as {column}", row.text(0)?);
            each(difference("contacts", row.text(1)?, "contact, person", &what));
            Ok(())
        })
        .await?;
    }
    tx.each(
        "SELECT slug, season, CAST(sum(kept) AS BIGINT) FROM \
         (SELECT slug, season, 1 AS kept FROM user_seasons WHERE account = $1 \
         UNION ALL SELECT DISTINCT entrant, season, 0 FROM entries WHERE account = $1 AND deleted = 0) AS compared \
         GROUP BY slug, season HAVING count(*) = 1 ORDER BY slug, season",
        &[account.into()],
        |row| {
            let what = if row.flag(2)? { "the user has no entry in it" } else { "it is missing" };
            let what = format!("{}: {what}", row.text(1)?);
            each(difference("user_seasons", row.text(0)?, "account, slug, season", &what));
            Ok(())
        },
    )
    .await
}

/// Hands over people who are no user of any account, and what reaches people who are not there.
// tidy: every account -- people are the installation's
pub async fn each_stray(tx: &mut Tx, mut each: impl FnMut(String) + Send) -> Result<(), DbError> {
    let sql = "SELECT p.global_id FROM people p WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.person = p.global_id)";
    tx.each(sql, &[], |row| {
        each(difference("people", row.text(0)?, "global_id", "no user is this person"));
        Ok(())
    })
    .await?;
    let sql = "SELECT c.contact, c.person FROM contacts c \
               WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.global_id = c.person)";
    tx.each(sql, &[], |row| {
        each(difference("contacts", row.text(0)?, "person", &format!("there is no person {}", row.text(1)?)));
        Ok(())
    })
    .await
}
