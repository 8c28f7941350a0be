//! Lots: the order in which the entries of a score set were drawn, so that anybody can draw them again.
//!
//! - Those who are drawn are the entries on the leaderboard of the score set, numbered by their slugs; the published numbers are the
//!   seed (RFC 3797, with SHA-256; [`scoring::draw`]).
//! - A score set has at most one. It holds the entries as they were drawn, so that an entry that comes later, or goes, changes nothing of
//!   the order of the others; it comes after them.
//! - It decides where the tie-break of the score set names it, or last of all.

use list_view::Holds;
use scoring::draw;

use crate::lists::{Table, column};
use crate::program::Record;
use crate::records::people::{OfScoreSet, PeopleRecord};
use db::Value;
use kernel::document;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// The most entries that are drawn.
pub const ENTRIES: usize = u16::MAX as usize;
/// The most numbers of a source.
const NUMBERS: usize = 100;
/// The largest number, which every reader of JSON has exactly.
const LARGEST: i64 = (1 << 53) - 1;
/// The most characters of a source.
const SOURCE_LENGTH: usize = 1_000;

/// A lot.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(changes = Changes)]
pub struct Lot {
    /// Its slug.
    pub slug: Slug,
    /// The score set.
    #[member(Ref(Kind::ScoreSet), required, to_create)]
    pub score_set: Slug,
    /// The published numbers.
    #[member(List(&Shape::Integer(0, LARGEST), NUMBERS), required, to_create, example("[9, 18, 26, 34, 41, 45]"))]
    pub numbers: Vec<i64>,
    /// Where the numbers come from.
    #[member(FilledText(SOURCE_LENGTH), required, to_create)]
    pub source: String,
    /// The entries as they were drawn, the first first; in the order of their slugs they have the numbers of the draw.
    #[member(FilledSet(&Shape::Ref(Kind::Entry), ENTRIES), required, shown_as(&Shape::List(&Shape::Slug, ENTRIES)))]
    pub entries: Vec<Slug>,
    /// When it was drawn.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// The entries in the order in which these numbers draw them; those beyond [`ENTRIES`] are not drawn.
pub fn drawn(numbers: &[i64], mut entries: Vec<Slug>) -> Vec<Slug> {
    entries.sort_unstable();
    let key = draw::key(&[numbers.iter().map(|number| number.unsigned_abs()).collect()]);
    let order = draw::lot(&key, u16::try_from(entries.len()).unwrap_or(u16::MAX));
    order.into_iter().filter_map(|number| entries.get(number as usize).copied()).collect()
}

/// What is wrong with numbers.
pub fn check_numbers(numbers: &[i64]) -> Result<(), &'static str> {
    if numbers.is_empty() { Err("must have at least 1 item") } else { Ok(()) }
}

impl PeopleRecord for Lot {
    const TABLE: &'static Table = &TABLE;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![self.score_set.into(), self.updated.into()]
    }
}

impl OfScoreSet for Lot {
    fn score_set(&self) -> Slug {
        self.score_set
    }

    fn check(&self) -> Violations {
        let mut violations = Violations::default();
        if let Err(message) = check_numbers(&self.numbers) {
            violations.add("numbers", message);
        } else if drawn(&self.numbers, self.entries.clone()) != self.entries {
            violations.add("entries", "must be in the order in which the numbers draw them");
        }
        violations
    }

    fn document(&self) -> String {
        document::object(|object| {
            object.slug("slug", self.slug);
            object.reference("score_set", Kind::ScoreSet, self.score_set);
            object.list("numbers", |list| self.numbers.iter().for_each(|number| list.integer(*number)));
            object.text("source", &self.source);
            object.slugs("entries", &self.entries);
            object.time("created", self.created);
            object.time("updated", self.updated);
        })
    }
}

/// The table of lots. They have no list.
static TABLE: Table = Table {
    sql: "lots",
    name: "slug",
    columns: &[column("score_set", Holds::Code), column("updated", Holds::Number), column("deleted", Holds::Flag)],
    sets: &[],
};
