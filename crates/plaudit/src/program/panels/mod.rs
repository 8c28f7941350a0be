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

mod rules;

use super::chapters::Status;
use super::choice::choices;
use super::{NAME_LENGTH, Record};
use kernel::input::{self, Members};
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
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), extra(Member::link()), check = check_judges(judges, roles))]
pub struct Panel {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying)]
    pub season: Slug,
    /// The score set that it judges, which is no gallery.
    #[member(Ref(Kind::ScoreSet), required, identifying)]
    pub score_set: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// Whether it assigns anything; active where it is left out.
    #[member(default = Status::Active)]
    pub status: Status,
    /// The people who judge; left out, who does stays. At least these or roles are needed.
    #[member(Set(&Shape::Ref(Kind::User), LIST), kept)]
    pub judges: Vec<Slug>,
    /// The judging roles whose users judge.
    #[member(Set(&Shape::Ref(Kind::Role), SHORT_LIST))]
    pub roles: Vec<Slug>,
    /// The rounds of the type judge in which it judges.
    #[member(FilledSet(&Shape::Ref(Kind::Round), SHORT_LIST), required)]
    pub rounds: Vec<Slug>,
    /// The categories of the entries that it judges; none means every one.
    #[member(Set(&Shape::Ref(Kind::Category), LIST))]
    pub categories: Vec<Slug>,
    /// The chapters of the entries that it judges; none means every one.
    #[member(Set(&Shape::Ref(Kind::Chapter), LIST))]
    pub chapters: Vec<Slug>,
    /// The divisions of the entries that it judges; none means every one.
    #[member(Set(&Shape::Integer(1, COUNT), SHORT_LIST))]
    pub divisions: Vec<i64>,
    /// The tags of the entries that it judges; none means every one.
    #[member(Set(&Shape::FilledText(NAME_LENGTH), LIST), read = input::distinct(LIST, read_tag))]
    pub tags: Vec<String>,
    /// The status of the entries that it judges; none means every one.
    #[member(Set(&EntryStatus::SHAPE, LIST), default = vec![EntryStatus::Submitted, EntryStatus::Resubmitted])]
    pub statuses: Vec<EntryStatus>,
    /// How the entries that it judges were moderated; none means every one.
    #[member(Set(&Moderation::SHAPE, LIST), default = vec![Moderation::Approved, Moderation::Undecided])]
    pub moderation: Vec<Moderation>,
    /// How many judges an entry gets; null means all of them.
    #[member(Integer(1, COUNT))]
    pub judges_per_entry: Option<i64>,
    /// How many entries a judge gets at the most; null means all of them.
    #[member(Integer(1, COUNT))]
    pub entries_per_judge: Option<i64>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

/// Somebody judges.
fn check_judges(members: &mut Members<'_>, judges: Option<&Vec<Slug>>, roles: Option<&Vec<Slug>>) {
    if judges.is_none_or(Vec::is_empty) && roles.is_none_or(Vec::is_empty) {
        members.fault("judges", "is required, unless roles are given");
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
