//! Verifies an account's change log: its numbers and its hash chain.

use super::store;
use crate::db::{DbError, Tx};
use crate::log;

/// Reads the whole log of an account and gives what is wrong with it; nothing where it is as it must be.
///
/// Sequence numbers begin at 1 and have no gap, every hash follows from the one before it, and the account holds the
/// last of both.
pub(super) async fn fault(tx: &mut Tx, head: &store::Head) -> Result<Option<String>, DbError> {
    let mut sequence = 0;
    let mut hash = log::origin(head.slug);
    let mut fault = None;
    log::each_of_account(tx, head.account, |entry| {
        if fault.is_some() {
            return Ok(());
        }
        if entry.sequence != sequence + 1 {
            fault = Some(format!("change {} follows change {sequence}: there is a gap", entry.sequence));
            return Ok(());
        }
        sequence = entry.sequence;
        hash = log::chained(&hash, sequence, entry.at, &entry.texts);
        if entry.hash != hash {
            fault = Some(format!(
                "change {sequence} ({} {}) does not have the hash that follows from it and from those before it",
                entry.kind(),
                entry.slug()
            ));
        }
        Ok(())
    })
    .await?;
    if fault.is_none() && (sequence, hash.as_slice()) != (head.sequence, head.hash.as_slice()) {
        fault = Some(format!(
            "the log ends with change {sequence}, and the account's head tells of change {}",
            head.sequence
        ));
    }
    Ok(fault)
}
