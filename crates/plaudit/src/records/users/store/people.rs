//! The tables of people and of what reaches them. They are the installation's: an account learns from them only whether
//! an e-mail address or a mobile number reaches somebody already.
//!
//! - Whoever gives a person an address or number claims it ([`claim`]). Two who do so at once, in two accounts, are told
//!   apart by the database: the second waits for the first, and gets no claim.
//! - Whoever changes what belongs to the person locks what reaches the person first ([`lock`]); whoever adds a person to
//!   an account has locked one of these by looking it up ([`holder`]). So nobody joins while somebody changes.

use std::collections::BTreeMap;

use crate::records::store::filled;
use crate::records::users::PasswordHash;
use db::{AccountId, DbError, Row, Tx};
use kernel::text::Slug;

/// The most values that one statement looks up.
const BATCH_SIZE: usize = 256;

/// Whom an address or a number reaches, locked until the end of the transaction.
// tidy: every account -- what reaches a person is unique in the installation
pub async fn holder(tx: &mut Tx, contact: &str) -> Result<Option<String>, DbError> {
    tx.first_for_update("SELECT person FROM contacts WHERE contact = $1", &[contact.into()], |row| {
        Ok(row.text(0)?.to_owned())
    })
    .await
}

/// Gives a person an address or a number. False where it reaches somebody already.
// tidy: every account -- what reaches a person is unique in the installation
pub async fn claim(tx: &mut Tx, person: &str, contact: &str) -> Result<bool, DbError> {
    let sql = "INSERT INTO contacts (contact, person) VALUES ($1, $2) ON CONFLICT (contact) DO NOTHING";
    Ok(tx.execute(sql, &[contact.into(), person.into()]).await? == 1)
}

/// Gives a person an address or a number that reaches nobody, as a look has told.
// tidy: every account -- what reaches a person is unique in the installation
pub async fn claim_free(tx: &mut Tx, person: &str, contact: &str) -> Result<(), DbError> {
    let values = vec![contact.to_owned().into(), person.to_owned().into()];
    tx.enqueue("INSERT INTO contacts (contact, person) VALUES ($1, $2)", values).await
}

/// Takes an address or a number away from whomever it reaches.
// tidy: every account -- what reaches a person is unique in the installation
pub async fn release(tx: &mut Tx, contact: &str) -> Result<(), DbError> {
    tx.enqueue("DELETE FROM contacts WHERE contact = $1", vec![contact.to_owned().into()]).await
}

/// Takes everything away from a person but these.
// tidy: every account -- a person is the installation's
pub async fn release_others(tx: &mut Tx, person: &str, contacts: &[String]) -> Result<(), DbError> {
    let contact = |index: usize| contacts.get(index).cloned().unwrap_or_default();
    tx.enqueue(
        "DELETE FROM contacts WHERE person = $1 AND contact NOT IN ($2, $3)",
        vec![person.to_owned().into(), contact(0).into(), contact(1).into()],
    )
    .await
}

/// Locks what reaches a person until the end of the transaction.
// tidy: every account -- a person is the installation's
pub async fn lock(tx: &mut Tx, person: &str) -> Result<(), DbError> {
    let sql = "SELECT contact FROM contacts WHERE person = $1";
    tx.first_for_update(sql, &[person.into()], |_| Ok(())).await.map(drop)
}

/// Adds a person whom the installation does not have.
// tidy: every account -- a person is the installation's
pub async fn add(tx: &mut Tx, person: &str, password: Option<&PasswordHash>) -> Result<(), DbError> {
    tx.enqueue(
        "INSERT INTO people (global_id, password) VALUES ($1, $2)",
        vec![person.to_owned().into(), password.map_or("", PasswordHash::as_str).to_owned().into()],
    )
    .await
}

/// Gives a person another password.
// tidy: every account -- a person is the installation's
pub async fn set_password(tx: &mut Tx, person: &str, password: &PasswordHash) -> Result<(), DbError> {
    tx.enqueue(
        "UPDATE people SET password = $2 WHERE global_id = $1",
        vec![person.to_owned().into(), password.as_str().to_owned().into()],
    )
    .await
}

