//! What judges are shown beside the entry.

use crate::program::choice::choices;
use crate::program::{Record, object_values};

choices! {
    /// When judges are shown what others gave.
    pub enum Others {
        /// Never.
        Never "never",
        /// When their own sheet is complete.
        AfterOwn "after_own",
        /// Always.
        Always "always",
    }
}

/// What judges are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Record)]
pub struct Shows {
    /// When they see the scores of others; never where it is left out.
    #[member(default = Others::Never)]
    pub others_scores: Others,
    /// When they see the comments of others; never where it is left out.
    #[member(default = Others::Never)]
    pub others_comments: Others,
    /// Whether they see who the other judges are.
    pub names_of_judges: bool,
    /// Whether they see who entered, with contributors and attachments.
    pub entrants: bool,
}

impl Shows {
    /// From when on judges see anything of the sheets of others.
    pub fn first_of_others(self) -> Others {
        let shows = [self.others_scores, self.others_comments];
        let first = [Others::Always, Others::AfterOwn].into_iter().find(|when| shows.contains(when));
        first.unwrap_or(Others::Never)
    }
}

impl Default for Shows {
    fn default() -> Self {
        let nothing = Others::Never;
        Self { others_scores: nothing, others_comments: nothing, names_of_judges: false, entrants: false }
    }
}

object_values!(Shows);
