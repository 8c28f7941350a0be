//! The members of an account in a program file.

use super::rules;
use crate::program::{Member, Shape, names};
use kernel::kind::Kind;
use kernel::text::Locale;

const LOCALE: Shape = Shape::OneOf(|| Locale::ALL.iter().map(|locale| locale.code()).collect());

/// A locale as its code, or as the object that a read shows.
const LANGUAGE: Shape =
    Shape::Either(&[LOCALE, Shape::OpenObject(&[Member::required("code", LOCALE, "The code of the locale.")])]);

// Accounts are changed by commands as well, so that what a record leaves out stays as it is.
pub(super) const MEMBERS: &[Member] = &[
    Member::required("name", Shape::FilledText(255), "What it is called."),
    Member::optional("global_id", Shape::Text(64), "A UUID that is the same wherever the account is.").kept(),
    Member::optional("languages", Shape::List(&LANGUAGE, 64), "Its languages, in its own order.")
        .kept()
        .shown_as(&Shape::List(&Shape::Component("LanguageCode"), 64)),
    Member::optional(
        "default_language",
        LANGUAGE,
        "The language of an answer when none is asked for; the first one where it is left out.",
    )
    .kept()
    .hidden(),
    Member::optional("timezone", Shape::Text(64), "Its IANA time zone, such as Europe/Berlin; UTC if left out.").kept(),
    Member::optional(
        "features",
        Shape::List(&Shape::Text(64), 64),
        "What is switched on for it; [api] where it is left out.",
    )
    .kept()
    .hidden(),
    Member::optional("suspended", Shape::Flag, "Whether its keys are refused.").kept().hidden(),
    Member::optional(
        "rate_limit",
        Shape::Integer(1, 1_000_000_000),
        "Requests a minute of each of its keys; 60 where it is left out.",
    )
    .kept()
    .hidden(),
    Member::optional("hosts", Shape::List(&Shape::Text(253), 1_000), "The host names that are its own.")
        .kept()
        .hidden(),
    Member::optional("domains", Shape::List(&Shape::Text(255), 1_000), "Its web addresses, for display.").kept(),
    Member::optional("owner", Shape::Ref(Kind::User), "The user who owns it.")
        .nullable()
        .kept()
        .shown_as(&Shape::Component("Owner")),
    Member::optional("product", Shape::Text(255), "The product that it has, for display.").kept(),
    Member::optional(
        "region",
        Shape::OneOf(|| names(rules::REGIONS)),
        "The region that serves it; null is the region of the deployment.",
    )
    .nullable()
    .kept()
    .never_null(),
    Member::created("created"),
    Member::updated("updated"),
];
