//! Plans of pages: which stretches of which indexes a page is made of. Pure.

use super::record::PaymentStatus;
use super::segments::{Counts, Segment, Selection};
use crate::http::page::anchors::{Anchors, Key, Place, STRIDE};
use crate::text::Slug;

/// A column that an index sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// The time of the last change, the newest first.
    Recency,
    /// The time of creation.
    CreatedAt,
    /// The invoice number, by its sort key.
    InvoiceNumber,
    /// The payment method.
    PaymentMethod,
    /// The total, whatever the currency.
    Total,
}

impl Column {
    /// Whether its values are texts.
    #[must_use]
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::InvoiceNumber | Self::PaymentMethod)
    }
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    /// A column.
    Column(Column),
    /// The name of the season.
    Season,
    /// The payment status.
    PaymentStatus,
}

impl Sort {
    /// The sort of a value of `order`; the default sort where it has no name.
    #[must_use]
    pub(super) fn named(name: &str) -> Self {
        match name {
            "created_at" => Self::Column(Column::CreatedAt),
            "invoice_number" => Self::Column(Column::InvoiceNumber),
            "payment_method" => Self::Column(Column::PaymentMethod),
            "total" => Self::Column(Column::Total),
            "payment_status" => Self::PaymentStatus,
            "season" => Self::Season,
            _ => Self::Column(Column::Recency),
        }
    }

    fn letter(self) -> u8 {
        match self {
            Self::Column(Column::Recency) => b'u',
            Self::Column(Column::CreatedAt) => b'c',
            Self::Column(Column::InvoiceNumber) => b'i',
            Self::Column(Column::PaymentMethod) => b'm',
            Self::Column(Column::Total) => b't',
            Self::Season => b's',
            Self::PaymentStatus => b'p',
        }
    }
}

/// A list in its order: groups one after the other, each sorted by one column and the slug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    /// The groups in the order of the list.
    pub groups: Vec<Selection>,
    /// The column within each group.
    pub column: Column,
    /// Whether the list runs against the order of its indexes.
    pub is_reversed: bool,
    sort: Sort,
}

/// Where the orders of a part begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The place.
    pub place: Place,
    /// Whether an order at the place itself belongs to the part.
    pub is_included: bool,
}

/// A stretch of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of the group.
    pub group: usize,
    /// The seasons and segments of the group that have orders.
    pub pairs: Vec<(Slug, Segment)>,
    /// Where to begin; at the beginning of the group where it is left out.
    pub start: Option<Start>,
    /// How many orders to pass over from there.
    pub offset: u64,
    /// How many orders to take.
    pub limit: u64,
    /// The rank of the first one in the ascending order of the group, where it is known.
    pub rank: Option<u64>,
}

impl Listing {
    /// The list of a selection; `seasons` are all seasons by name.
    #[must_use]
    pub(super) fn new(selection: Selection, sort: Sort, is_reversed: bool, seasons: &[Slug]) -> Self {
        let mut groups: Vec<Selection> = match sort {
            Sort::Column(_) => vec![selection],
            Sort::PaymentStatus => [PaymentStatus::AwaitingPayment, PaymentStatus::Paid]
                .map(|status| Selection { segments: selection.segments.with_status(status), ..selection })
                .into(),
            Sort::Season => seasons
                .iter()
                .filter(|season| selection.season.is_none_or(|selected| selected == **season))
                .map(|season| Selection { season: Some(*season), ..selection })
                .collect(),
        };
        if is_reversed {
            groups.reverse();
        }
        let column = match sort {
            Sort::Column(column) => column,
            _ => Column::Recency,
        };
        Self { groups, column, is_reversed, sort }
    }

    /// A list without orders.
    #[must_use]
    pub(super) fn empty(sort: Sort, is_reversed: bool) -> Self {
        Self { groups: Vec::new(), column: Column::Recency, is_reversed, sort }
    }

    /// How many orders the list has.
    #[must_use]
    pub(super) fn total(&self, counts: &Counts) -> u64 {
        self.groups.iter().map(|group| counts.total(group)).sum()
    }

