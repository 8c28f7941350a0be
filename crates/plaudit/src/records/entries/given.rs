//! Answers that are given to an entry and to what belongs to it.
//!
//! - An answer is given to a live field about entries, of the entry's form and asked in its category. It is taken back
//!   wherever it stands.
//! - The cells of a table are merged, every other answer is replaced; null and the empty string take one back.
//! - What is too long since a limit was lowered can be shortened, and not made longer.
//! - What no longer is asked keeps its answer, and neither is required nor counts.

use crate::program::Program;
use crate::program::fields::{Field, Resource, check_answer, form_of, is_asked_in, merged, validate_answer};
use crate::records::answers::Answers;
use kernel::input::{Violations, Wrong};
use kernel::json::{Json, Object as JsonObject};
use kernel::text::{Slug, excerpt};

/// Where the fields of an entry are asked; `None` is what is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldScope {
    pub(crate) form: Option<Slug>,
    pub(crate) category: Option<Slug>,
}

/// What answers are given to; `None` is what is not known.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The member that has the answers, under which is told what is wrong.
    pub member: &'static str,
    /// What the fields ask about.
    pub resource: Resource,
    /// The form that they are on.
    pub form: Option<Slug>,
    /// The tab that they stand on, where not every one of the form will do.
    pub tab: Option<Slug>,
    /// The category that they are asked in.
    pub category: Option<Slug>,
}

impl Asked {
    fn of_entry(place: FieldScope) -> Self {
        let FieldScope { form, category } = place;
        Self { member: "entry_fields", resource: Resource::Entries, form, tab: None, category }
    }

    fn takes(&self, field: &Field, program: &Program) -> bool {
        let is_of_form = || self.form.is_none_or(|form| form_of(field, program) == Some(form));
        field.resource == self.resource && self.tab.is_none_or(|tab| field.tab == Some(tab)) && is_of_form()
    }
}

/// The answers of an entry after these were given. What is wrong is told under `entry_fields.<slug>`.
pub(crate) fn given(
    program: &Program,
    place: FieldScope,
    before: &Answers,
    given: &JsonObject,
    violations: &mut Violations,
) -> Answers {
    given_to(program, Asked::of_entry(place), before, given, violations)
}

/// The answers after these were given. What is wrong is told under the member and the field's slug.
pub fn given_to(
    program: &Program,
    asked: Asked,
    before: &Answers,
    given: &JsonObject,
    violations: &mut Violations,
) -> Answers {
    let mut after = before.clone();
    for (name, value) in given.iter() {
        match answer(program, asked, before, (name, value)) {
            Ok((field, answer)) => after.set(field, answer),
            Err(wrong) => violations.wrong(&format!("{}.{}", asked.member, excerpt(name)), &wrong),
        }
    }
    let [had, has] = [before, &after].map(|answers| answers.iter().map(|(_, answer)| answer.length()).sum::<usize>());
    if has > had
        && let Err(message) = program.lengths.check_entry(has)
    {
        violations.add(asked.member, message);
    }
    after
}

/// The field of an entry that takes a file now; otherwise why there is none.
pub(crate) fn file_field(program: &Program, place: FieldScope, field: Slug) -> Result<&Field, String> {
    let found = program.fields.live(field).filter(|field| Asked::of_entry(place).takes(field, program));
    let found = found.ok_or_else(|| "is no field of the form".to_owned())?;
    if !found.is_file() {
        return Err("takes no file".to_owned());
    }
    if place.category.is_some_and(|category| !is_asked_in(found, category, program)) {
        return Err("is not asked in the category".to_owned());
    }
    Ok(found)
}

/// The field of a name, and the answer that it has after this one was given.
fn answer(
    program: &Program,
    asked: Asked,
    before: &Answers,
    (name, value): (&str, &Json),
) -> Result<(Slug, Option<Json<'static>>), Wrong<()>> {
    let found = Slug::parse(name).and_then(|slug| program.fields.live(slug));
    let field = found.filter(|field| asked.takes(field, program)).ok_or_else(|| {
        let place = if asked.tab.is_some() { "tab" } else { "form" };
        format!("is no field of the {place}")
    })?;
    validate_answer(field, value)?;
    let answer = merged(field.kind, before.get(field.slug), value);
    let is_asked = asked.category.is_none_or(|category| is_asked_in(field, category, program));
    if let Some(answer) = &answer {
        if !is_asked {
            return Err("is not asked in the category".to_owned().into());
        }
        check_answer(field, answer)?;
        if before.get(field.slug).is_none_or(|before| answer.length() > before.length()) {
            program.lengths.check_answer(answer)?;
        }
    }
    Ok((field.slug, answer))
}

/// The answers to what is asked in a category of a form.
pub(crate) fn asked<'e>(
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
