//! What applicants may write of an entry of theirs: title, category, chapter, the answers to fields that applicants may
//! answer, its submission and its resubmission. Other members of a body are told to be not theirs.

use crate::program::Program;
use crate::program::fields::Field;
use crate::records::entries::Status;
use crate::records::entries::rules::body::Given;
use kernel::input::Violations;
use kernel::json::Object as JsonObject;
use kernel::text::{Slug, excerpt};

/// What is told of what is not theirs.
pub(crate) const NOT_THEIRS: &str = "is not for applicants to write";

/// Tells what of a body an applicant may not give, and takes it out.
pub(crate) fn check(program: &Program, given: &mut Given, violations: &mut Violations) {
    let refused = [
        ("entrant", given.entrant.take().is_some()),
        ("moderation_status", given.moderation_status.take().is_some()),
        ("custom_deadline", given.custom_deadline.take().is_some()),
        ("grant_status", given.grant_status.take().is_some()),
        ("grant_end_date", given.grant_end_date.take().is_some()),
    ];
    for (member, _) in refused.into_iter().filter(|(_, is_given)| *is_given) {
        violations.add(member, NOT_THEIRS);
    }
    if given.status.is_some_and(|status| !matches!(status, Status::Submitted | Status::Resubmitted)) {
        given.status = None;
        violations.add("status", "may become submitted or resubmitted by its applicant");
    }
    check_answers(program, ("entry_fields", "form"), &mut given.entry_fields, violations);
}

/// Whether applicants see or answer a field.
fn is_seen(field: &Field) -> bool {
    field.applicant.read || field.applicant.write
}

/// Tells which of these answers an applicant may not give, and takes them out. A field that applicants do not see is as one
/// that there is not: `place` is where it is missed.
pub(crate) fn check_answers(
    program: &Program,
    (member, place): (&str, &str),
    answers: &mut Option<JsonObject<'static>>,
    violations: &mut Violations,
) {
    let Some(answers) = answers else { return };
    let names: Vec<String> = answers.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let field = Slug::parse(&name).and_then(|slug| program.fields.live(slug));
        let Some(field) = field.filter(|field| !field.applicant.write) else { continue };
        let message = if is_seen(field) { NOT_THEIRS.to_owned() } else { format!("is no field of the {place}") };
        violations.add(format!("{member}.{}", excerpt(&name)), message);
        answers.remove(&name);
    }
}
