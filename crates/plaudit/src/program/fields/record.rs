//! The program-file form of a field.

use super::validate::is_column_key;
use super::{
    ApplicantAccess, CATEGORIES, COLUMNS, Column, Condition, FILE_TYPES, Field, FieldOption, FieldType, LIMIT, Limits,
    OPTIONS, Operator, Protection, Resource, TEXT_LENGTH, Visibility, file_types, members, rules,
};
use crate::program::NAME_LENGTH;
use crate::program::{Context, Identified, Member, Program, RecordMembers, SetupRecord};
use kernel::document::Object;
use kernel::input::{self, Members, Violations, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Translated};

/// How many values an enumeration of visibilities can have at the most.
const VISIBILITIES: usize = Visibility::CHOICES.len();

impl RecordMembers for Field {
    const MEMBERS: &'static [Member] = members::MEMBERS;

    fn read(members: &mut Members<'_>, slug: Slug, context: &Context) -> Option<Self> {
        let languages = &context.languages;
        members.link(slug);
        let season = members.nullable("season", input::slug).flatten();
        let form = members.nullable("form", input::slug).flatten();
        let tab = members.nullable("tab", input::slug).flatten();
        let resource = members.optional("resource", input::one_of(Resource::CHOICES)).unwrap_or(Resource::Entries);
        if resource != Resource::Users && !members.has("form") && !members.has("tab") {
            members.fault("tab", "is required, or at least the form, unless the resource is users");
        }
        let kind = members.required("type", input::one_of(FieldType::CHOICES));
        let categories = members.optional("categories", read_categories).flatten();
        members.computed("category_count", |json| match &categories {
            Some(categories) => input::counted(categories.len())(json),
            None if json.as_str() == Some("all") => Ok(()),
            None => Err("\"all\"".to_owned()),
        });
        let order = members.optional("order", input::integer(0..=LIMIT));
        let title = members.required("title", input::translated(languages, NAME_LENGTH));
        let texts = ["label", "help_text", "hint_text"]
            .map(|name| members.optional(name, input::translated(languages, TEXT_LENGTH)).unwrap_or_default());
        let [label, help_text, hint_text] = texts;
        let mut flag = |name, default| members.optional(name, input::flag).unwrap_or(default);
        let (required, searchable) = (flag("required", false), flag("searchable", false));
        let applicant =
            ApplicantAccess { read: flag("applicant_read_access", true), write: flag("applicant_write_access", true) };
        let protection = members.optional("protection", input::one_of(Protection::CHOICES));
        let visibility = members.optional("visibility", input::list(VISIBILITIES, input::one_of(Visibility::CHOICES)));
        let registration = members.nullable("registration", input::text(NAME_LENGTH));
        let conditional = read_conditional(members, slug);
        let options = read_options(members, languages).unwrap_or_default();
        let columns = read_columns(members, languages).unwrap_or_default();
        let currency = members.nullable("currency", input::currency).flatten();
        if kind == Some(FieldType::Currency) && currency.is_none() {
            members.fault("currency", "is required for a field of the type currency");
        }
        let limits = read_limits(members);
        let file_types = members.optional("file_types", read_file_types);
        let max_file_size = members.nullable("max_file_size", input::integer(1..=LIMIT));
        let auto_scoring = members.optional("auto_scoring", input::integer(0..=LIMIT));
        let created = members.optional("created", input::time).unwrap_or(context.now);
        let updated = members.optional("updated", input::time).unwrap_or(context.now);
        Some(Self {
            slug,
            season,
            form,
            tab,
            resource,
            kind: kind?,
            categories,
            order: order.unwrap_or(0),
            title: title?,
            label,
            help_text,
            hint_text,
            required,
            searchable,
            applicant,
            protection: protection.unwrap_or(Protection::Standard),
            visibility: visibility.unwrap_or_default(),
            registration: registration.flatten(),
            conditional,
            options,
            columns,
            currency,
            limits,
            file_types: file_types.unwrap_or_default(),
            max_file_size: max_file_size.flatten(),
            auto_scoring: auto_scoring.unwrap_or(0),
            created,
            updated,
        })
    }

