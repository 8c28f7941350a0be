//! Renews what orders show of who ordered.

use super::{flags, slug, updated};
use crate::db::{AccountId, DbError, Tx};
use crate::document::with_member;
use crate::kind::Kind;
use crate::log::{self, Action, Change, Origin};
use crate::orders::document::{logged, purchaser};
use crate::users::Summary;

/// How many orders are read at once.
const TOGETHER: i64 = 256;

/// Writes the document of every order of a user again, those in the trash included, where it shows other names than the
/// user has. That is no change of the order: it keeps its time, and causes no event.
pub async fn renew_purchaser(tx: &mut Tx, account: AccountId, origin: &Origin, user: &Summary) -> Result<(), DbError> {
    let shown = purchaser(user);
    let mut last = String::new();
    loop {
        let mut orders = Vec::new();
        tx.each(
            "SELECT test, deleted, updated, slug, note, doc FROM orders \
             WHERE account = $1 AND purchaser = $2 AND slug > $3 ORDER BY slug LIMIT $4",
            &[account.into(), user.slug.into(), last.as_str().into(), TOGETHER.into()],
            |row| {
                let texts = (row.text(4)?.to_owned(), row.text(5)?.to_owned());
                orders.push((slug(row, 3)?, flags(row)?, updated(row)?, texts));
                Ok(())
            },
        )
        .await?;
        let Some((end, ..)) = orders.last() else { return Ok(()) };
        last = end.to_string();
        for (slug, flags, updated, (note, doc)) in orders {
            let renewed = with_member(&doc, "user", &shown)
                .ok_or_else(|| DbError::Failed(format!("the order {slug} shows nobody who ordered")))?;
            if renewed == doc {
                continue;
            }
            let document = logged(&renewed, flags, &note, updated);
            let change =
                Change { kind: Kind::Order, slug: slug.as_str(), action: Action::Renewed, events: &[], document };
            let revision = log::append(tx, account, origin, change).await?;
            tx.later(
                "UPDATE orders SET revision = $3, doc = $4 WHERE account = $1 AND slug = $2",
                vec![account.into(), slug.into(), revision.into(), renewed.into()],
            )
            .await?;
        }
    }
}
