//! What streams read of the change log, and where they begin.

use std::sync::Arc;

use parking_lot::Mutex;

use super::EntryChange;
use crate::log::feed::{self, Logged, Of};
use crate::records::users;
use db::{AccountId, Committed, Db, DbError, Source};
use kernel::document;
use kernel::kind::Kind;
use kernel::text::Slug;

/// Where the account stands, and the chapter and the entrant of an entry that is not in the trash.
pub async fn standing(
    db: &Db,
    account: AccountId,
    entry: Option<Slug>,
) -> Result<Option<(Committed, Option<(Slug, Slug)>)>, DbError> {
    db.fetch_pipelined(
        "SELECT a.version, a.sequence, a.hash, e.chapter, e.entrant FROM accounts a \
         LEFT JOIN entries e ON e.account = a.id AND e.slug = $2 AND e.deleted = 0 WHERE a.id = $1",
        &[account.into(), entry.into()],
        |row| {
            let place = if row.optional_text(3)?.is_some() { Some((row.slug(3)?, row.slug(4)?)) } else { None };
            Ok((Committed::read(row, 0)?, place))
        },
    )
    .await
}

/// Reads a stretch of the log ([`feed::stretch`]): the changes of one entry or of all entries. Erased ones are not there.
pub async fn stretch(
    db: &Db,
    account: AccountId,
    entry: Option<Slug>,
    range: (i64, i64),
    bytes: usize,
) -> Result<(Vec<Arc<EntryChange>>, i64), DbError> {
    let of = entry.as_ref().map_or(Of::Kind(Kind::Entry), |entry| Of::Record(Kind::Entry, entry.as_str()));
    let (logged, reached) = feed::stretch(account, &mut Source::Db(db), of, range, Some(bytes)).await?;
    let found = logged.into_iter().filter_map(change).collect();
    Ok((with_people(db, account, found).await?, reached))
}

/// The changes with the people whom their documents show, who are looked up together, as they are called now.
async fn with_people(
    db: &Db,
    account: AccountId,
    mut found: Vec<EntryChange>,
) -> Result<Vec<Arc<EntryChange>>, DbError> {
    let documents = found.iter().map(|change| change.document.as_str());
    let people = users::store::shown_in(account, Source::Db(db), documents).await?;
    for change in &mut found {
        let shown = document::people_of(&change.document);
        change.people = people.iter().filter(|person| shown.contains(&person.slug)).cloned().collect();
    }
    Ok(found.into_iter().map(Arc::new).collect())
}

fn change(logged: Logged) -> Option<EntryChange> {
    Some(EntryChange {
        sequence: logged.sequence,
        at: logged.at,
        source: logged.source,
        action: logged.action,
        entry: Slug::parse(&logged.slug)?,
        events: logged.events,
        document: logged.document?,
        people: Vec::new(),
        rendered: Mutex::default(),
    })
}
