//! The program-file form of a field.

use super::rules::ABOVE_MAXIMUM;
use super::validate::is_column_key;
use super::{
    COLUMNS, Column, Condition, FILE_TYPES, Field, FieldOption, FieldType, LIMIT, Limits, OPTIONS, Operator, Resource,
    TEXT_LENGTH, file_types, members,
};
use crate::program::{Context, Member, NAME_LENGTH, RecordMembers, Texts};
use kernel::document::Object;
use kernel::input::{self, Members, Violations, Wrong};
use kernel::json::Json;
use kernel::kind::Kind;
use kernel::text::{Currency, Locale, Slug, Translated};

/// A field has a place, and what its type and its categories say agrees.
pub(super) fn check_field(
    members: &mut Members<'_>,
    resource: Option<&Resource>,
    categories: Option<&Option<Vec<Slug>>>,
    kind: Option<&FieldType>,
    currency: Option<&Option<Currency>>,
) {
    if resource != Some(&Resource::Users) && !members.has("form") && !members.has("tab") {
        members.fault("tab", "is required, or at least the form, unless the resource is users");
    }
    members.computed("category_count", |json| match categories {
        Some(Some(categories)) => input::counted(categories.len())(json),
        _ if json.as_str() == Some("all") => Ok(()),
        _ => Err("\"all\"".to_owned()),
    });
    if kind == Some(&FieldType::Currency) && currency.is_none_or(Option::is_none) {
        members.fault("currency", "is required for a field of the type currency");
    }
}

/// No minimum is above its maximum.
pub(super) fn check_limits(
    members: &mut Members<'_>,
    maximum_characters: Option<&Option<i64>>,
    maximum_words: Option<&Option<i64>>,
    minimum_characters: Option<&Option<i64>>,
    minimum_words: Option<&Option<i64>>,
) {
    let known = |limit: Option<&Option<i64>>| limit.copied().flatten();
    let limits = Limits {
        maximum_characters: known(maximum_characters),
        maximum_words: known(maximum_words),
        minimum_characters: known(minimum_characters),
        minimum_words: known(minimum_words),
    };
    for name in limits.contradictions() {
        members.fault(name, ABOVE_MAXIMUM);
    }
}

/// The types of files, each once.
pub(super) fn read_file_types(json: &Json) -> Result<Vec<String>, Wrong<Vec<String>>> {
    input::distinct(FILE_TYPES, file_types::read)(json)
}

impl RecordMembers for Option<Condition> {
    type Key = Slug;

    const MEMBERS: &'static [Member] = members::CONDITIONAL;

    /// The condition, from our member or from that of the read form, which names the field only.
    fn read(members: &mut Members<'_>, slug: Slug, _: &Context) -> Option<Self> {
        let shown = members.nullable("conditional_field", input::slug).flatten();
        let stated = match members.get("conditional") {
            None | Some(Json::Null) => None,
            Some(_) => members.object("conditional", |members| {
                let field = members.required("field", input::slug);
                let operator = members.optional("operator", input::one_of(Operator::CHOICES));
                let value = members.get("value").cloned().map_or(Json::Null, Json::into_owned);
                Some(Condition { field: field?, operator: operator.unwrap_or(Operator::Answered), value })
            }),
        };
        // One that is stated and wrong is none, whatever the other member says.
        if stated.as_ref().is_none_or(Option::is_none) && members.get("conditional").is_some_and(|json| !json.is_null())
        {
            return Some(None);
        }
        let stated = stated.flatten();
        let answered = |field| Condition { field, operator: Operator::Answered, value: Json::Null };
        let condition = stated.or_else(|| shown.map(answered));
        let field = condition.as_ref().map(|condition| condition.field);
        if shown.is_some() && shown != field {
            members.fault("conditional_field", "is not the field that conditional names");
        }
        if field == Some(slug) {
            members.fault("conditional", "must not name the field itself");
        }
        Some(condition)
    }

    fn write(&self, object: &mut Object<'_>) {
        let Some(condition) = self else {
            object.null("conditional");
            return;
        };
        object.object("conditional", |object| {
            object.slug("field", condition.field);
            object.text("operator", condition.operator.name());
            object.raw("value", &condition.value.to_string());
        });
    }

    fn references(&self) -> Vec<(&'static str, Kind, Slug)> {
        self.iter().map(|condition| ("conditional", Kind::Field, condition.field)).collect()
    }
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

/// Writes the members of create and update as they stand (contract, section 5).
pub(crate) fn write_settings(field: &Field, object: &mut Object<'_>) {
    object.text("type", field.kind.name());
    Field::write_settings(field, object);
    field.conditional.write(object);
    object.object("limits", |object| field.limits.write(object));
}

/// A label in which a locale that is left out keeps its text.
fn merged_label(held: Option<&Translated>, stated: &Translated) -> Translated {
    let mut label = held.cloned().unwrap_or_default();
    label.merge(stated);
    label
}

impl FieldOption {
    /// The options; nothing where the member is left out.
    pub(super) fn read(members: &mut Members<'_>, context: &Context) -> Option<Vec<Self>> {
        let options =
            members.optional("options", input::list(OPTIONS, |json| read_option(json, &context.languages)))?;
        for twice in input::twice(options.iter().map(|option| option.value.as_str())) {
            members.fault("options", format!("has {twice} twice"));
        }
        Some(options)
    }

    /// Makes the options what a body says. Each keeps the label and the score that it had where it states none: the read form
    /// shows values alone, and what is read and written back must lose nothing.
    pub(super) fn change(options: &mut Vec<Self>, to: Vec<Self>) {
        let completed = |option: Self| {
            let held = options.iter().find(|held| held.value == option.value);
            let label = merged_label(held.map(|held| &held.label), &option.label);
            Self { label, score: option.score.or_else(|| held?.score), ..option }
        };
        *options = to.into_iter().map(completed).collect();
    }

    pub(super) fn write(options: &[Self], object: &mut Object<'_>, texts: Texts) {
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
}

impl Column {
    /// The columns; nothing where the member is left out.
    pub(super) fn read(members: &mut Members<'_>, context: &Context) -> Option<Vec<Self>> {
        let read = members.objects("columns", COLUMNS, |members| {
            let key = members.required("key", input::filled_text(NAME_LENGTH));
            if key.as_ref().is_some_and(|key| !is_column_key(key)) {
                members.fault("key", "must not end in a digit, because the number of the row follows");
            }
            let label = members.optional("label", input::translated(&context.languages, TEXT_LENGTH));
            Some(Self { key: key?, label: label.unwrap_or_default() })
        })?;
        let columns: Vec<Self> = read.into_iter().flatten().collect();
        for twice in input::twice(columns.iter().map(|column| column.key.as_str())) {
            members.fault("columns", format!("has {twice} twice"));
        }
        Some(columns)
    }

    /// Makes the columns what a body says; a locale that a label leaves out keeps its text.
    pub(super) fn change(columns: &mut Vec<Self>, to: Vec<Self>) {
        let completed = |column: Self| {
            let held = columns.iter().find(|held| held.key == column.key);
            Self { label: merged_label(held.map(|held| &held.label), &column.label), ..column }
        };
        *columns = to.into_iter().map(completed).collect();
    }

    pub(super) fn write(columns: &[Self], object: &mut Object<'_>, texts: Texts) {
        object.list("columns", |list| {
            for column in columns {
                list.object(|object| {
                    object.text("key", &column.key);
                    texts.write(object, "label", &column.label);
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::fields::ApplicantAccess;
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
