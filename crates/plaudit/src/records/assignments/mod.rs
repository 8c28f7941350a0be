//! Assignments: who is to judge which entry in which score set, and the sheet that comes of it.
//!
//! - An assignment links an entry and a judge, or a role whose users judge, in a score set. Its slug tells all three, so that
//!   there is at most one for each of them; linking once more changes its rounds and what it was linked by.
//! - `cause` is what it was linked by: a panel, by hand, or by chance. `method` is the same, unless the link has lost its
//!   cause (`stray`) or a manager took the judge off the entry (`recused`). A link that comes back is again what it was.
//! - The sheet stands in the same record: points and comments by criterion, a decision, a preference or votes, by the mode of
//!   the score set. An assignment of a role has no sheet.
//! - `status` follows from the sheet: complete where every required criterion has points, or there is a decision, a preference
//!   or a vote; abstained while an abstention stands, which leaves what was there before as it was.
//! - A judge with a conflict of interest is marked on every assignment to that entry (`is_conflicted`), in whatever score set
//!   where it was declared; the comment stands where that was.
//! - Votes count by period of the score set: those of earlier periods stay, those of the current one can change.
//! - What the sheets of an entry come to is kept beside them ([`crate::records::standings`]).
//! - An assignment of an entry in the trash is not shown.

mod document;
pub mod fraction;
mod list;
pub mod rules;
pub mod scoring;
mod sheet;
mod slug;
pub mod store;

pub(crate) use document::write_of;
pub use document::{MEMBERS, Shown, name_of};
pub(crate) use list::LIST;
pub use list::LISTED;
pub use sheet::{COMMENT_LENGTH, Comment, DECLARATIONS, Decision, Score, Sheet};
pub use slug::AssignmentSlug;

use crate::lists::Table;
use crate::program::{Record, choices};
use crate::records::people::PeopleRecord;
use crate::records::store::SetTable;
use db::Value;
use kernel::input::Members;
use kernel::kind::Kind;
use kernel::text::{Date, Slug, Timestamp};

/// The most panels or rounds of an assignment.
pub const LIST_LENGTH: usize = 10_000;
/// The most votes of a voter for an entry.
pub const VOTES: i64 = 1_000_000_000_000;

choices! {
    /// Where a sheet stands.
    pub enum Status {
        /// Nothing is scored.
        None "none",
        /// Some required criteria lack points.
        InProgress "in_progress",
        /// It is done.
        Complete "complete",
        /// The judge does not judge the entry.
        Abstained "abstained",
    }
}

choices! {
    /// What a link was made by.
    pub enum Cause {
        /// A panel.
        Automatic "automatic",
        /// Somebody.
        Manual "manual",
        /// Chance.
        Random "random",
    }
}

choices! {
    /// What an assignment is.
    pub enum Method {
        /// A panel made it.
        Automatic "automatic",
        /// Somebody made it.
        Manual "manual",
        /// Chance made it.
        Random "random",
        /// Its cause is gone; its scores do not count.
        Stray "stray",
        /// The judge was taken off the entry.
        Recused "recused",
    }
}

impl From<Cause> for Method {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Automatic => Self::Automatic,
            Cause::Manual => Self::Manual,
            Cause::Random => Self::Random,
        }
    }
}

/// An assignment, as program files have it.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = check_slug(slug, entry, judge, role, score_set))]
pub struct Assignment {
    /// Its slug: those of entry, judge and score set with J, or of entry, role and score set with R.
    pub slug: AssignmentSlug,
    /// The entry.
    #[member(Ref(Kind::Entry), required)]
    pub entry: Slug,
    /// The judge; null where a role judges.
    #[member(Ref(Kind::User))]
    pub judge: Option<Slug>,
    /// The role whose users judge; null where a judge does.
    #[member(Ref(Kind::Role))]
    pub role: Option<Slug>,
    /// The score set.
    #[member(Ref(Kind::ScoreSet), required)]
    pub score_set: Slug,
    /// What it is; manual where it is left out.
    #[member(default = Method::Manual)]
    pub method: Method,
    /// What it was linked by; manual where it is left out.
    #[member(default = Cause::Manual)]
    pub cause: Cause,
    /// The panels that assign it.
    #[member(Set(&Shape::Ref(Kind::Panel), LIST_LENGTH))]
    pub panels: Vec<Slug>,
    /// The rounds in which it is judged; none means every judging round of the form.
    #[member(Set(&Shape::Ref(Kind::Round), LIST_LENGTH))]
    pub rounds: Vec<Slug>,
    /// Where the sheet stands; it follows from the rest.
    #[member(default = Status::None)]
    pub status: Status,
    /// What the sheet says by criterion, in a score set with criteria.
    #[member(List(&sheet::scores::SHAPE, sheet::SCORES), with = sheet::scores, default = Vec::new(),
        references = sheet::scores::references)]
    pub scores: Vec<Score>,
    /// What the judge decided, in a score set of the mode qualifying.
    pub decision: Option<Decision>,
    /// The place that the judge gives the entry, in a score set of the mode `top_pick`.
    #[member(Integer(1, crate::program::score_sets::PREFERENCES))]
    pub preference: Option<i64>,
    /// All votes for the entry, in a score set of the mode voting.
    #[member(Integer(0, VOTES))]
    pub votes: i64,
    /// Those of them that were given in the current period.
    #[member(Integer(0, VOTES))]
    pub votes_of_period: i64,
    /// The day on which that period began; null where votes are never reset.
    pub period: Option<Date>,
    /// What the judge says of the entry.
    pub comment: Option<Comment>,
    /// Why the judge does not judge the entry, while that stands.
    pub abstention: Option<Comment>,
    /// Why the sheet was opened again after it was complete; null once it is changed, and where it never was.
    pub reopening: Option<Comment>,
    /// Conflicts of interest that were declared here.
    #[member(List(&<Comment as MemberValue>::SHAPE, sheet::DECLARATIONS), with = sheet::conflict, default = Vec::new(),
        references = sheet::conflict::references)]
    pub conflict: Vec<Comment>,
    /// Whether the judge has a conflict of interest with the entry, declared in whatever score set or told by the records.
    pub is_conflicted: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// The slug is made of what it links.
