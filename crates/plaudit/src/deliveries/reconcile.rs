//! Leases follow the set-up: each webhook that is sent to has one, and no other has.

use std::collections::BTreeSet;

use super::store;
use crate::leases::{LeaseName, NEVER, store as lease_store};
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::text::Slug;

/// To be called in each transaction that may have changed webhooks, after that.
///
/// A webhook that was enabled is told of what comes after. What has not arrived at one that was disabled, or put into the
/// trash, has failed.
pub fn reconcile(tx: &mut Tx, account: AccountId) -> BoxFuture<'_, Result<(), DbError>> {
    Box::pin(async move {
        let Some(position) = tx.head(account).await?.map(|head| head.sequence) else { return Ok(()) };
        let sent_to: BTreeSet<Slug> = store::sent_to(tx, account).await?;
        let leased: BTreeSet<Slug> =
            lease_store::positions(tx, account).await?.into_iter().map(|(webhook, _)| webhook).collect();
        for webhook in sent_to.difference(&leased) {
            lease_store::put(tx, account, LeaseName::Webhook(*webhook), (position, NEVER, "{}")).await?;
        }
        for webhook in leased.difference(&sent_to) {
            // A turn that is about to add deliveries ends before, and what it added fails too.
            lease_store::lock(tx, account, LeaseName::Webhook(*webhook)).await?;
            store::fail_pending(tx, account, *webhook).await?;
            lease_store::remove(tx, account, LeaseName::Webhook(*webhook)).await?;
        }
        Ok(())
    })
}
