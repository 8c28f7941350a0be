//! The table of leases.
//!
//! The owner of a lease is a holding: the name of a node, a space, and a number that the node gives once. So a lease that a node
//! has lost and taken again is not held by what it did before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::LeaseName;
use db::{AccountId, Db, DbError, Row, Tx, Value};
use kernel::text::Slug;

/// The queue in which leases are taken and renewed, apart from what else is done for the installation and may take long.
const QUEUE: AccountId = AccountId(-1);

/// A lease that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The account.
    pub account: AccountId,
    /// Which one.
    pub name: LeaseName,
    /// How far the work has read the change log.
    pub position: i64,
    /// What the work remembers.
    pub state: String,
    /// The number of the last signal.
    pub signal: i64,
}

/// Which leases a node takes.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The holding that they get.
    pub owner: String,
    /// Of one account alone.
    pub account: Option<AccountId>,
    /// Not those of these accounts.
    pub without: BTreeSet<AccountId>,
    /// The most.
    pub most: usize,
    /// The most of jobs.
    pub most_jobs: usize,
    /// The time.
    pub now: i64,
    /// Until when they are held.
    pub until: i64,
}

/// A lease that a node holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// The account.
    pub account: AccountId,
    /// Which one.
    pub name: LeaseName,
    /// The number of the last signal.
    pub signal: i64,
    /// Until when it is held.
    pub until: i64,
    /// The holding.
    pub owner: String,
    /// Whether another node has asked for it.
    pub is_asked_for: bool,
}

/// What a node works for, and by which holding.
pub type Working = BTreeMap<(AccountId, LeaseName), Arc<str>>;

/// What a turn leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How far the work has read the change log.
    pub position: i64,
    /// When it wants to be done again, whoever does it then.
    pub due: i64,
    /// What it remembers, as JSON.
    pub state: String,
    /// Until when the lease is held.
    pub until: i64,
}

/// Takes free leases whose work wants to be done, those first that were served longest ago. One that another node has asked for
/// is that node's for as long as a lease lasts.
// tidy: every account -- a node works for all of them
pub async fn take(db: &Db, wanted: Wanted) -> Result<Vec<Taken>, DbError> {
    db.write(QUEUE, wanted, |tx, wanted| Box::pin(take_in(tx, wanted))).await
}

async fn take_in(tx: &mut Tx, wanted: &Wanted) -> Result<Vec<Taken>, DbError> {
    let (least, greatest) = wanted.account.map_or((i64::MIN, i64::MAX), |account| (account.0, account.0));
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let kept_since = wanted.now.saturating_sub(wanted.until.saturating_sub(wanted.now));
    let numbers = [wanted.now, count(wanted.most), count(wanted.most_jobs), least, greatest, kept_since];
    let mut values: Vec<Value<'_>> = numbers.into_iter().map(Value::from).collect();
    values.push(node_of(&wanted.owner).into());
    let places = without(&wanted.without, &mut values);
    // The installation has no row among the accounts, so that it is behind nothing.
    let sql = format!(
        "SELECT account, name, position, state, signal FROM leases WHERE until < $1 \
         AND (due <= $1 OR position < (SELECT a.sequence FROM accounts a WHERE a.id = leases.account)) \
         AND (heir = '' OR heir = $7 OR served < $6) \
         AND account BETWEEN $4 AND $5 AND account NOT IN ({places}) AND (name <> 'jobs' OR account IN \
         (SELECT j.account FROM leases j WHERE j.name = 'jobs' AND j.until < $1 AND j.due <= $1 \
         AND j.account NOT IN ({places}) ORDER BY j.served, j.account LIMIT $3)) \
         ORDER BY served, account, name LIMIT $2"
    );
    let found: Vec<Option<Taken>> = tx
        .all_unlocked(&sql, &values, |row| {
            // A newer version may have leases that this one does not know.
            let Some(name) = LeaseName::parse(row.text(1)?) else { return Ok(None) };
            let (account, state) = (AccountId(row.integer(0)?), row.text(3)?.to_owned());
            Ok(Some(Taken { account, name, position: row.integer(2)?, state, signal: row.integer(4)? }))
        })
        .await?;
    let taken: Vec<Taken> = found.into_iter().flatten().collect();
    for Taken { account, name, .. } in &taken {
        let sql = "UPDATE leases SET owner = $3, until = $4, heir = '' WHERE account = $1 AND name = $2";
        let values = [(*account).into(), name.to_string().into(), wanted.owner.clone().into(), wanted.until.into()];
        tx.enqueue(sql, values.into()).await?;
    }
    Ok(taken)
}

