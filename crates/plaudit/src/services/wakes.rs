//! The accounts for which something was committed that work in the background is to begin with at once.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

use db::AccountId;

/// The accounts that nobody has looked at yet. What is missed here, or committed by another process, is found a second later.
#[derive(Debug, Default)]
pub struct Wakes {
    accounts: Mutex<BTreeSet<AccountId>>,
    added: Notify,
}

impl Wakes {
    /// Has the work of an account looked at; to be called after the commit.
    pub fn add(&self, account: AccountId) {
        self.accounts.lock().insert(account);
        self.added.notify_one();
    }

    /// Waits until there are accounts, and takes them.
    pub async fn next(&self) -> BTreeSet<AccountId> {
        self.added.notified().await;
        std::mem::take(&mut *self.accounts.lock())
    }
}
