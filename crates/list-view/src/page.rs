//! Pages of lists, in both directions.

use crate::Slot;
use crate::ordered::Ordered;
use crate::sort::{Key, Sort};
use crate::table::Rows;

/// The direction in which a list is shown; ties go by name, ascending in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest key first.
    Ascending,
    /// The largest key first.
    Descending,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub enum From<'f> {
    /// Behind so many records.
    Number(u64),
    /// Behind a record of this key and name, which need not be there any more.
    Place(&'f Key, &'f str),
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The records, in the order in which they are shown.
    pub slots: Vec<Slot>,
    /// How many records the whole list has.
    pub total: u64,
    /// Whether records follow.
    pub has_more: bool,
}

/// A list with what orders it.
pub(crate) struct Shown<'l> {
    pub(crate) list: &'l Ordered,
    pub(crate) sort: &'l Sort,
    pub(crate) rows: Rows<'l>,
    pub(crate) table: usize,
}

/// The records of a list that have one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// How many records have a larger key.
    pub above: u64,
    /// How many larger keys there are; 0 where that is not asked for.
    pub keys_above: u64,
    /// The records of each larger key that several have, of those that are not above the tie before; none where keys are not counted.
    pub tied_above: Vec<Vec<Slot>>,
    /// The records, by name.
    pub slots: Vec<Slot>,
}

impl Shown<'_> {
    /// The records that have the key of this one.
    pub(crate) fn tie(&self, slot: Slot) -> Tie {
        let key = |slot: Slot| self.sort.key(&self.rows, self.table, slot);
        let held = key(slot);
        let (start, end) = (self.list.before(|slot| key(slot) < held), self.list.before(|slot| key(slot) <= held));
        let above = (self.list.len() - end) as u64;
        Tie { above, keys_above: 0, tied_above: Vec::new(), slots: self.list.range(start, end - start) }
    }

    /// Counts the keys above ties, in one walk to the last of them.
    pub(crate) fn count_keys(&self, ties: &mut [Tie]) {
        let key = |slot: Slot| self.sort.key(&self.rows, self.table, slot);
        ties.sort_unstable_by_key(|tie| tie.above);
        let most = ties.last().map_or(0, |tie| usize::try_from(tie.above).unwrap_or(usize::MAX));
        let larger = self.list.range(self.list.len().saturating_sub(most), most);
        let (mut records, mut keys, mut next) = (0, 0, ties.iter_mut().peekable());
        let mut several = Vec::new();
        for equal in larger.chunk_by(|one, other| key(*one) == key(*other)).rev() {
            while let Some(tie) = next.next_if(|tie| tie.above <= records) {
                (tie.keys_above, tie.tied_above) = (keys, std::mem::take(&mut several));
            }
            (records, keys) = (records + equal.len() as u64, keys + 1);
            if equal.len() > 1 {
                several.push(equal.to_vec());
            }
        }
        next.for_each(|tie| (tie.keys_above, tie.tied_above) = (keys, std::mem::take(&mut several)));
    }

    pub(crate) fn page(&self, direction: Direction, from: From<'_>, most: usize) -> Page {
        let from = match from {
            From::Number(number) => usize::try_from(number).unwrap_or(usize::MAX),
            From::Place(key, name) => self.after(direction, key, name),
        };
        let total = self.list.len();
        let slots = match direction {
            _ if from >= total => Vec::new(),
            Direction::Ascending => self.list.range(from, most),
            Direction::Descending => self.descending(from, most),
        };
        let has_more = from.saturating_add(slots.len()) < total;
        Page { slots, total: total as u64, has_more }
    }

    /// How many records come before what is behind a place.
    fn after(&self, direction: Direction, key: &Key, name: &str) -> usize {
        let compare = |slot| self.sort.compare(&self.rows, self.table, slot, key);
        let is_named = |slot: Slot| self.rows.tables[self.table].names.text(slot) <= name;
        let until = self.list.before(|slot| compare(slot).is_lt() || (compare(slot).is_eq() && is_named(slot)));
        match direction {
            Direction::Ascending => until,
            Direction::Descending => {
                let start = self.list.before(|slot| compare(slot).is_lt());
                let end = self.list.before(|slot| compare(slot).is_le());
                // What is larger, and of what is equal the names up to this one.
                self.list.len() - end + (until - start)
            }
        }
    }

    /// A page of the list from its end: the groups of equal keys from the last to the first, each ascending.
    fn descending(&self, from: usize, most: usize) -> Vec<Slot> {
        let key = |slot: Slot| self.sort.key(&self.rows, self.table, slot);
        let high = self.list.len() - from;
        let low = high.saturating_sub(most);
        // One record beyond each end tells whether its group ends there.
        let wide = self.list.range(low.saturating_sub(1), high - low + 2);
        let keyed: Vec<_> = wide.into_iter().map(|slot| (key(slot), slot)).collect();
        let (below, run) = keyed.split_at(low.min(1));
        let (run, above) = run.split_at(high - low);
        let mut shown = Vec::with_capacity(run.len());
        for group in run.chunk_by(|one, other| one.0 == other.0).rev() {
            let Some((held, _)) = group.first() else { continue };
            let is_first = shown.is_empty();
            let is_last = shown.len() + group.len() == run.len();
            let reaches_above = is_first && above.first().is_some_and(|(key, _)| key == held);
            let reaches_below = is_last && below.first().is_some_and(|(key, _)| key == held);
            if !reaches_above && !reaches_below {
                shown.extend(group.iter().map(|(_, slot)| *slot));
                continue;
            }
            // The group is shown from its own start, behind what earlier pages had of it.
            let start = self.list.before(|slot| key(slot) < *held);
            let passed = if reaches_above { self.list.before(|slot| key(slot) <= *held) - high } else { 0 };
            shown.extend(self.list.range(start + passed, group.len()));
        }
        shown
    }
}
