//! How far one reader of an account's tail has got.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::streams::EntryChange;
use crate::streams::ring::Ring;
use kernel::text::Slug;

/// The most changes that are taken at once.
const BATCH_SIZE: usize = 32;
/// The most bytes of documents that a reader takes at once, unless one change has more: it may be slow to pass them on.
pub(super) const BATCH_BYTES: usize = 64 << 10;
/// For how many beats a change may wait for a reader before it counts as too slow.
const PATIENCE: u64 = 10;

/// What there is for a reader.
#[derive(Debug)]
pub enum News {
    /// Changes, in their order.
    Changes(Vec<Arc<EntryChange>>),
    /// Changes that are no longer in memory: those after the first number and up to the second one have to be read from
    /// the log.
    Older(i64, i64),
    /// It is time for a sign of life; every change up to this one has been taken.
    Beat(i64),
    /// The reader has left a change waiting for so long that it was forgotten meanwhile.
    TooSlow,
    /// What was read before is no longer in the log.
    Lost,
    /// Nothing yet.
    Nothing,
}

/// A reader of one entry's changes or of all.
#[derive(Debug)]
pub(super) struct Reader {
    entry: Option<Slug>,
    /// Every change up to this one has been taken.
    after: i64,
    /// Whether it reads from the ring; before that, and when it fell behind, it reads from the log.
    is_live: bool,
    /// The first change in the ring that it has not taken.
    first: Option<i64>,
    /// The beat since which that change waits.
    since: u64,
    is_beat_due: bool,
    wake: Arc<Notify>,
}

impl Reader {
    pub(super) fn new(entry: Option<Slug>, after: i64, wake: Arc<Notify>) -> Self {
        Self { entry, after, is_live: false, first: None, since: 0, is_beat_due: false, wake }
    }

    /// Has it look for news.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has it give a sign of life.
    pub(super) fn beat(&mut self) {
        self.is_beat_due = true;
        self.wake();
    }

