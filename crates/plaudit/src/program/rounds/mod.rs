//! Rounds: the times in which entries are taken, judged, or followed by feedback.
//!
//! - A round belongs to a season and a form; the form and the chapters are of the same season.
//! - A round that names no chapters is for every chapter of its season.
//! - `start_date` and `end_date` are times of the account's time zone, or null for no bound; the end is behind the start.
//! - A round is open from its start, and no longer at its end. A time that comes twice because clocks are put back counts
//!   in favour of those who are waited for: the start is its first moment, the end its last ([`Round::moments`]).
//! - Rounds are set up by program files; the interface only reads them.

mod rules;

pub use rules::document;

use super::checks::check_period;
use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::kind::Kind;
use kernel::text::{LocalTime, Slug, Timestamp, Translated};

/// The most chapters that a round names.
pub const CHAPTERS: usize = 10_000;

choices! {
    /// What a round is for.
    pub enum RoundType {
        /// Entries are taken.
        Entry "entry",
        /// Entries are judged.
        Judge "judge",
        /// Judges' feedback is shown.
        Feedback "feedback",
    }
}

/// A round.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link().hidden()), check = check_period(start_date, end_date))]
pub struct Round {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// The form of its entries.
    #[member(Ref(Kind::Form), required, identifying, shown_as(&Shape::Slug))]
    pub form: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What it is for.
    #[member(name = "type", required)]
    pub kind: RoundType,
    /// The chapters that it is for; none means every chapter of its season.
    #[member(Set(&Shape::Ref(Kind::Chapter), CHAPTERS))]
    pub chapters: Vec<Slug>,
    /// When it begins, in the account's time zone; null for no bound.
    pub start_date: Option<LocalTime>,
    /// When it ends, in the account's time zone; null for no bound.
    pub end_date: Option<LocalTime>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

impl Round {
    /// Whether it is for a chapter.
    pub fn is_for(&self, chapter: Slug) -> bool {
        self.chapters.is_empty() || self.chapters.contains(&chapter)
    }
}
