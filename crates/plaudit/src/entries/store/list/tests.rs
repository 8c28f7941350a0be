use rusqlite::Connection;

use super::sql::Statement;
use super::*;
use crate::db::Engine;
use crate::entries::plan::{NARROW, Start, Wanted};
use crate::entries::selection::{Column, Grouping, Selection, Sort};
use crate::entries::{Entry, Status, document};

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn schema() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(include_str!("../../../../migrations/V1__foundation.sql")).unwrap();
    connection
}

/// What SQLite does for a statement, a line for each step.
fn plan(connection: &Connection, statement: &Statement) -> Vec<String> {
    let sql = statement.sql.replace('$', "?");
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let values = vec![rusqlite::types::Null; explain.parameter_count()];
    let steps = explain.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
    steps.map(Result::unwrap).collect()
}

fn listing(selection: Selection, grouping: Grouping, column: Column, is_reversed: bool) -> Listing {
    let groups = match grouping {
        Grouping::None => vec![None],
        _ => vec![Some(slug("GroupAAA")), Some(slug("GroupBBB"))],
    };
    Listing { selection, sort: Sort { grouping, column, is_reversed }, groups }
}

fn totals(listing: &Listing, seasons: usize, each: u64) -> Totals {
    let by = match listing.groups[0] {
        None => ["SeasonAA", "SeasonBB", "SeasonCC"][..seasons].iter().map(|season| (slug(season), each)).collect(),
        Some(_) => listing.groups.iter().flatten().map(|group| (*group, each)).collect(),
    };
    Totals { by }
}

const COLUMNS: [Column; 4] = [Column::Recency, Column::LocalId, Column::Title, Column::Applicant];

fn page_statement(listing: &Listing, totals: &Totals, wanted: &Wanted, engine: Engine, is_gathered: bool) -> Statement {
    let parts = listing.parts(totals, wanted, 100);
    let seasons = [slug("SeasonAA"), slug("SeasonBB"), slug("SeasonCC")];
    let page = Page { listing, totals, parts: &parts, seasons: &seasons, is_gathered, limit: 100, is_detailed: true };
    let mut statement = Statement::new(AccountId(1), engine);
    statement.write_page(&page);
    statement
}

#[test]
fn sqlite_reads_a_page_of_many_entries_in_one_index_and_without_sorting() {
    let connection = schema();
    for column in COLUMNS {
        for is_reversed in [false, true] {
            for seasons in [1, 3] {
                let listing = listing(Selection::default(), Grouping::None, column, is_reversed);
                let totals = totals(&listing, seasons, 10_000);
                let key = if column.is_text() { Key::Text("k".into()) } else { Key::Integer(7) };
                let place = Place { key, slug: slug("EntryAAA") };
                for wanted in [Wanted::After(0), Wanted::After(5_000), Wanted::Place(None, place)] {
                    let plan = plan(&connection, &page_statement(&listing, &totals, &wanted, Engine::Sqlite, false));
                    let index = match column {
                        Column::Recency => "entries_sorted_by_updated",
                        Column::LocalId => "entries_sorted_by_local_id",
                        Column::Title => "entries_sorted_by_title",
                        Column::Applicant => "entries_sorted_by_applicant",
                    };
                    let covering = format!("COVERING INDEX {index}");
                    assert_eq!(plan.iter().filter(|step| step.contains(&covering)).count(), seasons, "{plan:#?}");
                    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
                    assert!(!plan.iter().any(|step| step.starts_with("SCAN entries")), "{plan:#?}");
                }
            }
        }
    }
}

#[test]
fn sqlite_reads_a_group_in_its_index_and_without_sorting() {
    let connection = schema();
    for (grouping, index) in [(Grouping::Category, "entries_of_category"), (Grouping::Chapter, "entries_of_chapter")] {
        for is_reversed in [false, true] {
            let listing = listing(Selection::default(), grouping, Column::LocalId, is_reversed);
            let totals = totals(&listing, 0, 2_000);
            let statement = page_statement(&listing, &totals, &Wanted::After(1_950), Engine::Sqlite, false);
            let plan = plan(&connection, &statement);
            let covering = format!("COVERING INDEX {index}");
            assert_eq!(plan.iter().filter(|step| step.contains(&covering)).count(), 2, "{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}

#[test]
fn sqlite_begins_a_search_with_what_finds_its_entries() {
    let connection = schema();
    let none = Selection::default;
    for (selection, index) in [
        (none(), "INDEX entries_of_segment (account=? AND segment=?)"),
        (Selection { entrant: Some(slug("UserAAAA")), ..none() }, "entries_of_entrant (account=? AND entrant=?)"),
        (Selection { tag: Some("red".to_owned()), ..none() }, "sqlite_autoindex_entry_tags_1 (account=? AND tag=?)"),
        (Selection { price: Some(slug("PriceAAA")), ..none() }, "order_entries_of_price (account=? AND price=?)"),
        (Selection { title: Some("x".to_owned()), ..none() }, "entries_sorted_by_title (account=? AND season=?)"),
        (
            Selection { recency: Some((1, 2)), ..none() },
            "entries_sorted_by_updated (account=? AND season=? AND recency",
        ),
    ] {
        for grouping in [Grouping::None, Grouping::Category] {
            let listing = listing(selection.clone(), grouping, Column::LocalId, false);
            let totals = totals(&listing, 3, NARROW / 4);
            for wanted in [
                Wanted::After(3),
                Wanted::Place(listing.groups[0], Place { key: Key::Integer(1), slug: slug("EntryAAA") }),
            ] {
                let plan = plan(&connection, &page_statement(&listing, &totals, &wanted, Engine::Sqlite, true));
                assert!(plan.iter().any(|step| step.contains(index)), "{plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN e")), "{plan:#?}");
            }
            let mut statement = Statement::new(AccountId(1), Engine::Sqlite);
            statement.write_totals(&listing, &[slug("SeasonAA"), slug("SeasonBB")]);
            let plan = plan(&connection, &statement);
            let counted = selection.is_counted();
            assert_eq!(plan.iter().any(|step| step.contains(index)), !counted, "{plan:#?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN e")), "{plan:#?}");
        }
    }
}

