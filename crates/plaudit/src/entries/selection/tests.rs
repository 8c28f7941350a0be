use super::*;
use crate::http::page::ListQuery;
use crate::program::testing;

fn selection(query: &str) -> Selection {
    Selection::of(&ListQuery::parse(Some(query), &SPEC).unwrap(), &testing::program(&[]))
}

#[test]
fn what_is_left_out_restricts_nothing_but_season_archive_and_trash() {
    let plain = selection("");
    assert_eq!((plain.archived, plain.deleted), (Some(false), Some(false)));
    assert!(plain.is_counted());
    let every = selection("season=all&archived=all&deleted=included");
    assert_eq!(every, Selection::default());
    let only = selection("season=all&archived=only&deleted=only");
    assert_eq!((only.archived, only.deleted), (Some(true), Some(true)));
}

#[test]
fn what_is_searched_for_is_not_counted() {
    for query in ["entrant=UserAAAA", "price=PriceAAA", "tag=red", "title=x", "updated_at[on]=2026-01-31"] {
        assert!(!selection(query).is_counted(), "{query}");
    }
    let counted = "category=CategAAA&chapter=ChapteAA&form=FormAAAA&status=submitted&moderation=approved&\
                   payment_status=awaiting_payment&review_status=x";
    let selection = selection(counted);
    assert!(selection.is_counted());
    assert_eq!((selection.status, selection.payment), (Some(Status::Submitted), Some(Payment::Unpaid)));
}

#[test]
fn a_range_of_times_is_one_of_sort_keys_turned_around() {
    let range = |query: &str| selection(query).recency.unwrap();
    let day = 86_400_000_000;
    assert_eq!(range("updated_at[on]=1970-01-02"), (1 - 2 * day, -day));
    assert_eq!(range("updated_at[before]=1970-01-02"), (1 - day, i64::MAX));
    assert_eq!(range("updated_at[after]=1970-01-01"), (-i64::MAX, -day));
}

#[test]
fn a_position_is_read_back_by_its_own_sort_alone() {
    let slug = Slug::parse("EntryAAA").unwrap();
    let sort = |query: &str| Sort::of(&ListQuery::parse(Some(query), &SPEC).unwrap());
    let sorts: Vec<Sort> = [
        "",
        "dir=asc",
        "order=updated",
        "order=title",
        "order=title&dir=desc",
        "order=applicant",
        "order=local_id",
        "order=category",
        "order=parent_category",
        "order=chapter",
        "order=chapter&dir=desc",
    ]
    .map(sort)
    .to_vec();
    assert_eq!(sorts[1], sorts[2], "a sort that is named begins with the smallest");
    for (at, sort) in sorts.iter().enumerate() {
        let group = (sort.grouping != Grouping::None).then_some(slug);
        let key = if sort.column.is_text() { Key::Text("é".into()) } else { Key::Integer(-5) };
        let place = Position { key, slug };
        let position = sort.position(group, &place);
        assert_eq!(sort.place(&position), Some((group, place)));
        for (other, held) in sorts.iter().enumerate() {
            assert!(other == at || held == sort || held.place(&position).is_none(), "{held:?} {sort:?}");
        }
        for length in 0..18 {
            assert_eq!(sort.place(&position[..length]), None);
        }
    }
}
