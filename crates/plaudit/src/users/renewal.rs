//! Renews what other records show of a user: the names, the e-mail address and the global id.
//!
//! Each place where a user's name stands is named here: entries show their entrant, orders their purchaser, chapters
//! their managers. An account reads its owner as the user is, and so needs no renewal. Comments, which say who wrote
//! them, are texts and stay as they were written.

use super::Summary;
use crate::db::{DbError, Tx};
use crate::log::Origin;
use crate::program::{Program, chapters};
use crate::{entries, orders};

/// Writes everything again that shows the user, in the transaction that changes the user.
pub(super) async fn renew(
    tx: &mut Tx,
    program: &Program,
    origin: &Origin,
    (before, after): (&Summary, &Summary),
) -> Result<(), DbError> {
    entries::store::renew_entrant(tx, program.id, origin, after).await?;
    orders::store::renew_purchaser(tx, program.id, origin, after).await?;
    if (&before.first_name, &before.last_name) != (&after.first_name, &after.last_name) {
        chapters::renew_manager(tx, program, origin, after).await?;
    }
    Ok(())
}
