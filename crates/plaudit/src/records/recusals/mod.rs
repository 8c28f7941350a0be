//! Recusals: a manager took a judge off an entry, in one score set or in all, and the judge is not assigned to it again.
//!
//! - One that was lifted is in the trash.

use list_view::Holds;

use crate::lists::{Table, column};
use crate::program::Record;
use crate::records::people::PeopleRecord;
use db::Value;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// A recusal, as program files have it.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
pub struct Recusal {
    /// Its slug.
    pub slug: Slug,
    /// The entry.
    #[member(Ref(Kind::Entry), required)]
    pub entry: Slug,
    /// The judge.
    #[member(Ref(Kind::User), required)]
    pub judge: Slug,
    /// The score set; null for all of them.
    #[member(Ref(Kind::ScoreSet))]
    pub score_set: Option<Slug>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl PeopleRecord for Recusal {
    const TABLE: &'static Table = &TABLE;

    fn columns(&self) -> Vec<Value<'static>> {
        let score_set = self.score_set.map_or_else(String::new, |slug| slug.to_string());
        vec![self.entry.into(), self.judge.into(), score_set.into(), self.updated.into()]
    }
}

/// The table of recusals. They have no list.
static TABLE: Table = Table {
    sql: "recusals",
    name: "slug",
    columns: &[
        column("entry", Holds::Code),
        column("judge", Holds::Code),
        column("score_set", Holds::Code),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};
