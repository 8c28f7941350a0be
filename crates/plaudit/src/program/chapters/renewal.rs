//! Renews what chapters show of their managers.

use super::Chapter;
use crate::db::{DbError, Tx};
use crate::kind::Kind;
use crate::log::{self, Action, Change, Origin};
use crate::program::{Program, Record, store};
use crate::users::Summary;

/// Writes every chapter again that a user manages, those in the trash included. That is no change of the chapter: it
/// keeps its time. `program` is the account's as it is in the transaction.
pub async fn renew_manager(tx: &mut Tx, program: &Program, origin: &Origin, user: &Summary) -> Result<(), DbError> {
    for record in program.chapters.all() {
        let renewed = renewed(&record.value, user);
        if renewed == record.value {
            continue;
        }
        let change = Change {
            kind: Kind::Chapter,
            slug: renewed.slug.as_str(),
            action: Action::Renewed,
            events: &[],
            document: store::stored(&renewed),
        };
        let revision = log::append(tx, program.id, origin, change).await?;
        store::save(tx, program.id, &Record { value: renewed, revision, deleted: record.deleted }).await?;
    }
    Ok(())
}

fn renewed(chapter: &Chapter, user: &Summary) -> Chapter {
    let mut chapter = chapter.clone();
    for manager in chapter.managers.iter_mut().filter(|manager| manager.slug == user.slug) {
        manager.first_name.clone_from(&user.first_name);
        manager.last_name.clone_from(&user.last_name);
    }
    chapter
}
