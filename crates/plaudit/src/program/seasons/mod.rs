//! Seasons: the periods of a program, by which nearly everything else is kept apart.
//!
//! - A season is `draft`, `active`, `archived` or `destroyed`.
//! - One season is active at a time; activating one archives the one before it ([`activate`]).
//! - What belongs to an archived or destroyed season stays, and can be moved no more.
//! - Seasons are set up by program files; the interface only reads them.

mod rules;

pub use rules::{activate, document};

use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::text::{Slug, Timestamp, Translated};

choices! {
    /// Where a season is in its life.
    pub enum Status {
        /// It is being set up.
        Draft "draft",
        /// It is the one that takes entries.
        Active "active",
        /// It is over.
        Archived "archived",
        /// It is over, and what belonged to it is to be forgotten.
        Destroyed "destroyed",
    }
}

impl Status {
    /// Whether the season is over, so that its entries cannot be moved.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Archived | Self::Destroyed)
    }
}

/// A season.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link().hidden()))]
pub struct Season {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// Where it is in its life; one season is active at a time.
    #[member(required)]
    pub status: Status,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}
