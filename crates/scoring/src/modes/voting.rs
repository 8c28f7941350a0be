//! `voting`: votes are counted under quotas.
//!
//! - A voter has at most so many votes in all, for one entry, and in one category. A quota that is not set does not
//!   limit.
//! - Quotas begin again never, every day or every week, at midnight in the account's time zone. A week begins on
//!   Monday.
//! - Votes that look suspicious are quarantined: they are kept and shown apart, and count when they are released. They
//!   are never refused, and they use up the quota like any other.

/// When quotas begin again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// Never.
    #[default]
    None,
    /// At every midnight.
    Daily,
    /// At the midnight with which Monday begins.
    Weekly,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The votes of a voter in the score set.
    Voter,
    /// Those for one entry.
    Entry,
    /// Those in one category.
    Category,
}

/// How many votes a voter has in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// In all.
    pub per_voter: Option<u32>,
    /// For one entry.
    pub per_entry: Option<u32>,
    /// In one category.
    pub per_category: Option<u32>,
    /// How long a period is.
    pub reset: Reset,
}

/// The votes that a voter has cast in the period, without those that the vote in question replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cast {
    /// In all.
    pub in_all: u32,
    /// For the entry.
    pub for_entry: u32,
    /// In the entry's category.
    pub in_category: u32,
}

/// A vote that a quota does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// Which quota is the narrowest.
    pub limited: Limited,
    /// How many votes it has left.
    pub left: u32,
}

/// The votes for an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// Those that count.
    pub counted: u64,
    /// Those that are held back.
    pub quarantined: u64,
}

impl Reset {
    /// The period in which a day lies; days with equal numbers share a quota. A day is counted from 1970-01-01, in the
    /// account's time zone.
    pub fn period(self, day: i32) -> i32 {
        match self {
            Self::None => 0,
            Self::Daily => day,
            // 1970-01-01 was a Thursday, the fourth day of its week.
            Self::Weekly => day.saturating_add(3).div_euclid(7),
        }
    }
}

impl Quotas {
    /// Whether a voter who has cast so many may cast this many more.
    pub fn check(&self, cast: Cast, votes: u32) -> Result<(), Exceeded> {
        let narrowest = [
            (self.per_voter, cast.in_all, Limited::Voter),
            (self.per_entry, cast.for_entry, Limited::Entry),
            (self.per_category, cast.in_category, Limited::Category),
        ]
        .into_iter()
        .filter_map(|(quota, cast, limited)| Some(Exceeded { limited, left: quota?.saturating_sub(cast) }))
        .min_by_key(|exceeded| exceeded.left);
        narrowest.filter(|exceeded| exceeded.left < votes).map_or(Ok(()), Err)
    }
}

impl Votes {
    /// The same with so many votes more, or fewer where the number is negative.
    pub fn changed(self, votes: i64, quarantined: bool) -> Self {
        if quarantined {
            Self { quarantined: self.quarantined.saturating_add_signed(votes), ..self }
        } else {
            Self { counted: self.counted.saturating_add_signed(votes), ..self }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn periods_begin_at_midnight_and_on_monday() {
        // 2026-11-22 is a Sunday, 20,779 days after 1970-01-01.
        assert_eq!(Reset::Weekly.period(20_779) + 1, Reset::Weekly.period(20_780));
        assert_eq!(Reset::Weekly.period(20_780), Reset::Weekly.period(20_786));
        assert_eq!(Reset::Weekly.period(-4) + 1, Reset::Weekly.period(-3));
        assert_ne!(Reset::Daily.period(1), Reset::Daily.period(2));
        assert_eq!(Reset::None.period(1), Reset::None.period(9_999));
    }

    #[test]
    fn the_narrowest_quota_is_named() {
        let quotas = Quotas { per_voter: Some(10), per_entry: Some(3), per_category: None, reset: Reset::Daily };
        let cast = Cast { in_all: 8, for_entry: 1, in_category: 5 };
        assert_eq!(quotas.check(cast, 2), Ok(()));
        assert_eq!(quotas.check(cast, 3), Err(Exceeded { limited: Limited::Voter, left: 2 }));
        assert_eq!(quotas.check(Cast { for_entry: 4, ..cast }, 1), Err(Exceeded { limited: Limited::Entry, left: 0 }));
        assert_eq!(quotas.check(Cast { for_entry: 4, ..cast }, 0), Ok(()));
    }

    #[test]
    fn quarantined_votes_are_kept_apart_until_they_are_released() {
        let votes = Votes::default().changed(5, false).changed(3, true);
        assert_eq!(votes, Votes { counted: 5, quarantined: 3 });
        assert_eq!(votes.changed(-3, true).changed(3, false), Votes { counted: 8, quarantined: 0 });
    }

    proptest! {
        #[test]
        fn a_vote_is_allowed_where_no_quota_is_passed(
            quotas in prop::array::uniform3(prop::option::of(0..6_u32)),
            cast in prop::array::uniform3(0..6_u32),
            votes in 0..6_u32,
        ) {
            let [per_voter, per_entry, per_category] = quotas;
            let [in_all, for_entry, in_category] = cast;
            let rules = Quotas { per_voter, per_entry, per_category, reset: Reset::None };
            let mut each = quotas.iter().zip(cast);
            let allowed = votes == 0 || each.all(|(quota, cast)| quota.is_none_or(|quota| cast + votes <= quota));
            prop_assert_eq!(rules.check(Cast { in_all, for_entry, in_category }, votes).is_ok(), allowed);
        }
    }
}