fn check_slug(
    members: &mut Members<'_>,
    slug: AssignmentSlug,
    entry: Option<&Slug>,
    judge: Option<&Option<Slug>>,
    role: Option<&Option<Slug>>,
    score_set: Option<&Slug>,
) {
    let told = [
        ("entry", entry.copied(), Some(slug.entry())),
        ("judge", judge.copied().flatten(), slug.judge()),
        ("role", role.copied().flatten(), slug.role()),
        ("score_set", score_set.copied(), Some(slug.score_set())),
    ];
    for (name, stated, linked) in told {
        let is_missing = stated.is_none() && (name == "entry" || name == "score_set");
        if stated != linked && !is_missing {
            let right = linked.map_or_else(|| "null".to_owned(), |slug| slug.to_string());
            members.fault(name, format!("must be {right}, as the slug says"));
        }
    }
}

impl Assignment {
    /// A new one without a sheet.
    pub fn new(slug: AssignmentSlug, cause: Cause, now: Timestamp) -> Self {
        Self {
            slug,
            entry: slug.entry(),
            judge: slug.judge(),
            role: slug.role(),
            score_set: slug.score_set(),
            method: cause.into(),
            cause,
            panels: Vec::new(),
            rounds: Vec::new(),
            status: Status::None,
            scores: Vec::new(),
            decision: None,
            preference: None,
            votes: 0,
            votes_of_period: 0,
            period: None,
            comment: None,
            abstention: None,
            reopening: None,
            conflict: Vec::new(),
            is_conflicted: false,
            created: now,
            updated: now,
        }
    }

    /// Whether the sheet has scores.
    pub fn has_scores(&self) -> bool {
        self.scores.iter().any(|score| score.value.is_some())
            || self.decision.is_some()
            || self.preference.is_some()
            || self.votes > 0
    }

    /// Takes back the preference, or the votes of the latest period.
    pub fn take_back(&mut self) {
        self.preference = None;
        self.votes -= self.votes_of_period;
        self.votes_of_period = 0;
    }

    /// Whether the sheet says anything.
    pub fn has_sheet(&self) -> bool {
        self.has_scores()
            || self.scores.iter().any(|score| score.comment.is_some())
            || self.comment.is_some()
            || self.abstention.is_some()
            || !self.conflict.is_empty()
    }

    /// Whether the link holds: it is neither stray nor recused.
    pub fn is_linked(&self) -> bool {
        !matches!(self.method, Method::Stray | Method::Recused)
    }
}

impl PeopleRecord for Assignment {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        let slug = |slug: Option<Slug>| slug.map_or_else(String::new, |slug| slug.to_string());
        vec![
            self.entry.into(),
            slug(self.judge).into(),
            slug(self.role).into(),
            self.score_set.into(),
            self.method.name().into(),
            self.status.name().into(),
            self.is_conflicted.into(),
            self.created.into(),
            self.updated.into(),
        ]
    }

    const SETS: &'static [SetTable] = &[store::PANELS, store::ROUNDS];

    fn sets(&self) -> Vec<Vec<Vec<Value<'static>>>> {
        let rows = |slugs: &[Slug]| slugs.iter().map(|slug| vec![(*slug).into()]).collect();
        vec![rows(&self.panels), rows(&self.rounds)]
    }
}

#[cfg(test)]
mod tests;
