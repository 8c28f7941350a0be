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
pub(crate) mod rules;
pub mod store;

pub use list::LISTED;
pub use rules::write_shown;

use crate::lists::Table;
use crate::program::{Member, Record, Shape};
use crate::records::answers::Answers;
use crate::records::people::PeopleRecord;
use db::Value;
use kernel::input::{self, Members};
use kernel::kind::Kind;
use kernel::text::{Slug, Timestamp, Token};

/// The most attachments of an entry, which shows all of them.
pub const MOST: i64 = 1_000;
/// The highest place in the order.
pub const LAST_PLACE: i64 = 1_000_000_000;

const FILE: Member = Member::optional("file", Shape::Component("StoredFile"), "Its file.");
const TOKEN: Member = Member::optional("token", Shape::Token, "Its identifier, which is that of its file.");

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Record)]
#[record(check = check_file(token))]
pub struct Attachment {
    /// Its token, which is its file's.
    pub token: Token,
    /// Its entry.
    #[member(Ref(Kind::Entry), required, shown_as(&Shape::Component("EntryReference")))]
    pub entry: Slug,
    /// A tab for attachments of the entry's form.
    #[member(Ref(Kind::Tab), required, updatable, followed_by(TOKEN))]
    pub tab: Slug,
    /// Its place among the attachments of its entry.
    #[member(Integer(0, LAST_PLACE), updatable)]
    pub order: i64,
    /// Answers to the fields of its tab.
    #[member(updatable, shown_as(&Shape::Component("FieldAnswers")))]
    pub attachment_fields: Answers,
    /// When it was made.
    #[member(followed_by(FILE))]
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// A record may name its file, which has its own token.
fn check_file(members: &mut Members<'_>, token: &Token) {
    if members.optional("file", input::token).is_some_and(|file| file != *token) {
        members.fault("file", "must be the token of the attachment itself");
    }
}

impl PeopleRecord for Attachment {
    const TABLE: &'static Table = &LISTED;

    fn columns(&self) -> Vec<Value<'static>> {
        vec![self.entry.into(), self.tab.into(), self.order.into(), self.created.into(), self.updated.into()]
    }
}
