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

mod body;
pub(crate) mod document;
mod members;
mod rules;

pub use body::{Body, read_create, read_update};
pub(crate) use document::{chapter_count, write_settings};
pub use document::{document, item};
pub use members::BODY;
pub use rules::{create, moved_up, update};

pub(crate) use super::chapters::{IMAGE_WIDTH, Status};
use super::{Context, Member, Program, SetupRecord};
pub(crate) use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated};

/// The most chapters that a category names.
pub const CHAPTERS: usize = 10_000;
/// The most images of a category.
pub const IMAGES: usize = 100;
/// The most divisions, and the most entries that an entrant can be limited to.
pub const COUNT: i64 = 1_000_000;

/// A category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// Its name.
    pub name: Translated,
    /// Its description.
    pub description: Translated,
    /// A short name.
    pub shortcode: Translated,
    /// Whether it can be chosen.
    pub status: Status,
    /// The form of its entries.
    pub form: Option<Slug>,
    /// The category that it is a part of.
    pub parent: Option<Slug>,
    /// Into how many divisions its entries are judged apart.
    pub divisions: i64,
    /// Whether it is promoted, where that is stated.
    pub promoted: Option<bool>,
    /// The chapters that offer it; none means every chapter of its season.
    pub chapters: Vec<Slug>,
    /// How many entries an entrant can have in it.
    pub entrant_max_entries: Option<i64>,
    /// What the title of an entry is called.
    pub entry_name_label: Translated,
    /// Whether the title of an entry is filled in for the entrant.
    pub fill_entry_name: bool,
    /// The heading of its image.
    pub image_heading: Translated,
    /// The files of its images.
    pub images: Vec<Token>,
    /// The most pixels that its images are wide.
    pub max_image_width: Option<i64>,
    /// What is printed on a packing slip.
    pub packing_slip_instructions: Translated,
    /// Whether packing slips are made.
    pub pdf_packing_slip: bool,
    /// Whether its entries can no longer be changed.
    pub locked: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl Category {
    /// A category of which nothing is known but these.
    fn new(slug: Slug, season: Slug, now: Timestamp) -> Self {
        Self {
            slug,
            season,
            name: Translated::default(),
            description: Translated::default(),
            shortcode: Translated::default(),
            status: Status::Active,
            form: None,
            parent: None,
            divisions: 1,
            promoted: None,
            chapters: Vec::new(),
            entrant_max_entries: None,
            entry_name_label: Translated::default(),
            fill_entry_name: false,
            image_heading: Translated::default(),
            images: Vec::new(),
            max_image_width: None,
            packing_slip_instructions: Translated::default(),
            pdf_packing_slip: false,
            locked: false,
            created: now,
            updated: now,
        }
    }

    /// Whether it can be chosen in a chapter of its season.
    #[must_use]
    pub fn offers(&self, chapter: Slug) -> bool {
        self.chapters.is_empty() || self.chapters.contains(&chapter)
    }
}

impl SetupRecord for Category {
    const KIND: Kind = Kind::Category;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name_text = || input::translated(&context.languages, NAME_LENGTH);
        let long_text = || input::translated(&context.languages, DESCRIPTION_LENGTH);
        members.link(slug);
        // It counts other records, and is compared with them where they are known.
        members.optional("entry_count", input::integer(0..=i64::MAX));
        let season = members.required("season", input::slug);
        let name = members.required("name", name_text());
        let description = members.optional("description", long_text());
        let shortcode = members.optional("shortcode", name_text());
        let status = members.optional("status", input::one_of(Status::CHOICES));
        let form = members.nullable("form", input::slug);
        let parent = members.nullable("parent", input::slug);
        if parent == Some(Some(slug)) {
            members.fault("parent", "must not be the category itself");
        }
        let divisions = members.optional("divisions", input::integer(1..=COUNT));
        let promoted = members.nullable("promoted", input::integer(0..=1));
        let chapters = members.nullable("chapters", input::list(CHAPTERS, input::slug)).flatten().unwrap_or_default();
        members.computed("chapter_count", input::counted(chapters.len()));
        let entrant_max_entries = members.nullable("entrant_max_entries", input::integer(0..=COUNT));
        let entry_name_label = members.optional("entry_name_label", name_text());
        let fill_entry_name = members.optional("fill_entry_name", input::flag);
        let image_heading = members.optional("image_heading", name_text());
        let images = members.optional("images", input::list(IMAGES, read_image));
        let max_image_width = members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH));
        let packing_slip_instructions = members.optional("packing_slip_instructions", long_text());
        let pdf_packing_slip = members.optional("pdf_packing_slip", input::flag);
        let locked = members.optional("locked", input::flag);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            name: name?,
            description: description.unwrap_or_default(),
            shortcode: shortcode.unwrap_or_default(),
            status: status.unwrap_or(Status::Active),
            form: form.flatten(),
            parent: parent.flatten(),
            divisions: divisions.unwrap_or(1),
            promoted: promoted.flatten().map(|promoted| promoted == 1),
            chapters,
            entrant_max_entries: entrant_max_entries.flatten(),
            entry_name_label: entry_name_label.unwrap_or_default(),
            fill_entry_name: fill_entry_name.unwrap_or(false),
            image_heading: image_heading.unwrap_or_default(),
            images: images.unwrap_or_default(),
            max_image_width: max_image_width.flatten(),
            packing_slip_instructions: packing_slip_instructions.unwrap_or_default(),
            pdf_packing_slip: pdf_packing_slip.unwrap_or(false),
            locked: locked.unwrap_or(false),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.locales("name", &self.name);
        object.locales("description", &self.description);
        object.locales("shortcode", &self.shortcode);
        object.text("status", self.status.name());
        object.optional_slug("form", self.form);
        object.optional_slug("parent", self.parent);
        object.integer("divisions", self.divisions);
        object.optional_integer("promoted", self.promoted.map(i64::from));
        object.texts("chapters", self.chapters.iter().map(Slug::as_str));
        object.optional_integer("entrant_max_entries", self.entrant_max_entries);
        object.locales("entry_name_label", &self.entry_name_label);
        object.flag("fill_entry_name", self.fill_entry_name);
        object.locales("image_heading", &self.image_heading);
        object.texts("images", self.images.iter().map(Token::as_str));
        object.optional_integer("max_image_width", self.max_image_width);
        object.locales("packing_slip_instructions", &self.packing_slip_instructions);
        object.flag("pdf_packing_slip", self.pdf_packing_slip);
        object.flag("locked", self.locked);
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
        let form = self.form.map(|form| ("form", Kind::Form, form));
        let parent = self.parent.map(|parent| ("parent", Kind::Category, parent));
        let chapters = self.chapters.iter().map(|chapter| ("chapters", Kind::Chapter, *chapter));
        std::iter::once(("season", Kind::Season, self.season)).chain(form).chain(parent).chain(chapters).collect()
    }

    fn files(&self) -> Vec<(&'static str, &Token)> {
        self.images.iter().map(|image| ("images", image)).collect()
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}

/// An image is the token of its file, or the object that a read shows, of which the token is kept.
fn read_image(json: &Json) -> Result<Token, String> {
    input::token(json.get("token").unwrap_or(json))
}
