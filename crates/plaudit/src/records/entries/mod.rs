//! Entries: what people submit.
//!
//! - An entry belongs to a season, a form and a category, and is in a chapter. Its `local_id` counts from 1 in the
//!   account and is never used again.
//! - An entry is stored as two documents: the members that lists show, which hold the counts of what belongs to it; and
//!   the second one, which only a single read shows: answers, attachments, contributors. Both always are what they would be
//!   if they were made anew from the records that they show ([`refresh_detail`]).
//! - Season, form, category and chapter agree: the category is of the season, and of the form if it has one; the chapter is
//!   of the season, active, and offers the category. An entry of a season that is over cannot change.
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
mod head;
pub(crate) mod list;
mod members;
mod record;
pub(crate) mod rules;
mod standing;
pub mod store;

pub use counts::CountChanges;
pub use document::{RelatedData, answers_of, detail};
pub use given::{Asked, given_to};
pub use head::{Counts, EntryHead};
pub use list::{LISTED, PAYMENTS};
pub use members::MEMBERS;
pub use record::{Stated, complete};
pub use rules::{change_chapter, check_changeable, offered, stopped};
pub use standing::{Eligibility, Moderation, Payment, Status};
pub use store::{Cause, refresh_detail};

use crate::records::answers::Answers;
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

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its slug.
    pub slug: Slug,
    /// Its number within the account.
    pub local_id: i64,
    /// Its title.
    pub title: String,
    /// Where it is on its way.
    pub status: Status,
    /// When it was made.
    pub created: Timestamp,
    /// When it was submitted.
    pub submitted: Option<Timestamp>,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The user who owns it.
    pub entrant: Slug,
    /// The answers to the form's fields.
    pub entry_fields: Answers,
    /// What it scored automatically: the exact text of a number.
    pub auto_score: String,
    /// Its category.
    pub category: Slug,
    /// The chapter that it is in.
    pub chapter: Slug,
    /// Its form.
    pub form: Slug,
    /// Its season.
    pub season: Slug,
    /// Comments of managers, joined.
    pub comments: String,
    /// Comments of users, joined.
    pub user_comments: String,
    /// A deadline of its own, `YYYY-MM-DD HH:MM`, or [`NO_DEADLINE`].
    pub custom_deadline: String,
    /// Its division.
    pub division: Option<i64>,
    /// Whether it scores as much as its form demands.
    pub eligibility_status: Eligibility,
    /// What the managers think of it.
    pub moderation_status: Moderation,
    /// Whether it is paid.
    pub payment_status: Payment,
    /// Where its search for plagiarism stands.
    pub plagiarism_scan_status: String,
    /// Where its review stands.
    pub review_status: String,
    /// The status of its grant.
    pub grant_status: Option<String>,
    /// When its grant ends.
    pub grant_end_date: Option<Date>,
    /// Its tags, with commas between them.
    pub tags: String,
    /// Whether it is kept for the record only. Not shown, and set by program files alone.
    pub archived: bool,
}