    /// Some changes that concern it were added to the ring.
    pub(super) fn note<'c>(&mut self, mut changes: impl Iterator<Item = &'c Arc<EntryChange>>, beat: u64) {
        if !self.is_live || self.first.is_some() {
            return;
        }
        // A reader may begin beyond what the tail had read then.
        let first = changes.find(|change| change.sequence > self.after);
        if let Some(first) = first {
            self.first = Some(first.sequence);
            self.since = beat;
            self.wake();
        }
    }

    /// Everything up to a number was read from the log.
    pub(super) fn read_up_to(&mut self, sequence: i64) {
        self.after = self.after.max(sequence);
    }

    /// Whether a change has been waiting for it too long.
    pub(super) fn is_slow(&self, beat: u64) -> bool {
        self.is_live && self.first.is_some() && beat.saturating_sub(self.since) >= PATIENCE
    }

    /// Takes what there is.
    pub(super) fn take(&mut self, ring: &Ring, beat: u64) -> News {
        if !self.is_live && self.after >= ring.floor() {
            self.is_live = true;
            self.first = ring.first(self.after, self.entry);
            self.since = beat;
        }
        if std::mem::take(&mut self.is_beat_due) {
            self.rest(ring);
            return News::Beat(self.after);
        }
        if !self.is_live {
            return News::Older(self.after, ring.floor());
        }
        let Some(first) = self.first else {
            self.rest(ring);
            return News::Nothing;
        };
        if first <= ring.floor() {
            if self.is_slow(beat) {
                return News::TooSlow;
            }
            // Many changes at once, such as an import, push out what nobody had the time to take.
            self.is_live = false;
            return News::Older(self.after, ring.floor());
        }
        let changes = ring.some(first - 1, self.entry, (BATCH_SIZE, BATCH_BYTES));
        let last = changes.last().map_or(first, |change| change.sequence);
        self.after = last;
        self.first = ring.first(last, self.entry);
        self.since = beat;
        self.rest(ring);
        News::Changes(changes)
    }

    /// A live reader for whom nothing waits has seen all that the tail has read.
    fn rest(&mut self, ring: &Ring) {
        if self.is_live && self.first.is_none() {
            self.after = self.after.max(ring.head());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::text::Timestamp;

    fn changes(numbers: impl IntoIterator<Item = i64>, entry: &str) -> Vec<Arc<EntryChange>> {
        let change = |sequence| {
            Arc::new(EntryChange {
                sequence,
                at: Timestamp::from_seconds(0),
                source: "api".to_owned(),
                action: "updated".to_owned(),
                entry: Slug::parse(entry).unwrap(),
                events: Vec::new(),
                people: Vec::new(),
                rendered: parking_lot::Mutex::default(),
                document: String::new(),
            })
        };
        numbers.into_iter().map(change).collect()
    }

    fn push(ring: &mut Ring, reader: &mut Reader, pushed: &[Arc<EntryChange>], head: i64, beat: u64) {
        ring.push(pushed, head, beat);
        let entry = reader.entry;
        reader.note(pushed.iter().filter(|change| entry.is_none_or(|entry| change.entry == entry)), beat);
    }

    fn taken(reader: &mut Reader, ring: &Ring, beat: u64) -> Vec<i64> {
        match reader.take(ring, beat) {
            News::Changes(changes) => changes.iter().map(|change| change.sequence).collect(),
            News::Nothing => Vec::new(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_change_is_taken_once_and_in_order() {
        let mut ring = Ring::after(10);
        let mut reader = Reader::new(None, 10, Arc::default());
        assert!(taken(&mut reader, &ring, 0).is_empty());
        push(&mut ring, &mut reader, &changes(11..=50, "EntryOne"), 50, 0);
        assert_eq!(taken(&mut reader, &ring, 0), (11..=42).collect::<Vec<_>>());
        push(&mut ring, &mut reader, &changes(51..=52, "EntryOne"), 60, 0);
        assert_eq!(taken(&mut reader, &ring, 0), (43..=52).collect::<Vec<_>>());
        assert!(taken(&mut reader, &ring, 0).is_empty());
        assert_eq!(reader.after, 60);
    }

    #[test]
    fn what_a_reader_has_seen_before_it_came_is_not_taken_again() {
        let mut ring = Ring::after(10);
        // The reader's request has met change 12, which the tail has not read yet.
        let mut reader = Reader::new(None, 12, Arc::default());
        assert!(taken(&mut reader, &ring, 0).is_empty());
        push(&mut ring, &mut reader, &changes(11..=14, "EntryOne"), 14, 0);
        assert_eq!(taken(&mut reader, &ring, 0), [13, 14]);
    }

    #[test]
    fn a_reader_of_one_entry_passes_over_the_others_and_knows_how_far_it_is() {
        let mut ring = Ring::after(0);
        let mut reader = Reader::new(Slug::parse("EntryOne"), 0, Arc::default());
        assert!(taken(&mut reader, &ring, 0).is_empty());
        push(&mut ring, &mut reader, &changes(1..=5_000, "EntryTwo"), 5_000, 0);
        reader.beat();
        assert!(matches!(reader.take(&ring, 100), News::Beat(5_000)), "others do not make it slow");
        push(&mut ring, &mut reader, &changes([5_001], "EntryOne"), 5_001, 0);
        reader.beat();
        assert!(matches!(reader.take(&ring, 0), News::Beat(5_000)), "the change is not taken yet");
        assert_eq!(taken(&mut reader, &ring, 0), [5_001]);
    }

    #[test]
    fn a_reader_behind_the_ring_reads_from_the_log_first() {
        let mut ring = Ring::after(100);
        let mut reader = Reader::new(None, 40, Arc::default());
        assert!(matches!(reader.take(&ring, 0), News::Older(40, 100)));
        reader.beat();
        assert!(matches!(reader.take(&ring, 0), News::Beat(40)));
        reader.read_up_to(70);
        push(&mut ring, &mut reader, &changes([101], "EntryOne"), 101, 0);
        assert!(matches!(reader.take(&ring, 0), News::Older(70, 100)));
        reader.read_up_to(100);
        assert_eq!(taken(&mut reader, &ring, 0), [101]);
    }

    #[test]
    fn the_first_sign_of_life_tells_how_far_the_tail_is() {
        let ring = Ring::after(100);
        let mut reader = Reader::new(None, 100, Arc::default());
        let mut later = Ring::after(90);
        later.push(&[], 120, 0);
        reader.beat();
        assert!(matches!(reader.take(&later, 0), News::Beat(120)));
        assert!(taken(&mut reader, &ring, 0).is_empty());
        assert_eq!(reader.after, 120, "no reader goes back");
    }

    #[test]
    fn a_flood_sends_a_reader_to_the_log_and_only_waiting_makes_it_slow() {
        for (beats, is_slow) in [(PATIENCE - 1, false), (PATIENCE, true)] {
            let mut ring = Ring::after(0);
            let mut reader = Reader::new(None, 0, Arc::default());
            assert!(taken(&mut reader, &ring, 5).is_empty());
            push(&mut ring, &mut reader, &changes(1..=2_000, "EntryOne"), 2_000, 5);
            assert_eq!(reader.is_slow(5 + beats), is_slow);
            match reader.take(&ring, 5 + beats) {
                News::TooSlow => assert!(is_slow),
                News::Older(0, floor) => assert!(!is_slow && floor == ring.floor()),
                other => panic!("{other:?}"),
            }
        }
    }
}
