//! Rounds: the times in which entries are taken, judged, or followed by feedback.
//!
//! - A round belongs to a season and a form; the form and the chapters are of the same season.
//! - A round that names no chapters is for every chapter of its season.
//! - `start_date` and `end_date` are times of the account's time zone, or null for no bound; the end is behind the start.
//! - A round is open from its start, and no longer at its end. A time that comes twice because clocks are put back counts
//!   in favour of those who are waited for: the start is its first moment, the end its last ([`Round::moments`]).
//! - `reminder_days` before the end of a judging round its judges who have open sheets are reminded, by e-mail; by default nobody is.
//! - Rounds are set up by program files; the interface only reads them.

mod rules;

pub use rules::document;

use super::checks::check_period;
use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{LocalTime, Slug, Timestamp, Translated};

/// The most chapters that a round names.
pub const CHAPTERS: usize = 10_000;
/// The most days before its end on which judges are reminded.
pub const DAYS: i64 = 3_650;

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
#[record(rules(check), extra(Member::link().hidden()), check = check_round(kind, start_date, end_date))]
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
    /// How many days before the end of a judging round judges with open sheets are reminded, by e-mail; null for never.
    #[member(Integer(1, DAYS), hidden)]
    pub reminder_days: Option<i64>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// The end is behind the start, and only a judging round has judges who are reminded.
fn check_round(
    members: &mut Members<'_>,
    kind: Option<&RoundType>,
    start: Option<&Option<LocalTime>>,
    end: Option<&Option<LocalTime>>,
) {
    check_period(members, start, end);
    let is_given = members.get("reminder_days").is_some_and(|json| !json.is_null());
    if is_given && kind.is_some_and(|kind| *kind != RoundType::Judge) {
        members.fault("reminder_days", "must be null or left out where the type is not judge");
    }
}

impl Round {
    /// Whether it is for a chapter.
    pub fn is_for(&self, chapter: Slug) -> bool {
        self.chapters.is_empty() || self.chapters.contains(&chapter)
    }
}