/// The node of an owner: what stands before the first space, where there is one.
fn node_of(owner: &str) -> &str {
    owner.split(' ').next().unwrap_or(owner)
}

/// The places of accounts that are left out, which become values.
fn without(accounts: &BTreeSet<AccountId>, values: &mut Vec<Value<'_>>) -> String {
    let first = values.len();
    values.extend(accounts.iter().map(|account| Value::from(*account)));
    // Few different texts keep few prepared statements; no account has the least number.
    values.resize(first + accounts.len().next_power_of_two(), i64::MIN.into());
    let places: Vec<String> = (first + 1..=values.len()).map(|place| format!("${place}")).collect();
    places.join(", ")
}

/// How many leases of webhooks each node has that has any; one that another node has asked for counts as that node's.
// tidy: every account -- nodes share the work for all of them
pub async fn shares(db: &Db, now: i64) -> Result<BTreeMap<String, usize>, DbError> {
    let sql = "SELECT CASE WHEN heir > '' THEN heir ELSE owner END AS node, count(*) FROM leases \
               WHERE owner > '' AND until >= $1 AND name >= 'webhook:' AND name < 'webhook;' GROUP BY node";
    let mut shares = BTreeMap::new();
    db.each(sql, &[now.into()], |row| {
        let share: &mut usize = shares.entry(node_of(row.text(0)?).to_owned()).or_default();
        *share += usize::try_from(row.integer(1)?).unwrap_or_default();
        Ok(())
    })
    .await?;
    Ok(shares)
}

/// Leases of webhooks that a node has and nobody has asked it for, of other accounts than these.
// tidy: every account -- nodes share the work for all of them
pub async fn unasked(
    db: &Db,
    node: &str,
    accounts: &BTreeSet<AccountId>,
    most: usize,
) -> Result<Vec<(AccountId, LeaseName)>, DbError> {
    let [first, last] = owners(node);
    let mut values = vec![first.into(), last.into(), i64::try_from(most).unwrap_or(i64::MAX).into()];
    let places = without(accounts, &mut values);
    let sql = format!(
        "SELECT account, name FROM leases WHERE owner BETWEEN $1 AND $2 AND name >= 'webhook:' AND name < 'webhook;' \
         AND heir = '' AND account NOT IN ({places}) ORDER BY account, name LIMIT $3"
    );
    let mut found = Vec::new();
    db.each(&sql, &values, |row| {
        let account = AccountId(row.integer(0)?);
        found.extend(LeaseName::parse(row.text(1)?).map(|name| (account, name)));
        Ok(())
    })
    .await?;
    Ok(found)
}

/// Asks a node for leases that it has: it learns of that when it renews them, and leaves them to who asks.
// tidy: every account -- nodes share the work for all of them
pub async fn ask(db: &Db, node: &str, heir: &str, leases: Vec<(AccountId, LeaseName)>) -> Result<(), DbError> {
    db.write(QUEUE, (owners(node), heir.to_owned(), leases), |tx, ([first, last], heir, leases)| {
        Box::pin(async move {
            for (account, name) in leases {
                let sql = "UPDATE leases SET heir = $5 \
                           WHERE account = $1 AND name = $2 AND owner BETWEEN $3 AND $4 AND heir = ''";
                let values = [first, last, heir].map(|text| Value::from(text.clone()));
                let lease = [(*account).into(), name.to_string().into()];
                tx.enqueue(sql, lease.into_iter().chain(values).collect()).await?;
            }
            Ok(())
        })
    })
    .await
}

/// Renews those leases of a node that it works for, and gives what it holds. A lease that a turn has locked is renewed by that.
// tidy: every account -- a node works for all of them
pub async fn renew(db: &Db, node: &str, working: Working, until: i64) -> Result<Vec<Renewed>, DbError> {
    let state = (node.to_owned(), working, until);
    db.write(QUEUE, state, |tx, (node, working, until)| Box::pin(renew_in(tx, node, working, *until))).await
}

