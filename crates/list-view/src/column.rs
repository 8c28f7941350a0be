//! The columns of a table.

use crate::dictionary::{Dictionary, Interned};
use crate::{Code, Slot};

/// A column as a table declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One of values that many records share: 4 bytes a record.
    Code,
    /// Yes or no, of which the codes are 1 and 0: 1 byte a record.
    Flag,
    /// An integer: 8 bytes a record.
    Number,
    /// A text that few records share: its bytes, and 8 bytes a record.
    Text,
    /// Several values that many records share: 4 bytes a record.
    Set,
    /// A record of another table, by its name: 4 bytes a record.
    Reference(usize),
}

/// A value for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'c> {
    /// For a code, a text or a reference, where the empty text points to nobody.
    Text(&'c str),
    /// For a number, and for a flag, which is no where it is 0.
    Number(i64),
    /// For a set: the values with one or more blanks between them.
    Words(&'c str),
    /// For a set of values that may have blanks.
    Set(&'c [String]),
}

/// The cells of a column.
#[derive(Debug)]
pub(crate) enum Cells {
    Codes(Dictionary, Vec<Code>),
    Flags(Vec<bool>),
    Numbers(Vec<i64>),
    Texts(Texts),
    Sets(Sets),
    References(usize, Vec<Slot>),
}

impl Cells {
    pub(crate) fn new(holds: Holds) -> Self {
        match holds {
            Holds::Code => Self::Codes(Dictionary::default(), Vec::new()),
            Holds::Flag => Self::Flags(Vec::new()),
            Holds::Number => Self::Numbers(Vec::new()),
            Holds::Text => Self::Texts(Texts::default()),
            Holds::Set => Self::Sets(Sets::default()),
            Holds::Reference(table) => Self::References(table, Vec::new()),
        }
    }

    /// Adds a cell at the end; a reference is a slot already. A cell of another kind is empty.
    pub(crate) fn push(&mut self, cell: Cell<'_>, reference: Slot) {
        let text = match cell {
            Cell::Text(text) => text,
            _ => "",
        };
        let number = match cell {
            Cell::Number(number) => number,
            _ => 0,
        };
        match self {
            Self::Codes(dictionary, codes) => push(codes, dictionary.add(text)),
            Self::Flags(flags) => push(flags, number != 0),
            Self::Numbers(numbers) => push(numbers, number),
            Self::Texts(texts) => texts.push(text),
            Self::Sets(sets) => match cell {
                Cell::Words(words) => sets.push(words.split(' ').filter(|word| !word.is_empty())),
                Cell::Set(values) => sets.push(values.iter().map(String::as_str)),
                _ => sets.push(std::iter::empty()),
            },
            Self::References(_, slots) => push(slots, reference),
        }
    }

    /// Makes room for so many cells beyond those that are there, texts aside, whose length nobody knows.
    pub(crate) fn reserve(&mut self, more: usize) {
        match self {
            Self::Codes(_, held) | Self::Sets(Sets { of: held, .. }) | Self::References(_, held) => {
                held.reserve_exact(more);
            }
            Self::Flags(flags) => flags.reserve_exact(more),
            Self::Numbers(numbers) => numbers.reserve_exact(more),
            Self::Texts(texts) => texts.places.reserve_exact(more),
        }
    }

    /// Moves the last cell to a slot.
    pub(crate) fn take_last(&mut self, slot: Slot) {
        let at = slot as usize;
        match self {
            Self::Codes(_, held) | Self::Sets(Sets { of: held, .. }) | Self::References(_, held) => {
                held.swap_remove(at);
            }
            Self::Flags(flags) => {
                flags.swap_remove(at);
            }
            Self::Numbers(numbers) => {
                numbers.swap_remove(at);
            }
            Self::Texts(texts) => texts.take_last(at),
        }
    }

    /// Whether two records have the same.
    pub(crate) fn is_same(&self, one: Slot, other: Slot) -> bool {
        let (one, other) = (one as usize, other as usize);
        match self {
            Self::Codes(_, held) | Self::Sets(Sets { of: held, .. }) | Self::References(_, held) => {
                held[one] == held[other]
            }
            Self::Flags(flags) => flags[one] == flags[other],
            Self::Numbers(numbers) => numbers[one] == numbers[other],
            Self::Texts(texts) => texts.get(one) == texts.get(other),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Codes(dictionary, codes) => dictionary.bytes() + codes.capacity() * size_of::<Code>(),
            Self::Flags(flags) => flags.capacity(),
            Self::Numbers(numbers) => numbers.capacity() * size_of::<i64>(),
            Self::Texts(texts) => texts.places.capacity() * size_of::<u64>() + texts.buffer.capacity(),
            Self::Sets(Sets { dictionary, distinct, of }) => {
                dictionary.bytes() + distinct.bytes() + of.capacity() * size_of::<Code>()
            }
            Self::References(_, slots) => slots.capacity() * size_of::<Slot>(),
        }
    }

    pub(crate) fn shrink(&mut self) {
        match self {
            Self::Codes(_, held) | Self::Sets(Sets { of: held, .. }) | Self::References(_, held) => {
                held.shrink_to_fit();
            }
            Self::Flags(flags) => flags.shrink_to_fit(),
            Self::Numbers(numbers) => numbers.shrink_to_fit(),
            Self::Texts(texts) => {
                texts.places.shrink_to_fit();
                texts.buffer.shrink_to_fit();
            }
        }
    }
}

/// How much room to make for so many more. A column that doubles would be empty by half, and a change stands at the end of
/// its columns for a moment, so that each of them would double once all records are there.
pub(crate) fn room(length: usize, capacity: usize, more: usize) -> usize {
    if capacity - length >= more { 0 } else { more.max(length / 8) }
}

/// Adds a value at the end.
pub(crate) fn push<T>(held: &mut Vec<T>, value: T) {
    held.reserve_exact(room(held.len(), held.capacity(), 1));
    held.push(value);
}

/// Texts in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    buffer: String,
    /// Where each begins, and in the last 16 bits how long it is.
    places: Vec<u64>,
    unused: usize,
}

/// The longest text, in bytes; what is longer is cut.
const LONGEST: usize = u16::MAX as usize;

impl Texts {
    pub(crate) fn get(&self, at: usize) -> &str {
        let place = self.places[at];
        let (start, length) = (usize::try_from(place >> 16).unwrap_or(usize::MAX), (place & 0xffff) as usize);
        &self.buffer[start..start + length]
    }

    fn push(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(LONGEST)];
        push(&mut self.places, (self.buffer.len() as u64) << 16 | text.len() as u64);
        self.buffer.reserve_exact(room(self.buffer.len(), self.buffer.capacity(), text.len()));
        self.buffer.push_str(text);
    }

    fn take_last(&mut self, at: usize) {
        let last = self.places.len() - 1;
        if self.get(at) == self.get(last) {
            self.buffer.truncate(self.buffer.len() - self.get(last).len());
            self.places.truncate(last);
            return;
        }
        self.unused += self.get(at).len();
        self.places.swap_remove(at);
        // What is not used any more is given back when it is half of all.
        if self.unused > 1 << 16 && self.unused > self.buffer.len() / 2 {
            let mut whole = Self {
                buffer: String::with_capacity(self.buffer.len() - self.unused),
                places: Vec::with_capacity(last),
                unused: 0,
            };
            (0..last).for_each(|at| whole.push(self.get(at)));
            *self = whole;
        }
    }
}

