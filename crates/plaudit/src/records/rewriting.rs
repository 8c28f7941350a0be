//! Rewriting rows whose documents have an older form ([`crate::log::forms`]), while they are read and written.
//!
//! - Some rows of one account are rewritten in a transaction, so that others wait for a short time only. Their form alone says
//!   what is left: after an interruption the same node or another one goes on.
//! - A record does not change by it: its revision, its change in the log and its answers stay, and no view is outdated. The
//!   columns and tables of values that follow from its document are written again with it, new columns among them.
//! - A document that cannot be rewritten stays as it is and is reported; the others are rewritten.

mod store;

pub use store::rewrite_record;

use crate::log::forms::Forms;
use db::{AccountId, Db, DbError};
use kernel::kind::Kind;

/// How far rewriting came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// How many documents were rewritten.
    pub documents: u64,
    /// How many cannot be.
    pub faults: u64,
    /// The first of these: its account, kind and slug, and why.
    pub first_fault: Option<String>,
    /// Whether there may be more.
    pub is_cut_off: bool,
}

/// Rewrites documents of rows to a form, 32 at a time, as long as `goes_on` allows: it gets the number of documents that were
/// rewritten so far.
pub async fn rewrite(
    db: &Db,
    (forms, to): (&'static Forms, i64),
    mut goes_on: impl FnMut(u64) -> bool + Send,
) -> Result<Rewritten, DbError> {
    let mut rewritten = Rewritten::default();
    for kind in Kind::ALL {
        let form = forms.last(kind, to);
        let mut last = (AccountId::NONE, String::new());
        while let Some(page) = store::older(db, (kind, form), &mut last).await? {
            if !goes_on(rewritten.documents) {
                rewritten.is_cut_off = true;
                return Ok(rewritten);
            }
            for (account, names) in page {
                let count = names.len();
                let (documents, faults) = match of_account(db, account, (forms, kind, form), names).await {
                    Ok(done) => done,
                    Err(error) => (0, vec![format!("account {}, {count} {}: {error}", account.0, kind.plural())]),
                };
                rewritten.documents += documents;
                rewritten.faults += faults.len() as u64;
                rewritten.first_fault = rewritten.first_fault.take().or(faults.into_iter().next());
            }
        }
    }
    Ok(rewritten)
}

/// Whether any row has documents of an older form than this one.
pub async fn is_left(db: &Db, (forms, to): (&Forms, i64)) -> Result<bool, DbError> {
    for kind in Kind::ALL {
        let mut last = (AccountId::NONE, String::new());
        if store::older(db, (kind, forms.last(kind, to)), &mut last).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
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
