//! Turns: what takes long is done for so many at the same time, and for so many of one account; others wait, first come,
//! first served. So no account waits behind another's work, however much of it there is.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of one kind of work. Cloning is cheap; the clones share them.
#[derive(Clone, Debug)]
pub struct Turns<K> {
    together: Arc<Semaphore>,
    together_of_account: usize,
    accounts: Arc<Mutex<HashMap<K, Weak<Semaphore>>>>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub struct Turn {
    _of_account: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl<K: Clone + Eq + Hash> Turns<K> {
    /// So many at the same time, and of one account.
    pub fn new(together: usize, together_of_account: usize) -> Self {
        Self { together: Arc::new(Semaphore::new(together)), together_of_account, accounts: Arc::default() }
    }

    /// Waits for a turn of this account. Who waits for the others of the account takes none of the turns of all.
    pub async fn take(&self, account: K) -> Turn {
        // Semaphores that are never closed give a permit in the end.
        let of_account = self.of_account(account).acquire_owned().await.ok();
        let of_all = Arc::clone(&self.together).acquire_owned().await.ok();
        Turn { _of_account: of_account, _of_all: of_all }
    }

    fn of_account(&self, account: K) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock();
        accounts.retain(|_, turns| turns.strong_count() > 0);
        let turns = accounts.get(&account).and_then(Weak::upgrade);
        turns.unwrap_or_else(|| {
            let turns = Arc::new(Semaphore::new(self.together_of_account));
            accounts.insert(account, Arc::downgrade(&turns));
            turns
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn an_account_does_not_take_the_turns_of_others() {
        let turns = Turns::new(3, 2);
        let mut taken: Vec<_> = (0..2).map(|_| turns.take("a").now_or_never()).collect();
        assert!(taken.iter().all(Option::is_some));
        assert!(turns.take("a").now_or_never().is_none());
        taken.push(turns.take("b").now_or_never());
        assert!(taken[2].is_some());
        assert!(turns.take("c").now_or_never().is_none());
        taken.remove(0);
        assert!(turns.take("c").now_or_never().is_some());
        assert!(turns.take("a").now_or_never().is_some());
    }
}