    fn write(&self, object: &mut Object<'_>) {
        object.optional_slug("season", self.season);
        object.optional_slug("form", self.form);
        object.optional_slug("tab", self.tab);
        object.text("resource", self.resource.name());
        object.text("type", self.kind.name());
        write_categories(object, self.categories.as_deref());
        object.integer("order", self.order);
        object.locales("title", &self.title);
        object.locales("label", &self.label);
        object.locales("help_text", &self.help_text);
        object.locales("hint_text", &self.hint_text);
        object.flag("required", self.required);
        object.flag("searchable", self.searchable);
        object.flag("applicant_read_access", self.applicant.read);
        object.flag("applicant_write_access", self.applicant.write);
        object.text("protection", self.protection.name());
        object.texts("visibility", self.visibility.iter().map(|visibility| visibility.name()));
        object.optional_text("registration", self.registration.as_deref());
        write_conditional(object, self.conditional.as_ref());
        write_options(object, &self.options, Texts::Whole);
        write_columns(object, &self.columns, Texts::Whole);
        object.optional_text("currency", self.currency.as_ref().map(|currency| currency.code()));
        write_limits(object, self.limits);
        object.texts("file_types", &self.file_types);
        object.optional_integer("max_file_size", self.max_file_size);
        object.integer("auto_scoring", self.auto_scoring);
        object.time("created", self.created);
        object.time("updated", self.updated);
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        let form = self.form.map(|form| ("form", Kind::Form, form));
        let tab = self.tab.map(|tab| ("tab", Kind::Tab, tab));
        let season = self.season.map(|season| ("season", Kind::Season, season));
        let categories = self.categories.iter().flatten().map(|category| ("categories", Kind::Category, *category));
        let condition = self.conditional.iter().map(|condition| ("conditional", Kind::Field, condition.field));
        form.into_iter().chain(tab).chain(season).chain(categories).chain(condition).collect()
    }
}

impl Identified for Field {
    fn slug(&self) -> Slug {
        self.slug
    }

    fn name(&self) -> Option<&Translated> {
        Some(&self.title)
    }
}

impl SetupRecord for Field {
    const KIND: Kind = Kind::Field;

    fn check(&self, program: &Program) -> Violations {
        rules::check(self, program)
    }

    fn trash(&self, program: &Program) -> Result<(), String> {
        rules::trash(program, self.slug)
    }
}

/// `None` is every category, which `["*"]` says.
pub(super) fn read_categories(json: &Json) -> Result<Option<Vec<Slug>>, Wrong<Option<Vec<Slug>>>> {
    match json.as_array() {
        Some([all]) if all.as_str() == Some("*") => Ok(None),
        _ => input::slugs(CATEGORIES)(json).map(Some).map_err(|wrong| wrong.map(Some)),
    }
}

/// The types of files, each once.
pub(super) fn read_file_types(json: &Json) -> Result<Vec<String>, Wrong<Vec<String>>> {
    input::distinct(FILE_TYPES, file_types::read)(json)
}

/// The condition, from our member or from that of the read form, which names the field only.
fn read_conditional(members: &mut Members<'_>, slug: Slug) -> Option<Condition> {
    let shown = members.nullable("conditional_field", input::slug).flatten();
    let condition = match members.get("conditional") {
        None | Some(Json::Null) => {
            shown.map(|field| Condition { field, operator: Operator::Answered, value: Json::Null })
        }
        Some(_) => members.object("conditional", |members| {
            let field = members.required("field", input::slug);
            let operator = members.optional("operator", input::one_of(Operator::CHOICES));
            let value = members.get("value").cloned().map_or(Json::Null, Json::into_owned);
            Some(Condition { field: field?, operator: operator.unwrap_or(Operator::Answered), value })
        })?,
    }?;
    if shown.is_some_and(|shown| shown != condition.field) {
        members.fault("conditional_field", "is not the field that conditional names");
    }
    if condition.field == slug {
        members.fault("conditional", "must not name the field itself");
    }
    Some(condition)
}

fn write_conditional(object: &mut Object<'_>, condition: Option<&Condition>) {
    let Some(condition) = condition else {
        object.null("conditional");
        return;
    };
    object.object("conditional", |object| {
        object.slug("field", condition.field);
        object.text("operator", condition.operator.name());
        object.raw("value", &condition.value.to_string());
    });
}

/// The options; nothing where the member is left out.
pub(super) fn read_options(members: &mut Members<'_>, languages: &[Locale]) -> Option<Vec<FieldOption>> {
    let options = members.optional("options", input::list(OPTIONS, |json| read_option(json, languages)))?;
    for twice in input::twice(options.iter().map(|option| option.value.as_str())) {
        members.fault("options", format!("has {twice} twice"));
    }
    Some(options)
}

/// An option is its value, or an object of its value, label and score.
fn read_option(json: &Json, languages: &[Locale]) -> Result<FieldOption, Wrong<FieldOption>> {
    let Json::Object(object) = json else {
        let value = input::filled_text(TEXT_LENGTH)(json)?;
        return Ok(FieldOption { value, label: Translated::default(), score: None });
    };
    let mut members = Members::closed(object);
    let value = members.required("value", input::filled_text(TEXT_LENGTH));
    let label = members.optional("label", input::translated(languages, TEXT_LENGTH)).unwrap_or_default();
    let score = members.nullable("score", input::integer(0..=LIMIT)).flatten();
    let option = value.map(|value| FieldOption { value, label, score });
    members.finish().or(option).map_err(Violations::of_part)
}

