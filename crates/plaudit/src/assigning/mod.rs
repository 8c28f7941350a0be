//! Assigning: how judges are linked with entries, one by one and by jobs.
//!
//! - What must hold is asked before anything is written: the score set is not archived and of a season that is active
//!   or being set up; the rounds are judging rounds of its form; the entries are of its form; whoever judges has a
//!   judging role ([`rules`]).
//! - A judge who was taken off an entry, or has a conflict of interest with it of any kind, is not linked with it ([`facts`]).
//! - A link that is there is changed and never doubled; one in the trash, or one that had lost its cause, is restored with its
//!   sheet ([`link::write`]).
//! - A job links each entry with each judge, a bounded number in each step; what cannot be linked is told, and a pair that was
//!   linked before does no harm. Another one takes a judge off all open sheets of a score set and gives these to others.
//! - What panels assign follows the change log ([`panels`]).
//! - Before a round ends, judges with open sheets are reminded where the round says so ([`reminders`]).
//! - A plan is made, applied and undone at once ([`planning`]).

pub mod facts;
pub mod link;
pub mod linking;
pub mod panels;
pub mod planning;
pub mod reassigning;
pub mod reminders;
pub mod rules;

use crate::leases::{LeaseName, store as lease_store};
use crate::records::store::difference;
use db::{AccountId, DbError, Tx};

/// Hands over what is wrong with the leases of an account's panels and reminders, whose log has so many changes.
pub async fn each_wrong(
    tx: &mut Tx,
    account: AccountId,
    sequence: i64,
    mut each: impl FnMut(String) + Send,
) -> Result<(), DbError> {
    let mut wrong = |lease: LeaseName, column: &str, what: &str| {
        each(difference("leases", &lease.to_string(), column, what));
    };
    let has_panels = panels::store::has_panels(tx, account).await?;
    match lease_store::position_in(tx, account, LeaseName::Panels).await? {
        None if has_panels => wrong(LeaseName::Panels, "name", "it is missing, and panels assign nobody"),
        Some(_) if !has_panels => wrong(LeaseName::Panels, "name", "the account has no panels"),
        Some(position) if position > sequence => {
            wrong(LeaseName::Panels, "position", &format!("it is beyond the last change, {sequence}"));
        }
        _ => {}
    }
    // One that has nothing to do any more remembers who was reminded. A round that cannot be read is told where records are held
    // against the log.
    let reminds = reminders::reminds(tx, account).await.unwrap_or_default();
    if reminds && !lease_store::exists(tx, account, LeaseName::Reminders).await? {
        wrong(LeaseName::Reminders, "name", "it is missing, and no judge is reminded");
    }
    Ok(())
}
