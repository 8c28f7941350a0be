//! The columns of a table.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::dictionary::Dictionary;
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
    /// For a set: the values with blanks between them, or behind each other.
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

    /// Adds a cell at the end; a reference is a slot already.
    pub(crate) fn push(&mut self, cell: Cell<'_>, reference: Slot) {
        match (self, cell) {
            (Self::Codes(dictionary, codes), Cell::Text(text)) => codes.push(dictionary.add(text)),
            (Self::Codes(dictionary, codes), _) => codes.push(dictionary.add("")),
            (Self::Flags(flags), cell) => flags.push(!matches!(cell, Cell::Number(0))),
            (Self::Numbers(numbers), Cell::Number(number)) => numbers.push(number),
            (Self::Numbers(numbers), _) => numbers.push(0),
            (Self::Texts(texts), Cell::Text(text)) => texts.push(text),
            (Self::Texts(texts), _) => texts.push(""),
            (Self::Sets(sets), Cell::Words(words)) => sets.push(words.split(' ').filter(|word| !word.is_empty())),
            (Self::Sets(sets), Cell::Set(values)) => sets.push(values.iter().map(String::as_str)),
            (Self::Sets(sets), _) => sets.push(std::iter::empty()),
            (Self::References(_, slots), _) => slots.push(reference),
        }
    }

    /// Moves the last cell to a slot.
    pub(crate) fn take_last(&mut self, slot: Slot) {
        let at = slot as usize;
        match self {
            Self::Codes(_, codes) => {
                codes.swap_remove(at);
            }
            Self::Flags(flags) => {
                flags.swap_remove(at);
            }
            Self::Numbers(numbers) => {
                numbers.swap_remove(at);
            }
            Self::Texts(texts) => texts.take_last(at),
            Self::Sets(sets) => {
                sets.of.swap_remove(at);
            }
            Self::References(_, slots) => {
                slots.swap_remove(at);
            }
        }
    }

    /// Whether two records have the same.
    pub(crate) fn is_same(&self, one: Slot, other: Slot) -> bool {
        let (one, other) = (one as usize, other as usize);
        match self {
            Self::Codes(_, codes) => codes[one] == codes[other],
            Self::Flags(flags) => flags[one] == flags[other],
            Self::Numbers(numbers) => numbers[one] == numbers[other],
            Self::Texts(texts) => texts.get(one) == texts.get(other),
            Self::Sets(sets) => sets.of[one] == sets.of[other],
            Self::References(_, slots) => slots[one] == slots[other],
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Codes(dictionary, codes) => dictionary.bytes() + codes.capacity() * size_of::<Code>(),
            Self::Flags(flags) => flags.capacity(),
            Self::Numbers(numbers) => numbers.capacity() * size_of::<i64>(),
            Self::Texts(texts) => texts.places.capacity() * size_of::<u64>() + texts.buffer.capacity(),
            Self::Sets(sets) => sets.dictionary.bytes() + sets.bytes + sets.of.capacity() * size_of::<Code>(),
            Self::References(_, slots) => slots.capacity() * size_of::<Slot>(),
        }
    }

    pub(crate) fn shrink(&mut self) {
        match self {
            Self::Codes(_, codes) => codes.shrink_to_fit(),
            Self::Flags(flags) => flags.shrink_to_fit(),
            Self::Numbers(numbers) => numbers.shrink_to_fit(),
            Self::Texts(texts) => {
                texts.places.shrink_to_fit();
                texts.buffer.shrink_to_fit();
            }
            Self::Sets(sets) => sets.of.shrink_to_fit(),
            Self::References(_, slots) => slots.shrink_to_fit(),
        }
    }
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
        self.places.push((self.buffer.len() as u64) << 16 | text.len() as u64);
        self.buffer.push_str(text);
    }

    fn take_last(&mut self, at: usize) {
        self.unused += self.get(at).len();
        self.places.swap_remove(at);
        // What is not used any more is given back when it is half of all.
        if self.unused > 1 << 16 && self.unused > self.buffer.len() / 2 {
            let mut whole = Self::default();
            (0..self.places.len()).for_each(|at| whole.push(self.get(at)));
            *self = whole;
        }
    }
}

/// Sets of values; records that have the same set share it.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    pub(crate) dictionary: Dictionary,
    distinct: Vec<Box<[Code]>>,
    numbers: HashMap<Box<[Code]>, u32, RandomState>,
    of: Vec<u32>,
    bytes: usize,
}

impl Sets {
    pub(crate) fn get(&self, slot: Slot) -> &[Code] {
        &self.distinct[self.of[slot as usize] as usize]
    }

    fn push<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        let mut set: Vec<Code> = values.map(|value| self.dictionary.add(value)).collect();
        set.sort_unstable();
        set.dedup();
        let new = u32::try_from(self.distinct.len()).unwrap_or(u32::MAX);
        let number = self.numbers.get(set.as_slice()).copied().unwrap_or(new);
        if number == new {
            // Twice the codes, two pointers and a number.
            self.bytes += 2 * size_of_val(set.as_slice()) + 48;
            self.distinct.push(set.clone().into());
            self.numbers.insert(set.into(), number);
        }
        self.of.push(number);
    }
}
