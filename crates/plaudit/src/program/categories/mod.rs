//! Categories: what an entry competes in.
//!
//! - A category belongs to a season; its chapters, its parent and its form belong to the same one.
//! - A category that names no chapters is offered in every chapter of its season.
//! - A parent is neither the category itself nor one of its descendants.
//! - Deleting a category moves its children one level up. Its entries keep their reference and show its name.
//! - A category that is made without a form has the first one for entries of its season.
//! - Packing slips are made or not where a new category has instructions for them: that has to be said.
//! - The chapters that it names can be in the trash; `chapter_count` is how many it names. The count of its entries is
//!   kept with the entries. Both are passed over when a record is read.
//! - An image is added by an upload, and is at most as wide as the category says.

pub(crate) mod document;
mod rules;

pub(crate) use document::chapter_count;
pub use document::{document, item};
pub use rules::{create, moved_up, read_create, update};

use super::chapters::IMAGE_WIDTH;
pub use super::chapters::Status;
use super::{DESCRIPTION_LENGTH, Member, NAME_LENGTH, Record, Shape};
pub(crate) use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated};

/// The most chapters that a category names.
pub const CHAPTERS: usize = 10_000;
/// The most images of a category.
pub const IMAGES: usize = 100;
/// The most divisions, and the most entries that an entrant can be limited to.
pub const COUNT: i64 = 1_000_000;

/// An image is the token of its file, or the object that a read shows.
const IMAGE: Shape =
    Shape::Either(&[Shape::Token, Shape::OpenObject(&[Member::required("token", Shape::Token, "The file.")])]);
const IMAGES_SHOWN: Shape = Shape::List(&Shape::Component("StoredFile"), IMAGES);
const CHAPTERS_OF_BODY: Shape = Shape::Set(&Shape::Ref(Kind::Chapter), CHAPTERS);
const COUNT_OF_CHAPTERS: Member =
    Member::computed("chapter_count", "How many chapters it names.").in_lists().shown_as(&Shape::Integer(0, COUNT));
const COUNT_OF_ENTRIES: Member =
    Member::computed("entry_count", "How many entries it has.").in_lists().shown_as(&Shape::Integer(0, COUNT));

/// A category.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(rules(check), blank, extra(COUNT_OF_CHAPTERS, COUNT_OF_ENTRIES, Member::link().hidden()), check = check_category(slug, parent, chapters), changes = Changes, settings)]
pub struct Category {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    #[member(Ref(Kind::Season), required, identifying, to_create, or_gone)]
    pub season: Slug,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name, text, to_create, updatable)]
    pub name: Translated,
    /// Its description.
    #[member(Translated(DESCRIPTION_LENGTH), text, creatable, updatable)]
    pub description: Translated,
    /// A short name.
    #[member(Translated(NAME_LENGTH), text, creatable, updatable)]
    pub shortcode: Translated,
    /// Whether it can be chosen; active where it is left out.
    #[member(default = Status::Active, to_create, updatable)]
    pub status: Status,
    /// The form of its entries; a body that makes a category and leaves it out takes the season's first one.
    #[member(Ref(Kind::Form), creatable, never_null_in_bodies)]
    pub form: Option<Slug>,
    /// The category that it is a part of.
    #[member(Ref(Kind::Category), identifying, creatable, updatable, example("null"))]
    pub parent: Option<Slug>,
    /// Into how many divisions its entries are judged apart.
    #[member(Integer(1, COUNT), default = 1, creatable, updatable)]
    pub divisions: i64,
    /// Whether it is promoted, where that is stated: 1 or 0.
    #[member(Integer(0, 1), creatable)]
    pub promoted: Option<i64>,
    /// The chapters that offer it; none means every chapter of its season.
    #[member(List(&Shape::Ref(Kind::Chapter), CHAPTERS), nullable, in_bodies_as(&CHAPTERS_OF_BODY), never_null_in_bodies,
        creatable, updatable, in_single_reads, never_null)]
    pub chapters: Vec<Slug>,
    /// How many entries an entrant can have in it; null for no limit.
    #[member(Integer(0, COUNT), creatable, updatable, in_single_reads)]
    pub entrant_max_entries: Option<i64>,
    /// What the title of an entry is called.
    #[member(Translated(NAME_LENGTH), text, creatable, updatable, in_single_reads)]
    pub entry_name_label: Translated,
    /// Whether the title of an entry is filled in for the entrant.
    #[member(creatable, updatable, in_single_reads)]
    pub fill_entry_name: bool,
    /// The heading of its image.
    #[member(Translated(NAME_LENGTH), text, creatable, updatable, in_single_reads)]
    pub image_heading: Translated,
    /// The tokens of its images; left out, what was uploaded stays.
    #[member(List(&IMAGE, IMAGES), kept, in_single_reads, shown_as(&IMAGES_SHOWN))]
    pub images: Vec<Token>,
    /// The widest that its image is shown, in pixels; null for no limit.
    #[member(Integer(1, IMAGE_WIDTH), creatable, updatable, in_single_reads, example("1600"))]
    pub max_image_width: Option<i64>,
    /// What is printed on a packing slip.
    #[member(Translated(DESCRIPTION_LENGTH), text, creatable, updatable, in_single_reads)]
    pub packing_slip_instructions: Translated,
    /// Whether packing slips are made.
    #[member(creatable, updatable, in_single_reads)]
    pub pdf_packing_slip: bool,
    /// Whether its entries can no longer be changed.
    #[member(updatable, hidden)]
    pub locked: bool,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

impl Category {
    /// Whether it can be chosen in a chapter of its season.
    pub fn offers(&self, chapter: Slug) -> bool {
        self.chapters.is_empty() || self.chapters.contains(&chapter)
    }
}

/// What follows from others agrees, and a category is not its own parent.
fn check_category(members: &mut Members<'_>, slug: Slug, parent: Option<&Option<Slug>>, chapters: Option<&Vec<Slug>>) {
    // It counts other records, and is compared with them where they are known.
    members.optional("entry_count", input::integer(0..=i64::MAX));
    members.computed("chapter_count", input::counted(chapters.map_or(0, Vec::len)));
    if parent == Some(&Some(slug)) {
        members.fault("parent", "must not be the category itself");
    }
}
