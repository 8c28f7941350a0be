//! What a view answers, computed from plain records: every list is filtered and sorted anew.

pub(crate) mod both;
pub(crate) mod made;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use list_view::{Column, Direction, Holds, Key, Path};

pub(crate) const USERS: usize = 0;
pub(crate) const ENTRIES: usize = 1;
pub(crate) const CHILDREN: usize = 2;

const fn declared(name: &'static str, holds: Holds) -> Column {
    Column { name, holds }
}

/// Entries point to users twice, so that a user may be both to one entry.
pub(crate) const TABLES: [&[Column]; 3] = [
    &[declared("name", Holds::Text), declared("roles", Holds::Set), declared("is_active", Holds::Flag)],
    &[
        declared("user", Holds::Reference(USERS)),
        declared("reviewer", Holds::Reference(USERS)),
        declared("category", Holds::Code),
        declared("status", Holds::Code),
        declared("updated", Holds::Number),
        declared("title", Holds::Text),
        declared("tags", Holds::Set),
    ],
    &[
        declared("entry", Holds::Reference(ENTRIES)),
        declared("tab", Holds::Code),
        declared("place", Holds::Number),
        declared("is_public", Holds::Flag),
    ],
];

/// The cell of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A code, a text, or a reference by its name, empty where it points to nobody.
    Text(String),
    /// A number or a flag.
    Number(i64),
    Set(Vec<String>),
}

/// A record of a name.
pub(crate) type Record = Vec<Value>;

/// A condition in values instead of codes.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Is(Path, String),
    Has(Path, Vec<String>),
    Lacks(Path, Vec<String>),
    IsEmpty(Path),
    Within(Path, i64, i64),
    Contains(Path, String),
    Never,
}

/// A sort, where `Ranked` is by what values are called in a version, in a way of calling them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Name,
    Number(Path),
    Text(Path),
    Ranked(Path, &'static str),
    Told(u64),
}

/// The records of three tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) tables: [BTreeMap<String, Record>; 3],
    /// Decides what values are called.
    pub(crate) version: i64,
}

/// What a value is called in a version; versions 0 and 3 agree, and in 2 many are called alike.
pub(crate) fn called(way: &str, version: i64, value: &str) -> String {
    match version {
        _ if way == "backwards" => called("", version, value).chars().rev().collect(),
        1 => value.chars().rev().collect(),
        2 => value.chars().take(1).collect(),
        4 => value.to_uppercase(),
        _ => value.to_owned(),
    }
}

/// The text that a sort tells for a record, where it has one.
pub(crate) fn told(number: u64, name: &str) -> Option<String> {
    let sum = name.bytes().map(u64::from).sum::<u64>() * (number + 1);
    (!sum.is_multiple_of(3)).then(|| format!("ü{}", sum % 7))
}

/// What the column at the end of a path holds.
pub(crate) fn held(table: usize, path: Path) -> Holds {
    let table = match path.via.map(|via| TABLES[table][via as usize].holds) {
        None => table,
        Some(Holds::Reference(other)) => other,
        Some(holds) => panic!("{holds:?} points to nobody"),
    };
    TABLES[table][path.column as usize].holds
}

/// The paths of a table, own and through a reference, to columns that hold such.
pub(crate) fn paths(table: usize, is_meant: impl Fn(Holds) -> bool) -> Vec<Path> {
    let own = TABLES[table].iter().zip(0..).map(|(column, at)| (Path::own(at), column.holds));
    let via = TABLES[table].iter().zip(0..).flat_map(|(column, via)| {
        let other = match column.holds {
            Holds::Reference(other) => TABLES[other],
            _ => &[],
        };
        other.iter().zip(0..).map(move |(column, at)| (Path::via(via, at), column.holds))
    });
    own.chain(via).filter(|(_, holds)| is_meant(*holds)).map(|(path, _)| path).collect()
}

impl Model {
    /// Adds a record or changes the cells of one whose bit is set. What is pointed to and is not there is nobody.
    pub(crate) fn put(&mut self, table: usize, name: &str, cells: &[Value], changed: u16) -> Record {
        let cells: Vec<Value> = (cells.iter().zip(TABLES[table]))
            .map(|(cell, column)| match (cell, column.holds) {
                (Value::Text(name), Holds::Reference(other)) if !self.tables[other].contains_key(name) => {
                    Value::Text(String::new())
                }
                _ => cell.clone(),
            })
            .collect();
        let record = self.tables[table].entry(name.to_owned()).or_insert_with(|| cells.clone());
        for (at, cell) in cells.into_iter().enumerate().filter(|(at, _)| changed & 1 << at != 0) {
            record[at] = cell;
        }
        record.clone()
    }

    fn value(&self, table: usize, record: &Record, path: Path) -> Option<Value> {
        let Some(via) = path.via else { return Some(record[path.column as usize].clone()) };
        let (Value::Text(name), Holds::Reference(other)) = (&record[via as usize], TABLES[table][via as usize].holds)
        else {
            panic!("column {via} of table {table} is no reference")
        };
        Some(self.tables[other].get(name)?[path.column as usize].clone())
    }