async fn renew_in(tx: &mut Tx, node: &str, working: &Working, until: i64) -> Result<Vec<Renewed>, DbError> {
    let values = owners(node).map(Value::from);
    let sql = "SELECT account, name, owner FROM leases WHERE owner BETWEEN $1 AND $2";
    let read =
        |row: &Row<'_>| Ok((AccountId(row.integer(0)?), LeaseName::parse(row.text(1)?), row.text(2)?.to_owned()));
    let unlocked: Vec<_> = tx.all_unlocked(sql, &values, read).await?;
    for (account, name, owner) in unlocked {
        let is_worked_for = |name: &LeaseName| working.get(&(account, *name)).is_some_and(|held| **held == *owner);
        let Some(name) = name.filter(is_worked_for) else { continue };
        let sql = "UPDATE leases SET until = $3 WHERE account = $1 AND name = $2";
        tx.enqueue(sql, vec![account.into(), name.to_string().into(), until.into()]).await?;
    }
    let sql = "SELECT account, name, owner, signal, until, heir FROM leases WHERE owner BETWEEN $1 AND $2";
    let held: Vec<Option<Renewed>> = tx
        .all(sql, &values, |row| {
            let (account, name, owner) = read(row)?;
            let (signal, until, is_asked_for) = (row.integer(3)?, row.integer(4)?, !row.text(5)?.is_empty());
            Ok(name.map(|name| Renewed { account, name, signal, until, owner, is_asked_for }))
        })
        .await?;
    Ok(held.into_iter().flatten().collect())
}

/// The first and the last holding of a node. An exclamation mark follows the space.
fn owners(node: &str) -> [String; 2] {
    [format!("{node} "), format!("{node}!")]
}

/// Gives back everything that a node holds.
// tidy: every account -- a node works for all of them
pub async fn give_back_all(db: &Db, node: &str, now: i64) -> Result<(), DbError> {
    db.write(QUEUE, (node.to_owned(), now), |tx, (node, now)| {
        Box::pin(async move {
            let [first, last] = owners(node);
            let sql = "UPDATE leases SET owner = '', until = 0, served = $3 WHERE owner BETWEEN $1 AND $2";
            tx.execute(sql, &[first.into(), last.into(), (*now).into()]).await.map(drop)
        })
    })
    .await
}

/// Frees every lease, for a database that is filled with rows of another one: whoever held a lease there, or here before, knows
/// nothing of what is here now.
// tidy: every account -- a restore is of the whole database
pub async fn free_all(tx: &mut Tx) -> Result<(), DbError> {
    tx.execute("UPDATE leases SET owner = '', until = 0, heir = ''", &[]).await.map(drop)
}

/// Gives back a lease that nothing was done with.
pub async fn leave(tx: &mut Tx, account: AccountId, name: LeaseName, owner: &str) -> Result<(), DbError> {
    let sql = "UPDATE leases SET owner = '', until = 0 WHERE account = $1 AND name = $2 AND owner = $3";
    tx.enqueue(sql, vec![account.into(), name.to_string().into(), owner.to_owned().into()]).await
}

/// The number of the last signal and what the work remembers, where the holding is the lease's still; locked until the end of the
/// transaction, of which it is the first statement. Where there is nothing, nothing may be written.
pub async fn hold(
    tx: &mut Tx,
    account: AccountId,
    name: LeaseName,
    owner: &str,
) -> Result<Option<(i64, String)>, DbError> {
    let sql = "SELECT signal, state FROM leases WHERE account = $1 AND name = $2 AND owner = $3";
    let values = [account.into(), name.to_string().into(), owner.into()];
    tx.first_for_update(sql, &values, |row| Ok((row.integer(0)?, row.text(1)?.to_owned()))).await
}

/// Ends a turn of work that holds its lease, and renews that.
pub async fn end_turn(tx: &mut Tx, account: AccountId, name: LeaseName, turn: Turn) -> Result<(), DbError> {
    let sql = "UPDATE leases SET position = $3, due = $4, state = $5, until = CASE WHEN until < $6 THEN $6 ELSE until END \
               WHERE account = $1 AND name = $2";
    let Turn { position, due, state, until } = turn;
    let values = [account.into(), name.to_string().into(), position.into(), due.into(), state.into(), until.into()];
    tx.enqueue(sql, values.into()).await
}

/// Renews a lease that is held ([`hold`]).
pub async fn renew_one(tx: &mut Tx, account: AccountId, name: LeaseName, until: i64) -> Result<(), DbError> {
    let sql = "UPDATE leases SET until = CASE WHEN until < $3 THEN $3 ELSE until END WHERE account = $1 AND name = $2";
    tx.enqueue(sql, vec![account.into(), name.to_string().into(), until.into()]).await
}

