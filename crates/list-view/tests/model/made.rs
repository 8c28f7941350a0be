//! Values, conditions, sorts and changes as proptest makes them.

use list_view::{Holds, Path};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Asked, CHILDREN, ENTRIES, Order, TABLES, USERS, Value, paths};

/// How many names a table may have.
const NAMES: [usize; 3] = [9, 30, 40];

/// A list that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) table: usize,
    pub(crate) filter: Vec<Asked>,
    pub(crate) order: Order,
    /// Where a page begins, and how many records it has at most.
    pub(crate) from: u64,
    pub(crate) most: usize,
}

/// What happens to a view.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A record is added, or the cells whose bit is set are changed.
    Put {
        table: usize,
        name: String,
        cells: Vec<Value>,
        changed: u16,
    },
    /// Values are called otherwise.
    Version(i64),
    DropList,
    Shrink,
}

/// A name: mostly a slug of 8 letters, but also tokens of other lengths, some the beginning of another name.
pub(crate) fn name(table: usize, number: usize) -> String {
    let mut rest = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ table as u64;
    let mut letters = String::new();
    for _ in 0..8 {
        letters
            .push(char::from(if rest.is_multiple_of(2) { b'a' } else { b'A' } + u8::try_from(rest / 2 % 26).unwrap()));
        rest /= 52;
    }
    match number % 10 {
        6 => letters[..3].to_owned(),
        7 => format!("{}-{letters}", name(table, number - 1)),
        8 => format!("é{number}"),
        9 => format!("{letters}{letters}{letters}"),
        _ => letters,
    }
}

fn some_name(table: usize) -> impl Strategy<Value = String> {
    (0..NAMES[table]).prop_map(move |number| name(table, number))
}

/// A code: few that are frequent, the empty one, and some that come up late.
fn code() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(vec!["draft", "submitted", "in progress", "été", "Zoo"]).prop_map(str::to_owned),
        1 => Just(String::new()),
        1 => (0..40).prop_map(|number| format!("new {number}")),
    ]
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -2..6_i64, 1 => select(vec![i64::MIN, i64::MIN + 1, i64::MAX])]
}

fn text() -> impl Strategy<Value = String> {
    let known = vec!["", "a", "ab", "abc", "Ab", "é", "été", "e\u{301}", "日本語", "日本", "🦀", "a\u{0}b", "zz"];
    prop_oneof![6 => select(known).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

fn word() -> impl Strategy<Value = String> {
    select(vec!["red", "green", "blue", "größe", "x"]).prop_map(str::to_owned)
}

fn cell(holds: Holds) -> BoxedStrategy<Value> {
    match holds {
        Holds::Code => code().prop_map(Value::Text).boxed(),
        Holds::Flag => (0..2_i64).prop_map(Value::Number).boxed(),
        Holds::Number => number().prop_map(Value::Number).boxed(),
        Holds::Text => text().prop_map(Value::Text).boxed(),
        Holds::Set => vec(word(), 0..4).prop_map(Value::Set).boxed(),
        Holds::Reference(other) => {
            let name = prop_oneof![6 => some_name(other), 1 => Just(String::new()), 1 => Just("nobody".to_owned())];
            name.prop_map(Value::Text).boxed()
        }
    }
}

/// The cells of a record.
pub(crate) fn cells(table: usize) -> impl Strategy<Value = Vec<Value>> {
    TABLES[table].iter().map(|column| cell(column.holds)).collect::<Vec<_>>()
}

fn put(table: usize) -> impl Strategy<Value = Change> {
    let changed = prop_oneof![(0..8_u32).prop_map(|bit| 1 << bit), any::<u16>()];
    (some_name(table), cells(table), changed).prop_map(move |(name, cells, changed)| Change::Put {
        table,
        name,
        cells,
        changed,
    })
}

/// A change of the records, which may be one of a parent with children in lists.
pub(crate) fn record_change() -> impl Strategy<Value = Change> {
    prop_oneof![2 => put(USERS), 4 => put(ENTRIES), 3 => put(CHILDREN)]
}

/// Any change.
pub(crate) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        20 => record_change(),
        2 => (0..5_i64).prop_map(Change::Version),
        1 => Just(Change::DropList),
        1 => Just(Change::Shrink),
    ]
}

