//! Renews what entries show of their entrant.

use super::{broken, name_key};
use crate::db::{AccountId, DbError, Tx};
use crate::entries::{EntryHead, whole};
use crate::kind::Kind;
use crate::log::{self, Action, Change, Origin};
use crate::users::Summary;

/// How many entries are read at once.
const TOGETHER: i64 = 256;

/// Writes the first document of every entry of a user again, those in the trash included, where it shows other names
/// than the user has. That is no change of the entry: it keeps its time, and causes no event. The second document does
/// not show the user.
pub async fn renew_entrant(tx: &mut Tx, account: AccountId, origin: &Origin, entrant: &Summary) -> Result<(), DbError> {
    let mut last = String::new();
    loop {
        let mut entries = Vec::new();
        tx.each(
            "SELECT slug, doc, detail FROM entries WHERE account = $1 AND entrant = $2 AND slug > $3 \
             ORDER BY slug LIMIT $4",
            &[account.into(), entrant.slug.into(), last.as_str().into(), TOGETHER.into()],
            |row| {
                entries.push((row.text(0)?.to_owned(), row.text(1)?.to_owned(), row.text(2)?.to_owned()));
                Ok(())
            },
        )
        .await?;
        let Some((end, _, _)) = entries.last() else { return Ok(()) };
        last.clone_from(end);
        for (slug, doc, detail) in entries {
            let renewed = EntryHead::read(&doc).map_err(|error| broken(&error))?.with_entrant(entrant).to_doc();
            if renewed == doc {
                continue;
            }
            let document = whole(&renewed, &detail);
            let change = Change { kind: Kind::Entry, slug: &slug, action: Action::Renewed, events: &[], document };
            let revision = log::append(tx, account, origin, change).await?;
            tx.later(
                "UPDATE entries SET list_revision = $3, revision = $3, doc = $4, entrant_key = $5 \
                 WHERE account = $1 AND slug = $2",
                vec![account.into(), slug.into(), revision.into(), renewed.into(), name_key(&entrant.name()).into()],
            )
            .await?;
        }
    }
}
