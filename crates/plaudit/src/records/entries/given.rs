//! Answers that are given to an entry.
//!
//! - An answer is given to a live field about entries, of the entry's form and asked in its category.
//! - What no longer is asked keeps its answer, and neither is required nor counts.

use crate::program::Program;
use crate::program::fields::{Field, Resource, form_of, is_asked_in};
use crate::records::answers::{Answers, Asked, given_to};
use kernel::input::Violations;
use kernel::json::{Json, Object as JsonObject};
use kernel::text::Slug;

/// Where the fields of an entry are asked; `None` is what is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldScope {
    pub(crate) form: Option<Slug>,
    pub(crate) category: Option<Slug>,
}

impl FieldScope {
    fn asked(self) -> Asked {
        let Self { form, category } = self;
        Asked { member: "entry_fields", resource: Resource::Entries, form, tab: None, category }
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
    given_to(program, place.asked(), before, given, violations)
}

/// The field of an entry that takes a file now; otherwise why there is none.
pub(crate) fn file_field(program: &Program, place: FieldScope, field: Slug) -> Result<&Field, String> {
    let found = program.fields.live(field).filter(|field| place.asked().takes(field, program));
    let found = found.ok_or_else(|| "is no field of the form".to_owned())?;
    if !found.is_file() {
        return Err("takes no file".to_owned());
    }
    if place.category.is_some_and(|category| !is_asked_in(found, category, program)) {
        return Err("is not asked in the category".to_owned());
    }
    Ok(found)
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
