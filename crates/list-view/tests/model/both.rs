//! A view beside the model of it.

use std::collections::HashMap;
use std::sync::Arc;

use list_view::{Cell, Condition, Direction, Filter, From, Key, Made, Path, Sort, UNKNOWN, View};

use super::made::{Change, Query, coded};
use super::{Asked, Model, Order, TABLES, Value, called, shown_before, told};

pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::Ascending, Direction::Descending];

/// More than all.
const ALL: usize = usize::MAX;

/// A view, and the same in plain records.
pub(crate) struct Both {
    pub(crate) view: View,
    pub(crate) model: Model,
    changes: i64,
    /// Where the document of a record was last said to lie.
    locators: HashMap<(usize, String), i64>,
}

/// A list in a direction, with what brute force has for it.
struct Compared<'c> {
    query: &'c Query,
    filter: &'c Filter,
    sort: &'c Sort,
    made: &'c Made,
    direction: Direction,
    list: &'c [(Key, String)],
}

impl Both {
    pub(crate) fn new() -> Self {
        Self { view: View::new(&TABLES), model: Model::default(), changes: 0, locators: HashMap::new() }
    }

    pub(crate) fn change_all(&mut self, changes: &[Change]) {
        for change in changes {
            self.change(change);
        }
    }

    pub(crate) fn change(&mut self, change: &Change) {
        match change {
            Change::Put { table, name, cells, changed } => self.put(*table, name, cells, *changed),
            Change::Version(version) => self.model.version = *version,
            Change::DropList => {
                self.view.drop_list();
            }
            Change::Shrink => self.view.shrink(),
        }
    }

    /// Adds a record or changes the cells of one whose bit is set.
    pub(crate) fn put(&mut self, table: usize, name: &str, cells: &[Value], changed: u16) {
        let record = self.model.put(table, name, cells, changed);
        self.changes += 1;
        self.locators.insert((table, name.to_owned()), self.changes);
        let words: Vec<String> = record.iter().map(words).collect();
        let cells: Vec<Cell<'_>> = (record.iter().zip(&words))
            .map(|(value, words)| match value {
                Value::Text(text) => Cell::Text(text),
                Value::Number(number) => Cell::Number(*number),
                Value::Set(_) if self.changes % 2 == 0 => Cell::Words(words),
                Value::Set(set) => Cell::Set(set),
            })
            .collect();
        self.view.put(table, name, self.changes, &cells);
    }

    fn filter(&self, table: usize, filter: &[Asked]) -> Filter {
        let codes = |path: &Path, values: &[String]| {
            values.iter().map(|value| self.view.code(table, *path, value)).collect::<Vec<_>>()
        };
        let conditions = filter.iter().map(|asked| match asked {
            Asked::Is(path, value) => Condition::Is(*path, self.view.code(table, *path, value)),
            Asked::Has(path, values) => Condition::Has(*path, codes(path, values)),
            Asked::Lacks(path, values) => Condition::Lacks(*path, codes(path, values)),
            Asked::IsEmpty(path) => Condition::IsEmpty(*path),
            Asked::Within(path, from, until) => Condition::Within(*path, *from, *until),
            Asked::Contains(path, text) => Condition::Contains(*path, text.clone()),
            Asked::Never => Condition::Never,
        });
        Filter::of(conditions.collect())
    }

    fn sort(&mut self, table: usize, order: Order) -> Sort {
        let version = self.model.version;
        match order {
            Order::Name => Sort::Name,
            Order::Number(path) => Sort::Number(path),
            Order::Text(path) => Sort::Text(path),
            Order::Ranked(path, way) => {
                let ranks = self.view.ranks(table, path, (way, version), |value| called(way, version, value));
                let known = self.view.known_ranks(table, path, (way, version)).expect("they were made just now");
                assert!(Arc::ptr_eq(&ranks, &known));
                Sort::Ranked(path, ranks)
            }
            Order::Told(number) => {
                let names = self.model.tables[table].keys();
                let texts = names.filter_map(|name| Some((self.view.slot(table, name), told(number, name)?.into())));
                Sort::Told(number, Arc::new(texts.collect()))
            }
        }
    }

    /// The filter and the sort of a query, as values are called now.
    pub(crate) fn asked(&mut self, query: &Query) -> (Filter, Sort) {
        (self.filter(query.table, &query.filter), self.sort(query.table, query.order))
    }

    pub(crate) fn is_kept(&self, table: usize, (filter, sort): &(Filter, Sort)) -> bool {
        self.view.page(table, (filter, sort), Direction::Ascending, From::Number(0), 0).is_some()
    }

    /// The filter and the sort of a query, whose list is kept from now on.
    fn kept(&mut self, query: &Query) -> (Filter, Sort) {
        let asked = self.asked(query);
        if !self.is_kept(query.table, &asked) {
            self.view.keep(self.view.make(query.table, &asked.0, &asked.1));
        }
        asked
    }

    pub(crate) fn check_all(&mut self, queries: &[Query]) {
        for query in queries {
            self.check(query);
        }
    }

