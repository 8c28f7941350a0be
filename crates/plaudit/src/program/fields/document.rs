//! A field as it is shown (contract, section 6).

use super::answers::escaped;
use super::{Field, form_of, season_of};
use crate::program::Program;
use kernel::document;
use kernel::kind::Kind;
use kernel::text::{Slug, Translated};

/// The field as it is shown. What it refers to and is in the trash, or no more, is left out.
pub fn document(field: &Field, program: &Program) -> String {
    let categories: Option<Vec<Slug>> = field.categories.as_ref().map(|categories| {
        categories.iter().copied().filter(|category| program.categories.live(*category).is_some()).collect()
    });
    let condition = field.conditional.as_ref().map(|condition| condition.field);
    document::object(|object| {
        object.flag("applicant_read_access", field.applicant.read);
        object.flag("applicant_write_access", field.applicant.write);
        object.integer("auto_scoring", field.auto_scoring);
        if let Some(categories) = &categories {
            object.texts("categories", categories.iter().map(Slug::as_str));
            object.integer("category_count", i64::try_from(categories.len()).unwrap_or(i64::MAX));
        } else {
            object.texts("categories", ["*"]);
            object.text("category_count", "all");
        }
        let condition = condition.filter(|named| program.fields.live(*named).is_some());
        object.optional_reference("conditional_field", Kind::Field, condition);
        object.time("created", field.created);
        object.texts("file_types", &field.file_types);
        object.optional_reference("form", Kind::Form, form_of(field, program));
        object.translated("help_text", &field.help_text);
        object.translated("hint_text", &field.hint_text);
        object.translated("label", &label(field));
        object.optional_integer("max_file_size", field.max_file_size);
        object.optional_integer("maximum_characters", field.limits.maximum_characters);
        object.optional_integer("maximum_words", field.limits.maximum_words);
        object.optional_integer("minimum_characters", field.limits.minimum_characters);
        object.optional_integer("minimum_words", field.limits.minimum_words);
        object.texts("options", field.options.iter().map(|option| &option.value));
        object.integer("order", field.order);
        object.text("protection", field.protection.name());
        object.optional_text("registration", field.registration.as_deref());
        object.flag("required", field.required);
        object.text("resource", field.resource.name());
        object.flag("searchable", field.searchable);
        object.optional_reference("season", Kind::Season, season_of(field, program));
        object.slug("slug", field.slug);
        object.optional_reference("tab", Kind::Tab, field.tab);
        object.translated("title", &field.title);
        object.text("type", field.kind.name());
        object.time("updated", field.updated);
        object.texts("visibility", field.visibility.iter().map(|visibility| visibility.name()));
    })
}

/// The label, which is the title in HTML where there is no other.
fn label(field: &Field) -> Translated {
    if !field.label.is_empty() {
        return field.label.clone();
    }
    let mut label = Translated::default();
    for (locale, title) in &field.title {
        label.set(locale, escaped(title));
    }
    label
}
