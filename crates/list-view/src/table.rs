//! A table: the cells of records, and what looks at several tables at once.

use crate::column::{Cell, Cells, Column, Texts};
use crate::names::Names;
use crate::{Code, NOBODY, Path, Slot, UNKNOWN};

/// The records of a kind.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: &'static [Column],
    pub(crate) names: Names,
    pub(crate) locators: Vec<i64>,
    pub(crate) cells: Vec<Cells>,
}

impl Table {
    pub(crate) fn new(columns: &'static [Column]) -> Self {
        let cells = columns.iter().map(|column| Cells::new(column.holds)).collect();
        Self { columns, names: Names::default(), locators: Vec::new(), cells }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Adds cells at the end, of a record that has a name already or is given one. A cell that is left out is empty.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>], references: &[Slot]) {
        let cells = cells.iter().copied().chain(std::iter::repeat(Cell::Text("")));
        let references = references.iter().copied().chain(std::iter::repeat(NOBODY));
        for ((held, cell), reference) in self.cells.iter_mut().zip(cells).zip(references) {
            held.push(cell, reference);
        }
    }

    /// Makes room for so many records beyond those that are there.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.names.reserve(more);
        self.locators.reserve_exact(more);
        self.cells.iter_mut().for_each(|cells| cells.reserve(more));
    }

    pub(crate) fn bytes(&self) -> usize {
        let cells: usize = self.cells.iter().map(Cells::bytes).sum();
        self.names.bytes() + self.locators.capacity() * size_of::<i64>() + cells
    }

    pub(crate) fn shrink(&mut self) {
        self.names.shrink();
        self.locators.shrink_to_fit();
        self.cells.iter_mut().for_each(Cells::shrink);
    }
}

/// A record whose new cells stand at the end of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) table: usize,
    pub(crate) slot: Slot,
    pub(crate) staged: Slot,
}

/// All tables, as they are or as they will be with the new cells of one record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'t> {
    pub(crate) tables: &'t [Table],
    pub(crate) moved: Option<Moved>,
}

impl<'t> Rows<'t> {
    fn at(&self, table: usize, slot: Slot) -> Slot {
        match self.moved {
            Some(moved) if moved.table == table && moved.slot == slot => moved.staged,
            _ => slot,
        }
    }

    /// The cells of a path, and the record whose cell it is; nothing where a reference points to nobody.
    pub(crate) fn cell(&self, table: usize, slot: Slot, path: Path) -> Option<(&'t Cells, Slot)> {
        let slot = self.at(table, slot);
        let Some(via) = path.via else { return Some((&self.tables[table].cells[path.column as usize], slot)) };
        let Cells::References(other, slots) = &self.tables[table].cells[via as usize] else { return None };
        let owner = slots[slot as usize];
        (owner != NOBODY).then(|| (&self.tables[*other].cells[path.column as usize], self.at(*other, owner)))
    }

    /// The cells of a path, whoever's.
    pub(crate) fn column(&self, table: usize, path: Path) -> Option<&'t Cells> {
        let Some(via) = path.via else { return self.tables[table].cells.get(path.column as usize) };
        match &self.tables[table].cells[via as usize] {
            Cells::References(other, _) => self.tables[*other].cells.get(path.column as usize),
            _ => None,
        }
    }

    pub(crate) fn code(&self, table: usize, slot: Slot, path: Path) -> Code {
        match self.cell(table, slot, path) {
            Some((Cells::Codes(_, codes), slot)) => codes[slot as usize],
            Some((Cells::References(_, slots), slot)) => slots[slot as usize],
            Some((Cells::Flags(flags), slot)) => Code::from(flags[slot as usize]),
            _ => UNKNOWN,
        }
    }

    pub(crate) fn number(&self, table: usize, slot: Slot, path: Path) -> Option<i64> {
        match self.cell(table, slot, path) {
            Some((Cells::Numbers(numbers), slot)) => Some(numbers[slot as usize]),
            _ => None,
        }
    }

    pub(crate) fn text(&self, table: usize, slot: Slot, path: Path) -> &'t str {
        match self.cell(table, slot, path) {
            Some((Cells::Texts(texts), slot)) => Texts::get(texts, slot as usize),
            Some((Cells::Codes(dictionary, codes), slot)) => dictionary.text(codes[slot as usize]),
            Some((Cells::References(other, slots), slot)) => match slots[slot as usize] {
                NOBODY => "",
                other_slot => self.tables[*other].names.text(other_slot),
            },
            _ => "",
        }
    }

    pub(crate) fn set(&self, table: usize, slot: Slot, path: Path) -> &'t [Code] {
        match self.cell(table, slot, path) {
            Some((Cells::Sets(sets), slot)) => sets.get(slot),
            _ => &[],
        }
    }

    pub(crate) fn name(&self, table: usize, slot: Slot) -> &'t [u8] {
        self.tables[table].names.get(slot)
    }
}
