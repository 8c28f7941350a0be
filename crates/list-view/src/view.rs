//! The tables of a tenant with their lists.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;

use crate::column::{Cell, Cells, Column, Holds, push};
use crate::filter::Filter;
use crate::ordered::Ordered;
use crate::page::{Direction, From, Page, Shown, Tie};
use crate::sort::{Key, Ranks, Sort, SortName};
use crate::table::{Moved, Rows, Table};
use crate::{Code, NOBODY, Path, Slot, UNKNOWN};

/// The most lists that a table keeps; the one that was asked for longest ago makes room.
const MOST_LISTS: usize = 64;
/// The most children that are moved one by one when their parent changes. Beyond them lists are built again.
const MOST_CHILDREN: usize = 1_000;
/// A filter that selects less than this part of the records is sorted; another one is walked in the order of a list of all.
const FEW: usize = 16;
/// How many references are looked through for a parent at once.
const BLOCK: usize = 256;
/// The values of flags, by their codes.
const FLAGS: [&str; 2] = ["0", "1"];

/// A list that is kept.
#[derive(Debug)]
struct Kept {
    list: Ordered,
    sort: Sort,
    used: AtomicU64,
}

type Lists = HashMap<(Filter, SortName), Kept, RandomState>;

/// Ranks with the version of what decides them.
type Known = (i64, Arc<Ranks>);

/// A list that was made and is not kept yet.
#[derive(Debug)]
pub struct Made {
    table: usize,
    filter: Filter,
    sort: Sort,
    list: Ordered,
}

