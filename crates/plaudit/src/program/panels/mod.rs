//! Panels: who judges which entries, and when.
//!
//! - A panel belongs to a season and judges a score set of that season that is not a gallery.
//! - Who: the users that it names in `judges`, and those who have one of its `roles`, which are judging roles.
//! - Which: the entries of the score set's form that are in all of `categories`, `chapters`, `divisions`, `tags`,
//!   `statuses` and `moderation`; a list that is empty does not limit. Categories and chapters are of the season, and
//!   categories of the form as well.
//! - When: in its `rounds`, of which there is at least one; they are of the type judge and on the score set's form.
//! - How much: every judge judges every entry, unless `judges_per_entry` says how many judges an entry gets, or
//!   `entries_per_judge` how many entries a judge gets at the most.
//! - A panel that is not `active` assigns nothing.
//! - Panels are set up by program files; assignments show them.

mod members;
mod rules;

use super::chapters::Status;
use super::choice::choices;
use super::{Context, Member, Program, SetupRecord};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The most judges, categories, chapters or tags that a panel names.
pub const LIST: usize = 10_000;
/// The most roles, rounds or divisions that a panel names.
pub const SHORT_LIST: usize = 1_000;
/// The largest number of entries, judges or of a division.
pub const COUNT: i64 = 1_000_000;

choices! {
    /// The status of the entries of a panel.
    pub enum EntryStatus {
        /// Being filled in.
        InProgress "in_progress",
        /// Submitted.
        Submitted "submitted",
        /// To be submitted again.
        ResubmissionRequired "resubmission_required",
        /// Submitted again.
        Resubmitted "resubmitted",
    }
}

choices! {
    /// How the entries of a panel were moderated.
    pub enum Moderation {
        /// Approved.
        Approved "approved",
        /// Not decided on.
        Undecided "undecided",
        /// Rejected.
        Rejected "rejected",
    }
}

/// A panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// What it judges.
    pub score_set: Slug,
    /// Its name.
    pub name: Translated,
    /// Whether it assigns entries.
    pub status: Status,
    /// The users who judge.
    pub judges: Vec<Slug>,
    /// The roles whose users judge.
    pub roles: Vec<Slug>,
    /// The rounds in which they do.
    pub rounds: Vec<Slug>,
    /// The categories of the entries; none means every one.
    pub categories: Vec<Slug>,
    /// The chapters of the entries; none means every one.
    pub chapters: Vec<Slug>,
    /// The divisions of the entries; none means every one.
    pub divisions: Vec<i64>,
    /// The tags of which the entries have at least one; none means any or none.
    pub tags: Vec<String>,
    /// The statuses of the entries; none means every one.
    pub statuses: Vec<EntryStatus>,
    /// How the entries were moderated; none means in any way.
    pub moderation: Vec<Moderation>,
    /// How many judges an entry gets; all of them where it is not said.
    pub judges_per_entry: Option<i64>,
    /// How many entries a judge gets at the most.
    pub entries_per_judge: Option<i64>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Panel {
    const KIND: Kind = Kind::Panel;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let season = members.required("season", input::slug);
        let score_set = members.required("score_set", input::slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let status = members.optional("status", input::one_of(Status::CHOICES));
        let judges = members.optional("judges", input::slugs(LIST));
        let roles = members.optional("roles", input::slugs(SHORT_LIST));
        if judges.as_ref().is_none_or(Vec::is_empty) && roles.as_ref().is_none_or(Vec::is_empty) {
            members.fault("judges", "is required, unless roles are given");
        }
        let rounds = members.required("rounds", input::slugs(SHORT_LIST));
        if rounds.as_ref().is_some_and(Vec::is_empty) {
            members.fault("rounds", "must have at least 1 item");
        }
        let categories = members.optional("categories", input::slugs(LIST));
        let chapters = members.optional("chapters", input::slugs(LIST));
        let divisions = members.optional("divisions", input::distinct(SHORT_LIST, input::integer(1..=COUNT)));
        let tags = members.optional("tags", input::distinct(LIST, read_tag));
        let statuses = members.optional("statuses", input::distinct(LIST, input::one_of(EntryStatus::CHOICES)));
        let moderation = members.optional("moderation", input::distinct(LIST, input::one_of(Moderation::CHOICES)));
        let judges_per_entry = members.nullable("judges_per_entry", input::integer(1..=COUNT));
        let entries_per_judge = members.nullable("entries_per_judge", input::integer(1..=COUNT));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            score_set: score_set?,
            name: name?,
            status: status.unwrap_or(Status::Active),
            judges: judges.unwrap_or_default(),
            roles: roles.unwrap_or_default(),
            rounds: rounds?,
            categories: categories.unwrap_or_default(),
            chapters: chapters.unwrap_or_default(),
            divisions: divisions.unwrap_or_default(),
            tags: tags.unwrap_or_default(),
            statuses: statuses.unwrap_or_else(|| vec![EntryStatus::Submitted, EntryStatus::Resubmitted]),
            moderation: moderation.unwrap_or_else(|| vec![Moderation::Approved, Moderation::Undecided]),
            judges_per_entry: judges_per_entry.flatten(),
            entries_per_judge: entries_per_judge.flatten(),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.slug("score_set", self.score_set);
        object.locales("name", &self.name);
        object.text("status", self.status.name());
        object.slugs("judges", &self.judges);
        object.slugs("roles", &self.roles);
        object.slugs("rounds", &self.rounds);
        object.slugs("categories", &self.categories);
        object.slugs("chapters", &self.chapters);
        object.list("divisions", |list| self.divisions.iter().for_each(|division| list.integer(*division)));
        object.texts("tags", &self.tags);
        object.texts("statuses", self.statuses.iter().map(|status| status.name()));
        object.texts("moderation", self.moderation.iter().map(|moderation| moderation.name()));
        object.optional_integer("judges_per_entry", self.judges_per_entry);
        object.optional_integer("entries_per_judge", self.entries_per_judge);
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
        let mut references = vec![("season", Kind::Season, self.season), ("score_set", Kind::ScoreSet, self.score_set)];
        for (member, kind, slugs) in [
            ("judges", Kind::User, &self.judges),
            ("roles", Kind::Role, &self.roles),
            ("rounds", Kind::Round, &self.rounds),
            ("categories", Kind::Category, &self.categories),
            ("chapters", Kind::Chapter, &self.chapters),
        ] {
            references.extend(slugs.iter().map(|slug| (member, kind, *slug)));
        }
        references
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}

/// A tag: tags stand in a text with commas between them.
fn read_tag(json: &Json) -> Result<String, String> {
    let tag = input::filled_text(NAME_LENGTH)(json)?;
    if tag.trim() == tag && !tag.contains(',') {
        Ok(tag)
    } else {
        Err("must have neither commas nor blanks around it".to_owned())
    }
}
