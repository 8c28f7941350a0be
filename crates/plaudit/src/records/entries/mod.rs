//! Entries: what people submit.
//!
//! - An entry belongs to a season, a form and a category, and is in a chapter. Its `local_id` counts from 1 in the
//!   account and is never used again.
//! - An entry is stored as two documents: the members that lists show, which hold the counts of what belongs to it; and
//!   the second one, which only a single read shows: answers, attachments, contributors. Both always are what they would be
//!   if they were made anew from the records that they show ([`refresh_detail`]).
//! - Season, form, category and chapter agree: the category is of the season, and of the form if it has one; the chapter is
//!   of the season, active, and offers the category. Of an entry of an archived season only the title, the tags, the
//!   moderation and the grant can change, of one of a destroyed season nothing.
//! - Its status takes the steps that there are and no other (`rules/status.rs`). It is handed in in time
//!   (`rules/deadline.rs`) and with an answer to every required field that is shown (`rules/answers.rs`).
//! - Its automatic score and its eligibility follow from its answers, its division from those of its category
//!   (`rules/screening.rs`).
//! - Everything that changes an entry is written by [`store::write`]: the difference tells the events.
//! - A record may state what is computed; where that contradicts, it is a fault ([`Stated`]).

pub mod attachments;
pub mod contributors;
mod counts;
pub(crate) mod document;
pub mod filters;
pub(crate) mod given;
pub(crate) mod list;
mod record;
pub(crate) mod rules;
mod standing;
pub mod store;

pub use counts::CountChanges;
pub use document::{Counts, RelatedData, answers_of, detail};
pub use list::{LISTED, PAYMENTS};
pub use record::{Stated, complete};
pub use rules::{change_chapter, check_changeable};
pub use standing::{Eligibility, Moderation, Payment, Status};
pub use store::{Cause, refresh_detail};

use serde::Deserialize;

use crate::program::{Member, Record, Shape, names};
use crate::records::answers::Answers;
use crate::records::review_tasks::rules::EntryPlace;
use crate::records::slots;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Date, Slug, Timestamp};

/// The most characters of a title.
pub const TITLE_LENGTH: usize = 255;
/// The most characters of a status that is free text.
pub const STATUS_LENGTH: usize = 255;
/// The most characters of comments, and of tags.
pub const COMMENTS_LENGTH: usize = 1_048_576;
/// The plagiarism scan status of an entry that was not scanned.
pub const NOT_SCANNED: &str = "unscanned";
/// The custom deadline of an entry that has none.
pub const NO_DEADLINE: &str = "-";
/// The highest number that an entry can be given: what every reader of JSON has exactly (RFC 8259, section 6), with room
/// for those that follow it.
const HIGHEST_LOCAL_ID: i64 = (1 << 53) - 1;

const TITLE: Shape = Shape::FilledText(TITLE_LENGTH);
const DEADLINE: &str = "^(-|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2})$";
const ATTACHMENTS: Shape = Shape::List(&Shape::Component("EntryAttachment"), usize::MAX);
const CONTRIBUTORS: Shape = Shape::List(&Shape::Component("EntryContributor"), usize::MAX);

/// A status that a body gives, which answers show by another member.
const fn given_status(choices: fn() -> Vec<&'static str>) -> Member {
    Member::optional("status", Shape::OneOf(choices), "Where it is on its way.").hidden().example("in_progress")
}

const fn count(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Integer(0, i64::MAX), about)
}

