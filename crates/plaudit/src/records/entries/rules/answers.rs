//! Answers that are given to an entry, and those that it lacks.
//!
//! - An answer is given to a live field about entries, of the entry's form and asked in its category. It is taken back
//!   wherever it stands.
//! - The cells of a table are merged, every other answer is replaced; null and the empty string take one back.
//! - What no longer is asked keeps its answer, and neither is required nor counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::Program;
use crate::program::fields::{Field, Resource, ShownFields, form_of, is_answered, is_asked_in};
use crate::records::answers::Answers;
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::entries::given::asked;
use kernel::input::Violations;
use kernel::json::Json;
use kernel::text::Slug;

/// What belongs to an entry and has answers of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryChildren {
    pub(crate) contributors: Vec<Contributor>,
    pub(crate) attachments: Vec<Attachment>,
}

/// Tells every required field that is shown and has no answer: of the entry, under `entry_fields.<slug>`, and of what
/// belongs to it, under `contributors.<slug>.<field>` and `attachments.<token>.<field>`. A field that something is wrong
/// with already is passed over, and with an applicant one that applicants may not answer.
pub(crate) fn require(
    program: &Program,
    (form, category): (Slug, Slug),
    answers: &Answers,
    (entry_children, by_applicant): (&EntryChildren, bool),
    violations: &mut Violations,
) {
    let is_asked = |field: &&Field| field.applicant.write || !by_applicant;
    let asked_of = |field: &&Field| field.required && !field.is_never_answered() && is_asked(field);
    let all = program.fields.all_live().filter(asked_of);
    let required: Vec<&Field> = all.filter(|field| is_asked_in(field, category, program)).collect();
    let told: BTreeSet<String> = violations.iter().map(|(member, _)| member.to_owned()).collect();
    let mut tell = |path: &str, resource: Resource, tab: Option<Slug>, answers: BTreeMap<Slug, &Json>| {
        let answer = |slug: Slug| answers.get(&slug).copied();
        let mut shown = ShownFields::of(program, answer);
        let is_there = |field: &Field| match tab {
            Some(tab) => field.tab == Some(tab),
            None => form_of(field, program) == Some(form),
        };
        for field in required.iter().filter(|field| field.resource == resource && is_there(field)) {
            let member = format!("{path}.{}", field.slug);
            let has_answer = answer(field.slug).is_some_and(|answer| is_answered(field.kind, answer));
            if !has_answer && !told.contains(&member) && shown.is_shown(field) {
                violations.add(member, "is required");
            }
        }
    };
    let asked = asked(program, (form, category), answers);
    tell("entry_fields", Resource::Entries, None, asked.into_iter().collect());
    for contributor in &entry_children.contributors {
        let path = format!("contributors.{}", contributor.slug);
        tell(&path, Resource::Contributors, Some(contributor.tab), contributor.fields.iter().collect());
    }
    for attachment in &entry_children.attachments {
        let path = format!("attachments.{}", attachment.token.as_str());
        tell(&path, Resource::Attachments, Some(attachment.tab), attachment.attachment_fields.iter().collect());
    }
}
