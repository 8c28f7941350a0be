//! The names of records, and the record of a name.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::Slot;
use crate::column::room;

/// How long names are as long as there is none, in bytes.
const USUAL_WIDTH: usize = 8;

/// Names as long as the longest of them, one after the other; a shorter one is padded by NUL, which no name has.
#[derive(Debug, Default)]
pub(crate) struct Names {
    width: usize,
    bytes: Vec<u8>,
    slots: HashTable<Slot>,
}

impl Names {
    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len().checked_div(self.width).unwrap_or(0)
    }

    /// The name of a record, as it is compared.
    pub(crate) fn get(&self, slot: Slot) -> &[u8] {
        let at = slot as usize * self.width;
        &self.bytes[at..at + self.width]
    }

    /// The name of a record.
    pub(crate) fn text(&self, slot: Slot) -> &str {
        std::str::from_utf8(unpadded(self.get(slot))).unwrap_or_default()
    }

    /// The record of a name.
    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        self.slots.find(hash(name.as_bytes()), |slot| unpadded(self.get(*slot)) == name.as_bytes()).copied()
    }

    /// Makes room for so many names beyond those that are there.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.bytes.reserve_exact(more * self.width.max(USUAL_WIDTH));
        let (width, bytes) = (self.width, &self.bytes);
        self.slots.reserve(more, |slot| hash(unpadded(&bytes[*slot as usize * width..][..width])));
    }

    /// Adds a name that is not there.
    pub(crate) fn push(&mut self, name: &str) -> Slot {
        if name.len().max(1) > self.width {
            self.widen(name.len().max(1));
        }
        let slot = Slot::try_from(self.len()).unwrap_or(Slot::MAX);
        self.bytes.reserve_exact(room(self.bytes.len(), self.bytes.capacity(), self.width));
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.resize((slot as usize + 1) * self.width, 0);
        let (width, bytes) = (self.width, &self.bytes);
        let held = |slot: &Slot| hash(unpadded(&bytes[*slot as usize * width..][..width]));
        self.slots.insert_unique(hash(name.as_bytes()), slot, held);
        slot
    }

    fn widen(&mut self, width: usize) {
        let mut bytes = Vec::with_capacity(self.bytes.capacity().max(self.len() * width));
        for held in self.bytes.chunks_exact(self.width.max(1)) {
            bytes.extend_from_slice(held);
            bytes.resize(bytes.len() + width - self.width, 0);
        }
        self.width = width;
        self.bytes = bytes;
    }

    /// How much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        // A slot of the table has a byte of control beside it.
        self.bytes.capacity() + self.slots.allocation_size()
    }

    /// Gives back what was reserved and is not needed.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }
}

/// A name without what fills it up.
fn unpadded(held: &[u8]) -> &[u8] {
    &held[..memchr::memchr(0, held).unwrap_or(held.len())]
}

fn hash(name: &[u8]) -> u64 {
    FixedState::with_seed(0).hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_found_and_compare_as_texts() {
        let mut texts: Vec<String> =
            ["b", "", "abc", "ab", "é", "a longer name", "abcd", "ü", "B"].map(String::from).to_vec();
        texts.extend((0..2_000).map(|number| format!("n{number}")));
        let mut names = Names::default();
        for (slot, text) in (0..).zip(&texts) {
            assert_eq!(names.find(text), None);
            assert_eq!(names.push(text), slot);
        }
        assert_eq!(names.len(), texts.len());
        for (slot, text) in (0..).zip(&texts) {
            assert_eq!((names.find(text), names.text(slot)), (Some(slot), text.as_str()));
        }
        let mut slots: Vec<Slot> = (0..).take(texts.len()).collect();
        slots.sort_by_key(|slot| names.get(*slot));
        texts.sort();
        assert!(slots.iter().map(|slot| names.text(*slot)).eq(&texts));
        assert_eq!([names.find("abcde"), names.find("a longer name than all")], [None, None]);
    }
}
