//! The members of attachments as the interface describes them (contract, section 6).

use crate::program::{Member, Shape};
use crate::records::entries::attachments::LAST_PLACE;
use kernel::kind::Kind;

/// The members of an attachment.
pub const MEMBERS: &[Member] = &[
    Member::optional("entry", Shape::Component("EntryReference"), "Its entry."),
    Member::optional("attachment_fields", Shape::Component("Answers"), "Answers to the fields of its tab.")
        .updatable()
        .shown_as(&Shape::Component("FieldAnswers")),
    Member::optional("created", Shape::Time, "When it was made."),
    Member::optional("file", Shape::Component("StoredFile"), "Its file."),
    Member::optional("order", Shape::Integer(0, LAST_PLACE), "Its place among the attachments of its entry.")
        .updatable(),
    Member::optional("tab", Shape::Ref(Kind::Tab), "A tab for attachments of the entry's form.").updatable(),
    Member::optional("token", Shape::Token, "Its identifier, which is that of its file."),
    Member::optional("updated", Shape::Time, "When it was last changed."),
];
