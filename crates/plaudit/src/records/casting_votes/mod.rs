//! Casting votes: the order in which the chair puts entries of a score set that are tied, with the reason.
//!
//! - A score set has at most one. Its entries are of the form of the score set, each once, the best first; an entry that it does
//!   not name comes after those that it does.
//! - It decides where the tie-break of the score set names it, or last of all but the lot.
//! - One that was taken back is in the trash.

use list_view::Holds;

use crate::lists::{Table, column};
use crate::program::Record;
use crate::records::people::{OfScoreSet, PeopleRecord};
use db::Value;
use kernel::document;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The most entries of a casting vote.
pub const ENTRIES: usize = 10_000;
/// The most characters of a reason.
pub const REASON_LENGTH: usize = 10_000;

/// A casting vote.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(changes = Changes)]
pub struct CastingVote {
    /// Its slug.
    pub slug: Slug,
    /// The score set.
    #[member(Ref(Kind::ScoreSet), required, to_create)]
    pub score_set: Slug,
    /// The entries, the best first.
    #[member(FilledSet(&Shape::Ref(Kind::Entry), ENTRIES), required, to_create, shown_as(&Shape::List(&Shape::Slug, ENTRIES)))]
    pub entries: Vec<Slug>,
    /// Why.
    #[member(FilledText(REASON_LENGTH), required, to_create)]
    pub reason: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl PeopleRecord for CastingVote {
    const TABLE: &'static Table = &TABLE;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![self.score_set.into(), self.updated.into()]
    }
}

impl OfScoreSet for CastingVote {
    fn score_set(&self) -> Slug {
        self.score_set
    }

    fn document(&self) -> String {
        document::object(|object| {
            object.slug("slug", self.slug);
            object.reference("score_set", Kind::ScoreSet, self.score_set);
            object.slugs("entries", &self.entries);
            object.text("reason", &self.reason);
            object.time("created", self.created);
            object.time("updated", self.updated);
        })
    }
}

/// The table of casting votes. They have no list.
static TABLE: Table = Table {
    sql: "casting_votes",
    name: "slug",
    columns: &[column("score_set", Holds::Code), column("updated", Holds::Number), column("deleted", Holds::Flag)],
    sets: &[],
};
