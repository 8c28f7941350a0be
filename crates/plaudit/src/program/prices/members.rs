//! The members of a price in a program file.

use super::{AMOUNTS, PLACES, PriceType};
use crate::program::NAME_LENGTH;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;
use kernel::text::Currency;

/// The code of a currency.
pub(in crate::program) const CURRENCY: Shape = Shape::OneOf(|| Currency::all().map(Currency::code).collect());

const AMOUNT: Shape = Shape::Object(&[
    Member::required("currency", CURRENCY, "The currency."),
    Member::required("amount", Shape::Number(Some(0), None), "How much, with at most the currency's own decimals."),
    Member::optional("from", Shape::LocalTime, "Since when; null or left out, before all others.").nullable(),
]);

pub(super) const MEMBERS: &[Member] = &[
    Member::link(),
    Member::required("season", Shape::Ref(Kind::Season), "The season that it belongs to.").identifying(),
    Member::required("title", Shape::Translated(NAME_LENGTH), "What it is called.").identifying(),
    Member::optional("type", Shape::OneOf(|| names(PriceType::CHOICES)), "What is paid for; entry if left out."),
    Member::optional("tag", Shape::FilledText(NAME_LENGTH), "The tag of the entries that it is for, for the type tag.")
        .nullable()
        .only_with("type", "tag"),
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
        "amounts",
        Shape::List(&AMOUNT, AMOUNTS),
        "The amounts; a currency may have several, each from another time on.",
    ),
    Member::created("created"),
    Member::updated("updated"),
];
