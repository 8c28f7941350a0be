//! Chapters: regional or organisational divisions in which categories can be made available.
//!
//! - A chapter belongs to a season and keeps to it.
//! - Its `status` is `active` or `inactive` when written and a label in the reader's language when read.
//! - An update changes what it names; a locale that it leaves out keeps its text. The name in the account's default
//!   language cannot be made blank.
//! - Managers are users of the account who hold the role of a chapter manager, or of a program manager
//!   ([`may_manage`]); their names stand in their own records alone.
//! - A chapter may have one image; an upload takes the place of the one before. It is not shown with the chapter.
//! - Deleting a chapter never fails on account of its entries: they keep their reference and show its name.

mod rules;

pub use rules::{Candidate, create, document, may_manage, update};

use super::choice::choices;
use super::{DESCRIPTION_LENGTH, NAME_LENGTH, Record};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated};

/// The widest image, in pixels.
pub const IMAGE_WIDTH: i64 = 10_000;
/// The most managers of a chapter.
pub const MANAGERS: usize = 1_000;

choices! {
    /// Whether a chapter, or a category, can be chosen.
    pub enum Status {
        /// It can.
        Active "active",
        /// It cannot; what has chosen it stays.
        Inactive "inactive",
    }
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(blank, changes = Changes, settings)]
pub struct Chapter {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying, to_create, or_gone)]
    pub season: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name, text, to_create, updatable)]
    pub name: Translated,
    /// Its description.
    #[member(Translated(DESCRIPTION_LENGTH))]
    pub description: Translated,
    /// Whether it can be chosen; active where it is left out, and shown by a label in the reader's language.
    #[member(default = Status::Active, to_create, updatable, shown_as(&Shape::Text(NAME_LENGTH)))]
    pub status: Status,
    /// The heading of its image.
    #[member(Translated(NAME_LENGTH), text, creatable, updatable, hidden)]
    pub image_heading: Translated,
    /// The token of its image; left out, what was uploaded stays.
    #[member(kept, hidden)]
    pub image: Option<Token>,
    /// The widest that its image is shown, in pixels; null for no limit.
    #[member(Integer(1, IMAGE_WIDTH), creatable, updatable, hidden, example("1600"))]
    pub max_image_width: Option<i64>,
    /// Who manages it, in the order in which they were named; left out, who does stays.
    #[member(Set(&Shape::Ref(Kind::User), MANAGERS), kept, creatable, updatable)]
    pub managers: Vec<Slug>,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}
