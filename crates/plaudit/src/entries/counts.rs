//! How many entries a season, chapter, category and status have: kept by the transaction that changes an entry.

use std::collections::BTreeMap;

use super::{Entry, EntryHead, Status};
use crate::text::Slug;

/// Where an entry is counted; one in the trash is counted nowhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its season.
    pub season: Slug,
    /// The chapter that it is in.
    pub chapter: Slug,
    /// Its category.
    pub category: Slug,
    /// Where it is on its way.
    pub status: Status,
    /// Its division; 0 where it has none.
    pub division: i64,
}

impl Place {
    /// Where an entry is counted, unless it is in the trash.
    #[must_use]
    pub fn of(entry: &Entry, deleted: bool) -> Option<Self> {
        (!deleted).then(|| Self {
            season: entry.season,
            chapter: entry.chapter,
            category: entry.category,
            status: entry.status,
            division: entry.division.unwrap_or(0),
        })
    }

    /// The same of an entry's first document.
    #[must_use]
    pub fn of_head(head: &EntryHead<'_>, deleted: bool) -> Option<Self> {
        (!deleted).then(|| Self {
            season: head.season,
            chapter: head.chapter,
            category: head.category,
            status: head.status,
            division: head.division.unwrap_or(0),
        })
    }
}

/// How the counts have changed in a transaction. They are written once, because a row that one transaction writes
/// again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountChanges(BTreeMap<Place, i64>);

impl CountChanges {
    /// Notes that an entry was counted in one place before and is in another now.
    pub fn note(&mut self, before: Option<Place>, after: Option<Place>) {
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
    pub(super) fn into_changes(self) -> impl Iterator<Item = (Place, i64)> {
        self.0.into_iter().filter(|(_, change)| *change != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(status: Status) -> Place {
        let slug = |text| Slug::parse(text).unwrap();
        Place { season: slug("SeasonAA"), chapter: slug("ChapteAA"), category: slug("CategAAA"), status, division: 0 }
    }

    #[test]
    fn what_comes_and_goes_adds_up() {
        let mut changes = CountChanges::default();
        changes.note(None, Some(place(Status::InProgress)));
        changes.note(None, Some(place(Status::InProgress)));
        changes.note(Some(place(Status::InProgress)), Some(place(Status::Submitted)));
        changes.note(Some(place(Status::Submitted)), Some(place(Status::Submitted)));
        changes.note(Some(place(Status::Invited)), None);
        changes.note(None, Some(place(Status::Invited)));
        let told: Vec<_> = changes.into_changes().map(|(place, change)| (place.status, change)).collect();
        assert_eq!(told, [(Status::InProgress, 1), (Status::Submitted, 1)]);
    }
}
