//! Prices: what an entry, a person, a tag or a ticket costs, in each currency that it can be paid in.
//!
//! - A price belongs to a season. Where it names categories or chapters, which are of the same season, it is that of
//!   their entries only. A price of the type `tag` names the tag.
//! - An amount is exact in minor units and not below nothing.
//! - A currency may have several amounts, each `from` a time of the account's time zone on: the price switches over by
//!   itself ([`Price::amount_at`]). An amount without `from` holds before that; a currency without one cannot be paid
//!   in until its first begins.
//! - A time that comes twice because clocks are put back is the first of the two.
//! - Prices are set up by program files; lines of orders show their slug, link and title.

mod amounts;
pub(in crate::program) mod members;
mod rules;

pub use amounts::{AMOUNTS, Amount};
pub(in crate::program) use amounts::{read as read_amounts, write as write_amounts};

use super::choice::choices;
use super::{Context, Member, Program, SetupRecord};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members, Violations};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// The most categories, or chapters, that a price names.
pub const PLACES: usize = 10_000;

choices! {
    /// What is paid for.
    pub enum PriceType {
        /// Each entry.
        Entry "entry",
        /// Each person who enters, once a season.
        Entrant "entrant",
        /// Each entry with a tag.
        Tag "tag",
        /// A ticket.
        Ticket "ticket",
    }
}

/// A price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to.
    pub season: Slug,
    /// What it is called.
    pub title: Translated,
    /// What is paid for; the member `type`.
    pub kind: PriceType,
    /// The tag of the entries that it is for.
    pub tag: Option<String>,
    /// The categories of the entries that it is for; none means every one.
    pub categories: Vec<Slug>,
    /// The chapters of the entries that it is for; none means every one.
    pub chapters: Vec<Slug>,
    /// The amounts by currency and by the time from which each holds.
    pub amounts: Vec<Amount>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Price {
    const KIND: Kind = Kind::Price;
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let season = members.required("season", input::slug);
        let title = members.required("title", input::translated(&context.languages, NAME_LENGTH));
        let kind = members.optional("type", input::one_of(PriceType::CHOICES)).unwrap_or(PriceType::Entry);
        let tag = members.nullable("tag", input::filled_text(NAME_LENGTH)).flatten();
        if (kind == PriceType::Tag) != tag.is_some() {
            members.fault("tag", "is required for a price of the type tag, and for no other");
        }
        let categories = members.optional("categories", input::slugs(PLACES));
        let chapters = members.optional("chapters", input::slugs(PLACES));
        let amounts = read_amounts(members, true);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season?,
            title: title?,
            kind,
            tag,
            categories: categories.unwrap_or_default(),
            chapters: chapters.unwrap_or_default(),
            amounts,
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("season", self.season);
        object.locales("title", &self.title);
        object.text("type", self.kind.name());
        object.optional_text("tag", self.tag.as_deref());
        object.slugs("categories", &self.categories);
        object.slugs("chapters", &self.chapters);
        write_amounts(&self.amounts, object);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.title)
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        let categories = self.categories.iter().map(|category| ("categories", Kind::Category, *category));
        let chapters = self.chapters.iter().map(|chapter| ("chapters", Kind::Chapter, *chapter));
        std::iter::once(("season", Kind::Season, self.season)).chain(categories).chain(chapters).collect()
    }

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }
}
