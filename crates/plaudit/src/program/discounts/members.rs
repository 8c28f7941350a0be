//! The members of a discount in a program file.

use super::{CODE_LENGTH, LIMIT, PRICES};
use crate::program::NAME_LENGTH;
use crate::program::prices::AMOUNTS;
use crate::program::prices::members::CURRENCY;
use crate::program::{Member, Shape};
use kernel::kind::Kind;

const AMOUNT: Shape = Shape::Object(&[
    Member::required("currency", CURRENCY, "The currency."),
    Member::required("amount", Shape::Number(Some(0), None), "How much, with at most the currency's own decimals."),
]);

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("code", Shape::FilledText(CODE_LENGTH), "What people type in; upper and lower case are the same.")
        .identifying(),
    Member::optional("name", Shape::Translated(NAME_LENGTH), "What it is called."),
    Member::optional(
        "percent",
        Shape::Number(Some(0), Some(100)),
        "The part of a price that it takes off, in per cent.",
    )
    .nullable(),
    Member::optional(
        "amounts",
        Shape::List(&AMOUNT, AMOUNTS),
        "The amount that it takes off in each currency, where it is no percentage.",
    ),
    Member::optional("start_date", Shape::LocalTime, "When it begins to hold; null for no bound.").nullable(),
    Member::optional("end_date", Shape::LocalTime, "When it holds no longer; null for no bound.").nullable(),
    Member::optional("limit", Shape::Integer(1, LIMIT), "In how many orders it can be used; null for no limit.")
        .nullable(),
    Member::optional(
        "limit_per_user",
        Shape::Integer(1, LIMIT),
        "In how many orders of one person it can be used; null for no limit.",
    )
    .nullable(),
    Member::optional(
        "prices",
        Shape::Set(&Shape::Ref(Kind::Price), PRICES),
        "The prices that it takes something off; none means every one.",
    ),
    Member::created("created"),
    Member::updated("updated"),
];
