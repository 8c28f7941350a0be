//! Criteria: what judges give points for.
//!
//! - A criterion belongs to a score set of the mode `vip_judging`.
//! - A score is a whole number of steps above the minimum and at most the maximum, so that it is exact. The maximum
//!   itself is such a score.
//! - Its weight is a whole number; weights of a score set count by their proportion.
//! - A sheet is complete when every required criterion is scored.
//! - Criteria are ordered by `order`, then by slug.
//! - Criteria are set up by program files, where they may be nested in their score set.

mod rules;

use super::tabs::ORDER;
use super::{DESCRIPTION_LENGTH, NAME_LENGTH, Record};
use kernel::input::{self};
use kernel::kind::Kind;
use kernel::text::{Points, Slug, Timestamp, Translated};

/// The largest weight.
pub const WEIGHT: i64 = 1_000_000;
/// The most steps from the minimum to the maximum.
pub const STEPS: i64 = 1_000_000;

/// A criterion of a score set.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link()), check = rules::check_range(minimum, maximum, step))]
pub struct Criterion {
    /// Its slug.
    pub slug: Slug,
    /// The score set that it belongs to, of the mode `vip_judging`; left out where it stands within it.
    #[member(Ref(Kind::ScoreSet), required, identifying)]
    pub score_set: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What judges are told about it.
    #[member(Translated(DESCRIPTION_LENGTH))]
    pub description: Translated,
    /// The fewest points; 0 where it is left out.
    #[member(default = Points::ZERO)]
    pub minimum: Points,
    /// The most points.
    #[member(required)]
    pub maximum: Points,
    /// By how many points scores differ; 1 where it is left out.
    #[member(read = input::points(Points::SMALLEST..=Points::MAXIMUM), default = Points::ONE)]
    pub step: Points,
    /// How much it weighs among the others; 1 where it is left out.
    #[member(Integer(1, WEIGHT), default = 1)]
    pub weight: i64,
    /// Whether a sheet is complete only with it; true where it is left out.
    #[member(default = true)]
    pub required: bool,
    /// Its place among the criteria of the score set.
    #[member(Integer(0, ORDER))]
    pub order: i64,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}