    /// The parts of a page of `limit` orders after `offset` orders.
    #[must_use]
    pub(super) fn page(&self, counts: &Counts, mut offset: u64, mut limit: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            let total = counts.total(group);
            if offset >= total {
                offset -= total;
                continue;
            }
            let taken = limit.min(total - offset);
            let rank = if self.is_reversed { total - 1 - offset } else { offset };
            let pairs = counts.pairs(group);
            parts.push(Part { group: index, pairs, start: None, offset, limit: taken, rank: Some(rank) });
            limit -= taken;
            offset = 0;
            if limit == 0 {
                break;
            }
        }
        parts
    }

    /// The parts of a page of `limit` orders after a place of a group.
    #[must_use]
    pub(super) fn page_after(&self, counts: &Counts, group: usize, place: Place, limit: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut following = 0;
        let mut start = Some(Start { place, is_included: false });
        for (index, selection) in self.groups.iter().enumerate().skip(group) {
            let is_first = start.is_some();
            let pairs = counts.pairs(selection);
            if !pairs.is_empty() {
                parts.push(Part { group: index, pairs, start: start.take(), offset: 0, limit, rank: None });
            }
            start = None;
            if !is_first {
                following += counts.total(selection);
            }
            if following >= limit {
                break;
            }
        }
        parts
    }

    /// Lets a part begin at the nearest anchor before it.
    pub(super) fn anchor(&self, part: &mut Part, anchors: &Anchors) {
        let Some(rank) = part.rank.filter(|_| part.start.is_none()) else { return };
        let (anchor, offset) = if self.is_reversed {
            // What lies before the anchor's place is read backwards, beginning with the rank below the anchor's.
            let Some(anchor) = anchors.after(rank) else { return };
            (anchor, anchor.0 - 1 - rank)
        } else {
            let Some(anchor) = anchors.at_or_before(rank) else { return };
            (anchor, rank - anchor.0)
        };
        if offset < part.offset {
            part.offset = offset;
            part.start = Some(Start { place: anchor.1.clone(), is_included: !self.is_reversed });
        }
    }

    /// The position of an order for a cursor.
    #[must_use]
    pub(super) fn position(&self, group: usize, place: &Place) -> Vec<u8> {
        let mut position = vec![self.sort.letter(), u8::from(self.is_reversed)];
        position.extend_from_slice(&self.identity(group));
        position.extend_from_slice(place.slug.as_bytes());
        match &place.key {
            Key::Integer(integer) => position.extend_from_slice(&integer.to_be_bytes()),
            Key::Text(text) => position.extend_from_slice(text.as_bytes()),
        }
        position
    }

    /// The group and place of a cursor's position; nothing where it is none of this list.
    #[must_use]
    pub(super) fn place(&self, position: &[u8]) -> Option<(usize, Place)> {
        let rest = position.strip_prefix(&[self.sort.letter(), u8::from(self.is_reversed)])?;
        let (identity, rest) = rest.split_first_chunk::<8>()?;
        let (slug, key) = rest.split_first_chunk::<8>()?;
        let group = (0..self.groups.len()).find(|group| self.identity(*group) == *identity)?;
        let key = if self.column.is_text() {
            Key::Text(std::str::from_utf8(key).ok()?.into())
        } else {
            Key::Integer(i64::from_be_bytes(key.try_into().ok()?))
        };
        // PostgreSQL has no text with this character in it.
        let is_sound = !matches!(&key, Key::Text(text) if text.contains('\0'));
        is_sound.then_some((group, Place { key, slug: Slug::from_letters(*slug)? }))
    }

    /// What tells the groups of a list apart.
    fn identity(&self, group: usize) -> [u8; 8] {
        match (self.sort, self.groups.get(group)) {
            (Sort::Season, Some(Selection { season: Some(season), .. })) => *season.as_bytes(),
            (Sort::PaymentStatus, _) if (group == 0) != self.is_reversed => *b"awaiting",
            (Sort::PaymentStatus, _) => *b"paid    ",
            _ => [0; 8],
        }
    }
}

