//! The tables of accounts and host names.

use super::Account;
use crate::log;
use crate::program::{Context, store};
use db::{AccountId, Db, DbError, Engine, Tx, hash_of_change};
use kernel::text::{Slug, Timestamp};

/// The account of a slug.
// tidy: every account -- the slug tells which account is meant
pub async fn find(tx: &mut Tx, slug: Slug) -> Result<Option<AccountId>, DbError> {
    tx.first("SELECT id FROM accounts WHERE slug = $1 AND importing = 0", &[slug.into()], |row| {
        Ok(AccountId(row.integer(0)?))
    })
    .await
}

/// Every account with its document, by slug.
// tidy: every account -- an operator lists them
pub async fn each(db: &Db, mut each: impl FnMut(AccountId, &str) -> Result<(), DbError> + Send) -> Result<(), DbError> {
    let sql = "SELECT id, doc FROM accounts WHERE importing = 0 ORDER BY slug";
    db.each(sql, &[], |row| each(AccountId(row.integer(0)?), row.text(1)?)).await
}

/// An account that an import has not made whole. Nobody else finds it.
#[derive(Clone, Copy, Debug)]
pub struct Staged {
    /// The account.
    pub account: AccountId,
    /// Its slug.
    pub slug: Slug,
    /// The claim of the import: when it was at work last.
    pub seen: Timestamp,
}

/// Every staged account.
// tidy: every account -- an import does not know which others go on
pub async fn staged(tx: &mut Tx) -> Result<Vec<Staged>, DbError> {
    tx.all("SELECT id, slug, importing FROM accounts WHERE importing <> 0 ORDER BY slug", &[], |row| {
        let seen = Timestamp::from_microseconds(row.integer(2)?);
        Ok(Staged { account: AccountId(row.integer(0)?), slug: row.slug(1)?, seen })
    })
    .await
}

/// Changes the claim to a staged account; nothing stands for an account that is whole. False where the claim before is another one: then
/// the account is gone, or somebody else has it.
pub async fn claim(
    tx: &mut Tx,
    account: AccountId,
    (before, after): (Option<Timestamp>, Option<Timestamp>),
) -> Result<bool, DbError> {
    let [before, after] = [before, after].map(|seen| seen.map_or(0, Timestamp::as_microseconds).into());
    let sql = "UPDATE accounts SET importing = $3 WHERE id = $1 AND importing = $2";
    Ok(tx.execute(sql, &[account.into(), before, after]).await? == 1)
}

/// The last change of an account at some time; its hash tells it from the change of that number in another history, such
/// as that of a backup which was restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The sequence number of the change; 0 before the first.
    pub sequence: i64,
    /// Its hash.
    pub hash: [u8; 32],
}

/// Where an account's program stands.
#[derive(Clone, Debug)]
pub struct State {
    /// The version of the program.
    pub version: i64,
    /// The account.
    pub account: Account,
    /// The last change.
    pub mark: Mark,
    /// Whether the change that was known is one of this history.
    pub is_continued: bool,
}

/// The account, with where its program stands and whether the change that is known is one of its own.
pub async fn state(
    tx: &mut Tx,
    account: AccountId,
    known: Option<Mark>,
    context: &Context,
) -> Result<Option<State>, DbError> {
    let known = known.unwrap_or_default();
    // What the transaction changed of the head is written at its end.
    let changed = tx.held_head(account);
    tx.first(
        "SELECT version, doc, sequence, hash, \
         (SELECT count(*) FROM changes WHERE account = $1 AND sequence = $2 AND hash = $3) FROM accounts WHERE id = $1",
        &[account.into(), known.sequence.into(), known.hash.as_slice().into()],
        |row| {
            let (version, mark) = match changed {
                Some(head) => (head.version, Mark { sequence: head.sequence, hash: head.hash }),
                None => (row.integer(0)?, Mark { sequence: row.integer(2)?, hash: hash_of_change(row.bytes(3)?)? }),
            };
            Ok(State { version, account: store::parse(row.text(1)?, context)?, mark, is_continued: row.flag(4)? })
        },
    )
    .await
}

/// The version of the account's program.
pub async fn version(db: &Db, account: AccountId) -> Result<Option<i64>, DbError> {
    db.fetch_pipelined("SELECT version FROM accounts WHERE id = $1", &[account.into()], |row| row.integer(0)).await
}

/// The account, in a transaction.
pub async fn read(tx: &mut Tx, account: AccountId, context: &Context) -> Result<Option<Account>, DbError> {
    tx.first("SELECT doc FROM accounts WHERE id = $1", &[account.into()], |row| store::parse(row.text(0)?, context))
        .await
}

/// Adds an account that has no changes yet; fails as a duplicate where the slug is taken.
///
/// On PostgreSQL accounts are made at the same time, each without a sight of the others, and an import keeps its own open
/// for long: a number that depends on the slug as well lets none wait for another.
// tidy: every account -- the account is made here
pub async fn create(tx: &mut Tx, account: &Account) -> Result<AccountId, DbError> {
    let last = tx.first("SELECT coalesce(max(id), 0) FROM accounts", &[], |row| row.integer(0)).await?;
    let origin = log::origin(account.slug);
    let apart = match tx.engine() {
        Engine::Sqlite => 0,
        Engine::Postgres => i64::from(u32::from_be_bytes([origin[0], origin[1], origin[2], origin[3]])),
    };
    let id = AccountId(last.unwrap_or(0) + 1 + apart);
    tx.execute(
        "INSERT INTO accounts (id, slug, version, sequence, hash, doc_form, doc) VALUES ($1, $2, $3, 0, $4, $5, $6)",
        &[
            id.into(),
            account.slug.into(),
            log::name_of(&origin).into(),
            origin.to_vec().into(),
            log::FORM.into(),
            store::stored(account).into(),
        ],
    )
    .await?;
    replace_hosts(tx, id, &account.hosts).await?;
    Ok(id)
}

/// Replaces the account's document and host names, whose change is logged in the same transaction.
pub async fn save(tx: &mut Tx, id: AccountId, account: &Account) -> Result<(), DbError> {
    let sql = "UPDATE accounts SET doc_form = $2, doc = $3 WHERE id = $1";
    tx.execute(sql, &[id.into(), log::FORM.into(), store::stored(account).into()]).await?;
    replace_hosts(tx, id, &account.hosts).await
}

async fn replace_hosts(tx: &mut Tx, account: AccountId, hosts: &[String]) -> Result<(), DbError> {
    tx.execute("DELETE FROM hosts WHERE account = $1", &[account.into()]).await?;
    for host in hosts {
        tx.execute("INSERT INTO hosts (name, account) VALUES ($1, $2)", &[host.into(), account.into()]).await?;
    }
    Ok(())
}

/// The account that owns a host name.
// tidy: every account -- a host name is looked up before the account is known
pub async fn of_host(db: &Db, name: &str) -> Result<Option<AccountId>, DbError> {
    db.fetch_pipelined("SELECT account FROM hosts WHERE name = $1", &[name.into()], |row| {
        Ok(AccountId(row.integer(0)?))
    })
    .await
}
