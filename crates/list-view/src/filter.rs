//! Filters.

use memchr::memmem;

use crate::column::Cells;
use crate::table::Rows;
use crate::{Code, Path, Slot, UNKNOWN};

/// What is asked of a record. Codes are those of [`crate::View::code`], or of [`crate::View::slot`] for a reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// The code or reference is this one.
    Is(Path, Code),
    /// The set has one of these.
    Has(Path, Vec<Code>),
    /// The set has none of these.
    Lacks(Path, Vec<Code>),
    /// The set has nothing.
    IsEmpty(Path),
    /// The number is from the first on and before the second, and there is one.
    Within(Path, i64, i64),
    /// The text contains this one.
    Contains(Path, String),
    /// No record is wanted.
    Never,
    /// One of these holds.
    Any(Vec<Condition>),
    /// The record is one of these.
    Among(Vec<Slot>),
    /// The set has something, and nothing but these.
    Only(Path, Vec<Code>),
}

impl Condition {
    fn path(&self) -> Option<Path> {
        match self {
            Self::Is(path, _)
            | Self::Has(path, _)
            | Self::Lacks(path, _)
            | Self::Only(path, _)
            | Self::IsEmpty(path)
            | Self::Within(path, ..)
            | Self::Contains(path, _) => Some(*path),
            Self::Never | Self::Any(_) | Self::Among(_) => None,
        }
    }

    /// Whether it asks for a column.
    fn asks(&self, is_meant: &impl Fn(Path) -> bool) -> bool {
        match self {
            Self::Any(conditions) => conditions.iter().any(|condition| condition.asks(is_meant)),
            condition => condition.path().is_some_and(is_meant),
        }
    }

    /// Whether it is asked often: a range or a part of a text is seldom asked for twice, what one person sees is asked for
    /// by that person alone, and who is meant can change with records of other tables.
    fn is_common(&self) -> bool {
        !matches!(self, Self::Within(..) | Self::Contains(..) | Self::Any(_) | Self::Among(_) | Self::Only(..))
    }

    /// The same condition in the form of which there is one: codes that a record has, ascending. What points to nobody
    /// does not point to somebody unknown.
    fn plain(mut self) -> Self {
        match &mut self {
            Self::Has(_, codes) | Self::Lacks(_, codes) | Self::Only(_, codes) | Self::Among(codes) => {
                codes.retain(|code| *code != UNKNOWN);
                codes.sort_unstable();
                codes.dedup();
            }
            Self::Any(conditions) => {
                *conditions = std::mem::take(conditions).into_iter().map(Self::plain).collect();
                conditions.retain(|condition| *condition != Self::Never);
                if conditions.is_empty() {
                    return Self::Never;
                }
            }
            _ => {}
        }
        if matches!(self, Self::Is(_, UNKNOWN)) { Self::Never } else { self }
    }

    fn holds(&self, rows: &Rows<'_>, table: usize, slot: Slot) -> bool {
        let has = |path: &Path, codes: &[Code]| {
            rows.set(table, slot, *path).iter().any(|code| codes.binary_search(code).is_ok())
        };
        match self {
            Self::Is(path, code) => rows.code(table, slot, *path) == *code,
            Self::Has(path, codes) => has(path, codes),
            Self::Lacks(path, codes) => !has(path, codes),
            Self::IsEmpty(path) => rows.set(table, slot, *path).is_empty(),
            Self::Within(path, from, until) => {
                rows.number(table, slot, *path).is_some_and(|number| (*from..*until).contains(&number))
            }
            Self::Contains(path, text) => {
                memmem::find(rows.text(table, slot, *path).as_bytes(), text.as_bytes()).is_some()
            }
            Self::Never => false,
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(rows, table, slot)),
            Self::Among(slots) => slots.binary_search(&slot).is_ok(),
            Self::Only(path, codes) => {
                let set = rows.set(table, slot, *path);
                !set.is_empty() && set.iter().all(|code| codes.binary_search(code).is_ok())
            }
        }
    }
}

/// Conditions that all hold; none selects every record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter(Vec<Condition>);

impl Filter {
    /// These conditions, in any order.
    pub fn of(conditions: Vec<Condition>) -> Self {
        let mut conditions: Vec<Condition> = conditions.into_iter().map(Condition::plain).collect();
        conditions.sort_unstable();
        conditions.dedup();
        Self(conditions)
    }

    /// Whether its lists are kept: what is seldom asked for twice would push out the lists of others.
    pub fn is_kept(&self) -> bool {
        self.0.iter().all(Condition::is_common)
    }

    /// Whether it asks for a column, of the record itself or through a reference.
    pub(crate) fn asks(&self, is_meant: impl Fn(Path) -> bool) -> bool {
        self.0.iter().any(|condition| condition.asks(&is_meant))
    }

    pub(crate) fn holds(&self, rows: &Rows<'_>, table: usize, slot: Slot) -> bool {
        self.0.iter().all(|condition| condition.holds(rows, table, slot))
    }

    /// The records for which it holds, in the order of their slots.
    pub(crate) fn select(&self, rows: &Rows<'_>, table: usize) -> Vec<Slot> {
        let all = Slot::try_from(rows.tables[table].len()).unwrap_or(Slot::MAX);
        if self.0.contains(&Condition::Never) {
            return Vec::new();
        }
        let Some((first, others)) = self.0.split_first() else { return (0..all).collect() };
        let mut found: Vec<Slot> = match (first, first.path().and_then(|path| rows.column(table, path))) {
            // What most lists begin with reads nothing but the column.
            (Condition::Is(Path { via: None, .. }, code), Some(Cells::Codes(_, held) | Cells::References(_, held))) => {
                (0..all).filter(|slot| held[*slot as usize] == *code).collect()
            }
            _ => (0..all).filter(|slot| first.holds(rows, table, *slot)).collect(),
        };
        for condition in others {
            found.retain(|slot| condition.holds(rows, table, *slot));
        }
        found
    }
}
