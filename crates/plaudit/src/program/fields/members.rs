//! The members of a field in a program file.

use super::{
    CATEGORIES, COLUMNS, FILE_TYPES, FieldType, LIMIT, OPTIONS, Operator, Protection, Resource, TEXT_LENGTH,
    Visibility, file_types,
};
use crate::program::NAME_LENGTH;
use crate::program::prices::CURRENCY;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

/// A limit on the characters or words of an answer.
const fn limit(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Integer(0, LIMIT), about).nullable()
}

const OPTION: Shape = Shape::Either(&[
    Shape::FilledText(TEXT_LENGTH),
    Shape::Object(&[
        Member::required("value", Shape::FilledText(TEXT_LENGTH), "What an answer holds."),
        Member::optional("label", Shape::Translated(TEXT_LENGTH), "What people see; the value where it is left out."),
        Member::optional("score", Shape::Integer(0, LIMIT), "What it adds to the automatic score when it is chosen.")
            .nullable(),
    ]),
]);

const COLUMN: Shape = Shape::Object(&[
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

pub(super) const MEMBERS: &[Member] = &[
    Member::computed("category_count", "In how many categories it is asked.")
        .shown_as(&Shape::Either(&[Shape::Integer(0, LIMIT), Shape::OneOf(|| vec!["all"])]))
        .shown(),
    Member::link().hidden(),
    Member::optional("season", Shape::Ref(Kind::Season), "The season that it belongs to, where that is stated.")
        .nullable(),
    Member::optional("form", Shape::Ref(Kind::Form), "The form that it belongs to; left out within a tab.").nullable(),
    Member::optional("tab", Shape::Ref(Kind::Tab), "The tab that it stands on; left out within that tab.")
        .nullable()
        .identifying(),
    Member::optional(
        "resource",
        Shape::OneOf(|| names(Resource::CHOICES)),
        "What it asks about; what its tab is for where it is left out.",
    ),
    Member::required("type", Shape::OneOf(|| names(FieldType::CHOICES)), "What kind of answer it takes."),
    Member::optional(
        "categories",
        Shape::Either(&[Shape::Only("*"), Shape::Set(&Shape::Ref(Kind::Category), CATEGORIES)]),
        "The slugs of the categories that it is asked in; [\"*\"] or left out, all of them.",
    )
    .creatable()
    .updatable()
    .shown_as(&Shape::Either(&[Shape::Only("*"), Shape::Set(&Shape::Slug, CATEGORIES)])),
    Member::optional("order", Shape::Integer(0, LIMIT), "Its place on the tab.").creatable().updatable(),
    Member::required("title", Shape::Translated(NAME_LENGTH), "The question in plain text.")
        .identifying()
        .text()
        .to_create()
        .updatable(),
    Member::optional("label", Shape::Translated(TEXT_LENGTH), "The question in HTML; the title where it is left out."),
    Member::optional("help_text", Shape::Translated(TEXT_LENGTH), "Longer help.").text().creatable().updatable(),
    Member::optional("hint_text", Shape::Translated(TEXT_LENGTH), "A hint within the input.")
        .text()
        .creatable()
        .updatable(),
    Member::optional("required", Shape::Flag, "Whether an entry can be submitted only with an answer.")
        .creatable()
        .updatable(),
    Member::optional("searchable", Shape::Flag, "Whether entries are found by its answers."),
    Member::optional("applicant_read_access", Shape::Flag, "Whether the applicant sees the answers; true if left out."),
    Member::optional(
        "applicant_write_access",
        Shape::Flag,
        "Whether the applicant gives the answers; true where it is left out.",
    ),
    Member::optional(
        "protection",
        Shape::OneOf(|| names(Protection::CHOICES)),
        "How well the answers are kept from those who need not see them; standard where it is left out.",
    )
    .creatable()
    .updatable(),
    Member::optional(
        "visibility",
        Shape::List(&Shape::OneOf(|| names(Visibility::CHOICES)), Visibility::CHOICES.len()),
        "The ways of judging in which the answers are shown.",
    ),
    Member::optional("registration", Shape::Text(NAME_LENGTH), "How it stands in the registration form of users.")
        .nullable(),
    Member::optional(
        "conditional_field",
        Shape::Ref(Kind::Field),
        "The field that must have an answer for this one to be shown; conditional says more.",
    )
    .nullable(),
    Member::optional("conditional", CONDITION, "Under which answer of another field it is shown.").nullable().hidden(),
    Member::optional("options", Shape::List(&OPTION, OPTIONS), "What a choice offers.")
        .shown_as(&Shape::List(&Shape::Text(TEXT_LENGTH), OPTIONS))
        .creatable()
        .updatable(),
    Member::optional("columns", Shape::List(&COLUMN, COLUMNS), "The columns of a table.")
        .creatable()
        .updatable()
        .hidden(),
    Member::optional("currency", CURRENCY, "The currency of an amount; required for the type currency.")
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
    limit("maximum_characters", "At most this many characters."),
    limit("maximum_words", "At most this many words."),
    limit("minimum_characters", "At least this many characters."),
    limit("minimum_words", "At least this many words."),
    Member::optional(
        "file_types",
        Shape::Set(&Shape::Pattern(file_types::PATTERN), FILE_TYPES),
        "The types of files that are taken, as extensions such as pdf or media types such as image/*; none means every \
         type.",
    )
    .creatable()
    .updatable(),
    Member::optional("max_file_size", Shape::Integer(1, LIMIT), "The most bytes of a file.")
        .nullable()
        .creatable()
        .updatable(),
    Member::optional(
        "auto_scoring",
        Shape::Integer(0, LIMIT),
        "The most that its answer adds to the automatic score; 0 when that is off.",
    ),
    Member::created("created"),
    Member::updated("updated"),
];

/// What bodies say in other words than program files.
pub const BODY: &[Member] = &[
    Member::required("type", Shape::OneOf(creatable), "What kind of answer it takes.").to_create().hidden(),
    Member::optional("type", Shape::OneOf(|| names(FieldType::CHOICES)), "The type that it has.").updatable().hidden(),
    Member::required("tab", Shape::Ref(Kind::Tab), "The tab, which decides the form and what is asked about.")
        .to_create()
        .updatable()
        .hidden(),
    Member::optional("form", Shape::Ref(Kind::Form), "The tab's form, for those who want to say it as well.")
        .creatable()
        .updatable()
        .hidden(),
    Member::optional("conditional", BODY_CONDITION, "Under which answer of another field it is shown.")
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
    Member::optional("limits", LIMITS, "How short and how long a text may be; null takes all limits away.")
        .nullable()
        .creatable()
        .updatable()
        .hidden(),
];

/// Formulas are made by program files.
fn creatable() -> Vec<&'static str> {
    names(FieldType::CHOICES).into_iter().filter(|name| *name != FieldType::Formula.name()).collect()
}

const BODY_CONDITION: Shape = Shape::Object(&[
    Member::required("field", Shape::Ref(Kind::Field), "The field whose answer decides."),
    Member::required("operator", Shape::OneOf(|| names(Operator::CHOICES)), "How the answer is compared."),
    Member::optional("value", Shape::Any, "What it is compared with: an answer to that field, or a list of such."),
]);

const LIMITS: Shape = Shape::Object(&[
    limit("minimum_characters", "At least this many characters."),
    limit("maximum_characters", "At most this many characters."),
    limit("minimum_words", "At least this many words."),
    limit("maximum_words", "At most this many words."),
]);
