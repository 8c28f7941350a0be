//! The names of records, and the record of a name.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::Slot;

/// Names of one length each, one after the other; a name of another length is padded by NUL, which no name has.
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
        let bytes = self.get(slot);
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..length]).unwrap_or_default()
    }

    /// The record of a name.
    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        if name.len() > self.width {
            return None;
        }
        let (width, bytes) = (self.width, &self.bytes);
        let is_it = |slot: &Slot| {
            let held = &bytes[*slot as usize * width..][..width];
            held.starts_with(name.as_bytes()) && held[name.len()..].iter().all(|byte| *byte == 0)
        };
        self.slots.find(hash(name.as_bytes()), is_it).copied()
    }

    /// Adds a name that is not there.
    pub(crate) fn push(&mut self, name: &str) -> Slot {
        if name.len() > self.width {
            self.widen(name.len());
        }
        let slot = Slot::try_from(self.len()).unwrap_or(Slot::MAX);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.resize((slot as usize + 1) * self.width, 0);
        let (width, bytes) = (self.width, &self.bytes);
        self.slots.insert_unique(hash(name.as_bytes()), slot, |slot| {
            let held = &bytes[*slot as usize * width..][..width];
            hash(&held[..held.iter().position(|byte| *byte == 0).unwrap_or(width)])
        });
        slot
    }

    fn widen(&mut self, width: usize) {
        let mut bytes = Vec::with_capacity(self.len() * width);
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

fn hash(name: &[u8]) -> u64 {
    FixedState::with_seed(0).hash_one(name)
}