/// An entry, as program files have it; its first document has the same members, references as slots, but for its answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Record)]
#[record(blank, check = pass_over_computed())]
pub struct Entry {
    /// Its slug.
    pub slug: Slug,
    /// Its number within the account.
    #[member(Integer(1, HIGHEST_LOCAL_ID), required)]
    pub local_id: i64,
    /// Its title.
    #[member(Text(TITLE_LENGTH), required, in_bodies_as(&TITLE), to_create, updatable)]
    pub title: String,
    /// Where it is on its way.
    #[member(default = Status::InProgress, followed_by(
        given_status(|| names(rules::body::MADE)).creatable(),
        given_status(|| names(rules::body::ASKED)).updatable(),
    ))]
    pub status: Status,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last submitted; null until then.
    pub submitted: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The user whom it belongs to.
    #[member(Ref(Kind::User), required, to_create, updatable, shown_as(&Shape::Component("Entrant")))]
    #[serde(deserialize_with = "slots::person")]
    pub entrant: Slug,
    /// Its answers.
    #[member(creatable, updatable, where_asked, shown_as(&Shape::Component("FieldAnswers")), followed_by(
        Member::optional("attachments", ATTACHMENTS, "Its attachments.").where_asked(),
        Member::optional("contributors", CONTRIBUTORS, "Who took part.").where_asked(),
        count("contributor_count", "How many contributors it has."),
        count("files_count", "How many uploaded files it has."),
    ))]
    #[serde(skip)]
    pub entry_fields: Answers,
    /// Its automatic score.
    #[member(Number(None, None), default = "0".to_owned())]
    #[serde(deserialize_with = "slots::raw")]
    pub auto_score: String,
    /// Its category, which is of its season and its form.
    #[member(Ref(Kind::Category), required, to_create, updatable, followed_by(
        Member::optional("parent_category", Shape::Ref(Kind::Category), "The category of which that is a part.").nullable().example("null"),
    ))]
    #[serde(deserialize_with = "slots::reference")]
    pub category: Slug,
    /// A chapter of its season that offers its category; a new entry that names none gets the first one.
    #[member(Ref(Kind::Chapter), required, creatable, updatable)]
    #[serde(deserialize_with = "slots::reference")]
    pub chapter: Slug,
    /// Its form, which is its category's where that has one.
    #[member(Ref(Kind::Form), required, creatable)]
    #[serde(deserialize_with = "slots::reference")]
    pub form: Slug,
    /// Its season.
    #[member(Ref(Kind::Season), required, to_create)]
    #[serde(deserialize_with = "slots::reference")]
    pub season: Slug,
    /// The comments of managers, in one text.
    #[member(Text(COMMENTS_LENGTH))]
    pub comments: String,
    /// The comments of users, in one text.
    #[member(Text(COMMENTS_LENGTH))]
    pub user_comments: String,
    /// Until when it can be submitted, by the clocks of the account; - for no deadline of its own.
    #[member(Pattern(DEADLINE), read = rules::deadline::read, default = NO_DEADLINE.to_owned(), nullable, never_null,
        creatable, updatable, example("2030-12-31 17:00"))]
    pub custom_deadline: String,
    /// The division in which it is judged.
    #[member(Integer(1, i64::MAX))]
    pub division: Option<i64>,
    /// Whether it was screened.
    #[member(default = Eligibility::Unscreened)]
    pub eligibility_status: Eligibility,
    /// What managers think of it.
    #[member(default = Moderation::Undecided, creatable, updatable)]
    pub moderation_status: Moderation,
    /// Whether it is paid for.
    #[member(default = Payment::Unpaid)]
    pub payment_status: Payment,
    /// Whether it was looked through for what others wrote.
    #[member(Text(STATUS_LENGTH), default = NOT_SCANNED.to_owned())]
    pub plagiarism_scan_status: String,
    /// Where it is in its review.
    #[member(Text(STATUS_LENGTH))]
    pub review_status: String,
    /// The status of its grant; null for none.
    #[member(Text(STATUS_LENGTH), creatable, updatable)]
    pub grant_status: Option<String>,
    /// When its grant ends; null for never.
    #[member(creatable, updatable)]
    pub grant_end_date: Option<Date>,
    /// Its tags, with commas between them.
    #[member(Text(COMMENTS_LENGTH), read = rules::tags::read)]
    pub tags: String,
    /// Whether it is kept for the record only. Not shown, and set by program files alone.
    #[member(hidden)]
    #[serde(default)]
    pub archived: bool,
}

impl Entry {
    /// Where it is, as far as review stages ask.
    pub(crate) fn place(&self) -> EntryPlace {
        let Self { season, form, category, chapter, .. } = *self;
        EntryPlace { season, form, category, chapter }
    }
}

/// What is computed counts as read; whether it agrees is asked of [`Stated`] when the related data are known.
fn pass_over_computed(members: &mut Members<'_>) {
    members.nullable("parent_category", input::slug);
    members.optional("contributor_count", input::integer(0..=i64::MAX));
    members.optional("files_count", input::integer(0..=i64::MAX));
}
