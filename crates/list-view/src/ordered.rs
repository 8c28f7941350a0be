//! Slots in an order, in chunks.

use crate::Slot;

/// The most slots of a chunk.
const MOST: usize = 512;
/// How many slots a chunk has when a list is built: room for some before it splits.
const FILLED: usize = 480;

/// Slots in an order, in chunks of at most 512, so that putting one in moves few.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    chunks: Vec<Vec<Slot>>,
    len: usize,
}

impl Ordered {
    /// Slots that are in order.
    pub(crate) fn new(slots: &[Slot]) -> Self {
        Self { chunks: slots.chunks(FILLED).map(<[Slot]>::to_vec).collect(), len: slots.len() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many slots come before the first for which this does not hold; it holds for none behind that one.
    pub(crate) fn before(&self, holds: impl Fn(Slot) -> bool) -> usize {
        let (chunk, at) = self.place(holds);
        self.chunks[..chunk].iter().map(Vec::len).sum::<usize>() + at
    }

    /// The slots from a number on, at most so many.
    pub(crate) fn range(&self, from: usize, most: usize) -> Vec<Slot> {
        let mut skipped = from;
        let mut chunks = self.chunks.iter();
        let mut found = Vec::with_capacity(most.min(self.len.saturating_sub(from)));
        for chunk in chunks.by_ref() {
            if skipped < chunk.len() {
                found.extend(chunk[skipped..].iter().take(most));
                break;
            }
            skipped -= chunk.len();
        }
        for chunk in chunks {
            if found.len() == most {
                break;
            }
            found.extend(chunk.iter().take(most - found.len()));
        }
        found
    }

    /// All slots in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.chunks.iter().flatten().copied()
    }

    /// Puts a slot in front of the first for which this does not hold.
    pub(crate) fn insert(&mut self, slot: Slot, holds: impl Fn(Slot) -> bool) {
        let (mut chunk, mut at) = self.place(holds);
        // Behind the last slot of a chunk is as good as before the first of the next.
        if chunk == self.chunks.len() {
            if chunk == 0 {
                self.chunks.push(Vec::new());
            } else {
                chunk -= 1;
                at = self.chunks[chunk].len();
            }
        }
        if self.chunks[chunk].len() == MOST {
            let half = self.chunks[chunk].split_off(MOST / 2);
            self.chunks.insert(chunk + 1, half);
            if at > MOST / 2 {
                chunk += 1;
                at -= MOST / 2;
            }
        }
        self.chunks[chunk].insert(at, slot);
        self.len += 1;
    }

    /// Takes a slot out, which is the first for which this does not hold. False where another one is.
    #[must_use]
    pub(crate) fn remove(&mut self, slot: Slot, holds: impl Fn(Slot) -> bool) -> bool {
        let (chunk, at) = self.place(holds);
        if self.chunks.get(chunk).and_then(|chunk| chunk.get(at)) != Some(&slot) {
            return false;
        }
        self.chunks[chunk].remove(at);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        }
        self.len -= 1;
        true
    }

    /// The chunk and the place in it of the first slot for which this does not hold.
    fn place(&self, holds: impl Fn(Slot) -> bool) -> (usize, usize) {
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| holds(*last)));
        (chunk, self.chunks.get(chunk).map_or(0, |chunk| chunk.partition_point(|slot| holds(*slot))))
    }

    pub(crate) fn bytes(&self) -> usize {
        let slots: usize = self.chunks.iter().map(Vec::capacity).sum();
        slots * size_of::<Slot>() + self.chunks.capacity() * size_of::<Vec<Slot>>()
    }
}