impl Part {
    /// Whether so much has to be passed over that anchors are worth their building.
    #[must_use]
    pub(super) fn is_deep(&self) -> bool {
        self.offset > 2 * STRIDE && self.rank.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::orders::segments::Segments;

    const SEASONS: [&str; 3] = ["SeasonAA", "SeasonBB", "SeasonCC"];
    const SORTS: [Sort; 3] = [Sort::Column(Column::Total), Sort::Season, Sort::PaymentStatus];

    fn slug(text: &str) -> Slug {
        Slug::parse(text).unwrap()
    }

    fn order(number: usize) -> Place {
        let letter = |shift: usize| b'a' + u8::try_from(number / shift % 26).unwrap();
        let letters = [b'O', b'r', b'd', b'e', b'r', letter(676), letter(26), letter(1)];
        Place { key: Key::Integer(i64::try_from(number % 17).unwrap()), slug: Slug::from_letters(letters).unwrap() }
    }

    /// The orders of a part, read as the statement reads them.
    fn read(listing: &Listing, part: &Part, orders: &[(Slug, Segment, Place)]) -> Vec<Place> {
        let mut rows: Vec<Place> = orders
            .iter()
            .filter(|(season, segment, _)| part.pairs.contains(&(*season, *segment)))
            .map(|(_, _, place)| place.clone())
            .collect();
        rows.sort();
        if listing.is_reversed {
            rows.reverse();
        }
        rows.retain(|place| match &part.start {
            None => true,
            Some(start) if start.is_included && *place == start.place => true,
            Some(start) if listing.is_reversed => *place < start.place,
            Some(start) => *place > start.place,
        });
        let whole = |count: u64| usize::try_from(count).unwrap();
        rows.into_iter().skip(whole(part.offset)).take(whole(part.limit)).collect()
    }

    proptest! {
        #[test]
        fn pages_and_walks_show_every_order_once_and_in_order(
            kinds in proptest::collection::vec((0_usize..3, 0_i64..8), 0..700),
            sort in 0_usize..3,
            is_reversed: bool,
            is_anchored: bool,
            per_page in 1_u64..101,
            season in proptest::option::of(0_usize..3),
        ) {
            let orders: Vec<(Slug, Segment, Place)> = kinds
                .iter()
                .enumerate()
                .map(|(number, (season, segment))| (slug(SEASONS[*season]), Segment::from_number(*segment).unwrap(), order(number)))
                .collect();
            let mut counts = Counts::default();
            for (season, segment, _) in &orders {
                prop_assert!(counts.change(*season, *segment, true));
            }
            let selection = Selection {
                season: season.map(|season| slug(SEASONS[season])),
                segments: Segments::matching(None, None, None),
            };
            let listing = Listing::new(selection, SORTS[sort], is_reversed, &SEASONS.map(slug));
            let whole = Part { group: 0, pairs: Vec::new(), start: None, offset: 0, limit: u64::MAX >> 1, rank: None };
            let expected: Vec<Place> = listing
                .groups
                .iter()
                .flat_map(|group| read(&listing, &Part { pairs: counts.pairs(group), ..whole.clone() }, &orders))
                .collect();
            prop_assert_eq!(listing.total(&counts), expected.len() as u64);

            let anchors: Vec<Anchors> = listing.groups.iter().map(|group| {
                let mut rows: Vec<_> = orders.iter().filter(|(season, segment, _)| group.contains(*season, *segment)).collect();
                rows.sort_by(|one, other| one.2.cmp(&other.2));
                let mut anchors = Anchors::default();
                for row in rows {
                    anchors.push(|| Ok::<_, ()>(row.2.clone())).unwrap();
                }
                anchors
            }).collect();
            let mut shown = Vec::new();
            for page in 0..=listing.total(&counts) / per_page {
                for mut part in listing.page(&counts, page * per_page, per_page) {
                    if is_anchored {
                        let anchors = &anchors[part.group];
                        listing.anchor(&mut part, anchors);
                        prop_assert!(part.offset < STRIDE);
                    }
                    shown.extend(read(&listing, &part, &orders));
                }
            }
            prop_assert_eq!(&shown, &expected);

            let mut walked: Vec<Place> = Vec::new();
            let mut parts = listing.page(&counts, 0, per_page);
            loop {
                let rows: Vec<(usize, Place)> = parts
                    .iter()
                    .flat_map(|part| read(&listing, part, &orders).into_iter().map(|place| (part.group, place)))
                    .take(usize::try_from(per_page).unwrap())
                    .collect();
                let Some((group, last)) = rows.last().cloned() else { break };
                walked.extend(rows.into_iter().map(|(_, place)| place));
                let position = listing.position(group, &last);
                prop_assert_eq!(listing.place(&position), Some((group, last.clone())));
                parts = listing.page_after(&counts, group, last, per_page);
            }
            prop_assert_eq!(&walked, &expected);
        }
    }
}
