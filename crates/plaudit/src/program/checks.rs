//! What must hold between a record of the set-up and those that it refers to. A reference to a record that does not
//! exist is found elsewhere.

use super::Program;
use kernel::input::{Members, Violations};
use kernel::kind::Kind;
use kernel::text::{LocalTime, Slug};

/// A period of the account's time zone ends behind its start.
pub(super) fn check_period(
    members: &mut Members<'_>,
    start: Option<&Option<LocalTime>>,
    end: Option<&Option<LocalTime>>,
) {
    if start.copied().flatten().zip(end.copied().flatten()).is_some_and(|(start, end)| end <= start) {
        members.fault("end_date", "must be behind start_date");
    }
}

/// Collects what is wrong with a record of a season among those that it refers to.
pub(super) struct Checks<'p> {
    program: &'p Program,
    kind: Kind,
    season: Slug,
    violations: Violations,
}

impl<'p> Checks<'p> {
    /// Begins to check a record of this kind and season.
    pub(super) fn new(program: &'p Program, kind: Kind, season: Slug) -> Self {
        Self { program, kind, season, violations: Violations::default() }
    }

    /// Adds a message about a member.
    pub(super) fn fault(&mut self, member: &str, message: impl Into<String>) {
        self.violations.add(member, message);
    }

    fn same_season(&mut self, member: &str, slug: Slug, season: Option<Slug>) {
        if season.is_some_and(|season| season != self.season) {
            self.fault(member, format!("{slug} must belong to the season of the {}", self.kind.words()));
        }
    }

    /// The form is of the record's season, or of none.
    pub(super) fn form(&mut self, slug: Slug) {
        let season = self.program.forms.any(slug).and_then(|form| form.season);
        self.same_season("form", slug, season);
    }

    /// The chapters are of the record's season.
    pub(super) fn chapters(&mut self, slugs: &[Slug]) {
        for slug in slugs {
            self.same_season("chapters", *slug, self.program.chapters.any(*slug).map(|chapter| chapter.season));
        }
    }

    /// The categories are of the record's season, and of its form, where it has one and they do.
    pub(super) fn categories(&mut self, slugs: &[Slug], form: Option<Slug>) {
        for slug in slugs {
            let Some(category) = self.program.categories.any(*slug) else { continue };
            self.same_season("categories", *slug, Some(category.season));
            if let (Some(form), Some(other)) = (form, category.form)
                && form != other
            {
                self.fault("categories", format!("{slug} must be on the form {form}"));
            }
        }
    }

    /// A record that is named, by its season.
    pub(super) fn season_of(&mut self, member: &str, slug: Slug, season: Option<Slug>) {
        self.same_season(member, slug, season);
    }

    /// What is wrong.
    pub(super) fn finish(self) -> Violations {
        self.violations
    }
}
