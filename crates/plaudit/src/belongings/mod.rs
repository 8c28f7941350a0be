//! What belongs to an entry and is listed on its own: attachments and contributors. What their lists have in common.
//!
//! - A list shows what is not in the trash and whose entry is not either, and filters by what the entry is. What seldom
//!   changes of an entry ([`Owner`]) is kept beside what belongs to it: whoever changes an entry calls [`store::follow`] in
//!   the same transaction, whoever writes what belongs to it [`store::settle`].
//! - Season, category and tab are one number, the segment, as for users. How many have it is kept, so that a total is a sum
//!   of few numbers.
//! - What changes often, such as the chapter and the status, is asked of the entry itself, so that nothing has to be
//!   written for it. A list with such a filter counts what it selects, as one by an entry or a tag does.
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
    /// Its title after case folding.
    pub title_key: String,
    /// Whether it is in the trash.
    pub deleted: bool,
}
