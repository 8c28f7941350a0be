//! Answers that are given to an entry, and those that it lacks.
//!
//! - An answer is given to a live field about entries, of the entry's form and asked in its category. It is taken back
//!   wherever it stands.
//! - The cells of a table are merged, every other answer is replaced; null and the empty string take one back.
//! - What no longer is asked keeps its answer, and neither is required nor counts.

use crate::attachments::Attachment;
use crate::contributors::Contributor;
use crate::entries::Answers;
use crate::input::Violations;
use crate::program::Program;
use crate::program::fields::{
    Field, Resource, check_answer, form_of, is_answered, is_asked_in, is_shown, judge_answer, merged,
};
use crate::text::{Json, JsonObject, Slug};

/// Where the fields of an entry are asked; `None` is what is not known.
#[derive(Clone, Copy, Debug)]
pub(in crate::entries) struct Place {
    pub(in crate::entries) form: Option<Slug>,
    pub(in crate::entries) category: Option<Slug>,
}

/// The answers after these were given. What is wrong is told under `entry_fields.<slug>`.
pub(in crate::entries) fn given(
    program: &Program,
    place: Place,
    before: &Answers,
    given: &JsonObject,
    violations: &mut Violations,
) -> Answers {
    let mut after = before.clone();
    for (name, value) in given.iter() {
        match answer(program, place, before, (name, value)) {
            Ok((field, answer)) => after.set(field, answer),
            Err(message) => violations.add(format!("entry_fields.{name}"), message),
        }
    }
    after
}

/// The field of a name, and the answer that it has after this one was given.
fn answer(
    program: &Program,
    place: Place,
    before: &Answers,
    (name, value): (&str, &Json),
) -> Result<(Slug, Option<Json<'static>>), String> {
    let is_of_form = |field: &&Field| {
        field.resource == Resource::Entries && place.form.is_none_or(|form| form_of(field, program) == Some(form))
    };
    let field = Slug::parse(name).and_then(|slug| program.fields.live(slug)).filter(is_of_form);
    let field = field.ok_or_else(|| "is no field of the form".to_owned())?;
    judge_answer(field, value)?;
    let answer = merged(field.kind, before.get(field.slug), value);
    let is_asked = place.category.is_none_or(|category| is_asked_in(field, category, program));
    if let Some(answer) = &answer {
        if !is_asked {
            return Err("is not asked in the category".to_owned());
        }
        check_answer(field, answer)?;
    }
    Ok((field.slug, answer))
}

/// The answers to what is asked in a category of a form.
pub(in crate::entries) fn asked<'e>(
    program: &Program,
    (form, category): (Slug, Slug),
    answers: &'e Answers,
) -> Vec<(Slug, &'e Json<'static>)> {
    let is_asked = |slug: Slug| {
        let field = program.fields.live(slug).filter(|field| form_of(field, program) == Some(form));
        field.is_some_and(|field| is_asked_in(field, category, program))
    };
    answers.iter().filter(|(slug, _)| is_asked(*slug)).collect()
}

/// What belongs to an entry and has answers of its own.
#[derive(Clone, Debug, Default)]
pub(in crate::entries) struct Belongings {
    pub(in crate::entries) contributors: Vec<Contributor>,
    pub(in crate::entries) attachments: Vec<Attachment>,
}

/// Tells every required field that is shown and has no answer: of the entry, under `entry_fields.<slug>`, and of what
/// belongs to it, under `contributors.<slug>.<field>` and `attachments.<token>.<field>`. A field that something is wrong
/// with already is passed over.
pub(in crate::entries) fn require(
    program: &Program,
    (form, category): (Slug, Slug),
    answers: &Answers,
    belongings: &Belongings,
    violations: &mut Violations,
) {
    let required: Vec<&Field> =
        program.fields.all_live().filter(|field| field.required && is_asked_in(field, category, program)).collect();
    let mut tell = |path: &str, resource: Resource, tab: Option<Slug>, answers: &[(Slug, &Json)]| {
        let answer = |slug: Slug| answers.iter().find(|(field, _)| *field == slug).map(|(_, answer)| *answer);
        let is_there = |field: &Field| match tab {
            Some(tab) => field.tab == Some(tab),
            None => form_of(field, program) == Some(form),
        };
        for field in required.iter().filter(|field| field.resource == resource && is_there(field)) {
            let member = format!("{path}.{}", field.slug);
            let has_answer = answer(field.slug).is_some_and(|answer| is_answered(field.kind, answer));
            let is_told = violations.iter().any(|(told, _)| told == member);
            if !has_answer && !is_told && is_shown(program, field, &answer) {
                violations.add(member, "is required");
            }
        }
    };
    tell("entry_fields", Resource::Entries, None, &asked(program, (form, category), answers));
    for contributor in &belongings.contributors {
        let answers: Vec<(Slug, &Json)> = contributor.fields.iter().collect();
        tell(&format!("contributors.{}", contributor.slug), Resource::Contributors, Some(contributor.tab), &answers);
    }
    for attachment in &belongings.attachments {
        let answers: Vec<(Slug, &Json)> = attachment.attachment_fields.iter().collect();
        let path = format!("attachments.{}", attachment.token.as_str());
        tell(&path, Resource::Attachments, Some(attachment.tab), &answers);
    }
}
