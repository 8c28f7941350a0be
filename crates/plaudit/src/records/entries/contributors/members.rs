//! The members of contributors as the interface describes them (contract, section 6).

use crate::program::{Member, SLUG, Shape};
use kernel::kind::Kind;

/// The members of a contributor.
pub const MEMBERS: &[Member] = &[
    Member::optional("entry", Shape::Ref(Kind::Entry), "The entry that the contributor took part in.")
        .to_create()
        .shown_as(&Shape::Component("EntryReference")),
    Member::optional("created", Shape::Time, "When the contributor was added."),
    Member::optional("fields", Shape::Component("Answers"), "Answers to the fields of the tab.")
        .creatable()
        .updatable()
        .shown_as(&Shape::Component("FieldAnswers")),
    Member::optional("season", Shape::Ref(Kind::Season), "The season of the entry."),
    SLUG,
    Member::optional("tab", Shape::Ref(Kind::Tab), "A tab for contributors of the entry's form.").to_create(),
    Member::optional("updated", Shape::Time, "When the contributor was last changed."),
];
