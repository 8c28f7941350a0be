//! Criteria: what judges give points for.
//!
//! - A criterion belongs to a score set of the mode `vip_judging`.
//! - A score is a whole number of steps above the minimum and at most the maximum, so that it is exact. The maximum
//!   itself is such a score.
//! - Its weight is a whole number; weights of a score set count by their proportion.
//! - A sheet is complete when every required criterion is scored.
//! - Criteria are ordered by `order`, then by slug.
//! - Criteria are set up by program files, where they may be nested in their score set.

mod members;
mod rules;

pub use rules::of_score_set;

use super::tabs::ORDER;
use super::{Context, Member, Program, SetupRecord};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::kind::Kind;
use kernel::text::{Points, Slug, Timestamp, Translated};

/// The largest weight.
pub const WEIGHT: i64 = 1_000_000;
/// The most steps from the minimum to the maximum.
pub const STEPS: i64 = 1_000_000;

/// A criterion of a score set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// Its slug.
    pub slug: Slug,
    /// The score set that it belongs to.
    pub score_set: Slug,
    /// Its name.
    pub name: Translated,
    /// What judges are told about it.
    pub description: Translated,
    /// The fewest points.
    pub minimum: Points,
    /// The most points.
    pub maximum: Points,
    /// By how much points can differ.
    pub step: Points,
    /// How much it counts beside the others.
    pub weight: i64,
    /// Whether a sheet is complete only with it.
    pub required: bool,
    /// Its place among the criteria of the score set.
    pub order: i64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Criterion {
    const KIND: Kind = Kind::Criterion;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let any = || Points::ZERO..=Points::MAXIMUM;
        let score_set = members.required("score_set", input::slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let description = members.optional("description", input::translated(&context.languages, DESCRIPTION_LENGTH));
        let minimum = members.optional("minimum", input::points(any())).unwrap_or(Points::ZERO);
        let maximum = members.required("maximum", input::points(any()));
        let step = members.optional("step", input::points(Points::SMALLEST..=Points::MAXIMUM)).unwrap_or(Points::ONE);
        if let Some(maximum) = maximum {
            rules::check_range(members, minimum, maximum, step);
        }
        let weight = members.optional("weight", input::integer(1..=WEIGHT));
        let required = members.optional("required", input::flag);
        let order = members.optional("order", input::integer(0..=ORDER));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            score_set: score_set?,
            name: name?,
            description: description.unwrap_or_default(),
            minimum,
            maximum: maximum?,
            step,
            weight: weight.unwrap_or(1),
            required: required.unwrap_or(true),
            order: order.unwrap_or(0),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("score_set", self.score_set);
        object.locales("name", &self.name);
        object.locales("description", &self.description);
        object.points("minimum", self.minimum);
        object.points("maximum", self.maximum);
        object.points("step", self.step);
        object.integer("weight", self.weight);
        object.flag("required", self.required);
        object.integer("order", self.order);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![("score_set", Kind::ScoreSet, self.score_set)]
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}
