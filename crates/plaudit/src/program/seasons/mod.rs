//! Seasons: the periods of a program, by which nearly everything else is kept apart.
//!
//! - A season is `draft`, `active`, `archived` or `destroyed`.
//! - One season is active at a time; activating one archives the one before it ([`activate`]).
//! - What belongs to an archived or destroyed season stays, and can be moved no more.
//! - Seasons are set up by program files; the interface only reads them.

mod rules;

pub use rules::{activate, active_twice, document};

use super::{Context, Member, SetupRecord, Shape, names};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// Where a season is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is being set up.
    Draft,
    /// It is the one that takes entries.
    Active,
    /// It is over.
    Archived,
    /// It is over, and what belonged to it is to be forgotten.
    Destroyed,
}

impl Status {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[
        ("draft", Self::Draft),
        ("active", Self::Active),
        ("archived", Self::Archived),
        ("destroyed", Self::Destroyed),
    ];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Destroyed => "destroyed",
        }
    }

    /// Whether the season is over, so that its entries cannot be moved.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Archived | Self::Destroyed)
    }
}

/// A season.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Season {
    /// Its slug.
    pub slug: Slug,
    /// Its name.
    pub name: Translated,
    /// Where it is in its life.
    pub status: Status,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Season {
    const KIND: Kind = Kind::Season;

    const MEMBERS: &'static [Member] = &[
        Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
        Member::required(
            "status",
            Shape::OneOf(|| names(Status::CHOICES)),
            "Where it is in its life; one season is active at a time.",
        ),
        Member::link().hidden(),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let status = members.required("status", input::one_of(Status::CHOICES));
        members.link(slug);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self { slug, name: name?, status: status?, created, updated })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.locales("name", &self.name);
        object.text("status", self.status.name());
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.name)
    }
}
