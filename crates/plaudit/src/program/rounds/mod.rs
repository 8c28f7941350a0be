//! Rounds: the times in which entries are taken, judged, or followed by feedback.
//!
//! - A round belongs to a season and a form; the form and the chapters are of the same season.
//! - A round that names no chapters is for every chapter of its season.
//! - `start_date` and `end_date` are times of the account's time zone, or null for no bound; the end is behind the start.
//! - A round is open from its start, and no longer at its end. A time that comes twice because clocks are put back counts
//!   in favour of those who are waited for: the start is its first moment, the end its last ([`Round::moments`]).
//! - Rounds are set up by program files; the interface only reads them.

mod members;
mod rules;

pub use rules::document;

use super::choice::choices;
use super::{Context, Member, Program, SetupRecord};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// The form of its entries.
    pub form: Slug,
    /// Its name.
    pub name: Translated,
    /// What it is for; the member `type`.
    pub kind: RoundType,
    /// The chapters that it is for; none means every chapter of its season.
    pub chapters: Vec<Slug>,
    /// When it begins, in the account's time zone.
    pub start_date: Option<LocalTime>,
    /// When it ends, in the account's time zone.
    pub end_date: Option<LocalTime>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl Round {
    /// Whether it is for a chapter.
    #[must_use]
    pub fn is_for(&self, chapter: Slug) -> bool {
        self.chapters.is_empty() || self.chapters.contains(&chapter)
    }
}

impl SetupRecord for Round {
    const KIND: Kind = Kind::Round;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let season = members.required("season", input::slug);
        let form = members.required("form", input::slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let kind = members.required("type", input::one_of(RoundType::CHOICES));
        let chapters = members.optional("chapters", input::slugs(CHAPTERS));
        let start_date = members.nullable("start_date", input::local_time).flatten();
        let end_date = members.nullable("end_date", input::local_time).flatten();
        if start_date.zip(end_date).is_some_and(|(start, end)| end <= start) {
            members.fault("end_date", "must be behind start_date");
        }
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            form: form?,
            name: name?,
            kind: kind?,
            chapters: chapters.unwrap_or_default(),
            start_date,
            end_date,
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.slug("form", self.form);
        object.locales("name", &self.name);
        object.text("type", self.kind.name());
        object.slugs("chapters", &self.chapters);
        object.optional_local_time("start_date", self.start_date);
        object.optional_local_time("end_date", self.end_date);
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
        let chapters = self.chapters.iter().map(|chapter| ("chapters", Kind::Chapter, *chapter));
        [("season", Kind::Season, self.season), ("form", Kind::Form, self.form)].into_iter().chain(chapters).collect()
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}