/// Takes an address or a number away from a person whom no account shows with it.
// tidy: every account -- a person is the installation's
pub async fn release_if_unknown(tx: &mut Tx, person: &str, contact: &str) -> Result<(), DbError> {
    tx.enqueue(
        "DELETE FROM contacts WHERE person = $1 AND contact = $2 AND NOT EXISTS \
         (SELECT 1 FROM users WHERE person = $1 AND (email = $2 OR mobile = $2))",
        vec![person.to_owned().into(), contact.to_owned().into()],
    )
    .await
}

/// Forgets a person who is in no account any more.
// tidy: every account -- a person is the installation's
pub async fn forget_if_nowhere(tx: &mut Tx, person: &str) -> Result<(), DbError> {
    for sql in [
        "DELETE FROM contacts WHERE person = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE person = $1)",
        "DELETE FROM people WHERE global_id = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE person = $1)",
    ] {
        tx.enqueue(sql, vec![person.to_owned().into()]).await?;
    }
    Ok(())
}

/// Whether a person is in another account than this one, be it in its trash.
pub async fn is_elsewhere(tx: &mut Tx, account: AccountId, person: &str) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM users WHERE person = $2 AND account <> $1 LIMIT 1";
    Ok(tx.first(sql, &[account.into(), person.into()], |_| Ok(())).await?.is_some())
}

/// The user that a person is in this account, even in the trash.
pub async fn user_of(tx: &mut Tx, account: AccountId, person: &str) -> Result<Option<Slug>, DbError> {
    let sql = "SELECT slug FROM users WHERE person = $2 AND account = $1";
    tx.first(sql, &[account.into(), person.into()], |row| row.slug(0)).await
}

/// Takes the person away from a user whose row is about to be replaced, so that another one can be that person.
pub async fn withdraw(tx: &mut Tx, account: AccountId, user: Slug) -> Result<(), DbError> {
    let sql = "UPDATE users SET person = '~' || slug WHERE account = $1 AND slug = $2";
    tx.enqueue(sql, vec![account.into(), user.into()]).await
}

/// What the installation has of these people, seen from one account.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Whom each address or number reaches.
    pub holders: BTreeMap<String, String>,
    /// Where each person is.
    pub people: BTreeMap<String, Standing>,
}

/// Where a person is, seen from one account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The user that the person is in the account, even in the trash.
    pub here: Option<Slug>,
    /// Whether the person is in another account.
    pub elsewhere: bool,
}

/// What the installation has of these people: those named, and those whom these addresses and numbers reach.
pub async fn known(tx: &mut Tx, account: AccountId, contacts: &[String], people: &[String]) -> Result<Known, DbError> {
    let mut known = Known::default();
    for contacts in contacts.chunks(BATCH_SIZE) {
        let (list, values) = filled(contacts, 1, Vec::new());
        let sql = format!("SELECT contact, person FROM contacts WHERE contact IN ({list})");
        let read = |row: &Row<'_>| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
        known.holders.extend(tx.all::<_, Vec<_>, _>(&sql, &values, read).await?);
    }
    let mut people: Vec<String> = people.iter().chain(known.holders.values()).cloned().collect();
    people.sort_unstable();
    people.dedup();
    for people in people.chunks(BATCH_SIZE) {
        let (list, values) = filled(people, 1, Vec::new());
        let sql = format!(
            "SELECT p.global_id, u.account, u.slug FROM people p LEFT JOIN users u ON u.person = p.global_id \
             WHERE p.global_id IN ({list})"
        );
        tx.each(&sql, &values, |row| {
            let standing = known.people.entry(row.text(0)?.to_owned()).or_default();
            match row.optional_integer(1)? {
                Some(id) if id == account.0 => standing.here = Some(row.slug(2)?),
                Some(_) => standing.elsewhere = true,
                None => {}
            }
            Ok(())
        })
        .await?;
    }
    Ok(known)
}
