//! Segments: what the filters of lists tell entries apart by, and how many entries each has. The counts are kept by the
//! transaction that changes an entry.

use std::collections::BTreeMap;

use super::{Entry, EntryHead, Moderation, Payment, Status};
use crate::belongings::store::Segments;
use crate::ids::derived_number;
use crate::text::Slug;

/// Where an entry is counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its season.
    pub season: Slug,
    /// Its category.
    pub category: Slug,
    /// The chapter that it is in.
    pub chapter: Slug,
    /// Its form.
    pub form: Slug,
    /// Its division; 0 where it has none.
    pub division: i64,
    /// Where it is on its way.
    pub status: Status,
    /// What the managers think of it.
    pub moderation: Moderation,
    /// Whether it is paid.
    pub payment: Payment,
    /// Where its review stands.
    pub review: String,
    /// Whether it is kept for the record only.
    pub archived: bool,
    /// Whether it is in the trash.
    pub deleted: bool,
}

impl Place {
    /// Where an entry is counted.
    #[must_use]
    pub fn of(entry: &Entry, deleted: bool) -> Self {
        Self {
            season: entry.season,
            category: entry.category,
            chapter: entry.chapter,
            form: entry.form,
            division: entry.division.unwrap_or(0),
            status: entry.status,
            moderation: entry.moderation_status,
            payment: entry.payment_status,
            review: entry.review_status.clone(),
            archived: entry.archived,
            deleted,
        }
    }

    /// The same of an entry's first document and the flags of its row.
    #[must_use]
    pub fn of_head(head: &EntryHead<'_>, archived: bool, deleted: bool) -> Self {
        Self {
            season: head.season,
            category: head.category,
            chapter: head.chapter,
            form: head.form,
            division: head.division.unwrap_or(0),
            status: head.status,
            moderation: head.moderation_status,
            payment: head.payment_status,
            review: head.review_status.clone().into_owned(),
            archived,
            deleted,
        }
    }

    /// The number of the segment. Its last two bits are [`flags`], so that a list that asks for nothing else need not
    /// know the segments.
    #[must_use]
    pub fn segment(&self) -> i64 {
        let Self { season, category, chapter, form, division, status, moderation, payment, review, archived, deleted } =
            self;
        let number = derived_number(&format!(
            "{season}{category}{chapter}{form} {division} {status} {moderation} {payment} {review}"
        ));
        (number & !flags(true, true)) | flags(*archived, *deleted)
    }
}

/// The bits of a segment's number that tell whether its entries are archived and whether they are in the trash.
#[must_use]
pub(super) fn flags(archived: bool, deleted: bool) -> i64 {
    i64::from(archived) << 1 | i64::from(deleted)
}

/// How the counts have changed in a transaction. They are written once, because a row that one transaction writes
/// again and again grows slow on PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountChanges {
    places: BTreeMap<Place, i64>,
    /// Those of what belongs to entries.
    pub belongings: Segments,
}

impl CountChanges {
    /// Notes that an entry was counted in one place before and is in another now.
    pub fn note(&mut self, before: Option<Place>, after: Option<Place>) {
        if before == after {
            return;
        }
        for (place, change) in [(before, -1), (after, 1)] {
            if let Some(place) = place {
                *self.places.entry(place).or_default() += change;
            }
        }
    }

    /// The places whose counts have changed, with the difference.
    pub(super) fn into_changes(self) -> impl Iterator<Item = (Place, i64)> {
        self.places.into_iter().filter(|(_, change)| *change != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(status: Status) -> Place {
        let slug = |text| Slug::parse(text).unwrap();
        Place {
            season: slug("SeasonAA"),
            category: slug("CategAAA"),
            chapter: slug("ChapteAA"),
            form: slug("FormAAAA"),
            division: 0,
            status,
            moderation: Moderation::Undecided,
            payment: Payment::Unpaid,
            review: String::new(),
            archived: false,
            deleted: false,
        }
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

    #[test]
    fn what_differs_is_another_segment_and_what_does_not_is_the_same() {
        let one = place(Status::Invited);
        let slug = Slug::parse("OtherOne").unwrap();
        let others = [
            Place { season: slug, ..one.clone() },
            Place { category: slug, ..one.clone() },
            Place { chapter: slug, ..one.clone() },
            Place { form: slug, ..one.clone() },
            Place { division: 1, ..one.clone() },
            Place { status: Status::Submitted, ..one.clone() },
            Place { moderation: Moderation::Approved, ..one.clone() },
            Place { payment: Payment::Paid, ..one.clone() },
            Place { review: "started".to_owned(), ..one.clone() },
            Place { archived: true, ..one.clone() },
            Place { deleted: true, ..one.clone() },
        ];
        let numbers: std::collections::BTreeSet<i64> = others.iter().chain([&one]).map(Place::segment).collect();
        assert_eq!(numbers.len(), 12);
        assert!(numbers.iter().all(|number| *number >= 0));
        let flagged = |archived, deleted| Place { archived, deleted, ..one.clone() }.segment();
        for (archived, deleted, bits) in [(false, false, 0), (false, true, 1), (true, false, 2), (true, true, 3)] {
            assert_eq!(flagged(archived, deleted), flagged(false, false) | bits);
        }
        // The numbers are in databases: another way to make them needs a migration.
        assert_eq!(one.segment(), 971_771_669_531_649_104);
    }
}
