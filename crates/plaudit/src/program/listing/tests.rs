use proptest::prelude::*;

use super::*;
use crate::http::page::{Filter, ListSpec};
use crate::program::seasons::{Season, Status};
use crate::text::{Locale, Timestamp};

const SPEC: ListSpec = ListSpec::new(&[Filter::deleted(), Filter::archived()], &["name", "number", "updated"]);

fn query(raw: &str) -> ListQuery {
    ListQuery::parse(Some(raw), &SPEC).unwrap()
}

fn slug(number: usize) -> Slug {
    let digits = number.to_string();
    let letters: String = digits.bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
    Slug::parse(&format!("{letters:A>8}")).unwrap()
}

fn season(number: usize, name: &str, updated: i64) -> Record<Season> {
    let time = Timestamp::from_seconds(updated);
    let name = Translated::of(Locale::EnGb, name);
    let value = Season { slug: slug(number), name, status: Status::Draft, created: time, updated: time };
    Record { value, revision: 1, deleted: false }
}

fn key(season: &Season, order: &'static str) -> SortKey {
    match order {
        "name" => SortKey::Text(season.name.in_locale(Locale::EnGb).to_owned()),
        "number" if season.created.as_seconds() == 0 => SortKey::Absent,
        "number" => SortKey::Integer(season.created.as_seconds()),
        _ => SortKey::Integer(season.updated.as_microseconds()),
    }
}

fn document(_: &Record<Season>) -> String {
    String::new()
}

fn page<'a>(records: &'a [Record<Season>], query: &'a ListQuery) -> Result<Page<'a, Season>, ApiError> {
    Page::of(&Listing { path: "/season", query, records: records.iter().collect(), key: &key, document: &document })
}

fn shown(records: &[Record<Season>], raw: &str) -> Vec<Slug> {
    page(records, &query(raw)).unwrap().records.iter().map(|record| record.value.slug).collect()
}

fn slugs(numbers: &[usize]) -> Vec<Slug> {
    numbers.iter().map(|number| slug(*number)).collect()
}

#[test]
fn the_latest_change_comes_first_and_equal_times_go_by_slug() {
    let records = [season(1, "b", 5), season(2, "a", 5), season(3, "C", 7)];
    assert_eq!(shown(&records, ""), slugs(&[3, 1, 2]));
    assert_eq!(shown(&records, "dir=asc"), slugs(&[1, 2, 3]));
    assert_eq!(shown(&records, "order=updated&dir=desc"), slugs(&[3, 1, 2]));
    assert_eq!(shown(&records, "order=updated"), slugs(&[1, 2, 3]));
}

#[test]
fn texts_go_by_code_points_after_case_folding() {
    let records = [season(1, "straße", 1), season(2, "STRASSE", 1), season(3, "Émile", 1), season(4, "zoo", 1)];
    assert_eq!(shown(&records, "order=name"), slugs(&[1, 2, 4, 3]));
    assert_eq!(shown(&records, "order=name&dir=desc"), slugs(&[3, 4, 1, 2]));
}

#[test]
fn what_is_absent_comes_first() {
    let records = [season(1, "", 3), season(2, "", 0), season(3, "", -5)];
    assert_eq!(shown(&records, "order=number"), slugs(&[2, 3, 1]));
    assert_eq!(shown(&records, "order=number&dir=desc"), slugs(&[1, 3, 2]));
}

#[test]
fn the_trash_is_shown_as_asked() {
    for (raw, filter, live, trashed) in [
        ("", "deleted", true, false),
        ("deleted=none", "deleted", true, false),
        ("deleted=only", "deleted", false, true),
        ("deleted=included", "deleted", true, true),
        ("archived=all", "archived", true, true),
        ("archived=only", "archived", false, true),
    ] {
        assert_eq!(is_selected_by_trash(&query(raw), filter, false), live, "{raw}");
        assert_eq!(is_selected_by_trash(&query(raw), filter, true), trashed, "{raw}");
    }
}

#[test]
fn a_cursor_belongs_to_its_list_order_and_direction() {
    let records: Vec<_> = (0..3).map(|number| season(number, "a", 1)).collect();
    let position = page(&records, &query("order=name&per_page=1&cursor=")).unwrap().next_position.unwrap();
    let cursor = |query: &ListQuery| query.cursor_behind(position.clone(), 1);
    let of_walk = cursor(&query("order=name&cursor="));
    assert!(page(&records, &query(&format!("order=name&cursor={of_walk}"))).is_ok());
    for other in ["", "dir=asc", "order=number", "order=name&dir=desc"] {
        assert!(ListQuery::parse(Some(&format!("{other}&cursor={of_walk}")), &SPEC).is_err(), "{other}");
        let forged = cursor(&query(&format!("{other}&cursor=")));
        let error = page(&records, &query(&format!("{other}&cursor={forged}"))).err().unwrap();
        assert_eq!(error.status(), 400, "{other}");
    }
    let elsewhere = Sort { path: "/tax", order: "name", direction: Direction::Ascending };
    assert_eq!(elsewhere.place(&position), None);
}

#[test]
fn a_walk_goes_on_when_the_record_at_its_place_has_gone() {
    let mut records: Vec<_> = (0..5).map(|number| season(number, "a", 1)).collect();
    let position = page(&records, &query("order=name&per_page=2&cursor=")).unwrap().next_position.unwrap();
    let cursor = query("order=name&per_page=2&cursor=").cursor_behind(position, 2);
    records.remove(1);
    records.remove(0);
    assert_eq!(shown(&records, &format!("order=name&per_page=2&cursor={cursor}")), slugs(&[2, 3]));
}

#[test]
fn a_position_has_a_bound() {
    let records = [season(1, &"\u{390}".repeat(10_000), 1), season(2, &"\u{390}".repeat(10_001), 1)];
    let position = page(&records, &query("order=name&per_page=1&cursor=")).unwrap().next_position.unwrap();
    assert!(position.len() < 3_000);
    let cursor = query("order=name&cursor=").cursor_behind(position, 1);
    assert!(page(&records, &query(&format!("order=name&cursor={cursor}"))).is_ok());
}

proptest! {
    #[test]
    fn pages_and_walks_show_every_record_once_and_in_order(
        seasons in proptest::collection::vec(("[aBß]{0,2}", 0_i64..3), 0..30),
        order in proptest::sample::select(vec!["order=name", "order=number", "order=updated", "order=other"]),
        direction in proptest::sample::select(vec!["", "&dir=asc", "&dir=desc"]),
        per_page in 1_usize..12,
    ) {
        let records: Vec<_> =
            seasons.iter().enumerate().map(|(number, (name, time))| season(number, name, *time)).collect();
        let raw = format!("{order}{direction}");
        let whole = shown(&records, &format!("{raw}&per_page=100"));
        let mut all = whole.clone();
        all.sort();
        prop_assert_eq!(all, records.iter().map(|record| record.value.slug).collect::<Vec<_>>());
        let pages = (1..=seasons.len() / per_page + 2)
            .flat_map(|page| shown(&records, &format!("{raw}&per_page={per_page}&page={page}")));
        prop_assert_eq!(pages.collect::<Vec<_>>(), whole.clone());
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let query = query(&format!("{raw}&per_page={per_page}&cursor={cursor}"));
            let page = page(&records, &query).unwrap();
            prop_assert_eq!(page.total, records.len() as u64);
            walked.extend(page.records.iter().map(|record| record.value.slug));
            match page.next_position {
                Some(position) => cursor = query.cursor_behind(position, walked.len() as u64),
                None => break,
            }
        }
        prop_assert_eq!(walked, whole);
    }
}
