//! How many entries each division of a category has: kept by the transaction that changes an entry, because a new one goes
//! where the fewest are.

use std::collections::BTreeMap;

use crate::records::entries::Entry;
use kernel::text::Slug;

/// Where an entry is counted: its category and division, 0 where it has none.
pub(super) type DivisionKey = (Slug, i64);

/// Where an entry is counted; nowhere in the trash.
pub(super) fn division_of(entry: &Entry, deleted: bool) -> Option<DivisionKey> {
    (!deleted).then(|| (entry.category, entry.division.unwrap_or(0)))
}

/// How the counts have changed in a transaction. They are written once, because a row that one transaction writes
/// again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountChanges(BTreeMap<DivisionKey, i64>);

impl CountChanges {
    /// Notes that an entry was counted in one place before and is in another now.
    pub fn note(&mut self, before: Option<DivisionKey>, after: Option<DivisionKey>) {
        if before == after {
            return;
        }
        for (place, change) in [(before, -1), (after, 1)] {
            if let Some(place) = place {
                *self.0.entry(place).or_default() += change;
            }
        }
    }

    /// The places whose counts have changed, with the difference.
    pub(super) fn into_changes(self) -> impl Iterator<Item = (DivisionKey, i64)> {
        self.0.into_iter().filter(|(_, change)| *change != 0)
    }
}
