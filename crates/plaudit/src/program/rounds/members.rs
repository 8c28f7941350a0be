//! The members of a round in a program file.

use super::{CHAPTERS, RoundType};
use crate::program::NAME_LENGTH;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

pub(super) const MEMBERS: &[Member] = &[
    Member::link().hidden(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("form", Shape::Ref(Kind::Form), "The form of its entries.").identifying().shown_as(&Shape::Slug),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::required("type", Shape::OneOf(|| names(RoundType::CHOICES)), "What it is for."),
    Member::optional(
        "chapters",
        Shape::Set(&Shape::Ref(Kind::Chapter), CHAPTERS),
        "The chapters that it is for; none means every chapter of its season.",
    ),
    Member::optional("start_date", Shape::LocalTime, "When it begins; null for no bound.").nullable(),
    Member::optional("end_date", Shape::LocalTime, "When it ends; null for no bound.").nullable(),
    Member::created("created"),
    Member::updated("updated"),
];