/// The tables of a tenant with their lists.
#[derive(Debug, Default)]
pub struct View {
    tables: Vec<Table>,
    lists: Vec<Lists>,
    ranks: HashMap<(usize, Path, &'static str), Known, RandomState>,
    clock: AtomicU64,
}

impl View {
    /// Empty tables of these columns. A reference names a table by its number.
    pub fn new(tables: &[&'static [Column]]) -> Self {
        Self {
            tables: tables.iter().map(|columns| Table::new(columns)).collect(),
            lists: tables.iter().map(|_| Lists::default()).collect(),
            ranks: HashMap::default(),
            clock: AtomicU64::new(0),
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows { tables: &self.tables, moved: None }
    }

    /// How many records a table has.
    pub fn len(&self, table: usize) -> usize {
        self.tables[table].len()
    }

    /// Whether a table has no record.
    pub fn is_empty(&self, table: usize) -> bool {
        self.len(table) == 0
    }

    /// The record of a name; [`NOBODY`] where there is none.
    pub fn slot(&self, table: usize, name: &str) -> Slot {
        self.tables[table].names.find(name).unwrap_or(NOBODY)
    }

    /// The name of a record.
    pub fn name(&self, table: usize, slot: Slot) -> &str {
        self.tables[table].names.text(slot)
    }

    /// Where the document of a record lies.
    pub fn locator(&self, table: usize, slot: Slot) -> i64 {
        self.tables[table].locators[slot as usize]
    }

    /// The number of a value of a column of codes or sets, of a record for a reference, or of the flag `1` or `0`;
    /// [`UNKNOWN`] where no record has it.
    pub fn code(&self, table: usize, path: Path, text: &str) -> Code {
        match self.rows().column(table, path) {
            Some(Cells::Codes(dictionary, _)) => dictionary.code(text),
            Some(Cells::Sets(sets)) => sets.dictionary.code(text),
            Some(Cells::References(other, _)) => self.slot(*other, text),
            Some(Cells::Flags(_)) => {
                FLAGS.iter().zip(0..).find(|(flag, _)| **flag == text).map_or(UNKNOWN, |(_, at)| at)
            }
            _ => UNKNOWN,
        }
    }

    /// The value of a code of [`View::code`]; empty where there is none.
    pub fn value(&self, table: usize, path: Path, code: Code) -> &str {
        match self.rows().column(table, path) {
            Some(Cells::Codes(dictionary, _)) => dictionary.text(code),
            Some(Cells::Sets(sets)) => sets.dictionary.text(code),
            Some(Cells::References(other, _)) if code != NOBODY => self.name(*other, code),
            Some(Cells::Flags(_)) => FLAGS.get(code as usize).copied().unwrap_or_default(),
            _ => "",
        }
    }

    /// The column of this name, or where it has a full stop the one behind it of the record to which the reference in front
    /// of it points.
    pub fn path(&self, table: usize, name: &str) -> Option<Path> {
        let find = |table: usize, name: &str| {
            let at = self.tables.get(table)?.columns.iter().position(|column| column.name == name)?;
            u16::try_from(at).ok()
        };
        let Some((reference, name)) = name.split_once('.') else { return find(table, name).map(Path::own) };
        let via = find(table, reference)?;
        let Holds::Reference(other) = self.tables[table].columns[via as usize].holds else { return None };
        find(other, name).map(|column| Path::via(via, column))
    }

    /// The text of a record in a column; for a reference the name of the record that it points to.
    pub fn text(&self, table: usize, slot: Slot, path: Path) -> &str {
        self.rows().text(table, slot, path)
    }

    /// The order of the values of a column of codes by what they are called. A word tells ways of calling them apart,
    /// and a number stands for all that decides what they are called. The same order as before is the same [`Ranks`],
    /// so that lists in it stay.
    pub fn ranks(
        &mut self,
        table: usize,
        path: Path,
        (way, version): (&'static str, i64),
        called: impl Fn(&str) -> String,
    ) -> Arc<Ranks> {
        if let Some(ranks) = self.known_ranks(table, path, (way, version)) {
            return ranks;
        }
        let Some(Cells::Codes(dictionary, _)) = self.rows().column(table, path) else { return Arc::default() };
        let made = Arc::new(Ranks::new(way, dictionary.values().map(called)));
        let known = self.ranks.get(&(table, path, way)).map(|(_, ranks)| ranks);
        let ranks = known.filter(|ranks| ***ranks == *made).cloned().unwrap_or(made);
        self.ranks.insert((table, path, way), (version, Arc::clone(&ranks)));
        ranks
    }

    /// The same, where it is known.
    pub fn known_ranks(&self, table: usize, path: Path, (way, version): (&'static str, i64)) -> Option<Arc<Ranks>> {
        let Some(Cells::Codes(dictionary, _)) = self.rows().column(table, path) else { return None };
        let (held, ranks) = self.ranks.get(&(table, path, way))?;
        (*held == version && ranks.len() == dictionary.len()).then(|| Arc::clone(ranks))
    }

    /// A page of a list that is kept; nothing where the list has to be [made](Self::make) first.
    pub fn page(
        &self,
        table: usize,
        (filter, sort): (&Filter, &Sort),
        direction: Direction,
        from: From<'_>,
        most: usize,
    ) -> Option<Page> {
        // A key of the map owns its filter; few conditions are cheap to copy.
        let kept = self.lists[table].get(&(filter.clone(), sort.name()))?;
        if !kept.sort.orders_as(sort) {
            return None;
        }
        kept.used.store(self.tick(), Ordering::Relaxed);
        Some(Shown { list: &kept.list, sort: &kept.sort, rows: self.rows(), table }.page(direction, from, most))
    }

    /// For each of these records of a list that is kept, those that have the same key; nothing where the list has to be
    /// [made](Self::make) first. Where larger keys are counted the work grows with the number of records that have some.
    pub fn ties(
        &self,
        table: usize,
        (filter, sort): (&Filter, &Sort),
        slots: &[Slot],
        counts_keys: bool,
    ) -> Option<Vec<Tie>> {
        let kept = self.lists[table].get(&(filter.clone(), sort.name()))?;
        kept.used.store(self.tick(), Ordering::Relaxed);
        let shown = Shown { list: &kept.list, sort: &kept.sort, rows: self.rows(), table };
        let key = |slot: Slot| sort.key(&shown.rows, table, slot);
        let mut ties: Vec<Tie> = Vec::new();
        for slot in slots {
            let is_of = |tie: &Tie| tie.slots.first().is_some_and(|first| key(*first) == key(*slot));
            if !ties.iter().any(is_of) {
                ties.push(shown.tie(*slot));
            }
        }
        if counts_keys {
            shown.count_keys(&mut ties);
        }
        Some(ties)
    }

    /// Makes the list of a filter and a sort.
    pub fn make(&self, table: usize, filter: &Filter, sort: &Sort) -> Made {
        Made { table, filter: filter.clone(), sort: sort.clone(), list: self.list(table, filter, sort) }
    }

    /// A page of a list that was made of the view as it is.
    pub fn page_of(&self, made: &Made, direction: Direction, from: From<'_>, most: usize) -> Page {
        let Made { table, sort, list, .. } = made;
        Shown { list, sort, rows: self.rows(), table: *table }.page(direction, from, most)
    }

    /// Keeps a list that was made of the view as it is, for the pages to come.
    pub fn keep(&mut self, made: Made) {
        let Made { table, filter, sort, list } = made;
        let used = AtomicU64::new(self.tick());
        let name = (filter, sort.name());
        let lists = &mut self.lists[table];
        if lists.len() >= MOST_LISTS && !lists.contains_key(&name) {
            let oldest = oldest(lists).map(|(_, name)| name.clone());
            oldest.and_then(|name| lists.remove(&name));
        }
        lists.insert(name, Kept { list, sort, used });
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn list(&self, table: usize, filter: &Filter, sort: &Sort) -> Ordered {
        let rows = self.rows();
        let selected = filter.select(&rows, table);
        let is_many = selected.len() > self.len(table) / FEW;
        let whole = self.lists[table].get(&(Filter::default(), sort.name()));
        let whole = whole.filter(|whole| is_many && whole.sort.orders_as(sort));
        let Some(whole) = whole else { return Ordered::new(&sort.sort(&rows, table, selected)) };
        let mut is_selected = vec![false; self.len(table)];
        for slot in &selected {
            is_selected[*slot as usize] = true;
        }
        let walked: Vec<Slot> = whole.list.iter().filter(|slot| is_selected[*slot as usize]).collect();
        Ordered::new(&walked)
    }

    /// The records that a filter selects, in no order.
    pub fn select(&self, table: usize, filter: &Filter) -> Vec<Slot> {
        filter.select(&self.rows(), table)
    }

    /// How many of the records that a filter selects have each combination of these columns of codes.
    pub fn count(&self, table: usize, filter: &Filter, paths: &[Path]) -> HashMap<Vec<Code>, u64, RandomState> {
        let rows = self.rows();
        let mut counts: HashMap<Vec<Code>, u64, RandomState> = HashMap::default();
        let mut codes = Vec::with_capacity(paths.len());
        for slot in filter.select(&rows, table) {
            codes.clear();
            codes.extend(paths.iter().map(|path| rows.code(table, slot, *path)));
            match counts.get_mut(&codes) {
                Some(count) => *count += 1,
                None => {
                    counts.insert(codes.clone(), 1);
                }
            }
        }
        counts
    }

    /// Makes room for so many records of a table beyond those that are there.
    pub fn reserve(&mut self, table: usize, more: usize) {
        self.tables[table].reserve(more);
    }

    /// Adds a record, or gives it other cells. What it points to is there already.
    pub fn put(&mut self, table: usize, name: &str, locator: i64, cells: &[Cell<'_>]) {
        let references: Vec<Slot> = (self.tables[table].columns.iter().zip(cells))
            .map(|(column, cell)| match (column.holds, cell) {
                (Holds::Reference(other), Cell::Text(name)) => self.slot(other, name),
                _ => NOBODY,
            })
            .collect();
        for lists in &mut self.lists {
            lists.retain(|(_, name), _| !matches!(name, SortName::Told(_)));
        }
        match self.tables[table].names.find(name) {
            None => self.add(table, name, locator, (cells, &references)),
            Some(slot) => {
                self.tables[table].locators[slot as usize] = locator;
                self.tables[table].push(cells, &references);
                let staged = Slot::try_from(self.len(table)).unwrap_or(NOBODY);
                self.replace(Moved { table, slot, staged });
            }
        }
    }

    fn add(&mut self, table: usize, name: &str, locator: i64, (cells, references): (&[Cell<'_>], &[Slot])) {
        let slot = self.tables[table].names.push(name);
        push(&mut self.tables[table].locators, locator);
        self.tables[table].push(cells, references);
        let rows = Rows { tables: &self.tables, moved: None };
        for ((filter, _), kept) in &mut self.lists[table] {
            if filter.holds(&rows, table, slot) {
                put_in(&mut kept.list, &kept.sort, &rows, (table, slot));
            }
        }
    }

    /// Takes the staged cells for a record: out of every list by the old ones, into it by the new ones.
    fn replace(&mut self, moved: Moved) {
        let Moved { table, slot, staged } = moved;
        let mut taken: Vec<(usize, (Filter, SortName), Slot)> = Vec::new();
        let mut lists = std::mem::take(&mut self.lists);
        let rows = self.rows();
        let (old, new) = (rows, Rows { moved: Some(moved), ..rows });
        for (other, kept) in lists.iter_mut().enumerate() {
            if other == table {
                kept.retain(|name, kept| take_out(name, kept, (&old, &new), (table, slot), &mut taken));
                continue;
            }
            let changed = |path: Path| {
                path.via.is_some_and(|via| self.points(other, via, table))
                    && !self.tables[table].cells[path.column as usize].is_same(slot, staged)
            };
            let mut children = None;
            kept.retain(|name, kept| {
                if !name.0.asks(changed) && !kept.sort.asks(changed) {
                    return true;
                }
                let children = children.get_or_insert_with(|| self.children(other, table, slot));
                children.len() <= MOST_CHILDREN
                    && children.iter().all(|child| take_out(name, kept, (&old, &new), (other, *child), &mut taken))
            });
        }
        for cells in &mut self.tables[table].cells {
            cells.take_last(slot);
        }
        let rows = self.rows();
        for (table, name, slot) in taken {
            // A list that was dropped meanwhile is built again when it is asked for.
            if let Some(kept) = lists[table].get_mut(&name) {
                put_in(&mut kept.list, &kept.sort, &rows, (table, slot));
            }
        }
        self.lists = lists;
    }

    /// Whether a column points to another table.
    fn points(&self, table: usize, via: u16, other: usize) -> bool {
        self.tables[table].columns[via as usize].holds == Holds::Reference(other)
    }

    /// The records of a table that point to one of another, each once, by whichever columns they do.
    fn children(&self, table: usize, other: usize, parent: Slot) -> Vec<Slot> {
        let mut found: Vec<Slot> = Vec::new();
        for cells in &self.tables[table].cells {
            let Cells::References(to, slots) = cells else { continue };
            for (first, block) in (0..).step_by(BLOCK).zip(slots.chunks(BLOCK)).filter(|_| *to == other) {
                // Nearly all blocks are without the parent, and are passed over quickly.
                if block.contains(&parent) {
                    found.extend((first..).zip(block).filter(|(_, held)| **held == parent).map(|(slot, _)| slot));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The key of a record in a sort, for a cursor behind it.
    pub fn key(&self, table: usize, sort: &Sort, slot: Slot) -> Key {
        sort.told(&self.rows(), table, slot)
    }

    /// Drops the list that was asked for longest ago. False where there is none.
    pub fn drop_list(&mut self) -> bool {
        let of_tables = self.lists.iter_mut().filter_map(|lists| {
            let (used, name) = oldest(lists).map(|(used, name)| (used, name.clone()))?;
            Some((used, name, lists))
        });
        let oldest = of_tables.min_by_key(|(used, ..)| *used);
        oldest.is_some_and(|(_, name, lists)| lists.remove(&name).is_some())
    }

    /// Gives back what was reserved while records were added.
    pub fn shrink(&mut self) {
        self.tables.iter_mut().for_each(Table::shrink);
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let ranks: usize = self.ranks.values().map(|(_, ranks)| ranks.bytes()).sum();
        size_of::<Self>() + self.bytes_of_records() + self.bytes_of_lists() + ranks
    }

    /// How much of it the records take, with all values that any of them ever had.
    pub fn bytes_of_records(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    /// How much of it the lists take that are kept.
    pub fn bytes_of_lists(&self) -> usize {
        self.lists.iter().flat_map(HashMap::values).map(|kept| kept.list.bytes() + size_of::<Kept>()).sum()
    }
}

/// The list that was asked for longest ago, and when.
fn oldest(lists: &Lists) -> Option<(u64, &(Filter, SortName))> {
    lists.iter().map(|(name, kept)| (kept.used.load(Ordering::Relaxed), name)).min_by_key(|(used, _)| *used)
}

/// Takes a record out of a list where it is in it and will not be, or will be elsewhere. False where the list is not in
/// its order.
fn take_out(
    name: &(Filter, SortName),
    kept: &mut Kept,
    (old, new): (&Rows<'_>, &Rows<'_>),
    (table, slot): (usize, Slot),
    taken: &mut Vec<(usize, (Filter, SortName), Slot)>,
) -> bool {
    let (was, is) = (name.0.holds(old, table, slot), name.0.holds(new, table, slot));
    if was && is && kept.sort.key(old, table, slot) == kept.sort.key(new, table, slot) {
        return true;
    }
    if is {
        taken.push((table, name.clone(), slot));
    }
    if !was {
        return true;
    }
    let place = (kept.sort.key(old, table, slot), old.name(table, slot));
    kept.list.remove(slot, |other| (kept.sort.key(old, table, other), old.name(table, other)) < place)
}

fn put_in(list: &mut Ordered, sort: &Sort, rows: &Rows<'_>, (table, slot): (usize, Slot)) {
    let place = (sort.key(rows, table, slot), rows.name(table, slot));
    list.insert(slot, |other| (sort.key(rows, table, other), rows.name(table, other)) < place);
}
