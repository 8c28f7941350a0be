//! Content blocks: texts that stand above forms.
//!
//! - A block has a name, by which lists of forms are sorted, and a content in HTML; both may be of several languages.
//! - Content blocks are set up by program files; forms name them.

use super::{DESCRIPTION_LENGTH, NAME_LENGTH, Record};
use kernel::text::{Slug, Timestamp, Translated};

/// A content block.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(extra(Member::link()))]
pub struct ContentBlock {
    /// Its slug.
    pub slug: Slug,
    /// What it is called.
    #[member(Translated(NAME_LENGTH), required, identifying, is_name)]
    pub name: Translated,
    /// What it says, in HTML.
    #[member(Translated(DESCRIPTION_LENGTH))]
    pub content: Translated,
    /// When it was made; left out, what is stored, or the time of the run.
    pub created: Timestamp,
    /// When it was last changed; left out, what is stored, or the time of the run.
    pub updated: Timestamp,
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
