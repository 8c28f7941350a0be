//! Rules of what is kept, and of values that are not there.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::sync::Arc;

use list_view::{Cell, Column, Condition, Direction, Filter, From, Holds, NOBODY, Page, Path, Sort, UNKNOWN, View};

const USERS: usize = 0;
const ENTRIES: usize = 1;

const TABLES: [&[Column]; 2] = [
    &[Column { name: "name", holds: Holds::Text }],
    &[
        Column { name: "user", holds: Holds::Reference(USERS) },
        Column { name: "status", holds: Holds::Code },
        Column { name: "updated", holds: Holds::Number },
        Column { name: "title", holds: Holds::Text },
        Column { name: "tags", holds: Holds::Set },
        Column { name: "is_open", holds: Holds::Flag },
    ],
];

const STATUS: Path = Path::own(1);
const UPDATED: Path = Path::own(2);
const TITLE: Path = Path::own(3);
const TAGS: Path = Path::own(4);
const IS_OPEN: Path = Path::own(5);

fn put(view: &mut View, number: i64, status: &str) {
    let title = format!("title {number}");
    let cells = [
        Cell::Text("UserAAAA"),
        Cell::Text(status),
        Cell::Number(number),
        Cell::Text(&title),
        Cell::Words("red green"),
        Cell::Number(1),
    ];
    view.put(ENTRIES, &format!("Entry{number:04}"), number, &cells);
}

fn filled(records: i64) -> View {
    let mut view = View::new(&TABLES);
    view.put(USERS, "UserAAAA", 0, &[Cell::Text("Ada")]);
    (0..records).for_each(|number| put(&mut view, number, "draft"));
    view
}

fn page(view: &View, filter: &Filter, sort: &Sort) -> Option<Page> {
    view.page(ENTRIES, (filter, sort), Direction::Ascending, From::Number(0), 10)
}

#[test]
fn the_list_that_was_asked_for_longest_ago_is_dropped_first() {
    let mut view = filled(10);
    let all = Filter::default();
    let sorts = [Sort::Name, Sort::Number(UPDATED), Sort::Text(TITLE)];
    for sort in &sorts {
        view.keep(view.make(ENTRIES, &all, sort));
    }
    view.keep(view.make(USERS, &all, &Sort::Name));
    assert!(page(&view, &all, &sorts[0]).is_some());
    for at in [1, 2] {
        assert!(view.drop_list());
        assert!(page(&view, &all, &sorts[at]).is_none(), "list {at}");
    }
    assert!(view.drop_list());
    assert!(view.page(USERS, (&all, &Sort::Name), Direction::Ascending, From::Number(0), 1).is_none());
    assert!(view.drop_list());
    assert!(page(&view, &all, &sorts[0]).is_none());
    assert!(!view.drop_list());
}

#[test]
fn a_list_in_an_order_that_was_told_is_kept_until_the_next_change() {
    let mut view = filled(3);
    let texts = [(0, "c".into()), (2, "b".into())].into_iter().collect();
    let sort = Sort::Told(7, Arc::new(texts));
    view.keep(view.make(ENTRIES, &Filter::default(), &sort));
    assert_eq!(page(&view, &Filter::default(), &sort).map(|page| page.slots), Some(vec![1, 2, 0]));
    assert_eq!(page(&view, &Filter::default(), &Sort::Told(7, Arc::default())), None);
    view.put(USERS, "UserBBBB", 0, &[]);
    assert_eq!(page(&view, &Filter::default(), &sort), None);
}

#[test]
fn a_table_keeps_64_lists_and_the_one_asked_for_longest_ago_makes_room() {
    let mut view = filled(10);
    let filters: Vec<Filter> = (0..65).map(|code| Filter::of(vec![Condition::Is(STATUS, code)])).collect();
    let is_kept = |view: &View, at: usize| page(view, &filters[at], &Sort::Name).is_some();
    for filter in &filters[..64] {
        view.keep(view.make(ENTRIES, filter, &Sort::Name));
    }
    // A list that is built again takes its own place.
    view.keep(view.make(ENTRIES, &filters[63], &Sort::Name));
    assert!((0..64).all(|at| is_kept(&view, at)));
    view.keep(view.make(ENTRIES, &filters[64], &Sort::Name));
    assert_eq!([0, 1, 63, 64].map(|at| is_kept(&view, at)), [false, true, true, true]);
}

#[test]
fn bytes_grow_with_records_and_lists_and_fall_when_a_list_is_dropped() {
    let mut bytes = vec![View::new(&TABLES).bytes(), filled(1).bytes(), filled(100).bytes(), filled(2_000).bytes()];
    let mut view = filled(2_000);
    view.keep(view.make(ENTRIES, &Filter::default(), &Sort::Name));
    bytes.push(view.bytes());
    assert!(bytes[0] > 0 && bytes.is_sorted_by(|one, other| one < other), "{bytes:?}");
    view.drop_list();
    assert_eq!(view.bytes(), bytes[3]);
    let ranks = view.ranks(ENTRIES, STATUS, ("", 0), |status| status.repeat(100));
    view.keep(view.make(ENTRIES, &Filter::default(), &Sort::Ranked(STATUS, ranks)));
    assert!(view.bytes() > bytes[4]);
}

#[test]
fn changes_of_every_record_take_little_more_memory_than_loading_them() {
    let mut view = filled(3_000);
    for sort in [Sort::Name, Sort::Number(UPDATED), Sort::Text(TITLE)] {
        view.keep(view.make(ENTRIES, &Filter::default(), &sort));
    }
    view.shrink();
    let loaded = view.bytes();
    for status in ["submitted", "draft", "rejected", "draft"] {
        (0..3_000).for_each(|number| put(&mut view, number * 7 % 3_000, status));
    }
    assert!(view.bytes() < loaded + loaded / 5, "{} after {loaded}", view.bytes());
}

