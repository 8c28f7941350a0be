//! Who waits for the commits of an account, and what they are told.
//!
//! A commit of this process is told as soon as it is durable, before whoever asked for it is answered. Commits of other
//! processes are found by [`Db::look`], which costs one statement while anybody waits and none otherwise.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{AccountId, Db, DbError, Value};

/// Of how many accounts the last change is remembered.
const REMEMBERED: usize = 100_000;
/// How many accounts one statement asks for.
const TOGETHER: usize = 64;

/// Where an account stands after a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The version of the account's set-up.
    pub version: i64,
    /// The sequence number of the account's last change.
    pub sequence: i64,
}

/// The accounts that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Commits {
    waiting: Mutex<BTreeMap<AccountId, watch::Sender<Committed>>>,
    /// The last change of accounts that this process has changed.
    latest: Mutex<HashMap<AccountId, i64>>,
}

impl Commits {
    /// Tells whoever waits for the account. Both numbers only rise, so that tellings may overtake each other.
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
        let sender = waiting.entry(account).or_insert_with(|| watch::Sender::new(seen));
        tell(sender, seen);
        sender.subscribe()
    }

    fn watched(&self) -> Vec<AccountId> {
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, sender| !sender.is_closed());
        waiting.keys().copied().collect()
    }
}

fn tell(sender: &watch::Sender<Committed>, committed: Committed) {
    sender.send_if_modified(|known| {
        let newest = Committed {
            version: known.version.max(committed.version),
            sequence: known.sequence.max(committed.sequence),
        };
        let is_news = *known != newest;
        *known = newest;
        is_news
    });
}

impl Db {
    /// Waits for commits of an account, of which `seen` is known already.
    #[must_use]
    pub fn watch(&self, account: AccountId, seen: Committed) -> watch::Receiver<Committed> {
        self.0.commits.watch(account, seen)
    }

    /// The last change of an account that this process is known to have made; 0 where it is not known to have made any.
    /// What another process has changed meanwhile is not in it, and what was restored since may be older.
    #[must_use]
    pub fn latest(&self, account: AccountId) -> i64 {
        self.0.commits.latest.lock().get(&account).copied().unwrap_or(0)
    }

    /// Forgets the last change of an account that this process has made, because the database does not have it any more.
    pub fn forget_latest(&self, account: AccountId) {
        self.0.commits.latest.lock().remove(&account);
    }

    /// Asks the database where the accounts stand that somebody waits for: other processes write to it too, and the
    /// outcome of a commit whose connection was lost is known in no other way.
    pub async fn look(&self) -> Result<(), DbError> {
        for accounts in self.0.commits.watched().chunks(TOGETHER) {
            let mut values: Vec<Value<'_>> = accounts.iter().map(|account| (*account).into()).collect();
            // Few different texts keep few prepared statements; account 0 is nobody's.
            values.resize(accounts.len().next_power_of_two(), AccountId::NONE.into());
            let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
            let sql = format!("SELECT id, version, sequence FROM accounts WHERE id IN ({})", places.join(", "));
            self.each(&sql, &values, |row| {
                let committed = Committed { version: row.integer(1)?, sequence: row.integer(2)? };
                self.0.commits.tell(AccountId(row.integer(0)?), committed);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: AccountId = AccountId(7);

    fn at(version: i64, sequence: i64) -> Committed {
        Committed { version, sequence }
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
        commits.tell(ACCOUNT, at(2, 5));
        assert_eq!(*receiver.borrow_and_update(), at(2, 5));
    }

    #[test]
    fn nobody_is_asked_for_when_everybody_has_gone() {
        let commits = Commits::default();
        let receivers = [commits.watch(ACCOUNT, at(1, 1)), commits.watch(AccountId(8), at(1, 1))];
        assert_eq!(commits.watched(), [ACCOUNT, AccountId(8)]);
        drop(receivers);
        assert_eq!(commits.watched(), []);
        assert_eq!(*commits.watch(ACCOUNT, at(4, 4)).borrow(), at(4, 4));
    }
}
