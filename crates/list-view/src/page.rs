//! Pages of lists, in both directions.

use crate::ordered::Ordered;
use crate::sort::{Key, Sort};
use crate::table::Rows;
use crate::{NOBODY, Slot};

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

impl Shown<'_> {
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
        let total = self.list.len();
        let high = total - from;
        let low = high.saturating_sub(most);
        let run = self.list.range(low, high - low);
        let is_same = |one: Slot, other: Slot| {
            one == other || self.sort.key(&self.rows, self.table, one) == self.sort.key(&self.rows, self.table, other)
        };
        let mut shown = Vec::with_capacity(run.len());
        for group in run.chunk_by(|one, other| is_same(*one, *other)).rev() {
            let first = group.first().copied().unwrap_or(NOBODY);
            let is_whole_above = !shown.is_empty();
            let reaches_below = std::ptr::eq(group.as_ptr(), run.as_ptr()) && low > 0;
            if is_whole_above && !reaches_below {
                shown.extend_from_slice(group);
                continue;
            }
            // The group may reach beyond the run; its names are shown in ascending order from its own start.
            let key = self.sort.key(&self.rows, self.table, first);
            let start = self.list.before(|slot| self.sort.key(&self.rows, self.table, slot) < key);
            let end = self.list.before(|slot| self.sort.key(&self.rows, self.table, slot) <= key);
            let passed = if is_whole_above { 0 } else { end - high };
            let left = run.len() - shown.len();
            shown.extend(self.list.range(start + passed, left.min(end - start - passed)));
        }
        shown.truncate(run.len());
        shown
    }
}
