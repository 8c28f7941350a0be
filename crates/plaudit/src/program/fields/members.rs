//! The members of a field in a program file.

use super::{CATEGORIES, FieldType, LIMIT, Limits, OPTIONS, Operator, TEXT_LENGTH};
use crate::program::{Member, NAME_LENGTH, RecordMembers, Shape, names};
use kernel::kind::Kind;

pub(super) const OPTION: Shape = Shape::Either(&[
    Shape::FilledText(TEXT_LENGTH),
    Shape::Object(&[
        Member::required("value", Shape::FilledText(TEXT_LENGTH), "What an answer holds."),
        Member::optional("label", Shape::Translated(TEXT_LENGTH), "What people see; the value where it is left out."),
        Member::optional("score", Shape::Integer(0, LIMIT), "What it adds to the automatic score when it is chosen.")
            .nullable(),
    ]),
]);

pub(super) const COLUMN: Shape = Shape::Object(&[
    Member::required("key", Shape::FilledText(NAME_LENGTH), "What its cells begin with, such as A."),
    Member::optional("label", Shape::Translated(TEXT_LENGTH), "What stands above it."),
]);

const CONDITION: Shape = Shape::Object(&[
    Member::required("field", Shape::Ref(Kind::Field), "The field whose answer decides."),
    Member::optional(
        "operator",
        Shape::OneOf(|| names(Operator::CHOICES)),
        "How the answer is compared; answered where it is left out.",
    ),
    Member::optional("value", Shape::Any, "What it is compared with.").nullable(),
]);

pub(super) const OPTIONS_SHOWN: Shape = Shape::List(&Shape::Text(TEXT_LENGTH), OPTIONS);
pub(super) const ASKED_IN: [Shape; 2] = [Shape::Only("*"), Shape::Set(&Shape::Ref(Kind::Category), CATEGORIES)];
pub(super) const ASKED_IN_SHOWN: Shape = Shape::Either(&[Shape::Only("*"), Shape::Set(&Shape::Slug, CATEGORIES)]);
pub(super) const COUNT: Member = Member::computed("category_count", "In how many categories it is asked.")
    .shown_as(&Shape::Either(&[Shape::OneOf(|| vec!["all"]), Shape::Integer(0, LIMIT)]))
    .shown();

/// The condition has two members: what program files say, and what is shown.
pub(super) const CONDITIONAL: &[Member] = &[
    Member::optional(
        "conditional_field",
        Shape::Ref(Kind::Field),
        "The field that must have an answer for this one to be shown; conditional says more.",
    )
    .nullable(),
    Member::optional("conditional", CONDITION, "Under which answer of another field it is shown.").nullable().hidden(),
];

/// What bodies say in other words than program files.
pub const BODY: &[Member] = &[
    Member::required("type", Shape::OneOf(|| names(&creatable())), "What kind of answer it takes.")
        .to_create()
        .hidden()
        .example("drop-down-list"),
    Member::optional("type", Shape::OneOf(|| names(FieldType::CHOICES)), "The type that it has.")
        .updatable()
        .hidden()
        .example("drop-down-list"),
    Member::optional("conditional", BODY_CONDITION, "Under which answer of another field it is shown.")
        .example("null")
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
    Member::optional("limits", LIMITS, "How short and how long a text may be; null takes all limits away.")
        .example("null")
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
];

/// The types of the fields that bodies make: formulas are made by program files.
pub(super) fn creatable() -> Vec<(&'static str, FieldType)> {
    FieldType::CHOICES.iter().copied().filter(|(_, kind)| *kind != FieldType::Formula).collect()
}

const BODY_CONDITION: Shape = Shape::Object(&[
    Member::required("field", Shape::Ref(Kind::Field), "The field whose answer decides."),
    Member::required("operator", Shape::OneOf(|| names(Operator::CHOICES)), "How the answer is compared."),
    Member::optional("value", Shape::Any, "What it is compared with: an answer to that field, or a list of such."),
]);

const LIMITS: Shape = Shape::Object(<Limits as RecordMembers>::MEMBERS);