/// Gives back a lease that is held ([`hold`]), to be done again at `due` or when there is something to read.
pub async fn give_back(tx: &mut Tx, account: AccountId, name: LeaseName, due: i64, now: i64) -> Result<(), DbError> {
    let sql = "UPDATE leases SET owner = '', until = 0, served = $4, due = $3 WHERE account = $1 AND name = $2";
    tx.enqueue(sql, vec![account.into(), name.to_string().into(), due.into(), now.into()]).await
}

/// Has the work of a lease look at what was changed, wherever it is done: it is due now, and its node learns of it with the next
/// renewal.
pub async fn signal(tx: &mut Tx, account: AccountId, name: LeaseName, now: i64) -> Result<(), DbError> {
    let sql = "UPDATE leases SET signal = signal + 1, due = CASE WHEN due < $3 THEN due ELSE $3 END \
               WHERE account = $1 AND name = $2";
    tx.enqueue(sql, vec![account.into(), name.to_string().into(), now.into()]).await
}

/// Whether there is a lease, whoever holds it.
pub async fn exists(tx: &mut Tx, account: AccountId, name: LeaseName) -> Result<bool, DbError> {
    let sql = "SELECT count(*) FROM leases WHERE account = $1 AND name = $2";
    Ok(tx.first(sql, &[account.into(), name.to_string().into()], |row| row.flag(0)).await? == Some(true))
}

/// Makes a lease; one that there is keeps what it has, and is due at the earlier of the two times.
pub async fn put(
    tx: &mut Tx,
    account: AccountId,
    name: LeaseName,
    (position, due, state): (i64, i64, &str),
) -> Result<(), DbError> {
    let sql = "INSERT INTO leases AS held (account, name, due, position, state, signal, owner, until, served, heir) \
               VALUES ($1, $2, $3, $4, $5, 0, '', 0, 0, '') ON CONFLICT (account, name) DO UPDATE SET \
               due = CASE WHEN held.due < excluded.due THEN held.due ELSE excluded.due END";
    let values = [account.into(), name.to_string().into(), due.into(), position.into(), state.to_owned().into()];
    tx.enqueue(sql, values.into()).await
}

/// The webhooks of an account that have leases, and how far each has read the change log.
pub async fn positions(tx: &mut Tx, account: AccountId) -> Result<Vec<(Slug, i64)>, DbError> {
    let sql = "SELECT name, position FROM leases WHERE account = $1 ORDER BY name";
    let read = |row: &Row<'_>| Ok((LeaseName::parse(row.text(0)?), row.integer(1)?));
    let found: Vec<_> = tx.all(sql, &[account.into()], read).await?;
    let webhook = |(name, position)| match name {
        Some(LeaseName::Webhook(slug)) => Some((slug, position)),
        _ => None,
    };
    Ok(found.into_iter().filter_map(webhook).collect())
}

/// How far the work of a lease has read the change log; nothing where there is no such lease.
pub async fn position(account: AccountId, db: &Db, name: LeaseName) -> Result<Option<i64>, DbError> {
    let sql = "SELECT position FROM leases WHERE account = $1 AND name = $2";
    db.first(sql, &[account.into(), name.to_string().into()], |row| row.integer(0)).await
}

/// The same, in a transaction.
pub async fn position_in(tx: &mut Tx, account: AccountId, name: LeaseName) -> Result<Option<i64>, DbError> {
    let sql = "SELECT position FROM leases WHERE account = $1 AND name = $2";
    tx.first(sql, &[account.into(), name.to_string().into()], |row| row.integer(0)).await
}

/// Locks a lease, whoever holds it, until the end of the transaction.
pub async fn lock(tx: &mut Tx, account: AccountId, name: LeaseName) -> Result<(), DbError> {
    let sql = "SELECT position FROM leases WHERE account = $1 AND name = $2";
    tx.first_for_update(sql, &[account.into(), name.to_string().into()], |_| Ok(())).await.map(drop)
}

/// Removes a lease.
pub async fn remove(tx: &mut Tx, account: AccountId, name: LeaseName) -> Result<(), DbError> {
    let sql = "DELETE FROM leases WHERE account = $1 AND name = $2";
    tx.enqueue(sql, vec![account.into(), name.to_string().into()]).await
}
