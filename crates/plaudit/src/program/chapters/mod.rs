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

pub(crate) use rules::write_settings;
pub use rules::{Candidate, Create, Update, create, document, may_manage, read_create, read_update, update};

use super::{Context, DESCRIPTION_LENGTH, Member, NAME_LENGTH, SetupRecord, Shape, names};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token, Translated};

/// The widest image, in pixels.
pub const IMAGE_WIDTH: i64 = 10_000;
/// The most managers of a chapter.
pub const MANAGERS: usize = 1_000;

/// Whether a chapter, or a category, can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can.
    Active,
    /// It cannot; what has chosen it stays.
    Inactive,
}

impl Status {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[("active", Self::Active), ("inactive", Self::Inactive)];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// Its name.
    pub name: Translated,
    /// Its description.
    pub description: Translated,
    /// Whether it can be chosen.
    pub status: Status,
    /// The heading of its image.
    pub image_heading: Translated,
    /// The file of its image.
    pub image: Option<Token>,
    /// The most pixels that its image is wide.
    pub max_image_width: Option<i64>,
    /// Who manages it, in the order in which they were named.
    pub managers: Vec<Slug>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Chapter {
    const KIND: Kind = Kind::Chapter;

    const MEMBERS: &'static [Member] = &[
        Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.")
            .identifying()
            .to_create()
            .or_gone(),
        Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.")
            .identifying()
            .text()
            .to_create()
            .updatable(),
        Member::optional("description", Shape::Translated(DESCRIPTION_LENGTH), "What it is, at length."),
        Member::optional(
            "status",
            Shape::OneOf(|| names(Status::CHOICES)),
            "Whether it can be chosen; active where it is left out, and shown by a label in the reader's language.",
        )
        .to_create()
        .updatable()
        .shown_as(&Shape::Text(NAME_LENGTH)),
        Member::optional("image_heading", Shape::Translated(NAME_LENGTH), "The heading of its image.")
            .text()
            .creatable()
            .updatable()
            .hidden(),
        Member::optional("image", Shape::Token, "The token of its image; left out, what was uploaded stays.")
            .nullable()
            .kept()
            .hidden(),
        Member::optional(
            "max_image_width",
            Shape::Integer(1, IMAGE_WIDTH),
            "The widest that its image is shown, in pixels; null for no limit.",
        )
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
        Member::optional(
            "managers",
            Shape::Set(&Shape::Ref(Kind::User), MANAGERS),
            "Who manages it, in the order in which they were named; left out, who does stays.",
        )
        .kept()
        .creatable()
        .updatable(),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let languages = &context.languages;
        let season = members.required("season", input::slug);
        let name = members.required("name", input::translated(languages, NAME_LENGTH));
        let description = members.optional("description", input::translated(languages, DESCRIPTION_LENGTH));
        let status = members.optional("status", input::one_of(Status::CHOICES));
        let image_heading = members.optional("image_heading", input::translated(languages, NAME_LENGTH));
        let image = members.nullable("image", input::token);
        let max_image_width = members.nullable("max_image_width", input::integer(1..=IMAGE_WIDTH));
        let managers = members.optional("managers", input::slugs(MANAGERS));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            name: name?,
            description: description.unwrap_or_default(),
            status: status.unwrap_or(Status::Active),
            image_heading: image_heading.unwrap_or_default(),
            image: image.flatten(),
            max_image_width: max_image_width.flatten(),
            managers: managers.unwrap_or_default(),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.locales("name", &self.name);
        object.locales("description", &self.description);
        object.text("status", self.status.name());
        object.locales("image_heading", &self.image_heading);
        object.optional_text("image", self.image.as_ref().map(Token::as_str));
        object.optional_integer("max_image_width", self.max_image_width);
        object.slugs("managers", &self.managers);
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
        let managers = self.managers.iter().map(|manager| ("managers", Kind::User, *manager));
        std::iter::once(("season", Kind::Season, self.season)).chain(managers).collect()
    }

    fn files(&self) -> Vec<(&'static str, &Token)> {
        self.image.iter().map(|image| ("image", image)).collect()
    }
}