/// How translated maps are written.
#[derive(Clone, Copy)]
enum Texts {
    /// Whole, as in program files.
    Whole,
    /// In the languages asked for.
    AsAsked,
}

impl Texts {
    fn write(self, object: &mut Object<'_>, name: &str, map: &Translated) {
        match self {
            Self::Whole => object.locales(name, map),
            Self::AsAsked => object.translated(name, map),
        }
    }
}

fn write_columns(object: &mut Object<'_>, columns: &[Column], texts: Texts) {
    object.list("columns", |list| {
        for column in columns {
            list.object(|object| {
                object.text("key", &column.key);
                texts.write(object, "label", &column.label);
            });
        }
    });
}

/// Writes the members of create and update as they stand (contract, section 5).
pub(crate) fn write_settings(field: &Field, object: &mut Object<'_>) {
    object.text("type", field.kind.name());
    // A field about users may have neither, and no body takes null for them.
    field.tab.iter().for_each(|tab| object.slug("tab", *tab));
    object.object("translated", |object| {
        object.translated("title", &field.title);
        object.translated("help_text", &field.help_text);
        object.translated("hint_text", &field.hint_text);
    });
    field.form.iter().for_each(|form| object.slug("form", *form));
    object.optional_text("currency", field.currency.as_ref().map(|currency| currency.code()));
    write_options(object, &field.options, Texts::AsAsked);
    object.flag("required", field.required);
    write_conditional(object, field.conditional.as_ref());
    object.object("limits", |object| write_limits(object, field.limits));
    object.integer("order", field.order);
    write_categories(object, field.categories.as_deref());
    object.text("protection", field.protection.name());
    write_columns(object, &field.columns, Texts::AsAsked);
    object.texts("file_types", &field.file_types);
    object.optional_integer("max_file_size", field.max_file_size);
}

fn write_limits(object: &mut Object<'_>, limits: Limits) {
    object.optional_integer("maximum_characters", limits.maximum_characters);
    object.optional_integer("maximum_words", limits.maximum_words);
    object.optional_integer("minimum_characters", limits.minimum_characters);
    object.optional_integer("minimum_words", limits.minimum_words);
}

fn write_categories(object: &mut Object<'_>, categories: Option<&[Slug]>) {
    match categories {
        Some(categories) => object.slugs("categories", categories),
        None => object.texts("categories", ["*"]),
    }
}

fn write_options(object: &mut Object<'_>, options: &[FieldOption], texts: Texts) {
    object.list("options", |list| {
        for option in options {
            if option.label.is_empty() && option.score.is_none() {
                list.text(&option.value);
                continue;
            }
            list.object(|object| {
                object.text("value", &option.value);
                texts.write(object, "label", &option.label);
                if let Some(score) = option.score {
                    object.integer("score", score);
                }
            });
        }
    });
}

/// The columns; nothing where the member is left out.
pub(super) fn read_columns(members: &mut Members<'_>, languages: &[Locale]) -> Option<Vec<Column>> {
    let read = members.objects("columns", COLUMNS, |members| {
        let key = members.required("key", input::filled_text(NAME_LENGTH));
        if key.as_ref().is_some_and(|key| !is_column_key(key)) {
            members.fault("key", "must not end in a digit, because the number of the row follows");
        }
        let label = members.optional("label", input::translated(languages, TEXT_LENGTH));
        Some(Column { key: key?, label: label.unwrap_or_default() })
    })?;
    let columns: Vec<Column> = read.into_iter().flatten().collect();
    for twice in input::twice(columns.iter().map(|column| column.key.as_str())) {
        members.fault("columns", format!("has {twice} twice"));
    }
    Some(columns)
}

