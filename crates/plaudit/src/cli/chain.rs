//! Verifies an account's change log: its numbers and its hash chain, and that the account names the right change of it.

use super::store;
use crate::log;
use crate::records::store::difference;
use db::{DbError, Tx};
use kernel::kind::Kind;

/// What a change of the log is chained by.
const CHAINED: &str = "at, doc_form, actor, source, kind, slug, action, events, doc_hash, hash";

/// What was read of a log.
pub(super) struct Chain {
    /// The number of the last change.
    pub(super) sequence: i64,
    /// How many documents were erased.
    pub(super) erased: u64,
}

/// Reads the whole log of an account and hands over what is wrong with it.
///
/// Sequence numbers begin at 1 and have no gap, every hash follows from the one before it, and the account holds the
/// last of both. A document has its hash, unless it was erased. The account's version is the name of a change after which
/// what its program shows stayed as it is.
pub(super) async fn each_wrong(
    tx: &mut Tx,
    head: &store::Head,
    mut each: impl FnMut(String) + Send,
) -> Result<Chain, DbError> {
    let mut chain = Chain { sequence: 0, erased: 0 };
    let origin = log::origin(head.slug);
    // The hash of the last change as it is stored, and as it must be: of two neighbours only the changed one is told of.
    let mut before = [origin, origin];
    let mut is_named = log::name_of(&origin) == head.version;
    log::each_of_account(tx, head.account, |entry| {
        let name = format!("{} ({} {})", entry.sequence, entry.kind(), entry.slug());
        let next = chain.sequence + 1;
        let is_next = entry.sequence == next;
        if !is_next {
            let what = format!("it is missing: change {} comes next", entry.sequence);
            each(difference("changes", &next.to_string(), "account, sequence", &what));
        }
        let mut wrong = |columns: &str, what: &str| each(difference("changes", &name, columns, what));
        let hashes = before.map(|before| entry.chained(&before));
        if is_next && !hashes.iter().any(|hash| hash == entry.hash) {
            wrong(CHAINED, "its hash is not the one that follows from it and from those before it");
        }
        if !entry.has_its_document() {
            wrong("doc", "it is another document than the one that was logged");
        }
        chain.sequence = entry.sequence;
        chain.erased += u64::from(entry.document.is_none());
        before = [<[u8; 32]>::try_from(entry.hash).unwrap_or(hashes[0]), hashes[0]];
        let is_in_program = Kind::named(entry.kind()).is_some_and(Kind::is_in_program);
        let names = before.iter().any(|hash| log::name_of(hash) == head.version);
        is_named = names || is_named && !is_in_program;
        Ok(())
    })
    .await?;
    if head.sequence > chain.sequence {
        let next = (chain.sequence + 1).to_string();
        each(difference("changes", &next, "account, sequence", "it is missing: none comes next"));
    }
    let mut wrong = |columns: &str, what: &str| each(difference("accounts", head.slug.as_str(), columns, what));
    if head.sequence != chain.sequence || !before.iter().any(|hash| *hash == *head.hash) {
        let told =
            format!("the log ends with change {}, and the account with change {}", chain.sequence, head.sequence);
        wrong(if chain.sequence == 0 { "id, sequence, hash" } else { "sequence, hash" }, &told);
    }
    if !is_named {
        wrong("version", "it is not the name of the last change of its set-up");
    }
    Ok(chain)
}