    /// The code, flag or reference of a record, by its value.
    pub(crate) fn code(&self, table: usize, record: &Record, path: Path) -> Option<String> {
        match self.value(table, record, path)? {
            Value::Text(name) if name.is_empty() && matches!(held(table, path), Holds::Reference(_)) => None,
            Value::Text(text) => Some(text),
            Value::Number(flag) => Some(flag.to_string()),
            Value::Set(_) => None,
        }
    }

    fn number(&self, table: usize, record: &Record, path: Path) -> Option<i64> {
        match self.value(table, record, path)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn text(&self, table: usize, record: &Record, path: Path) -> String {
        self.value(table, record, path).map_or_else(String::new, |value| match value {
            Value::Text(text) => text,
            _ => String::new(),
        })
    }

    fn set(&self, table: usize, record: &Record, path: Path) -> Vec<String> {
        self.value(table, record, path).map_or_else(Vec::new, |value| match value {
            Value::Set(set) => set,
            _ => Vec::new(),
        })
    }

    fn holds(&self, table: usize, record: &Record, asked: &Asked) -> bool {
        match asked {
            Asked::Is(path, value) => self.code(table, record, *path).as_ref() == Some(value),
            Asked::Has(path, values) => self.set(table, record, *path).iter().any(|held| values.contains(held)),
            Asked::Lacks(path, values) => !self.set(table, record, *path).iter().any(|held| values.contains(held)),
            Asked::IsEmpty(path) => self.set(table, record, *path).is_empty(),
            Asked::Within(path, from, until) => {
                self.number(table, record, *path).is_some_and(|number| *from <= number && number < *until)
            }
            Asked::Contains(path, text) => self.text(table, record, *path).contains(text),
            Asked::Never => false,
        }
    }

    /// What a record is sorted by, as a cursor holds it.
    pub(crate) fn key(&self, table: usize, name: &str, order: Order) -> Key {
        let record = &self.tables[table][name];
        match order {
            Order::Name => Key::Nothing,
            Order::Number(path) => Key::Number(self.number(table, record, path).unwrap_or(i64::MIN)),
            Order::Text(path) => Key::Text(self.text(table, record, path)),
            Order::Ranked(path, way) => {
                let code = self.code(table, record, path);
                Key::Text(code.map_or_else(String::new, |code| called(way, self.version, &code)))
            }
            Order::Told(number) => Key::Text(told(number, name).unwrap_or_default()),
        }
    }

    /// The names of the records that a filter selects, sorted by name.
    pub(crate) fn select(&self, table: usize, filter: &[Asked]) -> Vec<String> {
        let records = self.tables[table].iter();
        let found = records.filter(|(_, record)| filter.iter().all(|asked| self.holds(table, record, asked)));
        found.map(|(name, _)| name.clone()).collect()
    }

    /// The keys and names of a list, in the order in which they are shown.
    pub(crate) fn list(
        &self,
        table: usize,
        filter: &[Asked],
        order: Order,
        direction: Direction,
    ) -> Vec<(Key, String)> {
        let selected = self.select(table, filter).into_iter();
        let mut found: Vec<(Key, String)> = selected.map(|name| (self.key(table, &name, order), name)).collect();
        found.sort_by(|one, other| shown_before(one, other, direction));
        found
    }

    /// How many of the records that a filter selects have each combination of values.
    pub(crate) fn count(&self, table: usize, filter: &[Asked], paths: &[Path]) -> BTreeMap<Vec<Option<String>>, u64> {
        let mut counts = BTreeMap::new();
        for name in self.select(table, filter) {
            let record = &self.tables[table][&name];
            let values = paths.iter().map(|path| self.code(table, record, *path)).collect();
            *counts.entry(values).or_default() += 1;
        }
        counts
    }
}

/// The order in which two records are shown: by key in a direction, and by name, ascending in both.
pub(crate) fn shown_before(one: &(Key, String), other: &(Key, String), direction: Direction) -> Ordering {
    let keys = match direction {
        Direction::Ascending => one.0.cmp(&other.0),
        Direction::Descending => other.0.cmp(&one.0),
    };
    keys.then_with(|| one.1.cmp(&other.1))
}

/// The path to a column, behind a full stop to one of the record that is pointed to.
pub(crate) fn column(table: usize, name: &str) -> Path {
    let find = |table: usize, name: &str| {
        let at = TABLES[table].iter().position(|column| column.name == name).unwrap();
        u16::try_from(at).unwrap()
    };
    let Some((reference, name)) = name.split_once('.') else { return Path::own(find(table, name)) };
    let via = find(table, reference);
    let Holds::Reference(other) = TABLES[table][usize::from(via)].holds else { panic!("{reference} is no reference") };
    Path::via(via, find(other, name))
}
