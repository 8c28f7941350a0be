//! Content blocks: texts that stand above forms.
//!
//! - A block has a name, by which lists of forms are sorted, and a content in HTML; both may be of several languages.
//! - Content blocks are set up by program files; forms name them.

use super::{Context, Member, SetupRecord, Shape};
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Translated};

/// A content block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentBlock {
    /// Its slug.
    pub slug: Slug,
    /// What it is called.
    pub name: Translated,
    /// What it says, in HTML.
    pub content: Translated,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl SetupRecord for ContentBlock {
    const KIND: Kind = Kind::ContentBlock;

    const MEMBERS: &'static [Member] = &[
        Member::link(),
        Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
        Member::optional("content", Shape::Translated(DESCRIPTION_LENGTH), "What it says, in HTML."),
        Member::created("created"),
        Member::updated("updated"),
    ];

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        members.link(slug);
        let name = members.required("name", input::translated(&context.languages, NAME_LENGTH));
        let text = members.optional("content", input::translated(&context.languages, DESCRIPTION_LENGTH));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self { slug, name: name?, content: text.unwrap_or_default(), created, updated })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.locales("name", &self.name);
        object.locales("content", &self.content);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::testing;

    proptest! {
        #[test]
        fn read_of_write_is_the_same(
            (slug, name, content) in (testing::slug(), testing::translated(), testing::translated()),
        ) {
            let (created, updated) = (Timestamp::from_seconds(1), Timestamp::from_seconds(2));
            testing::reads_back(&ContentBlock { slug, name, content, created, updated });
        }
    }
}
