//! Contributors: people whom an entry names, each with the answers of one tab of its form.
//!
//! - A contributor belongs to one entry, and shows the entry's season.
//! - The entry's second document holds its contributors; whoever changes one has the entry recomputed in the same
//!   transaction ([`crate::records::entries::refresh_detail`]).
//! - It stands on a tab for contributors of its entry's form, for good, and answers the fields of that tab that are asked in
//!   the category of the entry.
//! - It changes with its entry: not in a season that is over, not in a locked category. With its entry it is in the trash.
//! - Its answers are kept once more as the list sorts by them.

pub(crate) mod list;
pub(crate) mod rules;
pub mod store;

pub use list::LISTED;
pub use rules::{text_of, write_shown};

/// The most contributors of an entry, which shows all of them.
pub const MOST: i64 = 1_000;

use crate::lists::Table;
use crate::program::{Member, Record, SLUG, Shape};
use crate::records::answers::Answers;
use crate::records::people::PeopleRecord;
use crate::records::store::SetTable;
use db::Value;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

const SEASON: Member = Member::optional("season", Shape::Ref(Kind::Season), "The season of the entry.");

/// A contributor.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = pass_over_season())]
pub struct Contributor {
    /// Its slug.
    pub slug: Slug,
    /// The entry that the contributor took part in.
    #[member(Ref(Kind::Entry), required, to_create, shown_as(&Shape::Component("EntryReference")))]
    pub entry: Slug,
    /// A tab for contributors of the entry's form.
    #[member(Ref(Kind::Tab), required, to_create)]
    pub tab: Slug,
    /// Answers to the fields of the tab.
    #[member(creatable, updatable, shown_as(&Shape::Component("FieldAnswers")), followed_by(SEASON, SLUG))]
    pub fields: Answers,
    /// When the contributor was added.
    pub created: Timestamp,
    /// When the contributor was last changed.
    pub updated: Timestamp,
}

impl PeopleRecord for Contributor {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![self.entry.into(), self.tab.into(), self.created.into(), self.updated.into()]
    }

    const SETS: &'static [SetTable] = &[store::ANSWERS];

    fn sets(&self) -> Vec<Vec<Vec<Value<'static>>>> {
        let answers = self.fields.iter().map(|(field, answer)| vec![field.into(), rules::sort_key(answer).into()]);
        vec![answers.collect()]
    }
}

/// The season is the entry's, so that it may be stated and is not kept.
fn pass_over_season(members: &mut Members<'_>) {
    members.nullable("season", input::slug);
}
