//! Forms: what an entrant fills in, made of tabs, which are made of fields.
//!
//! - A form is one for entries or for reports.
//! - A form may belong to a season; one that does not serves all of them.
//! - The chapter of an entry is one of `all` chapters, or the entrant has to `select` it.
//! - Tabs are records of their own and are shown within other records only.
//! - A form may have a content block, the text that stands above it.
//! - An entry that is handed in is eligible where its automatic score is at least `minimum_auto_score`; a form without one
//!   screens nothing.
//! - Archived is a flag: an archived form keeps its entries, and lists leave it out unless they are asked for it.
//! - Forms are set up by program files; the interface only reads them.

mod rules;

pub use rules::document;

use super::fields::LIMIT;
use super::{Context, Member, SetupRecord, Shape, names};
use crate::program::NAME_LENGTH;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// How an entry gets its chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChapterOption {
    /// The form stands in all chapters.
    All,
    /// The entrant selects one.
    Select,
}

impl ChapterOption {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[("all", Self::All), ("select", Self::Select)];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Select => "select",
        }
    }
}

/// What a form is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormType {
    /// Entries.
    Entry,
    /// Reports on what became of an entry.
    Report,
}

impl FormType {
    /// The written values.
    pub const CHOICES: &'static [(&'static str, Self)] = &[("entry", Self::Entry), ("report", Self::Report)];

    /// The written value.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Report => "report",
        }
    }
}

/// A form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to, if it is not for all of them.
    pub season: Option<Slug>,
    /// Its name.
    pub name: Translated,
    /// What it is for; the member `type`.
    pub kind: FormType,
    /// How an entry gets its chapter.
    pub chapter_option: ChapterOption,
    /// What invites people to enter.
    pub call_to_action: Translated,
    /// The block of text above it.
    pub content_block: Option<Slug>,
    /// The least automatic score with which an entry is eligible; without it none is screened.
    pub minimum_auto_score: Option<i64>,
    /// Whether it is kept for the record only.
    pub archived: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for Form {
    const KIND: Kind = Kind::Form;

    const MEMBERS: &'static [Member] = &[
        Member::link().hidden(),
        Member::optional(
            "season",
            Shape::Ref(Kind::Season),
            "The season that it belongs to; null or left out, it serves all of them.",
        )
        .nullable()
        .identifying(),
        Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
        Member::optional(
            "type",
            Shape::OneOf(|| names(FormType::CHOICES)),
            "What it is for; entry where it is left out.",
        ),
        Member::optional(
            "chapter_option",
            Shape::OneOf(|| names(ChapterOption::CHOICES)),
            "Whether it stands in all chapters or the entrant has to select one; all where it is left out.",
        ),
        Member::optional("callToAction", Shape::Translated(NAME_LENGTH), "What invites people to enter."),
        Member::optional("content_block", Shape::Ref(Kind::ContentBlock), "The text that stands above it.").nullable(),
        Member::optional(
            "minimum_auto_score",
            Shape::Integer(0, LIMIT),
            "The least automatic score with which an entry is eligible; null for none, so that none is screened.",
        )
        .nullable()
        .hidden(),
        Member::optional("archived", Shape::Flag, "Whether it is kept and takes no more entries.").hidden(),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let name_text = || input::translated(&context.languages, NAME_LENGTH);
        members.link(slug);
        let season = members.nullable("season", input::slug);
        let name = members.required("name", name_text());
        let kind = members.optional("type", input::one_of(FormType::CHOICES));
        let chapter_option = members.optional("chapter_option", input::one_of(ChapterOption::CHOICES));
        let call_to_action = members.optional("callToAction", name_text());
        let content_block = members.nullable("content_block", input::slug);
        let minimum_auto_score = members.nullable("minimum_auto_score", input::integer(0..=LIMIT)).flatten();
        let archived = members.optional("archived", input::flag);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season: season.flatten(),
            name: name?,
            kind: kind.unwrap_or(FormType::Entry),
            chapter_option: chapter_option.unwrap_or(ChapterOption::All),
            call_to_action: call_to_action.unwrap_or_default(),
            content_block: content_block.flatten(),
            minimum_auto_score,
            archived: archived.unwrap_or(false),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.optional_slug("season", self.season);
        object.locales("name", &self.name);
        object.text("type", self.kind.name());
        object.text("chapter_option", self.chapter_option.name());
        object.locales("callToAction", &self.call_to_action);
        object.optional_slug("content_block", self.content_block);
        object.optional_integer("minimum_auto_score", self.minimum_auto_score);
        object.flag("archived", self.archived);
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
        let season = self.season.map(|season| ("season", Kind::Season, season));
        let block = self.content_block.map(|block| ("content_block", Kind::ContentBlock, block));
        season.into_iter().chain(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
    use kernel::text::Locale;

    #[test]
    fn a_form_needs_a_name_and_keeps_what_it_is_given() {
        let now = Timestamp::from_seconds(1_000);
        let context = Context { languages: vec![Locale::EnGb], default_language: Locale::EnGb, now };
        let minimal: Form = store::parse(r#"{"slug":"FormAAAA","name":{"en_GB":"Entry"}}"#, &context).unwrap();
        assert_eq!((minimal.kind, minimal.chapter_option), (FormType::Entry, ChapterOption::All));
        assert_eq!((minimal.season, minimal.updated), (None, now));
        let text = r#"{"slug":"FormAAAA","season":"SeasonAA","name":{"en_GB":"Report"},"type":"report","chapter_option":"select","callToAction":{"en_GB":"Report now"},"content_block":"BlockAAA","minimum_auto_score":10,"archived":false,"created":"2026-01-01T00:00:00.000000Z","updated":"2026-01-02T00:00:00.000000Z"}"#;
        assert_eq!(store::stored(&store::parse::<Form>(text, &context).unwrap()), text);
        assert!(store::parse::<Form>(r#"{"slug":"FormAAAA"}"#, &context).is_err());
    }
}
