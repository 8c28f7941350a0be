//! The members of a panel in a program file.

use super::{COUNT, EntryStatus, LIST, Moderation, SHORT_LIST};
use crate::program::NAME_LENGTH;
use crate::program::chapters::Status;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("score_set", Shape::Ref(Kind::ScoreSet), "The score set that it judges, which is no gallery.")
        .identifying(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::optional(
        "status",
        Shape::OneOf(|| names(Status::CHOICES)),
        "Whether it assigns anything; active where it is left out.",
    ),
    Member::optional(
        "judges",
        Shape::Set(&Shape::Ref(Kind::User), LIST),
        "The people who judge; left out, who does stays. At least these or roles are needed.",
    )
    .kept(),
    Member::optional("roles", Shape::Set(&Shape::Ref(Kind::Role), SHORT_LIST), "The judging roles whose users judge."),
    Member::required(
        "rounds",
        Shape::FilledSet(&Shape::Ref(Kind::Round), SHORT_LIST),
        "The rounds of the type judge in which it judges.",
    ),
    Member::optional(
        "categories",
        Shape::Set(&Shape::Ref(Kind::Category), LIST),
        "The categories of the entries that it judges; none means every one.",
    ),
    Member::optional(
        "chapters",
        Shape::Set(&Shape::Ref(Kind::Chapter), LIST),
        "The chapters of the entries that it judges; none means every one.",
    ),
    Member::optional(
        "divisions",
        Shape::Set(&Shape::Integer(1, COUNT), SHORT_LIST),
        "The divisions of the entries that it judges; none means every one.",
    ),
    Member::optional(
        "tags",
        Shape::Set(&Shape::FilledText(NAME_LENGTH), LIST),
        "The tags of the entries that it judges; none means every one.",
    ),
    Member::optional(
        "statuses",
        Shape::Set(&Shape::OneOf(|| names(EntryStatus::CHOICES)), LIST),
        "The status of the entries that it judges; none means every one.",
    ),
    Member::optional(
        "moderation",
        Shape::Set(&Shape::OneOf(|| names(Moderation::CHOICES)), LIST),
        "How the entries that it judges were moderated; none means every one.",
    ),
    Member::optional(
        "judges_per_entry",
        Shape::Integer(1, COUNT),
        "How many judges an entry gets; null means all of them.",
    )
    .nullable(),
    Member::optional(
        "entries_per_judge",
        Shape::Integer(1, COUNT),
        "How many entries a judge gets at the most; null means all of them.",
    )
    .nullable(),
    Member::created("created"),
    Member::updated("updated"),
];
