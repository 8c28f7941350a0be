//! Verifies an account's change log: its numbers and its hash chain, and that the account names the right change of it.

use super::store;
use crate::log;
use db::{DbError, Tx};
use kernel::kind::Kind;

/// Reads the whole log of an account and gives what is wrong with it; nothing where it is as it must be.
///
/// Sequence numbers begin at 1 and have no gap, every hash follows from the one before it, and the account holds the
/// last of both. A document has its hash, unless it was erased; how many were is given too. The account's version is the
/// name of a change after which what its program shows stayed as it is.
pub(super) async fn fault(tx: &mut Tx, head: &store::Head) -> Result<(Option<String>, u64), DbError> {
    let mut erased = 0;
    let mut sequence = 0;
    let mut hash = log::origin(head.slug);
    let mut is_named = log::name_of(&hash) == head.version;
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
        hash = entry.chained(&hash);
        let wrong = if entry.hash != hash {
            Some("does not have the hash that follows from it and from those before it")
        } else if !entry.has_its_document() {
            Some("has another document than the one that was logged")
        } else {
            None
        };
        fault = wrong.map(|wrong| format!("change {sequence} ({} {}) {wrong}", entry.kind(), entry.slug()));
        erased += u64::from(entry.document.is_none());
        let is_in_program = Kind::named(entry.kind()).is_some_and(Kind::is_in_program);
        is_named = log::name_of(&hash) == head.version || is_named && !is_in_program;
        Ok(())
    })
    .await?;
    if fault.is_none() && (sequence, hash.as_slice()) != (head.sequence, head.hash.as_slice()) {
        fault = Some(format!(
            "the log ends with change {sequence}, and the account's head tells of change {}",
            head.sequence
        ));
    }
    if fault.is_none() && !is_named {
        fault = Some("the account's version is not the name of the last change of its set-up".to_owned());
    }
    Ok((fault, erased))
}