/// Sets of values; records that have the same set share it.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    pub(crate) dictionary: Dictionary,
    distinct: Interned<[Code]>,
    of: Vec<u32>,
}

impl Sets {
    pub(crate) fn get(&self, slot: Slot) -> &[Code] {
        self.distinct.get(self.of[slot as usize]).unwrap_or_default()
    }

    fn push<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        let mut set: Vec<Code> = values.map(|value| self.dictionary.add(value)).collect();
        set.sort_unstable();
        set.dedup();
        push(&mut self.of, self.distinct.add(&set));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a record another text.
    fn change(texts: &mut Texts, at: usize, text: &str) {
        texts.push(text);
        texts.take_last(at);
    }

    #[test]
    fn texts_that_change_stay_what_they_are_in_a_buffer_that_is_mostly_used() {
        let text = |at: usize, round: usize| "é".repeat(at % 50 + round % 7);
        let mut texts = Texts::default();
        (0..1_000).for_each(|at| texts.push(&text(at, 0)));
        for round in 0..20 {
            (0..1_000).for_each(|at| change(&mut texts, at, &text(at, round)));
            assert!((0..1_000).all(|at| texts.get(at) == text(at, round)), "round {round}");
        }
        let used: usize = (0..1_000).map(|at| texts.get(at).len()).sum();
        assert!(texts.buffer.len() <= 2 * used + (1 << 16), "{} bytes for {used}", texts.buffer.len());
    }

    #[test]
    fn a_text_that_stays_the_same_takes_no_room() {
        let mut texts = Texts::default();
        for text in ["one", "", "three"] {
            texts.push(text);
        }
        let length = texts.buffer.len();
        for (at, text) in ["one", "", "three"].iter().enumerate() {
            change(&mut texts, at, text);
            assert_eq!((texts.get(at), texts.buffer.len(), texts.unused), (*text, length, 0));
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters() {
        let mut texts = Texts::default();
        texts.push(&"é".repeat(LONGEST));
        texts.push("next");
        assert_eq!((texts.get(0).len(), texts.get(1)), (LONGEST - 1, "next"));
    }

    #[test]
    fn a_column_grows_by_an_eighth() {
        let mut held = Vec::new();
        (0..100_000).for_each(|number| push(&mut held, number));
        assert!(held.capacity() <= 112_500);
        held.shrink_to_fit();
        push(&mut held, 0);
        assert!(held.capacity() <= 112_500);
    }
}