fn read_limits(members: &mut Members<'_>) -> Limits {
    let mut limit = |name| members.nullable(name, input::integer(0..=LIMIT)).flatten();
    let limits = Limits {
        maximum_characters: limit("maximum_characters"),
        maximum_words: limit("maximum_words"),
        minimum_characters: limit("minimum_characters"),
        minimum_words: limit("minimum_words"),
    };
    for (name, minimum, maximum) in [
        ("minimum_characters", limits.minimum_characters, limits.maximum_characters),
        ("minimum_words", limits.minimum_words, limits.maximum_words),
    ] {
        if minimum.zip(maximum).is_some_and(|(minimum, maximum)| minimum > maximum) {
            members.fault(name, "must not be above the maximum");
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::store;
    use kernel::text::Timestamp;

    fn read(members: &str) -> Result<Field, String> {
        let context = Context {
            languages: vec![Locale::EnGb, Locale::DeDe],
            default_language: Locale::EnGb,
            now: Timestamp::from_seconds(1_000),
        };
        let text = format!(r#"{{"slug":"FieldAAA",{members}}}"#);
        let field: Field = store::parse(&text, &context).map_err(|error| error.to_string())?;
        assert_eq!(store::parse::<Field>(&store::stored(&field), &context).unwrap(), field);
        Ok(field)
    }

    /// The least that a field can be made of, and more.
    fn text(more: &str) -> Result<Field, String> {
        read(&format!(r#""tab":"TabAAAAA","type":"text","title":{{"en_GB":"Why"}}{more}"#))
    }

    #[test]
    fn a_field_needs_a_type_a_title_and_a_place() {
        let minimal = text("").unwrap();
        assert_eq!((minimal.resource, minimal.categories, minimal.order), (Resource::Entries, None, 0));
        assert_eq!(minimal.applicant, ApplicantAccess { read: true, write: true });
        for wrong in [
            r#""tab":"TabAAAAA","title":{"en_GB":"Why"}"#,
            r#""tab":"TabAAAAA","type":"text""#,
            r#""type":"text","title":{"en_GB":"Why"}"#,
            r#""tab":"TabAAAAA","type":"currency","title":{"en_GB":"Budget"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(r#""resource":"users","type":"text","title":{"en_GB":"Why"}"#).is_ok());
    }

    #[test]
    fn options_are_written_as_they_came() {
        let field = text(r#","options":["a",{"value":"b","label":{"de_DE":"B"}},{"value":"c","label":{}}]"#).unwrap();
        let stored = store::stored(&field);
        assert!(stored.contains(r#""options":["a",{"value":"b","label":{"de_DE":"B"}},"c"]"#), "{stored}");
        assert_eq!(field.option_label("b", Locale::DeDe), "B");
        assert_eq!(field.option_label("b", Locale::EnGb), "b");
        let with_score = r#"[{"value":"a","label":{},"score":3}]"#;
        assert!(store::stored(&text(&format!(r#","options":{with_score}"#)).unwrap()).contains(with_score));
        for wrong in [
            r#"["a","a"]"#,
            r#"[""]"#,
            r#"[{"label":{}}]"#,
            r#"[{"value":"a","labels":{}}]"#,
            r#"[{"value":"a","score":-1}]"#,
            "[1]",
        ] {
            assert!(text(&format!(r#","options":{wrong}"#)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_condition_may_be_named_by_its_field_alone() {
        let field = text(r#","conditional_field":"FieldBBB""#).unwrap();
        assert_eq!(field.conditional.as_ref().unwrap().operator, Operator::Answered);
        assert!(field.references().contains(&("conditional", Kind::Field, Slug::parse("FieldBBB").unwrap())));
        let both =
            r#","conditional":{"field":"FieldBBB","operator":"one_of","value":["x",1]},"conditional_field":"FieldBBB""#;
        let field = text(both).unwrap();
        assert!(
            store::stored(&field).contains(r#""conditional":{"field":"FieldBBB","operator":"one_of","value":["x",1]}"#)
        );
        assert!(text(&both.replace(r#"_field":"FieldBBB"#, r#"_field":"FieldCCC"#)).is_err());
        assert!(text(r#","conditional":{"field":"FieldAAA"}"#).is_err(), "a field is no condition of itself");
        assert_eq!(text(r#","conditional":null,"conditional_field":null"#).unwrap().conditional, None);
    }

    #[test]
    fn categories_are_all_or_some() {
        let category = Slug::parse("CategAAA").unwrap();
        assert!(text(r#","categories":["*"],"category_count":"all""#).unwrap().applies_to(category));
        let some = text(r#","categories":["CategBBB"]"#).unwrap();
        assert!(!some.applies_to(category));
        assert_eq!(some.references().len(), 2);
    }

    #[test]
    fn columns_and_limits_are_checked() {
        let columns = r#","columns":[{"key":"A","label":{"en_GB":"Year"}},{"key":"B"}]"#;
        assert_eq!(text(columns).unwrap().columns.len(), 2);
        assert!(text(&columns.replace("\"B\"", "\"A\"")).is_err());
        assert!(text(&columns.replace("\"B\"", "\"B1\"")).is_err());
        assert!(text(r#","minimum_words":3,"maximum_words":2"#).is_err());
        assert_eq!(text(r#","minimum_words":2,"maximum_words":2"#).unwrap().limits.minimum_words, Some(2));
    }

    #[test]
    fn every_type_reads_back() {
        for (name, kind) in FieldType::CHOICES {
            assert_eq!(kind.name(), *name);
            let members = format!(r#""tab":"TabAAAAA","type":"{name}","title":{{"en_GB":"Why"}},"currency":"EUR""#);
            assert_eq!(read(&members).unwrap().kind, *kind);
        }
    }
}
