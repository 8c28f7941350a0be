//! Who waits for the commits of an account, and what they are told.
//!
//! A commit of this process is told as soon as it is durable, before whoever asked for it is answered. Commits of other
//! processes are found by [`Db::look`], which costs one statement while anybody waits and none otherwise.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{AccountId, Db, DbError, Row, Value};

/// Of how many accounts the last change is remembered.
const REMEMBERED: usize = 100_000;
/// How many accounts one statement asks for.
const BATCH_SIZE: usize = 64;

/// Where an account stands after a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The name of the last change of what the account's program shows.
    pub version: i64,
    /// The sequence number of the account's last change.
    pub sequence: i64,
    /// The hash of the account's last change.
    pub hash: [u8; 32],
}

impl Committed {
    /// From the columns `version, sequence, hash` of an account, of which the first is this one.
    pub fn read(row: &Row<'_>, first: usize) -> Result<Self, DbError> {
        let hash = hash_of_change(row.bytes(first + 2)?)?;
        Ok(Self { version: row.integer(first)?, sequence: row.integer(first + 1)?, hash })
    }
}

/// The accounts that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Commits {
    waiting: Mutex<BTreeMap<AccountId, watch::Sender<Committed>>>,
    /// The last change of accounts that this process has changed.
    latest: Mutex<HashMap<AccountId, i64>>,
}

impl Commits {
    /// Tells whoever waits for the account. Of two commits that with the higher number is the later one, so that tellings
    /// may overtake each other.
    pub(super) fn tell(&self, account: AccountId, committed: Committed) {
        {
            let mut latest = self.latest.lock();
            if latest.len() >= REMEMBERED {
                latest.clear();
            }
            let sequence = latest.entry(account).or_default();
            *sequence = (*sequence).max(committed.sequence);
        }
        let mut waiting = self.waiting.lock();
        let Some(sender) = waiting.get(&account) else { return };
        if sender.is_closed() {
            waiting.remove(&account);
            return;
        }
        tell(sender, committed);
    }

    fn watch(&self, account: AccountId, seen: Committed) -> watch::Receiver<Committed> {
        let mut waiting = self.waiting.lock();
        // What somebody waited for earlier may have been lost since.
        if waiting.get(&account).is_some_and(watch::Sender::is_closed) {
            waiting.remove(&account);
        }
        let sender = waiting.entry(account).or_insert_with(|| watch::Sender::new(seen));
        tell(sender, seen);
        sender.subscribe()
    }

    /// Tells what the database said after `known` was committed. Where it does not have that commit, its history is
    /// another one, and the account has gone back.
    fn tell_found(&self, account: AccountId, known: Committed, found: Committed) {
        let is_lost = found.sequence < known.sequence || found.sequence == known.sequence && found != known;
        if !is_lost {
            self.tell(account, found);
        } else if let Some(sender) = self.waiting.lock().get(&account) {
            // What was committed meanwhile is compared the next time.
            sender.send_if_modified(|current| {
                let is_known = *current == known;
                if is_known {
                    *current = found;
                }
                is_known
            });
        }
    }

    fn watched(&self) -> Vec<(AccountId, Committed)> {
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, sender| !sender.is_closed());
        waiting.iter().map(|(account, sender)| (*account, *sender.borrow())).collect()
    }
}

fn tell(sender: &watch::Sender<Committed>, committed: Committed) {
    sender.send_if_modified(|known| {
        let is_news = committed.sequence > known.sequence;
        if is_news {
            *known = committed;
        }
        is_news
    });
}

/// The hash of an account's last change from its stored form.
pub fn hash_of_change(stored: &[u8]) -> Result<[u8; 32], DbError> {
    let broken = |_| DbError::Failed("the hash of an account's last change has not 32 bytes".to_owned());
    stored.try_into().map_err(broken)
}

impl Db {
    /// Waits for commits of an account, of which `seen` is known already.
    pub fn watch(&self, account: AccountId, seen: Committed) -> watch::Receiver<Committed> {
        self.0.activity.commits.watch(account, seen)
    }

    /// The last change of an account that this process is known to have made; 0 where it is not known to have made any.
    /// What another process has changed meanwhile is not in it, and what was restored since may be older.
    pub fn latest(&self, account: AccountId) -> i64 {
        self.0.activity.commits.latest.lock().get(&account).copied().unwrap_or(0)
    }

