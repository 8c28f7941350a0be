//! Properties: what a view answers is what filtering and sorting plain records anew gives.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod model;

use std::sync::Arc;

use list_view::{Filter, Key, Sort};
use proptest::collection::vec;
use proptest::prelude::*;

use model::both::Both;
use model::made::{Change, Query, asked, cells, change, name, orders, place, query, record_change};
use model::{Asked, CHILDREN, ENTRIES, Order, USERS, Value, column};

/// How many cases most properties are tried with, unless `PLAUDIT_LIST_CASES` asks for more.
const CASES: u32 = 32;

/// A property that is tried with so many of [`CASES`], and with as large a part of what is asked for.
#[allow(clippy::disallowed_methods, reason = "the length of a campaign is no setting of the service")]
fn cases(share: u32) -> ProptestConfig {
    let asked = std::env::var("PLAUDIT_LIST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = asked.unwrap_or(0).max(CASES) * share / CASES;
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn filled(changes: &[Change]) -> Both {
    let mut both = Both::new();
    both.change_all(changes);
    both
}

/// The list of a filter and a sort, of which pages of 100 are asked for.
fn list(table: usize, filter: &[Asked], order: Order) -> Query {
    Query { table, filter: filter.to_vec(), order, from: 300, most: 100 }
}

proptest! {
    #![proptest_config(cases(CASES))]

    #[test]
    fn a_page_of_any_filter_and_sort_equals_brute_force_after_any_changes(
        records in vec(record_change(), 0..80),
        queries in vec(query(), 1..10),
        changes in vec(change(), 1..30),
    ) {
        // A list of many records is taken from the one of all, where that is in the order that is asked for.
        let whole = |query: &Query| Query { filter: Vec::new(), ..query.clone() };
        let queries: Vec<Query> = queries.into_iter().flat_map(|query| [query.clone(), whole(&query)]).collect();
        let mut both = filled(&records);
        both.check_all(&queries);
        for change in &changes {
            both.change(change);
            both.check_all(&queries);
        }
        both.check_records();
    }

    #[test]
    fn a_place_is_good_for_what_follows_after_any_changes(
        records in vec(record_change(), 40..100),
        queries in vec((query(), place()), 1..10),
        changes in vec(change(), 1..40),
    ) {
        let mut both = filled(&records);
        let mut places: Vec<(&Query, (Key, String))> = Vec::new();
        for (query, (number, text, name)) in &queries {
            let key = match query.order {
                Order::Name => Key::Nothing,
                Order::Number(_) => Key::Number(*number),
                Order::Text(_) | Order::Ranked(..) | Order::Told(_) => Key::Text(text.clone()),
            };
            places.push((query, (key, name.clone())));
            places.extend(both.place(query).map(|place| (query, place)));
        }
        both.change_all(&changes);
        for (query, place) in &places {
            both.check(query);
            both.check_place(query, place);
        }
    }

    #[test]
    fn a_list_stays_kept_through_every_change_that_leaves_its_order_known(
        records in vec(record_change(), 20..80),
        queries in vec(query(), 1..10),
        changes in vec(record_change(), 1..30),
    ) {
        let mut both = filled(&records);
        for change in &changes {
            both.check_all(&queries);
            let lists: Vec<(Filter, Sort)> = queries.iter().map(|query| both.asked(query)).collect();
            both.change(change);
            for (query, before) in queries.iter().zip(&lists) {
                let now = both.asked(query);
                let is_known = match (&before.1, &now.1) {
                    (Sort::Ranked(_, before), Sort::Ranked(_, now)) => Arc::ptr_eq(before, now),
                    (_, Sort::Told(..)) => false,
                    _ => true,
                };
                // A value that was unknown until now makes another filter.
                if before.0 == now.0 {
                    prop_assert_eq!(both.is_kept(query.table, &now), is_known, "{:?}", query);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(2))]

    #[test]
    fn every_filter_with_every_sort_equals_brute_force(
        records in vec(record_change(), 60..120),
        users in vec(vec(asked(USERS), 0..3), 10),
        entries in vec(vec(asked(ENTRIES), 0..4), 20),
        children in vec(vec(asked(CHILDREN), 0..4), 20),
        from in 0..30_u64,
    ) {
        let mut both = filled(&records);
        for (table, filters) in [(USERS, users), (ENTRIES, entries), (CHILDREN, children)] {
            for order in orders(table) {
                for filter in &filters {
                    both.check(&Query { table, filter: filter.clone(), order, from, most: 11 });
                }
            }
        }
    }

    #[test]
    fn lists_of_several_chunks_that_fill_and_empty_equal_brute_force(
        entries in vec(cells(ENTRIES), 1_300),
        order in Just((0..1_300_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut both = Both::new();
        let [status, updated, title] = ["status", "updated", "title"].map(|name| column(ENTRIES, name));
        let open = [Asked::Is(status, "draft".to_owned())];
        let closed = [Asked::Is(status, "closed".to_owned())];
        let queries = [
            list(ENTRIES, &[], Order::Number(updated)),
            list(ENTRIES, &open, Order::Name),
            list(ENTRIES, &open, Order::Number(updated)),
            list(ENTRIES, &closed, Order::Text(title)),
            list(ENTRIES, &closed, Order::Ranked(status, "")),
        ];
        both.check_all(&queries);
        for (number, cells) in entries.iter().enumerate() {
            let mut cells = cells.clone();
            cells[usize::from(status.column)] = Value::Text("draft".to_owned());
            both.put(ENTRIES, &name(ENTRIES, number), &cells, u16::MAX);
        }
        both.check_all(&queries);
        for (done, number) in order.iter().enumerate() {
            let mut cells = entries[*number].clone();
            cells[usize::from(status.column)] = Value::Text("closed".to_owned());
            cells[usize::from(updated.column)] = Value::Number(i64::try_from(done % 700).unwrap());
            both.put(ENTRIES, &name(ENTRIES, *number), &cells, 1 << status.column | 1 << updated.column);
            if done % 325 == 324 || done == order.len() - 3 {
                both.check_all(&queries);
            }
        }
    }
}

#[test]
fn a_child_that_points_to_its_parent_twice_is_once_in_its_lists() {
    let mut both = Both::new();
    let text = |text: &str| Value::Text(text.to_owned());
    let user = |name: &str, role: &str| [text(name), Value::Set(vec![role.to_owned()]), Value::Number(1)];
    both.put(USERS, "UserAAAA", &user("Ada", "author"), u16::MAX);
    let cells =
        [text("UserAAAA"), text("UserAAAA"), text("c"), text("s"), Value::Number(0), text(""), Value::Set(Vec::new())];
    both.put(ENTRIES, "EntryAAA", &cells, u16::MAX);
    let roles = ["user.roles", "reviewer.roles"].map(|name| column(ENTRIES, name));
    let judges = roles.map(|path| Asked::Has(path, vec!["judge".to_owned()]));
    let queries = [
        list(ENTRIES, &judges, Order::Name),
        list(ENTRIES, &judges[..1], Order::Text(column(ENTRIES, "reviewer.name"))),
    ];
    for (name, role) in [("Ada", "judge"), ("Ben", "judge"), ("Ben", "author")] {
        // A role that was unknown makes another filter, so that the lists are there before the roles change.
        both.put(USERS, "UserBBBB", &user("Bea", "judge"), u16::MAX);
        both.check_all(&queries);
        both.put(USERS, "UserAAAA", &user(name, role), u16::MAX);
        let lists = [both.asked(&queries[0]), both.asked(&queries[1])];
        assert!(lists.iter().all(|list| both.is_kept(ENTRIES, list)), "{name} is {role}");
        both.check_all(&queries);
    }
}

#[test]
fn a_parent_of_many_children_lets_go_the_lists_that_its_change_concerns() {
    let mut both = Both::new();
    let text = |text: &str| Value::Text(text.to_owned());
    let entry = |title: &str| {
        vec![text(""), text(""), text("c"), text("draft"), Value::Number(0), text(title), Value::Set(Vec::new())]
    };
    for (name, children) in [("EntryAAA", 1_001), ("EntryBBB", 20)] {
        both.put(ENTRIES, name, &entry(name), u16::MAX);
        for number in 0..children {
            let cells = [text(name), text("tab"), Value::Number(number % 7), Value::Number(0)];
            both.put(CHILDREN, &format!("{name}{number}"), &cells, u16::MAX);
        }
    }
    let by_title = list(CHILDREN, &[], Order::Text(column(CHILDREN, "entry.title")));
    let by_status = list(CHILDREN, &[], Order::Text(column(CHILDREN, "entry.status")));
    let by_place = list(CHILDREN, &[], Order::Number(column(CHILDREN, "place")));
    let queries = [by_title, by_status, by_place];
    for (name, title, expected) in
        [("EntryBBB", "Z", [true; 3]), ("EntryAAA", "M", [false, true, true]), ("EntryAAA", "M", [true; 3])]
    {
        both.check_all(&queries);
        both.put(ENTRIES, name, &entry(title), u16::MAX);
        let lists: Vec<(Filter, Sort)> = queries.iter().map(|query| both.asked(query)).collect();
        let kept: Vec<bool> = lists.iter().map(|list| both.is_kept(CHILDREN, list)).collect();
        assert_eq!(kept, expected, "{name} is called {title}");
        both.check_all(&queries);
    }
}