#[test]
fn a_cell_that_is_left_out_or_of_another_kind_is_empty() {
    let mut view = filled(2);
    view.put(ENTRIES, "Entry0001", 1, &[]);
    view.put(ENTRIES, "Entry0002", 2, &[Cell::Number(1), Cell::Number(1), Cell::Text("1")]);
    let of_nobody = [Cell::Text("nobody"), Cell::Set(&[]), Cell::Words("1"), Cell::Number(1), Cell::Text("red")];
    view.put(ENTRIES, "Entry0003", 3, &of_nobody);
    view.put(ENTRIES, "Entry0004", 4, &[&of_nobody[..], &[Cell::Text("1")]].concat());
    let empty = Filter::of(vec![
        Condition::Is(STATUS, view.code(ENTRIES, STATUS, "")),
        Condition::Within(UPDATED, 0, 1),
        Condition::IsEmpty(TAGS),
        Condition::Is(IS_OPEN, view.code(ENTRIES, IS_OPEN, "0")),
    ]);
    assert_eq!(view.select(ENTRIES, &empty), [1, 2, 3, 4]);
    for slot in 1..5 {
        assert_eq!(view.text(ENTRIES, slot, TITLE), "");
        assert_eq!(view.key(ENTRIES, &Sort::Text(Path::via(0, 0)), slot), list_view::Key::Text(String::new()));
    }
}

#[test]
fn a_column_is_found_by_its_name_and_by_that_of_the_reference_to_it() {
    let view = View::new(&TABLES);
    assert_eq!(view.path(ENTRIES, "status"), Some(STATUS));
    assert_eq!(view.path(ENTRIES, "user"), Some(Path::own(0)));
    assert_eq!(view.path(ENTRIES, "user.name"), Some(Path::via(0, 0)));
    for name in ["", "name", "user.", ".name", "user.status", "status.name", "nobody.name"] {
        assert_eq!(view.path(ENTRIES, name), None, "{name}");
    }
    assert_eq!(view.path(2, "name"), None);
}

#[test]
fn a_value_that_no_record_has_is_unknown_and_an_unknown_code_is_no_value() {
    let view = filled(1);
    for (path, value, unknown) in [
        (Path::own(0), "UserAAAA", "UserBBBB"),
        (STATUS, "draft", "submitted"),
        (TAGS, "green", "blue"),
        (IS_OPEN, "1", "2"),
        (IS_OPEN, "0", ""),
    ] {
        assert_eq!(view.value(ENTRIES, path, view.code(ENTRIES, path, value)), value);
        assert_eq!(view.code(ENTRIES, path, unknown), UNKNOWN, "{unknown}");
        assert_eq!(view.value(ENTRIES, path, UNKNOWN), "");
    }
    assert_eq!(view.slot(ENTRIES, "Entry9999"), NOBODY);
}

#[test]
fn filters_that_ask_the_same_are_equal() {
    let (one, other) = (Condition::Is(STATUS, 1), Condition::Lacks(TAGS, vec![2, 1]));
    let filter = Filter::of(vec![one.clone(), other.clone()]);
    assert_eq!(filter, Filter::of(vec![other, one.clone(), one.clone()]));
    assert_eq!(filter, Filter::of(vec![one, Condition::Lacks(TAGS, vec![1, 2, UNKNOWN, 1])]));
    assert_eq!(Filter::of(vec![Condition::Is(STATUS, UNKNOWN)]), Filter::of(vec![Condition::Never]));
}

#[test]
fn lists_of_ranges_and_parts_of_texts_are_not_kept() {
    let is_kept = |condition| Filter::of(vec![Condition::Is(STATUS, 0), condition]).is_kept();
    assert!(is_kept(Condition::IsEmpty(TAGS)));
    assert!(!is_kept(Condition::Within(UPDATED, 0, 1)));
    assert!(!is_kept(Condition::Contains(TITLE, "a".to_owned())));
}

#[test]
fn records_of_one_key_are_told_with_what_is_above_them() {
    let mut view = filled(6);
    for (number, key) in [(0, 7), (1, 9), (2, 7), (3, 9), (4, 8), (5, 1)] {
        let cells = [Cell::Text("UserAAAA"), Cell::Text("draft"), Cell::Number(key)];
        view.put(ENTRIES, &format!("Entry{number:04}"), number, &cells);
    }
    let (all, sort) = (Filter::default(), Sort::Number(UPDATED));
    assert_eq!(view.ties(ENTRIES, (&all, &sort), &[0], true), None, "the list is not made yet");
    view.keep(view.make(ENTRIES, &all, &sort));
    let told = |slots: &[u32], counts_keys| {
        let ties = view.ties(ENTRIES, (&all, &sort), slots, counts_keys).unwrap();
        ties.into_iter().map(|tie| (tie.above, tie.keys_above, tie.tied_above, tie.slots)).collect::<Vec<_>>()
    };
    assert_eq!(told(&[0, 3, 2], false), [(3, 0, vec![], vec![0, 2]), (0, 0, vec![], vec![1, 3])]);
    let (first, last) = (vec![1, 3], vec![0, 2]);
    assert_eq!(
        told(&[5, 0, 3], true),
        [(0, 0, vec![], first.clone()), (3, 2, vec![first.clone()], last.clone()), (5, 3, vec![last.clone()], vec![5])]
    );
    assert_eq!(told(&[5], true), [(5, 3, vec![first, last], vec![5])]);
}
