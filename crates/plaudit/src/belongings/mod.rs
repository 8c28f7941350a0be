//! What belongs to an entry and is listed on its own: attachments and contributors. What their lists have in common.
//!
//! - A list shows what is not in the trash and whose entry is not either, and filters by what the entry is, so that what a
//!   filter tells of the entry ([`Owner`]) is kept beside what belongs to it. Whoever changes an entry calls
//!   [`store::follow`] in the same transaction, whoever writes what belongs to it [`store::settle`].
//! - What the filters tell apart is one number, the segment, as it is for users. How many have it is kept, so that a total
//!   is a sum of few numbers; a filter by one entry or one tag counts what that has.
//! - Both show the title of their entry. A new title is a change `renewed` of each: the time of the last change stays, and
//!   no event is caused.

mod list;
mod selection;
pub mod store;

pub use list::{Shown, answer, page};
pub use selection::{Listed, Order, Selection};

use crate::kind::Kind;
use crate::text::Slug;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Belonging {
    /// Attachments, known by their tokens.
    Attachment,
    /// Contributors, known by their slugs.
    Contributor,
}

impl Belonging {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Attachment, Self::Contributor];

    /// The kind of record.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Attachment => Kind::Attachment,
            Self::Contributor => Kind::Contributor,
        }
    }
}

/// What is kept of an entry beside what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Its season.
    pub season: Slug,
    /// Its category.
    pub category: Slug,
    /// The chapter that it is in.
    pub chapter: Slug,
    /// Where it is on its way, as it is written.
    pub status: String,
    /// What the managers think of it, as it is written.
    pub moderation: String,
    /// Whether it is paid, as it is written.
    pub payment: String,
    /// Its review status.
    pub review: String,
    /// Its title after case folding.
    pub title_key: String,
    /// Whether it is in the trash.
    pub deleted: bool,
}
