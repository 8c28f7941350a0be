//! Anchors: known places of a long sort order, so that a page far from its beginning is read from near by.
//!
//! An anchor is a key and slug together with its rank: how many records of the selection sort before it. The record
//! itself need not exist any more, so that every change moves ranks by one and nothing else.

use std::cmp::Ordering;

use crate::text::Slug;

/// Every how many records there is an anchor when they are built. Measured on SQLite, passing over 32 documents of 2.7 KB
/// costs a tenth of a page of 100; from about 60 on looking the documents up afterwards would be cheaper.
pub const STRIDE: u64 = 32;
/// The longest stretch without an anchor; past it anchors are built again.
const GAP: u64 = STRIDE * 16;

/// The value that a list is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A number or a time.
    Integer(i64),
    /// A text, compared byte by byte.
    Text(Box<str>),
}

/// A place in a sort order: records with a key and slug from this on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The key.
    pub key: Key,
    /// The slug, by which records of one key are sorted.
    pub slug: Slug,
}

/// A record that came into the selection or left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where in the sort order.
    pub place: Place,
    /// Whether it came.
    pub is_added: bool,
}

/// The anchors of one selection and sort column, in its ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    marks: Vec<(u64, Place)>,
    total: u64,
    bytes: usize,
}

impl Anchors {
    /// Takes the next record of the ascending sort order.
    pub fn push<E>(&mut self, place: impl FnOnce() -> Result<Place, E>) -> Result<(), E> {
        if self.total > 0 && self.total.is_multiple_of(STRIDE) {
            let place = place()?;
            self.bytes += bytes(&place);
            self.marks.push((self.total, place));
        }
        self.total += 1;
        Ok(())
    }

    /// Adds what a page showed: that this many records come before a place.
    pub fn learn(&mut self, rank: u64, place: Place) {
        let at = self.marks.partition_point(|(_, held)| *held < place);
        let before = at.checked_sub(1).map_or(0, |index| self.marks[index].0);
        let after = self.marks.get(at).map_or(self.total, |(rank, _)| *rank);
        // Where anchors are near on one side another one would only take memory.
        if rank >= before + STRIDE && after >= rank + STRIDE / 2 {
            self.bytes += bytes(&place);
            self.marks.insert(at, (rank, place));
        }
    }

    /// Moves the ranks by what came and left. False where the anchors have become too sparse to be of use.
    #[must_use]
    pub fn apply(&mut self, moves: &mut [Move]) -> bool {
        moves.sort_unstable_by(|one, other| one.place.cmp(&other.place));
        let mut shift = 0_i64;
        let mut moves = moves.iter().peekable();
        let mut before = 0;
        let mut is_dense = true;
        for (rank, place) in &mut self.marks {
            while let Some(moved) = moves.next_if(|moved| moved.place.cmp(place) == Ordering::Less) {
                shift += if moved.is_added { 1 } else { -1 };
            }
            *rank = rank.saturating_add_signed(shift);
            is_dense &= *rank - before.min(*rank) <= GAP;
            before = *rank;
        }
        shift += moves.map(|moved| if moved.is_added { 1 } else { -1 }).sum::<i64>();
        self.total = self.total.saturating_add_signed(shift);
        is_dense && self.total.saturating_sub(before) <= GAP
    }

    /// The last anchor at or before a rank.
    #[must_use]
    pub fn at_or_before(&self, rank: u64) -> Option<&(u64, Place)> {
        let at = self.marks.partition_point(|(held, _)| *held <= rank);
        self.marks.get(at.checked_sub(1)?)
    }

    /// The first anchor after a rank.
    #[must_use]
    pub fn after(&self, rank: u64) -> Option<&(u64, Place)> {
        self.marks.get(self.marks.partition_point(|(held, _)| *held <= rank))
    }

    /// How many records there are.
    #[cfg(test)]
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How much memory the anchors take, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

fn bytes(place: &Place) -> usize {
    let text = match &place.key {
        Key::Integer(_) => 0,
        Key::Text(text) => text.len(),
    };
    size_of::<(u64, Place)>() + text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn place(number: u32) -> Place {
        // Few keys, so that slugs decide often.
        let mut letters = [b'A'; 8];
        let mut rest = number;
        for letter in letters.iter_mut().rev() {
            *letter += u8::try_from(rest % 26).unwrap();
            rest /= 26;
        }
        Place { key: Key::Integer(i64::from(number % 37)), slug: Slug::from_letters(letters).unwrap() }
    }

    fn built(places: &BTreeSet<Place>) -> Anchors {
        let mut anchors = Anchors::default();
        for place in places {
            anchors.push(|| Ok::<_, ()>(place.clone())).unwrap();
        }
        anchors
    }

    proptest! {
        #[test]
        fn anchors_that_were_moved_rank_as_those_built_from_scratch(
            start in proptest::collection::btree_set(0_u32..5_000, 0..2_000),
            changes in proptest::collection::vec(proptest::collection::vec(0_u32..5_000, 0..60), 0..8),
            seen in proptest::collection::vec(0_usize..2_000, 0..8),
        ) {
            let mut places: BTreeSet<Place> = start.into_iter().map(place).collect();
            let mut anchors = built(&places);
            for (index, batch) in changes.into_iter().enumerate() {
                let mut moves = Vec::new();
                for number in batch {
                    let place = place(number);
                    let is_added = !places.remove(&place);
                    if is_added {
                        places.insert(place.clone());
                    }
                    moves.push(Move { place, is_added });
                }
                let _ = anchors.apply(&mut moves);
                let rank = seen.get(index).copied().unwrap_or(0);
                if let Some(place) = places.iter().nth(rank) {
                    anchors.learn(rank as u64, place.clone());
                }
            }
            prop_assert_eq!(anchors.total(), places.len() as u64);
            let scratch = built(&places);
            for anchors in [&anchors, &scratch] {
                for (rank, place) in &anchors.marks {
                    prop_assert_eq!(*rank, places.range(..place).count() as u64);
                }
                prop_assert!(anchors.marks.windows(2).all(|pair| pair[0].1 < pair[1].1));
            }
            for rank in (0..anchors.total()).step_by(7) {
                prop_assert!(anchors.at_or_before(rank).is_none_or(|(held, _)| *held <= rank));
                prop_assert!(anchors.after(rank).is_none_or(|(held, _)| *held > rank));
            }
        }
    }

    #[test]
    fn a_stretch_without_anchors_is_noticed() {
        let mut anchors = built(&(10_000..11_000).map(place).collect());
        let mut moves: Vec<Move> = (20_000..30_000)
            .filter(|number| number % 37 == 5)
            .map(|number| Move { place: place(number), is_added: true })
            .collect();
        assert!(anchors.apply(&mut moves[..20]));
        let mut many: Vec<Move> = (40_000..400_000)
            .filter(|number| number % 37 == 5)
            .map(|number| Move { place: place(number), is_added: true })
            .collect();
        assert!(!anchors.apply(&mut many));
    }
}