    /// What is asked of a list equals brute force.
    pub(crate) fn check(&mut self, query: &Query) {
        let (filter, sort) = self.kept(query);
        let made = self.view.make(query.table, &filter, &sort);
        for direction in DIRECTIONS {
            let list = &self.model.list(query.table, &query.filter, query.order, direction);
            let compared = Compared { query, filter: &filter, sort: &sort, made: &made, direction, list };
            self.check_page(&compared, (From::Number(0), ALL), 0);
            self.check_page(&compared, (From::Number(u64::MAX), ALL), list.len());
            let from = usize::try_from(query.from).unwrap().min(list.len());
            self.check_page(&compared, (From::Number(query.from), query.most), from);
            self.check_walk(&compared);
        }
        self.check_selected(&filter, query);
    }

    /// A page of the list that is kept, and of the one that was made, is what brute force has from a record on.
    fn check_page(&self, compared: &Compared<'_>, (from, most): (From<'_>, usize), first: usize) {
        let Compared { query, filter, sort, made, direction, list } = *compared;
        let until = first.saturating_add(most).min(list.len());
        let names: Vec<&str> = list[first..until].iter().map(|(_, name)| name.as_str()).collect();
        let expected = (names, list.len() as u64, until < list.len());
        let kept = self.view.page(query.table, (filter, sort), direction, from, most);
        for page in [kept.expect("the list is kept"), self.view.page_of(made, direction, from, most)] {
            let names: Vec<&str> = page.slots.iter().map(|slot| self.view.name(query.table, *slot)).collect();
            assert_eq!((names, page.total, page.has_more), expected, "{direction:?}, {from:?}: {query:?}");
        }
    }

    /// Page by page, each from the place of the last record before it, whose key is that of brute force.
    fn check_walk(&self, compared: &Compared<'_>) {
        let Compared { query, sort, list, .. } = *compared;
        self.check_page(compared, (From::Number(0), query.most), 0);
        for (at, (key, name)) in list.iter().enumerate() {
            let slot = self.view.slot(query.table, name);
            let held = self.view.key(query.table, sort, slot);
            assert!(sort.takes(&held) && held == *key, "{held:?} of {name} instead of {key:?}: {query:?}");
            if (at + 1) % query.most == 0 {
                let place = From::Place(&held, self.view.name(query.table, slot));
                self.check_page(compared, (place, query.most), at + 1);
            }
        }
    }

    fn check_selected(&self, filter: &Filter, query: &Query) {
        let Query { table, .. } = *query;
        let mut selected: Vec<&str> =
            self.view.select(table, filter).into_iter().map(|slot| self.view.name(table, slot)).collect();
        selected.sort_unstable();
        assert_eq!(selected, self.model.select(table, &query.filter), "{query:?}");
        let paths = coded(table);
        let at = |number: u64| paths[usize::try_from(number).unwrap() % paths.len()];
        self.check_count(filter, &[], query);
        self.check_count(filter, &[at(query.from)], query);
        self.check_count(filter, &[at(query.from), at(query.from / 3)], query);
    }

    fn check_count(&self, filter: &Filter, paths: &[Path], query: &Query) {
        let Query { table, .. } = *query;
        let counts = self.view.count(table, filter, paths);
        let expected = self.model.count(table, &query.filter, paths);
        assert_eq!(counts.len(), expected.len(), "{paths:?}: {query:?}");
        for (values, count) in expected {
            let code = |(path, value): (&Path, &Option<String>)| {
                let Some(value) = value else { return UNKNOWN };
                let code = self.view.code(table, *path, value);
                assert_eq!(self.view.value(table, *path, code), value, "{path:?}");
                code
            };
            let codes: Vec<_> = paths.iter().zip(&values).map(code).collect();
            assert_eq!(counts.get(&codes), Some(&count), "{values:?} of {paths:?}: {query:?}");
        }
    }

    /// Every record is found by its name, and holds what it was given.
    pub(crate) fn check_records(&self) {
        for table in 0..TABLES.len() {
            let names = &self.model.tables[table];
            assert_eq!((self.view.len(table), self.view.is_empty(table)), (names.len(), names.is_empty()));
            for name in names.keys() {
                let slot = self.view.slot(table, name);
                assert_eq!(self.view.name(table, slot), name);
                assert_eq!(Some(&self.view.locator(table, slot)), self.locators.get(&(table, name.clone())));
            }
        }
    }

    /// The key and name of a record in the middle of a list, as a page shows it.
    pub(crate) fn place(&mut self, query: &Query) -> Option<(Key, String)> {
        let Query { table, .. } = *query;
        let sort = self.sort(table, query.order);
        let names = self.model.select(table, &query.filter);
        let name = names.get(usize::try_from(query.from).unwrap() % names.len().max(1))?;
        Some((self.view.key(table, &sort, self.view.slot(table, name)), name.clone()))
    }

    /// What follows a place where no record need be any more equals brute force.
    pub(crate) fn check_place(&mut self, query: &Query, place: &(Key, String)) {
        let (filter, sort) = self.kept(query);
        let made = self.view.make(query.table, &filter, &sort);
        for direction in DIRECTIONS {
            let list = &self.model.list(query.table, &query.filter, query.order, direction);
            let compared = Compared { query, filter: &filter, sort: &sort, made: &made, direction, list };
            let passed = list.iter().filter(|record| shown_before(record, place, direction).is_le()).count();
            self.check_page(&compared, (From::Place(&place.0, &place.1), query.most), passed);
        }
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::Set(set) => set.join("  "),
        _ => String::new(),
    }
}
