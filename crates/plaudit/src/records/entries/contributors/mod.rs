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
mod members;
pub(crate) mod rules;
pub mod store;

pub use list::LISTED;
pub use members::MEMBERS;
pub use rules::write_shown;

/// The most contributors of an entry, which shows all of them.
pub const MOST: i64 = 1_000;

use crate::program::{Context, Identified, RecordMembers, SetupRecord};
use crate::records::answers::Answers;
use kernel::document::Object;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp};

/// A contributor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// Its slug.
    pub slug: Slug,
    /// The entry that it belongs to.
    pub entry: Slug,
    /// The tab whose fields it answers.
    pub tab: Slug,
    /// The answers.
    pub fields: Answers,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl RecordMembers for Contributor {
    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let entry = members.required("entry", input::slug);
        let tab = members.required("tab", input::slug);
        let fields = members.optional("fields", Answers::read);
        // The season is the entry's, so that it may be stated and is not kept.
        members.nullable("season", input::slug);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self { slug, entry: entry?, tab: tab?, fields: fields.unwrap_or_default(), created, updated })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.slug("entry", self.entry);
        object.slug("tab", self.tab);
        object.raw("fields", &self.fields.to_json());
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![("entry", Kind::Entry, self.entry), ("tab", Kind::Tab, self.tab)]
    }
}

impl Identified for Contributor {
    fn slug(&self) -> Slug {
        self.slug
    }
}

impl SetupRecord for Contributor {
    const KIND: Kind = Kind::Contributor;
}
