//! Writes a user: the log and the row.

use crate::log::{self, Action, Change, Event, Origin};
use crate::program::Record;
use crate::records::users::store;
use crate::records::users::{User, detail, shown};
use db::{AccountId, DbError, Tx};
use kernel::document::whole;
use kernel::kind::Kind;

/// Writes a user and logs the change; gives the revision.
pub(crate) async fn write(
    tx: &mut Tx,
    account: AccountId,
    origin: &Origin,
    after: &User,
    action: Action,
    events: &[Event],
) -> Result<i64, DbError> {
    let deleted = action == Action::Trashed;
    let document = whole(&shown(after, deleted), &detail(after));
    let change = Change { kind: Kind::User, slug: after.slug.as_str(), action, events, document };
    let revision = log::append(tx, account, origin, change).await?;
    let record = Record { value: after.clone(), revision, deleted };
    store::put(tx, account, &record).await?;
    Ok(revision)
}

/// The events of an update: one of the user, and one for each role that is granted.
pub(crate) fn update_events(before: &User, after: &User) -> Vec<Event> {
    let granted = after.roles.iter().filter(|role| !before.roles.contains(role));
    std::iter::once(Event::UserUpdated).chain(granted.map(|_| Event::RoleGranted)).collect()
}

/// The events of a user who is added.
pub(crate) fn create_events(user: &User) -> Vec<Event> {
    let granted = user.roles.iter().map(|_| Event::RoleGranted);
    std::iter::once(Event::MembershipRegistered).chain(granted).collect()
}
