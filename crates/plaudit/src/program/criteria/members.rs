//! The members of a criterion in a program file.

use super::WEIGHT;
use crate::program::tabs::ORDER;
use crate::program::{DESCRIPTION_LENGTH, NAME_LENGTH};
use crate::program::{Member, Shape};
use kernel::kind::Kind;

/// A number of points.
const POINTS: Shape = Shape::Number(Some(0), Some(1_000_000_000));

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required(
        "score_set",
        Shape::Ref(Kind::ScoreSet),
        "The score set that it belongs to, of the mode vip_judging; left out where it stands within it.",
    )
    .identifying(),
    Member::required("name", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::optional("description", Shape::Translated(DESCRIPTION_LENGTH), "What judges look at."),
    Member::optional("minimum", POINTS, "The fewest points; 0 where it is left out."),
    Member::required("maximum", POINTS, "The most points."),
    Member::optional("step", POINTS, "By how many points scores differ; 1 where it is left out."),
    Member::optional(
        "weight",
        Shape::Integer(1, WEIGHT),
        "How much it weighs among the others; 1 where it is left out.",
    ),
    Member::optional("required", Shape::Flag, "Whether a sheet is complete only with it; true where it is left out."),
    Member::optional("order", Shape::Integer(0, ORDER), "Its place among the criteria of the score set."),
    Member::created("created"),
    Member::updated("updated"),
];
