//! Attachments: files that stand in a tab of an entry, in an order, each with answers of its own.
//!
//! - An attachment and its file have the same token.
//! - The entry's second document holds its attachments with the names of their files; whoever changes one has the
//!   entry recomputed in the same transaction ([`crate::records::entries::refresh_detail`]).
//! - It stands on a tab for attachments of its entry's form, and answers the fields of that tab that are asked in the
//!   category of the entry. It can move to another such tab and keeps its answers.
//! - It changes with its entry: not in a season that is over, not in a locked category. With its entry it is in the trash.
//! - An attachment in the trash keeps its file.

pub(crate) mod list;
mod members;
pub(crate) mod rules;
pub mod store;

pub use list::LISTED;
pub use members::MEMBERS;
pub use rules::write_shown;

use crate::program::Context;
use crate::records::answers::Answers;
use kernel::document::{self, Object};
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token};

/// The most attachments of an entry, which shows all of them.
pub const MOST: i64 = 1_000;
/// The highest place in the order.
pub const LAST_PLACE: i64 = 1_000_000_000;

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its token, which is its file's.
    pub token: Token,
    /// The entry that it belongs to.
    pub entry: Slug,
    /// The tab that it stands in.
    pub tab: Slug,
    /// Its place among the attachments of the entry; the same place is ordered by token.
    pub order: i64,
    /// The answers.
    pub attachment_fields: Answers,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

impl Attachment {
    /// Reads the program-file form; the members `kind` and `token` have been read.
    pub fn read(members: &mut Members<'_>, token: Token, context: &Context) -> Option<Self> {
        let entry = members.required("entry", input::slug);
        let tab = members.required("tab", input::slug);
        let order = members.optional("order", input::integer(0..=LAST_PLACE));
        let file = members.optional("file", input::token);
        if file.is_some_and(|file| file != token) {
            members.fault("file", "must be the token of the attachment itself");
        }
        let attachment_fields = members.optional("attachment_fields", Answers::read);
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            token,
            entry: entry?,
            tab: tab?,
            order: order.unwrap_or(0),
            attachment_fields: attachment_fields.unwrap_or_default(),
            created,
            updated,
        })
    }

    /// Writes the members of the program-file form after `kind` and `token`.
    pub fn write(&self, object: &mut Object<'_>) {
        object.slug("entry", self.entry);
        object.slug("tab", self.tab);
        object.integer("order", self.order);
        object.raw("attachment_fields", &self.attachment_fields.to_json());
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    /// The stored form: the program-file form without its kind.
    #[must_use]
    pub fn stored(&self) -> String {
        document::object(|object| {
            object.text("token", self.token.as_str());
            self.write(object);
        })
    }

    /// Every record that it refers to, with the member that does; the file beside them has its token.
    #[must_use]
    pub fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        vec![("entry", Kind::Entry, self.entry), ("tab", Kind::Tab, self.tab)]
    }
}
