//! The newest changes of an account's entries, bounded in number, bytes and age.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::streams::EntryChange;
use kernel::text::Slug;

/// The most changes that are kept.
const CHANGES: usize = 1024;
/// The most bytes of documents that are kept, the newest change excepted.
const BYTES: usize = 1 << 20;
/// For how many beats a change is kept.
const BEATS: u64 = 60;

/// Holds every change of an entry with a sequence number after [`Ring::floor`] and up to [`Ring::head`].
#[derive(Debug)]
pub(super) struct Ring {
    floor: i64,
    head: i64,
    changes: VecDeque<(Arc<EntryChange>, u64)>,
    bytes: usize,
}

impl Ring {
    /// One that begins after a sequence number.
    pub(super) fn after(sequence: i64) -> Self {
        Self { floor: sequence, head: sequence, changes: VecDeque::new(), bytes: 0 }
    }

    /// Changes up to this one have been forgotten.
    pub(super) fn floor(&self) -> i64 {
        self.floor
    }

    /// The log was read up to this change.
    pub(super) fn head(&self) -> i64 {
        self.head
    }

    /// Adds the changes of entries in the stretch of the log from the head up to `head`.
    pub(super) fn push(&mut self, changes: &[Arc<EntryChange>], head: i64, beat: u64) {
        for change in changes {
            self.bytes += change.bytes();
            self.changes.push_back((Arc::clone(change), beat));
            while self.changes.len() > CHANGES || (self.bytes > BYTES && self.changes.len() > 1) {
                self.forget();
            }
        }
        self.head = head;
    }

    /// Forgets what is old.
    pub(super) fn expire(&mut self, beat: u64) {
        while self.changes.front().is_some_and(|(_, pushed)| pushed + BEATS <= beat) {
            self.forget();
        }
    }

    /// The first change after a sequence number, of one entry or of all.
    pub(super) fn first(&self, after: i64, entry: Option<Slug>) -> Option<i64> {
        self.changes_after(after, entry).next().map(|change| change.sequence)
    }

    /// The next changes after a sequence number, of one entry or of all: no more than so many, and no more than have so many
    /// bytes together, but at least one.
    pub(super) fn some(&self, after: i64, entry: Option<Slug>, (most, bytes): (usize, usize)) -> Vec<Arc<EntryChange>> {
        let mut left = bytes;
        let fits = |(number, change): &(usize, &Arc<EntryChange>)| {
            let rest = left.checked_sub(change.bytes());
            left = rest.unwrap_or_default();
            *number == 0 || rest.is_some()
        };
        let changes = self.changes_after(after, entry).take(most).enumerate().take_while(fits);
        changes.map(|(_, change)| Arc::clone(change)).collect()
    }

    fn changes_after(&self, after: i64, entry: Option<Slug>) -> impl Iterator<Item = &Arc<EntryChange>> {
        let begin = self.changes.partition_point(|(change, _)| change.sequence <= after);
        let changes = self.changes.range(begin..).map(|(change, _)| change);
        changes.filter(move |change| entry.is_none_or(|entry| change.entry == entry))
    }

    fn forget(&mut self) {
        if let Some((change, _)) = self.changes.pop_front() {
            self.bytes -= change.bytes();
            self.floor = change.sequence;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::text::Timestamp;

    fn change(sequence: i64, entry: &str, length: usize) -> Arc<EntryChange> {
        Arc::new(EntryChange {
            sequence,
            at: Timestamp::from_seconds(0),
            source: "api".to_owned(),
            action: "updated".to_owned(),
            entry: Slug::parse(entry).unwrap(),
            events: Vec::new(),
            people: Vec::new(),
            rendered: parking_lot::Mutex::default(),
            document: "x".repeat(length),
        })
    }

    fn numbers(changes: &[Arc<EntryChange>]) -> Vec<i64> {
        changes.iter().map(|change| change.sequence).collect()
    }

    #[test]
    fn changes_are_found_after_a_number_of_one_entry_or_of_all() {
        let mut ring = Ring::after(10);
        ring.push(&[change(12, "EntryOne", 1), change(13, "EntryTwo", 1)], 15, 0);
        ring.push(&[change(16, "EntryOne", 1)], 16, 0);
        assert_eq!((ring.floor(), ring.head()), (10, 16));
        let one = Slug::parse("EntryOne");
        assert_eq!(ring.first(10, None), Some(12));
        assert_eq!(ring.first(12, one), Some(16));
        assert_eq!(ring.first(16, None), None);
        assert_eq!(numbers(&ring.some(0, one, (9, usize::MAX))), [12, 16]);
        assert_eq!(numbers(&ring.some(12, None, (9, usize::MAX))), [13, 16]);
        assert_eq!(numbers(&ring.some(10, None, (2, usize::MAX))), [12, 13]);
        let bytes = change(1, "EntryOne", 1).bytes();
        assert_eq!(numbers(&ring.some(10, None, (9, 2 * bytes))), [12, 13]);
        assert_eq!(numbers(&ring.some(10, None, (9, bytes - 1))), [12], "at least one");
    }

    #[test]
    fn it_is_bounded_in_number_bytes_and_age() {
        let mut ring = Ring::after(0);
        let count = i64::try_from(CHANGES).unwrap() + 3;
        ring.push(&(1..=count).map(|sequence| change(sequence, "EntryOne", 1)).collect::<Vec<_>>(), count, 0);
        assert_eq!((ring.floor(), ring.changes.len()), (3, CHANGES));
        ring.push(&[change(count + 1, "EntryOne", BYTES)], count + 1, 1);
        assert_eq!((ring.floor(), ring.changes.len()), (count, 1));
        ring.expire(BEATS);
        assert_eq!(ring.changes.len(), 1);
        ring.expire(BEATS + 1);
        assert_eq!((ring.floor(), ring.head(), ring.changes.len(), ring.bytes), (count + 1, count + 1, 0, 0));
    }
}
