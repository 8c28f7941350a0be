use proptest::prelude::*;

use super::*;
use crate::entries::selection::{Column, Grouping};
use crate::http::page::anchors::{Key, STRIDE};

const GROUPS: [&str; 3] = ["GroupAAA", "GroupBBB", "GroupCCC"];

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn place(number: usize) -> Place {
    let letter = |shift: usize| b'a' + u8::try_from(number / shift % 26).unwrap();
    let letters = [b'E', b'n', b't', b'r', b'y', letter(676), letter(26), letter(1)];
    Place { key: Key::Integer(i64::try_from(number % 17).unwrap()), slug: Slug::from_letters(letters).unwrap() }
}

/// The entries of a part, read as the statement reads them.
fn read(listing: &Listing, part: &Part, entries: &[(Slug, Place)]) -> Vec<Place> {
    let is_there = |group: &Slug| part.group.is_none_or(|wanted| wanted == *group);
    let mut rows: Vec<Place> =
        entries.iter().filter(|(group, _)| is_there(group)).map(|(_, place)| place.clone()).collect();
    rows.sort();
    if listing.sort.is_reversed {
        rows.reverse();
    }
    rows.retain(|place| match &part.start {
        None => true,
        Some(start) if start.is_included && *place == start.place => true,
        Some(start) if listing.sort.is_reversed => *place < start.place,
        Some(start) => *place > start.place,
    });
    let whole = |count: u64| usize::try_from(count).unwrap();
    rows.into_iter().skip(whole(part.offset)).take(whole(part.limit)).collect()
}

proptest! {
    #[test]
    fn pages_and_walks_show_every_entry_once_and_in_order(
        kinds in proptest::collection::vec(0_usize..3, 0..700),
        is_grouped: bool,
        is_reversed: bool,
        is_anchored: bool,
        per_page in 1_u64..101,
    ) {
        let entries: Vec<(Slug, Place)> =
            kinds.iter().enumerate().map(|(number, group)| (slug(GROUPS[*group]), place(number))).collect();
        let mut totals = Totals::default();
        for (group, _) in &entries {
            *totals.by.entry(*group).or_default() += 1;
        }
        let grouping = if is_grouped { Grouping::Category } else { Grouping::None };
        let sort = Sort { grouping, column: Column::LocalId, is_reversed };
        let mut groups = if is_grouped { GROUPS.map(|group| Some(slug(group))).to_vec() } else { vec![None] };
        if is_reversed {
            groups.reverse();
        }
        let listing = Listing { selection: Selection::default(), sort, groups };
        let whole = Part { number: 0, group: None, start: None, offset: 0, limit: u64::MAX >> 1, rank: None };
        let of = |group: &Group| read(&listing, &Part { group: *group, ..whole.clone() }, &entries);
        let expected: Vec<Place> = listing.groups.iter().flat_map(of).collect();
        prop_assert_eq!(totals.sum(), expected.len() as u64);

        let anchors: Vec<Anchors> = listing.groups.iter().map(|group| {
            let mut rows = of(group);
            rows.sort();
            let mut anchors = Anchors::default();
            for row in rows {
                anchors.push(|| Ok::<_, ()>(row)).unwrap();
            }
            anchors
        }).collect();
        let mut shown = Vec::new();
        for page in 0..=totals.sum() / per_page {
            for mut part in listing.parts(&totals, &Wanted::After(page * per_page), per_page) {
                if is_anchored {
                    let number = part.number;
                    listing.anchor(&mut part, &anchors[number]);
                    prop_assert!(part.offset < STRIDE);
                }
                shown.extend(read(&listing, &part, &entries));
            }
        }
        prop_assert_eq!(&shown, &expected);

        let mut walked: Vec<Place> = Vec::new();
        let mut parts = listing.parts(&totals, &Wanted::After(0), per_page);
        loop {
            let rows: Vec<(Group, Place)> = parts
                .iter()
                .flat_map(|part| read(&listing, part, &entries).into_iter().map(|place| (part.group, place)))
                .take(usize::try_from(per_page).unwrap())
                .collect();
            let Some((group, last)) = rows.last().cloned() else { break };
            walked.extend(rows.into_iter().map(|(_, place)| place));
            let position = sort.position(group, &last);
            prop_assert_eq!(sort.place(&position), Some((group, last.clone())));
            parts = listing.parts(&totals, &Wanted::Place(group, last), per_page);
        }
        prop_assert_eq!(&walked, &expected);
    }
}

#[test]
fn a_walk_goes_on_with_the_next_group_where_its_own_has_become_empty() {
    let sort = Sort { grouping: Grouping::Chapter, column: Column::LocalId, is_reversed: false };
    let listing =
        Listing { selection: Selection::default(), sort, groups: GROUPS.map(|group| Some(slug(group))).to_vec() };
    let totals = Totals { by: [(slug("GroupAAA"), 4), (slug("GroupCCC"), 2)].into() };
    let parts = listing.parts(&totals, &Wanted::Place(Some(slug("GroupBBB")), place(3)), 10);
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].number, &parts[0].start), (2, &None));
    assert_eq!(listing.parts(&totals, &Wanted::Place(Some(slug("Elsewher")), place(3)), 10), []);
}
