//! Plans of pages: which stretches of which indexes a page is made of. Pure.

use std::collections::HashMap;

use super::selection::{Group, Selection, Sort};
use crate::http::page::anchors::{Anchors, Place};
use crate::text::Slug;

/// Up to how many entries a selection is gathered whole and sorted, instead of being looked for in the index of its sort.
pub(super) const NARROW: u64 = 1_000;
/// From how many entries to pass over a page begins at an anchor.
pub(super) const DEEP: u64 = 256;

/// How many entries each group and season of a selection has. A list of one group tells its seasons, another one its groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// By season or by group.
    pub by: HashMap<Slug, u64>,
}

impl Totals {
    /// All of them.
    #[must_use]
    pub(super) fn sum(&self) -> u64 {
        self.by.values().sum()
    }

    /// About how much memory they take.
    #[must_use]
    pub(super) fn bytes(&self) -> usize {
        64 + self.by.capacity() * 24
    }

    /// Those of a group.
    #[must_use]
    pub(super) fn of(&self, group: Group) -> u64 {
        group.map_or_else(|| self.sum(), |group| self.by.get(&group).copied().unwrap_or(0))
    }
}

/// A list in its order.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    /// What it selects.
    pub selection: Selection,
    /// How it is sorted.
    pub sort: Sort,
    /// Its groups in its order.
    pub groups: Vec<Group>,
}

/// Which entries a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those after so many.
    After(u64),
    /// Those after a place of a group.
    Place(Group, Place),
}

/// Where the entries of a part begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The place.
    pub place: Place,
    /// Whether an entry at the place itself belongs to the part.
    pub is_included: bool,
}

/// A stretch of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of the group in the list.
    pub number: usize,
    /// The group.
    pub group: Group,
    /// Where to begin; at the beginning of the group where it is left out.
    pub start: Option<Start>,
    /// How many entries to pass over from there.
    pub offset: u64,
    /// How many entries to take.
    pub limit: u64,
    /// The rank of the first one in the ascending order of the group, where it is known.
    pub rank: Option<u64>,
}

impl Listing {
    /// The parts of a page of `limit` entries.
    #[must_use]
    pub(super) fn parts(&self, totals: &Totals, wanted: &Wanted, limit: u64) -> Vec<Part> {
        match wanted {
            Wanted::After(offset) => self.page(totals, *offset, limit),
            Wanted::Place(group, place) => self.page_after(totals, *group, place, limit),
        }
    }

    fn page(&self, totals: &Totals, mut offset: u64, mut limit: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let total = totals.of(*group);
            if offset >= total {
                offset -= total;
                continue;
            }
            let taken = limit.min(total - offset);
            let rank = if self.sort.is_reversed { total - 1 - offset } else { offset };
            parts.push(Part { number, group: *group, start: None, offset, limit: taken, rank: Some(rank) });
            limit -= taken;
            offset = 0;
            if limit == 0 {
                break;
            }
        }
        parts
    }

    fn page_after(&self, totals: &Totals, group: Group, place: &Place, limit: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut following = 0;
        let first = self.groups.iter().position(|held| *held == group).unwrap_or(self.groups.len());
        for (number, group) in self.groups.iter().enumerate().skip(first) {
            let total = totals.of(*group);
            if total == 0 {
                continue;
            }
            let start = (number == first).then(|| Start { place: place.clone(), is_included: false });
            if start.is_none() {
                following += total;
            }
            parts.push(Part { number, group: *group, start, offset: 0, limit, rank: None });
            if following >= limit {
                break;
            }
        }
        parts
    }

    /// Lets a part begin at the nearest anchor before it.
    pub(super) fn anchor(&self, part: &mut Part, anchors: &Anchors) {
        let Some(rank) = part.rank.filter(|_| part.start.is_none()) else { return };
        let (anchor, offset) = if self.sort.is_reversed {
            // What lies before the anchor's place is read backwards, beginning with the rank below the anchor's.
            let Some(anchor) = anchors.after(rank) else { return };
            (anchor, anchor.0 - 1 - rank)
        } else {
            let Some(anchor) = anchors.at_or_before(rank) else { return };
            (anchor, rank - anchor.0)
        };
        if offset < part.offset {
            part.offset = offset;
            part.start = Some(Start { place: anchor.1.clone(), is_included: !self.sort.is_reversed });
        }
    }
}

impl Part {
    /// Whether so much has to be passed over that anchors are worth their building.
    #[must_use]
    pub(super) fn is_deep(&self) -> bool {
        self.offset > DEEP && self.rank.is_some()
    }
}

#[cfg(test)]
mod tests;
