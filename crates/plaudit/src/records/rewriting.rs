//! Rewriting rows whose documents have an older form ([`crate::log::forms`]), while they are read and written.
//!
//! - Some rows of one account are rewritten in a transaction, so that nobody waits for long. What is left is known by its
//!   form alone: whoever was stopped in the midst, or another node, goes on.
//! - A record does not change by it: its revision, its change in the log and its answers stay, and no view is outdated. What
//!   follows from the document is written anew with it, columns that a step of the schema added among it.
//! - A document that cannot be rewritten stays as it is and is told; the others are rewritten.

mod store;

use crate::log::forms::Forms;
use db::{AccountId, Db, DbError};
use kernel::kind::Kind;

/// How far rewriting came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// How many documents were rewritten.
    pub documents: u64,
    /// How many cannot be.
    pub faults: usize,
    /// The account, kind and slug of the first of these, and why.
    pub first_fault: Option<String>,
    /// Whether there may be more.
    pub is_cut_off: bool,
}

/// Rewrites documents of rows to a form, at most so many pages of 32; `each` is told how many were after each page.
pub async fn rewrite(
    db: &Db,
    (forms, to): (&'static Forms, i64),
    mut pages: usize,
    mut each: impl FnMut(u64) + Send,
) -> Result<Rewritten, DbError> {
    let mut rewritten = Rewritten::default();
    for (kind, form) in forms.changed(to) {
        let mut last = (AccountId::NONE, String::new());
        while let Some(page) = store::older(db, (kind, form), &mut last).await? {
            if pages == 0 {
                rewritten.is_cut_off = true;
                return Ok(rewritten);
            }
            pages -= 1;
            for (account, names) in page {
                let (documents, faults) = of_account(db, account, (forms, kind, form), names).await?;
                rewritten.documents += documents;
                rewritten.faults += faults.len();
                rewritten.first_fault = rewritten.first_fault.take().or(faults.into_iter().next());
            }
            each(rewritten.documents);
        }
    }
    Ok(rewritten)
}

/// Rewrites these records of an account in one transaction.
async fn of_account(
    db: &Db,
    account: AccountId,
    of: (&'static Forms, Kind, i64),
    names: Vec<String>,
) -> Result<(u64, Vec<String>), DbError> {
    db.write(account, (account, of, names), |tx, (account, of, names)| {
        Box::pin(store::rewrite(tx, *account, *of, names))
    })
    .await
}