/// A value that may be in a column, or in none.
fn value(table: usize, path: Path) -> BoxedStrategy<String> {
    match super::held(table, path) {
        Holds::Reference(other) => {
            prop_oneof![6 => some_name(other), 1 => Just("nobody".to_owned()), 1 => Just(String::new())].boxed()
        }
        Holds::Flag => select(vec!["0", "1", "2", ""]).prop_map(str::to_owned).boxed(),
        Holds::Set => prop_oneof![6 => word(), 1 => Just("none".to_owned())].boxed(),
        _ => prop_oneof![6 => code(), 1 => Just("none".to_owned())].boxed(),
    }
}

fn is_coded(holds: Holds) -> bool {
    matches!(holds, Holds::Code | Holds::Flag | Holds::Reference(_))
}

/// The paths of a table to columns that may be counted.
pub(crate) fn coded(table: usize) -> Vec<Path> {
    paths(table, is_coded)
}

/// A condition.
pub(crate) fn asked(table: usize) -> BoxedStrategy<Asked> {
    let is_set = |holds| holds == Holds::Set;
    let is_number = |holds| holds == Holds::Number;
    let is_text = |holds| matches!(holds, Holds::Text | Holds::Code);
    let one = move |path: Path| (Just(path), value(table, path));
    let some = move |path: Path| (Just(path), vec(value(table, path), 0..4));
    let path = |paths: Vec<Path>| select(paths);
    let mut kinds = vec![
        (4, path(coded(table)).prop_flat_map(one).prop_map(|(path, value)| Asked::Is(path, value)).boxed()),
        (1, Just(Asked::Never).boxed()),
    ];
    let sets = paths(table, is_set);
    kinds.extend([
        (3, path(sets.clone()).prop_flat_map(some).prop_map(|(path, values)| Asked::Has(path, values)).boxed()),
        (3, path(sets.clone()).prop_flat_map(some).prop_map(|(path, values)| Asked::Lacks(path, values)).boxed()),
        (2, path(sets).prop_map(Asked::IsEmpty).boxed()),
    ]);
    let texts = path(paths(table, is_text));
    kinds.push((3, (texts, text()).prop_map(|(path, text)| Asked::Contains(path, text)).boxed()));
    let numbers = paths(table, is_number);
    if !numbers.is_empty() {
        let within = (path(numbers), prop_oneof![Just(i64::MIN), number()], prop_oneof![Just(i64::MAX), number()]);
        kinds.push((3, within.prop_map(|(path, from, until)| Asked::Within(path, from, until)).boxed()));
    }
    proptest::strategy::Union::new_weighted(kinds).boxed()
}

/// A key and a name where there may never have been a record, for whichever sort.
pub(crate) fn place() -> impl Strategy<Value = (i64, String, String)> {
    (number(), text(), prop_oneof![(0..3_usize).prop_flat_map(some_name).boxed(), text().boxed()])
}

/// Every sort of a table.
pub(crate) fn orders(table: usize) -> Vec<Order> {
    let numbers = paths(table, |holds| holds == Holds::Number).into_iter().map(Order::Number);
    let texts = paths(table, |holds| matches!(holds, Holds::Text | Holds::Code)).into_iter().map(Order::Text);
    let codes = paths(table, |holds| holds == Holds::Code).into_iter();
    let ranked = codes.flat_map(|path| ["", "backwards"].map(|way| Order::Ranked(path, way)));
    [Order::Name, Order::Told(0), Order::Told(1)].into_iter().chain(numbers).chain(texts).chain(ranked).collect()
}

/// A list of a table with up to three conditions.
pub(crate) fn query() -> impl Strategy<Value = Query> {
    let table = select(vec![USERS, ENTRIES, ENTRIES, CHILDREN, CHILDREN]);
    table.prop_flat_map(|table| {
        let filter = prop_oneof![1 => Just(Vec::new()), 5 => vec(asked(table), 1..4)];
        (filter, select(orders(table)), 0..40_u64, 1..12_usize).prop_map(move |(filter, order, from, most)| Query {
            table,
            filter,
            order,
            from,
            most,
        })
    })
}
