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

use super::choice::choices;
use super::fields::LIMIT;
use super::{NAME_LENGTH, Record};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

choices! {
    /// How an entry gets its chapter.
    pub enum ChapterOption {
        /// The form stands in all chapters.
        All "all",
        /// The entrant selects one.
        Select "select",
    }
}

choices! {
    /// What a form is for.
    pub enum FormType {
        /// Entries.
        Entry "entry",
        /// Reports on what became of an entry.
        Report "report",
    }
}

/// A form.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link().hidden()))]
pub struct Form {
    /// Its slug.
    pub slug: Slug,
    /// The season that it belongs to; null or left out, it serves all of them.
    #[member(Ref(Kind::Season), identifying)]
    pub season: Option<Slug>,
    /// Its name.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What it is for; entry where it is left out.
    #[member(name = "type", default = FormType::Entry)]
    pub kind: FormType,
    /// Whether it stands in all chapters or the entrant has to select one; all where it is left out.
    #[member(default = ChapterOption::All)]
    pub chapter_option: ChapterOption,
    /// What invites people to enter.
    #[member(name = "callToAction", Translated(NAME_LENGTH))]
    pub call_to_action: Translated,
    /// The block of text above it.
    #[member(Ref(Kind::ContentBlock))]
    pub content_block: Option<Slug>,
    /// The least automatic score with which an entry is eligible; null for none, so that none is screened.
    #[member(Integer(0, LIMIT), hidden)]
    pub minimum_auto_score: Option<i64>,
    /// Whether it is kept and takes no more entries.
    #[member(hidden)]
    pub archived: bool,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Context;
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
