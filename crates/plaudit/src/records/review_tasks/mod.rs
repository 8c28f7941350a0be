//! Review tasks: a review stage asks its reviewers about an entry.
//!
//! - A task is of one stage and one entry, and has one decision, whoever of its reviewers decides. A stage has at most one task
//!   of an entry that waits for its decision; of those that are decided the one that was made last counts.
//! - Its reviewers are those whom the stage and the entry name when it is made. Where they name nobody, a manager decides.
//! - What it shows of its entry is read with it: title, category and season. With its entry it is in the trash. A stage in the
//!   trash keeps its tasks, and nothing is decided on them.
//! - When it is to be brought to mind, and when it ends by itself, is said by the stage when it is made.
//! - The comment of a decision is kept with it and is in program files; where the entry has room, among its comments too.
//! - What comes of a task for its entry and for other stages is told in [`crate::review_flow`].

pub(crate) mod list;
pub(crate) mod rules;
pub mod store;

pub use list::LISTED;

use std::collections::BTreeSet;

use crate::lists::Table;
use crate::lists::page::bounded;
use crate::program::review_stages::{Decision, REVIEWERS, Reviewer, reviewers};
use crate::program::{Member, Record, Shape};
use crate::records::people::PeopleRecord;
use crate::records::store::SetTable;
use crate::records::users::normal_email;
use db::Value;
use kernel::document::{self, Object};
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, folded};

/// The most reviewers of a task: people whom its stage names, fields of the entry, managers of the chapter, and the entrant.
const MOST_REVIEWERS: usize = 3 * REVIEWERS + 1;
/// The most characters of a comment.
pub const COMMENT_LENGTH: usize = 10_000;

const CATEGORY: Member = Member::optional("category", Shape::Ref(Kind::Category), "The category of the entry.");
const SEASON: Member = Member::optional("season", Shape::Ref(Kind::Season), "The season of the entry.");
const TOKEN: Member = Member::optional("token", Shape::Token, "Its identifier.");

/// A review task.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = check_task(action_at, decision))]
pub struct ReviewTask {
    /// Its token.
    pub token: Token,
    /// When it was decided; null until then.
    #[member(followed_by(CATEGORY))]
    pub action_at: Option<Timestamp>,
    /// When it was made.
    pub created: Timestamp,
    /// What was decided; null until then.
    pub decision: Option<Decision>,
    /// The entry that is reviewed.
    #[member(Ref(Kind::Entry), required, to_create, shown_as(&Shape::Component("EntryReference")))]
    pub entry: Slug,
    /// The stage that asks.
    #[member(Ref(Kind::ReviewStage), required, to_create)]
    pub review_stage: Slug,
    /// Who is asked.
    #[member(List(&reviewers::REVIEWER, MOST_REVIEWERS), with = reviewer, default = Vec::new(), followed_by(SEASON, TOKEN))]
    pub reviewer: Vec<Reviewer>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// What was said of the decision.
    #[member(Text(COMMENT_LENGTH), hidden)]
    pub comment: String,
    /// When it is brought to mind, unless it was.
    #[member(hidden)]
    pub remind_at: Option<Timestamp>,
    /// When it ends by itself.
    #[member(hidden)]
    pub deadline_at: Option<Timestamp>,
}

/// How the member `reviewer` is read and written.
mod reviewer {
    use super::{MOST_REVIEWERS, Members, Object, Reviewer, reviewers};
    use crate::program::{Context, Texts};

    pub(super) fn read(members: &mut Members<'_>, _: &Context) -> Option<Vec<Reviewer>> {
        reviewers::read_list(members, "reviewer", MOST_REVIEWERS)
    }

    pub(super) fn write(reviewers: &[Reviewer], object: &mut Object<'_>, _: Texts) {
        reviewers::write_list(reviewers, object, "reviewer");
    }
}

/// A decision has its time. Category and season are the entry's, so that they may be stated and are not kept.
fn check_task(members: &mut Members<'_>, action_at: Option<&Option<Timestamp>>, decision: Option<&Option<Decision>>) {
    members.nullable("category", input::slug);
    members.nullable("season", input::slug);
    if let (Some(action_at), Some(decision)) = (action_at, decision)
        && action_at.is_some() != decision.is_some()
    {
        members.fault("action_at", "must be given with a decision, and with that alone");
    }
}

/// What a task shows of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfEntry {
    /// The title.
    pub title: String,
    /// The category.
    pub category: Slug,
    /// The season.
    pub season: Slug,
}

impl ReviewTask {
    /// The document that is shown (contract, section 6).
    pub fn document(&self, of_entry: &OfEntry) -> String {
        let OfEntry { title, category, season } = of_entry;
        document::object(|object| {
            object.optional_time("action_at", self.action_at);
            object.reference("category", Kind::Category, *category);
            object.time("created", self.created);
            object.optional_text("decision", self.decision.map(Decision::name));
            object.object("entry", |object| {
                object.named(Kind::Entry, self.entry, ("title", title));
            });
            object.reference("review_stage", Kind::ReviewStage, self.review_stage);
            reviewers::write_list(&self.reviewer, object, "reviewer");
            object.reference("season", Kind::Season, *season);
            object.text("token", self.token.as_str());
            object.time("updated", self.updated);
        })
    }

    /// Whether the person of this e-mail address is asked.
    pub(crate) fn asks(&self, email: &str) -> bool {
        self.reviewer.iter().any(|reviewer| reviewer_key(&reviewer.email) == reviewer_key(email))
    }

    /// When the service has something to do for it.
    fn due(&self) -> Option<Timestamp> {
        self.remind_at.into_iter().chain(self.deadline_at).min()
    }
}

/// A text by which lists find a reviewer: an e-mail address or a name, whatever its case. Addresses are compared as those of users
/// are: folding makes one of letters that are two in the name of a host.
pub(crate) fn reviewer_key(text: &str) -> String {
    let text = text.trim();
    bounded(&if text.contains('@') { normal_email(text) } else { folded(text) })
}

impl PeopleRecord for ReviewTask {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![
            self.entry.into(),
            self.review_stage.into(),
            self.decision.map_or("", Decision::name).into(),
            self.action_at.map_or(list::NO_TIME, Timestamp::as_microseconds).into(),
            self.created.into(),
            self.updated.into(),
        ]
    }

    const SETS: &'static [SetTable] = &[store::REVIEWERS, store::TIMES];

    fn sets(&self) -> Vec<Vec<Vec<Value<'static>>>> {
        // A name does not pass for an address, by which persons see what they are asked.
        let names = self.reviewer.iter().map(|reviewer| &reviewer.name).filter(|name| !name.contains('@'));
        let names = self.reviewer.iter().map(|reviewer| &reviewer.email).chain(names);
        let keys: BTreeSet<String> = names.map(|name| reviewer_key(name)).filter(|key| !key.is_empty()).collect();
        let reviewers = keys.into_iter().map(|key| vec![key.into()]).collect();
        vec![reviewers, self.due().map(|due| vec![due.into()]).into_iter().collect()]
    }
}