    /// Forgets the last change of an account that this process has made, because the database does not have it any more.
    pub fn forget_latest(&self, account: AccountId) {
        self.0.activity.commits.latest.lock().remove(&account);
    }

    /// Forgets what was known of an account's commits, for whoever waits for them next.
    pub fn forget_watched(&self, account: AccountId) {
        self.0.activity.commits.waiting.lock().remove(&account);
    }

    /// Asks the database where the accounts stand that somebody waits for: other processes write to it too, and the
    /// outcome of a commit whose connection was lost is known in no other way.
    pub async fn look(&self) -> Result<(), DbError> {
        for accounts in self.0.activity.commits.watched().chunks(BATCH_SIZE) {
            let known: BTreeMap<_, _> = accounts.iter().copied().collect();
            let mut values: Vec<Value<'_>> = known.keys().map(|account| (*account).into()).collect();
            // Few different texts keep few prepared statements; account 0 is nobody's.
            values.resize(accounts.len().next_power_of_two(), AccountId::NONE.into());
            let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
            let sql = format!("SELECT id, version, sequence, hash FROM accounts WHERE id IN ({})", places.join(", "));
            self.each(&sql, &values, |row| {
                let account = AccountId(row.integer(0)?);
                let found = Committed::read(row, 1)?;
                if let Some(known) = known.get(&account) {
                    self.0.activity.commits.tell_found(account, *known, found);
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Whether the account has the last change of a commit still: not where a restore or a failover lost it.
    pub async fn has(&self, account: AccountId, committed: Committed) -> Result<bool, DbError> {
        let sql = "SELECT count(*) FROM changes WHERE account = $1 AND sequence = $2 AND hash = $3";
        let values = [account.into(), committed.sequence.into(), committed.hash.as_slice().into()];
        // Before the first change there is none to lose.
        Ok(committed.sequence == 0 || self.fetch_pipelined(sql, &values, |row| row.flag(0)).await? == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: AccountId = AccountId(7);

    fn at(version: i64, sequence: i64) -> Committed {
        Committed { version, sequence, hash: [0; 32] }
    }

    #[test]
    fn only_those_who_wait_are_told_and_only_of_news() {
        let commits = Commits::default();
        commits.tell(ACCOUNT, at(1, 1));
        let mut receiver = commits.watch(ACCOUNT, at(1, 3));
        assert!(!receiver.has_changed().unwrap());
        commits.tell(ACCOUNT, at(1, 3));
        assert!(!receiver.has_changed().unwrap());
        commits.tell(ACCOUNT, at(1, 5));
        commits.tell(ACCOUNT, at(1, 4));
        commits.tell(AccountId(8), at(9, 9));
        assert!(receiver.has_changed().unwrap());
        assert_eq!(*receiver.borrow_and_update(), at(1, 5));
        commits.tell(ACCOUNT, at(0, 6));
        assert_eq!(*receiver.borrow_and_update(), at(0, 6), "a version is no number that rises");
    }

    #[test]
    fn what_the_database_says_later_counts_where_its_history_is_another_one() {
        let commits = Commits::default();
        let receiver = commits.watch(ACCOUNT, at(1, 5));
        let other = Committed { hash: [1; 32], ..at(1, 5) };
        for (known, found, expected) in [
            (at(1, 5), at(2, 7), at(2, 7)),
            (at(1, 5), at(1, 6), at(2, 7)),
            (at(1, 5), at(1, 4), at(2, 7)),
            (at(2, 7), at(2, 7), at(2, 7)),
            (at(2, 7), at(1, 5), at(1, 5)),
            (at(1, 5), other, other),
        ] {
            commits.tell_found(ACCOUNT, known, found);
            assert_eq!(*receiver.borrow(), expected, "{known:?} {found:?}");
        }
    }

    #[test]
    fn nobody_is_asked_for_when_everybody_has_gone() {
        let commits = Commits::default();
        let receivers = [commits.watch(ACCOUNT, at(1, 1)), commits.watch(AccountId(8), at(1, 1))];
        assert_eq!(commits.watched(), [(ACCOUNT, at(1, 1)), (AccountId(8), at(1, 1))]);
        drop(receivers);
        assert_eq!(commits.watched(), []);
        assert_eq!(*commits.watch(ACCOUNT, at(4, 4)).borrow(), at(4, 4));
    }
}