#[test]
fn sqlite_follows_the_log_by_its_sequence() {
    let connection = schema();
    let mut statement = Statement::new(AccountId(1), Engine::Sqlite);
    statement.sql.push_str(MOVED);
    let plan = plan(&connection, &statement);
    assert!(
        plan.iter().any(|step| step.contains("sqlite_autoindex_changes_1 (account=? AND sequence>?)")),
        "{plan:#?}"
    );
    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
}

fn head(status: Status, title: &str) -> String {
    let entry = Entry { status, title: title.to_owned(), ..document::tests::entry("x", true) };
    let around = document::tests::around("x", true);
    EntryHead::of(&entry, &around).to_doc()
}

#[test]
fn what_was_before_follows_from_the_log_and_the_row_of_now() {
    let told = |steps: &[(&str, Option<&str>, &str)], deleted: bool| {
        let mut taken = Steps::default();
        for (action, before, after) in steps {
            let [before, after] =
                [*before, Some(*after)].map(|title| title.map(|title| head(Status::Submitted, title)));
            taken.take("EntryAAA", action, &after.unwrap(), before.as_deref(), (false, deleted));
        }
        let moved = taken.moved()?.pop()?;
        let facts = |title: &str, deleted| {
            let doc = head(Status::Submitted, title);
            Facts::of(&EntryHead::read(&doc).unwrap(), false, deleted)
        };
        let is = |facts_of: &Facts| {
            let of = |title: &str| [false, true].map(|deleted| (facts(title, deleted), format!("{title} {deleted}")));
            let all = ["a", "b", "c"].iter().flat_map(|title| of(title));
            all.into_iter().find(|(facts, _)| facts == facts_of).unwrap().1
        };
        Some((moved.before.as_ref().map(is), is(&moved.after)))
    };
    let is = |before: &str, after: &str| Some((Some(before.to_owned()), after.to_owned()));
    assert_eq!(told(&[("created", None, "a")], false), Some((None, "a false".to_owned())));
    assert_eq!(told(&[("updated", Some("a"), "b"), ("updated", Some("b"), "c")], false), is("a false", "c false"));
    assert_eq!(told(&[("updated", Some("a"), "b"), ("trashed", Some("b"), "b")], true), is("a false", "b true"));
    assert_eq!(told(&[("renewed", Some("a"), "b")], true), is("a true", "b true"));
    assert_eq!(told(&[("restored", Some("a"), "a"), ("trashed", Some("a"), "a")], true), is("a true", "a true"));
    assert_eq!(told(&[("restored", Some("a"), "a"), ("updated", Some("a"), "b")], false), is("a true", "b false"));
    assert_eq!(told(&[("imported", Some("a"), "b")], false), None);
}

#[test]
fn a_part_of_a_page_is_read_as_it_is_written() {
    let selection = Selection { season: Some(slug("SeasonAA")), deleted: Some(false), ..Selection::default() };
    let listing = listing(selection, Grouping::None, Column::Title, true);
    let totals = totals(&listing, 1, 5_000);
    let start = Start { place: Place { key: Key::Text("t".into()), slug: slug("EntryAAA") }, is_included: false };
    let part = Part { number: 0, group: None, start: Some(start), offset: 3, limit: 10, rank: None };
    let mut statement = Statement::new(AccountId(1), Engine::Postgres);
    statement.write_ranges((&listing, &totals), &part, (true, " LIMIT 16"), "");
    assert_eq!(
        statement.sql,
        "SELECT key, slug FROM (SELECT e.title_key AS key, e.slug AS slug FROM entries e \
         WHERE e.account = $1 AND e.season = $4 AND (e.title_key, e.slug) < ($2, $3) \
         AND (e.segment & 1) = 0 ORDER BY e.title_key DESC, e.slug DESC LIMIT 16) AS range0"
    );
    let selection = Selection { chapter: Some(slug("ChapteAA")), ..listing.selection.clone() };
    let mut statement = Statement::new(AccountId(1), Engine::Postgres);
    let listing = Listing { selection, ..listing };
    statement.write_ranges((&listing, &totals), &part, (true, ""), "");
    assert!(statement.sql.contains(
        "AND CASE WHEN e.segment IN (SELECT segment FROM entry_counts WHERE account = $1 AND total > 0 AND season = $2 \
         AND chapter = $3 AND deleted = $4) THEN 1 ELSE 0 END = 1 ORDER BY"
    ));
}
