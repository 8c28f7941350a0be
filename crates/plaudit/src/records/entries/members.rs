//! The members of entries as the interface describes them (specification, section 2.2; contract, section 6).

use crate::program::{Member, SLUG, Shape, names};
use crate::records::entries::{COMMENTS_LENGTH, Eligibility, Moderation, Payment, STATUS_LENGTH, Status, TITLE_LENGTH};
use kernel::kind::Kind;

/// The largest count that is told.
const COUNT: i64 = i64::MAX;

const fn text(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Text(STATUS_LENGTH), about)
}

const fn count(name: &'static str, about: &'static str) -> Member {
    Member::optional(name, Shape::Integer(0, COUNT), about)
}

/// A status that a body gives, which answers show by another member.
const fn given(choices: fn() -> Vec<&'static str>) -> Member {
    Member::optional("status", Shape::OneOf(choices), "Where it is on its way.").hidden()
}

/// The members of an entry.
pub const MEMBERS: &[Member] = &[
    SLUG,
    count("local_id", "Its number within the account."),
    Member::optional("title", Shape::FilledText(TITLE_LENGTH), "Its title.").to_create().updatable(),
    Member::optional("status", Shape::OneOf(|| names(Status::CHOICES)), "Where it is on its way."),
    given(|| vec!["submitted", "in_progress", "resubmission_required"]).creatable(),
    given(|| vec!["submitted", "in_progress", "resubmission_required", "resubmitted"]).updatable(),
    Member::optional("created", Shape::Time, "When it was made."),
    Member::optional("submitted", Shape::Time, "When it was last submitted; null until then.").nullable(),
    Member::optional("updated", Shape::Time, "When it was last changed."),
    Member::optional("entrant", Shape::Ref(Kind::User), "The user whom it belongs to.")
        .to_create()
        .updatable()
        .shown_as(&Shape::Component("Entrant")),
    Member::optional("entry_fields", Shape::Component("Answers"), "Its answers.")
        .creatable()
        .updatable()
        .where_asked()
        .shown_as(&Shape::Component("FieldAnswers")),
    Member::optional("attachments", Shape::List(&Shape::Component("EntryAttachment"), usize::MAX), "Its attachments.")
        .where_asked(),
    Member::optional("contributors", Shape::List(&Shape::Component("EntryContributor"), usize::MAX), "Who took part.")
        .where_asked(),
    count("contributor_count", "How many contributors it has."),
    count("files_count", "How many uploaded files it has."),
    Member::optional("auto_score", Shape::Number(None, None), "Its automatic score."),
    Member::optional("category", Shape::Ref(Kind::Category), "Its category, which is of its season and its form.")
        .to_create()
        .updatable(),
    Member::optional("parent_category", Shape::Ref(Kind::Category), "The category of which that is a part.").nullable(),
    Member::optional(
        "chapter",
        Shape::Ref(Kind::Chapter),
        "A chapter of its season that offers its category; a new entry that names none gets the first one.",
    )
    .creatable()
    .updatable(),
    Member::optional("form", Shape::Ref(Kind::Form), "Its form, which is its category's where that has one.")
        .creatable(),
    Member::optional("season", Shape::Ref(Kind::Season), "Its season.").to_create(),
    Member::optional("comments", Shape::Text(COMMENTS_LENGTH), "The comments of managers, in one text."),
    Member::optional("user_comments", Shape::Text(COMMENTS_LENGTH), "The comments of users, in one text."),
    Member::optional(
        "custom_deadline",
        Shape::Pattern("^(-|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2})$"),
        "Until when it can be submitted, by the clocks of the account; - for no deadline of its own.",
    )
    .nullable()
    .never_null()
    .creatable()
    .updatable(),
    count("division", "The division in which it is judged.").nullable(),
    Member::optional("eligibility_status", Shape::OneOf(|| names(Eligibility::CHOICES)), "Whether it was screened."),
    Member::optional("moderation_status", Shape::OneOf(|| names(Moderation::CHOICES)), "What managers think of it.")
        .creatable()
        .updatable(),
    Member::optional("payment_status", Shape::OneOf(|| names(Payment::CHOICES)), "Whether it is paid for."),
    text("plagiarism_scan_status", "Whether it was looked through for what others wrote."),
    text("review_status", "Where it is in its review."),
    text("grant_status", "The status of its grant; null for none.").nullable().creatable().updatable(),
    Member::optional("grant_end_date", Shape::Date, "When its grant ends; null for never.")
        .nullable()
        .creatable()
        .updatable(),
    text("tags", "Its tags, with commas between them."),
];
