//! The members of a review stage in a program file.

use super::{DAYS, OnProceed, OnStop, PLACES, REVIEWERS, Timing};
use crate::program::tabs::ORDER;
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

const REVIEWER: Shape = Shape::Object(&[
    Member::optional("name", Shape::Text(NAME_LENGTH), "What the person is called."),
    Member::required("email", Shape::Pattern("^[^@\\s]+@[^@\\s]+$"), "The e-mail address."),
]);

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("form", Shape::Ref(Kind::Form), "The form of its entries.").identifying(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::optional("instructions", Shape::Translated(DESCRIPTION_LENGTH), "What reviewers are told."),
    Member::optional("order", Shape::Integer(0, ORDER), "Its place among the stages of the form."),
    Member::required("timing", Shape::OneOf(|| names(Timing::CHOICES)), "When its tasks are made."),
    Member::optional(
        "reviewers",
        Shape::List(&REVIEWER, REVIEWERS),
        "Who reviews; at least these or reviewer_fields are needed.",
    ),
    Member::optional(
        "reviewer_fields",
        Shape::Set(&Shape::Ref(Kind::Field), REVIEWERS),
        "The fields of the type email in which an entry says who reviews it.",
    ),
    Member::optional(
        "categories",
        Shape::Set(&Shape::Ref(Kind::Category), PLACES),
        "The categories of the entries that it is for; none means every one.",
    ),
    Member::optional(
        "chapters",
        Shape::Set(&Shape::Ref(Kind::Chapter), PLACES),
        "The chapters of the entries that it is for; none means every one.",
    ),
    Member::optional(
        "on_proceed",
        Shape::OneOf(|| names(OnProceed::CHOICES)),
        "What an entry becomes that may proceed; only after the submission.",
    ),
    Member::optional(
        "on_stop",
        Shape::OneOf(|| names(OnStop::CHOICES)),
        "What an entry becomes that is stopped; only after the submission.",
    ),
    Member::optional("proceed_label", Shape::Translated(NAME_LENGTH), "What stands on the button to proceed."),
    Member::optional("stop_label", Shape::Translated(NAME_LENGTH), "What stands on the button to stop."),
    Member::optional("reminder_days", Shape::Integer(1, DAYS), "After how many days a task is brought to mind.")
        .nullable(),
    Member::created("created"),
    Member::updated("updated"),
];
