//! Conflicts of interest that judges have declared: such a judge is never to judge the entry, in whatever score set.
//!
//! - A judge declares it at an assignment; only a manager lifts it.
//! - One that was lifted is in the trash.

use list_view::Holds;

use crate::lists::{Table, column};
use crate::program::Record;
use crate::records::people::PeopleRecord;
use db::Value;
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// A conflict, as program files have it.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
pub struct Conflict {
    /// Its slug.
    pub slug: Slug,
    /// The entry.
    #[member(Ref(Kind::Entry), required)]
    pub entry: Slug,
    /// The judge.
    #[member(Ref(Kind::User), required)]
    pub judge: Slug,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl PeopleRecord for Conflict {
    const TABLE: &'static Table = &TABLE;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![self.entry.into(), self.judge.into(), self.updated.into()]
    }
}

/// The table of conflicts. They have no list.
static TABLE: Table = Table {
    sql: "conflicts",
    name: "slug",
    columns: &[
        column("entry", Holds::Code),
        column("judge", Holds::Code),
        column("updated", Holds::Number),
        column("deleted", Holds::Flag),
    ],
    sets: &[],
};
