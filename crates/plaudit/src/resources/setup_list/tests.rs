use proptest::prelude::*;

use crate::lists::page::{Direction, Filter, Narrow};
use crate::lists::position;
use crate::program::seasons::{Season, Status};
use crate::program::testing;
use crate::resources::setup_list::*;
use kernel::kind::Kind;
use kernel::text::Locale;

const FILTERS: &[Filter] =
    &[Filter::deleted().by(Narrow::Lifecycle("deleted")), Filter::archived().by(Narrow::Lifecycle("archived"))];
const CELLS: &[(&str, Of<Season>); 5] = &[
    ("archived", Of::Flag(|season| season.status == Status::Archived)),
    ("deleted", Of::Deleted),
    ("name", Of::Text(|season, _| Some(season.name.in_locale(Locale::EnGb).to_owned()).filter(|name| name != "-"))),
    ("number", Of::Number(|season, _| Some(season.created.as_seconds()).filter(|time| *time != 0).unwrap_or(i64::MIN))),
    ("updated", Of::Time(|season| season.updated)),
];
static LIST: SetupList<Season> = SetupList {
    spec: ListSpec::new(FILTERS, &["entries", "name", "number", "slug", "updated"]),
    cells: CELLS,
    columns: &columns(CELLS),
};

fn query(raw: &str) -> ListQuery {
    ListQuery::parse(Some(raw), &LIST.spec).unwrap()
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

fn program(records: &[Record<Season>]) -> Program {
    let mut program = testing::program(&[]);
    for record in records {
        program.seasons.insert(record.value.slug, record.clone());
    }
    program
}

fn page(program: &Program, query: &ListQuery) -> Result<Page, ApiError> {
    Page::of(program, (&LIST, query), None, Vec::new())
}

/// The position behind the last record of a page where others follow.
fn position_behind(page: &Page) -> Option<Vec<u8>> {
    let last = page.last.as_ref().zip(page.slugs.last()).filter(|_| page.has_more);
    last.map(|(key, slug)| position(key, slug.as_str()))
}

fn shown_of(program: &Program, raw: &str) -> Vec<Slug> {
    page(program, &query(raw)).unwrap().slugs
}

fn shown(records: &[Record<Season>], raw: &str) -> Vec<Slug> {
    shown_of(&program(records), raw)
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
fn an_absent_text_comes_before_an_empty_one() {
    let records = [season(1, "", 1), season(2, "-", 1), season(3, "", 1), season(4, "a", 1)];
    assert_eq!(shown(&records, "order=name"), slugs(&[2, 1, 3, 4]));
    assert_eq!(shown(&records, "order=name&dir=desc"), slugs(&[4, 1, 3, 2]));
}

#[test]
fn an_order_without_a_column_goes_by_slug_in_both_directions() {
    let records = [season(2, "a", 5), season(1, "b", 9), season(3, "c", 7)];
    assert_eq!(shown(&records, "order=slug"), slugs(&[1, 2, 3]));
    assert_eq!(shown(&records, "order=slug&dir=desc"), slugs(&[1, 2, 3]));
}

#[test]
fn numbers_that_are_told_are_sorted_by_value() {
    let program = program(&[season(1, "", 1), season(2, "", 1), season(3, "", 1), season(4, "", 1)]);
    for (of, raw, expected) in [
        ([(slug(1), 10), (slug(3), 9)], "order=entries", [2, 4, 3, 1]),
        ([(slug(1), 10), (slug(3), 9)], "order=entries&dir=desc", [1, 3, 2, 4]),
        ([(slug(1), 0), (slug(2), 1)], "order=entries", [1, 3, 4, 2]),
    ] {
        let counts = Counts { order: "entries", of: HashMap::from(of) };
        assert_eq!(
            Page::of(&program, (&LIST, &query(raw)), Some(&counts), Vec::new()).unwrap().slugs,
            slugs(&expected),
            "{raw}"
        );
    }
}

#[test]
fn the_trash_is_shown_as_asked() {
    let trashed = Record { deleted: true, ..season(2, "a", 1) };
    let mut archived = season(3, "a", 1);
    archived.value.status = Status::Archived;
    let records = [season(1, "a", 1), trashed, archived];
    for (raw, expected) in [
        ("", &[1][..]),
        ("deleted=none", &[1]),
        ("deleted=only", &[2]),
        ("deleted=included", &[1, 2]),
        ("archived=all", &[1, 3]),
        ("archived=only", &[3]),
        ("archived=all&deleted=included", &[1, 2, 3]),
    ] {
        assert_eq!(shown(&records, raw), slugs(expected), "{raw}");
    }
}

#[test]
fn a_copy_of_a_program_and_one_to_which_a_record_was_added_have_views_of_their_own() {
    let mut program = program(&[season(1, "b", 1), season(2, "a", 1)]);
    assert_eq!(shown_of(&program, "order=name"), slugs(&[2, 1]));
    let mut copy = program.clone();
    copy.seasons.insert(slug(3), season(3, "c", 1));
    assert_eq!(shown_of(&copy, "order=name"), slugs(&[2, 1, 3]));
    let doc = format!(r#"{{"slug":"{}","name":{{"en_GB":"0"}},"status":"draft"}}"#, slug(4));
    program.add(Kind::Season, &Record { value: doc.as_str(), revision: 2, deleted: false }).unwrap();
    assert_eq!(shown_of(&program, "order=name"), slugs(&[4, 2, 1]));
}

#[test]
fn a_cursor_belongs_to_its_list_order_and_direction() {
    let program = program(&[season(0, "a", 1), season(1, "a", 1), season(2, "a", 1)]);
    let position = position_behind(&page(&program, &query("order=name&per_page=1&cursor=")).unwrap()).unwrap();
    let cursor = |query: &ListQuery| query.cursor_behind(position.clone(), 1);
    let of_walk = cursor(&query("order=name&cursor="));
    assert!(page(&program, &query(&format!("order=name&cursor={of_walk}"))).is_ok());
    for other in ["", "dir=asc", "order=number", "order=slug", "order=name&dir=desc", "order=name&deleted=only"] {
        assert!(ListQuery::parse(Some(&format!("{other}&cursor={of_walk}")), &LIST.spec).is_err(), "{other}");
    }
    for other in ["", "dir=asc", "order=number", "order=slug"] {
        let forged = cursor(&query(&format!("{other}&cursor=")));
        let error = page(&program, &query(&format!("{other}&cursor={forged}"))).err().unwrap();
        assert_eq!(error.status(), 400, "{other}");
    }
}

#[test]
fn a_walk_goes_on_when_the_record_at_its_place_has_gone() {
    let mut records: Vec<_> = (0..5).map(|number| season(number, "a", 1)).collect();
    let position =
        position_behind(&page(&program(&records), &query("order=name&per_page=2&cursor=")).unwrap()).unwrap();
    let cursor = query("order=name&per_page=2&cursor=").cursor_behind(position, 2);
    records.remove(1);
    records.remove(0);
    assert_eq!(shown(&records, &format!("order=name&per_page=2&cursor={cursor}")), slugs(&[2, 3]));
}

#[test]
fn a_position_has_a_bound() {
    let records = [season(1, &"\u{390}".repeat(10_000), 1), season(2, &"\u{390}".repeat(10_001), 1)];
    let program = program(&records);
    let position = position_behind(&page(&program, &query("order=name&per_page=1&cursor=")).unwrap()).unwrap();
    assert!(position.len() < 3_000);
    let cursor = query("order=name&cursor=").cursor_behind(position, 1);
    assert!(page(&program, &query(&format!("order=name&cursor={cursor}"))).is_ok());
}

/// What a list is, sorted by hand.
fn expected(records: &[Record<Season>], query: &ListQuery) -> Vec<Slug> {
    let key = |season: &Season| match query.order {
        Order::Named("name") => {
            let name = season.name.in_locale(Locale::EnGb);
            (i64::from(name != "-"), Some(folded(name)).filter(|_| name != "-"))
        }
        Order::Named("number") if season.created.as_seconds() == 0 => (i64::MIN, None),
        Order::Named("number") => (season.created.as_seconds(), None),
        Order::Named("slug") => (0, None),
        _ => (season.updated.as_microseconds(), None),
    };
    let mut sorted: Vec<&Season> = records.iter().map(|record| &record.value).collect();
    sorted.sort_by(|one, other| {
        let by_key = key(one).cmp(&key(other));
        let by_key = if query.direction == Direction::Descending { by_key.reverse() } else { by_key };
        by_key.then(one.slug.cmp(&other.slug))
    });
    sorted.iter().map(|season| season.slug).collect()
}

proptest! {
    #[test]
    fn pages_and_walks_show_every_record_once_and_in_order(
        seasons in proptest::collection::vec(("-|[aBß]{0,2}", -1_i64..3), 0..30),
        order in proptest::sample::select(vec!["order=name", "order=number", "order=updated", "order=slug", "order=other"]),
        direction in proptest::sample::select(vec!["", "&dir=asc", "&dir=desc"]),
        per_page in 1_usize..12,
    ) {
        let records: Vec<_> =
            seasons.iter().enumerate().map(|(number, (name, time))| season(number, name, *time)).collect();
        let program = program(&records);
        let raw = format!("{order}{direction}");
        let whole = shown_of(&program, &format!("{raw}&per_page=100"));
        prop_assert_eq!(&whole, &expected(&records, &query(&raw)));
        let pages = (1..=seasons.len() / per_page + 2)
            .flat_map(|page| shown_of(&program, &format!("{raw}&per_page={per_page}&page={page}")));
        prop_assert_eq!(pages.collect::<Vec<_>>(), whole.clone());
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let query = query(&format!("{raw}&per_page={per_page}&cursor={cursor}"));
            let page = page(&program, &query).unwrap();
            prop_assert_eq!(page.total, records.len() as u64);
            walked.extend(page.slugs.iter().copied());
            match position_behind(&page) {
                Some(position) => cursor = query.cursor_behind(position, walked.len() as u64),
                None => break,
            }
        }
        prop_assert_eq!(walked, whole);
    }
}
