//! Segments: what the filters of the list tell orders of one season apart by.
//!
//! An order is in exactly one of eight segments, and how many orders are in each is kept by the transaction that changes
//! an order. A filter is a set of segments, so its total is a sum of few numbers, and its orders are in few stretches of
//! an index.

use std::collections::BTreeMap;

use super::record::{Order, PaymentStatus};
use crate::text::Slug;

/// One of the eight segments: 1 awaiting payment, 2 test, 4 deleted, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(u8);

const AWAITING_PAYMENT: u8 = 1;
const TEST: u8 = 2;
const DELETED: u8 = 4;

impl Segment {
    /// All of them.
    pub const ALL: [Self; 8] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];

    /// The segment of an order.
    #[must_use]
    pub fn of(order: &Order) -> Self {
        let flag = |is_set: bool, bit| if is_set { bit } else { 0 };
        Self(
            flag(order.payment_status == PaymentStatus::AwaitingPayment, AWAITING_PAYMENT)
                | flag(order.test, TEST)
                | flag(order.deleted, DELETED),
        )
    }

    /// The segment of this number.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| *number < 8).map(Self)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether its orders are tests.
    #[must_use]
    pub fn is_test(self) -> bool {
        self.0 & TEST != 0
    }

    /// Whether its orders are in the trash.
    #[must_use]
    pub fn is_deleted(self) -> bool {
        self.0 & DELETED != 0
    }

    /// Whether its orders are paid.
    #[must_use]
    pub fn payment_status(self) -> PaymentStatus {
        if self.0 & AWAITING_PAYMENT == 0 { PaymentStatus::Paid } else { PaymentStatus::AwaitingPayment }
    }
}

/// A set of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Segments(u8);

impl Segments {
    /// The segments that a list shows. `test` and `deleted` are the words of the filters; without one, tests are shown
    /// and what is in the trash is not.
    #[must_use]
    pub(super) fn matching(status: Option<PaymentStatus>, test: Option<&str>, deleted: Option<&str>) -> Self {
        let is_wanted = |segment: &Segment| {
            status.is_none_or(|status| segment.payment_status() == status)
                && match test {
                    Some("only") => segment.is_test(),
                    Some("hide") => !segment.is_test(),
                    _ => true,
                }
                && match deleted {
                    Some("only") => segment.is_deleted(),
                    Some("included") => true,
                    _ => !segment.is_deleted(),
                }
        };
        Self(Segment::ALL.iter().filter(|segment| is_wanted(segment)).fold(0, |set, segment| set | 1 << segment.0))
    }

    /// The segments of the set whose orders have this status.
    #[must_use]
    pub(super) fn with_status(self, status: PaymentStatus) -> Self {
        Self(self.0 & Self::matching(Some(status), None, Some("included")).0)
    }

    /// Whether a segment is in the set.
    #[must_use]
    pub(super) fn contains(self, segment: Segment) -> bool {
        self.0 & 1 << segment.0 != 0
    }
}

/// What a list, or a group of a list, selects: one season's orders or all, of some segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Selection {
    /// The season; every one where it is left out.
    pub season: Option<Slug>,
    /// The segments.
    pub segments: Segments,
}

impl Selection {
    /// Whether an order of this season and segment is selected.
    #[must_use]
    pub(super) fn contains(&self, season: Slug, segment: Segment) -> bool {
        self.season.is_none_or(|selected| selected == season) && self.segments.contains(segment)
    }
}

/// How many orders there are in each season and segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(BTreeMap<Slug, [u64; 8]>);

impl Counts {
    /// Sets the number of orders of a season and segment.
    pub(super) fn set(&mut self, season: Slug, segment: Segment, count: u64) {
        self.0.entry(season).or_default()[segment.index()] = count;
    }

    /// Adds an order, or takes one away. False where there is none to be taken: the counts are wrong then.
    #[must_use]
    pub(super) fn change(&mut self, season: Slug, segment: Segment, is_added: bool) -> bool {
        let count = &mut self.0.entry(season).or_default()[segment.index()];
        let changed = if is_added { count.checked_add(1) } else { count.checked_sub(1) };
        *count = changed.unwrap_or(0);
        changed.is_some()
    }

    /// How many orders are selected.
    #[must_use]
    pub(super) fn total(&self, selection: &Selection) -> u64 {
        self.selected(selection).map(|(_, _, count)| count).sum()
    }

    /// The seasons and segments that are selected and have orders.
    #[must_use]
    pub(super) fn pairs(&self, selection: &Selection) -> Vec<(Slug, Segment)> {
        self.selected(selection).map(|(season, segment, _)| (season, segment)).collect()
    }

    fn selected(&self, selection: &Selection) -> impl Iterator<Item = (Slug, Segment, u64)> + '_ {
        let selection = *selection;
        self.0
            .iter()
            .flat_map(|(season, counts)| Segment::ALL.map(|segment| (*season, segment, counts[segment.index()])))
            .filter(move |(season, segment, count)| *count > 0 && selection.contains(*season, *segment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_combination_selects_the_orders_that_it_describes() {
        for status in [None, Some(PaymentStatus::Paid), Some(PaymentStatus::AwaitingPayment)] {
            for test in [None, Some("only"), Some("hide")] {
                for deleted in [None, Some("only"), Some("included"), Some("none")] {
                    let set = Segments::matching(status, test, deleted);
                    for segment in Segment::ALL {
                        let is_wanted = status.is_none_or(|status| status == segment.payment_status())
                            && (test != Some("only") || segment.is_test())
                            && (test != Some("hide") || !segment.is_test())
                            && (deleted != Some("only") || segment.is_deleted())
                            && (!matches!(deleted, None | Some("none")) || !segment.is_deleted());
                        assert_eq!(set.contains(segment), is_wanted, "{status:?} {test:?} {deleted:?} {segment:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn complementary_filters_partition_the_segments() {
        let all = Segments::matching(None, None, Some("included"));
        let halves = [
            (
                Segments::matching(None, Some("only"), Some("included")),
                Segments::matching(None, Some("hide"), Some("included")),
            ),
            (Segments::matching(None, None, Some("only")), Segments::matching(None, None, Some("none"))),
            (all.with_status(PaymentStatus::Paid), all.with_status(PaymentStatus::AwaitingPayment)),
        ];
        for (one, other) in halves {
            for segment in Segment::ALL {
                assert!(all.contains(segment));
                assert!(one.contains(segment) != other.contains(segment), "{segment:?}");
            }
        }
    }
}
