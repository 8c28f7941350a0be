//! Slots in an order, in chunks.

use crate::Slot;
use crate::column::room;

/// The most slots of a chunk.
const MOST: usize = 512;
/// How many slots a chunk has when a list is built: room for some before it splits.
const FILLED: usize = 480;
/// Chunks that have no more than these together become one.
const JOINED: usize = 384;

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
        let mut first = 0;
        while let Some(chunk) = self.chunks.get(first).filter(|chunk| chunk.len() <= skipped) {
            skipped -= chunk.len();
            first += 1;
        }
        self.chunks[first..].iter().flatten().skip(skipped).take(most).copied().collect()
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
            self.chunks[chunk].shrink_to_fit();
            self.chunks.insert(chunk + 1, half);
            if at > MOST / 2 {
                chunk += 1;
                at -= MOST / 2;
            }
        }
        let held = &mut self.chunks[chunk];
        held.reserve_exact(room(held.len(), held.capacity(), 1));
        held.insert(at, slot);
        self.len += 1;
    }

    /// Takes a slot out, which is the first for which this does not hold. False where another one is.
    pub(crate) fn remove(&mut self, slot: Slot, holds: impl Fn(Slot) -> bool) -> bool {
        let (chunk, at) = self.place(holds);
        if self.chunks.get(chunk).and_then(|chunk| chunk.get(at)) != Some(&slot) {
            return false;
        }
        self.chunks[chunk].remove(at);
        self.len -= 1;
        self.join(chunk.saturating_sub(1));
        self.join(chunk);
        true
    }

    /// Makes one of a chunk and the next where both are short, so that what is taken out leaves no crumbs.
    fn join(&mut self, chunk: usize) {
        let len = |chunk: usize| self.chunks.get(chunk).map(Vec::len);
        match (len(chunk), len(chunk + 1)) {
            (Some(0), _) => drop(self.chunks.remove(chunk)),
            (Some(one), Some(other)) if one + other <= JOINED => {
                let next = self.chunks.remove(chunk + 1);
                self.chunks[chunk].reserve_exact(other);
                self.chunks[chunk].extend(next);
            }
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Slots in ascending order, so that a slot is its own key.
    fn put(list: &mut Ordered, slot: Slot) {
        list.insert(slot, |other| other < slot);
    }

    fn take(list: &mut Ordered, slot: Slot) -> bool {
        list.remove(slot, |other| other < slot)
    }

    fn is_chunked(list: &Ordered) -> bool {
        let is_joined = |pair: &[Vec<Slot>]| pair[0].len() + pair[1].len() > JOINED;
        let is_of_few_chunks = list.chunks.windows(2).filter(|pair| !is_joined(pair)).count() <= 1;
        is_of_few_chunks
            && list.chunks.iter().all(|chunk| (1..=MOST).contains(&chunk.len()) && chunk.capacity() <= MOST + MOST / 8)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn slots_stay_in_order_and_in_chunks_that_are_neither_empty_nor_too_long(
            built in 0..1_500_u32,
            changes in vec((0..2_000_u32, 1..400_u32, any::<bool>()), 1..20),
            (from, most) in (0..2_000_usize, 0..1_200_usize),
        ) {
            let mut expected: Vec<Slot> = (0..built).map(|slot| slot * 3 % 2_000).collect();
            expected.sort_unstable();
            expected.dedup();
            let mut list = Ordered::new(&expected);
            for (first, some, is_put) in changes {
                for slot in first..first + some {
                    match (is_put, expected.binary_search(&slot)) {
                        (true, Err(at)) => {
                            expected.insert(at, slot);
                            put(&mut list, slot);
                        }
                        (false, Ok(at)) => {
                            expected.remove(at);
                            prop_assert!(take(&mut list, slot));
                        }
                        (false, Err(_)) => prop_assert!(!take(&mut list, slot)),
                        (true, Ok(_)) => {}
                    }
                }
                prop_assert!(is_chunked(&list));
                prop_assert_eq!(list.len(), expected.len());
                prop_assert_eq!(list.before(|slot| slot < first), expected.partition_point(|slot| *slot < first));
            }
            prop_assert_eq!(&list.iter().collect::<Vec<_>>(), &expected);
            let range: Vec<Slot> = expected.iter().skip(from).take(most).copied().collect();
            prop_assert_eq!(list.range(from, most), range);
        }
    }

    #[test]
    fn a_list_that_is_emptied_has_no_chunks_and_can_be_filled_again() {
        let mut list = Ordered::new(&(0..1_200).collect::<Vec<_>>());
        assert!((0..1_200).rev().all(|slot| take(&mut list, slot)));
        assert_eq!((list.len(), list.chunks.len(), list.before(|_| true)), (0, 0, 0));
        (0..1_200).rev().for_each(|slot| put(&mut list, slot));
        assert!(is_chunked(&list));
        assert!(list.iter().eq(0..1_200));
    }

    #[test]
    fn putting_few_in_takes_little_memory() {
        let mut list = Ordered::new(&(0..100_000).map(|slot| slot * 2).collect::<Vec<_>>());
        let built = list.bytes();
        (0..200).for_each(|number| put(&mut list, number * 1_000 + 1));
        assert!(list.bytes() < built + built / 4, "{} of {built}", list.bytes());
    }
}
