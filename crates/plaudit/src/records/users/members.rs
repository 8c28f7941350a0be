//! The members of users as the interface describes them (contract, section 6).

use crate::program::{Member, SLUG, Shape};
use crate::records::users::rules::ORIGINS;
use crate::records::users::{NAME_LENGTH, ROLES};
use kernel::kind::Kind;
use kernel::text::EMAIL_LENGTH;
use kernel::text::Locale;

const fn flag(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Flag, about).creatable().updatable()
}

const fn object(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Component("AnyObject"), about).creatable().updatable().in_single_reads()
}

const NAME: Shape = Shape::FilledText(NAME_LENGTH);

/// The members of a user.
pub const MEMBERS: &[Member] = &[
    flag("analytics_cookies", "Whether cookies that measure use are agreed to."),
    flag("broadcast_emails", "Whether mail to everybody is agreed to."),
    flag("marketing_cookies", "Whether cookies of advertisers are agreed to."),
    flag("necessary_cookies", "Whether cookies without which nothing works are agreed to."),
    flag("notification_emails", "Whether mail about the user's own records is agreed to."),
    flag("notification_sms", "Whether text messages about the user's own records are agreed to."),
    Member::optional("comments", Shape::Text(usize::MAX), "Comments about the user."),
    Member::optional("confirmation", Shape::OneOf(|| vec!["Confirmed", "Invited"]), "Whether the user is confirmed."),
    Member::optional("confirmed_at", Shape::Time, "When the user was confirmed.").nullable(),
    Member::optional("created_at", Shape::Time, "When the user was added."),
    Member::optional("created_by", Shape::OneOf(|| ORIGINS.iter().map(|(name, _)| *name).collect()), "How."),
    Member::optional(
        "email",
        Shape::Text(EMAIL_LENGTH),
        "The e-mail address, which reaches nobody else in the installation.",
    )
    .nullable()
    .creatable()
    .updatable(),
    Member::optional("first_name", NAME, "The first name.").to_create().updatable(),
    Member::optional(
        "language",
        Shape::OneOf(|| Locale::ALL.iter().map(|locale| locale.code()).collect()),
        "A language of the account; its default language where a new user names none.",
    )
    .creatable()
    .updatable()
    .shown_as(&Shape::Component("Language")),
    Member::optional("last_name", NAME, "The last name.").to_create().updatable(),
    Member::optional(
        "mobile",
        Shape::Text(16),
        "The mobile number (E.164), which reaches nobody else; empty for none.",
    )
    .nullable()
    .never_null()
    .creatable()
    .updatable(),
    Member::optional("name", NAME, "The whole name."),
    Member::optional("password", Shape::Text(1_024), "At least 8 characters and at most 1,024 bytes.")
        .to_create()
        .updatable()
        .hidden(),
    Member::optional(
        "roles",
        Shape::Set(&Shape::Ref(Kind::Role), ROLES),
        "The roles, in place of those that the user has; a new user who is given none is an entrant.",
    )
    .creatable()
    .updatable(),
    SLUG,
    Member::optional("updated", Shape::Time, "When the user was last changed."),
    object("preferences", "Preferences, whatever they are."),
    object("social_sharing", "What is shared elsewhere, whatever it is."),
    Member::optional("user_fields", Shape::Component("Answers"), "Answers to the fields about users.")
        .creatable()
        .updatable()
        .in_single_reads()
        .shown_as(&Shape::Component("FieldAnswers")),
];
