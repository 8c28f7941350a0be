//! What the bodies of requests say of an entry. Whether that can be is checked with the program.

use crate::records::answers;
use crate::records::entries::rules::deadline;
use crate::records::entries::{Moderation, STATUS_LENGTH, Status, TITLE_LENGTH};
use kernel::input::{self, Members, Violations};
use kernel::json::Object as JsonObject;
use kernel::text::{Date, Slug};

/// The statuses that an entry can be made with.
pub(in crate::records::entries) const MADE: &[(&str, Status)] = &[
    ("submitted", Status::Submitted),
    ("in_progress", Status::InProgress),
    ("resubmission_required", Status::ResubmissionRequired),
];
/// The statuses that an update can ask for.
pub(in crate::records::entries) const ASKED: &[(&str, Status)] = &[
    ("submitted", Status::Submitted),
    ("in_progress", Status::InProgress),
    ("resubmission_required", Status::ResubmissionRequired),
    ("resubmitted", Status::Resubmitted),
];

/// The members of a body; what is left out is `None`, and what takes something away is `Some(None)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// A grant that is taken away is not one that is left out.
#[allow(clippy::option_option)]
pub(crate) struct Given {
    pub(crate) category: Option<Slug>,
    pub(crate) entrant: Option<Slug>,
    pub(crate) season: Option<Slug>,
    pub(crate) title: Option<String>,
    pub(crate) chapter: Option<Slug>,
    pub(crate) form: Option<Slug>,
    pub(crate) status: Option<Status>,
    pub(crate) moderation_status: Option<Moderation>,
    pub(crate) entry_fields: Option<JsonObject<'static>>,
    pub(crate) custom_deadline: Option<String>,
    pub(crate) grant_status: Option<Option<String>>,
    pub(crate) grant_end_date: Option<Option<Date>>,
}

/// The body of a new entry, with everything that is wrong with it by itself.
pub(crate) fn read_create(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let category = members.required("category", input::slug);
    let entrant = members.required("entrant", input::slug);
    let season = members.required("season", input::slug);
    let title = members.required("title", input::filled_text(TITLE_LENGTH));
    let chapter = members.optional("chapter", input::slug);
    let form = members.optional("form", input::slug);
    let rest = read_rest(&mut members, MADE);
    (Given { category, entrant, season, title, chapter, form, ..rest }, members.finish())
}

/// The body of an update, with everything that is wrong with it by itself.
pub(crate) fn read_update(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::closed(body);
    let category = members.optional("category", input::slug);
    let entrant = members.optional("entrant", input::slug);
    let title = members.optional("title", input::filled_text(TITLE_LENGTH));
    let chapter = members.optional("chapter", input::slug);
    let rest = read_rest(&mut members, ASKED);
    (Given { category, entrant, title, chapter, ..rest }, members.finish())
}

fn read_rest(members: &mut Members<'_>, statuses: &'static [(&'static str, Status)]) -> Given {
    Given {
        status: members.optional("status", input::one_of(statuses)),
        moderation_status: members.optional("moderation_status", input::one_of(Moderation::CHOICES)),
        entry_fields: members.optional("entry_fields", answers::given),
        custom_deadline: members.optional("custom_deadline", deadline::read),
        grant_status: members.nullable("grant_status", input::text(STATUS_LENGTH)),
        grant_end_date: members.nullable("grant_end_date", input::date),
        ..Given::default()
    }
}

/// The body that names another title; other members are passed over.
pub(crate) fn read_title(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::open(body);
    let title = members.required("title", input::filled_text(TITLE_LENGTH));
    (Given { title, ..Given::default() }, members.finish())
}

/// The body that names another category; other members are passed over.
pub(crate) fn read_category(body: &JsonObject) -> (Given, Violations) {
    let mut members = Members::open(body);
    let category = members.required("category", input::slug);
    (Given { category, ..Given::default() }, members.finish())
}

/// The body that gives the answer to a field; other members are passed over.
pub(crate) fn read_answer(body: &JsonObject, field: Slug) -> (Given, Violations) {
    let (entry_fields, violations) = answers::given_to_field(body, field);
    (Given { entry_fields, ..Given::default() }, violations)
}
